"""Columns whose values are replaced before anything is made of them: classes, order and dictionaries are then over what is released.

A column of few values is asked for its distinct values. Of any other a declared recoding is rendered in the database: a list of labels is joined, and
values are drawn together to representatives, which alone are asked for. Where nothing is declared, or too little is drawn together, values are asked
for block by block.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.errors import fault, raise_all
from privrelease.engine.duckdb.measuring.coding import Coding, staged_rows
from privrelease.engine.duckdb.reading.enumerations import MOST_CODED
from privrelease.engine.duckdb.storage_types import storage_type
from privrelease.engine.duckdb.writing.representatives import representative
from privrelease.findings import Finding, pluralise
from privrelease.relational.recoding import Lookup, Prefix
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.duckdb.reading.staging import StagedTable
    from privrelease.engine.protocol.base import Recode
    from privrelease.relational.recoding import Recoding

__all__ = ["recode"]

_BLOCK_ROWS = 122_880
#: Rows that one message names.
_NAMED_ROWS = 6
#: Values that are looked up by their place in a list; more are joined.
_LISTED = 4_096
#: Representatives for which labels are made at once.
_MOST_DRAWN = 1_000_000


def recode(
    connection: Connection, staged: StagedTable, recodes: Sequence[Recode], cache: dict[int, Coding]
) -> tuple[StagedTable, dict[int, Coding]]:
    """Return the table with the values of some columns replaced, and the codings of ``cache`` that still hold."""
    places = {staged.ordinal(one.column.name): one for one in recodes}
    columns, coded, few = list(staged.columns), list(staged.coded), list(staged.few)
    listed = _listed(connection, staged, [at for at in places if staged.few[at]])
    found = {at: _made(connection, staged, at, one, listed.get(at)) for at, one in places.items()}
    _all_covered(connection, staged, {at: one for at, one in found.items() if one.lacking})
    cells: dict[int, exp.Expr] = {}
    for at, one in places.items():
        distinct = found[at].distinct
        columns[at] = one.column
        few[at] = len(distinct) <= MOST_CODED
        text = storage_type(one.column) == "VARCHAR"
        coded[at] = _enumeration(connection, distinct) if text and few[at] else None
        name = coded[at]
        cells[at] = found[at].held_as(storage_type(one.column) if name is None else name, enumerated=name is not None)
    sides = [one.side for one in found.values() if one.side is not None]
    table = connection.fresh("s")
    named = [sql.aliased(cells.get(at, sql.column(f"c{at}", "s")), f"c{at}") for at in range(len(columns))]
    connection.run(sql.create_table(table, staged_rows(exp.select(*named), staged, sides)))
    for side in sides:
        connection.drop("TABLE", side)
    made = replace(staged, table=table, columns=tuple(columns), coded=tuple(coded), few=tuple(few))
    return made, {at: coding for at, coding in cache.items() if at not in places}


@dataclass(frozen=True, slots=True)
class _Made:
    """The released cells of a column: ``cell``, over the staged rows ``s`` and, where there is one, the ``side`` table in their order.

    ``distinct``: the released values, none missing. ``lacking``: some value has none. ``listed``: the texts that ``cell`` looks up, and their places.
    """

    cell: exp.Expr
    side: str | None
    distinct: pa.Array
    lacking: bool
    listed: tuple[Sequence[str | None], exp.Expr] | None = None

    def held_as(self, type_: str, *, enumerated: bool) -> exp.Expr:
        """Return the cells in a type or enumeration; a list is converted as a whole, not by row."""
        kind = exp.DataType.build(type_, dialect="duckdb", udt=enumerated)
        if self.listed is None:
            return exp.Cast(this=self.cell, to=kind)
        texts, place = self.listed
        several = exp.DataType(this=exp.DataType.Type.ARRAY, expressions=[kind], nested=True)
        return _looked_up(exp.Cast(this=_texts(texts), to=several), place)


def _texts(texts: Sequence[str | None]) -> exp.Expr:
    return exp.Array(expressions=[exp.null() if text is None else sql.text(text) for text in texts])


def _looked_up(texts: exp.Expr, place: exp.Expr) -> exp.Expr:
    return sql.call("list_extract", texts, exp.Add(this=exp.Paren(this=place.copy()), expression=sql.integer(1)))


@dataclass(frozen=True, slots=True)
class _Places:
    """The places of a column's values, or representatives, in a short list, from 0: ``place`` of a cell, and the ``values`` that are there, Arrow, ``at``
    theirs.
    """

    place: exp.Expr
    values: pa.Array
    at: NDArray[np.int64]


def _made(connection: Connection, staged: StagedTable, ordinal: int, one: Recode, listed: _Places | None) -> _Made:
    if listed is not None:
        return _by_place(one.values, listed)
    if staged.few[ordinal]:
        return _by_value(connection, staged, ordinal, one.values)
    if isinstance(one.recoding, Lookup):
        return _by_list(connection, staged, ordinal, one.recoding)
    found = None if one.recoding is None else _by_representative(connection, staged, ordinal, one.recoding, one.values)
    return found or _by_row(connection, staged, ordinal, one.values)


def _by_place(values: Callable[[pa.Array], pa.Array], listed: _Places) -> _Made:
    """Make the released cells of a column whose values have places in a short list: looked up by their place."""
    import pyarrow as pa

    made = _given(values, listed.values)
    texts: list[str | None] = [None] * (int(listed.at.max(initial=-1)) + 1)
    for at, text in zip(listed.at.tolist(), made.cast(pa.string()).to_pylist(), strict=True):
        texts[at] = text
    cell = _looked_up(_texts(texts or [None]), listed.place)
    return _Made(cell, None, made.unique().drop_null(), bool(made.null_count), (texts or [None], listed.place))


def _by_value(connection: Connection, staged: StagedTable, ordinal: int, values: Callable[[pa.Array], pa.Array]) -> _Made:
    """Make the released cells of a column of few values: joined by the value."""
    import pyarrow as pa

    cell, coded = sql.column(f"c{ordinal}", "s"), staged.coded[ordinal]
    shown = cell if coded is None else sql.cast(cell, "VARCHAR")
    there = exp.Not(this=exp.Is(this=cell.copy(), expression=exp.null()))
    few = (
        exp.select(cell.copy())
        .distinct(copy=False)
        .from_(sql.table(staged.table, alias="s"), copy=False)
        .where(there, copy=False)
    )
    block = connection.arrow(exp.select(sql.aliased(shown.copy(), "v")).from_(few.subquery("s"), copy=False))
    of = _one_array(block.column(0))
    made = _given(values, of)
    distinct, lacking = made.unique().drop_null(), bool(made.null_count)
    side = _joined(connection, staged.table, ordinal, shown, pa.table({"v": of, "t": made}))
    return _Made(sql.column(f"c{ordinal}", side), side, distinct, lacking)


def _joined(connection: Connection, table: str, ordinal: int, key: exp.Expr, labels: pa.Table) -> str:
    """Return a table of what ``labels`` (v, t) has for the ``key`` of each row of a table, in the order of its rows."""
    given, side = connection.fresh("given"), connection.fresh("recoded")
    connection.register(given, labels)
    matched = exp.EQ(this=key, expression=sql.column("v", "m"))
    rows = exp.select(sql.aliased(sql.column("t", "m"), f"c{ordinal}")).from_(sql.table(table, alias="s"), copy=False)
    rows = rows.join(sql.table(given, alias="m"), on=matched, join_type="left").order_by(sql.column("rowid", "s"))
    connection.run(sql.create_table(side, rows))
    connection.unregister(given)
    return side


def _by_list(connection: Connection, staged: StagedTable, ordinal: int, declared: Lookup) -> _Made:
    """Make the released cells of a column by a list of labels, which is joined."""
    import pyarrow as pa

    labels = pa.table({"v": pa.array(declared.values, pa.string()), "t": pa.array(declared.labels, pa.string())})
    cell = sql.column(f"c{ordinal}", "s")
    side = _joined(connection, staged.table, ordinal, sql.cast(cell.copy(), "VARCHAR"), labels)
    made = sql.column(f"c{ordinal}", side)
    cells = staged_rows(exp.select(exp.Count(this=cell), exp.Count(this=made.copy())), staged, [side])
    known, covered = connection.row(cells)
    return _Made(made, side, _distinct(connection, side, f"c{ordinal}"), known != covered)


def _by_representative(
    connection: Connection,
    staged: StagedTable,
    ordinal: int,
    recoding: Recoding,
    values: Callable[[pa.Array], pa.Array],
) -> _Made | None:
    """Make the released cells of a column by those of representatives; None where there are too many of these."""
    import pyarrow as pa

    apart, cell = None, sql.column(f"c{ordinal}", "s")
    if isinstance(recoding, Prefix) and recoding.apart:
        apart = connection.fresh("apart")
        connection.register(apart, pa.table({"v": pa.array(sorted(recoding.apart), pa.string())}))
    drawn = connection.fresh("drawn")
    one = sql.aliased(representative(recoding, staged.columns[ordinal], cell, apart), "v")
    rows = exp.select(one).from_(_rows(staged), copy=False)
    # what is asked of a table is asked by a join, after which rows have lost their order
    rows = rows if apart is None else rows.order_by(sql.column("rowid", "s"))
    connection.run(sql.create_table(drawn, rows))
    if apart is not None:
        connection.unregister(apart)
    (many,) = connection.row(exp.select(exp.ApproxDistinct(this=sql.column("v"))).from_(sql.table(drawn), copy=False))
    if many > _MOST_DRAWN:
        connection.drop("TABLE", drawn)
        return None
    known = exp.select(exp.Count(this=cell.copy()), exp.Count(this=sql.column("v", drawn)))
    cells, covered = connection.row(staged_rows(known, staged, [drawn]))
    of = _distinct(connection, drawn, "v")
    if (near := _near_places(sql.column("v", drawn), of)) is not None:
        made, side = _by_place(values, near), drawn
    else:
        side, made = _by_number(connection, drawn, ordinal, of, values)
        connection.drop("TABLE", drawn)
    return replace(made, side=side, lacking=made.lacking or cells != covered)


def _by_number(
    connection: Connection, drawn: str, ordinal: int, of: pa.Array, values: Callable[[pa.Array], pa.Array]
) -> tuple[str, _Made]:
    """Make the released cells of representatives by joining their numbers, or what is released for them where they are many."""
    import pyarrow as pa

    key, cell = sql.column("v", "s"), f"c{ordinal}"
    if len(of) <= _LISTED:
        numbers = np.arange(len(of))
        side = _joined(connection, drawn, ordinal, key, pa.table({"v": of, "t": numbers}))
        return side, _by_place(values, _Places(sql.column(cell, side), of, numbers))
    made = _given(values, of)
    side = _joined(connection, drawn, ordinal, key, pa.table({"v": of, "t": made}))
    return side, _Made(sql.column(cell, side), side, made.unique().drop_null(), bool(made.null_count))


def _near_places(cell: exp.Expr, of: pa.Array) -> _Places | None:
    """Return the places of whole numbers, or days, counted in what divides the distances between them; None where they are far apart."""
    import pyarrow as pa

    if pa.types.is_date(of.type):
        numbers = np.asarray(of.cast(pa.int32()), np.int64)
        cell = sql.cast(exp.Paren(this=exp.Sub(this=cell, expression=sql.cast(sql.text("1970-01-01"), "DATE"))), "BIGINT")
    elif pa.types.is_int64(of.type):
        numbers = np.asarray(of, np.int64)
    else:
        return None
    if not len(numbers):
        return None
    least = int(numbers.min())
    apart = int(np.gcd.reduce(numbers - least)) or 1
    if (int(numbers.max()) - least) // apart >= _LISTED:
        return None
    above = exp.Paren(this=exp.Sub(this=cell, expression=sql.cast(sql.text(str(least)), "BIGINT")))
    return _Places(exp.Paren(this=exp.IntDiv(this=above, expression=sql.integer(apart))), of, (numbers - least) // apart)


def _distinct(connection: Connection, table: str, name: str) -> pa.Array:
    """Return the distinct values of a column of a table, none missing."""
    there = exp.Not(this=exp.Is(this=sql.column(name), expression=exp.null()))
    rows = exp.select(sql.column(name)).distinct(copy=False).from_(sql.table(table), copy=False).where(there, copy=False)
    return _one_array(connection.arrow(rows).column(0))


def _listed(connection: Connection, staged: StagedTable, ordinals: Sequence[int]) -> dict[int, _Places]:
    """Return the places of the values of columns that have few; only of those whose values have places in a short list."""
    import pyarrow as pa

    found = {}
    whole = [at for at in ordinals if staged.coded[at] is None and storage_type(staged.columns[at]) == "BIGINT"]
    for at in ordinals:
        cell, coded = sql.column(f"c{at}", "s"), staged.coded[at]
        known = None if coded is None else _enumerated(connection, coded)
        if known is not None and len(known) <= _LISTED:
            place = sql.cast(sql.call("enum_code", cell), "BIGINT")
            there = np.arange(len(known)) if staged.whole else _there(connection, staged, place)
            found[at] = _Places(place, known.take(pa.array(there)), there)
    for at, (low, high) in zip(whole, _ends(connection, staged, whole), strict=True):
        if low is not None and high - low < _LISTED:
            place = exp.Sub(this=sql.column(f"c{at}", "s"), expression=sql.cast(sql.text(str(low)), "BIGINT"))
            there = _there(connection, staged, place)
            found[at] = _Places(place, pa.array(there + low), there)
    return found


def _there(connection: Connection, staged: StagedTable, place: exp.Expr) -> NDArray[np.int64]:
    """Return the distinct places of cells that are not missing, ascending."""
    distinct = (
        exp.select(sql.aliased(place.copy(), "p"))
        .distinct(copy=False)
        .from_(_rows(staged), copy=False)
        .subquery("d", copy=False)
    )
    known = exp.Not(this=exp.Is(this=sql.column("p"), expression=exp.null()))
    return np.sort(
        np.asarray(
            connection.arrays(exp.select(sql.column("p")).from_(distinct, copy=False).where(known, copy=False))["p"], np.int64
        )
    )


def _rows(staged: StagedTable) -> exp.Table:
    return sql.table(staged.table, alias="s")


def _ends(connection: Connection, staged: StagedTable, ordinals: Sequence[int]) -> list[tuple[int | None, int]]:
    """Return the least and the greatest cell of columns."""
    if not ordinals:
        return []
    ends = [one(this=sql.column(f"c{at}", "s")) for at in ordinals for one in (exp.Min, exp.Max)]
    found = connection.row(exp.select(*ends).from_(_rows(staged), copy=False))
    return list(zip(found[::2], found[1::2], strict=True))


def _enumerated(connection: Connection, enumeration: str) -> pa.Array:
    """Return the values of an enumeration, in the order of their codes."""
    null = exp.Cast(this=exp.null(), to=exp.DataType.build(enumeration, dialect="duckdb", udt=True))
    texts = sql.cast(sql.call("unnest", sql.call("enum_range", null)), "VARCHAR")
    return _one_array(connection.arrow(exp.select(sql.aliased(texts, "v"))).column(0))


def _by_row(connection: Connection, staged: StagedTable, ordinal: int, values: Callable[[pa.Array], pa.Array]) -> _Made:
    """As :func:`_by_value`, of a column of many values, which are asked block by block."""
    import pyarrow as pa

    cell = exp.select(sql.aliased(sql.column(f"c{ordinal}"), "v")).from_(sql.table(staged.table), copy=False)
    made, lacking = [], False
    for block in [block.column(0) for block in connection.side_blocks(cell, _BLOCK_ROWS)]:
        known = np.asarray(block.is_valid())
        found = _given(values, block.drop_null())
        lacking |= bool(found.null_count)
        made.append(found.take(pa.array(np.cumsum(known) - 1, mask=~known)))
    column = pa.chunked_array(made)
    given, side = connection.fresh("given"), connection.fresh("recoded")
    connection.register(given, pa.table({f"c{ordinal}": column}))
    connection.run(sql.create_table(side, exp.select(exp.Star()).from_(sql.table(given), copy=False)))
    connection.unregister(given)
    return _Made(sql.column(f"c{ordinal}", side), side, _one_array(column.unique()).drop_null(), lacking)


def _one_array(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    import pyarrow as pa

    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return column.chunk(0) if isinstance(column, pa.ChunkedArray) else column


def _given(values: Callable[[pa.Array], pa.Array], of: pa.Array) -> pa.Array:
    found = values(of)
    if len(found) != len(of):
        message = "a transform step did not give one value for each"
        raise fault(message)
    return found


def _all_covered(connection: Connection, staged: StagedTable, found: Mapping[int, _Made]) -> None:
    """Raise InputError D256 where a cell has a value and nothing that would be released for it: all columns at once, by rows."""
    findings = []
    for at, made in found.items():
        cell, name, sides = sql.column(f"c{at}", "s"), staged.columns[at].name, [] if made.side is None else [made.side]
        lacking = exp.and_(
            exp.Not(this=exp.Is(this=cell.copy(), expression=exp.null())),
            exp.Is(this=made.cell.copy(), expression=exp.null()),
        )
        rows = staged_rows(exp.select(sql.column("rowid", "s")), staged, sides).where(lacking.copy())
        first = [int(row) + 1 for (row,) in connection.rows(rows.order_by(sql.column("rowid", "s")).limit(_NAMED_ROWS))]
        counted = exp.select(sql.count_all(), exp.Count(this=exp.Distinct(expressions=[cell])))
        many, values = map(int, connection.row(staged_rows(counted, staged, sides).where(lacking)))
        listed = ", ".join(map(str, first)) + (f" and {many - len(first)} more" if many > len(first) else "")
        message = f"column {name}: {pluralise(values, 'value is', 'values are')} not covered by its transform step ({'row' if many == 1 else 'rows'} {listed})"
        hint = (
            "add what is lacking to the hierarchy or list of areas, or say how the cells are to be read (`missing`, `aliases`)"
        )
        findings.append(Finding("D256", message, hint=hint, subject=name))
    raise_all(findings)


def _enumeration(connection: Connection, distinct: pa.Array) -> str:
    """Make an enumeration of texts, in ascending order."""
    import pyarrow as pa

    given, name = connection.fresh("values"), connection.fresh("e")
    connection.register(given, pa.table({"v": distinct}))
    connection.run(
        sql.create_enum(
            name, exp.select(sql.column("v")).from_(sql.table(given), copy=False).order_by(sql.column("v"), copy=False)
        )
    )
    connection.unregister(given)
    return name
