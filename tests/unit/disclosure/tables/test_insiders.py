"""What contributors of one suppressed cell learn of another, against linear programs that were written anew."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

from privrelease.disclosure.tables.attack_assessment import weaknesses
from privrelease.disclosure.tables.figures import ProtectedTable, SumFigure, needs
from privrelease.disclosure.tables.layout import Layout
from privrelease.disclosure.tables.rules import CellRules, Magnitude
from privrelease.disclosure.tables.secondary import suppressed_cells
from tests.depth import depth

RULES = CellRules(3, p_percent=Fraction(1, 10))


def made(cells, shape, rules=RULES, *, counted=False):
    """A table of two sides with totals, from the contributions to each inner cell."""
    layout = Layout(shape, margins=True)
    contributions = [[] for _ in range(layout.size)]
    for place, values in zip(product(*map(range, shape)), cells, strict=True):
        for along in product(*((one, size) for one, size in zip(place, shape, strict=True))):
            contributions[int(np.ravel_multi_index(along, layout.shape))] += values
    counts = np.array([len(values) for values in contributions])
    largest = np.array([(*sorted(values, reverse=True), 0, 0)[: rules.largest] for values in contributions], np.int64)
    magnitude = Magnitude(np.array([sum(values) for values in contributions]), largest.reshape(layout.size, rules.largest))
    return ProtectedTable(layout, rules, counts, counts, (SumFigure(magnitude),), counted=counted)


#: The first cell is one person's, and the fifth is dominated; the four of the rectangle give each other away.
RECTANGLE = [[500], [100, 90, 80, 70], [100] * 6, [100, 95, 80, 75], [600, 10, 5], [120] * 6, [100] * 7, [130] * 7, [130] * 7]


def pattern(table, *cells):
    found = np.zeros(table.layout.size, np.bool_)
    found[list(cells)] = True
    return found


class TestARectangle:
    table = made(RECTANGLE, (3, 3))

    def test_who_is_alone_in_a_corner_knows_the_opposite_one(self):
        found = list(weaknesses(self.table, pattern(self.table, 0, 1, 4, 5)))
        assert [(weak.kind, weak.cells, weak.held, weak.low, weak.high) for weak in found] == [("cell", (5,), (0,), 615, 615)]

    def test_nobody_outside_does(self):
        """The same figures, but of a crowd: it is those who contribute that know."""
        crowd = made([[100] * 5, *RECTANGLE[1:]], (3, 3))
        assert not list(weaknesses(crowd, pattern(crowd, 0, 1, 4, 5)))

    def test_who_is_alone_with_nothing_knows_that_too(self):
        """A sum of 0 is known to whoever has it: the opposite corner is what the totals leave."""
        table = made([[0], *RECTANGLE[1:]], (3, 3))
        found = list(weaknesses(table, pattern(table, 0, 1, 4, 5)))
        assert [(weak.kind, weak.cells, weak.held, weak.low, weak.high) for weak in found] == [("cell", (5,), (0,), 615, 615)]

    def test_who_has_most_of_a_cell_learns_nearly_as_much(self):
        """500 of 510: the cell below is at most 10 more than it is, and must be 55 more."""
        table = made([[500, 10], *RECTANGLE[1:3], RECTANGLE[4], RECTANGLE[3], *RECTANGLE[5:]], (3, 3))
        (weak,) = (weak for weak in weaknesses(table, pattern(table, 0, 1, 4, 5)) if weak.cells == (4,))
        assert (weak.held, round(weak.high, 6), weak.upper) == ((0,), 625, 55)
        assert not list(weaknesses(table, suppressed_cells(table)))

    def test_other_cells_go_too(self):
        found = suppressed_cells(self.table)
        assert not list(weaknesses(self.table, found))

    def test_the_minimum_count_alone_is_no_reason_to_tell_them(self):
        cells = [[500], [100] * 4, [100] * 6, [100] * 4, [60, 50], [120] * 6, [100] * 7, [130] * 7, [130] * 7]
        table = made(cells, (3, 3), CellRules(3))
        assert [weak.held for weak in weaknesses(table, pattern(table, 0, 1, 4, 5)) if weak.cells == (5,)] == [(0,)]
        assert not list(weaknesses(table, suppressed_cells(table)))


@pytest.mark.parametrize("seed", range(depth(5, 12)))
def test_a_pattern_that_holds_holds_against_every_contributor(seed):
    dice = np.random.default_rng(seed)
    shape = (int(dice.integers(2, 4)), int(dice.integers(2, 5)))
    cells = []
    for _ in range(shape[0] * shape[1]):
        values = dice.integers(20, 60, int(dice.choice([0, 1, 2, 4, 7]))).tolist()
        cells.append([900, *values[1:]] if values and dice.random() < 0.3 else values)
    table = made(cells, shape, RULES if seed % 2 else CellRules(3, dominance=(1, Fraction(3, 5))))
    found = suppressed_cells(table)
    if list(weaknesses(table, found)):
        pytest.skip("nothing protects this table")
    inner = [int(np.ravel_multi_index(place, table.layout.shape)) for place in product(*map(range, shape))]
    members = np.array(
        [
            [
                all(
                    one in {side, size}
                    for one, side, size in zip(np.unravel_index(cell, table.layout.shape), place, shape, strict=True)
                )
                for place in product(*map(range, shape))
            ]
            for cell in range(table.layout.size)
        ],
        float,
    )
    values = table.sums[0].magnitude.values
    unsafe = np.logical_or.reduce(list(table.primaries().values())) & found
    for cell, (holder, contributions) in product(np.flatnonzero(unsafe), zip(inner, cells, strict=True)):
        number = inner.index(holder)
        if not contributions or not found[holder] or members[cell, number]:
            continue
        bounds = [(0, None)] * len(inner)
        bounds[number] = (max(contributions), max(contributions) if len(contributions) == 1 else None)
        ends = [linprog(sign * members[cell], A_eq=members[~found], b_eq=values[~found], bounds=bounds) for sign in (1, -1)]
        low, high = (sign * end.fun if end.status == 0 else sign * -np.inf for sign, end in zip((1, -1), ends, strict=True))
        width, upper = needs(table, 0, int(cell))
        assert high - low >= width - 1e-6
        assert high >= values[cell] + upper - 1e-6
