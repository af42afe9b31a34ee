"""Filters as conditions of the engine, built node by node from their typed tree."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Protocol

from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.relational.filters import Among, Both, Comparison, Either, Missing, Negated
from privrelease.relational.schema import ColumnType

if TYPE_CHECKING:
    from collections.abc import Collection

    from privrelease.relational.filters import Filter, Value

__all__ = ["NumberedColumns", "condition", "unknown_cells"]


class NumberedColumns(Protocol):
    """Rows whose columns are called ``c0``, ``c1`` and so on: a staged source, or released rows that a query has renamed."""

    def ordinal(self, name: str) -> int:
        """Return the number of a column."""
        ...

    def type_of(self, name: str) -> ColumnType:
        """Return the type of a column."""
        ...


_NODES: dict[str, type[exp.Expr]] = {
    "=": exp.EQ,
    "<>": exp.NEQ,
    "<": exp.LT,
    "<=": exp.LTE,
    ">": exp.GT,
    ">=": exp.GTE,
}


def condition(of: Filter, table: NumberedColumns) -> exp.Expr:
    """Return the filter over the staged columns; a comparison with a missing value is neither true nor false."""
    match of:
        case Both(left, right):
            return exp.paren(exp.and_(condition(left, table), condition(right, table)))
        case Either(left, right):
            return exp.paren(exp.or_(condition(left, table), condition(right, table)))
        case Negated(inner):
            return exp.Not(this=exp.paren(condition(inner, table)))
        case Missing(column):
            return exp.Is(this=sql.column(f"c{table.ordinal(column)}"), expression=exp.null())
        case Among(column, values):
            return exp.In(this=_compared(column, values[0], table), expressions=[_literal(value) for value in values])
        case Comparison(column, operator, value):
            return _NODES[operator](this=_compared(column, value, table), expression=_literal(value))


def unknown_cells(of: Filter, columns: Collection[str]) -> dict[str, exp.Expr]:
    """Return a missing value for each of the columns, of a type that the filter can compare."""
    match of:
        case Both(left, right) | Either(left, right):
            return unknown_cells(left, columns) | unknown_cells(right, columns)
        case Negated(inner):
            return unknown_cells(inner, columns)
        case Missing(column):
            return {column: exp.null()} if column in columns else {}
        case Among(column, values):
            value = values[0]
        case Comparison(column, _, value):
            pass
    # a case that is never taken: missing, and of the literal's type
    return {column: sql.when((exp.false(), _literal(value)), otherwise=exp.null())} if column in columns else {}


def _compared(column: str, value: Value, table: NumberedColumns) -> exp.Expr:
    """The column as it is compared: texts as texts, never as an enumeration that another text would not fit; numbers as doubles."""
    cell, kind = sql.column(f"c{table.ordinal(column)}"), table.type_of(column)
    if isinstance(value, str):
        return sql.cast(cell, "VARCHAR")
    return sql.cast(cell, "DOUBLE") if kind is ColumnType.NUMBER else cell


def _literal(value: Value) -> exp.Expr:
    if isinstance(value, bool):
        return exp.true() if value else exp.false()
    if isinstance(value, int):
        return sql.cast(sql.text(str(value)), "BIGINT")
    if isinstance(value, Decimal):
        return sql.cast(sql.text(str(value)), "DOUBLE")
    if isinstance(value, datetime):
        return sql.cast(sql.text(value.isoformat(sep=" ")), "TIMESTAMP")
    if isinstance(value, date):
        return sql.cast(sql.text(value.isoformat()), "DATE")
    return sql.text(value)
