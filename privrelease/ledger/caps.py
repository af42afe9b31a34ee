"""Caps: the stricter of two, and the statement that an owner signs to set one.

How long stored answers are kept: from the entry that stored them, for a duration of the calendar.
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from privrelease.dp.budget import Budget
from privrelease.ledger.entries import budget_record, written
from privrelease.units import Delta, Epsilon

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["CAP_STATEMENT", "Verifier", "before", "cap_statement", "stricter"]


#: Returns the payload of a signed envelope where one of the keys (PEM) signed it; raises otherwise.
Verifier: TypeAlias = "Callable[[bytes, tuple[str, ...]], bytes]"

#: Type of the signed statement that sets a cap.
CAP_STATEMENT: Final = "application/vnd.privrelease.ledger-cap.v1+json"


def stricter(one: Budget | None, other: Budget | None) -> Budget | None:
    """Return the lower of two caps in each number; None is no cap.

    >>> low = stricter(Budget(Epsilon(1), Delta("1e-5")), Budget(Epsilon(2), Delta(0)))
    >>> str(low.epsilon), str(low.delta)
    ('1', '0')
    """
    if one is None or other is None:
        return one if other is None else other
    return Budget(Epsilon(min(one.epsilon.value, other.epsilon.value)), Delta(min(one.delta.value, other.delta.value)))


def cap_statement(
    ledger: str, name: str, cap: Budget, replaces: str, *, of: Literal["population", "dataset"] = "population"
) -> bytes:
    """Return what an owner signs to set a cap: good for one ledger, one population or dataset, and in place of one entry's cap (its hash)."""
    says = {
        "format": CAP_STATEMENT,
        "ledger": ledger,
        of: name,
        "cap": budget_record(cap),
        "replaces": replaces,
    }
    return written(says).encode()


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
