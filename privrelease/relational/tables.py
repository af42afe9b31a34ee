"""A table of counts and sums as an engine computes it: exact integers by declared cell, with the contributors of each.

Cells are those of a box: every combination of the keys of each column, the last column varying fastest; with margins, each column has one
more place, its last, which represents all keys together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from privrelease.relational.filters import Filter

__all__ = ["Contributions", "Membership", "TableCells", "TableQuery"]


@dataclass(frozen=True, slots=True)
class Membership:
    """The rows of a table: those where ``where`` holds (all where None), and that have one of the ``keys`` of each column."""

    where: Filter | None
    keys: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class TableQuery:
    """``by`` with ``keys`` for each; ``sums``: columns that are exact (integers, or numbers on a grid); ``unit``: the person, None where
    every row is one; ``largest``: how many of the largest contributions of a person to each sum are wanted; ``where``: only those rows.
    Rows that miss a key, or have one that is not listed, are left out, unless ``others`` gives them a place of their own after the keys.
    ``members``: further sides after those of the columns, each of two places: rows that are in, and rows that are not.
    ``several``: what persons with more than one row have in each inner cell is wanted too. ``recoded``: columns of ``by`` of which the keys are
    other values, each made of those that the column holds, given by pairs of a value and its key.
    """

    by: tuple[str, ...]
    keys: tuple[tuple[str, ...], ...]
    sums: tuple[str, ...] = ()
    unit: str | None = None
    margins: bool = True
    largest: int = 0
    where: Filter | None = None
    others: bool = False
    members: tuple[Membership, ...] = ()
    several: bool = False
    recoded: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = ()

    @property
    def inner(self) -> tuple[int, ...]:
        """Places of each side, without those for totals."""
        return (*(len(keys) + self.others for keys in self.keys), *(2 for _ in self.members))

    @property
    def shape(self) -> tuple[int, ...]:
        """Places of each side, the one for all together too."""
        return tuple(places + self.margins for places in self.inner)


@dataclass(frozen=True, eq=False, slots=True)
class TableCells:
    """By cell, in the order of the box: rows (n,), persons (n,), for each sum its value in whole steps of the column's grid (s, n) and its
    largest contributions (s, n, ``largest``), descending, 0 where there are fewer; the rows (s, n) and persons (s, n) that have a value of
    it. ``left_out``: rows outside of every cell. ``several``: contributions of the persons with more than one row, where they were asked for;
    the same person has the same code in every query without a filter.
    """

    rows: NDArray[np.int64]
    persons: NDArray[np.int64]
    sums: NDArray[np.int64]
    largest: NDArray[np.int64]
    known_rows: NDArray[np.int64]
    known_persons: NDArray[np.int64]
    left_out: int
    several: Contributions | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Contributions:
    """The contribution of each person to each inner cell (numbered without margins): cells (m,), persons (m,) as codes, rows
    (m,), summands in whole steps (s, m), rows that have a value of each (s, m). ``left_out``: rows outside of every cell. ``alike``: (m,) how many
    persons each entry is of, who all have the same entries; None: one.
    """

    cells: NDArray[np.int64]
    persons: NDArray[np.int64]
    rows: NDArray[np.int64]
    sums: NDArray[np.int64]
    known: NDArray[np.int64]
    left_out: int
    alike: NDArray[np.int64] | None = None
