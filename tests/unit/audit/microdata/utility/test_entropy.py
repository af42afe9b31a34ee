"""Non-uniform entropy and granularity, hand-worked: a column of a, a, a, a, b, b, c, c of which one c and both b were suppressed."""

from __future__ import annotations

from fractions import Fraction
from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privrelease.audit.microdata.utility.entropy import bits, entropy_loss, kept
from privrelease.audit.microdata.utility.granularity import coarseness, granularity, suppressed
from privrelease.audit.microdata.utility.value_counts import ValueCounts

COLUMN = ValueCounts("a", np.array([0, 4, 2, 2]), np.array([3, 4, 0, 1]))


def test_frequencies_of_the_whole_file_cost_two_bits_a_cell_of_a_quarter():
    assert entropy_loss(COLUMN).whole_file == 3 * log2(8 / 2)


def test_frequencies_among_suppressed_cells_are_of_those_alone():
    assert entropy_loss(COLUMN).suppressed == pytest.approx(2 * log2(3 / 2) + log2(3), abs=1e-12)


def test_the_most_that_can_be_lost_is_every_cell():
    assert entropy_loss(COLUMN).most == 4 * log2(2) + 4 * log2(4)
    everything = entropy_loss(ValueCounts("a", COLUMN.before, np.array([8, 0, 0, 0])))
    assert everything.whole_file == everything.suppressed == everything.most


def test_a_generalised_cell_costs_the_bits_within_its_group():
    # a stays, b and c leave as "b or c": each is one of 4 cells, half of them b
    assert bits(np.array([4, 2, 2]), np.array([4, 2, 2]), np.array([4, 4, 4])) == 4.0


def test_cells_that_were_missing_before_cannot_be_lost():
    assert entropy_loss(ValueCounts("a", np.array([5, 4, 2, 2]), np.array([8, 4, 0, 1]))) == entropy_loss(COLUMN)


def test_a_changed_value_is_not_taken_for_a_lost_one():
    changed = ValueCounts("a", np.array([0, 2, 2]), np.array([0, 3, 1]))
    assert entropy_loss(changed) is None
    assert suppressed(changed) is None


def test_a_constant_column_has_nothing_to_lose():
    constant = ValueCounts("a", np.array([0, 8]), np.array([3, 5]))
    assert kept([(entropy_loss(constant).whole_file, entropy_loss(constant).most)]) is None
    assert suppressed(constant) == (0, 8)


def test_granularity_counts_the_other_values_that_a_cell_may_stand_for():
    assert suppressed(COLUMN) == (3, 8)
    assert granularity([suppressed(COLUMN)]) == Fraction(5, 8)
    # four cells stand for two of three values each: half lost
    assert coarseness(np.array([4, 4]), np.array([1, 2]), 3) == (2, 8)


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=6))
def test_suppressed_frequencies_never_cost_more_than_all_cells_and_bits_are_what_counting_cells_gives(pairs):
    before = np.array([0, *(a + b for a, b in pairs)])
    loss = entropy_loss(ValueCounts("a", before, np.array([sum(b for _, b in pairs), *(a for a, _ in pairs)])))
    n, gone = int(before.sum()), sum(b for _, b in pairs)
    by_cell = sum(-log2((a + b) / n) for a, b in pairs for _ in range(b))
    among = sum(-log2(b / gone) for _, b in pairs for _ in range(b))
    assert loss.whole_file == pytest.approx(by_cell, abs=1e-9)
    assert loss.suppressed == pytest.approx(among, abs=1e-9)
    assert loss.suppressed <= loss.whole_file + 1e-9 <= loss.most + 2e-9
