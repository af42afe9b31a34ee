"""In which DuckDB type a column is stored, from its declaration alone, and what of a number it holds exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.relational.schema import ColumnType

if TYPE_CHECKING:
    from decimal import Decimal

    from privrelease.relational.schema import Column

__all__ = ["EXACT_IN_DOUBLE", "digits_of", "grid_scale", "multiple_of_grid", "storage_type"]

Expr = exp.Expr

#: Every number of at most so many significant digits is told from every other in 64 bits.
EXACT_IN_DOUBLE: Final = 15
_GRID_DIGITS = 18


def storage_type(column: Column) -> str:
    """Return the DuckDB type in which a column is stored, from its declaration alone."""
    if column.type is ColumnType.NUMBER and column.grid is not None:
        scale = grid_scale(column.grid)
        return f"DECIMAL({_GRID_DIGITS if scale <= _GRID_DIGITS // 2 else 38}, {scale})"
    return {
        ColumnType.STRING: "VARCHAR",
        ColumnType.CATEGORY: "VARCHAR",
        ColumnType.INTEGER: "BIGINT",
        ColumnType.NUMBER: "DOUBLE",
        ColumnType.DATE: "DATE",
        ColumnType.DATETIME: "TIMESTAMP",
        ColumnType.BOOLEAN: "BOOLEAN",
    }[column.type]


def grid_scale(grid: Decimal) -> int:
    """Return the number of decimals a multiple of the grid may need.

    >>> from decimal import Decimal
    >>> [grid_scale(Decimal(text)) for text in ("0.10", "5", "1e2", "0.25")]
    [1, 0, 0, 2]
    """
    exponent = grid.normalize().as_tuple().exponent
    assert isinstance(exponent, int)
    return max(0, -exponent)


def multiple_of_grid(decimal: Expr, column: Column) -> Expr:
    """Return whether a decimal is a multiple of the column's grid."""
    assert column.grid is not None
    step = sql.cast(sql.text(format(column.grid.normalize(), "f")), storage_type(column))
    return exp.EQ(this=exp.Mod(this=decimal.copy(), expression=step), expression=sql.integer(0))


def digits_of(plain: Expr) -> Expr:
    """The number of significant digits of a number's text."""
    mantissa = sql.call("regexp_replace", plain.copy(), sql.text("[eE].*$"), sql.text(""))
    only = sql.call("regexp_replace", mantissa, sql.text("[^0-9]"), sql.text(""), sql.text("g"))
    return sql.call("length", sql.call("trim", only, sql.text("0")))
