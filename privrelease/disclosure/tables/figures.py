"""The description of a protected table: its cells, the figures printed in them, who contributes, and the rules.

Cells are those that are printed and, where tables are linked or totals are not printed, cells that no table prints and that
still follow from others: the difference between two tables is such a cell. Those are always hidden, and must be as safe as
printed ones where they are known.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Protocol

import numpy as np

from privrelease.disclosure.tables.attacker import Knowledge
from privrelease.disclosure.tables.rules import Magnitude, primary_cells, upper_protection
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from privrelease.disclosure.tables.holders import Holders
    from privrelease.disclosure.tables.layout import Relation
    from privrelease.disclosure.tables.rules import CellRules

__all__ = ["Cells", "ProtectedTable", "SumFigure", "count_bounds", "known_of", "needs"]


class Cells(Protocol):
    """Numbered cells and which of them add up to which: a :class:`Layout`, or several tables linked."""

    @property
    def size(self) -> int:
        """Number of cells."""

    @property
    def relations(self) -> tuple[Relation, ...]:
        """Every total with its parts."""

    @property
    def unimodular(self) -> bool:
        """Return True if linear programs over the relations have whole vertices."""

    @property
    def together(self) -> NDArray[np.int64] | None:
        """The cells of all columns of several tables, with a side for each; None where they are not looked at."""


@dataclass(frozen=True, eq=False, slots=True)
class SumFigure:
    """A figure that adds up a column: its magnitudes, and the least and largest value of one row (steps; ``highest`` None: no bound).

    ``contributors``: persons with a value by cell, where they are fewer than the persons there. ``printed``: cells where some table prints
    it, where not everywhere. ``whole``: it counts rows (those with a value); ``weights``: it adds up weights, which are no contributions.
    ``name`` and ``column``: what it is called, and what it adds up; ``number``: of that column among those of the holders.
    ``valued``: of a count of rows that have one of two values, cells where some row has either; None for all other figures.
    """

    magnitude: Magnitude
    lowest: int = 0
    highest: int | None = None
    contributors: NDArray[np.int64] | None = None
    printed: NDArray[np.bool_] | None = None
    whole: bool = False
    weights: bool = False
    name: str = ""
    column: str = ""
    number: int = 0
    valued: NDArray[np.bool_] | None = None

    @property
    def signed(self) -> bool:
        """Return True if values may be negative. The minimum count is the only rule for such a sum: a sum of 0 says nothing of its parts."""
        return self.lowest < 0


@dataclass(frozen=True, eq=False, slots=True)
class ProtectedTable:
    """Everything about a table that patterns are judged by.

    ``contributors``: persons by cell (n,); ``rows`` (n,). ``counted``: counts of rows are printed (sums alone need none), in the cells
    ``count_printed`` (all where None). ``sums``: the printed sums. ``round_up``: printed counts are rounded up to its multiples, by cell where
    it is an array. ``most``: rows of one person (inf: unknown). ``printable``: cells that a table prints unless they are suppressed (all
    where None). ``impossible``: cells that everybody knows to be empty. ``holders``: persons that may be in several cells; None: not known.
    ``adding_up``: figures that are in every cell the sum of others. ``granted``: cells that the attacker is taken to know to be empty, since
    one column determines another; whether they are printed is another matter.
    """

    layout: Cells
    rules: CellRules
    contributors: NDArray[np.int64]
    rows: NDArray[np.int64]
    sums: tuple[SumFigure, ...] = ()
    counted: bool = True
    round_up: int | NDArray[np.int64] = 1
    most: float = 1
    printable: NDArray[np.bool_] | None = None
    count_printed: NDArray[np.bool_] | None = None
    impossible: NDArray[np.bool_] | None = None
    holders: Holders | None = None
    adding_up: tuple[tuple[int, tuple[int, ...]], ...] = ()
    granted: NDArray[np.bool_] | None = None

    @property
    def figures(self) -> range:
        """Numbers of the printed figures: -1 for the count of rows, then those of the sums."""
        return range(-1 if self.counted else 0, len(self.sums))

    @property
    def silent(self) -> NDArray[np.bool_]:
        """Cells that no table prints."""
        return np.zeros(self.layout.size, np.bool_) if self.printable is None else ~self.printable

    @property
    def known_empty(self) -> NDArray[np.bool_]:
        """Cells that are known to be empty, whatever is printed."""
        found = np.zeros(self.layout.size, np.bool_) if self.impossible is None else self.impossible
        return found if self.granted is None else found | self.granted

    @property
    def few(self) -> NDArray[np.bool_]:
        """Cells with fewer persons than the minimum count, empty ones too."""
        return self.contributors < self.rules.min_count

    def values(self, figure: int) -> NDArray[np.int64]:
        """Return a figure by cell."""
        return self.rows if figure < 0 else self.sums[figure].magnitude.values

    def persons(self, figure: int) -> NDArray[np.int64]:
        """Return who contributes to a figure, by cell."""
        own = None if figure < 0 else self.sums[figure].contributors
        return self.contributors if own is None else own

    def is_printed(self, figure: int) -> NDArray[np.bool_]:
        """Tell for each cell whether some table prints the figure there, unless it is suppressed."""
        found = ~self.silent
        if figure < 0:
            return found & (self.counted if self.count_printed is None else self.count_printed)
        own = self.sums[figure].printed
        return found if own is None else found & own

    def primaries(self) -> dict[str, NDArray[np.bool_]]:
        """Return the unsafe cells by rule. A figure that few persons have a value of is as unsafe as a cell of few."""
        added = [one for one in self.sums if not (one.whole or one.signed)]
        found = primary_cells(
            self.rules, self.contributors, [one.magnitude for one in added], [one.contributors for one in added]
        )
        for one in self.sums:
            if one.contributors is None:
                continue
            few = (one.contributors > 0) & (one.contributors < self.rules.min_count)
            if one.valued is None:
                found["min_count"] = found["min_count"] | few
                continue
            if not self.rules.zeros_shown or self.rules.class_disclosure:
                few |= one.valued & (one.contributors == 0)
            found["two_values"] = found.get("two_values", np.zeros(len(few), np.bool_)) | few
        return {rule: cells & ~self.known_empty for rule, cells in found.items()}

    def together(self, figure: int, cells: Sequence[int]) -> int:
        """Return the contributors of several cells; the least that it can be where persons may be in several and it is not known who."""
        counts = self.persons(figure)[list(cells)]
        if self.most == 1:
            return int(counts.sum())
        if self.holders is None:
            return int(counts.max(initial=0))
        has_own = figure >= 0 and self.sums[figure].contributors is not None
        return int(counts.sum()) - self.holders.repeated(cells, self.sums[figure].number if has_own else None)

    def added(self, figure: int, cells: Sequence[int]) -> tuple[int, list[int]]:
        """Return a sum over several cells and its largest contributions, descending; a person's parts in all of them are one contribution."""
        one = self.sums[figure]
        value = int(one.magnitude.values[list(cells)].sum())
        by_cell = one.magnitude.largest
        if self.most == 1 or self.holders is None or one.weights:
            return value, sorted((int(x) for cell in cells for x in by_cell[cell]), reverse=True)
        return value, self.holders.largest(cells, one.number, by_cell)


def count_bounds(
    values: NDArray[np.int64],
    suppressed: NDArray[np.bool_],
    few: NDArray[np.bool_],
    min_count: int,
    *,
    round_up: int | NDArray[np.int64] = 1,
    most: float = 1,
    least: int = 1,
) -> Knowledge:
    """Return what is known of counts of rows. ``few``: suppressed for the minimum count. ``round_up``: printed counts are rounded up to its
    multiples. ``most``: rows of one person. ``least``: 0 where empty cells are suppressed too.

    >>> known = count_bounds(np.array([2, 7, 9]), np.array([True, True, False]), np.array([True, False, False]), 5)
    >>> known.low.tolist(), known.high.tolist()
    ([1.0, 5.0, 9.0], [4.0, inf, 9.0])
    """
    printed = -(-values // round_up) * round_up
    low = np.minimum(np.where(printed > 0, np.maximum(printed - round_up + 1, min_count), 0), printed).astype(np.float64)
    high = printed.astype(np.float64)
    low[suppressed] = np.where(few, least, min_count)[suppressed]
    high[suppressed] = np.where(few, (min_count - 1) * most, np.inf)[suppressed]
    return Knowledge(low, high, integral=True)


def known_of(table: ProtectedTable, figure: int, suppressed: NDArray[np.bool_]) -> Knowledge:
    """Return what an attacker knows of a figure, and of no other, where ``suppressed`` (n,) cells are not printed.

    The attacker is granted which of the suppressed cells have few contributors. What is true always fits.
    """
    rules, few = table.rules, table.few
    hidden = (suppressed | table.silent) & ~table.known_empty
    least = 1 if rules.zeros_shown and not rules.class_disclosure else 0
    counts = count_bounds(table.rows, hidden, few, rules.min_count, round_up=table.round_up, most=table.most, least=least)
    silent = table.silent & ~table.known_empty
    counts.low[silent], counts.high[silent] = 0, np.inf
    unsaid = ~hidden & ~table.is_printed(-1) & (table.rows > 0)
    counts.low[unsaid], counts.high[unsaid] = rules.min_count, np.inf
    low, high = np.minimum(counts.low, table.rows), np.maximum(counts.high, table.rows)
    if figure < 0:
        return Knowledge(low, high, integral=True)
    one = table.sums[figure]
    values = one.magnitude.values.astype(np.float64)
    unknown = hidden | ~(table.is_printed(figure) | (low == 0) & (high == 0))
    top = np.full(len(values), np.inf)
    if one.highest is not None:
        most = low if one.highest < 0 else high
        bounded = np.isfinite(most)
        top[bounded] = most[bounded] * one.highest
    bottom = one.lowest * (high if one.signed else low)
    least_sum = np.where(unknown, np.minimum(bottom, values), values)
    return Knowledge(least_sum, np.where(unknown, np.maximum(top, values), values), integral=one.whole)


def needs(table: ProtectedTable, figure: int, cell: int) -> tuple[int, int]:
    """Return how wide the interval of an unsafe cell must be, and how far above its value it must reach."""
    value = int(table.values(figure)[cell])
    width = max(1, ceil(table.rules.interval * abs(value)))
    if figure < 0 or table.sums[figure].whole:
        return width, 0
    if table.sums[figure].signed:
        return width, 0
    return width, max(0, upper_protection(table.rules, value, [int(x) for x in table.sums[figure].magnitude.largest[cell]]))
