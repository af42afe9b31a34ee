"""Group columns and filters of several tables next to rows: which of them the rows show, which go with which, and which tables they join."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from privrelease.disclosure.tables.filter_logic import conditions_of, linked_filters
from privrelease.engine.protocol.release_pairs import PatternQuery
from privrelease.relational.filters import columns_of
from privrelease.relational.schema import ColumnType

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from privrelease.audit.comparison.earlier.rows_and_table import RowsOut, TableShown
    from privrelease.engine.protocol.audit import MeasuringEngine
    from privrelease.engine.protocol.base import Staged
    from privrelease.relational.filters import Filter

__all__ = ["JointAxes", "Numbers"]

#: Filters that are looked at together: each doubles the places.
MOST_FILTERS = 10
#: Numbers of places or cells.
Numbers: TypeAlias = "NDArray[np.int64]"


class JointAxes:
    """Group columns of tables, then their filters, by number: of a filter place 0 is of rows that satisfy it, 1 of all others. Of a column
    the last place is of rows with a key that no table lists, or with none. Conditions of single columns that filters of several columns have are filters
    as well, where rows show the column or a table groups by it: what all of them say together, no filter says alone.
    """

    def __init__(self, tables: Sequence[TableShown], rows: RowsOut, engine: MeasuringEngine) -> None:
        self.tables, self.rows, self.engine = tables, rows, engine
        keys: dict[str, dict[str, None]] = {}
        for table in tables:
            for name, listed in zip(table.by, table.keys, strict=True):
                keys.setdefault(name, {}).update(dict.fromkeys(listed))
        self.columns = tuple(keys)
        self.keys = tuple(tuple(listed) for listed in keys.values())
        self.types = dict(rows.file.columns)
        self.own = rows.own & self.types.keys()
        self.filters = self._with_conditions(tuple(dict.fromkeys(one.where for one in tables if one.where is not None)))
        self.apart = tuple(one for table in tables for one in table.apart)
        self.number = {name: place for place, name in enumerate(self.columns)}
        self.places = [{key: place for place, key in enumerate(listed)} for listed in self.keys]
        self.certain = self._certain()
        self.absent = dict(self._absent())

    def _with_conditions(self, filters: tuple[Filter, ...]) -> tuple[Filter, ...]:
        """Add the conditions of single columns that linked filters have, of columns that rows show or tables group by."""
        seen = self.own.union(self.columns)
        linked = [[filters[number] for number in numbers] for numbers in linked_filters(filters) if len(numbers) > 1]
        found = [part for group in linked for one in group if len(columns_of(one)) > 1 for part in conditions_of(one)]
        return tuple(dict.fromkeys((*filters, *(part for part in found if columns_of(part) <= seen))))

    def filter_axis(self, where: Filter) -> int:
        """Return the number of a filter."""
        return len(self.columns) + self.filters.index(where)

    def size(self, axis: int) -> int:
        """Return the number of places."""
        return len(self.keys[axis]) + 1 if axis < len(self.columns) else 2

    def of_table(self, table: TableShown) -> frozenset[int]:
        """Return the axes of a table."""
        own = frozenset(self.number[name] for name in table.by)
        return own if table.where is None else own | {self.filter_axis(table.where)}

    def of_filter(self, axis: int) -> frozenset[int]:
        """Return a filter and the columns of it that are group columns."""
        read = columns_of(self.filters[axis - len(self.columns)])
        return frozenset({axis, *(self.number[name] for name in read if name in self.number)})

    def asked(self, axes: frozenset[int]) -> tuple[PatternQuery, tuple[int, ...]]:
        """Return what is asked of rows about these axes, and the numbers of the filters of which they show something."""
        by = tuple(name for name in self.columns if self.number[name] in axes and name in self.own)
        read = tuple(
            axis
            for axis in sorted(axes)
            if axis >= len(self.columns) and columns_of(self.filters[axis - len(self.columns)]) & self.own
        )
        filters = tuple(self.filters[axis - len(self.columns)] for axis in read)
        unseen = frozenset[str]().union(*map(columns_of, filters)) - self.own
        return PatternQuery(by, lossy=self.rows.lossy, unseen=unseen, also=filters), read

    def _certain(self) -> frozenset[int]:
        """Return the axes whose place is known of every person."""
        if self.rows.left_out != 0:
            return frozenset()
        asked, read = self.asked(frozenset(range(len(self.columns) + len(self.filters))))
        patterns = self.engine.row_patterns(self.rows.file, asked)
        shown = {
            self.number[name]
            for place, name in enumerate(asked.by)
            if name not in self.rows.lossy or all(one.keys[place] is not None for one in patterns)
        }
        decided = {axis for place, axis in enumerate(read) if all(one.also[place] is not None for one in patterns)}
        return frozenset(shown | decided)

    def _absent(self) -> Iterator[tuple[tuple[int, ...], NDArray[np.bool_]]]:
        """Yield, by pairs of axes of which one determines the other in the source, the places that no row has together, and so by the filters that
        read a column in common: that everybody satisfies one of three is seen in no pair.
        """
        axes = range(len(self.columns) + len(self.filters))
        wanted = {*self.columns, *(name for one in self.filters for name in columns_of(one))}
        types = {name: self.types.get(name, ColumnType.STRING) for name in wanted}
        of_source = () if self.rows.source is None else self.rows.source.staged(types)
        for several in self._alike_filters():
            staged = _with_columns(of_source, frozenset[str]().union(*map(self._needed, several)))
            if staged is not None and not {*several} <= self.certain:
                gone = self._counts(staged, *several) == 0
                if gone.any():
                    yield several, gone
        for one, other in combinations(axes, 2):
            staged = _with_columns(of_source, self._needed(one) | self._needed(other))
            if staged is None or {one, other} <= self.certain:
                continue
            counts = self._counts(staged, one, other)
            gone = np.zeros(counts.shape, np.bool_)
            for first, second, turned in ((one, other, counts), (other, one, counts.T)):
                if self._may_follow(first, second) and _is_determined(turned, columns=first < len(self.columns)):
                    absent = (turned == 0) & (turned.sum(axis=1) > 0)[:, None]
                    absent[len(self.keys[first]) if first < len(self.columns) else 2 :] = False
                    gone |= absent if first == one else absent.T
            if one >= len(self.columns):
                gone |= counts == 0
            if gone.any():
                yield (one, other), gone

    def _alike_filters(self) -> Iterator[tuple[int, ...]]:
        """Yield the filters, three or more, that are linked by what they read; where they are more than :data:`MOST_FILTERS`, the first of those that read a
        column in common.
        """
        width = len(self.columns)
        for numbers in linked_filters(self.filters):
            if 2 < len(numbers) <= MOST_FILTERS:  # pairs are looked at anyway
                yield tuple(width + number for number in numbers)
                continue
            for name in sorted(frozenset[str]().union(*(columns_of(self.filters[number]) for number in numbers))):
                found = tuple(width + number for number in numbers if name in columns_of(self.filters[number]))
                if len(found) > 2:
                    yield found[:MOST_FILTERS]

    def with_linked(self, own: frozenset[int]) -> frozenset[int]:
        """Return axes with the conditions and filters that are looked at with filters among them."""
        return own.union(*(frozenset(some) for some in self.absent if len(some) > 2 and {*some} & own))

    def _needed(self, axis: int) -> frozenset[str]:
        width = len(self.columns)
        return frozenset({self.columns[axis]}) if axis < width else columns_of(self.filters[axis - width])

    def _may_follow(self, column: int, on: int) -> bool:
        """Return whether it may be known that a column determines another axis."""
        sensitive = frozenset[str]() if self.rows.source is None else self.rows.source.sensitive
        if column >= len(self.columns) or self._needed(on) & sensitive:
            return False
        return on >= len(self.columns) or not any({self.columns[column], self.columns[on]} <= one for one in self.apart)

    def _counts(self, staged: Staged, *axes: int) -> Numbers:
        """Count the rows of the source by the places of axes, in their order."""
        width = len(self.columns)
        by = tuple(self.columns[axis] for axis in axes if axis < width)
        also = tuple(self.filters[axis - width] for axis in axes if axis >= width)
        found = np.zeros(tuple(map(self.size, axes)), np.int64)
        for pattern in self.engine.row_patterns(staged, PatternQuery(by, also=also)):
            states = [0 if inside else 1 for inside in pattern.also]
            places = [self.place(self.number[name], key) for name, key in zip(by, pattern.keys, strict=True)] + states
            found[tuple(places)] += pattern.rows
        return found

    def place(self, axis: int, key: str | None) -> int:
        """Return the place of a key, the last where it is not listed."""
        return self.places[axis].get("" if key is None else key, len(self.keys[axis]))

    def groups(self) -> list[tuple[int, ...]]:
        """Return the numbers of tables that have something in common which rows do not show of everybody."""
        links = [self.of_table(table) for table in self.tables]
        links += [self.of_filter(axis) for axis in range(len(self.columns), len(self.columns) + len(self.filters))]
        links += [frozenset(pair) for pair in self.absent]
        parts: list[set[int]] = []
        for link in links:
            open_ = set(link - self.certain)
            meeting = [part for part in parts if part & open_]
            parts = [part for part in parts if not part & open_] + [open_.union(*meeting)]
        found = [
            tuple(
                i for i, table in enumerate(self.tables) if self.of_table(table) - self.certain and self.of_table(table) & part
            )
            for part in parts
        ]
        return [one for one in found if len(one) > 1]


def _with_columns(of_source: Sequence[Staged], needed: frozenset[str]) -> Staged | None:
    """Return the first that has these columns."""
    return next((each for each in of_source if needed <= {column.name for column in each.columns}), None)


def _is_determined(counts: Numbers, *, columns: bool) -> bool:
    """Return True if all rows of each listed key have one place of the other axis, and not all keys the same."""
    listed = (counts[:-1] if columns else counts) > 0
    return bool((listed.sum(axis=1) <= 1).all() and listed.any(axis=0).sum() > 1)
