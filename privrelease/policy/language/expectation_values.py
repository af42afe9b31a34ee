"""Values that an expectation compares with, as the type of the column that they are compared with."""

from __future__ import annotations

import re
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from privrelease.relational.expectations import EXPECTATIONS, Expectation
from privrelease.relational.schema import ColumnType

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from privrelease.policy.language.checks import Check
    from privrelease.relational.expectations import ExpectationForm

__all__ = ["expectation_of", "misfits", "typed"]

_WHOLE: Final = re.compile(r"[-+]?[0-9]{1,18}")
_NUMBER: Final = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,2})?")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DATETIME: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?")
_WORDS: Final = {
    ColumnType.INTEGER: "a whole number",
    ColumnType.NUMBER: "a number",
    ColumnType.DATE: "a day as YYYY-MM-DD",
    ColumnType.DATETIME: "a time as YYYY-MM-DD HH:MM:SS",
    ColumnType.BOOLEAN: "true or false",
}


def typed(text: str, kind: ColumnType) -> object:
    """Return the value that ``text`` writes. Raises ValueError with what it should be.

    >>> typed("2026-01-31", ColumnType.DATE), typed("007", ColumnType.STRING)
    (datetime.date(2026, 1, 31), '007')
    """
    try:
        match kind:
            case ColumnType.INTEGER if _WHOLE.fullmatch(text):
                return int(text)
            case ColumnType.NUMBER if _NUMBER.fullmatch(text):
                return Decimal(text)
            case ColumnType.DATE if _DATE.fullmatch(text):
                return date.fromisoformat(text)
            case ColumnType.DATETIME if _DATETIME.fullmatch(text):
                return datetime.fromisoformat(text)
            case ColumnType.BOOLEAN if text.lower() in {"true", "false"}:
                return text.lower() == "true"
            case ColumnType.STRING | ColumnType.CATEGORY:
                return str(text)
            case _:
                pass
    except ValueError:
        pass
    raise ValueError(_WORDS[kind])


def _kinds(check: Check, form: ExpectationForm, types: Mapping[str, ColumnType]) -> tuple[ColumnType, ...]:
    """The types that this check's bounds and values have: one, or one for each of a pair."""
    if form.values == "whole":
        return (ColumnType.INTEGER,)
    if form.values in {"share", "number"}:
        return (ColumnType.NUMBER,)
    named = (check.column,) if check.column is not None else (check.column_A, check.column_B)
    return tuple(types.get(name or "", ColumnType.STRING) for name in named)


def _values(check: Check, types: Mapping[str, ColumnType]) -> Iterator[tuple[tuple[str | int, ...], str, ColumnType]]:
    """Every written value that has a type, with its path below the check."""
    form = EXPECTATIONS[check.expect]
    kind, *more = _kinds(check, form, types)
    for key in ("min_value", "max_value", "value"):
        text = getattr(check, key)
        if text is not None and key in form.parameters:
            yield (key,), text, kind
    if check.column_index is not None:
        yield ("column_index",), check.column_index, ColumnType.INTEGER
    for number, text in enumerate(check.value_set or ()):
        yield ("value_set", number), text, kind
    for number, pair in enumerate(check.value_pairs_set or ()):
        for side, (text, one) in enumerate(zip(pair, (kind, *more, kind), strict=False)):
            yield ("value_pairs_set", number, side), text, one


def misfits(check: Check, types: Mapping[str, ColumnType]) -> Iterator[tuple[tuple[str | int, ...], str, str]]:
    """Yield the path below the check, the text, and what it should be, for every value that is not of its column's type."""
    for path, text, kind in _values(check, types):
        try:
            typed(text, kind)
        except ValueError as error:
            yield path, text, str(error)


def expectation_of(check: Check, types: Mapping[str, ColumnType]) -> Expectation:
    """Return the expectation that a sound check asks for, its values typed. ``types``: of the columns where it looks."""
    form = EXPECTATIONS[check.expect]
    found = {path: typed(text, kind) for path, text, kind in _values(check, types)}
    parameters: list[tuple[str, object]] = []
    for key in form.parameters:
        written = getattr(check, key)
        if written is None or key == "mostly":
            continue
        if (key,) in found:
            value = found[(key,)]
        elif key == "value_set":
            value = tuple(found[(key, number)] for number in range(len(written)))
        elif key == "value_pairs_set":
            value = tuple((found[(key, number, 0)], found[(key, number, 1)]) for number in range(len(written)))
        elif key == "quantile_ranges":
            value = (tuple(written.quantiles), tuple(written.value_ranges))
        else:
            value = written
        parameters.append((key, value))
    return Expectation(form.name, tuple(parameters))
