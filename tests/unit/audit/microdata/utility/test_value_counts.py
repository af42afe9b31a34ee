"""Counts by value, hand-worked: six records of two columns, one cell and one row of which were lost."""

from __future__ import annotations

import numpy as np
import pytest

from privrelease.audit.microdata.utility.value_counts import ValueCounts, column_counts, joint_counts
from privrelease.disclosure.classes.equivalence_classes import ClassTable


def table(codes, counts, columns=("a", "b")):
    return ClassTable(columns, np.array(codes, np.int32), np.array(counts, np.int64))


BEFORE = table([[1, 1], [1, 2], [2, 2]], [3, 2, 1])
AFTER = table([[1, 0], [1, 1], [1, 2]], [1, 3, 1])


def test_every_column_is_counted_by_value_with_missing_first():
    a, b = column_counts(BEFORE, AFTER)
    assert (a.before.tolist(), a.after.tolist()) == ([0, 5, 1], [0, 5, 0])
    assert (b.before.tolist(), b.after.tolist()) == ([0, 3, 3], [1, 3, 1])
    assert (b.known_before, b.known_after, b.lost.tolist()) == (6, 4, [0, 2])


def test_a_value_that_became_more_frequent_is_no_loss():
    assert not ValueCounts("a", np.array([0, 2, 2]), np.array([0, 3, 1])).only_lost


def test_values_that_only_one_side_has_are_counted_on_both():
    found = column_counts(table([[1, 3]], [2]), table([[1, 1]], [2]))[1]
    assert (found.before.tolist(), found.after.tolist()) == ([0, 0, 0, 2], [0, 2, 0, 0])


def test_joint_counts_are_over_the_tuples_of_either_side():
    before, after = joint_counts(BEFORE, AFTER, ["a", "b"])
    assert sorted(zip(before.tolist(), after.tolist(), strict=True)) == [(0, 1), (1, 0), (2, 1), (3, 3)]


def test_tables_of_other_columns_are_refused():
    with pytest.raises(ValueError, match="other columns"):
        column_counts(BEFORE, table([[1]], [1], ("a",)))
