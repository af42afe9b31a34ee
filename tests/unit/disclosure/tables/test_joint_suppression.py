"""The joint program of secondary suppression: its patterns, its price, its limits, and what is left where it has no answer."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from privrelease.disclosure.tables import joint_suppression as joint
from privrelease.disclosure.tables import secondary
from privrelease.disclosure.tables.attack_assessment import weaknesses
from privrelease.disclosure.tables.figures import ProtectedTable
from privrelease.disclosure.tables.layout import Layout
from privrelease.disclosure.tables.rules import CellRules
from privrelease.disclosure.tables.secondary import Suppression, suppression
from tests.property.table_optimum import box, inner_counts


def table_of(inner, **rules):
    counts, _ = box(np.array(inner))
    return ProtectedTable(Layout(np.shape(inner), margins=True), CellRules(5, **rules), counts, counts)


def test_four_corners_with_the_fewest_persons_hide_a_cell():
    # 3 is unsafe; it needs a rectangle: with 6, 7 and 8 (24 persons) and not with the 20s
    table = table_of([[3, 20, 6], [20, 20, 20], [7, 20, 8]])
    found = suppression(table)
    assert np.flatnonzero(found.suppressed).tolist() == [0, 2, 8, 10]
    assert (found.lost, found.least, found.above) == (24, 24, 0)


def test_the_fewest_cells_may_have_more_persons():
    table = table_of(inner_counts((7, 7), 10, 1))
    persons, cells = suppression(table), suppression(table, prefer="cells")
    assert cells.lost == cells.suppressed.sum() < persons.suppressed.sum()
    assert table.rows[cells.suppressed].sum() > persons.lost == table.rows[persons.suppressed].sum()
    assert not list(weaknesses(table, cells.suppressed))


def test_the_same_table_gives_the_same_pattern():
    table = table_of(inner_counts((10, 10), 15, 1))
    first, second = suppression(table), suppression(table)
    assert (first.suppressed == second.suppressed).all()


def heuristic_alone(table, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(secondary, "is_small_enough", lambda *_: False)
        return suppression(table)


@pytest.mark.parametrize(
    ("limit", "value"), [("_MOST_WORK", 0), ("_MOST_WHOLE", 0)], ids=["too large", "a program without an answer"]
)
def test_without_a_program_the_pattern_of_the_heuristic_is_used_and_no_bound_claimed(limit, value, monkeypatch):
    table = table_of(inner_counts((10, 10), 15, 1))
    better, heuristic = suppression(table), heuristic_alone(table, monkeypatch)
    monkeypatch.setattr(joint, limit, value)
    found = suppression(table)
    assert (found.suppressed == heuristic.suppressed).all()
    assert (found.lost, found.least, found.above) == (heuristic.lost, None, None)
    assert better.lost < heuristic.lost


def test_a_program_that_the_judge_objects_to_leaves_a_safe_pattern_and_the_bound(monkeypatch):
    # the first pattern of this table leaves a sum of two known; one round more and it would be mended
    table = table_of(inner_counts((7, 7), 10, 2))
    heuristic = heuristic_alone(table, monkeypatch)
    monkeypatch.setattr(joint, "_MOST_WHOLE", 1)
    found = suppression(table)
    assert not list(weaknesses(table, found.suppressed))
    assert found.least < found.lost <= heuristic.lost
    assert 0 < found.above < Fraction(1, 4)


def test_a_pattern_that_the_judge_does_not_pass_is_never_used(monkeypatch):
    table = table_of(inner_counts((6, 6), 10, 1))
    heuristic = heuristic_alone(table, monkeypatch)
    unsafe = (table.rows > 0) & (table.rows < 5)
    assert list(weaknesses(table, unsafe))
    monkeypatch.setattr(secondary, "joint_suppression", lambda *_: joint.Joint(None, unsafe, None))
    found = suppression(table)
    assert not list(weaknesses(table, found.suppressed))
    assert found.lost <= heuristic.lost


def test_no_bound_is_claimed_of_three_columns():
    found = suppression(table_of(inner_counts((4, 4, 4), 60, 1)))
    assert found.least is None


def test_printed_cells_stay_printed_and_hidden_ones_hidden():
    table = table_of([[3, 20, 6], [20, 20, 20], [7, 20, 8]])
    kept, hidden = np.zeros(16, bool), np.zeros(16, bool)
    kept[2] = hidden[5] = True
    found = suppression(table, kept, hidden).suppressed
    assert found[5]
    assert not found[2]
    assert not list(weaknesses(table, found))


def test_a_table_that_needs_no_further_cell_loses_the_least():
    table = ProtectedTable(Layout((3,), margins=False), CellRules(5), np.array([2, 9, 9]), np.array([2, 9, 9]))
    found = suppression(table)
    assert (found.suppressed.tolist(), found.lost, found.least) == ([True, False, False], 2, 2)


def test_groups_that_share_one_key_are_repaired_by_the_program_too():
    inner = [[0, 9, 0, 0], [6, 7, 8, 9], [5, 8, 9, 7], [7, 8, 6, 9]]
    table = table_of(inner, class_disclosure=True)
    found = suppression(table)
    assert not list(weaknesses(table, found.suppressed))
    assert found.least is None or found.least <= found.lost


def test_the_share_above_the_least_is_exact():
    nothing = np.zeros(1, bool)
    assert Suppression(nothing, 27, 22).above == Fraction(5, 22)
    assert Suppression(nothing, 0, 0).above == 0
    assert Suppression(nothing, 5).above is None
