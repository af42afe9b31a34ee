"""Columns of rows that determine group columns of a table, or are determined by them, and what of that the attacker is granted.

A dependency that the source shows is granted, whether it is public or chance, as between the columns of tables (decision 8); so are the keys that
a value occurs with, missing ones among them. Where no source can be read that has both columns, the released rows that show both stand for it.

A map is knowledge of columns where its values repeat: with fewer than two rows to a value on average (an amount, an identifier) it would name
the key of each person, which is what the table protects. Of such columns the attacker has what other released rows show of the same value.
That all of a group share one value of a sensitive column is no map, but what class disclosure is about; a sensitive column may determine others.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Final

import numpy as np

from privrelease.engine.protocol.release_pairs import MapQuery
from privrelease.errors import InputError
from privrelease.relational.filters import columns_of
from privrelease.relational.schema import Column, ColumnType, Role
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from privrelease.audit.comparison.earlier.rows_and_table import RowsOut, TableShown
    from privrelease.engine.protocol.audit import MeasuringEngine
    from privrelease.engine.protocol.base import Staged
    from privrelease.engine.protocol.release_pairs import ColumnMap
    from privrelease.relational.schema import TableSource

__all__ = ["GrantedMap", "SourceColumns", "determined_sums", "granted_maps"]

#: Rows to a value, on average, from which on a map is one of columns.
_REPEATED: Final = 2


@dataclass(frozen=True, eq=False, slots=True)
class GrantedMap:
    """A map from the values of ``column`` to the keys of a group column, ``side`` its number, or to the table's filter, None. ``sets``: by number of
    a set of keys, the places of those that a row can have (of a filter 0, its rows, and 1, all others), and whether it can have none of them. None: any.
    Without ``handle``: every row has a key that is listed, whatever else it shows.
    """

    column: str
    side: int | None
    handle: str
    sets: tuple[tuple[NDArray[np.int64], bool] | None, ...]


class SourceColumns:
    """Sources of the release that is audited and of those described by its policy. Of each, the columns that are asked for are read, once."""

    def __init__(self, engine: MeasuringEngine, sources: Sequence[TableSource], *, readable: bool = True) -> None:
        self._engine, self._sources, self._readable = engine, tuple(sources), readable
        self._read: dict[tuple[str, ...], tuple[Staged, ...]] = {}

    def also(self, source: TableSource) -> SourceColumns:
        """Return these with another source, where it is one."""
        places = {(one.path, one.table) for one in self._sources}
        if (source.path, source.table) in places:
            return self
        return SourceColumns(self._engine, (*self._sources, source), readable=self._readable)

    @property
    def sensitive(self) -> frozenset[str]:
        """Return the columns that are declared sensitive in any of them."""
        return frozenset(column.name for one in self._sources for column in one.declared if column.role is Role.SENSITIVE)

    def staged(self, wanted: Mapping[str, ColumnType]) -> tuple[Staged, ...]:
        """Return each source that can be read, with those of the columns that it has."""
        names = tuple(sorted(wanted))
        if names not in self._read:
            self._read[names] = tuple(self._staged(wanted)) if self._readable else ()
        return self._read[names]

    def _staged(self, wanted: Mapping[str, ColumnType]) -> Iterator[Staged]:
        for source in self._sources:
            declared = {column.name for column in source.declared}
            unlisted = wanted.keys() - declared if source.unlisted_columns == "drop" else set[str]()
            # a column that this policy does not declare may be in the file, which other policies read too
            more = tuple(Column(name, wanted[name], Role.INSENSITIVE) for name in sorted(unlisted))
            for added in dict.fromkeys((more, ())):
                if not added and not declared & wanted.keys():
                    break
                try:
                    yield self._engine.stage(_with_columns(source, wanted, added))
                except InputError as error:
                    if error.code == "D120":
                        raise
                else:
                    break


def _with_columns(source: TableSource, wanted: Collection[str], added: tuple[Column, ...]) -> TableSource:
    """Return a source of which these columns are read, and those that leave rows out."""
    dropping = {column.name for column in source.declared if column.domain is not None and column.domain.outside == "drop"}
    read = [column for column in source.declared if column.name in {*wanted, *dropping}]
    unread = tuple(column for column in source.declared if column not in read)
    unbounded = tuple(column if column.name in dropping else replace(column, domain=None) for column in read)
    return replace(source, columns=(*unbounded, *added), unread=unread)


def granted_maps(
    table: TableShown, rows: RowsOut, hidden: Collection[int | None], engine: MeasuringEngine
) -> tuple[GrantedMap, ...]:
    """Return what columns of the rows say of ``hidden`` group columns, by number, or of the filter, None."""
    return tuple(_Search(table, rows, engine).granted(hidden))


def determined_sums(rows: RowsOut, hidden: Mapping[str, str], engine: MeasuringEngine) -> frozenset[str]:
    """Return the figures of ``hidden`` whose column, by figure, the rows do not show and another one determines in the source: the same amount in
    another unit, the code of a diagnosis. By the map the rows show that column too.
    """
    types = dict(rows.file.columns)
    own = sorted(rows.own & types.keys())
    pairs = [(figure, MapQuery(column, on, each=True)) for figure, on in hidden.items() if on not in own for column in own]
    found = set[str]()
    wanted = {name: types.get(name, ColumnType.STRING) for _, asked in pairs for name in (asked.column, str(asked.on))}
    for staged in rows.source.staged(wanted) if rows.source is not None and pairs else ():
        there = {column.name for column in staged.columns}
        open_ = [(figure, asked) for figure, asked in pairs if {asked.column, asked.on} <= there]
        maps = engine.column_maps(staged, [asked for _, asked in open_])
        found |= {
            figure
            for (figure, _), one in zip(open_, maps, strict=True)
            if one.forward and one.keys > 1 and _REPEATED * one.values <= one.rows
        }
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A column of the rows, what it may say something of, and the number of that."""

    side: int | None
    query: MapQuery

    @property
    def on(self) -> frozenset[str]:
        """Return the columns that it may determine."""
        return frozenset({self.query.on} if isinstance(self.query.on, str) else columns_of(self.query.on))


class _Search:
    def __init__(self, table: TableShown, rows: RowsOut, engine: MeasuringEngine) -> None:
        self._table, self._rows, self._engine = table, rows, engine
        self._types = dict(rows.file.columns)
        self._own = rows.own & self._types.keys()
        self._rows_of: dict[_Asked, int] = {}
        self._sensitive = frozenset[str]() if rows.source is None else rows.source.sensitive

    def granted(self, hidden: Collection[int | None]) -> Iterator[GrantedMap]:
        """Yield the maps of the source, and those of the released rows where they stand for it."""
        asked = [one for one in self._pairs(hidden) if self._forward(one) or self._backward(one)]
        listed = [_Asked(side, MapQuery(name, name, keys)) for side, name, keys in self._sides(hidden)]
        found = self._of_source([*asked, *listed])
        yield from (
            GrantedMap(one.query.column, one.side, "", ())
            for one in listed
            if one in found and self._always_listed(one, found[one])
        )
        by_rows = []
        for one in asked:
            known = found.get(one)
            if known is None:
                by_rows.append(one)
            elif one.query.column in self._own and (forward := self._says(one, known)) is not None:
                yield _granted(one, known, known, forward=forward)
            elif self._forward(one) and known.forward and known.keys > 1:
                by_rows.append(one)
        # a filter of a cell that was suppressed is neither true nor false, which is no key
        by_rows = [one for one in by_rows if one.side is not None and one.on <= self._own]
        maps = self._engine.column_maps(self._rows.file, [one.query for one in by_rows])
        for one, of_rows in zip(by_rows, maps, strict=True):
            if one in found:
                forward = True if of_rows.forward else None
            else:
                forward = self._says(one, of_rows)
            if forward is not None:
                yield _granted(one, of_rows, found.get(one), forward=forward)

    def _sides(self, hidden: Collection[int | None]) -> Iterator[tuple[int, str, tuple[str, ...]]]:
        for side in range(len(self._table.by)):
            if side in hidden or self._rows.left_out:  # of rows that were left out nothing is shown
                yield side, self._table.by[side], self._table.keys[side]

    def _always_listed(self, one: _Asked, found: ColumnMap) -> bool:
        """Return whether no row of the source has a missing key, or one that the table does not list: each row is in some cell then."""
        return found.rows == self._rows_of[one] and all(place < one.query.places for own in found.sets for place in own)

    def _pairs(self, hidden: Collection[int | None]) -> Iterator[_Asked]:
        for side, column in product(hidden, sorted(self._own | (self._rows.tokens & self._types.keys()))):
            if side is not None:
                name = self._table.by[side]
                if column != name and not any({column, name} <= one for one in self._table.apart):
                    yield _Asked(side, MapQuery(column, name, self._table.keys[side]))
            elif self._table.where is not None:
                yield _Asked(None, MapQuery(column, self._table.where))

    def _of_source(self, asked: Sequence[_Asked]) -> dict[_Asked, ColumnMap]:
        """Look the pairs up in the first source that has the columns of each."""
        if self._rows.source is None or not asked:
            return {}
        wanted = {name: ColumnType.STRING for one in asked for name in (one.query.column, *one.on)}
        found: dict[_Asked, ColumnMap] = {}
        for staged in self._rows.source.staged({name: self._types.get(name, kind) for name, kind in wanted.items()}):
            there = {column.name for column in staged.columns}
            open_ = [one for one in asked if one not in found and {one.query.column, *one.on} <= there]
            self._rows_of |= dict.fromkeys(open_, staged.n_rows)
            found |= dict(zip(open_, self._engine.column_maps(staged, [one.query for one in open_]), strict=True))
        return found

    def _forward(self, one: _Asked) -> bool:
        """Return whether it may be known what a value of the column determines."""
        return one.query.column in self._sensitive or not one.on & self._sensitive

    def _backward(self, one: _Asked) -> bool:
        """Return whether it may be known which keys determine a value of the column."""
        shown = one.side is not None and one.query.column in self._own
        return shown and (one.query.column not in self._sensitive or bool(one.on & self._sensitive))

    def _says(self, one: _Asked, found: ColumnMap) -> bool | None:
        """Return whether a map that is knowledge of columns says what values determine, or else by what they are determined; None: there is none."""
        if self._forward(one) and found.forward and found.keys > 1 and _REPEATED * found.values <= found.rows:
            return True
        backward = self._backward(one) and found.backward and found.values > 1 and _REPEATED * found.keys <= found.rows
        return False if backward else None


def _granted(one: _Asked, found: ColumnMap, source: ColumnMap | None, *, forward: bool) -> GrantedMap:
    """Return what a map says of rows. ``source``: that of the source, where one could be read, perhaps this one."""
    places = one.query.places
    seen = {place for own in found.sets for place in own}
    by_rows = source is not found
    # what is missing in a released row may have been suppressed there: the source alone knows of missing keys
    lacking = by_rows and source is not None and any(place in {-1, places} for own in source.sets for place in own)
    free = np.empty(0, np.int64) if forward else np.setdiff1d(np.arange(places), list(seen))
    sets: list[tuple[NDArray[np.int64], bool] | None] = []
    for own in found.sets:
        if by_rows and forward and own == (-1,):
            sets.append(None)
            continue
        keys = np.concatenate([np.array([place for place in own if 0 <= place < places], np.int64), free])
        sets.append((keys, lacking or places in own or (not by_rows and -1 in own)))
    return GrantedMap(one.query.column, one.side, found.handle, tuple(sets))
