"""Columns as numbered cells: a value of a list each, or a bin of numbers, days or seconds; the last cell is that a value is missing.

The same declaration says which cell a row lies in (:attr:`key`, for the engine), what each cell is called, and which values a cell holds.
"""

from __future__ import annotations

from bisect import bisect_right
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

from privrelease.relational.aggregates import BinKey, ColumnKey
from privrelease.relational.schema import ColumnType
from privrelease.value_classes import dataclass

__all__ = [
    "MISSING",
    "BinLabels",
    "BinnedCells",
    "CellsOf",
    "DiscoveredCells",
    "DiscoveredRange",
    "ListedCells",
    "step_of",
    "value_of",
]

#: The label of the last cell of every column.
MISSING = "missing"
_DAY, _MOMENT = date(1970, 1, 1), datetime(1970, 1, 1)  # noqa: DTZ001 -- columns have no zone


def step_of(text: str, kind: ColumnType, grid: Fraction) -> Fraction:
    """Return a bound as it is declared in whole steps: of the grid, days or seconds since 1970. Raises ValueError where it is no such value.

    >>> step_of("1970-01-03", ColumnType.DATE, Fraction(1)), step_of("2.5", ColumnType.NUMBER, Fraction(1, 2))
    (Fraction(2, 1), Fraction(5, 1))
    """
    if kind is ColumnType.DATE:
        return Fraction((date.fromisoformat(text) - _DAY).days)
    if kind is ColumnType.DATETIME:
        return Fraction(round((datetime.fromisoformat(text) - _MOMENT).total_seconds()))
    return Fraction(text) / grid


def value_of(step: int, kind: ColumnType, grid: Fraction) -> int | Decimal | date | datetime:
    """Return the value that so many steps represent."""
    if kind is ColumnType.DATE:
        return _DAY + timedelta(days=step)
    if kind is ColumnType.DATETIME:
        return _MOMENT + timedelta(seconds=step)
    exact = step * grid
    return int(exact) if kind is ColumnType.INTEGER else Decimal(exact.numerator) / Decimal(exact.denominator)


@dataclass(frozen=True, slots=True)
class ListedCells:
    """A cell for each declared value, in ascending order, as an envelope asks for them; other values count as missing."""

    column: str
    type: ColumnType
    values: tuple[str, ...]

    def __post_init__(self) -> None:
        if list(self.values) != sorted(set(self.values)):
            msg = "the values of cells ascend, each once"
            raise ValueError(msg)

    @property
    def key(self) -> ColumnKey:
        """The cells as an engine is asked for them."""
        return ColumnKey(self.column, self.values, missing=True, strays=True)

    @property
    def labels(self) -> tuple[str, ...]:
        """The cells in words."""
        return (*self.values, MISSING)

    @property
    def size(self) -> int:
        """The number of cells."""
        return len(self.values) + 1


@dataclass(frozen=True, slots=True)
class _Discovered:
    """A column with cells that are bought from the data."""

    column: str
    type: ColumnType

    @property
    def key(self) -> ColumnKey:
        """The cells as an engine is asked for them, before they are known."""
        return ColumnKey(self.column, None, missing=True, strays=True, discovered=True)


@dataclass(frozen=True, slots=True)
class DiscoveredCells(_Discovered):
    """Cells for at most ``at_most`` values that are bought from the data; all others count as missing."""

    at_most: int

    @property
    def labels(self) -> tuple[str, ...]:
        """Stand-ins for as many values as there can be."""
        return (*(f"value {number}" for number in range(1, self.at_most + 1)), MISSING)

    @property
    def size(self) -> int:
        """The most cells that there can be."""
        return self.at_most + 1

    def found(self, values: tuple[str, ...]) -> ListedCells:
        """Return the cells of the values that were bought."""
        return ListedCells(self.column, self.type, tuple(sorted(values)))


#: Steps of the grid, of days and of seconds beyond which bounds are not looked for.
_FARTHEST = 1 << 40


@dataclass(frozen=True, slots=True)
class DiscoveredRange(_Discovered):
    """At most ``at_most`` bins of one width between bounds that are bought from the data.

    >>> DiscoveredRange("age", ColumnType.INTEGER, Fraction(1), 3).found(10, 20).labels
    ('10 to 13', '14 to 17', '18 to 20', 'missing')
    """

    grid: Fraction
    at_most: int

    @property
    def labels(self) -> tuple[str, ...]:
        """Stand-ins for as many bins as there can be."""
        return (*(f"bin {number}" for number in range(1, self.at_most + 1)), MISSING)

    @property
    def size(self) -> int:
        """The most cells that there can be."""
        return self.at_most + 1

    @property
    def outer(self) -> tuple[int, int]:
        """The steps beyond which values count as the nearest: public, the same for whatever data. Dates begin in 1000, where formats can say them."""
        first, last = (date(1000, 1, 1) - _DAY).days, (date.max - _DAY).days
        if self.type is ColumnType.DATE:
            return first, last
        if self.type is ColumnType.DATETIME:
            return first * 86_400, last * 86_400 + 86_399
        return -_FARTHEST, _FARTHEST

    def found(self, low: int, high: int) -> BinnedCells:
        """Return the bins between the bounds, in steps."""
        width = -(-(high - low + 1) // self.at_most)
        return BinnedCells(self.column, self.type, self.grid, tuple(range(low, high + 1, width)), high)


@dataclass(frozen=True, slots=True)
class BinnedCells:
    """Bins of whole steps: bin i holds ``starts[i]`` .. ``starts[i + 1] - 1``, the last one up to ``end``. Values outside count in the first or the last.

    >>> BinnedCells("age", ColumnType.INTEGER, Fraction(1), (15, 20), 24).labels
    ('15 to 19', '20 to 24', 'missing')
    """

    column: str
    type: ColumnType
    grid: Fraction
    starts: tuple[int, ...]
    end: int

    @property
    def key(self) -> BinKey:
        """The cells as an engine is asked for them."""
        edges = tuple(start * self.grid for start in (*self.starts, self.end + 1))
        return BinKey(self.column, edges, self.grid, missing=True)

    @property
    def ends(self) -> tuple[int, ...]:
        """The last step of each bin."""
        return (*(start - 1 for start in self.starts[1:]), self.end)

    @property
    def labels(self) -> tuple[str, ...]:
        """The cells in words."""
        return (*map(self.label, range(self.size)),)

    def label(self, cell: int) -> str:
        """Return what a cell is called."""
        if cell == len(self.starts):
            return MISSING
        first, end = self.starts[cell], self.end if cell == len(self.starts) - 1 else self.starts[cell + 1] - 1
        shown = str(value_of(first, self.type, self.grid))
        if first == end:
            return shown
        last = str(value_of(end, self.type, self.grid))
        return shown if shown == last else f"{shown} to {last}"

    @property
    def size(self) -> int:
        """The number of cells."""
        return len(self.starts) + 1

    def cell(self, step: int) -> int:
        """Return the bin of a step."""
        return max(0, bisect_right(self.starts, step) - 1)


@dataclass(frozen=True, slots=True)
class BinLabels:
    """The labels of bins, each written when it is asked for: a range may have a million.

    >>> labels = BinLabels(BinnedCells("age", ColumnType.INTEGER, Fraction(1), (15, 20), 24))
    >>> len(labels), labels[1], labels[2]
    (3, '20 to 24', 'missing')
    """

    bins: BinnedCells

    def __len__(self) -> int:
        """Return the number of cells."""
        return self.bins.size

    def __getitem__(self, cell: int) -> str:
        """Return the label of a cell. Raises IndexError where there is none."""
        if not 0 <= cell < self.bins.size:
            raise IndexError(cell)
        return self.bins.label(cell)


CellsOf: TypeAlias = ListedCells | DiscoveredCells | DiscoveredRange | BinnedCells
