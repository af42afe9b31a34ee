"""From a cell as it is in the source to the declared type: what counts as missing, what fits, and what to say where it does not.

The storage type follows the declaration alone. A conversion yields NULL for a cell that does not fit; staging counts those cells and
refuses the source if there is one, so that no misfit becomes a missing value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.relational.schema import ColumnType

if TYPE_CHECKING:
    from decimal import Decimal

    from privrelease.relational.schema import Column, ColumnFormat

__all__ = ["Conversion", "Fault", "conversion_of", "storage_type", "whitespace"]

Expr = exp.Expr

#: What ``trim`` takes off at both ends.
whitespace = "".join(
    map(chr, (9, 10, 11, 12, 13, 32, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000))
)

_TEXT = ("VARCHAR",)
_INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
_WIDE_INTEGERS = ("UBIGINT", "HUGEINT", "UHUGEINT")
_FLOATS = ("FLOAT", "DOUBLE")
_STAMPS = ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS")
_NOT_A_NUMBER = tuple(
    sign + word
    for word in ("nan", "NaN", "NAN", "inf", "Inf", "INF", "infinity", "Infinity", "INFINITY")
    for sign in ("", "+", "-")
)
_EXACT_IN_DOUBLE = 15
_LARGEST_EXACT = 2**53
_GRID_DIGITS = 18


@dataclass(frozen=True, slots=True)
class Fault:
    """A kind of misfit: a cell has it where ``test`` holds and no earlier fault of the column does."""

    code: str
    message: str
    hint: str
    test: Expr


@dataclass(frozen=True, slots=True)
class Conversion:
    """How a column is read. ``present``: the cell, NULL where missing (over the source's cell); ``value``: typed, NULL where missing
    or unfit (over ``present`` under the name that was given); ``faults`` in order; ``mark``: true where the cell holds the mark of
    suppressed values. ``text``: the value is a text and every text fits.
    """

    present: Expr
    value: Expr
    faults: tuple[Fault, ...]
    mark: Expr | None
    text: bool


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


def conversion_of(
    column: Column, cell: Expr, physical: str, present: str, *, empty_is_null: bool, any_digits: bool
) -> Conversion | str:
    """Return the conversion of a column, or what is wrong with the physical type (a hint) where none is lossless.

    ``cell``: the source's cell, of DuckDB type ``physical``. ``present``: the name under which ``value`` finds the present cell.
    ``any_digits``: a number may have 17 digits (a file that we wrote from doubles).
    """
    if physical.startswith("ENUM"):
        cell, physical = sql.cast(cell, "VARCHAR"), "VARCHAR"
    bare = physical.partition("(")[0]
    form = column.format
    marked = bool(set(form.missing) - {""}) or form.suppression_mark is not None or bool(form.aliases)
    integral = bare in _INTEGERS or bare in _WIDE_INTEGERS
    if physical == "UUID" or (integral and (marked or column.type in (ColumnType.STRING, ColumnType.CATEGORY))):
        cell, physical, bare = sql.cast(cell, "VARCHAR"), "VARCHAR", "VARCHAR"
    if bare == '"NULL"':  # a column without a type: every cell is missing
        cell, bare = sql.cast(exp.null(), "VARCHAR"), "VARCHAR"
    if bare in _TEXT:
        return _from_text(column, cell, present, empty_is_null=empty_is_null, any_digits=any_digits)
    fit = _from_physical(column, bare, sql.column(present))
    if isinstance(fit, str):
        return fit
    value, faults = fit
    mark: Expr | None = None
    if marked:
        if bare not in (*_FLOATS, "DECIMAL") or form.aliases:
            return "marks of missing values and aliases need a text or an integer column: leave them out"
        double = sql.cast(cell, "DOUBLE")
        marks = [number for text in form.missing if (number := _number(text)) is not None]
        if form.suppression_mark is not None and (number := _number(form.suppression_mark)) is not None:
            mark = exp.EQ(this=double, expression=number)
            marks.append(number)
        cell = sql.when((exp.In(this=double, expressions=marks), exp.null()), otherwise=cell) if marks else cell
    if bare in _FLOATS:
        cell = sql.when((sql.call("isfinite", cell.copy()), cell))
    return Conversion(cell, value, faults, mark, text=False)


def _number(text: str) -> Expr | None:
    try:
        return sql.cast(exp.Literal.string(repr(float(text))), "DOUBLE")
    except ValueError:
        return None


# physical types
def _from_physical(column: Column, bare: str, value: Expr) -> tuple[Expr, tuple[Fault, ...]] | str:
    found: tuple[Expr, tuple[Fault, ...]] | None = None
    match column.type:
        case ColumnType.INTEGER if bare in _INTEGERS:
            found = sql.cast(value, "BIGINT"), ()
        case ColumnType.INTEGER if bare in _WIDE_INTEGERS:
            found = sql.try_cast(value, "BIGINT"), (_too_wide(exp.true()),)
        case ColumnType.NUMBER if bare in (*_FLOATS, "DECIMAL", *_INTEGERS, *_WIDE_INTEGERS):
            found = _number_from(column, value, bare)
        case ColumnType.DATE if bare == "DATE":
            found = sql.when((_in_calendar(value), value)), _no_dates("D206", "date", value)
        case ColumnType.DATETIME if bare in _STAMPS:
            short = sql.cast(value, "TIMESTAMP")
            same = exp.and_(_in_calendar(short), exp.EQ(this=sql.cast(short.copy(), bare), expression=value))
            found = sql.when((same, short)), _no_dates("D207", "date and time of microseconds", value)
        case ColumnType.BOOLEAN if bare == "BOOLEAN":
            found = value, ()
    return _other_type(column.type, bare) if found is None else found


def _number_from(column: Column, value: Expr, bare: str) -> tuple[Expr, tuple[Fault, ...]]:
    if column.grid is not None:
        return _on_grid(column, value, bare)
    if bare in _FLOATS:
        return sql.cast(value, "DOUBLE"), ()
    exact: Expr
    if bare == "DECIMAL":
        exact = exp.LTE(this=_digits(sql.cast(value, "VARCHAR")), expression=sql.integer(_EXACT_IN_DOUBLE))
    else:
        exact = exp.Between(this=value, low=sql.integer(-_LARGEST_EXACT), high=sql.integer(_LARGEST_EXACT))
    return sql.when((exact, sql.cast(value, "DOUBLE"))), (_too_long(exp.true()),)


def _other_type(type_: ColumnType, bare: str) -> str:
    natural = {
        "DATE": "date",
        "BOOLEAN": "boolean",
        "DOUBLE": "number",
        "FLOAT": "number",
        "DECIMAL": "number",
        **dict.fromkeys((*_INTEGERS, *_WIDE_INTEGERS), "integer"),
        **dict.fromkeys(_STAMPS, "datetime"),
    }.get(bare)
    if bare == "TIMESTAMP WITH TIME ZONE":
        return "convert the column to UTC without a zone in the source, and declare `type: datetime`"
    if natural is None:
        return "write it as text, number, date or boolean, or drop it with `unlisted_columns: drop`"
    return f"declare `type: {natural}`, or convert the column to {type_.value} in the source"


def _on_grid(column: Column, value: Expr, bare: str) -> tuple[Expr, tuple[Fault, ...]]:
    decimal = sql.try_cast(value, storage_type(column))
    exact = bare if bare in _FLOATS else "DECIMAL(38, 18)"
    same = exp.EQ(this=sql.cast(decimal, exact), expression=sql.try_cast(value, exact))
    multiple = _multiple(decimal, column)
    return sql.when((exp.and_(same, multiple), decimal)), (
        _too_long(exp.Is(this=decimal.copy(), expression=exp.null())),
        _off_grid(column, exp.true()),
    )


def _multiple(decimal: Expr, column: Column) -> Expr:
    assert column.grid is not None
    step = sql.cast(sql.text(format(column.grid.normalize(), "f")), storage_type(column))
    return exp.EQ(this=exp.Mod(this=decimal.copy(), expression=step), expression=sql.integer(0))


# texts
def _from_text(column: Column, cell: Expr, present: str, *, empty_is_null: bool, any_digits: bool) -> Conversion:
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
    if column.type is ColumnType.NUMBER:
        gone += _NOT_A_NUMBER
    if not form.normalise and not form.aliases and empty_is_null:
        gone = [text for text in gone if text or base is not cell]
    here = sql.when((sql.one_of(base.copy(), dict.fromkeys(gone)), exp.null()), otherwise=base.copy()) if gone else base
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
    return Conversion(here, value, faults, mark, text=False)


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
    return value, (no_integer, _too_wide(exp.true()))


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
        value = sql.when((exp.and_(pattern, exact, _multiple(decimal, column)), decimal))
        return value, (no_number, _too_long(exp.Is(this=decimal.copy(), expression=exp.null())), _off_grid(column, exp.true()))
    double = sql.try_cast(plain, "DOUBLE")
    digits = _digits(plain)
    finite = exp.and_(
        pattern,
        sql.call("isfinite", double.copy()),
        exp.or_(exp.NEQ(this=double.copy(), expression=sql.integer(0)), exp.EQ(this=digits, expression=sql.integer(0))),
    )
    few = exp.LTE(this=digits.copy(), expression=sql.integer(_EXACT_IN_DOUBLE))
    exact = finite if any_digits else exp.and_(finite, few)
    if form.thousands or form.decimal != ".":
        value = sql.when((exact, double))
    else:
        short = exp.LTE(this=sql.call("length", found.copy()), expression=sql.integer(_EXACT_IN_DOUBLE + 1))
        value = _canonical(double, found, exact, exp.and_(short, sql.call("isfinite", double.copy())))
    return value, (
        no_number,
        Fault(
            "D203",
            "does not fit number",
            "the number is too large or too small for 64 bits",
            exp.Not(this=sql.call("coalesce", finite.copy(), exp.false())),
        ),
        _too_long(exp.true()),
    )


def _digits(plain: Expr) -> Expr:
    """The number of significant digits of a number's text."""
    mantissa = sql.call("regexp_replace", plain.copy(), sql.text("[eE].*$"), sql.text(""))
    only = sql.call("regexp_replace", mantissa, sql.text("[^0-9]"), sql.text(""), sql.text("g"))
    return sql.call("length", sql.call("trim", only, sql.text("0")))


def _text_date(found: Expr, form: ColumnFormat) -> tuple[Expr, tuple[Fault, ...]]:
    if form.date is None:
        typed = sql.try_cast(found.copy(), "DATE")
        iso = _matches(found, "[0-9]{4}-[0-9]{2}-[0-9]{2}")
        return sql.when((exp.and_(iso, _no_year_zero(found)), typed)), (_no_date("D206", "date", exp.true(), form),)
    stamp = sql.call("try_strptime", found.copy(), sql.text(form.date))
    typed = sql.cast(stamp, "DATE")
    whole = exp.EQ(this=sql.cast(typed.copy(), "TIMESTAMP"), expression=stamp.copy())
    return sql.when((exp.and_(whole, _four_digit_year(stamp)), typed)), (_no_date("D206", "date", exp.true(), form),)


def _text_datetime(found: Expr, form: ColumnFormat) -> tuple[Expr, tuple[Fault, ...]]:
    if form.date is None:
        typed = sql.try_cast(found.copy(), "TIMESTAMP")
        iso = _matches(found, r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?)?")
        return sql.when((exp.and_(iso, _no_year_zero(found)), typed)), (_no_date("D207", "datetime", exp.true(), form),)
    stamp = sql.call("try_strptime", found.copy(), sql.text(form.date))
    return sql.when((_four_digit_year(stamp), stamp)), (_no_date("D207", "datetime", exp.true(), form),)


def _no_year_zero(found: Expr) -> Expr:
    """Whether an ISO 8601 text is not in the year 0000, which is 1 BC: by the text, which is cheaper than by the date."""
    return exp.GTE(this=found.copy(), expression=sql.text("0001"))


def _in_calendar(moment: Expr) -> Expr:
    """Whether a date or date and time is finite and in the years 1 to 9999, which ISO 8601 writes with four digits."""
    year = exp.Between(this=sql.call("year", moment.copy()), low=sql.integer(1), high=sql.integer(9999))
    return exp.and_(sql.call("isfinite", moment.copy()), year)


def _four_digit_year(stamp: Expr) -> Expr:
    return exp.GTE(this=sql.call("year", stamp.copy()), expression=sql.integer(1000))


def _text_boolean(found: Expr) -> tuple[Expr, tuple[Fault, ...]]:
    true = exp.EQ(this=found.copy(), expression=sql.text("true"))
    false = exp.EQ(this=found.copy(), expression=sql.text("false"))
    value = sql.when((true, exp.true()), (false, exp.false()))
    return value, (
        Fault("D208", "does not fit boolean", 'true and false fit; declare others, e.g. `aliases: {yes: "true"}`', exp.true()),
    )


# faults that several types share
def _too_wide(test: Expr) -> Fault:
    return Fault("D202", "does not fit integer: it is beyond 64 bits", "declare `type: string`; identifiers are texts", test)


def _too_long(test: Expr) -> Fault:
    hint = "declare a `grid` for exact decimals, `type: integer`, or `type: string` for an identifier"
    return Fault("D204", "does not fit number: it has more digits than can be kept", hint, test)


def _off_grid(column: Column, test: Expr) -> Fault:
    return Fault(
        "D205",
        "is not a multiple of the grid",
        f"the declared grid is {column.grid}; declare a finer one, or round in the source",
        test,
    )


def _no_dates(code: str, what: str, value: Expr) -> tuple[Fault, ...]:
    hint = "correct it in the source, or make it missing: ISO 8601 and the files that leave have no other years"
    outside = exp.not_(_in_calendar(value))
    return (
        Fault(code, f"does not fit {what}: it is infinite, or its year is not within 1 to 9999", hint, outside),
        Fault(code, f"does not fit {what}", "round it to microseconds in the source", exp.true()),
    )


def _no_date(code: str, what: str, test: Expr, form: ColumnFormat) -> Fault:
    if form.date is None:
        hint = (
            'the default is ISO 8601 (2021-04-03): declare e.g. `format: {date: "%d/%m/%Y"}`'
            if code == "D206"
            else 'the default is ISO 8601 (2021-04-03T10:00:00) without a zone: declare e.g. `format: {datetime: "%d/%m/%Y %H:%M"}`'
        )
    else:
        hint = f"the declared format is {form.date}; every cell must follow it"
    return Fault(code, f"does not fit {what}", hint, test)
