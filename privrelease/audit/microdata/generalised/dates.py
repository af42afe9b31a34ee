"""Released periods of the calendar: the days or moments that each represents, read from what is released."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from privrelease.audit.microdata.generalised.intervals import each

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from privrelease.relational.hierarchies import DateUnit, Generalised

__all__ = ["DAY", "period_at_level", "period_ends", "period_has", "period_stands", "period_under"]

#: Microseconds of a day.
DAY = 86_400_000_000

#: The first moment, and how long: the last periods of the calendar end where no date is.
_Period = tuple[datetime, timedelta]
_MICRO = timedelta(microseconds=1)
_LAST = datetime.max  # noqa: DTZ901  columns hold times without a zone

_WRITTEN: Final[dict[DateUnit, re.Pattern[str]]] = {
    "hour": re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2})"),
    "day": re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})"),
    "week": re.compile(r"([0-9]{4})-W([0-9]{2})"),
    "month": re.compile(r"([0-9]{4})-([0-9]{2})"),
    "quarter": re.compile(r"([0-9]{4})-Q([1-4])"),
    "year": re.compile(r"([0-9]{4})"),
    "decade": re.compile(r"([0-9]{3}0)s"),
}


def _whole(day: date) -> datetime:
    return datetime(day.year, day.month, day.day)  # noqa: DTZ001  columns hold times without a zone


def _after(first: datetime, months: int) -> timedelta:
    """Return the time from the beginning of a month to that of another."""
    years, month = divmod(first.month - 1 + months, 12)
    if first.year + years > _LAST.year:
        return _LAST - first + _MICRO
    return first.replace(year=first.year + years, month=month + 1) - first


def _from(unit: DateUnit, first: datetime) -> _Period:
    """Return the period of a unit that begins at a moment."""
    if unit in {"hour", "day", "week"}:
        return first, {"hour": timedelta(hours=1), "day": timedelta(days=1), "week": timedelta(days=7)}[unit]
    return first, _after(first, {"month": 1, "quarter": 3, "year": 12, "decade": 120}[unit])


def _label(unit: DateUnit, label: str) -> _Period | None:
    """Return what a text says that it represents, where it is written as labels of the unit are."""
    found = _WRITTEN[unit].fullmatch(label)
    if found is None:
        return None
    parts = [int(part) for part in found.groups()]
    try:
        if unit == "week":
            first = _whole(date.fromisocalendar(parts[0], parts[1], 1))
        elif unit == "quarter":
            first = _whole(date(parts[0], 3 * parts[1] - 2, 1))
        else:
            first = datetime(*(parts + [1, 1])[: max(3, len(parts))])  # type: ignore[arg-type]  # noqa: DTZ001, RUF005
        return _from(unit, first)
    except (ValueError, OverflowError):
        return None  # there is no such day


def _around(unit: DateUnit, moment: datetime) -> _Period:
    """Return the period of a unit with a moment in it."""
    day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    if unit == "hour":
        return _from(unit, moment.replace(minute=0, second=0, microsecond=0))
    if unit in {"day", "week"}:
        return _from(unit, day - timedelta(days=day.weekday() if unit == "week" else 0))
    month = {"month": day.month, "quarter": (day.month - 1) // 3 * 3 + 1, "year": 1, "decade": 1}[unit]
    year = day.year - (day.year % 10 if unit == "decade" else 0)
    return _from(unit, day.replace(year=year, month=month, day=1))


def _value(unit: DateUnit, write: str, value: date) -> _Period | None:
    """Return the period of which a date or time is the first one, or that in the middle."""
    moment = value if isinstance(value, datetime) else _whole(value)
    try:
        first, long = _around(unit, moment)
    except (ValueError, OverflowError):
        return None
    if write == "low":
        return (first, long) if moment == first else None
    if isinstance(value, datetime):
        return (first, long) if 2 * (moment - first) == long else None
    before = (moment - first).days
    after = long.days - before - 1
    return (first, long) if after - before in (0, 1) else None


def _reader(declared: Generalised, level: int) -> Callable[[Any], _Period | None]:
    form: Any = declared.form
    if level == 0:
        return _as_it_is
    unit = form.levels[level - 1]
    if declared.write == "label":
        return lambda value: _label(unit, str(value))
    return lambda value: _value(unit, declared.write, value)


def _as_it_is(value: Any) -> _Period | None:  # noqa: ANN401  text, date or time
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        return None
    moment = found if isinstance(found, datetime) else _whole(found)
    return moment, _MICRO


def _moments(values: Any) -> NDArray[np.int64]:  # noqa: ANN401  Arrow has no types
    import pyarrow as pa

    return np.asarray(values.cast(pa.timestamp("us")).cast(pa.int64()), np.int64)


def _ends(periods: list[_Period | None]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return first and end of periods in microseconds; nothing lies in one that is none."""
    day = _whole(date(1970, 1, 1))
    pairs = [(0, 0) if one is None else ((one[0] - day) // _MICRO, one[1] // _MICRO) for one in periods]
    both = np.array(pairs, np.int64).reshape(-1, 2)
    return both[:, 0], both.sum(axis=1)


def _inside(source: Any, released: Any, read: Callable[[Any], _Period | None]) -> NDArray[np.bool_]:  # noqa: ANN401
    coded = released.dictionary_encode()
    first, end = _ends([read(value) for value in coded.dictionary.to_pylist()])
    place, moments = np.asarray(coded.indices), _moments(source)
    holds: NDArray[np.bool_] = (first[place] <= moments) & (moments < end[place])
    return holds


def period_stands(declared: Generalised, source: Any, released: Any) -> NDArray[np.bool_]:  # noqa: ANN401  Arrow has no types
    """Tell of pairs whether the source's value lies in the released period, of whatever level."""
    form: Any = declared.form
    stands = np.zeros(len(released), np.bool_)
    for level in range(len(form.levels) + 1):
        stands |= _inside(source, released, _reader(declared, level))
    return stands


def period_at_level(declared: Generalised, released: Any) -> NDArray[np.bool_]:  # noqa: ANN401  Arrow has no types
    """Tell of released values whether they are periods of the planned level."""
    read = _reader(declared, declared.level)
    return each(released, lambda value: read(value) is not None)


def period_under(declared: Generalised, source: Any, released: Any) -> Any:  # noqa: ANN401  Arrow has no types
    """Return the released period of the planned level that each value of the source lies in; null where there is none."""
    import pyarrow as pa

    read = _reader(declared, declared.level)
    first, end = _ends([read(value) for value in released.to_pylist()])
    order = np.argsort(first, kind="stable")
    order = order[end[order] > first[order]]
    if not len(order):
        return pa.nulls(len(source), released.type)
    moments = _moments(source)
    place = np.searchsorted(first[order], moments, side="right") - 1
    chosen = order[np.maximum(place, 0)]
    fits = (place >= 0) & (moments < end[chosen])
    return released.take(pa.array(chosen, mask=~fits))


def period_ends(declared: Generalised, level: int, released: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:  # noqa: ANN401
    """Return first moment and end of released values as periods of a level, in microseconds since 1970; both 0 of what is none."""
    read = _reader(declared, level)
    return _ends([read(value) for value in released.to_pylist()])


def period_has(declared: Generalised, source: Any) -> NDArray[np.bool_]:  # noqa: ANN401  Arrow has no types
    """Tell of values whether they lie in a period that can be written: of the years 1 to 9999, of decades from 10 on."""
    form: Any = declared.form
    first = 10 if form.levels[declared.level - 1] == "decade" else 1
    years = np.asarray(source.cast("timestamp[us]")).astype("datetime64[Y]").astype(np.int64) + 1970
    return np.logical_and(years >= first, years <= _LAST.year)
