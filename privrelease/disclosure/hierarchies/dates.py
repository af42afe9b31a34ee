"""Labels of dates and times by periods of the calendar: closed forms over days, weeks and months since 1970."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from privrelease.relational.hierarchies import Dates, DateUnit, Write

__all__ = ["periods"]

#: 1970-01-01 was a Thursday: weeks begin on the Monday before.
_TO_MONDAY = 3
_MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
_HOUR = 3_600_000_000
_DAY = 24 * _HOUR


def _numbers(stamps: NDArray[np.datetime64], unit: DateUnit) -> NDArray[np.int64]:
    """Return the number of the period of each time, counted from the one that holds, or begins, 1970."""
    if unit in _MONTHS:
        return (stamps.astype("datetime64[M]").astype(np.int64) + 1970 * 12) // _MONTHS[unit]
    if unit == "hour":
        return stamps.astype("datetime64[us]").astype(np.int64) // _HOUR
    days = stamps.astype("datetime64[D]").astype(np.int64)
    return (days + _TO_MONDAY) // 7 if unit == "week" else days


def _begins(numbers: NDArray[np.int64], unit: DateUnit) -> NDArray[np.int64]:
    """Return the first moment of periods, in microseconds since 1970."""
    if unit in _MONTHS:
        months = numbers * _MONTHS[unit] - 1970 * 12
        return months.astype("datetime64[M]").astype("datetime64[us]").astype(np.int64)
    if unit == "hour":
        return numbers * _HOUR
    return (numbers * 7 - _TO_MONDAY) * _DAY if unit == "week" else numbers * _DAY


def _names(numbers: NDArray[np.int64], unit: DateUnit) -> list[str]:
    first = _begins(numbers, unit).astype("datetime64[us]")
    months = first.astype("datetime64[M]").astype(np.int64) + 1970 * 12
    if unit == "week":  # the ISO year is that of the Thursday
        thursday = first + np.timedelta64(3, "D")
        years = thursday.astype("datetime64[Y]").astype(np.int64) + 1970
        in_year = (thursday.astype("datetime64[D]") - thursday.astype("datetime64[Y]").astype("datetime64[D]")).astype(np.int64)
        return [f"{year:04d}-W{day // 7 + 1:02d}" for year, day in zip(years.tolist(), in_year.tolist(), strict=True)]
    if unit == "quarter":
        return [f"{month // 12:04d}-Q{month % 12 // 3 + 1}" for month in months.tolist()]
    if unit == "decade":
        return [f"{month // 12:04d}s" for month in months.tolist()]
    numpys = {"hour": "h", "day": "D", "month": "M", "year": "Y"}[unit]
    return [str(one) for one in np.datetime_as_string(first.astype(f"datetime64[{numpys}]")).tolist()]


def periods(form: Dates, level: int, write: Write, values: Any) -> Any:  # noqa: ANN401  Arrow has no types
    """Return the labels of an Arrow array of dates or times at a level; null before the year 1, of decades before 10, and after 9999.

    The middle of a period is the day in its middle, the earlier one of two; of times the moment halfway.

    >>> from datetime import date
    >>> import pyarrow as pa
    >>> from privrelease.relational.hierarchies import Dates
    >>> form, days = Dates(("month", "quarter", "year", "decade")), pa.array([date(2026, 7, 31)])
    >>> [periods(form, level, "label", days)[0].as_py() for level in (1, 2, 3, 4)]
    ['2026-07', '2026-Q3', '2026', '2020s']
    >>> periods(form, 1, "low", days)[0].as_py(), periods(form, 1, "middle", days)[0].as_py()
    (datetime.date(2026, 7, 1), datetime.date(2026, 7, 16))
    """
    import pyarrow as pa

    unit, kind = form.levels[level - 1], values.type
    whole = pa.types.is_date(kind)
    stamps = np.asarray(values.cast(pa.timestamp("us"))).astype("datetime64[us]")
    years = stamps.astype("datetime64[Y]").astype(np.int64) + 1970
    known = (years >= (10 if unit == "decade" else 1)) & (years <= 9999)
    numbers = _numbers(np.where(known, stamps, np.datetime64(0, "us")), unit)
    coded = pa.array(numbers).dictionary_encode()
    found, which = np.asarray(coded.dictionary, np.int64), np.asarray(coded.indices, np.int64)
    if write == "label":
        return pa.array(_names(found, unit), pa.string()).take(pa.array(which, mask=~known))
    begin = _begins(found, unit)
    if write == "middle":
        end = _begins(found + 1, unit)
        begin += (end - begin - _DAY) // 2 // _DAY * _DAY if whole else (end - begin) // 2
    return pa.array(begin[which], pa.int64(), mask=~known).cast(pa.timestamp("us")).cast(kind)
