"""Filters as plain data: what a ledger stores of the parts that were composed in parallel, so that the proof can be made again."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from privrelease.relational.filters import Among, Both, Comparison, Either, Missing, Negated

if TYPE_CHECKING:
    from collections.abc import Callable

    from privrelease.relational.filters import Filter, Value

__all__ = ["filter_record", "read_filter_record"]

_OPERATORS: Final = frozenset({"=", "<>", "<", "<=", ">", ">="})

_READ: Final[dict[str, Callable[[str], Value]]] = {
    "text": str,
    "integer": int,
    "number": Decimal,
    "boolean": lambda text: {"true": True, "false": False}[text],
    "date": date.fromisoformat,
    "datetime": datetime.fromisoformat,
}


def filter_record(of: Filter) -> list[Any]:
    """Return a filter as nested lists of texts.

    >>> filter_record(Negated(Comparison("age", "<", 40)))
    ['not', ['<', 'age', ['integer', '40']]]
    """
    match of:
        case Both(left, right):
            return ["and", filter_record(left), filter_record(right)]
        case Either(left, right):
            return ["or", filter_record(left), filter_record(right)]
        case Negated(inner):
            return ["not", filter_record(inner)]
        case Missing(column):
            return ["missing", column]
        case Among(column, values):
            return ["in", column, *map(_value, values)]
        case Comparison(column, operator, value):
            return [operator, column, _value(value)]


def read_filter_record(record: Any) -> Filter:  # noqa: ANN401 - what came out of JSON
    """Return the filter of a record; raises ValueError where it is not valid.

    >>> read_filter_record(["in", "sex", ["text", "F"]])
    Among(column='sex', values=('F',))
    """
    try:
        return _read(record)
    except (KeyError, TypeError, IndexError, ArithmeticError, RecursionError) as error:
        msg = "not the record of a filter"
        raise ValueError(msg) from error


def _read(record: list[Any]) -> Filter:
    word, *rest = record
    if word in {"and", "or"}:
        left, right = rest
        return (Both if word == "and" else Either)(_read(left), _read(right))
    if word == "not":
        (inner,) = rest
        return Negated(_read(inner))
    if word == "missing":
        (column,) = rest
        return Missing(str(column))
    column, *values = rest
    if word == "in" and values:
        return Among(str(column), tuple(_READ[kind](text) for kind, text in values))
    if word not in _OPERATORS:
        raise KeyError(word)
    ((kind, text),) = values
    return Comparison(str(column), word, _READ[kind](text))


def _value(value: Value) -> list[str]:
    if isinstance(value, bool):
        return ["boolean", "true" if value else "false"]
    if isinstance(value, int):
        return ["integer", str(value)]
    if isinstance(value, Decimal):
        return ["number", str(value)]
    if isinstance(value, datetime):
        return ["datetime", value.isoformat()]
    if isinstance(value, date):
        return ["date", value.isoformat()]
    return ["text", value]
