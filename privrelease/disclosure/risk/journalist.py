"""Journalist risk: the attacker does not know whether the person is in the data, so the class in the population protects.

f: class size in the sample, F: in the population, n records, J classes. highest: 1 / min F. average: max(J / ΣF, (1/n) Σ f/F). records at
risk: those with 1/F strictly above a level. Source: El Emam, Guide to the De-Identification of Personal Health Information (2013), chapter
16; Prasser et al., Flexible data anonymization using ARX (2020); `reference/arx.md`.

The sample is part of the population, so F >= f: where a population table or weights say less (weights below 1, a table of another year),
f is taken and the class is counted as ``population_short``.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from privrelease.disclosure.risk.ratios import sum_of_ratios
from privrelease.disclosure.risk.verdict import RiskMeasures, judge
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from privrelease.disclosure.risk.ratios import RatioSum
    from privrelease.disclosure.risk.thresholds import Thresholds
    from privrelease.disclosure.risk.verdict import Verdict

__all__ = ["PopulationSizes", "journalist_risk", "journalist_verdict"]


@dataclass(frozen=True, eq=False, slots=True)
class PopulationSizes:
    """Distinct population sizes with what stands on them, the histogram from which journalist and marketer risk follow.

    ``sizes``: (s,) distinct F, ascending, int64 or float64 (weights). ``records``: (s,) int64 records. ``classes``: (s,) int64 classes, or
    None where records do not fall into classes. ``short``: classes raised to f. ``residual``: records left out. ``least``: where persons are counted
    and some person is in several classes, each person once, by the smallest F of them.
    """

    sizes: NDArray[np.int64] | NDArray[np.float64]
    records: NDArray[np.int64]
    classes: NDArray[np.int64] | None
    short: int = 0
    residual: int = 0
    least: PopulationSizes | None = None

    @property
    def own(self) -> PopulationSizes:
        """Return the base of average and share: every person once, or the records."""
        return self if self.least is None else self.least

    @classmethod
    def of(
        cls,
        sample: NDArray[np.int64],
        population: NDArray[np.int64] | NDArray[np.float64],
        *,
        records: NDArray[np.int64] | None = None,
        persons: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]] | None = None,
    ) -> PopulationSizes:
        """From f and F of every class, (J,) each; classes with f = 0 (residual, lost) are left out.

        ``records``: number of records of each class where it is not f (missing matches anything: f counts matches). ``persons``: (m,) persons,
        ascending, (m,) the class of each of their pairs, and (m,) how many persons each represents.
        Errors: ValueError for shapes that differ, for an F that is not finite.

        >>> sizes = PopulationSizes.of(np.array([2, 1, 3]), np.array([10, 0, 10]))
        >>> (sizes.sizes.tolist(), sizes.records.tolist(), sizes.short)
        ([1, 10], [1, 5], 1)
        """
        if sample.shape != population.shape or (records is not None and records.shape != sample.shape):
            msg = "sample and population sizes must be arrays of one length"
            raise ValueError(msg)
        if not bool(np.all(np.isfinite(population))):
            msg = "population sizes must be finite"
            raise ValueError(msg)
        kept = sample > 0
        theirs = np.maximum(population, sample)[kept]
        amounts = (sample if records is None else records)[kept]
        distinct, where = np.unique(theirs, return_inverse=True)
        totals = np.zeros(len(distinct), np.int64)
        np.add.at(totals, where, amounts)
        classes = np.bincount(where, minlength=len(distinct)).astype(np.int64) if records is None else None
        short = int(np.count_nonzero(population[kept] < sample[kept]))
        lost = 0 if records is None else int(records[~kept].sum())
        own = None if persons is None else _least(np.maximum(population, sample), kept, *persons)
        return cls(distinct, totals, classes, short, lost, own)

    @property
    def n_records(self) -> int:
        """n, the number of records in the statistics."""
        return int(self.records.sum())

    @property
    def uniques(self) -> int:
        """Records that are unique in the population, and so in the sample."""
        return int(self.records[self.sizes == 1].sum())

    def mean_reciprocal(self) -> RatioSum:
        """(1/n) Σ over records of 1/F, which is (1/n) Σ f/F over classes. Needs a record."""
        n_records = self.n_records
        exact = [Fraction(size) for size in self.sizes.tolist()]
        return sum_of_ratios(
            [size.denominator * count for size, count in zip(exact, self.records.tolist(), strict=True)],
            [size.numerator * n_records for size in exact],
        )

    def records_at_risk(self, above: Fraction) -> int:
        """Records with 1/F strictly above ``above``, compared exactly: F < 1/above."""
        if above <= 0:
            return self.n_records
        limit = 1 / above
        below = np.array([Fraction(size) < limit for size in self._near(limit)], np.bool_)
        start = int(np.searchsorted(self.sizes, float(limit) * (1 - 1e-9), side="left"))
        return int(self.records[: start + int(below.sum())].sum())

    def _near(self, limit: Fraction) -> list[int] | list[float]:
        """Sizes that a float comparison with ``limit`` could get wrong."""
        low, high = np.searchsorted(self.sizes, [float(limit) * (1 - 1e-9), float(limit) * (1 + 1e-9)], side="left")
        near: list[int] | list[float] = self.sizes[low : high + 1].tolist()
        return near


def _least(
    sizes: NDArray[np.int64] | NDArray[np.float64],
    kept: NDArray[np.bool_],
    persons: NDArray[np.int64],
    classes: NDArray[np.int64],
    times: NDArray[np.int64],
) -> PopulationSizes | None:
    """Persons by the smallest F of their classes; None where every person has one class."""
    there = kept[classes]
    persons, theirs, times = persons[there], sizes[classes[there]], times[there]
    starts = np.flatnonzero(np.diff(persons, prepend=-1))
    if len(starts) == len(persons):
        return None
    distinct, where = np.unique(np.minimum.reduceat(theirs, starts), return_inverse=True)
    totals = np.bincount(where, times[starts], len(distinct)).astype(np.int64)
    return PopulationSizes(distinct, totals, None)


def journalist_risk(sizes: PopulationSizes, *, above: Fraction | None = None) -> RiskMeasures:
    """Measure journalist risk. Without a record, highest and average are None. Where persons are in several classes, average and share are of
    persons, each as much at risk as in the class with the smallest F.

    >>> risk = journalist_risk(PopulationSizes.of(np.array([2, 1]), np.array([10, 4])), above=Fraction("0.2"))
    >>> (risk.highest, risk.average, risk.records_at_risk)
    (Fraction(1, 4), Fraction(3, 20), 1)
    """
    n_records = sizes.n_records
    own = sizes.own
    at_risk = None if above is None else own.records_at_risk(above)
    if not n_records:
        return RiskMeasures("journalist", 0, None, None, above=above, records_at_risk=at_risk)
    by_record = own.mean_reciprocal()
    average, rounded_up = by_record.value, by_record.rounded_up
    if sizes.classes is not None:
        by_class = _classes_over_population(sizes.sizes, sizes.classes)
        if by_class > average:
            average, rounded_up = by_class, False
    highest = 1 / Fraction(sizes.sizes[0].item())
    among = None if own is sizes else own.n_records
    return RiskMeasures("journalist", n_records, highest, average, rounded_up, above, at_risk, sizes.short, among=among)


def _classes_over_population(sizes: NDArray[np.int64] | NDArray[np.float64], classes: NDArray[np.int64]) -> Fraction:
    """J / ΣF."""
    total = sum((Fraction(size) * count for size, count in zip(sizes.tolist(), classes.tolist(), strict=True)), Fraction(0))
    return Fraction(int(classes.sum())) / total


def journalist_verdict(sizes: PopulationSizes, thresholds: Thresholds) -> Verdict:
    """Judge journalist risk against thresholds.

    >>> from privrelease.disclosure.risk.thresholds import Thresholds
    >>> journalist_verdict(PopulationSizes.of(np.array([1]), np.array([5])), Thresholds(highest=Fraction("0.2"))).holds
    True
    """
    above = None if thresholds.at_risk is None else thresholds.at_risk.above
    return judge(journalist_risk(sizes, above=above), thresholds)
