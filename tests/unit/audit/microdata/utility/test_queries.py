"""Errors of count queries: hand-worked, and every answer against counting rows one by one."""

from __future__ import annotations

from fractions import Fraction
from statistics import median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privrelease.audit.microdata.utility.queries import CountQuery, Draws, answers, median_error, point_queries, range_queries
from privrelease.disclosure.classes.equivalence_classes import ClassTable


def table_of(rows, columns=("a", "b", "c")):
    codes, counts = np.unique(np.array(rows, np.int32).reshape(len(rows), len(columns)), axis=0, return_counts=True)
    return ClassTable(columns, codes, counts)


rows = st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=1, max_size=20)


def counted(rows, query):
    return sum(all(low <= row[place] <= high for place, low, high in query.conditions) for row in rows)


@given(rows, rows, st.text(max_size=5))
def test_answers_and_median_are_those_of_counting_row_by_row(before, after, seed):
    first, second, draws = table_of(before), table_of(after), Draws(seed)
    for asked in (point_queries(first, draws, 9), range_queries(first, (0, 2), draws, 9)):
        true, given_ = [counted(before, q) for q in asked], [counted(after, q) for q in asked]
        assert answers(first, asked) == true
        assert answers(second, asked) == given_
        floor = Fraction(len(before), 1000)
        errors = [abs(t - g) / max(Fraction(t), floor) for t, g in zip(true, given_, strict=True)]
        assert median_error(first, second, asked) == (median(errors) if errors else None)


@given(rows, st.text(max_size=5))
def test_a_point_query_has_an_answer_and_asks_for_no_missing_value(found, seed):
    table = table_of(found)
    asked = point_queries(table, Draws(seed), 9)
    assert all(answer >= 1 for answer in answers(table, asked))
    assert all(low == high >= 1 for query in asked for _, low, high in query.conditions)
    assert all(1 <= len(query.conditions) <= 3 for query in asked)


@given(rows, st.text(max_size=5))
def test_a_range_query_asks_for_an_interval_of_an_ordered_column(found, seed):
    asked = range_queries(table_of(found), (1,), Draws(seed), 9)
    assert len(asked) == (9 if any(row[1] for row in found) else 0)
    for query in asked:
        assert 1 in [place for place, _, _ in query.conditions]
        assert all(1 <= low <= high for _, low, high in query.conditions)
        assert all(low == high for place, low, high in query.conditions if place != 1)


def test_an_unchanged_table_has_no_error_and_an_empty_one_loses_all():
    table = table_of([[1, 1, 1], [1, 2, 1], [2, 2, 3]])
    asked = point_queries(table, Draws("x"))
    assert median_error(table, table, asked) == 0
    assert median_error(table, table_of(np.zeros((0, 3))), asked) == 1


def test_the_floor_is_a_thousandth_of_the_records():
    before = ClassTable(("a",), np.array([[1], [2]], np.int32), np.array([9_998, 2]))
    after = ClassTable(("a",), np.array([[0], [1]], np.int32), np.array([2, 9_998]))
    assert median_error(before, after, [CountQuery(((0, 2, 2),))]) == Fraction(2, 10)


def test_the_same_text_asks_the_same_queries_and_another_text_others():
    table = table_of([[a, b, c] for a in (1, 2, 3) for b in (1, 2, 3) for c in (1, 2, 3)])
    assert point_queries(table, Draws("x")) == point_queries(table, Draws("x"))
    assert point_queries(table, Draws("x")) != point_queries(table, Draws("y"))


def test_codes_beyond_a_table_are_met_by_none():
    table = ClassTable(("a",), np.array([[1], [255]], np.int32), np.array([1, 1]))
    assert answers(table, [CountQuery(((0, 256, 300),)), CountQuery(((0, 2, 300),))]) == [0, 1]


def test_nothing_can_be_asked_of_no_column_and_no_record():
    assert point_queries(ClassTable((), np.zeros((1, 0), np.int32), np.array([5])), Draws("x")) == ()
    empty = ClassTable(("a",), np.zeros((0, 1), np.int32), np.zeros(0, np.int64))
    assert (point_queries(empty, Draws("x")), range_queries(empty, (0,), Draws("x"))) == ((), ())
    assert median_error(empty, empty, ()) is None


def test_draws_are_even():
    draws = Draws("even")
    found = np.bincount([draws.below(4) for _ in range(4000)], minlength=4)
    assert found.sum() == 4000
    assert abs(found - 1000).max() < 150  # five standard deviations are 137


def test_some_draws_without_repeats():
    assert sorted(Draws("x").some([3, 5, 7], 3)) == [3, 5, 7]
    with pytest.raises(IndexError):
        Draws("x").some([3], 2)
