"""Tables of counts and sums by one aggregate over all grouping sets: rows, persons, sums and the largest contributions of a person."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.relational.schema import ColumnType
from privrelease.relational.tables import TableCells

if TYPE_CHECKING:
    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.duckdb.staging import StagedTable
    from privrelease.relational.tables import TableQuery

__all__ = ["steps_of", "table_cells"]


def table_cells(connection: Connection, table: StagedTable, asked: TableQuery) -> TableCells:
    """Return the cells of a table. First by cell and person, so that a person's contribution to a total is what all their rows add up to."""
    keys = [sql.column(f"k{place}") for place in range(len(asked.by))]
    marks = [sql.column(f"g{place}") for place in range(len(keys))]
    grouping = [sql.aliased(sql.call("grouping", key.copy()), f"g{place}") for place, key in enumerate(keys)]
    sums = [sql.aliased(exp.Sum(this=sql.column(f"x{i}")), f"x{i}") for i in range(len(asked.sums))]
    rows, persons = sql.aliased(sql.count_all(), "n"), sql.aliased(sql.count_all(), "p")
    listed = _listed(table, asked).subquery("r")
    if asked.unit is None:
        figures = [*keys, *grouping, rows, persons, *sums, *_largest(asked)]
        grouped = exp.select(*figures).from_(listed).group_by(_grouping_sets(keys, [], asked))
    else:
        unit = sql.column("u")
        one = exp.select(*keys, unit, *grouping, rows, *sums).from_(listed).group_by(_grouping_sets(keys, [unit], asked))
        all_rows = sql.aliased(exp.Sum(this=sql.column("n")), "n")
        figures = [*keys, *marks, all_rows, persons, *sums, *_largest(asked)]
        grouped = exp.select(*_copies(figures)).from_(one.subquery("persons")).group_by(*_copies([*keys, *marks]))
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
    """The rows with listed keys: keys as the numbers of their places, persons, and the summands in whole steps."""
    columns = []
    tests: list[exp.Expr] = []
    for place, (name, keys) in enumerate(zip(asked.by, asked.keys, strict=True)):
        cell = sql.cast(sql.column(f"c{table.ordinal(name)}"), "VARCHAR")
        numbers = ((exp.EQ(this=cell.copy(), expression=sql.text(key)), sql.integer(i)) for i, key in enumerate(keys))
        columns.append(sql.aliased(sql.when(*numbers), f"k{place}"))
        tests.append(sql.one_of(cell, keys))
    if asked.unit is not None:
        columns.append(sql.aliased(sql.column(f"c{table.ordinal(asked.unit)}"), "u"))
    columns += [sql.aliased(steps_of(table, name), f"x{i}") for i, name in enumerate(asked.sums)]
    return exp.select(*columns).from_(sql.table(table.table)).where(*tests)


def steps_of(table: StagedTable, name: str) -> exp.Expr:
    """The exact cell of a column in whole steps of its grid; a missing one adds nothing."""
    place = table.ordinal(name)
    cell, column = sql.column(f"c{place}"), table.columns[place]
    if column.type is not ColumnType.INTEGER:
        assert column.grid is not None  # the policy lets no other number into a sum
        step = sql.cast(sql.text(f"{column.grid:f}"), "DOUBLE")
        quotient = exp.Div(this=sql.cast(cell, "DOUBLE"), expression=step)
        cell = sql.cast(sql.call("round", quotient), "BIGINT")
    return sql.call("coalesce", cell, sql.integer(0))


def _cells(connection: Connection, table: StagedTable, asked: TableQuery, grouped: exp.Select) -> TableCells:
    shape = asked.shape
    size = int(np.prod(shape))
    rows, persons = np.zeros(size, np.int64), np.zeros(size, np.int64)
    sums = np.zeros((len(asked.sums), size), np.int64)
    largest = np.zeros((len(asked.sums), size, asked.largest), np.int64)
    width, many = len(asked.by), len(asked.sums)
    for found in connection.rows(grouped):
        keys, totals, rest = found[:width], found[width : 2 * width], found[2 * width :]
        place = [len(asked.keys[i]) if totals[i] else int(keys[i]) for i in range(width)]
        cell = int(np.ravel_multi_index(place, shape))
        rows[cell], persons[cell] = int(rest[0]), int(rest[1])
        for i in range(many):
            sums[i, cell] = int(rest[2 + i] or 0)  # NULL where there is no row at all
            if asked.largest:
                top = [int(x) for x in rest[2 + many + i] or () if x is not None]
                largest[i, cell, : len(top)] = top
    inside = int(rows[-1]) if asked.margins else int(rows.sum())
    return TableCells(rows, persons, sums, largest, table.n_rows - inside)
