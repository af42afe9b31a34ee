"""Stored values outside the domain that a column declares.

Bounds are exact: on a column of whole numbers or on a grid, a bound that lies between two of its values is moved to the nearest value
inside, never rounded across.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, InvalidOperation
from typing import TYPE_CHECKING

from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.errors import refusal
from privrelease.engine.duckdb.storage_types import grid_scale, storage_type
from privrelease.relational.schema import ColumnType

if TYPE_CHECKING:
    from typing import Literal

    from privrelease.relational.schema import Column

__all__ = ["outside_domain"]

_EXACT = Context(prec=60)


def outside_domain(column: Column, name: str, outcome: Literal["error", "drop"]) -> exp.Expr | None:
    """Return the condition that a stored value is outside the column's domain; None where the domain has another outcome, or is none.

    Raises InputError D213 where a bound or a value of the domain is not of the column's type.

    >>> from privrelease.relational.schema import Column, Domain, Role
    >>> age = Column("age", ColumnType.INTEGER, Role.QUASI, Domain(low="17.5"))
    >>> print(sql.render(outside_domain(age, "c0", "error")))
    CAST("c0" AS DECIMAL(38, 0)) < CAST('18' AS DECIMAL(38, 0))
    """
    domain = column.domain
    if domain is None or domain.outside != outcome:
        return None
    kept = _compared_as(column)
    value = sql.cast(sql.column(name), kept)
    tests: list[exp.Expr] = []
    if domain.values is not None:
        inside = [sql.cast(sql.text(text), kept) for one in domain.values if (text := _value(column, one)) is not None]
        tests.append(
            exp.Not(this=exp.In(this=value, expressions=inside))
            if inside
            else exp.Not(this=exp.Is(this=value, expression=exp.null()))
        )
    if domain.low is not None:
        tests.append(exp.LT(this=value.copy(), expression=sql.cast(sql.text(_bound(column, domain.low, ROUND_CEILING)), kept)))
    if domain.high is not None:
        tests.append(exp.GT(this=value.copy(), expression=sql.cast(sql.text(_bound(column, domain.high, ROUND_FLOOR)), kept)))
    return exp.or_(*tests) if tests else None


def _scale(column: Column) -> int | None:
    """Decimals of a column whose values are exact decimals."""
    if column.type is ColumnType.INTEGER:
        return 0
    return grid_scale(column.grid) if column.type is ColumnType.NUMBER and column.grid is not None else None


def _compared_as(column: Column) -> str:
    scale = _scale(column)
    return storage_type(column) if scale is None else f"DECIMAL(38, {scale})"


def _bound(column: Column, text: str, rounding: str) -> str:
    scale = _scale(column)
    number = _number(column, text)
    if scale is None or number is None:
        return text
    return format(number.quantize(Decimal(1).scaleb(-scale), rounding=rounding, context=_EXACT), "f")


def _value(column: Column, text: str) -> str | None:
    """The text of a value of the domain; None where no cell of the column can equal it."""
    number = _number(column, text)
    if number is None or _scale(column) is None:
        return text
    nearest = _bound(column, text, ROUND_FLOOR)
    return nearest if Decimal(nearest) == number else None


def _number(column: Column, text: str) -> Decimal | None:
    if column.type not in (ColumnType.INTEGER, ColumnType.NUMBER):
        return None
    try:
        number = Decimal(text)
        if number.is_finite() and abs(number) < Decimal(10) ** 20:
            return number
    except InvalidOperation:
        pass
    message = f"the domain of the column {column.name} holds what is not a number of at most 20 digits"
    raise refusal(message, "D213", hint="write its bounds and values as plain numbers")
