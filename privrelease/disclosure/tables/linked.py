"""Tables of the same rows that are looked at together: which of their cells are the same, and which add up to which.

A cell is a set of keys of columns, and of memberships: whether rows are among those that a table is made of. Two tables have a cell in
common where keys and memberships agree; what one leaves out and another does not is a cell that nobody prints, and that follows from both.
Where tables are linked in a ring (region by sex, sex by age, age by region), totals are not all that they have in common, and the cells of all
columns together, which nobody prints either, are added: figures of them are not negative.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations, product
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from privrelease.disclosure.tables.acyclicity import MOST_TOGETHER, is_tree
from privrelease.disclosure.tables.figures import ProtectedTable, SumFigure
from privrelease.disclosure.tables.layout import Layout, Relation
from privrelease.disclosure.tables.rules import Magnitude
from privrelease.relational.filters import columns_of
from privrelease.relational.tables import Membership, TableQuery

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from privrelease.disclosure.tables.published_table import PrintedSum, PrintedTable
    from privrelease.disclosure.tables.rules import CellRules
    from privrelease.relational.tables import TableCells

__all__ = ["Linked", "LinkedCells", "TooManyCellsError", "linked"]

_Cell = frozenset[tuple[str, int]]


class TooManyCellsError(ValueError):
    """Tables that are linked in a ring over more columns than can be looked at together."""


@dataclass(frozen=True, eq=False, slots=True)
class LinkedCells:
    """Cells of several tables. ``together``: the numbers of the cells of all columns, with a side for each; -1 where there can be none."""

    size: int
    relations: tuple[Relation, ...]
    unimodular: bool = False
    together: NDArray[np.int64] | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Linked:
    """Tables together, what is in every cell (the sums of the columns ``names``), and for each table the numbers of its own cells in the order
    of its box.
    """

    table: ProtectedTable
    places: tuple[NDArray[np.int64], ...]
    cells: TableCells
    names: tuple[str, ...]

    def hidden(self, patterns: Sequence[NDArray[np.bool_] | None]) -> NDArray[np.bool_]:
        """Return the cells that no table prints, given what each suppresses; a table of None prints nothing yet."""
        shown = np.zeros(self.table.layout.size, np.bool_)
        for places, pattern in zip(self.places, patterns, strict=True):
            if pattern is not None:
                shown[places[~pattern]] = True
        return ~shown & ~self.table.silent


def linked(
    tables: Sequence[PrintedTable],
    rules: CellRules,
    unit: str | None,
    most: float,
    fetch: Callable[[TableQuery], TableCells],
) -> Linked:
    """Return the tables together. ``fetch`` gives the cells of a query; ``most``: rows of one person.

    Raises TooManyCellsError.
    """
    names = tuple(dict.fromkeys(one.column for table in tables for one in table.sums))
    if len(tables) == 1 and (tables[0].margins or not rules.looks_for_classes):
        (one,) = tables
        cells = fetch(TableQuery(one.by, one.keys, names, unit, one.margins, rules.largest, one.where))
        places = (np.arange(one.layout.size),)
        return Linked(_protected(one.layout, cells, tables, places, rules, most, names), places, cells, names)
    return _Linking(tables, rules, unit, most, fetch, names).linked()


@dataclass(eq=False, slots=True)
class _Box:
    """The cells of a query, totals included."""

    sides: tuple[str, ...]
    query: TableQuery
    cells: TableCells

    @property
    def own(self) -> Iterator[tuple[int, ...]]:
        """Places along each side of every cell, in order."""
        return product(*map(range, self.query.shape))


@dataclass(eq=False, slots=True)
class _Linking:
    tables: Sequence[PrintedTable]
    rules: CellRules
    unit: str | None
    most: float
    fetch: Callable[[TableQuery], TableCells]
    names: tuple[str, ...]
    keys: dict[str, tuple[str, ...]] = field(default_factory=dict)
    numbers: dict[_Cell, int] = field(default_factory=dict)
    absent: set[_Cell] = field(default_factory=set)
    figures: dict[int, tuple[TableCells, int]] = field(default_factory=dict)

    def linked(self) -> Linked:
        for table in self.tables:
            for name, keys in zip(table.by, table.keys, strict=True):
                self.keys[name] = tuple(dict.fromkeys((*self.keys.get(name, ()), *keys)))
        members = [table.membership for table in self.tables]
        boxes = [
            self._box((*table.by, *self._read(table)), (member,)) for table, member in zip(self.tables, members, strict=True)
        ]
        for (first, one), (second, other) in combinations(zip(self.tables, members, strict=True), 2):
            if one != other:
                boxes.append(self._box(tuple(name for name in first.by if name in second.by), (one, other)))
        relations = [relation for box in boxes for relation in self._number(box)]
        together = self._together(boxes)
        if together is not None:
            relations += self._summed(together, boxes)
        atoms = None if together is None else self._atoms(together)
        layout = LinkedCells(len(self.numbers), tuple(dict.fromkeys(relations)), together=atoms)
        places = tuple(self._places(table, box) for table, box in zip(self.tables, boxes, strict=False))
        cells = self._all_cells()
        found = _protected(layout, cells, self.tables, places, self.rules, self.most, self.names)
        for cell, number in self.numbers.items():
            if self._is_absent(cell) and found.impossible is not None:
                found.impossible[number] = True
        return Linked(found, places, cells, self.names)

    def _read(self, table: PrintedTable) -> tuple[str, ...]:
        """Columns of other tables that decide which rows this one is of."""
        read = set() if table.where is None else columns_of(table.where)
        return tuple(name for name in self.keys if name in read and name not in table.by)

    def _box(self, by: tuple[str, ...], members: tuple[Membership, ...], *, margins: bool = True) -> _Box:
        keys = tuple(self.keys[name] for name in by)
        query = TableQuery(by, keys, self.names, self.unit, margins, self.rules.largest, others=True, members=members)
        box = _Box((*by, *(repr(member) for member in members)), query, self.fetch(query))
        if margins:
            self._look_for_absent(box)
        return box

    def _look_for_absent(self, box: _Box) -> None:
        """Note which rows there are none of: others than those with listed keys, members or not, and memberships that exclude one another."""
        shape, sides, wide = box.query.shape, box.sides, len(box.query.by)
        rows = box.cells.rows.reshape(shape)
        total = tuple(size - 1 for size in shape)
        others = [(side, box.query.inner[side] - 1) for side in range(wide)]
        in_or_out = [(side, place) for side in range(wide, len(sides)) for place in (0, 1)]
        read = {name for member in box.query.members if member.where is not None for name in columns_of(member.where)}
        keyed = [(side, place) for side in range(wide) if sides[side] in read for place in range(box.query.inner[side])]
        single = [(one,) for one in (*others, *in_or_out)]
        for places in (*single, *product(in_or_out, {*others, *keyed}), *combinations(in_or_out, 2)):
            if len({side for side, _ in places}) < len(places):
                continue
            at = list(total)
            for side, place in places:
                at[side] = place
            if not rows[tuple(at)]:
                self.absent.add(frozenset((sides[side], place) for side, place in places))

    def _is_trivial(self, name: str) -> bool:
        """Whether every row is a member, so that the side says nothing."""
        return frozenset({(name, 1)}) in self.absent and name not in self.keys

    def _cell(self, box: _Box, at: tuple[int, ...]) -> _Cell | None:
        """The identity of a cell; None where there can be no rows of it that matter."""
        found = set()
        for name, place, size in zip(box.sides, at, box.query.inner, strict=True):
            if place < size and self._is_trivial(name):
                if place == 1:
                    return None
            elif place < size:
                if name in self.keys and place == size - 1 and frozenset({(name, place)}) in self.absent:
                    return None
                found.add((name, place))
        return frozenset(found)

    def _is_absent(self, cell: _Cell) -> bool:
        return any(frozenset(part) in self.absent for size in (1, 2) for part in combinations(cell, size))

    def _number(self, box: _Box) -> Iterator[Relation]:
        shape = box.query.shape
        numbers: dict[tuple[int, ...], int] = {}
        for place, at in enumerate(box.own):
            cell = self._cell(box, at)
            if cell is not None:
                numbers[at] = self.numbers.setdefault(cell, len(self.numbers))
                self.figures.setdefault(numbers[at], (box.cells, place))
        for side, size in enumerate(box.query.inner):
            if self._is_trivial(box.sides[side]):
                continue
            for at in product(*(range(places) for other, places in enumerate(shape) if other != side)):
                line = [numbers.get((*at[:side], place, *at[side:])) for place in range(size + 1)]
                total = line[size]
                if total is not None:
                    yield Relation(total, tuple(part for part in line[:size] if part is not None))

    def _together(self, boxes: Sequence[_Box]) -> _Box | None:
        """All columns together where the tables are linked in a ring; None where they are not."""
        columns = [{name for name in box.sides if not self._is_trivial(name)} for box in boxes]
        if is_tree(columns):
            return None
        by = tuple(name for name in self.keys if any(name in one for one in columns))
        members = {
            name: member
            for box in boxes
            for name, member in zip(box.sides[len(box.query.by) :], box.query.members, strict=True)
        }
        kept = tuple(member for name, member in members.items() if not self._is_trivial(name))
        size = prod(len(self.keys[name]) + 1 for name in by) * 2 ** len(kept)
        if size > MOST_TOGETHER:
            message = f"{size} cells of all columns together, more than {MOST_TOGETHER}"
            raise TooManyCellsError(message)
        return self._box(by, kept, margins=False)

    def _summed(self, together: _Box, boxes: Sequence[_Box]) -> Iterator[Relation]:
        """Every finest cell of a table as the sum of cells of all columns."""
        atoms = []
        for place, at in enumerate(together.own):
            cell = self._cell(together, at)
            if cell is not None and not self._is_absent(cell):
                number = self.numbers.setdefault(cell, len(self.numbers))
                self.figures.setdefault(number, (together.cells, place))
                atoms.append((cell, number))
        for box in boxes:
            sides = {name for name in box.sides if not self._is_trivial(name)}
            parts: dict[_Cell, list[int]] = {}
            for cell, number in atoms:
                parts.setdefault(frozenset(one for one in cell if one[0] in sides), []).append(number)
            for cell, found in parts.items():
                total = self.numbers.get(cell)
                if total is not None and found != [total]:
                    yield Relation(total, tuple(found))

    def _atoms(self, together: _Box) -> NDArray[np.int64]:
        found = []
        for at in together.own:
            cell = self._cell(together, at)
            found.append(-1 if cell is None or self._is_absent(cell) else self.numbers[cell])
        return np.array(found, np.int64).reshape(together.query.shape)

    def _all_cells(self) -> TableCells:
        from privrelease.relational.tables import TableCells

        order = [self.figures[number] for number in range(len(self.numbers))]
        one = np.array
        return TableCells(
            rows=one([cells.rows[place] for cells, place in order]),
            persons=one([cells.persons[place] for cells, place in order]),
            sums=one([cells.sums[:, place] for cells, place in order]).reshape(len(order), len(self.names)).T,
            largest=np.swapaxes(
                one([cells.largest[:, place] for cells, place in order]).reshape(
                    len(order), len(self.names), self.rules.largest
                ),
                0,
                1,
            ),
            known_rows=one([cells.known_rows[:, place] for cells, place in order]).reshape(len(order), len(self.names)).T,
            known_persons=one([cells.known_persons[:, place] for cells, place in order]).reshape(len(order), len(self.names)).T,
            left_out=0,
        )

    def _places(self, table: PrintedTable, box: _Box) -> NDArray[np.int64]:
        """The numbers of a table's own cells."""
        sides = [[self.keys[name].index(key) for key in keys] for name, keys in zip(table.by, table.keys, strict=True)]
        if table.margins:
            sides = [[*side, len(self.keys[name]) + 1] for side, name in zip(sides, table.by, strict=True)]
        rest = [len(self.keys[name]) + 1 for name in box.sides[len(table.by) : -1]]
        found = []
        for at in product(*sides):
            cell = self._cell(box, (*at, *rest, 0))
            assert cell is not None  # listed keys of members
            found.append(self.numbers[cell])
        return np.array(found, np.int64)


def _protected(
    layout: Layout | LinkedCells,
    cells: TableCells,
    tables: Sequence[PrintedTable],
    places: Sequence[NDArray[np.int64]],
    rules: CellRules,
    most: float,
    names: tuple[str, ...],
) -> ProtectedTable:
    """The table of everything that is printed."""

    def of(wanted: Callable[[PrintedTable], bool]) -> NDArray[np.bool_]:
        found = np.zeros(layout.size, np.bool_)
        for table, mine in zip(tables, places, strict=True):
            if wanted(table):
                found[mine] = True
        return found

    step = np.full(layout.size, np.iinfo(np.int64).max)
    impossible = np.zeros(layout.size, np.bool_)
    for table, mine in zip(tables, places, strict=True):
        if table.counted:
            exact = any(one.mean for one in table.sums)
            step[mine] = np.minimum(step[mine], 1 if exact else table.round_up)
        if table.impossible is not None:
            impossible[mine[table.impossible]] = True
    step[step == np.iinfo(np.int64).max] = 1
    sums: list[SumFigure] = []
    for one in dict.fromkeys((one.column, one.weights) for table in tables for one in table.sums):
        sums += _figures(one, cells, tables, names, of)
    return ProtectedTable(
        layout=layout,
        rules=rules,
        contributors=cells.persons,
        rows=cells.rows,
        sums=tuple(sums),
        counted=any(table.counted for table in tables),
        round_up=step,
        most=most,
        printable=of(lambda _: True),
        count_printed=of(lambda table: table.counted),
        impossible=impossible,
    )


def _figures(
    of_what: tuple[str, bool],
    cells: TableCells,
    tables: Sequence[PrintedTable],
    names: tuple[str, ...],
    of: Callable[[Callable[[PrintedTable], bool]], NDArray[np.bool_]],
) -> Iterator[SumFigure]:
    """A sum, and where its mean is printed and values are missing, the rows that have one: with the mean they give the sum."""
    column, weights = of_what

    def mine(table: PrintedTable) -> list[PrintedSum]:
        return [one for one in table.sums if (one.column, one.weights) == of_what]

    first = next(one for table in tables for one in mine(table))
    i = names.index(column)
    missing = bool((cells.known_rows[i] < cells.rows).any())
    magnitude = Magnitude(cells.sums[i], cells.largest[i] * (not weights))
    holders = cells.known_persons[i] if missing else None
    name = f"weighted_count_{column}" if weights else f"sum_{column}"
    low = 0 if missing else first.low
    yield SumFigure(
        magnitude, low, first.high, holders, of(lambda table: bool(mine(table))), weights=weights, name=name, column=column
    )
    means = of(lambda table: any(one.mean for one in mine(table)))
    if missing and means.any():
        nothing = np.zeros((len(cells.rows), 0), np.int64)
        yield SumFigure(
            Magnitude(cells.known_rows[i], nothing), 0, 1, holders, means, whole=True, name=f"rows_with_{column}", column=column
        )
