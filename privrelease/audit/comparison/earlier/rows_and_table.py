"""Rows and a table of the same persons: what who has both learns of the cells that the table suppresses.

The attacker reads of every released row in which cells of the table it can be: one cell where it shows all group columns as they are, several
where a cell was suppressed or a column was not released, and perhaps none where the table has a filter of which the row does not show whether it
holds. Rows that were left out of the file can be anywhere. Of every way in which the rows can be put into cells, so that what the table prints
is right, he keeps all. A suppressed count that is the same in all of them is given back. Bounds are those of :class:`Polytope`, whole
numbers. Where no way is right, rows and table are not of one state of the data, and nothing follows.

A sum follows from rows that show its column and can be in one cell only. Where they can be in several, they narrow a suppressed sum down (their
total less what is printed), and how far is not computed: such figures are named as open, for a person to decide. How many are in a cell is no figure of a table of sums alone: that is a
matter of the rows, which have threats of their own.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from privrelease.audit.comparison.earlier.granted_maps import determined_sums, granted_maps
from privrelease.disclosure.tables.attacker import Knowledge, Polytope
from privrelease.disclosure.tables.layout import Relation
from privrelease.engine.protocol.release_pairs import PatternQuery
from privrelease.relational.filters import columns_of
from privrelease.texts.sentences import listed, say
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from privrelease.audit.comparison.earlier.granted_maps import GrantedMap, SourceColumns
    from privrelease.audit.comparison.previous_release import EarlierRelease
    from privrelease.engine.protocol.audit import MeasuringEngine
    from privrelease.engine.protocol.base import ReleasedFile
    from privrelease.engine.protocol.release_pairs import RowPattern
    from privrelease.relational.filters import Filter
    from privrelease.release.manifest import InputDigest
    from privrelease.texts.sentences import Said

__all__ = [
    "COUNT",
    "MOST_PLACES",
    "CellsByRows",
    "RowsOut",
    "TableJudge",
    "TableShown",
    "TableVerdict",
    "cells_by_rows",
    "same_source",
]

#: Places of kinds of rows in cells that are looked at; where there are more, rows that show too little count as known to be in no cell yet.
MOST_PLACES: Final = 200_000
COUNT: Final = "count"

#: Keys of a cell by column; a column that is summed over has none.
Cell: TypeAlias = "frozenset[tuple[str, str]]"
#: Numbers of inner cells, or a figure of each.
Cells: TypeAlias = "NDArray[np.int64]"


@dataclass(frozen=True, slots=True)
class RowsOut:
    """Released rows, opened. ``own``: columns whose cells hold the values of the source. ``lossy``: columns of which a cell may have been
    suppressed. ``left_out``: rows of the source that are not in the file; None: not known. ``tokens``: columns that are keyed pseudonyms.
    ``source``: where it is looked up which columns determine others; None: nowhere. ``recoded``: labels stand for several values of the source, and
    which cells they are in is not known.
    """

    file: ReleasedFile
    own: frozenset[str]
    lossy: frozenset[str]
    left_out: int | None = None
    tokens: frozenset[str] = frozenset()
    source: SourceColumns | None = None
    recoded: bool = False


@dataclass(frozen=True, slots=True)
class TableShown:
    """A table as its file shows it. ``keys``: of every group column. ``printed``: figures by cell, None where suppressed. ``added``: figures that
    add up a column, by name. ``where``: the rows that it is made of. ``round_up``: printed counts are rounded up to its multiples. ``granted``: bounds of counts that the attacker has by the table's rules;
    ``widths``: how uncertain a count must stay, 1 where nothing is said. ``apart``: sets of columns of which it is protected that groups of one
    have one key of another, so that no such dependency is granted. ``unnamed``: figures that add up a column, and no one knows which.
    """

    by: tuple[str, ...]
    keys: tuple[tuple[str, ...], ...]
    printed: Mapping[Cell, Mapping[str, Fraction | None]]
    added: Mapping[str, str] = field(default_factory=dict)
    where: Filter | None = None
    round_up: int = 1
    granted: Mapping[Cell, tuple[float, float]] = field(default_factory=dict)
    widths: Mapping[Cell, float] = field(default_factory=dict)
    apart: tuple[frozenset[str], ...] = ()
    unnamed: frozenset[str] = frozenset()

    @property
    def hiding(self) -> bool:
        """Return True if anything is suppressed."""
        return any(map(self.hides, self.printed))

    def bounds(self, cell: Cell) -> tuple[float, float]:
        """Return the least and the largest count that a cell can have, by what is printed in it and granted."""
        count = self.printed[cell].get(COUNT)
        low, high = self.granted.get(cell, (0.0, float("inf")))
        if count is None:
            return low, high
        return max(low, float(count) - self.round_up + 1 if count else 0.0), min(high, float(count))

    def hides(self, cell: Cell) -> bool:
        """Return True if a figure of the cell is suppressed."""
        return any(figure is None for figure in self.printed[cell].values())


@dataclass(frozen=True, slots=True)
class CellsByRows:
    """Figures of cells that follow from rows and table together, by cell. ``agree``: False where no rows fit what the table prints, None
    where too much is open to be looked at; nothing is known then. ``narrowed``: suppressed figures that add up a column of the rows and are not known.
    """

    known: Mapping[Cell, frozenset[str]] = field(default_factory=dict)
    agree: bool | None = True
    narrowed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class TableVerdict:
    """The part of a table that rows give back: ``faults`` in words. ``agree``: False where both are of other states of the data; None: there is no table to
    judge, since its file cannot be read or too much is open. ``unjudged``: why a person has to decide. ``by``: the group columns of a table that
    suppresses something.
    """

    faults: tuple[Said, ...] = ()
    agree: bool | None = True
    unjudged: Said | None = None
    by: frozenset[str] = frozenset()

    def settled(self, rows: RowsOut | None, own: Collection[frozenset[str]]) -> TableVerdict:
        """Return the verdict with what was not judged: of ``rows`` that do not fit a table of the same source, which is no other state of the data; and
        where someone has several files of rows, which show ``own`` columns each, of those that show more of the table together than any alone.
        """
        if not self.agree:
            same = rows is not None and rows.left_out is not None
            return replace(self, unjudged=say("rows_unfit")) if same and self.unjudged is None else self
        shown = [self.by & one for one in own]
        whole = frozenset[str]().union(*shown)
        if whole in (*shown, frozenset()) or self.faults or self.unjudged is not None:
            return self
        return replace(self, unjudged=say("rows_together", columns=listed(sorted(whole))))


#: Judges earlier tables next to the rows that are audited, as these are known next to each.
TableJudge: TypeAlias = "Callable[[Sequence[tuple[EarlierRelease, RowsOut]], MeasuringEngine], list[TableVerdict]]"


def same_source(ours: Sequence[InputDigest], theirs: Sequence[InputDigest]) -> bool:
    """Return True if the first files that two runs read, their sources, are the same, by their keyed digests."""
    return bool(ours and theirs) and (ours[0].hmac_sha256, ours[0].key_id) == (theirs[0].hmac_sha256, theirs[0].key_id)


def cells_by_rows(table: TableShown, rows: RowsOut, engine: MeasuringEngine) -> CellsByRows:
    """Return what follows from both."""
    learnt = _counted(table, rows, engine)
    hidden = {name for figures in table.printed.values() for name, figure in figures.items() if figure is None}
    sums = {figure: column for figure, column in table.added.items() if figure in hidden}
    if not learnt.agree or not sums:
        return learnt
    return replace(learnt, narrowed=learnt.narrowed | determined_sums(rows, sums, engine))


def _counted(table: TableShown, rows: RowsOut, engine: MeasuringEngine) -> CellsByRows:
    types = dict(rows.file.columns)
    shown = tuple(name for name in table.by if name in rows.own and name in types)
    unseen = frozenset() if table.where is None else columns_of(table.where) - (rows.own & types.keys())
    readable = table.where is not None and unseen != columns_of(table.where)
    sums = {figure: column for figure, column in table.added.items() if column in rows.own and column in types}
    asked = PatternQuery(shown, tuple(dict.fromkeys(sums.values())), table.where if readable else None, rows.lossy, unseen)
    decided = readable or table.where is None
    patterns = engine.row_patterns(rows.file, asked)
    hidden = _hidden(table, asked, patterns, decided=decided) if table.hiding else []
    maps = granted_maps(table, rows, hidden, engine) if hidden or (rows.left_out and table.hiding) else ()
    if maps:
        more = replace(asked, maps=tuple((one.column, one.handle) for one in maps if one.handle))
        seen = engine.row_patterns(rows.file, more) if more.maps else patterns
        for strict in (True, False):  # of another state of the data than the maps, a key may be missing where none was
            learnt = _Ways(table, rows, more, maps, decided=decided, strict=strict).read(seen, sums)
            if learnt.agree:
                return learnt
    return _Ways(table, rows, asked, decided=decided).read(patterns, sums)


def _hidden(table: TableShown, asked: PatternQuery, patterns: Sequence[RowPattern], *, decided: bool) -> list[int | None]:
    """Return the numbers of the group columns that some row does not show, and None where it does not show whether the filter holds."""
    found: list[int | None] = [
        side
        for side, name in enumerate(table.by)
        if name not in asked.by or (name in asked.lossy and any(one.keys[asked.by.index(name)] is None for one in patterns))
    ]
    return [*found, None] if not decided or any(one.inside is None for one in patterns) else found


@dataclass(frozen=True, eq=False, slots=True)
class _Loose:
    """Rows that can be in several cells, ``outside`` of all of them too; ``rows`` inf: no one knows how many."""

    cells: Cells
    rows: float
    outside: bool


class _Ways:
    """Every way in which the rows can be in the cells. ``decided``: each row shows whether the table is made of it, or could, were no cell suppressed.
    ``maps``: what columns say of others; ``strict``: of missing keys too.
    """

    def __init__(
        self,
        table: TableShown,
        rows: RowsOut,
        asked: PatternQuery,
        maps: Sequence[GrantedMap] = (),
        *,
        decided: bool,
        strict: bool = True,
    ) -> None:
        self._table, self._rows, self._asked, self._decided = table, rows, asked, decided
        self._maps, self._strict = [one for one in maps if one.handle], strict
        self._listed = frozenset(one.side for one in maps if not one.handle)
        shape = tuple(map(len, table.keys))
        self._grid = np.indices(shape).reshape(len(shape), -1)
        self._inner: list[Cell] = [
            frozenset((name, keys[place]) for name, keys, place in zip(table.by, table.keys, cell, strict=True))
            for cell in self._grid.T.tolist()
        ]
        self._keys = {name: {key: i for i, key in enumerate(keys)} for name, keys in zip(table.by, table.keys, strict=True)}

    def read(self, patterns: Sequence[RowPattern], sums: Mapping[str, str]) -> CellsByRows:
        """Return what follows. ``sums``: the columns of figures that rows show."""
        size = len(self._inner)
        certain, lacking = np.zeros(size, np.int64), np.zeros((len(self._asked.sums), size), np.int64)
        alike: dict[tuple[bytes, bool], _Loose] = {}
        for pattern in patterns:
            cells, outside = self._places(pattern)
            if len(cells) == 1 and not outside:
                certain[cells[0]] += pattern.rows
                lacking[:, cells[0]] += pattern.rows - np.array(pattern.known, np.int64)
            elif len(cells):
                before = alike.get((cells.tobytes(), outside))
                rows = float(pattern.rows) + (0.0 if before is None else before.rows)
                alike[cells.tobytes(), outside] = _Loose(cells, rows, outside)
        loose = list(alike.values())
        if self._rows.left_out != 0:
            left_out = float("inf") if self._rows.left_out is None else float(self._rows.left_out)
            within = self._strict and self._table.where is None and self._listed >= set(range(len(self._table.by)))
            loose.append(_Loose(np.arange(size), left_out, outside=not within))
        if sum(len(one.cells) for one in loose) > MOST_PLACES:
            return CellsByRows(agree=None)
        whole = {
            figure: (lacking[self._asked.sums.index(column)] == 0) | (column not in self._rows.lossy)
            for figure, column in sums.items()
        }
        return _Attack(self._table, self._inner, self._grid, certain, loose).learnt(whole)

    def _places(self, pattern: RowPattern) -> tuple[Cells, bool]:
        """The inner cells in which such a row can be, and whether it can be in none."""
        inside = self._inside(pattern)
        there = np.full(self._grid.shape[1], inside is not False)
        outside = inside is None
        for side, name in enumerate(self._table.by):
            key = pattern.keys[self._asked.by.index(name)] if name in self._asked.by else None
            if name not in self._asked.by or (key is None and name in self._rows.lossy):
                said = self._said(side, pattern)
                for keys, _ in said:
                    there &= np.isin(self._grid[side], keys)
                # what is not shown may be missing in the source, or a key that the table does not list
                outside |= not self._strict or (side not in self._listed and all(lacking for _, lacking in said))
            else:
                there &= self._grid[side] == self._keys[name].get("" if key is None else key, -1)
        return np.flatnonzero(there), outside

    def _said(self, side: int | None, pattern: RowPattern) -> list[tuple[NDArray[np.int64], bool]]:
        """Return the keys of a column, or places of the filter, that such a row can have by each map, and whether it can have none of them."""
        found = [
            one.sets[number]
            for one, number in zip(self._maps, pattern.within, strict=True)
            if one.side == side and number is not None
        ]
        return [one for one in found if one is not None]

    def _inside(self, pattern: RowPattern) -> bool | None:
        """Return whether the table is made of such a row; None where that is open."""
        if pattern.inside is False or (self._decided and pattern.inside):
            return pattern.inside
        said = self._said(None, pattern)
        can, cannot = (all(place in states for states, _ in said) for place in (0, 1))
        return None if can and cannot else can


class _Attack:
    """The attacker's unknowns: inner cells first, then what may be in each of the rows that show too little, then totals."""

    def __init__(self, table: TableShown, inner: Sequence[Cell], grid: Cells, certain: Cells, loose: Sequence[_Loose]) -> None:
        self._table, self._grid = table, grid
        self._number = {cell: place for place, cell in enumerate(inner)}
        self._open = np.zeros(len(inner), np.bool_)
        for one in loose:
            self._open[one.cells] = True
        self._low = certain.astype(np.float64).tolist()
        self._high = np.where(self._open, np.inf, certain).tolist()
        self._relations: list[Relation] = []
        self._spread(certain, loose)
        self._numbers = self._printed()
        #: In nothing: a search for it alone tells whether anything fits.
        self._idle = self._unknown(0.0, 1.0)

    def _unknown(self, low: float, high: float) -> int:
        self._low.append(low)
        self._high.append(high)
        return len(self._low) - 1

    def _spread(self, certain: Cells, loose: Sequence[_Loose]) -> None:
        parts: dict[int, list[int]] = {}
        for one in loose:
            places = [self._unknown(0.0, one.rows) for _ in one.cells]
            for place, cell in zip(places, one.cells.tolist(), strict=True):
                parts.setdefault(cell, []).append(place)
            if np.isfinite(one.rows):
                rest = [self._unknown(0.0, one.rows)] if one.outside else []
                self._relations.append(Relation(self._unknown(one.rows, one.rows), (*places, *rest)))
        for cell, own in parts.items():
            fixed = float(certain[cell])
            self._relations.append(Relation(cell, (self._unknown(fixed, fixed), *own)))

    def _printed(self) -> dict[Cell, int]:
        """Number every cell of the table, say what it is the total of, and take what is printed and granted as known."""
        found = {}
        for cell in self._table.printed:
            place = self._number.get(cell)
            if place is None:
                place = self._unknown(0.0, float("inf"))
                self._relations.append(Relation(place, self._within(cell)))
            found[cell] = place
            low, high = self._table.bounds(cell)
            self._low[place], self._high[place] = max(self._low[place], low), min(self._high[place], high)
        return found

    def _within(self, cell: Cell) -> tuple[int, ...]:
        own = self._number.get(cell)
        if own is not None:
            return (own,)
        there = np.ones(self._grid.shape[1], np.bool_)
        for name, key in cell:
            side = self._table.by.index(name)
            there &= self._grid[side] == self._table.keys[side].index(key)
        return tuple(np.flatnonzero(there).tolist())

    def learnt(self, summed: Mapping[str, NDArray[np.bool_]]) -> CellsByRows:
        """Return what is known of hidden cells. ``summed``: inner cells whose certain rows all show the figure's column."""
        low, high = np.array(self._low), np.array(self._high)
        if (low > high).any():
            return CellsByRows(agree=False)
        hidden = {cell: place for cell, place in self._numbers.items() if self._table.hides(cell)}
        widths = {cell: max(1.0, self._table.widths.get(cell, 1.0)) for cell in hidden}
        try:
            attack = Polytope(self._relations, Knowledge(low, high, integral=True))
            attack.interval((self._idle,))
            if hidden:
                attack.explore(np.array(list(hidden.values())), np.array(list(widths.values())))
            ends = {cell: attack.enough(place, widths[cell]) for cell, place in hidden.items()}
        except ValueError:
            return CellsByRows(agree=False)
        known = {}
        narrowed = set[str]()
        for cell, printed in self._table.printed.items():
            inner = list(self._within(cell))
            closed = not self._open[inner].any()
            figures = {figure for figure, whole in summed.items() if closed and whole[inner].all()}
            if COUNT in printed and cell in ends and ends[cell][1] - ends[cell][0] < widths[cell]:
                figures.add(COUNT)
            known[cell] = frozenset(figures)
            narrowed |= {figure for figure in summed if printed.get(figure, 0) is None and figure not in figures}
        return CellsByRows(known, narrowed=frozenset(narrowed))
