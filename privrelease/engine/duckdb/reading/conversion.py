"""From a cell as it is in the source to the declared type: what counts as missing, what fits, and what to say where it does not.

The storage type follows the declaration alone. A conversion yields NULL for a cell that does not fit; staging counts those cells and
refuses the source if there is one, so that no misfit becomes a missing value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.reading.converted import Conversion, Fault, in_calendar, no_dates, off_grid, too_long, too_wide
from privrelease.engine.duckdb.reading.text_cells import from_text
from privrelease.engine.duckdb.storage_types import EXACT_IN_DOUBLE, digits_of, multiple_of_grid, storage_type
from privrelease.relational.schema import ColumnType

if TYPE_CHECKING:
    from privrelease.relational.schema import Column

__all__ = ["conversion_of"]

Expr = exp.Expr

_TEXT = ("VARCHAR",)
_INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
_WIDE_INTEGERS = ("UBIGINT", "HUGEINT", "UHUGEINT")
_FLOATS = ("FLOAT", "DOUBLE")
_STAMPS = ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS")
_LARGEST_EXACT = 2**53


def conversion_of(
    column: Column, cell: Expr, physical: str, present: str, *, empty_is_null: bool, any_digits: bool
) -> Conversion | str:
    """Return the conversion of a column, or what is wrong with the physical type (a hint) where none is lossless.

    ``cell``: the source's cell, of DuckDB type ``physical``. ``present``: the name under which ``value`` finds the present cell.
    ``any_digits``: a number may have 17 digits (a file that we wrote from doubles).
    """
    if physical.startswith("ENUM"):
        cell, physical = sql.cast(cell, "VARCHAR"), "VARCHAR"
    bare = physical.partition("(")[0]
    form = column.format
    marked = bool(set(form.missing) - {""}) or form.suppression_mark is not None or bool(form.aliases)
    integral = bare in _INTEGERS or bare in _WIDE_INTEGERS
    if physical == "UUID" or (integral and (marked or column.type in (ColumnType.STRING, ColumnType.CATEGORY))):
        cell, physical, bare = sql.cast(cell, "VARCHAR"), "VARCHAR", "VARCHAR"
    if bare == '"NULL"':  # a column without a type: every cell is missing
        cell, bare = sql.cast(exp.null(), "VARCHAR"), "VARCHAR"
    if bare in _TEXT:
        return from_text(column, cell, present, empty_is_null=empty_is_null, any_digits=any_digits)
    fit = _from_physical(column, bare, sql.column(present))
    if isinstance(fit, str):
        return fit
    value, faults = fit
    mark: Expr | None = None
    if marked:
        if bare not in (*_FLOATS, "DECIMAL") or form.aliases:
            return "marks of missing values and aliases need a text or an integer column: leave them out"
        double = sql.cast(cell, "DOUBLE")
        marks = [number for text in form.missing if (number := _number(text)) is not None]
        if form.suppression_mark is not None and (number := _number(form.suppression_mark)) is not None:
            mark = exp.EQ(this=double, expression=number)
            marks.append(number)
        cell = sql.when((sql.one_in_place(double, marks), exp.null()), otherwise=cell) if marks else cell
    no_number = None
    if bare in _FLOATS:
        no_number = exp.not_(sql.call("isfinite", cell.copy()))
        cell = sql.when((sql.call("isfinite", cell.copy()), cell))
    return Conversion(cell, value, faults, mark, text=False, no_number=no_number)


def _number(text: str) -> Expr | None:
    try:
        return sql.cast(exp.Literal.string(repr(float(text))), "DOUBLE")
    except ValueError:
        return None


def _from_physical(column: Column, bare: str, value: Expr) -> tuple[Expr, tuple[Fault, ...]] | str:
    found: tuple[Expr, tuple[Fault, ...]] | None = None
    match column.type:
        case ColumnType.INTEGER if bare in _INTEGERS:
            found = sql.cast(value, "BIGINT"), ()
        case ColumnType.INTEGER if bare in _WIDE_INTEGERS:
            found = sql.try_cast(value, "BIGINT"), (too_wide(exp.true()),)
        case ColumnType.NUMBER if bare in (*_FLOATS, "DECIMAL", *_INTEGERS, *_WIDE_INTEGERS):
            found = _number_from(column, value, bare)
        case ColumnType.DATE if bare == "DATE":
            found = sql.when((in_calendar(value), value)), no_dates("D206", "date", value)
        case ColumnType.DATETIME if bare in _STAMPS:
            short = sql.cast(value, "TIMESTAMP")
            same = exp.and_(in_calendar(short), exp.EQ(this=sql.cast(short.copy(), bare), expression=value))
            found = sql.when((same, short)), no_dates("D207", "date and time of microseconds", value)
        case ColumnType.BOOLEAN if bare == "BOOLEAN":
            found = value, ()
    return _other_type(column.type, bare) if found is None else found


def _number_from(column: Column, value: Expr, bare: str) -> tuple[Expr, tuple[Fault, ...]]:
    if column.grid is not None:
        return _on_grid(column, value, bare)
    if bare in _FLOATS:
        return sql.cast(value, "DOUBLE"), ()
    exact: Expr
    if bare == "DECIMAL":
        exact = exp.LTE(this=digits_of(sql.cast(value, "VARCHAR")), expression=sql.integer(EXACT_IN_DOUBLE))
    else:
        exact = exp.Between(this=value, low=sql.integer(-_LARGEST_EXACT), high=sql.integer(_LARGEST_EXACT))
    return sql.when((exact, sql.cast(value, "DOUBLE"))), (too_long(exp.true()),)


def _other_type(type_: ColumnType, bare: str) -> str:
    natural = {
        "DATE": "date",
        "BOOLEAN": "boolean",
        "DOUBLE": "number",
        "FLOAT": "number",
        "DECIMAL": "number",
        **dict.fromkeys((*_INTEGERS, *_WIDE_INTEGERS), "integer"),
        **dict.fromkeys(_STAMPS, "datetime"),
    }.get(bare)
    if bare == "TIMESTAMP WITH TIME ZONE":
        return "convert the column to UTC without a zone in the source, and declare `type: datetime`"
    if natural is None:
        return "write it as text, number, date or boolean, or drop it with `unlisted_columns: drop`"
    return f"declare `type: {natural}`, or convert the column to {type_.value} in the source"


def _on_grid(column: Column, value: Expr, bare: str) -> tuple[Expr, tuple[Fault, ...]]:
    decimal = sql.try_cast(value, storage_type(column))
    exact = bare if bare in _FLOATS else "DECIMAL(38, 18)"
    same = exp.EQ(this=sql.cast(decimal, exact), expression=sql.try_cast(value, exact))
    multiple = multiple_of_grid(decimal, column)
    return sql.when((exp.and_(same, multiple), decimal)), (
        too_long(exp.Is(this=decimal.copy(), expression=exp.null())),
        off_grid(column, exp.true()),
    )
