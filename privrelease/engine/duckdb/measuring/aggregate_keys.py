"""Keys of grouped statistics: the cell of a row as an expression, and the place of a cell in the answer."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import ceil, floor
from typing import TYPE_CHECKING, Final

import numpy as np
from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.relational.aggregates import BinKey, ColumnKey
from privrelease.relational.schema import ColumnType

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from privrelease.engine.duckdb.reading.staging import StagedTable

__all__ = ["WIDE", "bigint", "key_of", "places_of", "shown_key", "steps_of"]

_FAR: Final = 1 << 62
#: Integers of 64 bits lie below.
WIDE: Final = 1 << 63
_MOMENTS: Final = frozenset({ColumnType.DATE, ColumnType.DATETIME})


def key_of(key: ColumnKey | BinKey, table: StagedTable) -> exp.Expr:
    """Return the expression of a row's key: its value, or the number of its bin."""
    cell = sql.column(f"c{table.ordinal(key.column)}")
    if isinstance(key, BinKey):
        return _bin(key, table)
    if key.other is None:
        return cell
    # one key for the rest before anything is grouped: a person of several such keys is in one cell, once
    text = sql.cast(cell, "VARCHAR")
    declared = exp.In(this=text, expressions=[sql.text(value) for value in key.values or ()])
    missing = exp.Is(this=cell.copy(), expression=exp.null())
    return sql.when((missing, exp.null()), (declared, text.copy()), otherwise=sql.text(key.other))


def shown_key(key: ColumnKey | BinKey, name: str) -> exp.Expr:
    """Return a grouped key as it is read back: a text, or the number of a bin."""
    return sql.cast(sql.column(name), "VARCHAR") if isinstance(key, ColumnKey) else sql.column(name)


def _bin(key: BinKey, table: StagedTable) -> exp.Expr:
    """The number of the bin, from 0; NULL where the cell is missing. x >= edge exactly where its step >= the edge's, rounded up."""
    starts = [max(-_FAR, min(_FAR, ceil(edge / key.grid))) for edge in key.edges]
    low, high = starts[0], starts[-1]
    if key.outside:
        return _bin_or_outside(key, table, starts)
    steps = steps_of(key.column, table, low, high, key.grid)
    widths = {right - left for left, right in pairwise(starts)}
    last = len(starts) - 2
    if len(widths) == 1 and (width := widths.pop()) > 0:
        above = exp.Sub(this=steps, expression=bigint(low))
        number = exp.IntDiv(this=exp.paren(above), expression=bigint(width))
        there = exp.Not(this=exp.Is(this=steps.copy(), expression=exp.null()))
        return sql.when((there, sql.call("least", number, sql.integer(last))))
    branches = [(exp.LT(this=steps.copy(), expression=bigint(start)), sql.integer(i)) for i, start in enumerate(starts[1:-1])]
    missing = exp.Is(this=steps.copy(), expression=exp.null())
    return sql.when((missing, exp.null()), *branches, otherwise=sql.integer(last))


def _bin_or_outside(key: BinKey, table: StagedTable, starts: list[int]) -> exp.Expr:
    """The same with a bin 0 below the first edge, and one above the last."""
    low, last = starts[0], len(starts) - 2
    over = max(-_FAR, min(_FAR, floor(key.edges[-1] / key.grid) + 1)) if key.closed else starts[-1]
    steps = steps_of(key.column, table, low - 1, over, key.grid)
    missing = (exp.Is(this=steps.copy(), expression=exp.null()), exp.null())
    below = (exp.LT(this=steps.copy(), expression=bigint(low)), sql.integer(0))
    above = (exp.GTE(this=steps.copy(), expression=bigint(over)), sql.integer(last + 2))
    widths = {right - left for left, right in pairwise(starts)}
    if len(widths) == 1 and (width := widths.pop()) > 0:
        distance = exp.Sub(this=steps.copy(), expression=bigint(low))
        number = exp.IntDiv(this=exp.paren(distance), expression=bigint(width))
        inside = exp.Add(this=sql.call("least", number, sql.integer(last)), expression=sql.integer(1))
        return sql.when(missing, below, above, otherwise=inside)
    inner = [(exp.LT(this=steps.copy(), expression=bigint(s)), sql.integer(i)) for i, s in enumerate(starts[1:-1], 1)]
    return sql.when(missing, below, above, *inner, otherwise=sql.integer(last + 1))


def bigint(value: int) -> exp.Expr:
    """Return an integer of 64 bits as a literal."""
    return sql.cast(sql.text(str(value)), "BIGINT")


def steps_of(column: str, table: StagedTable, low: int, high: int, grid: Fraction) -> exp.Expr:
    """The cell in whole steps of the grid, rounded to the nearest, clamped to [low, high]; NULL where missing or not finite.

    Within 2^40 steps the double quotient errs by less than 2^-10 of a step, so that a value on the grid gets its own step.
    """
    place = table.ordinal(column)
    cell = sql.column(f"c{place}")
    declared = table.columns[place]
    if declared.type in _MOMENTS:
        cell, grid = _since_1970(cell, declared.type), Fraction(1)
    if declared.type in {ColumnType.INTEGER, *_MOMENTS} and grid == 1:
        return sql.when((_there(cell), _clamped(cell.copy(), bigint(low), bigint(high))))
    double = sql.cast(cell.copy(), "DOUBLE")
    # a column with a grid is stored as a decimal, which is always finite
    there = _there(cell) if declared.grid is not None else sql.call("isfinite", double.copy())
    step = exp.Div(
        this=sql.cast(sql.text(str(grid.numerator)), "DOUBLE"),
        expression=sql.cast(sql.text(str(grid.denominator)), "DOUBLE"),
    )
    quotient = exp.Div(this=double, expression=exp.paren(step))
    ends = (sql.cast(sql.text(str(low)), "DOUBLE"), sql.cast(sql.text(str(high)), "DOUBLE"))
    return sql.when((there, sql.cast(sql.call("round", _clamped(quotient, *ends)), "BIGINT")))


def _since_1970(cell: exp.Expr, kind: ColumnType) -> exp.Expr:
    """Whole days of a date, whole seconds of a date with a time, from the first of January 1970 on."""
    unit = "day" if kind is ColumnType.DATE else "second"
    start = sql.cast(sql.text("1970-01-01"), "DATE" if kind is ColumnType.DATE else "TIMESTAMP")
    return sql.call("date_diff", sql.text(unit), start, cell)


def _there(cell: exp.Expr) -> exp.Expr:
    return exp.Not(this=exp.Is(this=cell.copy(), expression=exp.null()))


def _clamped(value: exp.Expr, low: exp.Expr, high: exp.Expr) -> exp.Expr:
    """The value between the bounds. Only for a value that is there: DuckDB's ``least`` would skip NULL and give the bound."""
    return sql.call("greatest", sql.call("least", value, high), low)


def _published(key: ColumnKey) -> tuple[str, ...]:
    return (*(key.values or ()), *(() if key.other is None else (key.other,)))


def places_of(key: ColumnKey | BinKey, column: pa.ChunkedArray) -> NDArray[np.int64]:
    """The position of each row's key among the key's cells; -1 where it is missing or not declared, and has no cell."""
    missing = key.size - 1 if key.missing else -1
    if isinstance(key, BinKey):
        return np.asarray(column.fill_null(missing), dtype=np.int64)
    import pyarrow as pa

    coded = column.combine_chunks().dictionary_encode()
    coded = coded.chunk(0) if isinstance(coded, pa.ChunkedArray) else coded
    declared = {text: i for i, text in enumerate(_published(key))}
    texts, stray = coded.dictionary.to_pylist(), missing if key.strays else -1
    places = np.array([*(declared.get(text, stray) for text in texts), missing], np.int64)
    found: NDArray[np.int64] = places[np.asarray(coded.indices.fill_null(len(texts)))]
    return found
