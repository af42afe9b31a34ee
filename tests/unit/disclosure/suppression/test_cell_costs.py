"""Costs of cells by hand, and against floating-point logarithms; what they decide."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privrelease.disclosure.classes.equivalence_classes import ClassTable
from privrelease.disclosure.risk.thresholds import Thresholds
from privrelease.disclosure.suppression.cell_costs import POWERS, cell_costs, value_costs
from privrelease.disclosure.suppression.cell_suppression import suppress_cells
from privrelease.disclosure.suppression.problem import Problem, Requirement
from privrelease.disclosure.suppression.repair import PartRepair
from tests.property.cell_suppression import class_table

ONE = Fraction(1)
UNIT = 1 << 16


def test_a_cell_costs_the_mean_of_its_own_bits_and_of_the_columns():
    """Shares 1/2, 1/4, 1/4: bits 1, 2, 2, on average 1.5; so 1.25, 1.75, 1.75."""
    costs = value_costs(np.array([0, 2, 1, 1]), 4, ONE, Decimal(1))
    assert costs.tolist() == [0, 1.25 * UNIT, 1.75 * UNIT, 1.75 * UNIT]


def test_a_missing_value_is_a_value_with_its_share_and_costs_nothing():
    """Two of four are missing: the known value, twice, has the share 1/2, which is 1 bit, and the column's average."""
    assert value_costs(np.array([2, 2]), 4, ONE, Decimal(1)).tolist() == [0, UNIT]


def test_halves_are_rounded_up_and_every_cell_costs_something():
    assert value_costs(np.array([0, 1, 1]), 2, Fraction(5, 2), Decimal(1), units=1).tolist() == [0, 3, 3]
    assert value_costs(np.array([0, 4]), 4, ONE, Decimal(1)).tolist() == [0, 1]
    assert value_costs(np.array([0, 1, 1]), 2, Fraction(1, 10**9), Decimal(1)).tolist() == [0, 1, 1]


def test_a_person_with_a_value_twice_counts_once():
    """Persons 0, 0, 1 have a, b, a: a has both persons (0 bits), b one of two (1 bit); on average (2·0 + 1·1) / 3."""
    table = class_table([(1,), (2,), (1,)], [0, 0, 1])
    costs = cell_costs(table, (ONE,), "information").value[0] / UNIT
    assert costs[1:].tolist() == pytest.approx([(1 / 6) ** 0.7, (2 / 3) ** 0.7], abs=1 / UNIT)


def test_weights_multiply():
    table = ClassTable(("a", "b"), np.array([[1, 1], [2, 2]], np.int32), np.array([4, 4]))
    costs = cell_costs(table, (ONE, Fraction(3)), "balanced")
    assert costs.value[1].tolist() == [3 * cost for cost in costs.value[0].tolist()]
    assert costs.column == (UNIT, 3 * UNIT)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=30), st.sampled_from(sorted(POWERS)))
def test_costs_are_those_of_floating_point_logarithms(counts, prefer):
    total = sum(counts)
    bits = [log2(total / count) for count in counts]
    mean = sum(count * own for count, own in zip(counts, bits, strict=True)) / total
    wanted = [max(1, UNIT * ((mean + own) / 2) ** float(POWERS[prefer])) for own in bits]
    found = value_costs(np.array([0, *counts]), total, ONE, POWERS[prefer])
    assert found[1:].tolist() == pytest.approx(wanted, abs=0.5001, rel=1e-9)


def test_a_weight_too_large_for_whole_numbers_keeps_the_order():
    table = ClassTable(("a", "b"), np.array([[1, 1], [2, 2]], np.int32), np.array([4, 4]))
    costs = cell_costs(table, (Fraction(10**9), ONE), "information")
    assert costs.column[0] > 10**8 * costs.column[1] > 0


def test_the_column_that_tells_less_is_suppressed_first():
    """Four rows that agree on either column but not on both: `a` has two values, `b` four in all; one column must go."""
    rows = [(1, 1), (1, 1), (2, 1), (1, 2), (1, 3), (1, 4), (2, 2), (2, 3), (2, 4)] * 2 + [(1, 1), (2, 1)]
    table = class_table(rows)
    known = Requirement("r", (0, 1), Thresholds(highest=Fraction(1, 4)))
    lost = suppress_cells(Problem(table, (known,), (ONE, ONE), prefer="information")).lost_cells.tolist()
    assert lost[0] > lost[1] == 0


@pytest.mark.parametrize("prefer", ["cells", "balanced", "information"])
def test_codes_do_not_matter_beyond_their_order(prefer):
    """Ties fall by ascending values: codes with gaps, of a table that holds more values, give the same cells."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        rows = rng.integers(0, 5, (200, 4))
        codes, counts = np.unique(rows, axis=0, return_counts=True)
        wide = np.where(codes > 0, 7 * codes + 3, 0)
        known = tuple(
            Requirement(f"r{number}", columns, Thresholds(highest=Fraction(1, 4)))
            for number, columns in enumerate([(0, 1, 2), (1, 2, 3)][: 1 + seed % 2])
        )
        found = [
            suppress_cells(Problem(ClassTable(tuple("abcd"), one.astype(np.int32), counts), known, (ONE,) * 4, prefer=prefer))
            for one in (codes, wide)
        ]
        first, second = ([one.class_index.tolist(), one.records.tolist(), one.suppressed.tolist()] for one in found)
        assert first == second


def test_a_search_alone_leaves_no_class_too_small():
    """A waiting record that gives some of its kind to a class is counted once: repair by exact measurement is for folded keys."""
    for seed in range(25):
        rng = np.random.default_rng(seed)
        rows = np.stack([np.minimum(rng.geometric(rate, 2000), 70) for rate in (0.8, 0.05, 0.9, 0.5, 0.2)], axis=1)
        codes, counts = np.unique(rows, axis=0, return_counts=True)
        table = ClassTable(tuple("abcde"), codes.astype(np.int32), counts)
        known = Requirement("r", (0, 1, 2, 3, 4), Thresholds(highest=Fraction(1, 5)))
        problem = Problem(table, (known,), (ONE,) * 5, prefer="information")
        repair = PartRepair(problem, cell_costs(table, problem.weights, problem.prefer))
        repair.search(0, None)
        assert not repair.measure(0).below.any()
