"""The lower bound on suppressed cells, worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from privrelease.disclosure import cell_bound
from privrelease.disclosure.cell_bound import fewest_cells
from privrelease.disclosure.classes.equivalence_classes import ClassTable


@pytest.fixture
def table(table_of):
    def made(rows, names=("a", "b")):
        return table_of(rows, list(names[: len(rows[0])]))

    return made


def test_a_lone_record_is_priced_with_the_donor_that_must_join_it(table):
    # (1, 2) needs one of the three (1, 1): one cell each.
    assert fewest_cells(table([(1, 1)] * 3 + [(1, 2)]), ("a", "b"), 2) == 2


def test_donors_are_shared_by_the_failing_records_of_a_group(table):
    # Two records of (1, 1) and one donor of four: 3 cells, 1.5 for each of the two.
    assert fewest_cells(table([(1, 1)] * 2 + [(1, 2)] * 4), ("a", "b"), 3) == 3


def test_failing_records_that_help_each_other_need_no_donor(table):
    assert fewest_cells(table([(1, 1), (1, 2)]), ("a", "b"), 2) == 2


def test_a_record_that_no_other_agrees_with_is_lost(table):
    assert fewest_cells(table([(1, 1)] * 2 + [(2, 2)]), ("a", "b"), 2) == 2


def test_a_record_whose_partners_would_lose_less_without_it_pays_for_them(table):
    # Alone, (1, 1, 1) and (1, 1, 2) lose one cell each. (1, 2, 3) agrees with them in the first column only: it would cost each of them a second cell,
    # so that losing all its three cells is as cheap as what it saves: 5.
    rows = [(1, 1, 1), (1, 1, 2), (1, 2, 3)]
    assert fewest_cells(table(rows, ("a", "b", "c")), ("a", "b", "c"), 2) == 5


def test_cells_that_are_missing_already_cost_nothing(table):
    # (1, missing) and (1, 2): the second joins the first by one cell.
    assert fewest_cells(table([(1, None), (1, 2)]), ("a", "b"), 2) == 1
    assert fewest_cells(table([(None, None), (1, 2)]), ("a", "b"), 2) == 2


def test_classes_that_are_large_enough_take_nothing(table):
    assert fewest_cells(table([(1, 1)] * 2 + [(2, 2)] * 3), ("a", "b"), 2) == 0


def test_a_class_size_beyond_every_file_takes_all_cells(table):
    assert fewest_cells(table([(1, 1)] * 3 + [(1, None)]), ("a", "b"), 10**30) == 7


def test_an_empty_table_takes_nothing():
    empty = ClassTable(("a",), np.zeros((0, 1), np.int32), np.zeros(0, np.int64))
    assert fewest_cells(empty, ("a",), 5) == 0


def test_columns_that_no_threat_knows_are_left_out(table):
    assert fewest_cells(table([(1, 1), (1, 2)]), ("a",), 2) == 0
    assert fewest_cells(table([(1, 1), (1, 2)]), ("b",), 2) == 2


def test_no_bound_is_computed_for_more_classes_than_its_limit(table, monkeypatch):
    monkeypatch.setattr(cell_bound, "MOST_CLASSES", 1)
    assert fewest_cells(table([(1, 1), (1, 2)]), ("a", "b"), 2) is None
