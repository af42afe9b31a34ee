"""The contributions to a table, for its audit: what each person adds to each inner cell. Totals are added up elsewhere, not in SQL.

Nothing here is shared with :mod:`privrelease.engine.duckdb.measuring.tables`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.conditions import condition
from privrelease.relational.schema import ColumnType
from privrelease.relational.tables import Contributions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.duckdb.reading.staging import StagedTable
    from privrelease.relational.tables import Membership, TableQuery

__all__ = ["changed_contributions", "contributions"]


def contributions(connection: Connection, table: StagedTable, asked: TableQuery) -> Contributions:
    """Return one entry by person and inner cell; one for all persons who add the same to the same cells.

    Where the persons with several rows are asked for, each of these has entries of their own, with one number in every query without a filter.
    """
    person = None if asked.unit is None else sql.column(f"c{table.ordinal(asked.unit)}")
    listed = zip(asked.by, asked.keys, strict=True)
    named = [
        sql.aliased(_listed(table, name, keys if asked.others else None), f"k{i}") for i, (name, keys) in enumerate(listed)
    ]
    named += [sql.aliased(_outside(table, member), f"m{i}") for i, member in enumerate(asked.members)]
    steps = [_steps(table, name) for name in asked.sums]
    values = [_zero_where_missing(one) for one in steps]
    known = [
        sql.when((exp.Is(this=one.copy(), expression=exp.null()), sql.integer(0)), otherwise=sql.integer(1)) for one in steps
    ]
    source = exp.select().from_(sql.table(table.table), copy=False)
    if asked.where is not None:
        source = source.where(condition(asked.where, table))
    if person is None:
        figures = [sql.aliased(one, f"{name}{i}") for name, part in (("x", values), ("v", known)) for i, one in enumerate(part)]
        entries = [one.alias for one in (*named, *figures)]
        alike = exp.select(*map(sql.column, entries), sql.aliased(sql.count_all(), "j"))
        alike = alike.from_(source.select(*named, *figures).subquery("rows")).group_by(*map(sql.column, entries))
        who = sql.aliased(exp.Window(this=sql.call("row_number")), "w")
        query: exp.Select = exp.select(*map(sql.column, (*entries, "j")), who, sql.aliased(sql.integer(1), "n")).from_(
            alike.subquery("alike"), copy=False
        )
    else:
        rank = exp.Window(this=sql.call("dense_rank"), order=exp.Order(expressions=[exp.Ordered(this=person)]))
        figures = [
            sql.aliased(sql.cast(exp.Sum(this=one), "BIGINT"), f"{name}{i}")
            for name, part in (("x", values), ("v", known))
            for i, one in enumerate(part)
        ]
        entries_ = source.select(*named, sql.aliased(rank, "w"), sql.aliased(sql.count_all(), "n"), *figures)
        entries_ = entries_.group_by(*(one.this.copy() for one in named), person.copy())
        query = _alike(entries_, [one.alias for one in named], [one.alias for one in figures], apart=asked.several)
    block = connection.arrow(query)
    places = [_places(block.column(f"k{i}"), keys, others=asked.others) for i, keys in enumerate(asked.keys)]
    places += [np.asarray(block.column(f"m{i}").cast("int64")) for i in range(len(asked.members))]
    inside = np.logical_and.reduce([place >= 0 for place in places])
    cells = np.zeros(int(inside.sum()), np.int64)
    for place, size in zip(places, asked.inner, strict=True):
        cells = cells * size + place[inside]
    who_, rows = [np.asarray(block.column(name).cast("int64"))[inside] for name in ("w", "n")]
    sums, counts = (
        np.array([np.asarray(block.column(f"{name}{i}").cast("int64"))[inside] for i in range(len(steps))]).reshape(
            len(steps), len(cells)
        )
        for name in ("x", "v")
    )
    times = np.asarray(block.column("j").cast("int64"))[inside]
    return Contributions(cells, who_, rows, sums, counts, table.n_rows - int((rows * times).sum()), times)


def _alike(entries: exp.Select, keys: Sequence[str], figures: Sequence[str], *, apart: bool) -> exp.Select:
    """Make one of persons who add the same to the same cells, with the number ``w`` of the first and how many they are, ``j``; ``apart``: those with
    several rows stay themselves.
    """
    names = [*keys, "n", *figures]
    fields = [exp.PropertyEQ(this=exp.to_identifier(name, quoted=True), expression=sql.column(name)) for name in names]
    order = exp.Order(this=exp.Struct(expressions=fields), expressions=[exp.Ordered(this=sql.column(key)) for key in keys])
    own = exp.select(sql.column("w"), sql.aliased(sql.call("list", order if keys else order.this), "e"))
    own = (
        own.select(sql.aliased(exp.Sum(this=sql.column("n")), "t")).from_(entries.subquery("entries")).group_by(sql.column("w"))
    )
    by: list[exp.Expr] = [sql.column("e")]
    if apart:
        several = exp.GT(this=sql.column("t"), expression=sql.integer(1))
        by.append(sql.when((several, sql.column("w"))))
    first = [sql.aliased(exp.Min(this=sql.column("w")), "w"), sql.aliased(sql.count_all(), "j")]
    alike = exp.select(sql.column("e"), *first).from_(own.subquery("own"), copy=False).group_by(*by, copy=False)
    each = exp.select(sql.column("w"), sql.column("j"), sql.aliased(sql.call("unnest", sql.column("e")), "e"))
    parts = [sql.aliased(sql.call("struct_extract", sql.column("e"), sql.text(name)), name) for name in names]
    return exp.select(sql.column("w"), sql.column("j"), *parts).from_(
        each.from_(alike.subquery("alike")).subquery("each"), copy=False
    )


def changed_contributions(
    connection: Connection, now: StagedTable, before: StagedTable, asked: TableQuery, earlier: TableQuery | None = None
) -> Contributions:
    """Return what each person adds to each inner cell now more than before, where that is not nothing. Where every row is a person, rows that
    are in both states cancel out. ``earlier``: what is asked of the state before, if it is not the same.
    """
    sums = range(len(asked.sums))
    keys, outside = [f"k{i}" for i in range(len(asked.by))], [f"m{i}" for i in range(len(asked.members))]
    both = exp.union(_signed(now, asked, 1), _signed(before, earlier or asked, -1), distinct=False).subquery("both")

    def total(name: str) -> exp.Expr:
        signed = exp.Mul(this=sql.column("s"), expression=sql.column(name))
        return sql.aliased(sql.cast(exp.Sum(this=signed), "BIGINT"), name)

    rows = sql.aliased(sql.cast(exp.Sum(this=sql.column("s")), "BIGINT"), "n")
    values = [*(f"x{i}" for i in sums), *(f"v{i}" for i in sums)]
    named = [sql.column(name) for name in (*keys, *outside, *(("u",) if asked.unit else tuple(values)))]
    figures = [rows, *(total(name) for name in values)] if asked.unit else [rows]
    who = [sql.column("u")] if asked.unit else [sql.column(name) for name in values] or [sql.integer(1)]
    ordered = exp.Order(expressions=[exp.Ordered(this=one.copy()) for one in who])
    rank = sql.aliased(exp.Window(this=sql.call("dense_rank"), order=ordered), "w")
    groups = [one.copy() for one in named]
    query = exp.select(*(one.copy() for one in named), rank, *figures).from_(both, copy=False)
    block = connection.arrow(query.group_by(*groups) if groups else query)
    places = [_places(block.column(name), listed, others=False) for name, listed in zip(keys, asked.keys, strict=True)]
    places += [np.asarray(block.column(name).cast("int64")) for name in outside]
    inside = np.logical_and.reduce([np.ones(block.num_rows, np.bool_), *(place >= 0 for place in places)])

    def column(name: str) -> NDArray[np.int64]:
        return np.asarray(block.column(name).cast("int64"))

    cells = np.zeros(len(inside), np.int64)
    for place, size in zip(places, asked.inner, strict=True):
        cells = cells * size + place
    count, persons = column("n"), column("w")
    added, known = (np.array([column(f"{name}{i}") for i in sums], np.int64).reshape(len(sums), len(cells)) for name in "xv")
    if asked.unit:
        kept = inside & ((count != 0) | (added != 0).any(axis=0) | (known != 0).any(axis=0))
        return Contributions(cells[kept], persons[kept], count[kept], added[:, kept], known[:, kept], 0)
    each = np.repeat(np.arange(len(cells)), np.where(inside, np.abs(count), 0))
    sign = np.sign(count[each])
    return Contributions(cells[each], np.arange(len(each)), sign, added[:, each] * sign, known[:, each] * sign, 0)


def _signed(table: StagedTable, asked: TableQuery, sign: int) -> exp.Select:
    """The rows of one state: keys, person, sign, and the summands in whole steps."""
    steps = [_steps(table, name) for name in asked.sums]
    recoded = dict(asked.recoded)
    named = [sql.aliased(_recoded(table, name, recoded.get(name)), f"k{i}") for i, name in enumerate(asked.by)]
    named += [sql.aliased(_outside(table, member), f"m{i}") for i, member in enumerate(asked.members)]
    if asked.unit is not None:
        named.append(sql.aliased(_text(table, asked.unit), "u"))
    named.append(sql.aliased(sql.integer(sign), "s"))
    named += [sql.aliased(_zero_where_missing(one), f"x{i}") for i, one in enumerate(steps)]
    for i, one in enumerate(steps):
        missing = exp.Is(this=one.copy(), expression=exp.null())
        named.append(sql.aliased(sql.when((missing, sql.integer(0)), otherwise=sql.integer(1)), f"v{i}"))
    source = exp.select(*named).from_(sql.table(table.table), copy=False)
    return source if asked.where is None else source.where(condition(asked.where, table))


def _text(table: StagedTable, name: str) -> exp.Expr:
    return sql.cast(sql.column(f"c{table.ordinal(name)}"), "VARCHAR")


def _recoded(table: StagedTable, name: str, pairs: Sequence[tuple[str, str]] | None) -> exp.Expr:
    """A key as text, or the one that it is recoded to; NULL for one without."""
    cell = _text(table, name)
    if pairs is None:
        return cell
    if not pairs:
        return sql.cast(exp.null(), "VARCHAR")
    values: dict[str, list[str]] = {}
    for value, key in pairs:
        values.setdefault(key, []).append(value)
    return sql.when(*((sql.one_of(cell.copy(), held), sql.text(key)) for key, held in values.items()))


def _listed(table: StagedTable, name: str, keys: Sequence[str] | None) -> exp.Expr:
    """A key as text; with ``keys``, NULL for all others, which are of one cell."""
    cell = _text(table, name)
    return cell if keys is None else sql.when((sql.one_of(cell, keys), cell.copy()))


def _outside(table: StagedTable, member: Membership) -> exp.Expr:
    """0 for a row that is a member, 1 for one that is not, or of which it is not known."""
    conditions = [sql.one_of(_text(table, name), keys) for name, keys in member.keys]
    if member.where is not None:
        conditions.append(condition(member.where, table))
    if not conditions:
        return sql.integer(0)
    return sql.when((exp.and_(*conditions), sql.integer(0)), otherwise=sql.integer(1))


def _steps(table: StagedTable, name: str) -> exp.Expr:
    """The cell in whole steps; NULL where it is missing."""
    place = table.ordinal(name)
    cell, column = sql.column(f"c{place}"), table.columns[place]
    if column.type is ColumnType.NUMBER:
        per_step = exp.Div(this=sql.cast(cell, "DOUBLE"), expression=sql.cast(sql.text(str(column.grid)), "DOUBLE"))
        return sql.cast(sql.call("round", per_step), "BIGINT")
    return cell


def _zero_where_missing(cell: exp.Expr) -> exp.Expr:
    missing = exp.Is(this=cell.copy(), expression=exp.null())
    return sql.cast(sql.when((missing, sql.integer(0)), otherwise=cell.copy()), "BIGINT")


def _places(column: Any, keys: Sequence[str], *, others: bool) -> NDArray[np.int64]:  # noqa: ANN401 -- an Arrow column
    """The number of each key in the list; where it is missing or not listed, that of the place for others, or -1."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = pc.index_in(column, value_set=pa.array(keys, pa.string()))
    return np.asarray(pc.fill_null(found, len(keys) if others else -1), dtype=np.int64)
