"""How long stored answers are kept: from the entry that stored them, for a duration of the calendar."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import UTC, datetime, timedelta
from typing import Final

__all__ = ["before"]

_DURATION: Final = re.compile(r"P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?", re.ASCII)
#: The year 1: what is kept for longer than that is kept.
_EVER: Final = datetime(1, 1, 1, tzinfo=UTC)


def before(now: datetime, duration: str) -> datetime:
    """Return the moment that lies an ISO 8601 duration before ``now`` (a day that a month has not is its last); raises ValueError.

    >>> before(datetime(2028, 3, 31, tzinfo=UTC), "P1M").date().isoformat()
    '2028-02-29'
    >>> before(datetime(2028, 3, 31, tzinfo=UTC), "P5YT12H").isoformat()
    '2023-03-30T12:00:00+00:00'
    """
    found = _DURATION.fullmatch(duration)
    if found is None or not any(found.groups()):
        msg = "not an ISO 8601 duration"
        raise ValueError(msg)
    years, months, weeks, days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    month = now.year * 12 + now.month - 1 - years * 12 - months
    if month < 12:
        return _EVER
    year, month = divmod(month, 12)
    start = now.replace(year=year, month=month + 1, day=min(now.day, monthrange(year, month + 1)[1]))
    try:
        return start - timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds)
    except OverflowError:
        return _EVER
