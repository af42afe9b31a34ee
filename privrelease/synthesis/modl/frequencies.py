"""Frequencies of cells, sparse, with the order of each axis stated, and the logarithms of factorials that a criterion adds up.

Logarithms are integers, in steps of 2^-20 of a nat. Sums of them are exact in any order, so that two ways of adding up the same cost agree to the
last bit and a move pays or does not, without a tolerance.
"""

from __future__ import annotations

import hashlib
from functools import cache, cached_property
from math import lgamma
from typing import TYPE_CHECKING, Final

import numpy as np

from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["UNIT", "Axis", "Frequencies", "log_choose", "log_factorial", "log_factorials", "log_partitions"]

#: Steps in one nat.
UNIT: Final = 1 << 20
#: Above so many records the table of logarithms would need more memory than the array itself.
MOST_RECORDS: Final = 1 << 24


@dataclass(frozen=True, eq=False, slots=True)
class Axis:
    """A column of an array: how many values it has, and whether their order means anything."""

    size: int
    ordered: bool


class Frequencies:
    """Non-negative integer frequencies of the cells of an array with d axes; only cells above 0 are kept.

    ``cells``: one row a cell, one column an axis, int64; ``counts``: records in each, int64; ``axes``: size and order of each axis.

    Raises ValueError for a negative frequency, for no axis, and for more than 2^24 records.

    >>> one = Frequencies.of(np.array([[2, 0], [0, 3]]), ordered=(True, False))
    >>> one.records, one.cells.tolist(), one.counts.tolist()
    (5, [[0, 0], [1, 1]], [2, 3])
    """

    def __init__(self, cells: NDArray[np.int64], counts: NDArray[np.int64], axes: Sequence[Axis]) -> None:
        if not axes or cells.shape != (counts.size, len(axes)):
            msg = "an array of frequencies has at least one axis, and one column of cells for each"
            raise ValueError(msg)
        if counts.size and int(counts.min()) < 0:
            msg = "a frequency is a number of records, and below 0 there is none"
            raise ValueError(msg)
        kept = counts > 0
        self.cells = np.ascontiguousarray(cells[kept].astype(np.int64))
        self.counts = counts[kept].astype(np.int64)
        self.axes = tuple(axes)
        if self.records > MOST_RECORDS:
            msg = f"co-clustering takes at most {MOST_RECORDS} records"
            raise ValueError(msg)

    @classmethod
    def of(cls, array: NDArray[np.integer], ordered: Sequence[bool]) -> Frequencies:
        """Return the frequencies of a dense array; ``ordered``: whether the values of each axis have an order."""
        cells = np.argwhere(array)
        axes = [Axis(size, by_order) for size, by_order in zip(array.shape, ordered, strict=True)]
        return cls(cells, array[tuple(cells.T)].astype(np.int64), axes)

    @cached_property
    def records(self) -> int:
        """The number of records, N."""
        return int(self.counts.sum())

    @cached_property
    def values(self) -> tuple[NDArray[np.int64], ...]:
        """Records of each value, axis by axis."""
        return tuple(
            np.bincount(self.cells[:, at], self.counts, axis.size).astype(np.int64) for at, axis in enumerate(self.axes)
        )

    @cached_property
    def logs(self) -> NDArray[np.int64]:
        """Ln n! for every n up to the records and the values of the largest axis together, in steps of 1/UNIT."""
        return log_factorials(self.records + max(axis.size for axis in self.axes))

    def seed(self) -> int:
        """Return a number that follows from the content alone; random starts come from it."""
        order = np.lexsort(self.cells.T[::-1])
        hashed = hashlib.blake2b(digest_size=16, person=b"modl-starts")
        hashed.update(repr([(axis.size, axis.ordered) for axis in self.axes]).encode())
        hashed.update(self.cells[order].astype("<i8").tobytes())
        hashed.update(self.counts[order].astype("<i8").tobytes())
        return int.from_bytes(hashed.digest())


def log_factorials(many: int) -> NDArray[np.int64]:
    """Return ln n! for n = 0, …, many, each rounded once to steps of 1/UNIT.

    >>> (log_factorials(3) / UNIT).round(4).tolist()
    [0.0, 0.0, 0.6931, 1.7918]
    """
    # partial sums of integers, a thousand times finer than a step
    exact = np.cumsum(np.rint(np.log(np.arange(1, many + 1, dtype=np.float64)) * float(UNIT << 10)).astype(np.int64))
    found = np.zeros(many + 1, dtype=np.int64)
    found[1:] = (exact + (1 << 9)) >> 10
    return found


def log_factorial(n: int) -> int:
    """Return ln n! in steps of 1/UNIT, of any n."""
    return round(lgamma(n + 1) * UNIT)


def log_choose(n: int, k: int) -> int:
    """Return ln of n over k in steps of 1/UNIT, of any n.

    >>> round(log_choose(5, 2) / UNIT, 4)
    2.3026
    """
    return log_factorial(n) - log_factorial(k) - log_factorial(n - k)


@cache
def log_partitions(values: int, most: int) -> tuple[int, ...]:
    """Return ln B(V, I) for I = 0, …, most in steps of 1/UNIT: the ways to divide V values into at most I groups.

    B is a sum of Stirling numbers of the second kind, S(v, k) = k S(v-1, k) + S(v-1, k-1), here in logarithms. B(V, 0) is taken as 1.

    >>> [round(np.exp(one / UNIT)) for one in log_partitions(4, 4)]  # 1; 1, 7, 6, 1 added up
    [1, 1, 8, 14, 15]
    """
    ways = np.full(most + 1, -np.inf)
    ways[0] = 0.0
    factors = np.log(np.maximum(np.arange(most + 1), 1))
    factors[0] = -np.inf
    for _ in range(values):
        grown = ways + factors
        grown[1:] = np.logaddexp(grown[1:], ways[:-1])
        ways = grown
    together = np.logaddexp.accumulate(ways[1:])
    return (0, *(round(float(one) * UNIT) for one in together))
