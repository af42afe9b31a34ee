"""From a cell that is a text to the declared type: marks, aliases and spaces, then what of the text fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.reading.converted import Conversion, Fault, no_date, off_grid, too_long, too_wide
from privrelease.engine.duckdb.storage_types import EXACT_IN_DOUBLE, digits_of, grid_scale, multiple_of_grid, storage_type
from privrelease.relational.schema import ColumnType

if TYPE_CHECKING:
    from privrelease.relational.schema import Column, ColumnFormat

__all__ = ["from_text", "whitespace"]

Expr = exp.Expr

#: What ``trim`` takes off at both ends.
whitespace = "".join(
    map(chr, (9, 10, 11, 12, 13, 32, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000))
)

_NOT_A_NUMBER = tuple(
    sign + word
    for word in ("nan", "NaN", "NAN", "inf", "Inf", "INF", "infinity", "Infinity", "INFINITY")
    for sign in ("", "+", "-")
)


def from_text(column: Column, cell: Expr, present: str, *, empty_is_null: bool, any_digits: bool) -> Conversion:
    """Return the conversion of a text column; see :func:`~privrelease.engine.duckdb.reading.conversion.conversion_of`."""
    form = column.format
    base = cell
    if empty_is_null and (
        "" not in form.missing or any(before == "" for before, _ in form.aliases) or form.suppression_mark == ""
    ):
        base = sql.call("coalesce", base, sql.text(""))
    for step in form.normalise:
        base = sql.call("nfc_normalize", base) if step == "nfc" else sql.call("trim", base, sql.text(whitespace))
    if form.aliases:
        base = sql.when(
            *((exp.EQ(this=base.copy(), expression=sql.text(before)), sql.text(after)) for before, after in form.aliases),
            otherwise=base.copy(),
        )
    mark = exp.EQ(this=base.copy(), expression=sql.text(form.suppression_mark)) if form.suppression_mark is not None else None
    gone = [*form.missing, *([form.suppression_mark] if form.suppression_mark is not None else [])]
    no_number = None
    if column.type is ColumnType.NUMBER:
        unsaid = [word for word in _NOT_A_NUMBER if word not in gone]
        no_number = sql.one_in_place(base.copy(), [*map(sql.text, unsaid)]) if unsaid else None
        gone += _NOT_A_NUMBER
    if not form.normalise and not form.aliases and empty_is_null:
        gone = [text for text in gone if text or base is not cell]
    here = (
        sql.when((sql.one_in_place(base.copy(), [*map(sql.text, dict.fromkeys(gone))]), exp.null()), otherwise=base.copy())
        if gone
        else base
    )
    found = sql.column(present)
    if column.type in (ColumnType.STRING, ColumnType.CATEGORY):
        return Conversion(here, found, (), mark, text=True)
    value, faults = {
        ColumnType.INTEGER: lambda: _text_integer(found, form),
        ColumnType.NUMBER: lambda: _text_number(found, column, any_digits=any_digits),
        ColumnType.DATE: lambda: _text_date(found, form),
        ColumnType.DATETIME: lambda: _text_datetime(found, form),
        ColumnType.BOOLEAN: lambda: _text_boolean(found),
    }[column.type]()
    zeros = None
    if column.type in (ColumnType.INTEGER, ColumnType.NUMBER):  # the first letter settles most cells, and is cheap
        zeros = exp.and_(sql.one_of(sql.call("left", found, sql.integer(1)), "0+-"), _matches(found, "[+-]?0[0-9].*"))
    return Conversion(here, value, faults, mark, text=False, zeros=zeros, no_number=no_number)


def _matches(value: Expr, pattern: str) -> Expr:
    return sql.call("regexp_full_match", value.copy(), sql.text(pattern))


def _escaped(sign: str) -> str:
    return sign if sign.isalnum() else f"[{sign}]" if sign not in "^]\\" else f"\\{sign}"


def _whole(form: ColumnFormat) -> str:
    return f"([0-9]{{1,3}}({_escaped(form.thousands)}[0-9]{{3}})+|[0-9]+)" if form.thousands else "[0-9]+"


def _plain_number(value: Expr, form: ColumnFormat) -> Expr:
    """The text of a number with the point as decimal sign and no thousands signs."""
    if form.thousands:
        value = sql.call("replace", value, sql.text(form.thousands), sql.text(""))
    if form.decimal != ".":
        value = sql.call("replace", value, sql.text(form.decimal), sql.text("."))
    return value


def _canonical(typed: Expr, found: Expr, otherwise: Expr, also: Expr | None = None) -> Expr:
    """The typed value where it prints as the very text (nearly always, and cheap), else where the exact test holds."""
    same = exp.EQ(this=sql.cast(typed.copy(), "VARCHAR"), expression=found.copy())
    return sql.when((same if also is None else exp.and_(same, also), typed), (otherwise, typed.copy()))


def _text_integer(found: Expr, form: ColumnFormat) -> tuple[Expr, tuple[Fault, ...]]:
    pattern = _matches(found, f"[+-]?{_whole(form)}")
    plain = sql.call("replace", found.copy(), sql.text(form.thousands), sql.text("")) if form.thousands else found.copy()
    typed = sql.try_cast(plain, "BIGINT")
    value = sql.when((pattern, typed)) if form.thousands else _canonical(typed, found, pattern)
    no_integer = Fault(
        "D201",
        "does not fit integer",
        "a sign and digits only; declare `type: string` or `number`, or a mark in `missing`",
        exp.Not(this=pattern.copy()),
    )
    return value, (no_integer, too_wide(exp.true()))


def _text_number(found: Expr, column: Column, *, any_digits: bool) -> tuple[Expr, tuple[Fault, ...]]:
    form = column.format
    point = _escaped(form.decimal)
    pattern = _matches(found, f"[+-]?({_whole(form)}({point}[0-9]*)?|{point}[0-9]+)([eE][+-]?[0-9]+)?")
    plain = _plain_number(found.copy(), form)
    hint = "declare `format: {decimal: …, thousands: …}`, or a mark in `missing`"
    no_number = Fault("D203", "does not fit number", hint, exp.Not(this=pattern.copy()))
    if column.grid is not None:
        decimal = sql.try_cast(plain, storage_type(column))
        scale = grid_scale(column.grid)
        decimals = _matches(plain, rf"[+-]?[0-9]*(\.[0-9]{{0,{scale}}}0*)?")
        double = sql.try_cast(plain.copy(), "DOUBLE")
        by_exponent = exp.EQ(this=sql.cast(decimal.copy(), "DOUBLE"), expression=double)
        exact = sql.when(
            (sql.call("contains", sql.call("lower", plain.copy()), sql.text("e")), by_exponent), otherwise=decimals
        )
        value = sql.when((exp.and_(pattern, exact, multiple_of_grid(decimal, column)), decimal))
        return value, (no_number, too_long(exp.Is(this=decimal.copy(), expression=exp.null())), off_grid(column, exp.true()))
    double = sql.try_cast(plain, "DOUBLE")
    digits = digits_of(plain)
    finite = exp.and_(
        pattern,
        sql.call("isfinite", double.copy()),
        exp.or_(exp.NEQ(this=double.copy(), expression=sql.integer(0)), exp.EQ(this=digits, expression=sql.integer(0))),
    )
    few = exp.LTE(this=digits.copy(), expression=sql.integer(EXACT_IN_DOUBLE))
    exact = finite if any_digits else exp.and_(finite, few)
    if form.thousands or form.decimal != ".":
        value = sql.when((exact, double))
    else:
        short = exp.LTE(this=sql.call("length", found.copy()), expression=sql.integer(EXACT_IN_DOUBLE + 1))
        value = _canonical(double, found, exact, exp.and_(short, sql.call("isfinite", double.copy())))
    return value, (
        no_number,
        Fault(
            "D203",
            "does not fit number",
            "the number is too large or too small for 64 bits",
            exp.Not(this=sql.call("coalesce", finite.copy(), exp.false())),
        ),
        too_long(exp.true()),
    )


def _text_date(found: Expr, form: ColumnFormat) -> tuple[Expr, tuple[Fault, ...]]:
    if form.date is None:
        typed = sql.try_cast(found.copy(), "DATE")
        iso = _matches(found, "[0-9]{4}-[0-9]{2}-[0-9]{2}")
        return sql.when((exp.and_(iso, _no_year_zero(found)), typed)), (no_date("D206", "date", exp.true(), form),)
    stamp = _in_century(sql.call("try_strptime", found.copy(), sql.text(form.date)), form)
    typed = sql.cast(stamp, "DATE")
    whole = exp.EQ(this=sql.cast(typed.copy(), "TIMESTAMP"), expression=stamp.copy())
    return sql.when((exp.and_(whole, _four_digit_year(stamp)), typed)), (no_date("D206", "date", exp.true(), form),)


def _text_datetime(found: Expr, form: ColumnFormat) -> tuple[Expr, tuple[Fault, ...]]:
    if form.date is None:
        typed = sql.try_cast(found.copy(), "TIMESTAMP")
        iso = _matches(found, r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?)?")
        return sql.when((exp.and_(iso, _no_year_zero(found)), typed)), (no_date("D207", "datetime", exp.true(), form),)
    stamp = _in_century(sql.call("try_strptime", found.copy(), sql.text(form.date)), form)
    return sql.when((_four_digit_year(stamp), stamp)), (no_date("D207", "datetime", exp.true(), form),)


def _in_century(stamp: Expr, form: ColumnFormat) -> Expr:
    """Move a time with a two-digit year into the hundred years that begin with the pivot; missing where that year lacks its 29 February."""
    if form.pivot is None:
        return stamp
    year = sql.call("year", stamp)
    first, hundred = sql.integer(form.pivot), sql.integer(100)
    beyond = exp.Mod(this=exp.Paren(this=exp.Sub(this=year, expression=sql.integer(form.pivot % 100))), expression=hundred)
    shift = exp.Sub(this=exp.Add(this=first, expression=beyond), expression=year.copy())
    moved = exp.Add(this=stamp.copy(), expression=sql.call("to_years", sql.cast(shift, "INTEGER")))
    same_day = exp.EQ(this=sql.call("day", moved.copy()), expression=sql.call("day", stamp.copy()))
    return sql.when((same_day, moved))


def _no_year_zero(found: Expr) -> Expr:
    """Return whether an ISO 8601 text is not in the year 0000, which is 1 BC: by the text, which is cheaper than by the date."""
    return exp.GTE(this=found.copy(), expression=sql.text("0001"))


def _four_digit_year(stamp: Expr) -> Expr:
    return exp.GTE(this=sql.call("year", stamp.copy()), expression=sql.integer(1000))


def _text_boolean(found: Expr) -> tuple[Expr, tuple[Fault, ...]]:
    true = exp.EQ(this=found.copy(), expression=sql.text("true"))
    false = exp.EQ(this=found.copy(), expression=sql.text("false"))
    value = sql.when((true, exp.true()), (false, exp.false()))
    return value, (
        Fault("D208", "does not fit boolean", 'true and false fit; declare others, e.g. `aliases: {yes: "true"}`', exp.true()),
    )
