"""Tables of the same rows that are looked at together: which of their cells are the same, and which add up to which.

A cell is a set of keys of columns, and of memberships: whether rows are among those that a table is made of. Two tables have a
cell in common where keys and memberships agree; what one leaves out and another does not is a cell that no table prints, and
that follows from both. Where tables are linked in a ring (region by sex, sex by age, age by region), totals are not all that
they have in common, and the cells of all columns together, which no table prints either, are added: figures of them are not
negative.
"""

from __future__ import annotations

from dataclasses import field, replace
from itertools import combinations, product
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from privrelease.disclosure.tables.absent_cells import AbsentCells, LinkedCell, NumberedCells
from privrelease.disclosure.tables.acyclicity import MOST_TOGETHER, is_tree
from privrelease.disclosure.tables.dependencies import (
    MOST_NESTED,
    Dependency,
    column_dependencies,
    granted_cells,
    membership_dependencies,
)
from privrelease.disclosure.tables.filter_logic import FilterLogic, filtered_out, scopes
from privrelease.disclosure.tables.holders import Holders, of_cells, with_totals
from privrelease.disclosure.tables.layout import Relation
from privrelease.disclosure.tables.protected_table import protected_table
from privrelease.disclosure.tables.two_values import Side, both_sides, columns_of_two
from privrelease.relational.filters import columns_of
from privrelease.relational.tables import Contributions, Membership, TableCells, TableQuery
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from numpy.typing import NDArray

    from privrelease.disclosure.tables.figures import ProtectedTable
    from privrelease.disclosure.tables.published_table import PrintedTable, TwoValues
    from privrelease.disclosure.tables.rules import CellRules

__all__ = ["Linked", "LinkedCells", "TooManyCellsError", "TooManyNestedError", "linked"]


class TooManyCellsError(ValueError):
    """Tables that are linked in a ring over more columns than can be looked at together."""


class TooManyNestedError(TooManyCellsError):
    """Tables of columns that determine one another, with more cells together than can be looked at."""


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
    of its box. ``dependencies``: columns that the rows show to be determined by others. ``numbered``: what each number is of; None of a single table.
    """

    table: ProtectedTable
    places: tuple[NDArray[np.int64], ...]
    cells: TableCells
    names: tuple[str, ...]
    dependencies: tuple[Dependency, ...] = ()
    numbered: NumberedCells | None = None

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
    public: Collection[str] | None = None,
) -> Linked:
    """Return the tables together. ``fetch`` gives the cells of a query; ``most``: rows of one person; ``public``: columns of which it may be
    known that another determines them, all where None.

    Raises TooManyCellsError.
    """
    names = tuple(dict.fromkeys(one.column for table in tables for one in table.sums))
    if len(tables) == 1 and (tables[0].margins or not rules.looks_for_classes):
        (one,) = tables
        query = TableQuery(one.by, one.keys, names, unit, one.margins, rules.largest, one.where, several=most > 1)
        cells = fetch(query)
        places = (np.arange(one.layout.size),)
        two = columns_of_two(tables, fetch)
        sides = {name: (values, both_sides(query, name, values, fetch)) for name, values in two.items()}
        found = protected_table(one.layout, cells, tables, places, rules, most, names, sides)
        granted = [each for each in (granted_cells(one, rules, public, fetch), filtered_out(one)) if each is not None]
        found = replace(found, granted=np.logical_or.reduce(granted) if granted else None)
        if cells.several is not None:
            found = replace(found, holders=Holders(with_totals(cells.several, query), one.layout.size))
        return Linked(found, places, cells, names)
    return _Linking(tables, rules, unit, most, fetch, names, public).linked()


@dataclass(eq=False, slots=True)
class _Box:
    """The cells of a query, totals included."""

    sides: tuple[str, ...]
    query: TableQuery
    cells: TableCells
    two: dict[str, tuple[Side, Side]]

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
    public: Collection[str] | None = None
    keys: dict[str, tuple[str, ...]] = field(default_factory=dict)
    dependencies: list[Dependency] = field(default_factory=list)
    two: dict[str, TwoValues] = field(default_factory=dict)
    numbers: dict[LinkedCell, int] = field(default_factory=dict)
    empty: AbsentCells = field(default_factory=AbsentCells)
    logic: FilterLogic | None = None
    figures: dict[int, tuple[_Box, int]] = field(default_factory=dict)

    def linked(self) -> Linked:
        for table in self.tables:
            for name, keys in zip(table.by, table.keys, strict=True):
                self.keys[name] = tuple(dict.fromkeys((*self.keys.get(name, ()), *keys)))
        members = [table.membership for table in self.tables]
        self.logic = FilterLogic(members, self.keys, self.fetch, self._lists)
        self.two = columns_of_two(self.tables, self.fetch)
        self._look_for_dependencies(members)
        columns = [self._with_determined((*table.by, *self._read(table))) for table in self.tables]
        boxes = [self._box(by, (member,)) for by, member in zip(columns, members, strict=True)]
        for (first, one), (second, other) in combinations(zip(columns, members, strict=True), 2):
            if one != other:
                boxes.append(self._box(self._of_both(first, second, (one, other)), (one, other)))
        boxes += self._scopes(members, columns)
        relations = [relation for box in boxes for relation in self._number(box)]
        together = self._together(boxes)
        if together is not None:
            relations += self._summed(together, boxes)
        atoms = None if together is None else self._atoms(together)
        layout = LinkedCells(len(self.numbers), tuple(dict.fromkeys(relations)), together=atoms)
        places = tuple(self._places(table, box) for table, box in zip(self.tables, boxes, strict=False))
        cells = self._all_cells()
        found = replace(
            protected_table(layout, cells, self.tables, places, self.rules, self.most, self.names, self._both_sides()),
            holders=self._holders((*boxes, *(() if together is None else (together,)))),
        )
        for cell, number in self.numbers.items():
            if self.empty.is_absent(cell) and found.impossible is not None:
                found.impossible[number] = True
        granted = np.array([self.empty.is_granted(cell) for cell in self.numbers], np.bool_)
        found = replace(found, granted=granted if granted.any() else None)
        trivial = frozenset(name for name in map(repr, members) if self._is_trivial(name))
        numbered = NumberedCells(self.numbers, self.empty, trivial)
        return Linked(found, places, cells, self.names, tuple(self.dependencies), numbered)

    def _look_for_dependencies(self, members: Sequence[Membership]) -> None:
        """Find which columns determine others, or the rows of a table. Cells that no table could print and that are known to be empty get no number."""
        if len(self.keys) > 1:
            found = column_dependencies(self.keys, self.public, self.fetch)
            self.dependencies += (one for one in found if not self._is_class(one))
        self.dependencies += membership_dependencies(self.keys, tuple(dict.fromkeys(members)), self.public, self.fetch)
        for one in self.dependencies:
            printed = any({one.column, one.on} <= {*table.by} for table in self.tables)
            self.empty.add_dependency(one, numbered=one.on not in self.keys or printed)

    def _lists(self, member: Membership, name: str) -> bool:
        """Return True if there are rows that a table leaves out because of their key of a column."""
        listed = next(keys for column, keys in member.keys if column == name)
        return {*listed} != {*self.keys[name]} or frozenset({(name, len(self.keys[name]))}) not in self.empty.absent

    def _scopes(self, members: Sequence[Membership], columns: Sequence[tuple[str, ...]]) -> Iterator[_Box]:
        """Make the cells of tables whose filters are linked by what they read."""
        assert self.logic is not None
        decide = [{*own, *self.logic.narrowing(member)} for own, member in zip(columns, members, strict=True)]
        for by, filters in scopes([one.where for one in self.tables], decide, tuple(self.keys)):
            found = tuple(dict.fromkeys(member for member in members if member.where in filters))
            size = prod(len(self.keys[name]) + 2 for name in by) * 3 ** len(found)
            if size > MOST_NESTED:
                message = (
                    f"{size} cells of {', '.join(by) or 'no column'} and {len(found)} filters together, more than {MOST_NESTED}"
                )
                raise TooManyNestedError(message)
            yield self._box(by, found)

    def _is_class(self, one: Dependency) -> bool:
        """Return True if a dependency is what class disclosure protects: that groups of a table have one key each."""
        return self.rules.class_disclosure and any({one.column, one.on} <= {*table.by} for table in self.tables)

    def _with_determined(self, by: tuple[str, ...]) -> tuple[str, ...]:
        """Columns with those of other tables that they determine: no more cells with rows, but cells of both."""
        more = {one.on for one in self.dependencies if one.column in by and one.on in self.keys}
        found = (*by, *(name for name in self.keys if name in more and name not in by))
        size = prod(len(self.keys[name]) + 2 for name in found)
        if size > MOST_NESTED and len(found) > len(by):
            message = f"{size} cells of {', '.join(found)} together, more than {MOST_NESTED}"
            raise TooManyNestedError(message)
        return found

    def _of_both(self, first: tuple[str, ...], second: tuple[str, ...], members: Sequence[Membership]) -> tuple[str, ...]:
        """Columns of two tables of different rows: those of both, and those that determine whose rows they are."""
        names = {repr(member) for member in members}
        deciding = {one.column for one in self.dependencies if one.on in names}
        return tuple(
            name for name in dict.fromkeys((*first, *second)) if name in deciding or (name in first and name in second)
        )

    def _read(self, table: PrintedTable) -> tuple[str, ...]:
        """Columns of other tables that decide which rows this one is of."""
        read = set() if table.where is None else columns_of(table.where)
        return tuple(name for name in self.keys if name in read and name not in table.by)

    def _box(self, by: tuple[str, ...], members: tuple[Membership, ...], *, margins: bool = True) -> _Box:
        keys = tuple(self.keys[name] for name in by)
        asked = (by, keys, self.names, self.unit, margins, self.rules.largest)
        query = TableQuery(*asked, others=True, members=members, several=self.most > 1)
        two = {name: both_sides(query, name, values, self.fetch) for name, values in self.two.items()}
        box = _Box((*by, *(repr(member) for member in members)), query, self.fetch(query), two)
        if margins:
            self.empty.look(box.sides, query, box.cells.rows)
        assert self.logic is not None
        self.empty.add_impossible(self.logic.excluded(query))
        return box

    def _is_trivial(self, name: str) -> bool:
        """Return True if every row is a member, so that the side says nothing."""
        return frozenset({(name, 1)}) in self.empty.absent and name not in self.keys

    def _cell(self, box: _Box, at: tuple[int, ...]) -> LinkedCell | None:
        """The identity of a cell; None where there can be no rows of it that matter."""
        found = set()
        for name, place, size in zip(box.sides, at, box.query.inner, strict=True):
            if place < size and self._is_trivial(name):
                if place == 1:
                    return None
            elif place < size:
                if name in self.keys and place == size - 1 and frozenset({(name, place)}) in self.empty.absent:
                    return None
                found.add((name, place))
        return None if self.empty.has_no_number(found) else frozenset(found)

    def _number(self, box: _Box) -> Iterator[Relation]:
        shape = box.query.shape
        numbers: dict[tuple[int, ...], int] = {}
        for place, at in enumerate(box.own):
            cell = self._cell(box, at)
            if cell is not None:
                numbers[at] = self.numbers.setdefault(cell, len(self.numbers))
                self.figures.setdefault(numbers[at], (box, place))
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
        assert self.logic is not None
        open_ = [one for one in kept if not self.logic.is_decided(one)]  # of the others, keys decide which rows they are
        size = prod(len(self.keys[name]) + 1 for name in by) * 2 ** len(open_)
        if size > MOST_TOGETHER or size * 2 ** (len(kept) - len(open_)) > MOST_NESTED:
            message = f"{size} cells of all columns together, more than {MOST_TOGETHER}"
            raise TooManyCellsError(message)
        box = self._box(by, kept, margins=False)
        self.empty.add_excluded(box.query, box.cells.rows)
        return box

    def _summed(self, together: _Box, boxes: Sequence[_Box]) -> Iterator[Relation]:
        """Every finest cell of a table as the sum of cells of all columns."""
        atoms = []
        for place, at in enumerate(together.own):
            cell = self._cell(together, at)
            if cell is not None and not self.empty.is_absent(cell) and not self.empty.is_granted(cell):
                number = self.numbers.setdefault(cell, len(self.numbers))
                self.figures.setdefault(number, (together, place))
                atoms.append((cell, number))
        for box in boxes:
            sides = {name for name in box.sides if not self._is_trivial(name)}
            parts: dict[LinkedCell, list[int]] = {}
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
            empty = cell is None or self.empty.is_absent(cell) or self.empty.is_granted(cell)
            found.append(-1 if empty or cell is None else self.numbers[cell])
        return np.array(found, np.int64).reshape(together.query.shape)

    def _both_sides(self) -> dict[str, tuple[TwoValues, tuple[Side, Side]]]:
        """The columns with two values, and who has each of them, by numbered cell."""
        order = [self.figures[number] for number in range(len(self.numbers))]

        def side(name: str, which: int) -> Side:
            rows = np.array([box.two[name][which].rows[place] for box, place in order], np.int64)
            return Side(rows, np.array([box.two[name][which].persons[place] for box, place in order], np.int64))

        return {name: (values, (side(name, 0), side(name, 1))) for name, values in self.two.items()}

    def _all_cells(self) -> TableCells:
        order = [(box.cells, place) for box, place in (self.figures[number] for number in range(len(self.numbers)))]
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

    def _holders(self, boxes: Sequence[_Box]) -> Holders | None:
        """Persons with several rows by numbered cell, each cell from the box that its figures are from."""
        found: list[Contributions] = []
        for box in boxes:
            if box.cells.several is None:
                return None
            number = np.full(int(np.prod(box.query.shape)), -1)
            for mine, (one, place) in self.figures.items():
                if one is box:
                    number[place] = mine
            entries = with_totals(box.cells.several, box.query)
            kept = number[entries.cells] >= 0
            found.append(of_cells(entries, kept, number[entries.cells[kept]]))
        cells, persons, rows = (np.concatenate([getattr(one, name) for one in found]) for name in ("cells", "persons", "rows"))
        sums, known = (np.concatenate([getattr(one, name) for one in found], axis=1) for name in ("sums", "known"))
        every = Contributions(cells, persons, rows, sums, known, 0)
        order = np.lexsort((persons, cells))
        return Holders(of_cells(every, order, cells[order]), len(self.numbers))

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
