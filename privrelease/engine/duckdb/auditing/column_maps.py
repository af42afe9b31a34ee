"""Maps of the values of a column to the keys of another that occur with them, or to a filter: they stay in the engine, and their sets of keys leave it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pyarrow as pa
from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.conditions import condition
from privrelease.engine.protocol.release_pairs import ColumnMap
from privrelease.relational.filters import columns_of
from privrelease.relational.schema import ColumnType
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.duckdb.measuring.opening import Opened
    from privrelease.engine.protocol.release_pairs import MapQuery

__all__ = ["RenamedColumns", "column_maps", "comparable"]

#: Rows that are looked at first: most pairs of columns determine nothing, which some rows show.
_FIRST: Final = 20_000


@dataclass(frozen=True, slots=True)
class RenamedColumns:
    """Released columns under the names that conditions use."""

    names: tuple[str, ...]
    types: Mapping[str, ColumnType]

    def ordinal(self, name: str) -> int:
        """Return the number of a column."""
        return self.names.index(name)

    def type_of(self, name: str) -> ColumnType:
        """Return its type."""
        return self.types[name]


def comparable(cell: exp.Expr, kind: ColumnType) -> exp.Expr:
    """Return a cell as a text that is the same in a source and in a file that shows it: there, a number of a grid is a double, and -0.0 is 0.0."""
    if kind is not ColumnType.NUMBER:
        return sql.cast(cell, "VARCHAR")
    number = sql.cast(cell, "DOUBLE")
    zero = exp.EQ(this=number, expression=sql.cast(sql.integer(0), "DOUBLE"))
    return sql.when((zero, sql.text("0")), otherwise=sql.cast(number.copy(), "VARCHAR"))


def column_maps(
    connection: Connection, of: Opened, types: Mapping[str, ColumnType], asked: Sequence[MapQuery]
) -> tuple[ColumnMap, ...]:
    """Return one map for each query."""
    return tuple(_map(connection, of, types, one) for one in asked)


def _map(connection: Connection, of: Opened, types: Mapping[str, ColumnType], asked: MapQuery) -> ColumnMap:
    listed = connection.fresh("keys")
    connection.register(listed, pa.table({"k": pa.array(asked.keys, pa.string()), "p": pa.array(range(len(asked.keys)))}))
    try:
        if of.n_rows > _FIRST:
            first = _stored(connection, of, types, asked, listed, _FIRST)
            found = _counted(connection, first, asked)
            connection.drop("TABLE", first)
            if not (found.forward or found.backward):
                return found
        pairs = _stored(connection, of, types, asked, listed, None)
    finally:
        connection.unregister(listed)
    found = _counted(connection, pairs, asked)
    if (found.forward or found.backward) and not asked.each:
        found = _with_sets(connection, pairs, found)
    connection.drop("TABLE", pairs)
    return found


def _stored(
    connection: Connection, of: Opened, types: Mapping[str, ColumnType], asked: MapQuery, listed: str, limit: int | None
) -> str:
    """Store the pairs of a value ``v`` and the place ``p`` of a key, with their rows ``n``."""
    used = (asked.on,) if isinstance(asked.on, str) else tuple(sorted(columns_of(asked.on)))
    names = tuple(dict.fromkeys((asked.column, *used)))
    cells = [sql.aliased(of.cell(name, "t"), f"c{place}") for place, name in enumerate(names)]
    rows = exp.select(*cells).from_(of.rows("t", False), copy=False)
    table = RenamedColumns(names, types)
    value = comparable(sql.column("c0"), types[asked.column])
    if isinstance(asked.on, str):
        key = sql.cast(sql.column(f"c{table.ordinal(asked.on)}"), "VARCHAR")
    else:
        key = sql.when((condition(asked.on, table), sql.integer(0)), otherwise=sql.integer(1))
    each = exp.select(sql.aliased(value, "v"), sql.aliased(key, "k")).from_(
        (rows.limit(limit) if limit else rows).subquery("p"), copy=False
    )
    counted = exp.select(sql.column("v"), sql.column("k"), sql.aliased(sql.count_all(), "n")).from_(
        each.subquery("e"), copy=False
    )
    counted = counted.where(exp.Not(this=exp.Is(this=sql.column("v"), expression=exp.null())))
    counted = counted.group_by(sql.column("v"), sql.column("k"))
    place = sql.column("k", "g")
    if asked.each:
        rank = exp.Window(this=sql.call("dense_rank"), order=exp.Order(expressions=[exp.Ordered(this=sql.column("k"))]))
        missing = exp.Is(this=sql.column("k"), expression=exp.null())
        numbered = sql.when((missing, sql.integer(-1)), otherwise=rank)
        found = exp.select(sql.column("v"), sql.aliased(numbered, "p"), sql.column("n")).from_(
            counted.subquery("g"), copy=False
        )
        name = connection.fresh("pairs")
        connection.run(sql.create_table(name, found))
        return name
    if isinstance(asked.on, str):
        missing = exp.Is(this=sql.column("k", "g"), expression=exp.null())
        known = sql.call("coalesce", sql.column("p", "l"), sql.integer(asked.places))
        place = sql.when((missing, sql.integer(-1)), otherwise=known)
    found = exp.select(
        sql.column("v", "g"), sql.aliased(place, "p"), sql.aliased(sql.cast(exp.Sum(this=sql.column("n", "g")), "BIGINT"), "n")
    ).from_(counted.subquery("g"), copy=False)
    if isinstance(asked.on, str):
        same = exp.EQ(this=sql.column("k", "g"), expression=sql.column("k", "l"))
        found = found.join(sql.table(listed, alias="l"), on=same, join_type="left")
    name = connection.fresh("pairs")
    connection.run(sql.create_table(name, found.group_by(sql.column("v", "g"), place.copy())))
    return name


def _counted(connection: Connection, pairs: str, asked: MapQuery) -> ColumnMap:
    known = exp.GTE(this=sql.column("p"), expression=sql.integer(0))
    distinct = [exp.Count(this=exp.Distinct(expressions=[sql.column(name)])) for name in ("v", "p")]
    rows = sql.call("coalesce", exp.Sum(this=sql.column("n")), sql.integer(0))
    counts = exp.select(*distinct, rows).from_(sql.table(pairs), copy=False).where(known, copy=False)
    values, keys, n = connection.row(counts)
    listed = known if asked.each else exp.and_(known.copy(), exp.LT(this=sql.column("p"), expression=sql.integer(asked.places)))
    several = [
        connection.row(
            exp.select(sql.count_all()).from_(
                exp.select(sql.column(name))
                .from_(sql.table(pairs), copy=False)
                .where(which.copy(), copy=False)
                .group_by(sql.column(name), copy=False)
                .having(exp.GT(this=sql.count_all(), expression=sql.integer(1)), copy=False)
                .subquery("s", copy=False),
                copy=False,
            )
        )[0]
        for name, which in (("v", known), ("p", listed))
    ]
    return ColumnMap(int(values), int(keys), int(n), forward=not several[0], backward=not several[1])


def _with_sets(connection: Connection, pairs: str, found: ColumnMap) -> ColumnMap:
    """Number the sets of places that values have, in ascending order, and store the number of each value."""
    name = connection.fresh("map")
    own = sql.aliased(sql.call("list_sort", sql.call("list", sql.column("p"))), "s")
    sets = exp.select(sql.column("v"), own).from_(sql.table(pairs), copy=False).group_by(sql.column("v"), copy=False)
    rank = exp.Window(
        this=sql.call("dense_rank"), order=exp.Order(expressions=[exp.Ordered(this=sql.column("s"), nulls_first=False)])
    )
    code = sql.aliased(exp.Sub(this=rank, expression=sql.integer(1)), "code")
    numbered = exp.select(sql.aliased(sql.column("v"), "value"), code, sql.column("s")).from_(sets.subquery("d"), copy=False)
    connection.run(sql.create_table(name, numbered))
    listed = (
        exp.select(sql.column("code"), sql.column("s"))
        .distinct(copy=False)
        .from_(sql.table(name), copy=False)
        .order_by(sql.column("code"), copy=False)
    )
    lines = connection.rows(listed)
    return ColumnMap(
        found.values,
        found.keys,
        found.rows,
        forward=found.forward,
        backward=found.backward,
        handle=name,
        sets=tuple(tuple(int(place) for place in places) for _, places in lines),
    )
