"""Distances of two distributions given as counts by value: exact fractions, so that they can be compared with a limit."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from privrelease.audit.microdata.utility.value_counts import joint_counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from privrelease.audit.microdata.utility.value_counts import ValueCounts
    from privrelease.disclosure.classes.equivalence_classes import ClassTable

__all__ = ["distribution_shift", "kolmogorov_distance", "marginal_error", "total_variation"]


def _sides(before: NDArray[np.int64], after: NDArray[np.int64]) -> tuple[int, int] | None:
    """Records of both sides; None where one has none: it has no distribution."""
    if before.shape != after.shape:
        msg = "the counts are not over the same values"
        raise ValueError(msg)
    n, m = int(before.sum()), int(after.sum())
    return (n, m) if n and m else None


def _crossed(before: NDArray[np.int64], after: NDArray[np.int64], n: int, m: int) -> list[int]:
    """Give |b m - a n| by value: exact, in Python's integers where 64 bits could overflow."""
    if n * m < 2**62:
        return [int(x) for x in np.abs(before * m - after * n).tolist()]
    return [abs(int(b) * m - int(a) * n) for b, a in zip(before.tolist(), after.tolist(), strict=True)]


def total_variation(before: NDArray[np.int64], after: NDArray[np.int64]) -> Fraction | None:
    """Return half of Σ|p(v) - q(v)|: the largest difference of the share of any set of values. In [0, 1]; None where a side is empty.

    ``before``, ``after``: (v,) counts over the same values. Source: Levin, Peres, Wilmer 2009, proposition 4.2.

    >>> total_variation(np.array([3, 1]), np.array([1, 1]))
    Fraction(1, 4)
    """
    sides = _sides(before, after)
    return None if sides is None else Fraction(sum(_crossed(before, after, *sides)), 2 * sides[0] * sides[1])


def kolmogorov_distance(before: NDArray[np.int64], after: NDArray[np.int64]) -> Fraction | None:
    """Return max |F(v) - G(v)| over values in ascending order (Kolmogorov, Smirnov). In [0, 1]; None where a side is empty.

    >>> kolmogorov_distance(np.array([2, 1, 1]), np.array([1, 1, 2]))
    Fraction(1, 4)
    """
    sides = _sides(before, after)
    if sides is None:
        return None
    return Fraction(max(_crossed(np.cumsum(before), np.cumsum(after), *sides)), sides[0] * sides[1])


def distribution_shift(counts: ValueCounts, *, ordered: bool, missing: bool = False) -> Fraction | None:
    """Return how far a column's distribution moved: Kolmogorov's distance where values are ordered, else the total variation.

    ``missing`` False: of known values only, so suppression that hits every value alike is no shift. True: missing is a value (the
    first in the order). None where a side holds no value.

    >>> from privrelease.audit.microdata.utility.value_counts import ValueCounts
    >>> even = ValueCounts("sex", np.array([0, 4, 4]), np.array([4, 2, 2]))
    >>> distribution_shift(even, ordered=False), distribution_shift(even, ordered=False, missing=True)
    (Fraction(0, 1), Fraction(1, 2))
    """
    start = 0 if missing else 1
    measure = kolmogorov_distance if ordered else total_variation
    return measure(counts.before[start:], counts.after[start:])


def marginal_error(before: ClassTable, after: ClassTable, columns: Sequence[str]) -> Fraction | None:
    """Return the total variation of the joint marginal of ``columns``, missing as a value: the error of its worst question of shares.

    ``before``, ``after``: class tables of one coding that hold the columns. None where a side has no record.

    >>> from privrelease.disclosure.classes.equivalence_classes import ClassTable
    >>> before = ClassTable(("a", "b"), np.array([[1, 1], [2, 2]], np.int32), np.array([5, 5]))
    >>> after = ClassTable(("a", "b"), np.array([[1, 2], [2, 1]], np.int32), np.array([5, 5]))
    >>> marginal_error(before, after, ["a"]), marginal_error(before, after, ["a", "b"])
    (Fraction(0, 1), Fraction(1, 1))
    """
    return total_variation(*joint_counts(before, after, columns))
