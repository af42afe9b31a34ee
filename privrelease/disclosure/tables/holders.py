"""Contributors of several cells: who is in how many, and what they have in all of them together.

A sum of suppressed cells that follows from totals is a cell that no one asked for, and a person (an enterprise group, a
holding) with a part in two of them is one contributor of it, with both parts. Only who has more than one row can be in two
cells without a row in common, so these are looked at one by one; of all others the cells' own counts and largest contributions
are enough.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from privrelease.relational.tables import Contributions
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from privrelease.relational.tables import TableQuery

__all__ = ["Holders", "of_cells", "with_totals"]


@dataclass(frozen=True, eq=False, slots=True)
class Holders:
    """Contributions of the persons with more than one row to each cell, totals included, one entry by cell and person.

    ``entries``: in the order of their cells. ``size``: number of cells.
    """

    entries: Contributions
    size: int

    def of(self, cells: Sequence[int]) -> NDArray[np.int64]:
        """Return the numbers of the entries of ``cells``."""
        ends = np.searchsorted(self.entries.cells, [[cell, cell + 1] for cell in cells])
        return np.concatenate([np.arange(first, last) for first, last in ends] or [np.zeros(0, np.int64)])

    def repeated(self, cells: Sequence[int], column: int | None) -> int:
        """Return how many contributors too many the sum over ``cells`` has: each once for every cell but one. ``column``: only entries with a
        value of that sum; None: all.

        >>> two = Contributions(
        ...     np.array([0, 1]), np.array([7, 7]), np.array([1, 1]), np.zeros((0, 2), int), np.zeros((0, 2), int), 0
        ... )
        >>> Holders(two, 3).repeated([0, 1], None), Holders(two, 3).repeated([0, 2], None)
        (1, 0)
        """
        mine = self.of(cells)
        if column is not None:
            mine = mine[self.entries.known[column, mine] > 0]
        return len(mine) - len(np.unique(self.entries.persons[mine]))

    def largest(self, cells: Sequence[int], column: int, by_cell: NDArray[np.int64]) -> list[int]:
        """Return the largest contributions to the sum of ``cells``, as many as ``by_cell`` (n, k) has for each, descending.

        Whoever is not among the k largest of a cell is below k persons of that cell, each of whom has at least as much in all cells: so the
        persons with several rows, and of the others those that are among the largest of a cell, are all that matter.
        """
        many = by_cell.shape[1]
        found: list[int] = []
        for cell in cells:
            listed = [int(value) for value in by_cell[cell]]
            mine = self.of([cell])
            for value in sorted(self.entries.sums[column, mine].tolist(), reverse=True)[:many]:
                if value in listed:  # the same person, or one with as much
                    listed.remove(value)
            found += listed
        mine = self.of(cells)
        _, place = np.unique(self.entries.persons[mine], return_inverse=True)
        whole = np.zeros(int(place.max(initial=-1)) + 1, np.int64)
        np.add.at(whole, place, self.entries.sums[column, mine])
        return sorted((*found, *whole.tolist()), reverse=True)[:many]

    def alone(self, cells: Sequence[int]) -> dict[int, list[int]]:
        """Return those of ``cells``, each with one contributor only, that a person with several rows fills, by the person's code."""
        found: dict[int, list[int]] = {}
        for cell in cells:
            for person in self.entries.persons[self.of([cell])].tolist():
                found.setdefault(person, []).append(cell)
        return found


def with_totals(found: Contributions, asked: TableQuery) -> Contributions:
    """Return one entry by cell of the box and person, the cells in order; totals too, where the box has any."""
    inner, shape = asked.inner, asked.shape
    places = np.unravel_index(found.cells, inner)
    every = product((False, True), repeat=len(inner)) if asked.margins else [(False,) * len(inner)]
    cells = np.concatenate(
        [
            np.ravel_multi_index(
                [np.full_like(place, keys) if total else place for place, keys, total in zip(places, inner, over, strict=True)],
                shape,
            )
            for over in every
        ]
    ).astype(np.int64)
    times = len(cells) // len(found.cells) if len(found.cells) else 1
    persons, rows = np.tile(found.persons, times), np.tile(found.rows, times)
    order = np.lexsort((persons, cells))
    cells, persons = cells[order], persons[order]
    first = np.flatnonzero(np.r_[True, (cells[1:] != cells[:-1]) | (persons[1:] != persons[:-1])]) if len(cells) else order

    def added(values: NDArray[np.int64]) -> NDArray[np.int64]:
        in_order = np.tile(values, times)[..., order]
        return np.add.reduceat(in_order, first, axis=-1) if len(first) else in_order

    return Contributions(cells[first], persons[first], added(rows), added(found.sums), added(found.known), found.left_out)


def of_cells(entries: Contributions, kept: NDArray[np.bool_] | NDArray[np.int64], cells: NDArray[np.int64]) -> Contributions:
    """Return the entries of ``kept``, numbered by other ``cells``."""
    return Contributions(
        cells, entries.persons[kept], entries.rows[kept], entries.sums[:, kept], entries.known[:, kept], entries.left_out
    )
