"""Whether a pattern of suppressed cells holds: every unsafe figure stays uncertain enough, and no unsafe group of suppressed cells is known.

A group: where a total and some of its parts are known, so is the sum of the others; that sum is a cell nobody asked for, and must be as safe
as a printed one (case t01). Who alone fills a suppressed cell of a sum knows its value, so the groups without that cell are judged too.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Literal

import numpy as np

from privrelease.disclosure.tables.attacker import Knowledge, Polytope, count_bounds
from privrelease.disclosure.tables.rules import group_is_safe, primary_cells, upper_protection

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from privrelease.disclosure.tables.layout import Layout, Relation
    from privrelease.disclosure.tables.rules import CellRules, Magnitude

__all__ = ["ProtectedTable", "SumFigure", "Weakness", "known_of", "needs", "weaknesses"]

_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False, slots=True)
class SumFigure:
    """A sum that is printed: its magnitudes, and the least and largest value of one row (steps; ``highest`` None: no bound)."""

    magnitude: Magnitude
    lowest: int = 0
    highest: int | None = None


@dataclass(frozen=True, eq=False, slots=True)
class ProtectedTable:
    """Everything about a table that patterns are judged by.

    ``contributors``: persons by cell (n,); ``rows`` (n,). ``counted``: counts of rows are printed (sums alone need none).
    ``sums``: the printed sums. ``round_up``: printed counts are rounded up to its multiples. ``most``: rows of one person (inf: unknown).
    """

    layout: Layout
    rules: CellRules
    contributors: NDArray[np.int64]
    rows: NDArray[np.int64]
    sums: tuple[SumFigure, ...] = ()
    counted: bool = True
    round_up: int = 1
    most: float = 1

    @property
    def figures(self) -> range:
        """Numbers of the printed figures: -1 for the count of rows, then those of the sums."""
        return range(-1 if self.counted else 0, len(self.sums))

    def values(self, figure: int) -> NDArray[np.int64]:
        """Return a figure by cell."""
        return self.rows if figure < 0 else self.sums[figure].magnitude.values

    def primaries(self) -> dict[str, NDArray[np.bool_]]:
        """Return the unsafe cells by rule."""
        return primary_cells(self.rules, self.contributors, [one.magnitude for one in self.sums])

    def together(self, cells: Sequence[int]) -> int:
        """Return the contributors of several cells; the least that it can be where persons may be in several."""
        counts = self.contributors[list(cells)]
        return int(counts.sum() if self.most == 1 else counts.max(initial=0))


@dataclass(frozen=True, slots=True)
class Weakness:
    """What an attacker learns too well: the sum of a figure over ``cells`` lies in [low, high].

    ``kind``: ``cell`` (an unsafe cell) or ``group`` (a sum of suppressed cells). ``width`` and ``upper``: how wide the interval, and how far
    above the true value its end should be, at least. ``held``: cells whose value the attacker knows, being the only contributor.
    """

    kind: Literal["cell", "group"]
    figure: int
    cells: tuple[int, ...]
    low: float
    high: float
    width: int
    upper: int = 0
    held: tuple[int, ...] = ()


def known_of(table: ProtectedTable, figure: int, suppressed: NDArray[np.bool_], few: NDArray[np.bool_]) -> Knowledge:
    """Return what an attacker knows of a figure. ``few``: the cells that are unsafe by the minimum count."""
    least = 1 if table.rules.zeros_shown else 0
    counts = count_bounds(
        table.rows, suppressed, few, table.rules.min_count, round_up=table.round_up, most=table.most, least=least
    )
    if figure < 0:
        return counts
    one = table.sums[figure]
    low = one.magnitude.values.astype(np.float64)
    high = low.copy()
    low[suppressed] = (one.lowest * counts.low)[suppressed]
    high[suppressed] = np.inf
    if one.highest is not None:
        top = np.where(np.isinf(counts.high), np.inf, np.where(np.isinf(counts.high), 0, counts.high) * one.highest)
        high[suppressed] = top[suppressed]
    return Knowledge(low, np.maximum(low, high), integral=False)


def weaknesses(
    table: ProtectedTable,
    suppressed: NDArray[np.bool_],
    record: dict[tuple[int, int], tuple[float, float]] | None = None,
) -> Iterator[Weakness]:
    """Yield every weakness of a pattern, (n,) bool; nothing where it holds.

    ``record`` is told the attacker's interval of every unsafe cell, by figure and cell.
    """
    if not suppressed.any():
        return
    primary = table.primaries()
    unsafe = np.logical_or.reduce(list(primary.values()))
    relations = table.layout.relations
    for figure in table.figures:
        polytope = Polytope(
            relations, known_of(table, figure, suppressed, primary["min_count"]), unimodular=table.layout.unimodular
        )
        slack = 0.5 if figure < 0 else _TOLERANCE * polytope.scale
        bounds: dict[int, tuple[float, float]] = {}
        for cell in (*np.flatnonzero(suppressed & unsafe), *np.flatnonzero(suppressed & ~unsafe)):
            bounds[int(cell)] = polytope.interval((int(cell),))
            if unsafe[cell]:
                if record is not None:
                    record[figure, int(cell)] = bounds[int(cell)]
                yield from _cell(table, figure, int(cell), bounds[int(cell)], slack)
        hidden = {cell for cell, (low, high) in bounds.items() if high - low > slack}
        for relation in relations:
            yield from _groups(table, figure, relation, hidden, polytope, slack)


def needs(table: ProtectedTable, figure: int, cell: int) -> tuple[int, int]:
    """Return how wide the interval of an unsafe cell must be, and how far above its value it must reach."""
    value = int(table.values(figure)[cell])
    width = max(1, ceil(table.rules.interval * value))
    if figure < 0:
        return width, 0
    return width, max(0, upper_protection(table.rules, value, [int(x) for x in table.sums[figure].magnitude.largest[cell]]))


def _cell(table: ProtectedTable, figure: int, cell: int, bounds: tuple[float, float], slack: float) -> Iterator[Weakness]:
    low, high = bounds
    width, upper = needs(table, figure, cell)
    value = float(table.values(figure)[cell])
    if high - low < width - min(slack, 0.5) or high < value + upper - min(slack, 0.5):
        yield Weakness("cell", figure, (cell,), low, high, width, upper)


def _groups(
    table: ProtectedTable, figure: int, relation: Relation, hidden: set[int], polytope: Polytope, slack: float
) -> Iterator[Weakness]:
    parts = tuple(part for part in relation.parts if part in hidden)
    if relation.total in hidden or not parts:
        return
    cases: list[tuple[tuple[int, ...], tuple[int, ...]]] = [(parts, ())]
    if figure >= 0 and table.rules.largest:
        alone = [part for part in parts if table.contributors[part] == 1]
        cases += [(tuple(other for other in parts if other != part), (part,)) for part in alone if len(parts) > 1]
    for cells, held in cases:
        sums = [] if figure < 0 else [_together(table.sums[figure].magnitude, cells)]
        if group_is_safe(table.rules, table.together(cells), sums):
            continue
        values = table.values(figure)
        low, high = polytope.interval(cells, {cell: float(values[cell]) for cell in held})
        if high - low <= slack:
            yield Weakness("group", figure, cells, low, high, 1, held=held)


def _together(magnitude: Magnitude, cells: Sequence[int]) -> tuple[int, list[int]]:
    largest = sorted((int(x) for cell in cells for x in magnitude.largest[cell]), reverse=True)
    return int(magnitude.values[list(cells)].sum()), largest
