"""A table of counts and sums as an engine computes it: exact integers by declared cell, with the contributors of each.

Cells are those of a box: every combination of the keys of each column, the last column varying fastest; with margins, each column has one
more place, its last, which stands for all keys together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Contributions", "TableCells", "TableQuery"]


@dataclass(frozen=True, slots=True)
class TableQuery:
    """``by`` with ``keys`` for each; ``sums``: columns that are exact (integers, or numbers on a grid); ``unit``: the person, None where
    every row is one; ``largest``: how many of the largest contributions of a person to each sum are wanted. Rows that miss a key, or have
    one that is not listed, are left out.
    """

    by: tuple[str, ...]
    keys: tuple[tuple[str, ...], ...]
    sums: tuple[str, ...] = ()
    unit: str | None = None
    margins: bool = True
    largest: int = 0

    @property
    def shape(self) -> tuple[int, ...]:
        """Places of each column of ``by``, the one for all keys too."""
        return tuple(len(keys) + self.margins for keys in self.keys)


@dataclass(frozen=True, eq=False, slots=True)
class TableCells:
    """By cell, in the order of the box: rows (n,), persons (n,), for each sum its value in whole steps of the column's grid (s, n) and its
    largest contributions (s, n, ``largest``), descending, 0 where there are fewer. ``left_out``: rows outside of every cell.
    """

    rows: NDArray[np.int64]
    persons: NDArray[np.int64]
    sums: NDArray[np.int64]
    largest: NDArray[np.int64]
    left_out: int


@dataclass(frozen=True, eq=False, slots=True)
class Contributions:
    """What each person adds to each inner cell (numbered without margins): cells (m,), persons (m,) as codes, rows (m,), summands in
    whole steps (s, m). ``left_out``: rows outside of every cell.
    """

    cells: NDArray[np.int64]
    persons: NDArray[np.int64]
    rows: NDArray[np.int64]
    sums: NDArray[np.int64]
    left_out: int
