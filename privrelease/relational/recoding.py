"""Recodings: declarations of how values are drawn together before labels are made of them, which any engine can render.

A recoding maps each value to a representative, a value of the same column that is written alike: the first of its interval, the first moment of its
period, its first characters. Labels are then made of the few representatives, not of the values, and no engine needs to know how. A lookup is
written out: it names the label itself. :mod:`privrelease.disclosure.hierarchies` says which recoding draws together what a hierarchy writes alike.

=========  =====================================================================================================
form       representative of a value
=========  =====================================================================================================
Lookup     none: the label that is listed for it
Interval   the multiple of a width, or the edge, at or below it
DatePart   the first moment of its hour, day, ISO week, month, quarter, year or decade
Prefix     its first characters
Ends       itself, but for values at the ends
Multiple   the nearest multiple of a step, that with an even factor where two are as near
=========  =====================================================================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from decimal import Decimal

    from privrelease.relational.hierarchies import DateUnit

__all__ = ["DatePart", "Ends", "Interval", "Lookup", "Multiple", "Prefix", "Recoding"]


@dataclass(frozen=True, slots=True)
class Lookup:
    """``labels[i]`` is released for ``values[i]``, whole numbers by their text; nothing for a value that is not listed."""

    values: tuple[str, ...]
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ends:
    """Values from ``top`` on are one, and so are those below ``bottom``: ``top`` represents the first, any value below ``bottom`` the second."""

    bottom: Decimal | None
    top: Decimal | None


@dataclass(frozen=True, slots=True)
class Interval:
    """Half-open intervals: multiples of a width begin them, or ascending edges; ``ends`` come first.

    An interval that ``bottom`` cuts is represented by ``bottom``. What lies outside the edges and is at no end has no representative.
    """

    bounds: Decimal | tuple[Decimal, ...]
    ends: Ends


@dataclass(frozen=True, slots=True)
class DatePart:
    """Periods of the calendar of years 1 to 9999, of decades from year 10; other dates have no representative."""

    unit: DateUnit


@dataclass(frozen=True, slots=True)
class Prefix:
    """The first ``length`` characters of a text, Unicode characters and not bytes; a shorter text has no representative.

    ``apart``: texts that represent themselves, whatever their length.
    """

    length: int
    apart: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Multiple:
    """Whole numbers, or numbers on a grid, by the nearest multiple of ``to``."""

    to: Decimal


Recoding: TypeAlias = Lookup | Interval | DatePart | Prefix | Ends | Multiple
