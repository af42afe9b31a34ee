"""Statistics as aggregates: one query each, or one scan for those of the same groups; a person's contribution is bounded before.

Nothing of the data steers what is asked: the queries, their cells and their order follow from the plan alone.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

import numpy as np
from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.conditions import condition
from privrelease.engine.duckdb.measuring.aggregate_keys import WIDE, bigint, key_of, places_of, shown_key, steps_of
from privrelease.relational.aggregates import Aggregated
from privrelease.relational.filters import columns_of
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.duckdb.reading.staging import StagedTable
    from privrelease.relational.aggregates import Aggregate, Bounding, Measure

__all__ = ["aggregates", "bounded_rows"]

_ROW: Final = "row"


@dataclass(frozen=True, slots=True)
class _Rows:
    """The rows that count: a table, or a query over the staged one; ``unit``: the column of the person, None where rows are persons."""

    table: StagedTable
    source: exp.Expr
    unit: str | None
    max_rows: int
    salt: int

    def select(self, *expressions: exp.Expr) -> exp.Select:
        return exp.select(*expressions).from_(self.source.copy(), copy=False)


def aggregates(
    connection: Connection, table: StagedTable, bounding: Bounding, asked: Sequence[Aggregate]
) -> tuple[Aggregated, ...]:
    """Return what was asked; see :mod:`privrelease.relational.aggregates`."""
    scans = _scans(asked, bounded=bounding.unit is not None)
    kept: str | None = None
    source: exp.Expr = sql.table(table.table)
    unit = None
    if bounding.unit is not None:
        unit = f"c{table.ordinal(bounding.unit)}"
        bounded = bounded_rows(table, bounding, unit, _needed(table, asked))
        source = bounded.subquery("kept")
        if len(scans) > 1:
            kept = connection.fresh("k")
            connection.run(sql.create_table(kept, bounded))
            source = sql.table(kept)
    rows = _Rows(table, source, unit, bounding.max_rows, bounding.salt)
    found: dict[int, Aggregated] = {}
    try:
        for places in scans:
            found |= dict(zip(places, _scan(connection, rows, [asked[i] for i in places]), strict=True))
    finally:
        if kept is not None:
            connection.drop("TABLE", kept)
    return tuple(found[place] for place in range(len(asked)))


def _scans(asked: Sequence[Aggregate], *, bounded: bool) -> list[list[int]]:
    """Group aggregates that one scan answers: the same declared keys, and no bounding of groups that depends on the filter."""
    scans: list[list[int]] = []
    shared: dict[object, list[int]] = {}
    for place, one in enumerate(asked):
        steps = any(measure.kind == "steps" for measure in one.measures)
        if one.private or steps or (bounded and one.max_groups is not None):
            scans.append([place])
        elif one.keys in shared:
            shared[one.keys].append(place)
        else:
            shared[one.keys] = [place]
            scans.append(shared[one.keys])
    return scans


def _needed(table: StagedTable, asked: Iterable[Aggregate]) -> list[str]:
    names: set[str] = set()
    for one in asked:
        names |= {key.column for key in one.keys} | set(one.complete)
        names |= {measure.column for measure in one.measures if measure.column is not None}
        names |= columns_of(one.where) if one.where is not None else frozenset()
    return [f"c{place}" for place in sorted(table.ordinal(name) for name in names)]


def bounded_rows(table: StagedTable, bounding: Bounding, unit: str, needed: list[str]) -> exp.Select:
    """At most ``max_rows`` rows of each person, in the order of a hash that only this run knows.

    The hash is of the rows themselves: what is kept of a person depends on that person's rows and the salt alone, so that another person
    who comes or goes changes none of it, whatever the hash is worth.
    """
    own = [_hashed(table, name) for name in dict.fromkeys((unit, *needed))]
    order = _shuffled(bounding.salt, *own)
    number = exp.Window(
        this=sql.call("row_number"),
        partition_by=[sql.column(unit)],
        order=exp.Order(expressions=[exp.Ordered(this=order)]),
    )
    columns = [sql.column(name) for name in dict.fromkeys((unit, *needed))]
    there = exp.Not(this=exp.Is(this=sql.column(unit), expression=exp.null()))
    numbered = (
        exp.select(*columns, sql.aliased(number, _ROW)).from_(sql.table(table.table), copy=False).where(there, copy=False)
    )
    few = exp.LTE(this=sql.column(_ROW), expression=sql.integer(bounding.max_rows))
    return (
        exp.select(*(column.copy() for column in columns))
        .from_(numbered.subquery("numbered"), copy=False)
        .where(few, copy=False)
    )


def _scan(connection: Connection, rows: _Rows, asked: list[Aggregate]) -> list[Aggregated]:
    first = asked[0]
    keys = [key_of(key, rows.table) for key in first.keys]
    tests = [_test(one, rows.table) for one in asked]
    common = tests[0] if len(asked) == 1 else None
    source = rows.select(exp.Star())
    if common is not None:
        source = source.where(common)
    if first.private:
        source = source.where(*(exp.Not(this=exp.Is(this=key.copy(), expression=exp.null())) for key in keys))
    if rows.unit is not None and first.max_groups is not None and keys:
        source = _few_groups(source, rows, keys, first.max_groups)
    if any(measure.kind == "steps" for measure in first.measures):
        return [_by_steps(connection, rows, source, keys, first)]
    figures = [
        sql.aliased(_figure(measure, rows, None if common is not None else test), f"m{place}")
        for place, (measure, test) in enumerate(
            (measure, test) for one, test in zip(asked, tests, strict=True) for measure in one.measures
        )
    ]
    grouped = exp.select(*(sql.aliased(key.copy(), f"k{i}") for i, key in enumerate(keys)), *figures).from_(
        source.subquery("r"), copy=False
    )
    if keys:
        grouped = grouped.group_by(*(sql.column(f"k{i}") for i in range(len(keys))))
    measures = [measure for one in asked for measure in one.measures]
    if first.private:
        return [_by_private_keys(connection, grouped, first)]
    shown = [sql.aliased(shown_key(key, f"k{i}"), f"k{i}") for i, key in enumerate(first.keys)]
    values = [sql.aliased(_told(measure, f"m{i}"), f"m{i}") for i, measure in enumerate(measures)]
    dense = _dense(first, connection.arrow(exp.select(*shown, *values).from_(grouped.subquery("g"), copy=False)), len(figures))
    result, taken = [], 0
    for one in asked:
        result.append(Aggregated(tuple(dense[taken : taken + len(one.measures)])))
        taken += len(one.measures)
    return result


def _by_private_keys(connection: Connection, grouped: exp.Select, asked: Aggregate) -> Aggregated:
    """The keys in the data, in ascending order."""
    width, figures = len(asked.keys), len(asked.measures)
    shown = [shown_key(key, f"k{i}") for i, key in enumerate(asked.keys)]
    names = [sql.column(f"m{i}") for i in range(figures)]
    found = connection.rows(exp.select(*shown, *names).from_(grouped.subquery("g"), copy=False))
    ordered = sorted(found, key=lambda row: row[:width])
    return Aggregated(
        tuple(_integers([int(row[width + i]) for row in ordered]) for i in range(figures)),
        tuple(tuple(row[:width]) for row in ordered),
    )


def _test(one: Aggregate, table: StagedTable) -> exp.Expr | None:
    tests: list[exp.Expr] = [
        exp.Not(this=exp.Is(this=sql.column(f"c{table.ordinal(name)}"), expression=exp.null())) for name in one.complete
    ]
    if one.where is not None:
        tests.append(condition(one.where, table))
    return sql.all_of(tests) if tests else None


def _hashed(table: StagedTable, name: str) -> exp.Expr:
    """A column as it is hashed: a text, never its code, which other persons' texts decide."""
    cell = sql.column(name)
    return cell if table.coded[int(name.removeprefix("c"))] is None else sql.cast(cell, "VARCHAR")


def _shuffled(salt: int, *cells: exp.Expr) -> exp.Expr:
    """A number that puts rows in an order of chance. DuckDB's hash of several values is the exclusive or of what it makes of each: salt and person would
    flip bits only, and of 1 to 10 keep 8 and 9 of every fourth person. Hashed once more, no bit of the order is one of theirs.
    """
    return sql.call("hash", sql.call("hash", sql.cast(sql.text(str(salt)), "UBIGINT"), *cells))


def _few_groups(source: exp.Select, rows: _Rows, keys: list[exp.Expr], most: int) -> exp.Select:
    """Keep the rows of at most ``most`` groups of each person, groups in the order of a hash that only this run knows."""
    assert rows.unit is not None
    texts = [sql.cast(key.copy(), "VARCHAR") for key in keys]
    order = [
        _shuffled(rows.salt ^ 0x9E3779B97F4A7C15, _hashed(rows.table, rows.unit), *texts),
        *(text.copy() for text in texts),
    ]
    rank = exp.Window(
        this=sql.call("dense_rank"),
        partition_by=[sql.column(rows.unit)],
        order=exp.Order(expressions=[exp.Ordered(this=one) for one in order]),
    )
    ranked = exp.select(exp.Star(), sql.aliased(rank, "rank")).from_(source.subquery("p"), copy=False)
    few = exp.LTE(this=sql.column("rank"), expression=sql.integer(most))
    return exp.select(exp.Star()).from_(ranked.subquery("ranked"), copy=False).where(few, copy=False)


def _figure(measure: Measure, rows: _Rows, test: exp.Expr | None) -> exp.Expr:
    if measure.kind == "rows" or (measure.kind == "persons" and (rows.unit is None or rows.max_rows == 1)):
        figure: exp.Expr = exp.Count(this=exp.Star())
    elif measure.kind == "persons":
        assert rows.unit is not None
        figure = exp.Count(this=exp.Distinct(expressions=[sql.column(rows.unit)]))
    else:
        figure = exp.Sum(this=_term(measure, rows.table))
    if test is not None:
        figure = exp.Filter(this=figure, expression=exp.Where(this=test.copy()))
    return sql.call("coalesce", figure, sql.integer(0))


def _filled(measure: Measure, table: StagedTable) -> exp.Expr:
    """The step of a row, that of a missing value being the measure's."""
    assert measure.column is not None
    steps = steps_of(measure.column, table, measure.low, measure.high, measure.grid)
    return steps if measure.fill is None else sql.call("coalesce", steps, bigint(measure.fill))


def _term(measure: Measure, table: StagedTable) -> exp.Expr:
    assert measure.column is not None
    steps = _filled(measure, table)
    distance = exp.paren(exp.Sub(this=steps, expression=bigint(measure.centre))) if measure.centre else steps
    if measure.kind == "sum":
        return distance
    wide = sql.cast(distance, "HUGEINT")
    square = exp.Mul(this=wide, expression=wide.copy())
    return exp.Sub(this=square, expression=sql.cast(sql.text(str(measure.offset)), "HUGEINT"))


def _told(measure: Measure, name: str) -> exp.Expr:
    """A figure as Arrow carries it exactly: counts as they are, sums, which may be wider than any Arrow integer, as texts."""
    return sql.column(name) if measure.kind in {"rows", "persons"} else sql.cast(sql.column(name), "VARCHAR")


def _cells(asked: Aggregate, block: pa.Table) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The number of each row's cell, and which rows have one."""
    codes = np.zeros(block.num_rows, np.int64)
    known = np.ones(block.num_rows, np.bool_)
    for i, key in enumerate(asked.keys):
        place = places_of(key, block.column(f"k{i}"))
        known &= place >= 0
        codes = codes * key.size + np.maximum(place, 0)
    return codes, known


def _integers(values: list[int]) -> NDArray[np.int64] | NDArray[np.object_]:
    """Integers as int64, or as Python's where one is wider."""
    fit = all(-WIDE <= value < WIDE for value in values)
    return np.array(values, np.int64) if fit else np.array(values, np.object_)


def _dense(asked: Aggregate, block: pa.Table, figures: int) -> list[NDArray[np.int64] | NDArray[np.object_]]:
    """Every declared cell, those without rows too."""
    codes, known = _cells(asked, block)
    size, at = prod(key.size for key in asked.keys), codes[known]
    dense: list[NDArray[np.int64] | NDArray[np.object_]] = []
    for i in range(figures):
        column = block.column(f"m{i}")
        counted = str(column.type) == "int64"
        found = np.asarray(column) if counted else _integers([int(text) for text in column.to_pylist()])
        cells = np.zeros(size, found.dtype)
        cells[at] = found[known]
        dense.append(cells)
    return dense


def _by_steps(connection: Connection, rows: _Rows, source: exp.Select, keys: list[exp.Expr], asked: Aggregate) -> Aggregated:
    """Return the rows at each step, by cell: what scores of quantiles are made of."""
    (measure,) = asked.measures
    assert measure.column is not None
    steps = _filled(measure, rows.table)
    named = [*(sql.aliased(key.copy(), f"k{i}") for i, key in enumerate(keys)), sql.aliased(steps, "s")]
    grouped = exp.select(*named, sql.aliased(exp.Count(this=exp.Star()), "n")).from_(source.subquery("r"), copy=False)
    grouped = grouped.group_by(*(sql.column(f"k{i}") for i in range(len(keys))), sql.column("s"))
    shown = [sql.aliased(shown_key(key, f"k{i}"), f"k{i}") for i, key in enumerate(asked.keys)]
    query = (
        exp.select(*shown, sql.column("s"), sql.column("n"))
        .from_(grouped.subquery("g"), copy=False)
        .order_by(sql.column("s"), copy=False)
    )
    block = connection.arrow(query)
    step, count = (np.asarray(block.column(name), dtype=np.int64) for name in ("s", "n"))
    if not keys:
        return Aggregated((), steps=((step, count),))
    codes, known = _cells(asked, block)
    cells = []
    for cell in range(prod(key.size for key in asked.keys)):
        here = known & (codes == cell)
        cells.append((step[here], count[here]))
    return Aggregated((), steps=tuple(cells))
