"""Cells of an array under a partition, as each axis faces the others: what every step of a search reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from privrelease.synthesis.modl.grids import Prior

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from privrelease.synthesis.modl.frequencies import Frequencies

__all__ = ["Facing", "State", "cells_by_key", "facing", "one_key"]

#: Up to so many numbers a table of marks is quicker than sorting.
_MARKED: Final = 1 << 22
_MOST_KEY: Final = 1 << 62


class Facing(NamedTuple):
    """Cells of an array as one axis faces the others, sorted by row, then column, each pair once.

    ``rows``: position on the axis; ``columns``: number of the cell of the other axes; ``counts``: records; ``many``: columns.
    """

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    counts: NDArray[np.int64]
    many: int

    def table(self, rows: NDArray[np.int64], many: int) -> NDArray[np.int64]:
        """Return the records by row and column, dense, where ``rows`` says again in which of ``many`` rows each cell is."""
        found = np.bincount(rows * self.many + self.columns, self.counts, many * self.many)
        return found.astype(np.int64).reshape(many, self.many)


class State:
    """An array with what the steps of a search need of it: its logarithms, its prior, its cells by axis."""

    def __init__(self, frequencies: Frequencies) -> None:
        self.frequencies = frequencies
        self.axes = frequencies.axes
        self.logs = frequencies.logs
        self.prior = Prior(frequencies)
        self.columns = tuple(np.ascontiguousarray(one) for one in frequencies.cells.T)

    def facing(self, at: int, parts: Sequence[NDArray[np.int64]]) -> Facing:
        """Return the values of an axis against the parts of the others."""
        sizes = [int(one.max()) + 1 for one in parts]
        coded = [one[cells] for one, cells in zip(parts, self.columns, strict=True)]
        coded[at] = self.columns[at]
        return facing(at, coded, sizes, self.frequencies.counts)

    def collapsed(self, parts: Sequence[NDArray[np.int64]]) -> tuple[list[NDArray[np.int64]], NDArray[np.int64]]:
        """Return the cells of a grid that hold records, axis by axis, and their records."""
        sizes = [int(one.max()) + 1 for one in parts]
        coded = [one[cells] for one, cells in zip(parts, self.columns, strict=True)]
        return cells_by_key(coded, sizes, self.frequencies.counts)


def one_key(coded: Sequence[NDArray[np.int64]], sizes: Sequence[int], length: int) -> tuple[NDArray[np.int64], int]:
    """Return one number for each combination of codes, and how many numbers there are.

    >>> one_key([np.array([0, 1]), np.array([2, 1])], [2, 3], 2)
    (array([2, 4]), 6)
    """
    key, range_ = np.zeros(length, dtype=np.int64), 1
    for codes, size in zip(coded, sizes, strict=True):
        if size < 2:
            continue
        if range_ * size > _MOST_KEY:
            found, key = np.unique(key, return_inverse=True)
            range_ = found.size
        key, range_ = key * size + codes, range_ * size
    return key, range_


def facing(at: int, coded: Sequence[NDArray[np.int64]], sizes: Sequence[int], counts: NDArray[np.int64]) -> Facing:
    """Return cells (``coded``, one array an axis) as axis ``at`` faces the others, which have ``sizes`` parts; no column is empty."""
    rows = coded[at]
    others = [one for one in range(len(coded)) if one != at]
    key, range_ = one_key([coded[one] for one in others], [sizes[one] for one in others], rows.size)
    if range_ <= _MARKED:
        marks = np.zeros(range_, dtype=np.int64)
        marks[key] = 1
        number = np.cumsum(marks) - 1
        columns, many = number[key], int(number[-1]) + 1
    else:
        found, columns = np.unique(key, return_inverse=True)
        many = found.size
    many = max(many, 1)
    both, top = rows * many + columns, int(rows.max(initial=0)) + 1
    place, held = _tallied(both, top * many, counts)
    return Facing(place // many, place % many, held, many)


def cells_by_key(
    coded: Sequence[NDArray[np.int64]], sizes: Sequence[int], counts: NDArray[np.int64]
) -> tuple[list[NDArray[np.int64]], NDArray[np.int64]]:
    """Return cells with those of equal codes added up: codes axis by axis, and records."""
    key, range_ = one_key(coded, sizes, counts.size)
    if range_ > _MARKED:
        _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
        return [one[first] for one in coded], np.bincount(inverse, counts).astype(np.int64)
    place, held = _tallied(key, range_, counts)
    found: list[NDArray[np.int64]] = []
    for size in reversed(sizes):
        found.append(place % size)
        place //= size
    return found[::-1], held


def _tallied(key: NDArray[np.int64], range_: int, counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the keys that hold records, ascending, and the records of each."""
    if range_ > _MARKED:
        place, inverse = np.unique(key, return_inverse=True)
        return place, np.bincount(inverse, counts).astype(np.int64)
    dense = np.bincount(key, counts, range_)
    place = np.flatnonzero(dense)
    return place, dense[place].astype(np.int64)
