"""Sensitive values within the classes of a released file, for checks on l-diversity and t-closeness, measured on the audit's own class tables.

Thresholds look at known values (DESIGN semantics 14): a class without one has l = 0, and no distance that could be within t. The reading with
missing as one more value is reported next to it. Records whose every column of the threat was suppressed are lost, as
everywhere. A missing column of the threat equals another missing one, under either reading of the threat.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from privrelease.audit.microdata.risk.declared_order import compared_by, positions
from privrelease.audit.microdata.risk.threats import lost_where_missing
from privrelease.disclosure.classes.grouping import column_indices, group_rows, is_residual
from privrelease.disclosure.risk.l_diversity import distinct_l, entropy_l, is_diverse, recursive_l
from privrelease.disclosure.risk.sensitive import SensitiveCounts
from privrelease.disclosure.risk.t_closeness import t_closeness
from privrelease.texts.sentences import Number, Said, say
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from privrelease.audit.microdata.evidence import Evidence
    from privrelease.disclosure.classes.equivalence_classes import ClassTable
    from privrelease.disclosure.risk.l_diversity import DiversityKind
    from privrelease.disclosure.risk.sensitive import MissingSensitive
    from privrelease.engine.protocol.audit import MeasuringEngine
    from privrelease.plan.model import CheckPlan, ThreatPlan

__all__ = ["Judged", "l_diversity", "sensitive_counts", "t_closeness_of"]

_STEP = 1000


@dataclass(frozen=True, slots=True)
class Judged:
    """A figure that was compared with its limit exactly, where it was measured. ``beside``: what an insider should know besides."""

    value: Fraction | float
    holds: bool
    beside: Said | None = None


def sensitive_counts(
    table: ClassTable, columns: Sequence[str], sensitive: str, *, lost: bool, places: NDArray[np.int64] | None = None
) -> SensitiveCounts:
    """Count sensitive values by class over ``columns``. ``lost``: records with every column missing are in no class.

    ``places``: (v + 1,) the place in the order of each code of the sensitive column; None: codes are in order.

    >>> from privrelease.disclosure.classes.equivalence_classes import ClassTable
    >>> table = ClassTable(("area", "s"), np.array([[0, 1], [1, 0], [1, 2]], np.int32), np.array([3, 2, 1]))
    >>> counts = sensitive_counts(table, ["area"], "s", lost=True)
    >>> counts.n_classes, counts.value.tolist(), counts.count.tolist()
    (1, [0, 2], [2, 1])
    """
    chosen = column_indices(table, columns)
    first = chosen == tuple(range(len(chosen)))
    keys = table.codes[:, : len(chosen)] if first else table.codes[:, list(chosen)]  # a view where it can be one
    value = table.codes[:, column_indices(table, [sensitive])[0]].astype(np.int64)
    if places is not None:
        value = places[value]
    counts = table.counts
    kept = ~is_residual(keys) if lost and columns else np.ones(len(keys), np.bool_)
    if not kept.all():  # else no copy of what may be as long as the rows
        keys, value, counts = keys[kept], value[kept], counts[kept]
    grouping = group_rows(keys)
    del keys, kept
    return SensitiveCounts.of(grouping.group.astype(np.int64, copy=False), value, counts, grouping.n_groups)


def _classes(
    engine: MeasuringEngine, evidence: Evidence, check: CheckPlan, sensitive: str | None, order: tuple[str, ...] | None = None
) -> list[tuple[str, SensitiveCounts]] | Said | None:
    """Sensitive counts under each threat that the check is about; a threat that knows the column learns nothing.

    ``order``: the sensitive values in their declared order; None where their own order, or none, counts.
    """
    named = dict(check.options).get("threat")
    threats = [
        threat
        for threat in evidence.plan.threats
        if (named is None or threat.name == named) and sensitive not in threat.columns
    ]
    if evidence.main is None or sensitive is None:
        return None
    if not threats:
        return say("threats_know")
    if evidence.person_after is not None:
        return say("several_rows")
    found = []
    for threat in threats:
        if not evidence.measurable([*threat.columns, sensitive]):
            return None
        counts = _counts(engine, evidence, threat, sensitive, order)
        if isinstance(counts, Said):
            return counts
        found.append((threat.name, counts))
    return found


def _counts(
    engine: MeasuringEngine, evidence: Evidence, threat: ThreatPlan, sensitive: str, order: tuple[str, ...] | None
) -> SensitiveCounts | Said:
    """Count sensitive values by the classes of a threat; a text where there is none, or a value has no place in the declared order."""
    names, known, main = [*threat.columns, sensitive], evidence.after, evidence.main
    assert main is not None
    # a declared order is applied to a table of the released file alone, in a coding of its own
    at_hand = known is not None and order is None and set(names) <= set(known.columns)
    table = known if known is not None and at_hand else engine.class_table(main, names)
    places = None if order is None else positions(engine, main, table, sensitive, order)
    if order is not None and places is None:
        return say("outside_domain")
    counts = sensitive_counts(table, threat.columns, sensitive, lost=lost_where_missing(evidence), places=places)
    return counts if counts.n_classes else say("no_records")


def _smallest(counts: SensitiveCounts, kind: DiversityKind, c: Fraction | None, missing: MissingSensitive) -> float:
    if kind == "entropy":
        return float(entropy_l(counts, missing).min())
    if kind == "recursive":
        assert c is not None
        return int(recursive_l(counts, c, missing).min())
    return int(distinct_l(counts, missing).min())


def l_diversity(engine: MeasuringEngine, evidence: Evidence, check: CheckPlan, sensitive: str | None) -> Judged | Said | None:
    """Measure the smallest l of any class, under the threat where it is smallest; None or a text: it could not be measured."""
    classes = _classes(engine, evidence, check, sensitive)
    if classes is None or isinstance(classes, Said) or check.minimum is None:
        return None if classes is None or not isinstance(classes, Said) else classes
    options = dict(check.options)
    kind: DiversityKind = options.get("kind", "distinct")  # type: ignore[assignment]  # one of its choices
    c = options.get("c")
    least, c = check.minimum, c if isinstance(c, Fraction) else None
    worst = []
    for name, counts in classes:
        diverse = is_diverse(counts, least, kind, c=c)
        empty = int(np.count_nonzero(counts.seen("known").totals == 0))
        beside = say(
            "diverse_beside",
            threat=name,
            below=int(np.count_nonzero(~diverse)),
            all=counts.n_classes,
            empty=empty,
            smallest=Number(f"{_smallest(counts, kind, c, 'value'):.6g}"),
        )
        worst.append(Judged(_smallest(counts, kind, c, "known"), bool(diverse.all()), beside))
    found = min(worst, key=lambda one: (one.holds, one.value))
    return Judged(Fraction(found.value) if kind != "entropy" else found.value, found.holds, found.beside)


def t_closeness_of(
    engine: MeasuringEngine, evidence: Evidence, check: CheckPlan, sensitive: str | None
) -> Judged | Said | None:
    """Measure the largest distance of any class from all records, under the threat where it is largest.

    Ordered distance where the column's values have an order of their own and the policy names no distance. A figure that holds is rounded up to a tenth of a
    per cent, never beyond the limit: its exact fraction would give sizes of classes away.
    """
    if sensitive is None or check.maximum is None:
        return None
    by = compared_by(evidence, check, sensitive)
    if not by.measurable:
        return say("no_order")
    classes = _classes(engine, evidence, check, sensitive, by.order)
    if classes is None or isinstance(classes, Said):
        return classes
    distance = by.distance
    worst = []
    for name, counts in classes:
        close = t_closeness(counts, distance)
        if close.largest is None:
            empty = int(np.count_nonzero(close.denominators == 0))
            worst.append(Judged(Fraction(1), False, say("close_empty", threat=name, n=empty)))
            continue
        other = t_closeness(counts, distance, "value").largest
        beside = say("close_beside", threat=name, other=say("undefined") if other is None else Number(f"{float(other):.6g}"))
        worst.append(Judged(close.largest, close.holds(check.maximum), beside))
    found = max(worst, key=lambda one: (not one.holds, one.value))
    if not found.holds:
        return found
    value = Fraction(found.value)
    up = Fraction(-(-value.numerator * _STEP // value.denominator), _STEP)
    return Judged(min(up, check.maximum), True)
