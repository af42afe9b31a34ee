"""Risk facts of one table under one reading of missing values, from its class sizes.

The figures are the measures of :mod:`privrelease.disclosure`; here they only get their form and their visibility.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from privrelease.audit.document.model import ClassBucket, Figure, RiskFacts, Visibility
from privrelease.disclosure.classes.class_sizes import ClassSizes, bucket_edges
from privrelease.disclosure.risk.prosecutor import prosecutor_risk
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from privrelease.audit.document.visibility import Audience
    from privrelease.disclosure.classes.class_sizes import SizeHistogram
    from privrelease.disclosure.risk.verdict import RiskMeasures

__all__ = ["ALL_LOST", "NO_RECORDS", "Counted", "Measured", "risk_facts", "undefined_risk"]

NO_RECORDS = "no released records"
#: Rows are released, and not one has a value that the threat is about.
ALL_LOST = "no released records with a value: every released record lost all columns of the threat"

Counted = Literal["records", "persons", "person_sets", "person_multisets"]
Reading = Literal["category", "wildcard"]


@dataclass(frozen=True, slots=True)
class Measured:
    """Sizes under one reading: ``sizes`` (classes, or matches under the wildcard reading), what they count, the number of classes.

    ``residual``: records whose every column is missing and that are out of the sizes.
    """

    reading: Reading
    counted: Counted
    sizes: SizeHistogram
    classes: int
    residual: int


def _buckets(sizes: SizeHistogram, k: int | None, audience: Audience) -> tuple[ClassBucket, ...]:
    if not isinstance(sizes, ClassSizes) or not sizes.n_records:
        return ()
    buckets = sizes.buckets(bucket_edges(k))
    shown = audience.all_of([bucket.records for bucket in buckets], sizes.n_records)
    return tuple(
        ClassBucket(
            low=bucket.low,
            high=bucket.high,
            classes=Figure.of(bucket.classes, "count", shown),
            records=Figure.of(bucket.records, "count", shown),
            share=Figure.of(bucket.share, "share", shown),
        )
        for bucket in buckets
    )


def risk_facts(
    measured: Measured,
    *,
    k: int,
    above: Fraction | None,
    audience: Audience,
    risk: RiskMeasures | None = None,
    further: Mapping[str, Figure] | None = None,
) -> RiskFacts:
    """Give the facts of one table.

    ``k``: the class size that the threat demands (1: none). ``above``: the level for records at risk. ``risk``: the measures of the
    threat's own attacker where that is not the prosecutor.
    """
    sizes = measured.sizes
    prosecutor = prosecutor_risk(sizes, above=above)
    main = prosecutor if risk is None else risk
    smallest, n = sizes.smallest, sizes.n_records
    note = None if n else ALL_LOST if measured.residual else NO_RECORDS
    shown = Visibility.INTERNAL if smallest is None else audience.of(smallest)
    at_risk = main.records_at_risk
    wildcard = measured.reading == "wildcard"
    below = sizes.records_below(k)
    return RiskFacts(
        reading=measured.reading,
        counted=measured.counted,
        persons=None if sizes.least is None else audience.count(sizes.least.n_records),
        records=audience.count(n),
        classes=audience.count(measured.classes),
        k=Figure.of(smallest, "count", shown, note),
        uniques=audience.count(sizes.uniques, n),
        highest=Figure.of(main.highest, "risk", shown, note if main.highest is None else None),
        average=Figure.of(main.average, "risk", shown, _rounded(main) if n else note),
        at_risk=None
        if at_risk is None
        else audience.share(at_risk, n if main.among is None else main.among, main.share_at_risk),
        records_below_k=None if k == 1 else audience.count(below, n),
        classes_below_k=None
        if k == 1 or wildcard or not isinstance(sizes, ClassSizes)
        else audience.count(sizes.classes_below(k)),
        residual=audience.count(measured.residual),
        buckets=_buckets(sizes, k if k > 1 else None, audience),
        further=dict(further or {}),
    )


def _rounded(risk: RiskMeasures) -> str | None:
    return "rounded up in the 40th decimal" if risk.average_rounded_up else None


def undefined_risk(reading: Reading, note: str) -> RiskFacts:
    """Give the facts of a table that could not be measured: every figure undefined, so that nothing can be said to hold.

    >>> undefined_risk("category", "the file lacks a column").k.value is None
    True
    """
    none = Figure.of(None, note=note)
    return RiskFacts(
        reading=reading,
        counted="records",
        records=none,
        classes=none,
        k=none,
        uniques=none,
        highest=none,
        average=none,
        at_risk=None,
        records_below_k=None,
        classes_below_k=None,
        residual=none,
    )
