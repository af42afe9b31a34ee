"""Codes of columns and keys packed from them, as expressions of the database: rows stay in it.

The codes of a column ascend with its values; those of several columns are packed into as few 64-bit words as hold them, the first column
highest, so that words compare as tuples do. A column is in one word only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.storage_types import storage_type
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.duckdb.reading.staging import StagedTable

__all__ = ["Coding", "Field", "coding_of", "laid_out", "packed", "staged_rows"]

_WORD_BITS = 64
#: Whole numbers within so many are coded by their distance from the least.
_WIDEST_SPAN = 1 << 20


@dataclass(frozen=True, eq=False, slots=True)
class Coding:
    """Codes of a column of a staged table.

    ``code``: an expression over the table (alias ``s``) or over ``side``, a table of one row for each of its rows; 0..size-1 ascending with
    the value, NULL where it is missing. ``values``: the v values in ascending order where they are few, else None; ``places``: (v,) the code
    of each, None where it is its index.
    """

    code: exp.Expr
    size: int
    side: str | None = None
    values: pa.Array | None = None
    places: NDArray[np.int64] | None = None

    def dense(self, codes: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Return codes of all rows' tuples, 0 for missing and else the code + 1, without the gaps of codes that no value has."""
        if self.places is not None or (self.values is None and self.side is None):
            known = np.unique(codes)
            known = known[known > 0]
            return np.where(codes > 0, np.searchsorted(known, codes) + 1, 0).astype(np.int32)
        return codes.astype(np.int32)


def coding_of(connection: Connection, staged: StagedTable, ordinal: int) -> Coding:
    """Code a column: by its enumeration, by distance, by an enumeration of its few values' texts, or by rank."""
    column = sql.column(f"c{ordinal}", "s")
    if (coded := staged.coded[ordinal]) is not None:
        null = exp.Cast(this=exp.null(), to=exp.DataType.build(coded, dialect="duckdb", udt=True))
        texts = sql.cast(sql.call("unnest", sql.call("enum_range", null)), "VARCHAR")
        values = connection.arrow(exp.select(sql.aliased(texts, "v"))).column(0).combine_chunks()
        return Coding(_code_in_enumeration(column), len(values), values=_one(values))
    stored = storage_type(staged.columns[ordinal])
    if stored in {"BIGINT", "BOOLEAN"}:
        number = column if stored == "BIGINT" else sql.cast(column, "BIGINT")
        low, high = connection.row(
            exp.select(exp.Min(this=number.copy()), exp.Max(this=number.copy())).from_(_rows(staged), copy=False)
        )
        if low is None or high - low < _WIDEST_SPAN:
            least = sql.cast(sql.text(str(low or 0)), "BIGINT")
            code = sql.cast(exp.Paren(this=exp.Sub(this=number, expression=least)), "UBIGINT")
            size = 0 if low is None else high - low + 1
            if not staged.few[ordinal]:
                return Coding(code, size)
            values = _distinct(connection, staged, column)
            places = np.asarray(values.cast("int64"), np.int64) - (low or 0)
            return Coding(code, size, values=values, places=places)
    value = exp.Add(this=column, expression=sql.integer(0)) if staged.floating(column.name) else column
    if not staged.few[ordinal]:
        return _by_rank(connection, staged, value)
    values = _distinct(connection, staged, value)  # -0.0 and 0.0 are one value
    distinct = (
        exp.select(sql.aliased(value.copy(), "v"))
        .distinct(copy=False)
        .from_(_rows(staged), copy=False)
        .where(_present(value), copy=False)
    )
    type_ = connection.fresh("e")
    text = sql.cast(sql.column("v"), "VARCHAR")
    connection.run(
        sql.create_enum(type_, exp.select(text).from_(distinct.subquery("d"), copy=False).order_by(sql.column("v"), copy=False))
    )
    return Coding(_code_in_enumeration(sql.cast_enum(sql.cast(value.copy(), "VARCHAR"), type_)), len(values), values=values)


def _code_in_enumeration(value: exp.Expr) -> exp.Expr:
    return sql.cast(sql.call("enum_code", value), "UBIGINT")


def _by_rank(connection: Connection, staged: StagedTable, value: exp.Expr) -> Coding:
    """Code a column of many values: ranked by the database, which spills, and put back into the order of the rows."""
    rank = exp.Window(this=sql.call("dense_rank"), order=exp.Order(expressions=[exp.Ordered(this=value, nulls_first=False)]))
    code = sql.when((_present(value), exp.Sub(this=rank, expression=sql.integer(1))))
    ranked = exp.select(sql.aliased(sql.column("rowid", "s"), "r"), sql.aliased(sql.cast(code, "UINTEGER"), "x"))
    side = connection.fresh("ranks")
    rows = exp.select(sql.column("x")).from_(ranked.from_(_rows(staged)).subquery("ranked"), copy=False)
    connection.run(sql.create_table(side, rows.order_by(sql.column("r"))))
    (most,) = connection.row(exp.select(exp.Max(this=sql.column("x"))).from_(sql.table(side), copy=False))
    return Coding(sql.cast(sql.column("x", side), "UBIGINT"), 0 if most is None else int(most) + 1, side)


def _distinct(connection: Connection, staged: StagedTable, value: exp.Expr) -> pa.Array:
    rows = (
        exp.select(sql.aliased(value.copy(), "v"))
        .distinct(copy=False)
        .from_(_rows(staged), copy=False)
        .where(_present(value), copy=False)
    )
    return _one(connection.arrow(rows.order_by(sql.column("v"))).column(0).combine_chunks())


def _one(column: Any) -> pa.Array:  # noqa: ANN401 - Arrow has no types
    import pyarrow as pa

    return column if isinstance(column, pa.Array) else column.chunk(0) if column.num_chunks else pa.array([], column.type)


def _present(value: exp.Expr) -> exp.Expr:
    return exp.Not(this=exp.Is(this=value.copy(), expression=exp.null()))


def _rows(staged: StagedTable) -> exp.Table:
    return sql.table(staged.table, alias="s")


def staged_rows(select: exp.Select, staged: StagedTable, sides: Iterable[str]) -> exp.Select:
    """Add FROM: the rows of a staged table as ``s``, each with its row of the tables of ``sides``, by their own names."""
    select = select.from_(_rows(staged))
    for side in dict.fromkeys(sides):
        select = sql.positional(select, sql.table(side))
    return select


@dataclass(frozen=True, slots=True)
class Field:
    """The bits of one column in the words of a key."""

    word: int
    shift: int
    bits: int

    def of(self, words: Sequence[NDArray[np.uint64]]) -> NDArray[np.uint64]:
        """Return the column's codes of keys: ``words`` are their words, each (n,)."""
        return (words[self.word] >> np.uint64(self.shift)) & np.uint64((1 << self.bits) - 1)


def laid_out(sizes: Sequence[int], first: int = 0) -> list[Field]:
    """Place columns of codes 0..size in words from number ``first`` on, the first column highest.

    >>> laid_out([3, 255, 2**60])
    [Field(word=0, shift=8, bits=2), Field(word=0, shift=0, bits=8), Field(word=1, shift=0, bits=61)]
    """
    words: list[list[int]] = []
    for size in sizes:
        bits = max(1, size.bit_length())
        if not words or sum(words[-1]) + bits > _WORD_BITS:
            words.append([])
        words[-1].append(bits)
    return [
        Field(first + word, sum(bits[place + 1 :]), one) for word, bits in enumerate(words) for place, one in enumerate(bits)
    ]


def packed(codes: Sequence[tuple[exp.Expr, Field]]) -> exp.Expr:
    """Return one word from codes (UBIGINT, never NULL) at their places; 0 where there are none."""
    word: exp.Expr | None = None
    for code, field in codes:
        at = exp.Paren(this=code)
        shifted = exp.Paren(this=exp.BitwiseLeftShift(this=at, expression=sql.integer(field.shift))) if field.shift else at
        word = shifted if word is None else exp.BitwiseOr(this=word, expression=shifted)
    return sql.cast(sql.integer(0), "UBIGINT") if word is None else word
