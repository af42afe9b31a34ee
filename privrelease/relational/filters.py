"""Filters of a policy: a text is parsed to a small typed tree, of which nothing but comparisons of declared columns can be part.

A filter is a predicate of one row: it can look at no other row, table, function or setting, so that it changes no sensitivity. The engine
never sees the text; it builds its own query from the tree. As in SQL a comparison with a missing value is neither true nor false, and a row
is kept where the whole is true.
"""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Final, Literal, NoReturn

from privrelease.relational.schema import ColumnType
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlglot import exp

__all__ = [
    "Among",
    "Both",
    "Comparison",
    "Either",
    "Filter",
    "FilterFault",
    "Missing",
    "Negated",
    "Value",
    "columns_of",
    "parse_filter",
]

Value = str | int | Decimal | bool | date | datetime
Operator = Literal["=", "<>", "<", "<=", ">", ">="]

LONGEST: Final = 4000
DEEPEST: Final = 64
_ALLOWED: Final = (
    "allowed: comparisons, AND, OR, NOT, IN, BETWEEN and IS NULL over declared columns and literals; "
    'a column whose name is not one word stands in double quotes ("Length of stay" > 3)'
)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Column against literal."""

    column: str
    operator: Operator
    value: Value


@dataclass(frozen=True, slots=True)
class Among:
    """The column holds one of the values."""

    column: str
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Missing:
    """The column is missing."""

    column: str


@dataclass(frozen=True, slots=True)
class Negated:
    """Not: unknown stays unknown."""

    of: Filter


@dataclass(frozen=True, slots=True)
class Both:
    """And."""

    left: Filter
    right: Filter


@dataclass(frozen=True, slots=True)
class Either:
    """Or."""

    left: Filter
    right: Filter


Filter = Comparison | Among | Missing | Negated | Both | Either


class FilterFault(ValueError):  # noqa: N818  a fault of a text, as PathFault is of a path
    """Why a text is no filter. ``hint``: what to write instead."""

    def __init__(self, message: str, hint: str = _ALLOWED) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def parse_filter(text: str, columns: Mapping[str, ColumnType]) -> Filter:
    """Return the filter that ``text`` is. Raises FilterFault.

    >>> parse_filter("age >= 18 AND sex IN ('F', 'M')", {"age": ColumnType.INTEGER, "sex": ColumnType.CATEGORY})
    Both(left=Comparison(column='age', operator='>=', value=18), right=Among(column='sex', values=('F', 'M')))
    >>> parse_filter("age > (SELECT 1)", {"age": ColumnType.INTEGER})
    Traceback (most recent call last):
    privrelease.relational.filters.FilterFault: a filter compares columns with literals, and Subquery is not a literal
    """
    from sqlglot import exp, parse
    from sqlglot.errors import SqlglotError

    if len(text) > LONGEST:
        _refuse(f"a filter has at most {LONGEST} characters")
    try:
        found = parse(f"SELECT 1 WHERE {text}", dialect="duckdb")
    except (SqlglotError, RecursionError):
        _refuse("the filter cannot be read")
    select = found[0] if len(found) == 1 else None
    if not isinstance(select, exp.Select):
        _refuse("the filter is more than one condition")
    given = {name for name, value in select.args.items() if value}
    where = select.args.get("where")
    if given - {"expressions", "where", "kind"} or where is None or len(select.expressions) != 1:
        _refuse("the filter holds more than a condition")
    if not isinstance(select.expressions[0], exp.Literal):
        _refuse("the filter holds more than a condition")
    return _Parser(columns).read(where.this, 0)


def columns_of(of: Filter) -> frozenset[str]:
    """Return the columns that a filter looks at.

    >>> columns_of(Both(Missing("a"), Comparison("b", "=", 1))) == {"a", "b"}
    True
    """
    match of:
        case Both(left, right) | Either(left, right):
            return columns_of(left) | columns_of(right)
        case Negated(inner):
            return columns_of(inner)
        case _:
            return frozenset({of.column})


def _refuse(message: str, hint: str = _ALLOWED) -> NoReturn:
    raise FilterFault(message, hint)


class _Parser:
    def __init__(self, columns: Mapping[str, ColumnType]) -> None:
        self._columns = columns

    def read(self, node: exp.Expr, depth: int) -> Filter:
        from sqlglot import exp

        if depth > DEEPEST:
            _refuse("the filter is nested too deeply")
        kind = type(node)
        if kind is exp.Paren:
            return self.read(node.this, depth + 1)
        if kind is exp.Not:
            return Negated(self.read(node.this, depth + 1))
        if kind in {exp.And, exp.Or}:
            left, right = self.read(node.this, depth + 1), self.read(node.expression, depth + 1)
            return Both(left, right) if kind is exp.And else Either(left, right)
        operators: dict[type[exp.Expr], Operator] = {
            exp.EQ: "=",
            exp.NEQ: "<>",
            exp.LT: "<",
            exp.LTE: "<=",
            exp.GT: ">",
            exp.GTE: ">=",
        }
        if kind in operators:
            return self._comparison(node, operators[kind])
        others = {exp.Is: self._missing, exp.In: self._among, exp.Between: self._between}
        if kind in others:
            return others[kind](node)
        _refuse(f"{kind.__name__} is not allowed in a filter")

    def _comparison(self, node: exp.Expr, operator: Operator) -> Filter:
        from sqlglot import exp

        left, right = node.this, node.expression
        if isinstance(right, exp.Column) and not isinstance(left, exp.Column):
            turned: dict[Operator, Operator] = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
            left, right, operator = right, left, turned.get(operator, operator)
        column = self._column(left)
        return Comparison(column, operator, self._value(column, right))

    def _missing(self, node: exp.Expr) -> Filter:
        from sqlglot import exp

        if not isinstance(node.expression, exp.Null):
            _refuse("IS is for NULL only", "write = or <>")
        return Missing(self._column(node.this))

    def _among(self, node: exp.Expr) -> Filter:
        if {name for name, value in node.args.items() if value} - {"this", "expressions"} or not node.expressions:
            _refuse("IN needs a list of literals")
        column = self._column(node.this)
        return Among(column, tuple(self._value(column, item) for item in node.expressions))

    def _between(self, node: exp.Expr) -> Filter:
        if {name for name, value in node.args.items() if value} - {"this", "low", "high"}:
            _refuse("BETWEEN needs two literals")
        column = self._column(node.this)
        low, high = self._value(column, node.args["low"]), self._value(column, node.args["high"])
        return Both(Comparison(column, ">=", low), Comparison(column, "<=", high))

    def _column(self, node: exp.Expr) -> str:
        from sqlglot import exp

        if not isinstance(node, exp.Column) or not isinstance(node.this, exp.Identifier):
            _refuse("a filter compares columns with literals, and something else stands where a column should")
        if {name for name, value in node.args.items() if value} - {"this"}:
            _refuse("a column of a filter has no table before it", "write the column's name alone, in double quotes if need be")
        name = str(node.this.this)
        if name not in self._columns:
            known = ", ".join(list(self._columns)[:12])
            _refuse(
                f"the filter names {name[:40]!r}, which is not a declared column",
                f"declared: {known}; texts are written in single quotes",
            )
        return name

    def _value(self, column: str, node: exp.Expr) -> Value:
        from sqlglot import exp

        kind = self._columns[column]
        sign = ""
        while isinstance(node, exp.Paren):
            node = node.this
        if isinstance(node, exp.Neg):
            node, sign = node.this, "-"
        if isinstance(node, exp.Boolean) and not sign:
            if kind is not ColumnType.BOOLEAN:
                _refuse(f"{column} is of type {kind.value}, not boolean", f"write a {kind.value}")
            return bool(node.this)
        if not isinstance(node, exp.Literal):
            _refuse(f"a filter compares columns with literals, and {type(node).__name__} is not a literal")
        return _typed(column, kind, sign + str(node.this), is_text=bool(node.is_string))


def _typed(column: str, kind: ColumnType, text: str, *, is_text: bool) -> Value:
    wanted = {
        ColumnType.INTEGER: "a whole number",
        ColumnType.NUMBER: "a number",
        ColumnType.DATE: "a day such as '2021-04-03'",
        ColumnType.DATETIME: "a time such as '2021-04-03 10:30:00'",
        ColumnType.BOOLEAN: "true or false",
    }.get(kind, "a text in single quotes")
    numeric = kind in {ColumnType.INTEGER, ColumnType.NUMBER}
    if is_text is not numeric and kind is not ColumnType.BOOLEAN:
        try:
            if kind is ColumnType.NUMBER:
                return _decimal(text)
            if kind is ColumnType.INTEGER:
                return _whole(text)
            if kind is ColumnType.DATE:
                return date.fromisoformat(text)
            if kind is ColumnType.DATETIME:
                return _naive(text)
        except (ValueError, InvalidOperation):
            pass
        else:
            return text
    _refuse(f"{column} is of type {kind.value}: it cannot be compared with this literal", f"write {wanted}")


def _whole(text: str) -> int:
    value = int(text)
    if not -(2**63) <= value < 2**63:
        raise ValueError
    return value


def _decimal(text: str) -> Decimal:
    value = Decimal(text)
    if not value.is_finite() or len(value.as_tuple().digits) > 30 or abs(value.adjusted()) > 18:
        raise ValueError
    return value


def _naive(text: str) -> datetime:
    value = datetime.fromisoformat(text)
    if value.tzinfo is not None:
        raise ValueError
    return value
