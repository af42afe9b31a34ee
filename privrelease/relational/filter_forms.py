"""One form for filters that say the same: order, repetition, double negation and the ways to write a list of values fall away.

Two filters of one form are true, false and unknown for the same rows. The converse is not sought: filters that agree for deeper reasons
keep their own forms, and whoever compares forms then takes them for different.
"""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from privrelease.relational.filter_records import filter_record
from privrelease.relational.filters import Among, Both, Comparison, Either, Missing, Negated

if TYPE_CHECKING:
    from privrelease.relational.filters import Filter, Value

__all__ = ["filter_form"]

#: NOT turns a comparison into its opposite, also where a value is missing: unknown stays unknown.
_OPPOSITE: Final = {"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def filter_form(of: Filter) -> list[Any]:
    """Return the form of a filter as nested lists of texts.

    >>> women, old = Comparison("sex", "=", "F"), Comparison("age", ">=", 80)
    >>> filter_form(Both(women, old)) == filter_form(Both(Negated(Comparison("age", "<", 80)), Both(women, women)))
    True
    >>> filter_form(Either(women, Comparison("sex", "=", "M"))) == filter_form(Among("sex", ("M", "F")))
    True
    """
    return _form(of, negated=False)


def _form(of: Filter, *, negated: bool) -> list[Any]:
    match of:
        case Negated(inner):
            return _form(inner, negated=not negated)
        case Both() | Either():
            word = "and" if isinstance(of, Both) != negated else "or"
            return _joined(word, [_form(of.left, negated=negated), _form(of.right, negated=negated)])
        case Comparison(column, operator, value):
            operator = _OPPOSITE[operator] if negated else operator  # type: ignore[assignment]  # the opposite of an operator is one
            if operator in {"=", "<>"}:
                return ["in" if operator == "=" else "not in", column, _value(column, value)]
            return [operator, column, _value(column, value)]
        case Among(column, values):
            return ["not in" if negated else "in", column, *_sorted(_value(column, value) for value in values)]
        case Missing(column):
            return ["present" if negated else "missing", column]


def _joined(word: str, forms: list[list[Any]]) -> list[Any]:
    """Parts of one AND or OR in order, each once; lists of values of one column as one list where they add up."""
    parts: list[list[Any]] = []
    for form in forms:
        parts += form[1:] if form[0] == word else [form]
    listed = "in" if word == "or" else "not in"
    values: dict[str, list[Any]] = {}
    for part in parts:
        if part[0] == listed:
            values.setdefault(part[1], []).extend(part[2:])
    kept = [part for part in parts if part[0] != listed]
    kept += [[listed, column, *_sorted(found)] for column, found in values.items()]
    kept = _sorted(kept)
    return kept[0] if len(kept) == 1 else [word, *kept]


def _sorted(parts: Any) -> list[Any]:  # noqa: ANN401 - nested lists of texts
    return [json.loads(text) for text in sorted({json.dumps(part) for part in parts})]


def _value(column: str, value: Value) -> list[str]:
    """A value with its kind; of equal numbers one writing."""
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return ["number", str(Fraction(value))]
    found: list[str] = filter_record(Comparison(column, "=", value))[2]
    return found
