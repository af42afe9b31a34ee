"""The cells of a table with margins, and the linear relations between them: every total is the sum of its parts."""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np

from privrelease.value_classes import dataclass

__all__ = ["Layout", "Relation"]


@dataclass(frozen=True, slots=True)
class Relation:
    """Cell ``total`` is the sum of the cells ``parts``."""

    total: int
    parts: tuple[int, ...]

    @property
    def cells(self) -> tuple[int, ...]:
        """The total, then the parts."""
        return (self.total, *self.parts)


@dataclass(frozen=True, slots=True)
class Layout:
    """A box of cells, ``keys`` of them along each side, one more for the total where there are margins; the last side varies fastest.

    >>> Layout((2,), margins=True).relations
    (Relation(total=2, parts=(0, 1)),)
    >>> Layout((2, 3), margins=True).size, len(Layout((2, 3), margins=True).relations)
    (12, 7)
    """

    keys: tuple[int, ...]
    margins: bool

    @property
    def shape(self) -> tuple[int, ...]:
        """Places along each side."""
        return tuple(size + self.margins for size in self.keys)

    @property
    def size(self) -> int:
        """Number of cells, totals included."""
        return prod(self.shape)

    @property
    def unimodular(self) -> bool:
        """Return True if linear programs over the relations have whole vertices: each cell is in at most two relations, a
        network's matrix.

        With sides r and c: an inner cell is in a row's and a column's relation, a row's total in that row's and in the relation of all
        row totals, and so on; flipping the signs of the columns' relations leaves one +1 and one -1 in each column.
        """
        return len(self.keys) <= 2

    @property
    def relations(self) -> tuple[Relation, ...]:
        """Every total along one side with its parts; none without margins."""
        if not self.margins:
            return ()
        number = np.arange(self.size).reshape(self.shape)
        found = []
        for side, keys in enumerate(self.keys):
            others = [range(places) for other, places in enumerate(self.shape) if other != side]
            for place in product(*others):
                line = np.moveaxis(number, side, -1)[place]
                found.append(Relation(int(line[keys]), tuple(int(part) for part in line[:keys])))
        return tuple(found)

    @property
    def together(self) -> None:
        """There are no cells besides those of the box."""

    def inner(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Tell for every cell whether it is no total: (n,) bool."""
        inside = np.zeros(self.shape, np.bool_)
        inside[tuple(slice(0, keys) for keys in self.keys)] = True
        return inside.reshape(-1)
