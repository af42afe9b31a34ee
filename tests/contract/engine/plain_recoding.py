"""Recodings of the plain engine: every representative by exact fractions, the calendar of Python, and slices of texts."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from math import floor

from privrelease.relational.recoding import DatePart, Ends, Interval, Lookup, Multiple, Prefix

__all__ = ["listed", "representative"]

NOTHING = object()
FAR = 2**62
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def listed(recoding, cell):
    """What a lookup lists for a cell."""
    assert isinstance(recoding, Lookup)
    return dict(zip(recoding.values, recoding.labels, strict=True)).get(str(cell))


def representative(recoding, cell, step):
    """The representative of a cell, None where it has none. ``step``: of exact numbers, None for doubles."""
    match recoding:
        case Prefix(length, apart):
            return cell if cell in apart else cell[:length] if len(cell) >= length else None
        case DatePart(unit):
            return period(unit, cell)
        case Ends():
            found = at_end(recoding, cell)
            return found if found is not NOTHING else cell if near(cell, step) else None
        case Multiple(to):
            return type(cell)(round(Fraction(cell) / Fraction(to)) * to) if near(cell, step) else None
        case Interval(bounds, ends):
            found = at_end(ends, cell)
            if found is not NOTHING:
                return found
            if isinstance(bounds, tuple):
                below = [edge for edge in bounds[:-1] if number(edge, cell) <= cell]
                return number(below[-1], cell) if below and cell < number(bounds[-1], cell) else None
            if not near(cell, step):
                return None
            low = lowest(bounds, cell)
            return low if ends.bottom is None else max(low, number(ends.bottom, cell))
    raise AssertionError(recoding)


def number(declared, cell):
    """A declared number as cells of the column are."""
    return type(cell)(declared)


def near(cell, step):
    return step is None or abs(Fraction(cell)) * 10 ** max(0, -step.normalize().as_tuple().exponent) < FAR


def at_end(ends, cell):
    if ends.top is not None and cell >= number(ends.top, cell):
        return number(ends.top, cell)
    if ends.bottom is not None and cell < number(ends.bottom, cell):
        return number(ends.bottom, cell) - 1
    return NOTHING


def lowest(width, cell):
    """The multiple at or below; of a double the multiples are doubles too, the nearest ones."""
    if not isinstance(cell, float):
        return type(cell)(floor(Fraction(cell) / Fraction(width)) * width)
    factor = floor(Fraction(cell) / Fraction(width)) + 1
    while float(factor * Fraction(width)) > cell:
        factor -= 1
    return float(factor * Fraction(width))


def period(unit, cell):
    """The first moment of a period: a day, or nanoseconds since 1970 as moments are held here."""
    if isinstance(cell, date):
        first = begins(unit, datetime(cell.year, cell.month, cell.day, tzinfo=UTC))
        return None if first is None else first.date()
    first = begins(unit, EPOCH + timedelta(microseconds=cell // 1000))
    return None if first is None else (first - EPOCH) // timedelta(microseconds=1) * 1000


def begins(unit, at):
    day = at.replace(hour=0, minute=0, second=0, microsecond=0)
    match unit:
        case "hour":
            return day.replace(hour=at.hour)
        case "day":
            return day
        case "week":
            return day - timedelta(days=day.weekday())
        case "month":
            return day.replace(day=1)
        case "quarter":
            return day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1)
        case "year":
            return day.replace(month=1, day=1)
    return None if day.year < 10 else day.replace(year=day.year // 10 * 10, month=1, day=1)
