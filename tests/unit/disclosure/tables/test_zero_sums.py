"""A sum of 0 of persons who are there tells what each of them has, however many they are."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from privrelease.disclosure.tables.attack_assessment import weaknesses
from privrelease.disclosure.tables.figures import ProtectedTable, SumFigure
from privrelease.disclosure.tables.layout import Layout
from privrelease.disclosure.tables.rules import CellRules, Magnitude, group_is_safe, primary_cells
from privrelease.disclosure.tables.secondary import suppressed_cells

RULES = {
    "p_percent": CellRules(3, p_percent=Fraction(1, 10)),
    "dominance": CellRules(3, dominance=(2, Fraction(9, 10))),
    "zeros": CellRules(3, zeros_shown=False),
}
#: Five persons with 0, five with 10 each, nobody.
ZEROS = Magnitude(np.array([0, 50, 0]), np.array([[0, 0], [10, 10], [0, 0]]))


@pytest.mark.parametrize("name", RULES)
def test_a_rule_about_contributions_or_zeros_finds_it(name):
    assert primary_cells(RULES[name], np.array([5, 5, 0]), [ZEROS])["zeros"].tolist() == [True, False, False]


def test_a_minimum_count_alone_prints_it():
    assert "zeros" not in primary_cells(CellRules(3), np.array([5, 5, 0]), [ZEROS])


def test_a_sum_of_no_value_tells_of_nobody():
    holders = [np.array([0, 5, 0])]
    assert not primary_cells(RULES["p_percent"], np.array([5, 5, 0]), [ZEROS], holders)["zeros"].any()


def test_a_group_of_zeros_is_no_safer():
    assert not group_is_safe(RULES["p_percent"], 10, [(0, [0, 0])])
    assert group_is_safe(CellRules(3), 10, [(0, [0, 0])])


def test_with_totals_another_cell_goes_with_it():
    """Cells of 0, 50 and 70, and their total: without the total, or with one cell more, the 0 is unknown."""
    values, counts = np.array([0, 50, 70, 120]), np.array([5, 5, 7, 17])
    largest = np.array([[0, 0], [10, 10], [10, 10], [10, 10]])
    table = ProtectedTable(
        Layout((3,), margins=True),
        RULES["p_percent"],
        counts,
        counts,
        (SumFigure(Magnitude(values, largest), highest=100),),
        counted=False,
    )
    pattern = suppressed_cells(table)
    assert pattern[0]
    assert pattern.sum() == 2
    assert not list(weaknesses(table, pattern))
    assert list(weaknesses(table, np.array([True, False, False, False])))
