"""t-closeness: how far a class's distribution of sensitive values is from that of all records.

equal: values are equally different, the distance is ½ Σ |p_i - q_i|. ordered: values are ranked, the earth mover's distance is
(1/(m-1)) Σ_i |P_i - Q_i| with P, Q the cumulated shares over the m values that occur. Both are ratios of integers and are kept exact.
Source: Li, Li, Venkatasubramanian, t-Closeness: privacy beyond k-anonymity and l-diversity (2007).
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import numpy as np

from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from privrelease.disclosure.risk.sensitive import MissingSensitive, SensitiveCounts

__all__ = ["ClosenessDistance", "TCloseness", "t_closeness"]

ClosenessDistance = Literal["equal", "ordered"]


@dataclass(frozen=True, eq=False, slots=True)
class TCloseness:
    """Distance of each class: ``numerators`` / ``denominators``, (n_classes,) integers; denominator 0 where no value is in view."""

    numerators: NDArray[np.int64]
    denominators: NDArray[np.int64]

    @property
    def distances(self) -> NDArray[np.float64]:
        """(n_classes,) float64, NaN where undefined."""
        found = np.full(len(self.numerators), np.nan)
        np.divide(self.numerators, self.denominators, out=found, where=self.denominators != 0, casting="unsafe")
        return found

    @property
    def largest(self) -> Fraction | None:
        """The largest distance, exact; None where a class has no value in view (it cannot be close) or there is no class."""
        if not len(self.denominators) or bool(np.any(self.denominators == 0)):
            return None
        distances = self.distances
        near = np.flatnonzero(distances >= distances.max() - 1e-12)
        return max(Fraction(int(self.numerators[i]), int(self.denominators[i])) for i in near.tolist())

    def holds(self, t: Fraction) -> bool:
        """Return True if every class is within ``t``."""
        return self.largest is not None and self.largest <= t


def t_closeness(counts: SensitiveCounts, distance: ClosenessDistance, missing: MissingSensitive = "known") -> TCloseness:
    """Measure the distance of every class from the distribution over all classes.

    >>> from privrelease.disclosure.risk.sensitive import SensitiveCounts
    >>> counts = SensitiveCounts.of(np.array([0, 0, 1, 1]), np.array([1, 2, 2, 3]), np.array([1, 1, 1, 1]))
    >>> t_closeness(counts, "equal").largest, t_closeness(counts, "ordered").largest
    (Fraction(1, 4), Fraction(1, 4))
    """
    seen = counts.seen(missing)
    rank, n_values = _ranked(seen.value)
    totals, everything = seen.totals, int(seen.count.sum())
    safe = everything * everything * max(n_values, 1) < 2**62
    if not safe:  # sums pass 64 bits: Python integers are slower and never wrap
        totals = totals.astype(object)
    overall = np.bincount(rank, weights=seen.count, minlength=n_values).astype(np.int64).astype(totals.dtype)
    count = seen.count.astype(totals.dtype)
    if distance == "equal":
        return _equal(seen.group, rank, count, totals, overall, everything)
    return _ordered(seen.group, rank, count, totals, overall, everything)


def _ranked(values: NDArray[np.int64]) -> tuple[NDArray[np.intp], int]:
    """Number the distinct ``values`` in ascending order: the number of each, and how many there are. Codes close to each other need no sort."""
    top = int(values.max(initial=-1))
    if top >= 2 * len(values) + 1024:
        known, rank = np.unique(values, return_inverse=True)
        return rank.reshape(-1), len(known)
    used = np.bincount(values, minlength=1) > 0
    return (np.cumsum(used) - 1)[values], int(np.count_nonzero(used))


def _add(size: int, where: NDArray[np.int64], values: NDArray[np.int64]) -> NDArray[np.int64]:
    sums = np.zeros(size, values.dtype)
    np.add.at(sums, where, values)
    return sums


def _equal(
    group: NDArray[np.int64],
    rank: NDArray[np.intp],
    count: NDArray[np.int64],
    totals: NDArray[np.int64],
    overall: NDArray[np.int64],
    everything: int,
) -> TCloseness:
    """Σ |f_i N - g_i n| over 2 n N; values that a class lacks are in N n, less those that it has."""
    expected = overall[rank]
    expected *= totals[group]
    apart = count * everything
    apart -= expected
    np.abs(apart, out=apart)
    apart -= expected
    present = _add(len(totals), group, apart)
    return TCloseness(np.where(totals > 0, present + totals * everything, 0), 2 * totals * everything)


def _ordered(
    group: NDArray[np.int64],
    rank: NDArray[np.intp],
    count: NDArray[np.int64],
    totals: NDArray[np.int64],
    overall: NDArray[np.int64],
    everything: int,
) -> TCloseness:
    """Σ |F_i N - G_i n| over (m-1) n N. Between two values of a class F is constant and G ascends: one crossing, two prefix sums."""
    m = len(overall)
    if m < 2:
        return TCloseness(np.zeros_like(totals), np.where(totals > 0, 1, 0).astype(totals.dtype))
    cumulated = np.cumsum(overall)
    prefix = np.concatenate([np.zeros(1, overall.dtype), np.cumsum(cumulated)])
    starts_class = np.diff(group, prepend=-1) != 0
    running = np.cumsum(count)
    first = np.flatnonzero(starts_class)
    before = np.where(first > 0, running[first - 1], 0)
    reached = running - before[np.cumsum(starts_class) - 1]
    ends = np.append(rank[1:], m)
    ends[np.append(first[1:], len(group)) - 1] = m
    size = totals[group]
    crossing = np.searchsorted(cumulated, -(-reached * everything // size))
    crossing = np.clip(crossing, rank, ends)
    level = reached * everything
    area = level * (crossing - rank) - size * (prefix[crossing] - prefix[rank])
    area += size * (prefix[ends] - prefix[crossing]) - level * (ends - crossing)
    lead = np.where(starts_class, size * prefix[rank], 0)
    return TCloseness(_add(len(totals), group, area + lead), (m - 1) * totals * everything)
