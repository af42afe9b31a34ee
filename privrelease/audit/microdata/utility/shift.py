"""The shift of means and quantiles, in standard deviations of the source: no unit, and no value of a cell."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, sqrt
from typing import TYPE_CHECKING

import numpy as np

from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["QUANTILES", "Numbers", "deviation", "mean", "mean_shift", "quantile", "quantile_shifts"]

#: The quantiles that are compared.
QUANTILES = tuple(Fraction(p, 100) for p in (5, 25, 50, 75, 95))


@dataclass(frozen=True, eq=False, slots=True)
class Numbers:
    """A numeric column by value: ``values`` (v,) float64 ascending, ``counts`` (v,) int64 records of each; missing cells are not in it."""

    values: NDArray[np.float64]
    counts: NDArray[np.int64]

    @property
    def n(self) -> int:
        """Known cells."""
        return int(self.counts.sum())


def mean(numbers: Numbers) -> float | None:
    """Return the mean; None where no cell is known.

    >>> mean(Numbers(np.array([1.0, 4.0]), np.array([2, 1])))
    2.0
    """
    return float(np.sum(numbers.values * numbers.counts)) / numbers.n if numbers.n else None


def deviation(numbers: Numbers) -> float | None:
    """Return the sample standard deviation, denominator n - 1; None where fewer than two cells are known or all are equal.

    >>> deviation(Numbers(np.array([1.0, 3.0]), np.array([1, 1]))) ** 2
    2.0000000000000004
    """
    centre = mean(numbers)
    if centre is None or numbers.n < 2:
        return None
    squares = float(np.sum((numbers.values - centre) ** 2 * numbers.counts))
    return sqrt(squares / (numbers.n - 1)) if squares > 0 else None


def quantile(numbers: Numbers, p: Fraction) -> float | None:
    """Return the smallest value v with F(v) >= p (type 1 of Hyndman, Fan 1996); None where no cell is known.

    >>> numbers = Numbers(np.array([1.0, 2.0, 9.0]), np.array([2, 1, 1]))
    >>> [quantile(numbers, Fraction(p)) for p in ("1/2", "3/4", "1")]
    [1.0, 2.0, 9.0]
    """
    if not numbers.n:
        return None
    rank = max(1, ceil(p * numbers.n))
    return float(numbers.values[int(np.searchsorted(np.cumsum(numbers.counts), rank))])


def mean_shift(before: Numbers, after: Numbers) -> float | None:
    """Return (mean after - mean before) / standard deviation before; None where one of them is not defined.

    >>> mean_shift(Numbers(np.array([0.0, 2.0]), np.array([50, 50])), Numbers(np.array([2.0]), np.array([50]))) > 0.99
    True
    """
    first, second, unit = mean(before), mean(after), deviation(before)
    return None if first is None or second is None or unit is None else (second - first) / unit


def quantile_shifts(before: Numbers, after: Numbers, at: Sequence[Fraction] = QUANTILES) -> tuple[float | None, ...]:
    """Return (quantile after - quantile before) / standard deviation before, for each p of ``at``.

    >>> same = Numbers(np.array([0.0, 2.0]), np.array([5, 5]))
    >>> quantile_shifts(same, same)
    (0.0, 0.0, 0.0, 0.0, 0.0)
    """
    unit = deviation(before)
    if unit is None or not after.n:
        return (None,) * len(at)
    return tuple(_difference(quantile(before, p), quantile(after, p), unit) for p in at)


def _difference(first: float | None, second: float | None, unit: float) -> float | None:
    return None if first is None or second is None else (second - first) / unit
