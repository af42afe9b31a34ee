"""Two releases of the same persons side by side: rows that belong together, classes by what both say, rows that only one has.

Rows meet by joins and leave as class sizes; missing equals missing unless a function says otherwise.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np
from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.auditing.column_maps import column_maps
from privrelease.engine.duckdb.auditing.release_links import (
    Expr,
    grouped_sides,
    is_missing,
    links_by_columns,
    links_by_maps,
    links_by_place,
    numbered_as,
    same_cell,
)
from privrelease.engine.duckdb.auditing.row_patterns import row_patterns
from privrelease.engine.duckdb.reading.parquet_source import scan_parquet
from privrelease.engine.protocol.base import ReleasedFile
from privrelease.engine.protocol.release_pairs import CombinedClasses, Links, SharedValues

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.duckdb.measuring.opening import Opened
    from privrelease.engine.protocol.base import Staged
    from privrelease.engine.protocol.release_pairs import ColumnMap, LinkedPersons, MapQuery, PatternQuery, RowPattern
    from privrelease.relational.schema import ColumnType

__all__ = ["AcrossQueries"]


def combined_classes(
    connection: Connection,
    first: Opened,
    second: Opened,
    links: Links,
    known: tuple[Sequence[str], Sequence[str]],
    persons: tuple[Opened, tuple[Path, Path], str] | None,
    *,
    unlinked: bool,
) -> CombinedClasses:
    """Group linked rows by the known cells of both; put the class of either release, and what of it is not linked, next to each."""
    on_first = exp.EQ(this=numbered_as(first, "a"), expression=sql.column("r1", "l"))
    on_second = exp.EQ(this=numbered_as(second, "b"), expression=sql.column("r2", "l"))
    linked = exp.Select().from_(sql.table(links.handle, alias="l"), copy=False)
    linked = linked.join(first.rows("a", True), on=on_first, join_type="inner")
    linked = linked.join(second.rows("b", True), on=on_second, join_type="inner")
    counted = sql.count_all()
    if persons is not None:
        source, maps, unit = persons
        linked = _with_source(linked, sql.column("r2", "l"), maps[1], source)
        counted = _persons_of(source, unit)
    sides = ((first, "a", "p", known[0]), (second, "b", "q", known[1]))
    cells = [
        (of.key(name, alias), f"{letter}{place}") for of, alias, letter, names in sides for place, name in enumerate(names)
    ]
    groups = linked.select(*(sql.aliased(cell, name) for cell, name in cells), sql.aliased(counted, "n"))
    groups = groups.group_by(*(cell.copy() for cell, _ in cells)) if cells else groups
    rows = exp.Select().from_(groups.subquery("t"), copy=False)
    for side, (of, _, letter, names) in enumerate(sides, start=1):
        where = None if persons is None else (persons[0], persons[1][side - 1], persons[2])
        rows = rows.join(
            _classes(of, names, letter, where, None).subquery(f"f{side}"),
            on=_alike(letter, names, f"f{side}"),
            join_type="left",
        )
        if unlinked:
            rows = rows.join(
                _classes(of, names, letter, where, (links.handle, f"r{side}")).subquery(f"u{side}"),
                on=_alike(letter, names, f"u{side}"),
                join_type="left",
            )
    sizes = [
        sql.aliased(sql.cast(sql.call("coalesce", sql.column("n", of), sql.integer(0)), "BIGINT"), f"n_{of}")
        for of in ("t", "f1", "f2", *(("u1", "u2") if unlinked else ()))
    ]
    lost = sql.all_of([is_missing(sql.column(name, "t")) for _, name in cells]) if cells else exp.false()
    block = connection.arrays(rows.select(*sizes, sql.aliased(lost, "lost")).where(_positive(sql.column("n", "t"))))
    none = np.zeros(len(block["lost"]), np.int64)
    linked_, first_, second_, alone_first, alone_second = (
        np.asarray(block.get(f"n_{of}", none), np.int64) for of in ("t", "f1", "f2", "u1", "u2")
    )
    return CombinedClasses(linked_, first_, second_, alone_first, alone_second, np.asarray(block["lost"], np.bool_))


def block_classes(
    connection: Connection,
    first: Opened,
    second: Opened,
    shared: Sequence[str],
    known: tuple[Sequence[str], Sequence[str]],
) -> CombinedClasses:
    """Group rows by block and known cells, find the pairs of classes that a block makes certain, and count who may have each pair."""
    blocks, parts = connection.fresh("blocks"), (connection.fresh("part"), connection.fresh("part"))
    both = [exp.GT(this=sql.column(f"n{side}", "g"), expression=sql.integer(0)) for side in (1, 2)]
    number = sql.aliased(exp.Window(this=sql.call("row_number")), "b")
    rows = (
        exp.select(exp.Star(), number)
        .from_(grouped_sides(first, second, shared).subquery("g"), copy=False)
        .where(sql.all_of(both), copy=False)
    )
    connection.run(sql.create_table(blocks, rows))
    for part, of, letter, names in zip(parts, (first, second), "pq", known, strict=True):
        on = [same_cell(sql.column(f"c{place}", "k"), of.cell(name, "t")) for place, name in enumerate(shared)]
        keys = [sql.column("b", "k"), *(of.key(name, "t") for name in names)]
        cells = [keys[0], *(sql.aliased(key, f"{letter}{place}") for place, key in enumerate(keys[1:]))]
        rows = exp.select(*cells, sql.aliased(sql.count_all(), "n")).from_(of.rows("t", False), copy=False)
        rows = rows.join(sql.table(blocks, alias="k"), on=sql.all_of(on), join_type="left")
        connection.run(sql.create_table(part, rows.group_by(*(key.copy() for key in keys))))
    p, q = ([f"{letter}{place}" for place in range(len(names))] for letter, names in zip("pq", known, strict=True))
    one_block = exp.EQ(this=sql.column("b", "s1"), expression=sql.column("b", "s2"))
    pure = [exp.In(this=sql.column("b", "s1"), query=_pure(part).subquery()) for part in parts]
    certain = exp.select(*(sql.column(name, "s1") for name in p), *(sql.column(name, "s2") for name in q)).distinct(copy=False)
    certain = certain.from_(sql.table(parts[0], alias="s1")).join(sql.table(parts[1], alias="s2"), on=one_block)
    certain = certain.where(sql.any_of(pure))
    if not p and not q:
        certain = certain.select(sql.aliased(sql.integer(1), "always"))
    columns = [sql.column(name, "t") for name in (*p, *q)]
    found = exp.select(
        *columns, *(sql.aliased(exp.Sum(this=sql.column("n", side)), f"n_{side}") for side in ("s1", "s2"))
    ).from_(certain.subquery("t"), copy=False)
    found = found.join(
        sql.table(parts[0], alias="s1"), on=sql.all_of([same_cell(sql.column(name, "t"), sql.column(name, "s1")) for name in p])
    )
    same = [same_cell(sql.column(name, "t"), sql.column(name, "s2")) for name in q]
    found = found.join(sql.table(parts[1], alias="s2"), on=sql.all_of([one_block.copy(), *same]))
    found = found.group_by(*(column.copy() for column in columns)) if columns else found
    rows = exp.Select().from_(found.subquery("t"), copy=False)
    figures = [sql.aliased(sql.call("least", sql.column("n_s1", "t"), sql.column("n_s2", "t")), "linked")]
    for side, part, names in ((1, parts[0], p), (2, parts[1], q)):
        cells = [sql.column(name, "s") for name in names]
        n, apart = sql.column("n", "s"), is_missing(sql.column("b", "s"))
        alone = exp.select(
            *cells,
            sql.aliased(exp.Sum(this=n), "n"),
            sql.aliased(exp.Filter(this=exp.Sum(this=n.copy()), expression=exp.Where(this=apart)), "apart"),
        ).from_(sql.table(part, alias="s"), copy=False)
        alone = alone.group_by(*(cell.copy() for cell in cells)) if cells else alone
        met = sql.all_of([same_cell(sql.column(name, "t"), sql.column(name, f"f{side}")) for name in names])
        rows = rows.join(alone.subquery(f"f{side}"), on=met)
        figures += [
            sql.aliased(sql.column("n", f"f{side}"), f"alone{side}"),
            sql.aliased(sql.call("coalesce", sql.column("apart", f"f{side}"), sql.integer(0)), f"apart{side}"),
        ]
    lost = sql.all_of([is_missing(column) for column in columns]) if columns else exp.false()
    block = connection.arrays(rows.select(*(_whole(figure) for figure in figures), sql.aliased(lost, "lost")))
    for name in (blocks, *parts):
        connection.drop("TABLE", name)
    linked, alone1, alone2, apart1, apart2 = (
        np.asarray(block[name], np.int64) for name in ("linked", "alone1", "alone2", "apart1", "apart2")
    )
    return CombinedClasses(linked, alone1, alone2, apart1, apart2, np.asarray(block["lost"], np.bool_))


def _pure(part: str) -> exp.Select:
    """Blocks of which all rows have one class."""
    block = sql.column("b", "s")
    rows = exp.select(block).from_(sql.table(part, alias="s"), copy=False).where(exp.Not(this=is_missing(block)), copy=False)
    return rows.group_by(block.copy()).having(exp.EQ(this=sql.count_all(), expression=sql.integer(1)))


def _whole(figure: Expr) -> Expr:
    return sql.aliased(sql.cast(figure.this, "BIGINT"), figure.alias)


def _positive(number: Expr) -> Expr:
    return exp.GT(this=number, expression=sql.integer(0))


def _persons_of(source: Opened, unit: str) -> Expr:
    return exp.Count(this=exp.Distinct(expressions=[source.key(unit, "s")]))


def _with_source(rows: exp.Select, row: Expr, row_map: Path, source: Opened) -> exp.Select:
    on_map = exp.EQ(this=sql.column("output_row", "m"), expression=row)
    on_source = exp.EQ(this=sql.column(source.row_number, "s"), expression=sql.column("source_row", "m"))
    rows = rows.join(scan_parquet([row_map], alias="m"), on=on_map, join_type="inner")
    return rows.join(source.rows("s", True), on=on_source, join_type="inner")


def _alike(letter: str, names: Sequence[str], side: str) -> Expr:
    return sql.all_of(
        [same_cell(sql.column(f"{letter}{place}", "t"), sql.column(f"{letter}{place}", side)) for place in range(len(names))]
    )


def _classes(
    of: Opened,
    names: Sequence[str],
    letter: str,
    persons: tuple[Opened, Path, str] | None,
    unlinked: tuple[str, str] | None,
) -> exp.Select:
    """Classes of one release alone; ``unlinked``: of the rows that a table of links (and its column) does not name."""
    cells = [of.key(name, "t") for name in names]
    rows = exp.Select().from_(of.rows("t", True), copy=False)
    if unlinked is not None:
        on = exp.EQ(this=numbered_as(of, "t"), expression=sql.column(unlinked[1], "l"))
        rows = rows.join(sql.table(unlinked[0], alias="l"), on=on, join_type="anti")
    counted = sql.count_all()
    if persons is not None:
        source, row_map, unit = persons
        rows = _with_source(rows, numbered_as(of, "t"), row_map, source)
        counted = _persons_of(source, unit)
    named = [sql.aliased(cell, f"{letter}{place}") for place, cell in enumerate(cells)]
    rows = rows.select(*named, sql.aliased(counted, "n"))
    return rows.group_by(*(cell.copy() for cell in cells)) if cells else rows


def only_in_one(
    connection: Connection, first: Opened, second: Opened, shared: Sequence[str], known: Sequence[str]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Subtract the multisets of rows from each other, then group what is left by the known cells."""
    keys = [sql.column(f"c{shared.index(name)}", "g") for name in known]
    n1, n2 = sql.column("n1", "g"), sql.column("n2", "g")
    more = [
        sql.aliased(exp.Sum(this=sql.call("greatest", exp.Sub(this=one.copy(), expression=other.copy()), sql.integer(0))), name)
        for one, other, name in ((n1, n2, "a"), (n2, n1, "b"))
    ]
    there = sql.any_of([exp.Not(this=is_missing(key)) for key in keys]) if keys else exp.true()
    rows = exp.select(*more).from_(grouped_sides(first, second, shared).subquery("g"), copy=False)
    rows = rows.where(exp.and_(exp.NEQ(this=n1.copy(), expression=n2.copy()), exp.paren(there)))
    block = connection.arrays(rows.group_by(*(key.copy() for key in keys)) if keys else rows)
    left = [np.ma.filled(np.ma.asarray(block[name]).astype(np.float64), 0).astype(np.int64) for name in ("a", "b")]
    return left[0][left[0] > 0], left[1][left[1] > 0]


def shared_values(
    connection: Connection, first: Opened, second: Opened, pairs: Iterable[tuple[str, str]]
) -> tuple[SharedValues, ...]:
    """Join the distinct values of each pair of columns."""
    found = []
    for names in pairs:
        sides = []
        for side, (of, name) in enumerate(zip((first, second), names, strict=True), start=1):
            cell = of.cell(name, "t")
            rows = (
                exp.select(sql.aliased(sql.cast(cell, "VARCHAR"), "v"))
                .distinct(copy=False)
                .from_(of.rows("t", False), copy=False)
            )
            sides.append(rows.where(exp.Not(this=is_missing(cell))).subquery(f"s{side}"))
        on = exp.EQ(this=sql.column("v", "s1"), expression=sql.column("v", "s2"))
        figures = [exp.Count(this=sql.column("v", "s1")), exp.Count(this=sql.column("v", "s2")), sql.count_all()]
        joined = exp.select(*figures).from_(sides[0], copy=False).join(sides[1], on=on, join_type="full", copy=False)
        ours, theirs, every = map(int, connection.row(joined))
        found.append(SharedValues(ours, theirs, ours + theirs - every))
    return tuple(found)


def same_coding(connection: Connection, first: Opened, second: Opened, columns: Sequence[str]) -> tuple[str, ...]:
    """Compare the values of each column."""
    found = zip(columns, shared_values(connection, first, second, [(name, name) for name in columns]), strict=True)
    return tuple(name for name, one in found if 2 * one.both >= min(one.first, one.second) > 0)


class AcrossQueries(ABC):
    """See :class:`privrelease.engine.protocol.release_pairs.AcrossEngine`."""

    _connection: Connection

    @abstractmethod
    def _opened(self, of: Staged | ReleasedFile) -> Opened: ...

    def links_by_maps(self, first_map: Path, second_map: Path) -> Links:
        """Link rows of one source row."""
        return links_by_maps(self._connection, first_map, second_map)

    def links_by_place(self, first: ReleasedFile, second: ReleasedFile) -> Links:
        """Link rows of one place."""
        return links_by_place(self._connection, self._opened(first), self._opened(second))

    def links_by_columns(
        self, first: ReleasedFile, second: ReleasedFile, exact: Sequence[str], loose: Sequence[str], most_pairs: int
    ) -> Links:
        """Link rows that agree with each other alone."""
        return links_by_columns(self._connection, self._opened(first), self._opened(second), exact, loose, most_pairs)

    def combined_classes(
        self,
        first: ReleasedFile,
        second: ReleasedFile,
        links: Links,
        known_first: Sequence[str],
        known_second: Sequence[str],
        persons: LinkedPersons | None = None,
        *,
        unlinked: bool = True,
    ) -> CombinedClasses:
        """Collapse linked rows by what both releases say."""
        where = None
        if persons is not None:
            where = (self._opened(persons.source), (persons.first_map, persons.second_map), persons.unit)
        sides = self._opened(first), self._opened(second)
        return combined_classes(self._connection, *sides, links, (known_first, known_second), where, unlinked=unlinked)

    def block_classes(
        self,
        first: ReleasedFile,
        second: ReleasedFile,
        shared: Sequence[str],
        known_first: Sequence[str],
        known_second: Sequence[str],
    ) -> CombinedClasses:
        """Collapse rows by what both releases say of who is in a block."""
        sides = self._opened(first), self._opened(second)
        return block_classes(self._connection, *sides, shared, (known_first, known_second))

    def only_in_one(
        self, first: ReleasedFile, second: ReleasedFile, shared: Sequence[str], known: Sequence[str]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return class sizes of what only one release has."""
        return only_in_one(self._connection, self._opened(first), self._opened(second), shared, known)

    def shared_values(
        self, first: Staged | ReleasedFile, second: ReleasedFile, pairs: Sequence[tuple[str, str]]
    ) -> tuple[SharedValues, ...]:
        """Compare the values of pairs of columns."""
        return shared_values(self._connection, self._opened(first), self._opened(second), pairs)

    def same_coding(self, first: ReleasedFile, second: ReleasedFile, columns: Sequence[str]) -> tuple[str, ...]:
        """Return the columns whose values are written alike."""
        return same_coding(self._connection, self._opened(first), self._opened(second), columns)

    def column_maps(self, of: Staged | ReleasedFile, asked: Sequence[MapQuery]) -> tuple[ColumnMap, ...]:
        """Return which keys occur with which values."""
        return column_maps(self._connection, self._opened(of), _types(of), asked)

    def row_patterns(self, of: Staged | ReleasedFile, asked: PatternQuery) -> tuple[RowPattern, ...]:
        """Group rows by what they show."""
        return row_patterns(self._connection, self._opened(of), _types(of), asked)


def _types(of: Staged | ReleasedFile) -> dict[str, ColumnType]:
    return dict(of.columns) if isinstance(of, ReleasedFile) else {column.name: column.type for column in of.columns}
