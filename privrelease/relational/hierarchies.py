"""Hierarchies and the maps of values that are declared by them: frozen values that say which label represents which values.

They hold what is declared and nothing of how a label is computed. :mod:`privrelease.disclosure.hierarchies` makes labels of values; the room
``audit`` asks by itself which values a label represents. Levels count from 1; level 0 is the value as it is.

=========  =======================================================================================================
form       labels
=========  =======================================================================================================
intervals  ``[20, 30)`` holds 20 and not 30; ``90+`` from 90 on, ``<0`` below 0, at every level
dates      ``2026-07-03T14``, ``2026-07-03``, ``2026-W05`` (ISO 8601), ``2026-07``, ``2026-Q3``, ``2026``, ``2020s``
prefixes   the first characters and a filling (``02*``), or the label of all small areas
tree       names, as a file lists them
=========  =======================================================================================================
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from privrelease.relational.schema import ColumnType
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from decimal import Decimal

__all__ = [
    "DATE_UNITS",
    "Coded",
    "DateUnit",
    "Dates",
    "Form",
    "Generalised",
    "Intervals",
    "Prefixes",
    "RoundedTo",
    "SmallAreas",
    "Tree",
    "Unread",
    "Write",
    "number_text",
]

#: What is written for a value: the label as a text, the smallest value that it represents, or the one in the middle.
Write: TypeAlias = Literal["label", "low", "middle"]
DateUnit: TypeAlias = Literal["hour", "day", "week", "month", "quarter", "year", "decade"]

#: Units of time from the finest to the coarsest; a week lies in no month and no calendar year.
DATE_UNITS: Final[tuple[DateUnit, ...]] = ("hour", "day", "week", "month", "quarter", "year", "decade")


def number_text(number: Decimal) -> str:
    """Return a decimal as labels write it: plain digits, no zero that says nothing.

    >>> from decimal import Decimal
    >>> [number_text(Decimal(text)) for text in ("20.0", "1e3", "-0.50", "-0")]
    ['20', '1000', '-0.5', '0']
    """
    return format(number.normalize(), "f") if number else "0"


@dataclass(frozen=True, slots=True)
class Intervals:
    """Half-open intervals. ``levels``: of each level the width, multiples of which begin intervals, or the ascending edges.

    ``top``: values from here on are one interval at every level; ``bottom``: so are those below. ``step``: 1 for whole numbers, the grid of a number
    that has one; None: any number.
    """

    levels: tuple[Decimal | tuple[Decimal, ...], ...]
    bottom: Decimal | None = None
    top: Decimal | None = None
    step: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Dates:
    """Periods of the calendar, one unit a level."""

    levels: tuple[DateUnit, ...]


@dataclass(frozen=True, slots=True)
class SmallAreas:
    """Areas by their first characters: those that are ``small`` are written as one ``label`` at every level, ``others`` are not."""

    small: frozenset[str]
    others: frozenset[str]
    label: str


@dataclass(frozen=True, slots=True)
class Tree:
    """Names as a file lists them: ``levels[i][j]`` is the label of ``leaves[j]`` at level i + 1."""

    leaves: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Prefixes:
    """The first characters of a text: ``lengths`` of each level, from the longest; ``fill`` is written after them.

    ``then``: a tree over the shortest prefixes, whose levels follow.
    """

    lengths: tuple[int, ...]
    fill: str = ""
    small: SmallAreas | None = None
    then: Tree | None = None


Form: TypeAlias = Intervals | Dates | Prefixes | Tree


def _written(write: Write, source: ColumnType) -> ColumnType:
    return ColumnType.CATEGORY if write == "label" else source


@dataclass(frozen=True, slots=True)
class Unread:
    """A map whose hierarchy has not been looked up: what the policy alone says of it."""

    write: Write

    def released_type(self, source: ColumnType) -> ColumnType:
        """Return a category for labels, else the type of the source."""
        return _written(self.write, source)


@dataclass(frozen=True, slots=True)
class Generalised:
    """Every value written as the label of its level in a hierarchy; ``name``: of that level in words."""

    form: Form = field(repr=False)
    level: int
    write: Write = "label"
    name: str = ""

    def released_type(self, source: ColumnType) -> ColumnType:
        """Return a category for labels, else the type of the source.

        >>> Generalised(Dates(("month",)), 1).released_type(ColumnType.DATE).value
        'category'
        """
        return _written(self.write, source)


@dataclass(frozen=True, slots=True)
class Coded:
    """Values from ``top`` on, and those below ``bottom``, are one value each; others stay. ``step``: as of :class:`Intervals`."""

    bottom: Decimal | None
    top: Decimal | None
    write: Write = "label"
    step: Decimal | None = None

    def released_type(self, source: ColumnType) -> ColumnType:
        """Return a category for labels, else the type of the source."""
        return _written(self.write, source)


@dataclass(frozen=True, slots=True)
class RoundedTo:
    """The nearest multiple of ``to``, that with an even factor where two are as near. ``step``: as of :class:`Intervals`."""

    to: Decimal
    step: Decimal

    def released_type(self, source: ColumnType) -> ColumnType:
        """Return the type of the source."""
        return source
