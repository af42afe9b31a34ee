"""Rules of datasets: columns that can be distinguished, domains that can be read, sources that may be read."""

from __future__ import annotations

import re
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from pydantic_core import PydanticCustomError

from privrelease.policy.language.number_values import exact_number
from privrelease.policy.rules.rule_context import duplicates
from privrelease.policy.text.messages import shown
from privrelease.policy.text.nodes import Plain
from privrelease.policy.validation.paths import PathFault
from privrelease.relational.schema import ColumnType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from privrelease.findings import Finding
    from privrelease.policy.language.datasets import ColumnSpec, Dataset
    from privrelease.policy.rules.rule_context import RuleContext

__all__ = ["dataset_rules", "two_digit_years"]

_YEARS = range(1000, 9901)


def two_digit_years(form: str | None) -> bool:
    """Tell whether a date format writes years with two digits, and nowhere with four.

    >>> two_digit_years("%d.%m.%y"), two_digit_years("%d.%m.%Y"), two_digit_years("%%y %Y"), two_digit_years(None)
    (True, False, False, False)
    """
    used = re.findall(r"%(.)", form or "")
    return "y" in used and "Y" not in used


def dataset_rules(reading: RuleContext) -> Iterator[Finding]:
    """Yield what is wrong with datasets."""
    for name, dataset in reading.policy.datasets.items():
        yield from _source(reading, name, dataset)
        yield from _pivots(reading, name, dataset)
        for column, spec in dataset.columns.items():
            yield from _column(reading, ("datasets", name, "columns", column), spec)
            if spec.links == "household" and dataset.person is not None and dataset.person.column == column:
                message = f"{shown(column)} is the person (`unit`) and cannot be a household of persons"
                hint = "name the column of the person under `unit`, or remove `links`"
                yield reading.error("P555", message, "datasets", name, "columns", column, "links", hint=hint)


def _source(reading: RuleContext, name: str, dataset: Dataset) -> Iterator[Finding]:
    try:
        reading.roots.source(dataset)
    except PathFault as fault:
        yield reading.error(fault.code, fault.message, "datasets", name, "source", hint=fault.hint)


def _pivots(reading: RuleContext, name: str, dataset: Dataset) -> Iterator[Finding]:
    """Two-digit years are read in declared hundred years: 64 may be 1964 or 2064, and a date of birth in the future is none."""
    used = False
    for column, spec in dataset.columns.items():
        path = ("datasets", name, "columns", column)
        own, whole = spec.format, dataset.format
        key = {ColumnType.DATE: "date", ColumnType.DATETIME: "datetime"}.get(spec.type)
        form = None if key is None else (own and getattr(own, key)) or getattr(whole, key)
        pivot = own.pivot if own is not None and own.pivot is not None else whole.pivot
        if not two_digit_years(form):
            if own is not None and own.pivot is not None:
                message = f"{shown(column)} has no two-digit years: pivot says nothing about it"
                yield reading.error(
                    "P401", message, *path, "format", "pivot", hint="remove it, or write `%y` in the date format"
                )
            continue
        used = True
        place = (
            (*path, "format", "pivot") if own is not None and own.pivot is not None else ("datasets", name, "format", "pivot")
        )
        if pivot is None:
            where = (*path, "format", key) if own is not None and getattr(own, str(key)) else ("datasets", name, "format", key)
            message = f"{shown(column)} has years of two digits (%y), and nothing says of which century"
            hint = "write `pivot: …` next to the date format: the first of the hundred years that they lie in, such as 1930"
            yield reading.error("P530", message, *(str(part) for part in where), hint=hint)
        elif pivot not in _YEARS:
            hint = "write the first of the hundred years, such as 1930"
            yield reading.error("P531", f"pivot {pivot} is not a year from 1000 to 9900", *place, hint=hint)
        elif _beyond(spec, pivot):
            message = f"years from {pivot} to {pivot + 99} are all outside the domain of {shown(column)}"
            yield reading.error("P532", message, *place, hint="write another `pivot`, or correct the domain")
    if dataset.format.pivot is not None and not used:
        message = f"dataset {name} has no two-digit years: pivot says nothing about it"
        yield reading.error(
            "P401", message, "datasets", name, "format", "pivot", hint="remove it, or write `%y` in the date format"
        )


def _beyond(spec: ColumnSpec, pivot: int) -> bool:
    if spec.domain is None or spec.domain.range is None:
        return False
    years = [text[:4] for text in spec.domain.range]
    return all(year.isdecimal() for year in years) and (int(years[1]) < pivot or int(years[0]) > pivot + 99)


def _column(reading: RuleContext, path: tuple[str, ...], spec: ColumnSpec) -> Iterator[Finding]:
    name = shown(path[-1])
    if spec.grid is not None and spec.type is not ColumnType.NUMBER:
        yield reading.error(
            "P402", f"{name} has a grid but is not a number", *path, "grid", hint="remove `grid`, or write `type: number`"
        )
    if spec.outside == "drop" and spec.domain is None:
        yield reading.error(
            "P402", f"{name} says what happens outside a domain but has none", *path, "outside", hint="write `domain`"
        )
    if spec.format is not None:
        yield from _column_format(reading, path, spec)
    if spec.domain is None:
        return
    if spec.domain.values is not None:
        yield from _values(reading, path, spec, spec.domain.values)
    if spec.domain.range is not None:
        yield from _range(reading, path, spec, *spec.domain.range)


def _column_format(reading: RuleContext, path: tuple[str, ...], spec: ColumnSpec) -> Iterator[Finding]:
    assert spec.format is not None
    numeric = {ColumnType.INTEGER, ColumnType.NUMBER}
    for key, kinds in (
        ("date", {ColumnType.DATE}),
        ("datetime", {ColumnType.DATETIME}),
        ("decimal", {ColumnType.NUMBER}),
        ("thousands", numeric),
    ):
        if getattr(spec.format, key) is not None and spec.type not in kinds:
            message = f"{shown(path[-1])} is of type {spec.type.value}: {key} says nothing about it"
            yield reading.error("P401", message, *path, "format", key, hint="remove it, or correct the type")


_READERS: dict[ColumnType, tuple[str, Callable[[str], object]]] = {}


def _whole(text: str) -> int:
    if not re.fullmatch(r"[-+]?[0-9]{1,19}", text) or not -(2**63) <= int(text) < 2**63:
        raise ValueError
    return int(text)


def _exact(text: str) -> Decimal:
    try:
        return exact_number(Plain(text))
    except PydanticCustomError as error:
        raise ValueError from error


def _date(text: str) -> date:
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        raise ValueError
    return date.fromisoformat(text)


def _datetime(text: str) -> datetime:
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?)?", text):
        raise ValueError
    return datetime.fromisoformat(text)


def _boolean(text: str) -> bool:
    if text not in {"true", "false"}:
        raise ValueError
    return text == "true"


_READERS |= {
    ColumnType.INTEGER: ("a whole number", _whole),
    ColumnType.NUMBER: ("a number", _exact),
    ColumnType.DATE: ("a day as YYYY-MM-DD", _date),
    ColumnType.DATETIME: ("a time as YYYY-MM-DDTHH:MM:SS", _datetime),
    ColumnType.BOOLEAN: ("true or false", _boolean),
}


def _read(spec: ColumnSpec, text: str) -> object:
    reader = _READERS.get(spec.type)
    return text if reader is None else reader[1](text)


def _unreadable(reading: RuleContext, path: tuple[str | int, ...], spec: ColumnSpec, text: str) -> Finding:
    return reading.error("P402", f"{shown(path[3])} needs {_READERS[spec.type][0]} in its domain, got {shown(text)}", *path)


def _on_grid(spec: ColumnSpec, value: object) -> bool:
    return spec.grid is None or not isinstance(value, Decimal) or value % spec.grid == 0


def _values(reading: RuleContext, path: tuple[str, ...], spec: ColumnSpec, values: tuple[str, ...]) -> Iterator[Finding]:
    where: tuple[str, ...] = (*path, "domain")
    if not values:
        yield reading.error("P402", f"the domain of {shown(path[-1])} is empty: no value could be read", *where)
    for number, value in duplicates(values):
        yield reading.error(
            "P408", f"{shown(value)} appears twice in the domain of {shown(path[-1])}", *where, number, hint="remove one"
        )
    for number, text in enumerate(values):
        yield from _end(reading, (*where, number), spec, text)


def _end(reading: RuleContext, place: tuple[str | int, ...], spec: ColumnSpec, text: str) -> Iterator[Finding]:
    """One value of a domain: of the column's type, and on its grid."""
    try:
        value = _read(spec, text)
    except ValueError:
        yield _unreadable(reading, place, spec, text)
    else:
        if not _on_grid(spec, value):
            yield reading.error("P402", f"{shown(text)} is not on the grid {spec.grid} of {shown(place[3])}", *place)


def _range(reading: RuleContext, path: tuple[str, ...], spec: ColumnSpec, low: str, high: str) -> Iterator[Finding]:
    where: tuple[str, ...] = (*path, "domain")
    if spec.type not in {ColumnType.INTEGER, ColumnType.NUMBER, ColumnType.DATE, ColumnType.DATETIME}:
        yield reading.error(
            "P402", f"{shown(path[-1])} is of type {spec.type.value}: it has no range", *where, hint="write `domain: [a, b, …]`"
        )
        return
    faults = [finding for number, text in enumerate((low, high)) for finding in _end(reading, (*where, number), spec, text)]
    yield from faults
    if not faults and _read(spec, low) > _read(spec, high):  # type: ignore[operator]  # both of the type that the reader gives
        message = f"the domain of {shown(path[-1])} ends before it starts: [{shown(low)}, {shown(high)}]"
        yield reading.error("P402", message, *where, hint=f"write [{shown(high)}, {shown(low)}]")
