"""The parts of a conversion of a column, and the misfits that several types share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from privrelease.relational.schema import Column, ColumnFormat

__all__ = ["Conversion", "Fault", "in_calendar", "no_date", "no_dates", "off_grid", "too_long", "too_wide"]

Expr = exp.Expr


@dataclass(frozen=True, slots=True)
class Fault:
    """A kind of misfit: a cell has it where ``test`` holds and no earlier fault of the column does."""

    code: str
    message: str
    hint: str
    test: Expr


@dataclass(frozen=True, slots=True)
class Conversion:
    """The reading of a column. ``present``: the cell, NULL where missing (over the source's cell); ``value``: typed, NULL where missing
    or unfit (over ``present`` under the name that was given); ``faults`` in order; ``mark``: true where the cell holds the mark of
    suppressed values. ``text``: the value is a text and every text fits. ``zeros``: true where the number is written with zeros before it (over
    ``present``), which it is read without; None where it is no written number. ``no_number``: true where the source's cell says that it is none, or infinite,
    and the policy does not declare that as a mark of missing values; None where a cell cannot say so.
    """

    present: Expr
    value: Expr
    faults: tuple[Fault, ...]
    mark: Expr | None
    text: bool
    zeros: Expr | None = None
    no_number: Expr | None = None


def too_wide(test: Expr) -> Fault:
    """Return the misfit of an integer beyond 64 bits."""
    return Fault("D202", "does not fit integer: it is beyond 64 bits", "declare `type: string`; identifiers are texts", test)


def too_long(test: Expr) -> Fault:
    """Return the misfit of a number with more digits than can be kept."""
    hint = "declare a `grid` for exact decimals, `type: integer`, or `type: string` for an identifier"
    return Fault("D204", "does not fit number: it has more digits than can be kept", hint, test)


def off_grid(column: Column, test: Expr) -> Fault:
    """Return the misfit of a number next to the declared grid."""
    return Fault(
        "D205",
        "is not a multiple of the grid",
        f"the declared grid is {column.grid}; declare a finer one, or round in the source",
        test,
    )


def no_dates(code: str, what: str, value: Expr) -> tuple[Fault, ...]:
    """Return the misfits of a physical date or date and time: outside of the calendar, or finer than microseconds."""
    hint = "correct it in the source, or make it missing: ISO 8601 and the files that leave have no other years"
    outside = exp.not_(in_calendar(value))
    return (
        Fault(code, f"does not fit {what}: it is infinite, or its year is not within 1 to 9999", hint, outside),
        Fault(code, f"does not fit {what}", "round it to microseconds in the source", exp.true()),
    )


def no_date(code: str, what: str, test: Expr, form: ColumnFormat) -> Fault:
    """Return the misfit of a text that is no date, or date and time, of the declared format."""
    if form.date is None:
        hint = (
            'the default is ISO 8601 (2021-04-03): declare e.g. `format: {date: "%d/%m/%Y"}`'
            if code == "D206"
            else 'the default is ISO 8601 (2021-04-03T10:00:00) without a zone: declare e.g. `format: {datetime: "%d/%m/%Y %H:%M"}`'
        )
    else:
        hint = f"the declared format is {form.date}; every cell must follow it"
    return Fault(code, f"does not fit {what}", hint, test)


def in_calendar(moment: Expr) -> Expr:
    """Return whether a date or date and time is finite and in the years 1 to 9999, which ISO 8601 writes with four digits."""
    year = exp.Between(this=sql.call("year", moment.copy()), low=sql.integer(1), high=sql.integer(9999))
    return exp.and_(sql.call("isfinite", moment.copy()), year)
