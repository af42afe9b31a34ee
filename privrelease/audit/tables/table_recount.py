"""The cells of a table from what each person adds to it: how an audit adds up, apart from the engine's own totals."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from privrelease.relational.tables import Contributions, TableCells

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from privrelease.relational.tables import TableQuery

__all__ = ["cells_of"]


def cells_of(found: Contributions, asked: TableQuery) -> TableCells:
    """Return every cell, totals included.

    >>> from privrelease.relational.tables import Contributions, TableQuery
    >>> one = Contributions(
    ...     np.array([0, 1, 1]), np.array([7, 7, 8]), np.array([1, 1, 1]), np.array([[5, 2, 4]]), np.array([[1, 1, 1]]), 0
    ... )
    >>> cells = cells_of(one, TableQuery(("sex",), (("F", "M"),), ("x",), "id", largest=2))
    >>> cells.rows.tolist(), cells.persons.tolist(), cells.sums.tolist(), cells.largest[0].tolist()
    ([1, 2, 3], [1, 2, 2], [[5, 6, 11]], [[5, 0], [4, 2], [7, 4]])
    >>> cells.known_rows.tolist(), cells.known_persons.tolist()
    ([[1, 2, 3]], [[1, 2, 2]])
    """
    shape = asked.shape
    size = int(np.prod(shape))
    inner = asked.inner
    rows, persons = np.zeros(size, np.int64), np.zeros(size, np.int64)
    sums = np.zeros((len(asked.sums), size), np.int64)
    largest = np.zeros((len(asked.sums), size, asked.largest), np.int64)
    known, holders = np.zeros_like(sums), np.zeros_like(sums)
    places = np.unravel_index(found.cells, inner)
    for over in product((False, True), repeat=len(inner)) if asked.margins else [(False,) * len(inner)]:
        along = [np.full_like(place, keys) if total else place for place, keys, total in zip(places, inner, over, strict=True)]
        cells = np.ravel_multi_index(along, shape).astype(np.int64)
        order = np.lexsort((found.persons, cells))
        cells, who = cells[order], found.persons[order]
        first = np.flatnonzero(np.r_[True, (cells[1:] != cells[:-1]) | (who[1:] != who[:-1])]) if len(cells) else order
        if not len(first):
            continue
        held = cells[first]
        alike = np.ones(len(first), np.int64) if found.alike is None else found.alike[order][first]
        np.add.at(persons, held, alike)
        np.add.at(rows, cells, found.rows[order] * (1 if found.alike is None else found.alike[order]))
        for i, values in enumerate(found.sums):
            each = np.add.reduceat(values[order], first)
            np.add.at(sums[i], held, each * alike)
            values_there = np.add.reduceat(found.known[i][order], first)
            np.add.at(known[i], held, values_there * alike)
            there = values_there > 0
            np.add.at(holders[i], held[there], alike[there])
            listed = np.repeat(np.flatnonzero(there), np.minimum(alike[there], asked.largest))
            _largest(largest[i], held[listed], each[listed])
    return TableCells(rows, persons, sums, largest, known, holders, found.left_out, _several(found) if asked.several else None)


def _several(found: Contributions) -> Contributions:
    """Those of persons with more than one row."""
    all_rows = np.bincount(found.persons, found.rows) if len(found.persons) else np.zeros(0)
    more = all_rows[found.persons] > 1
    return Contributions(
        found.cells[more], found.persons[more], found.rows[more], found.sums[:, more], found.known[:, more], found.left_out
    )


def _largest(into: NDArray[np.int64], cells: NDArray[np.int64], values: NDArray[np.int64]) -> None:
    """Write the largest values of each cell, descending."""
    order = np.lexsort((-values, cells))
    cells, values = cells[order], values[order]
    starts = np.flatnonzero(np.r_[True, cells[1:] != cells[:-1]])
    rank = np.arange(len(cells)) - np.repeat(starts, np.diff(np.r_[starts, len(cells)]))
    kept = rank < into.shape[1]
    into[cells[kept], rank[kept]] = values[kept]
