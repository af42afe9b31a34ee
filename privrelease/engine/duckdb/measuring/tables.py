"""Tables of counts and sums by one aggregate over all grouping sets: rows, persons, sums and the largest contributions of a person."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.conditions import condition
from privrelease.relational.schema import ColumnType
from privrelease.relational.tables import Contributions, TableCells

if TYPE_CHECKING:
    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.duckdb.reading.staging import StagedTable
    from privrelease.relational.tables import TableQuery

__all__ = ["steps_of", "table_cells"]


def table_cells(connection: Connection, table: StagedTable, asked: TableQuery) -> TableCells:
    """Return the cells of a table. First by cell and person, so that a person's contribution to a total is what all their rows add up to."""
    sides = range(len(asked.inner))
    keys = [sql.column(f"k{place}") for place in sides]
    marks = [sql.column(f"g{place}") for place in sides]
    grouping = [sql.aliased(sql.call("grouping", key.copy()), f"g{place}") for place, key in enumerate(keys)]
    sums = [sql.aliased(exp.Sum(this=sql.column(f"x{i}")), f"x{i}") for i in range(len(asked.sums))]
    known = [sql.aliased(sql.call("count", sql.column(f"x{i}")), f"v{i}") for i in range(len(asked.sums))]
    rows, persons = sql.aliased(sql.count_all(), "n"), sql.aliased(sql.count_all(), "p")
    listed = _listed(table, asked).subquery("r")
    if asked.unit is None:
        twice = [sql.aliased(sql.call("count", sql.column(f"x{i}")), f"w{i}") for i in range(len(asked.sums))]
        figures = [*keys, *grouping, rows, persons, *sums, *known, *twice, *_largest(asked)]
        grouped = exp.select(*figures).from_(listed, copy=False).group_by(_grouping_sets(keys, [], asked), copy=False)
    else:
        unit = sql.column("u")
        one = (
            exp.select(*keys, unit, *grouping, rows, *sums, *known)
            .from_(listed, copy=False)
            .group_by(_grouping_sets(keys, [unit], asked), copy=False)
        )
        all_rows = sql.aliased(exp.Sum(this=sql.column("n")), "n")
        values = [sql.aliased(exp.Sum(this=sql.column(f"v{i}")), f"v{i}") for i in range(len(asked.sums))]
        holders = [sql.aliased(sql.call("count", sql.column(f"x{i}")), f"w{i}") for i in range(len(asked.sums))]
        figures = [*keys, *marks, all_rows, persons, *sums, *values, *holders, *_largest(asked)]
        grouped = (
            exp.select(*_copies(figures))
            .from_(one.subquery("persons"), copy=False)
            .group_by(*_copies([*keys, *marks]), copy=False)
        )
    return _cells(connection, table, asked, grouped)


def _copies(trees: list[exp.Expr]) -> list[exp.Expr]:
    return [tree.copy() for tree in trees]


def _largest(asked: TableQuery) -> list[exp.Expr]:
    """The largest contributions to each sum, as a list, descending."""
    if not asked.largest:
        return []
    most = sql.integer(asked.largest)
    return [sql.aliased(sql.call("max", sql.column(f"x{i}"), most.copy()), f"t{i}") for i in range(len(asked.sums))]


def _grouping_sets(keys: list[exp.Expr], person: list[exp.Expr], asked: TableQuery) -> exp.Expr:
    least = 0 if asked.margins else len(keys)
    sets = [kept for size in range(len(keys), least - 1, -1) for kept in combinations(range(len(keys)), size)]
    groups = [exp.Tuple(expressions=_copies([*(keys[i] for i in kept), *person])) for kept in sets]
    return exp.GroupingSets(expressions=groups)


def _listed(table: StagedTable, asked: TableQuery) -> exp.Select:
    """The rows that are looked at: keys and memberships as the numbers of their places, persons, and the summands in whole steps."""
    columns = []
    tests: list[exp.Expr] = [] if asked.where is None else [condition(asked.where, table)]
    for place, (name, keys) in enumerate(zip(asked.by, asked.keys, strict=True)):
        cell = _key(table, name)
        numbers = ((exp.EQ(this=cell.copy(), expression=sql.text(key)), sql.integer(i)) for i, key in enumerate(keys))
        other = sql.integer(len(keys)) if asked.others else None
        columns.append(sql.aliased(sql.when(*numbers, otherwise=other), f"k{place}"))
        if not asked.others:
            tests.append(sql.one_of(cell, keys))
    for place, member in enumerate(asked.members, start=len(asked.by)):
        conditions = [sql.one_of(_key(table, name), keys) for name, keys in member.keys]
        conditions += [] if member.where is None else [condition(member.where, table)]
        inside = exp.and_(*conditions) if conditions else exp.true()
        columns.append(sql.aliased(sql.when((inside, sql.integer(0)), otherwise=sql.integer(1)), f"k{place}"))
    if asked.unit is not None:
        columns.append(sql.aliased(sql.column(f"c{table.ordinal(asked.unit)}"), "u"))
    columns += [sql.aliased(steps_of(table, name), f"x{i}") for i, name in enumerate(asked.sums)]
    return exp.select(*columns).from_(sql.table(table.table), copy=False).where(*tests, copy=False)


def _key(table: StagedTable, name: str) -> exp.Expr:
    return sql.cast(sql.column(f"c{table.ordinal(name)}"), "VARCHAR")


def steps_of(table: StagedTable, name: str) -> exp.Expr:
    """The exact cell of a column in whole steps of its grid; NULL where it is missing."""
    place = table.ordinal(name)
    cell, column = sql.column(f"c{place}"), table.columns[place]
    if column.type is not ColumnType.INTEGER:
        assert column.grid is not None  # the policy lets no other number into a sum
        step = sql.cast(sql.text(f"{column.grid:f}"), "DOUBLE")
        quotient = exp.Div(this=sql.cast(cell, "DOUBLE"), expression=step)
        cell = sql.cast(sql.call("round", quotient), "BIGINT")
    return cell


def _cells(connection: Connection, table: StagedTable, asked: TableQuery, grouped: exp.Select) -> TableCells:
    shape = asked.shape
    size = int(np.prod(shape))
    rows, persons = np.zeros(size, np.int64), np.zeros(size, np.int64)
    sums = np.zeros((len(asked.sums), size), np.int64)
    largest = np.zeros((len(asked.sums), size, asked.largest), np.int64)
    known, holders = np.zeros((len(asked.sums), size), np.int64), np.zeros((len(asked.sums), size), np.int64)
    width, many = len(shape), len(asked.sums)
    for found in connection.rows(grouped):
        keys, totals, rest = found[:width], found[width : 2 * width], found[2 * width :]
        place = [asked.inner[i] if totals[i] else int(keys[i]) for i in range(width)]
        cell = int(np.ravel_multi_index(place, shape))
        rows[cell], persons[cell] = int(rest[0] or 0), int(rest[1])  # NULL where there is no row at all
        for i in range(many):
            values = [int(rest[2 + part * many + i] or 0) for part in range(3)]
            sums[i, cell], known[i, cell], holders[i, cell] = values
            if asked.largest:
                top = [int(x) for x in rest[2 + 3 * many + i] or () if x is not None]
                largest[i, cell, : len(top)] = top
    inside = int(rows[-1]) if asked.margins else int(rows.sum())
    several = _several(connection, table, asked) if asked.several and asked.unit is not None else None
    return TableCells(rows, persons, sums, largest, known, holders, table.n_rows - inside, several)


def _several(connection: Connection, table: StagedTable, asked: TableQuery) -> Contributions:
    """Return what each person with more than one row adds to each inner cell. No one else can be in two cells that have no row in common."""
    sides, sums = range(len(asked.inner)), range(len(asked.sums))
    keys, unit = [sql.column(f"k{place}") for place in sides], sql.column("u")
    figures = [
        sql.aliased(sql.count_all(), "n"),
        *(sql.aliased(exp.Sum(this=sql.column(f"x{i}")), f"x{i}") for i in sums),
        *(sql.aliased(sql.call("count", sql.column(f"x{i}")), f"v{i}") for i in sums),
    ]
    one = exp.select(*_copies([*keys, unit]), *figures).from_(_listed(table, asked).subquery("r"), copy=False)
    one = one.group_by(*_copies([*keys, unit]))
    all_rows = exp.Window(this=exp.Sum(this=sql.column("n")), partition_by=[unit.copy()])
    counted = exp.select(exp.Star(), sql.aliased(all_rows, "rows_of_one")).from_(one.subquery("persons"), copy=False)
    rank = exp.Window(this=sql.call("dense_rank"), order=exp.Order(expressions=[exp.Ordered(this=unit.copy())]))
    named = [
        *(sql.aliased(sql.cast(key, "BIGINT"), f"k{place}") for place, key in enumerate(_copies(keys))),
        sql.aliased(rank, "w"),
        *(sql.aliased(sql.cast(sql.column(name), "BIGINT"), name) for name in ("n", *(f"v{i}" for i in sums))),
        *(sql.aliased(sql.cast(sql.call("coalesce", sql.column(f"x{i}"), sql.integer(0)), "BIGINT"), f"x{i}") for i in sums),
    ]
    more = exp.GT(this=sql.column("rows_of_one"), expression=sql.integer(1))
    block = connection.arrow(exp.select(*named).from_(counted.subquery("counted"), copy=False).where(more, copy=False))

    def column(name: str) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return np.asarray(block.column(name).cast("int64"))

    cells = np.zeros(block.num_rows, np.int64)
    for place, size in enumerate(asked.inner):
        cells = cells * size + column(f"k{place}")
    added, known = (np.array([column(f"{name}{i}") for i in sums], np.int64).reshape(len(sums), len(cells)) for name in "xv")
    return Contributions(cells, column("w"), column("n"), added, known, 0)
