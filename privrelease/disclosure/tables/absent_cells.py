"""Cells of several tables that are known to be empty: a side of a box has no rows, two sides have none together, or keys and filters exclude one another."""

from __future__ import annotations

from itertools import combinations, product
from typing import TYPE_CHECKING, TypeAlias

from privrelease.disclosure.tables.dependencies import excluded_memberships
from privrelease.relational.filters import columns_of
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from privrelease.disclosure.tables.dependencies import Dependency
    from privrelease.relational.tables import TableQuery

__all__ = ["AbsentCells", "LinkedCell", "NumberedCells"]

#: A cell by its keys and memberships: the name of a side and a place along it.
LinkedCell: TypeAlias = frozenset[tuple[str, int]]


class AbsentCells:
    """``absent``: sides that no row has, alone or two together; ``unnumbered``: pairs that no table could print and that are known to be empty."""

    def __init__(self) -> None:
        self.absent: set[LinkedCell] = set()
        self.unnumbered: set[LinkedCell] = set()
        self._excluded: list[LinkedCell] = []
        self._granted: set[LinkedCell] = set()
        self._impossible: dict[frozenset[str], set[LinkedCell]] = {}

    def add_dependency(self, one: Dependency, *, numbered: bool) -> None:
        """Grant that a column determines another, or whose rows they are. ``numbered``: a table may print the cells of both, or they are of a filter."""
        pairs = {frozenset({(one.column, int(a)), (one.on, int(b))}) for a, b in one.absent}
        self._granted |= pairs
        if not numbered:
            self.unnumbered |= pairs

    def add_impossible(self, cells: Iterable[LinkedCell]) -> None:
        """Grant what keys and filters exclude."""
        for one in cells:
            self._impossible.setdefault(frozenset(name for name, _ in one), set()).add(one)

    def add_excluded(self, query: TableQuery, rows: NDArray[np.int64]) -> None:
        """Note of all sides together which three memberships or more exclude one another."""
        self._excluded = [one for one in excluded_memberships(query, rows) if not self.is_absent(one)]

    def look(self, sides: Sequence[str], query: TableQuery, counts: NDArray[np.int64]) -> None:
        """Note which rows there are none of: others than those with listed keys, members or not, and memberships that exclude one another.

        ``sides``: of the query, by name; ``counts``: rows of its cells, with totals.
        """
        wide = len(query.by)
        rows = counts.reshape(query.shape)
        total = tuple(size - 1 for size in query.shape)
        others = [(side, query.inner[side] - 1) for side in range(wide)]
        in_or_out = [(side, place) for side in range(wide, len(sides)) for place in (0, 1)]
        read = {name for member in query.members if member.where is not None for name in columns_of(member.where)}
        keyed = [(side, place) for side in range(wide) if sides[side] in read for place in range(query.inner[side])]
        single = [(one,) for one in (*others, *in_or_out)]
        for places in (*single, *product(in_or_out, {*others, *keyed}), *combinations(in_or_out, 2)):
            if len({side for side, _ in places}) < len(places):
                continue
            at = list(total)
            for side, place in places:
                at[side] = place
            if not rows[tuple(at)]:
                self.absent.add(frozenset((sides[side], place) for side, place in places))

    def has_no_number(self, cell: Iterable[tuple[str, int]]) -> bool:
        """Return True if no table could print a cell, and it is known to be empty."""
        return bool(self.unnumbered) and any(frozenset(pair) in self.unnumbered for pair in combinations(cell, 2))

    def is_absent(self, cell: LinkedCell) -> bool:
        """Return True if there are no rows of a cell, as everybody knows."""
        few = (frozenset(part) for size in (1, 2) for part in combinations(cell, size))
        return any(one in self.absent for one in few) or any(part <= cell for part in self._excluded)

    def is_granted(self, cell: LinkedCell) -> bool:
        """Return True if the attacker is taken to know that a cell is empty."""
        if any(frozenset(pair) in self._granted for pair in combinations(cell, 2)):
            return True
        parts = ((frozenset(one for one in cell if one[0] in names), some) for names, some in self._impossible.items())
        return any(part in some for part, some in parts)


@dataclass(frozen=True, eq=False, slots=True)
class NumberedCells:
    """Cells and their numbers. ``trivial``: memberships of every row, which no cell names."""

    numbers: Mapping[LinkedCell, int]
    empty: AbsentCells
    trivial: frozenset[str]

    def find(self, cell: LinkedCell) -> int | None:
        """Return the number of a cell that may name trivial memberships too; None where no table has such a cell."""
        return self.numbers.get(frozenset(side for side in cell if side[0] not in self.trivial))

    def is_empty(self, cell: LinkedCell) -> bool:
        """Return True if everybody is taken to know that there are no rows of a cell."""
        if any(name in self.trivial and place == 1 for name, place in cell):
            return True
        return self.empty.has_no_number(cell) or self.empty.is_absent(cell) or self.empty.is_granted(cell)
