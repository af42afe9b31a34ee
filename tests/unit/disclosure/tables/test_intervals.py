"""What an attacker works out, on tables small enough to try every table of whole numbers that fits what is printed."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from privrelease.disclosure.tables.attack_assessment import weaknesses
from privrelease.disclosure.tables.attacker import Knowledge, Polytope
from privrelease.disclosure.tables.figures import ProtectedTable, SumFigure, count_bounds, known_of
from privrelease.disclosure.tables.layout import Layout, Relation
from privrelease.disclosure.tables.recoverable_cells import exchanges
from privrelease.disclosure.tables.rules import CellRules, Magnitude, group_is_safe, primary_cells, shared_keys

TWO_BY_TWO = Layout((2, 2), margins=True)


def box(inner):
    """Cells with totals, in the order of the layout."""
    found = np.array(inner)
    for side in range(found.ndim):
        found = np.concatenate([found, found.sum(axis=side, keepdims=True)], axis=side)
    return found.reshape(-1)


def every_table(shape, most):
    """Every table of whole numbers up to ``most`` with its totals: (tables, cells)."""
    inner = np.indices((most + 1,) * int(np.prod(shape))).reshape(int(np.prod(shape)), -1).T.reshape(-1, *shape)
    for side in range(1, len(shape) + 1):
        inner = np.concatenate([inner, inner.sum(axis=side, keepdims=True)], axis=side)
    return inner.reshape(len(inner), -1)


def fitting(tables, known):
    return tables[((tables >= known.low) & (tables <= known.high)).all(axis=1)]


def test_relations_are_every_line_with_its_total() -> None:
    assert set(TWO_BY_TWO.relations) == {
        Relation(6, (0, 3)),
        Relation(7, (1, 4)),
        Relation(8, (2, 5)),
        Relation(2, (0, 1)),
        Relation(5, (3, 4)),
        Relation(8, (6, 7)),
    }
    assert Layout((2, 2), margins=False).relations == ()
    assert TWO_BY_TWO.inner().tolist() == [True, True, False, True, True, False, False, False, False]


@pytest.mark.parametrize(
    ("inner", "hidden"),
    [
        ([[2, 6], [7, 5]], [0, 1, 2, 3]),
        ([[2, 6], [7, 5]], [0, 1, 2]),
        ([[2, 3], [4, 8]], [0, 1, 2, 3]),
        ([[1, 3], [9, 5]], [0, 1]),
        ([[0, 3], [3, 6]], [1, 2]),
        ([[2, 2, 2], [6, 6, 6]], [0, 1, 2, 3, 4, 5]),
        ([[2, 6, 2], [6, 6, 6]], [0, 1, 3, 4]),
    ],
)
def test_bounds_are_those_of_every_table_that_fits(inner, hidden) -> None:
    values = box(inner)
    layout = Layout(np.shape(inner), margins=True)
    suppressed = np.zeros(layout.size, bool)
    suppressed[np.flatnonzero(layout.inner())[hidden]] = True
    known = count_bounds(values, suppressed, (values < 5) & (values > 0), 5)
    tables = fitting(every_table(np.shape(inner), 13 if values.size == 9 else 9), known)
    assert len(tables)
    polytope = Polytope(layout.relations, known)
    for cell in np.flatnonzero(suppressed):
        assert polytope.interval((int(cell),)) == (tables[:, cell].min(), tables[:, cell].max())
    pair = [int(cell) for cell in np.flatnonzero(suppressed)[:2]]
    sums = tables[:, pair].sum(axis=1)
    assert polytope.interval(pair) == (sums.min(), sums.max())


def test_whole_numbers_bind_in_three_dimensions_where_fractions_would_not() -> None:
    known = Knowledge(np.array([0.0, 0, 0, 1]), np.array([1.0, 1, 1, 1]), integral=True)
    odd = [Relation(3, (0, 1)), Relation(3, (1, 2)), Relation(3, (0, 2))]  # x + y = y + z = x + z = 1 has no whole solution
    with pytest.raises(ValueError, match="no table fits"):
        Polytope(odd, known).interval((0,))
    fractions = Knowledge(known.low, known.high, integral=False)
    assert Polytope(odd, fractions).interval((0,)) == (0.5, 0.5)


def test_a_total_that_is_hidden_bounds_nothing_from_above() -> None:
    values = np.array([2, 7, 9])
    known = count_bounds(values, np.array([False, True, True]), values < 0, 5)
    assert Polytope(Layout((2,), margins=True).relations, known).interval((1,)) == (5, np.inf)


def test_rounded_counts_are_known_within_their_step() -> None:
    known = count_bounds(np.array([3, 6, 101]), np.array([True, False, False]), np.array([True, False, False]), 6, round_up=100)
    assert known.low.tolist() == [1, 6, 101]
    assert known.high.tolist() == [5, 100, 200]


def test_a_suppressed_empty_cell_may_be_empty_where_those_are_suppressed() -> None:
    hidden = np.array([True])
    assert count_bounds(np.array([0]), hidden, hidden, 4, least=0).low.tolist() == [0]


class TestRules:
    contributors = np.array([0, 2, 3, 9])

    def test_minimum_count_is_inclusive_and_zeros_are_a_choice(self) -> None:
        assert primary_cells(CellRules(3), self.contributors, [])["min_count"].tolist() == [False, True, False, False]
        hiding = CellRules(3, zeros_shown=False)
        assert primary_cells(hiding, self.contributors, [])["min_count"].tolist() == [True, True, False, False]

    def test_a_minimum_of_two_would_print_ones(self) -> None:
        with pytest.raises(ValueError, match="at least 3"):
            CellRules(2)

    @pytest.mark.parametrize(("largest", "unsafe"), [([45, 45], False), ([46, 45], True)])
    def test_dominance_is_about_more_than_the_share(self, largest, unsafe) -> None:
        rules = CellRules(3, dominance=(2, Fraction(9, 10)))
        found = primary_cells(rules, np.array([5]), [Magnitude(np.array([100]), np.array([largest]))])
        assert found["dominance"].tolist() == [unsafe]

    @pytest.mark.parametrize(("rest", "unsafe"), [(5, False), (4, True)])
    def test_the_second_estimates_the_first_within_p(self, rest, unsafe) -> None:
        rules = CellRules(3, p_percent=Fraction(1, 10))
        found = primary_cells(rules, np.array([5]), [Magnitude(np.array([90 + rest]), np.array([[50, 40]]))])
        assert found["p_percent"].tolist() == [unsafe]

    def test_a_group_is_judged_like_a_cell(self) -> None:
        rules = CellRules(3, p_percent=Fraction(1, 10))
        assert group_is_safe(rules, 3, [(100, [40, 30, 30])])
        assert not group_is_safe(rules, 2, [])
        assert not group_is_safe(rules, 9, [(100, [97, 2, 1])])

    def test_groups_of_one_key_are_counted(self) -> None:
        assert len(list(shared_keys(TWO_BY_TWO.relations, box([[5, 0], [4, 4]])))) == 2
        assert not list(shared_keys(TWO_BY_TWO.relations, box([[5, 1], [4, 4]])))


def table(inner, min_count, **more):
    counts = box(inner)
    return ProtectedTable(Layout(np.shape(inner), margins=True), CellRules(min_count, **more), counts, counts)


def pattern(judged, *cells):
    hidden = np.zeros(judged.layout.size, bool)
    hidden[list(cells)] = True
    return hidden


class TestWeaknesses:
    def test_a_single_hidden_cell_of_a_line_is_given_back(self) -> None:
        judged = table([2, 7, 9], 5)
        (weak,) = weaknesses(judged, pattern(judged, 0))
        assert (weak.kind, weak.cells, weak.low, weak.high) == ("cell", (0,), 2, 2)

    def test_two_small_cells_whose_sum_is_printed_are_a_small_group(self) -> None:
        judged = table([17, 4, 3], 10)
        (weak,) = weaknesses(judged, pattern(judged, 1, 2))
        assert (weak.kind, weak.cells, weak.low) == ("group", (1, 2), 7)
        assert not list(weaknesses(judged, pattern(judged, 1, 2, 3)))
        assert not list(weaknesses(judged, pattern(judged, 0, 1, 2)))

    def test_the_protection_interval_is_a_share_of_the_value(self) -> None:
        judged = table([5, 6, 90], 10, interval=Fraction(1, 2))
        assert not list(weaknesses(judged, pattern(judged, 0, 1)))
        judged = table([5, 6, 90], 10, interval=Fraction(3, 2))
        assert {weak.cells for weak in weaknesses(judged, pattern(judged, 0, 1))} == {(0,), (1,)}

    def test_who_is_alone_in_a_cell_knows_the_other_one(self) -> None:
        counts = np.array([1, 6, 30, 37])
        values = np.array([50, 110, 300, 460])
        largest = np.array([[50, 0], [95, 10], [20, 20], [95, 50]])
        rules = CellRules(3, p_percent=Fraction(1, 10))
        judged = ProtectedTable(
            Layout((3,), margins=True), rules, counts, counts, (SumFigure(Magnitude(values, largest)),), counted=False
        )
        found = list(weaknesses(judged, pattern(judged, 0, 1)))
        assert [(weak.kind, weak.cells, weak.held) for weak in found] == [("group", (1,), (0,))]

    def test_the_rules_bound_sums_by_what_one_row_can_be(self) -> None:
        counts = np.array([2, 6, 8])
        sums = SumFigure(Magnitude(np.array([20, 60, 80]), np.zeros((3, 0), int)), 0, 15)
        judged = ProtectedTable(Layout((2,), margins=True), CellRules(5), counts, counts, (sums,))
        known = known_of(judged, 0, np.array([True, True, False]))
        assert known.low.tolist() == [0, 0, 80]
        assert known.high.tolist() == [60, np.inf, 80]


def test_parts_of_nothing_are_nothing_without_a_search(monkeypatch) -> None:
    relations = [Relation(3, (0, 1, 2)), Relation(4, (2, 5)), Relation(8, (0, 6, 7))]
    low = np.array([0.0, 0, 0, 0, 3, 0, 0, 0, 8])
    high = np.array([9.0, 9, 9, 0, 3, 9, 9, 9, 8])
    polytope = Polytope(relations, Knowledge(low, high, integral=True))
    monkeypatch.setattr("scipy.optimize.milp", None)
    assert [polytope.interval((cell,)) for cell in (0, 1, 2, 5)] == [(0, 0), (0, 0), (0, 0), (3, 3)]


def test_parts_of_nothing_that_something_else_says_are_something_contradict() -> None:
    relations = [Relation(2, (0, 1)), Relation(4, (0, 3))]
    low, high = np.array([0.0, 0, 0, 2, 5, 0, 0]), np.array([9.0, 9, 0, 2, 5, 9, 9])
    polytope = Polytope([*relations, Relation(5, (0, 6))], Knowledge(low, high, integral=True))
    with pytest.raises(ValueError, match="no table fits"):
        polytope.interval((6,))


def test_an_end_that_a_table_has_and_none_passes_in_fractions_needs_no_whole_numbers() -> None:
    """Three pairs of a triangle add up to odd numbers in halves; a table that fits is at the bound of one of them."""
    relations = [Relation(3, (0, 1)), Relation(4, (1, 2)), Relation(5, (0, 2))]
    truth = np.array([1.0, 2, 3, 3, 5, 4])
    known = Knowledge(np.zeros(6), np.array([3.0, 3, 3, 3, 5, 4]), integral=True)
    asked = [Polytope(relations, known, truth=truth), Polytope(relations, known)]
    assert [one.interval((cell,)) for one in asked for cell in range(6)] == [
        (cells.min(), cells.max())
        for _ in asked
        for cells in fitting(
            np.array([(a, b, c, a + b, b + c, a + c) for a in range(4) for b in range(4) for c in range(4)]), known
        ).T
    ]


def by_cubes(counts, possible):
    """By how much each cell can be more, and less, by one exchange: every cube of two keys a column, its cells one by one."""
    more, less = np.zeros_like(counts), np.zeros_like(counts)
    for corner in np.ndindex(counts.shape):
        for other in np.ndindex(counts.shape):
            if any(one == two for one, two in zip(corner, other, strict=True)):
                continue
            cube = [(sum(one), tuple(np.where(one, other, corner))) for one in np.ndindex(*(2,) * counts.ndim)]
            added = [cell for taken, cell in cube if taken % 2 == 0]
            taken = [cell for far, cell in cube if far % 2]
            for side, grown, shrunk in ((more, added, taken), (less, taken, added)):
                if all(possible[cell] for cell in grown):
                    side[corner] = max(side[corner], min(counts[cell] for cell in shrunk))
    return more, less


@pytest.mark.parametrize("shape", [(2, 2), (3, 2), (4, 3), (2, 3, 2), (3, 3, 2), (2, 2, 2, 2), (1, 3)], ids=str)
def test_exchanges_are_those_of_every_cube(shape):
    random = np.random.default_rng(sum(shape))
    for _ in range(8):
        counts, possible = random.integers(0, 9, shape), random.random(shape) < 0.8
        for found, wanted in zip(exchanges(counts, possible), by_cubes(counts, possible), strict=True):
            assert found.tolist() == wanted.tolist()


def test_exchanges_that_take_any_cell_to_have_room_are_found_out():
    random = np.random.default_rng(1)
    counts, possible = random.integers(1, 9, (3, 3)), random.random((3, 3)) < 0.8
    for found, wanted in zip(exchanges(counts, np.ones_like(possible)), by_cubes(counts, possible), strict=True):
        assert (found > wanted).any()
