from __future__ import annotations

import numpy as np
import pytest

from privrelease.disclosure.classes.class_sizes import ClassSizes
from privrelease.disclosure.classes.persons import linkable_class_sizes, person_class_sizes


def test_five_rows_of_one_person_hide_nobody(table_of):
    table = table_of([(1,)] * 5 + [(2,)] * 2, persons=["p"] * 5 + ["q", "r"])
    assert ClassSizes.from_table(table).smallest == 2
    assert person_class_sizes(table).smallest == 1


def test_persons_are_counted_once_where_their_classes_merge(table_of):
    table = table_of([(1, 1), (1, 2), (1, 2)], persons=["p", "p", "q"])
    assert person_class_sizes(table, ["a"]).sizes.tolist() == [2]


def test_persons_of_the_residual_class_are_lost(table_of):
    table = table_of([(None,), (None,), (1,)], persons=["p", "p", "q"])
    sizes = person_class_sizes(table)
    assert (sizes.sizes.tolist(), sizes.residual) == ([1], 1)
    assert person_class_sizes(table, residual="class").n_classes == 2


def test_linked_rows_single_out_whom_each_row_alone_would_hide(table_of):
    # every tuple is held by two persons, every pair of tuples by one
    table = table_of([(1,), (2,), (1,), (3,), (2,), (3,)], persons=["p", "p", "q", "q", "r", "r"])
    assert person_class_sizes(table).smallest == 2
    sizes = linkable_class_sizes(table)
    assert (sizes.sizes.tolist(), sizes.n_classes) == ([1], 3)


def test_a_set_forgets_and_a_multiset_remembers_how_many_rows(table_of):
    table = table_of([(1,), (1,), (2,), (1,), (2,)], persons=["p", "p", "p", "q", "q"])
    rows = np.array([2, 1, 1, 1])  # (1, p), (1, q), (2, p), (2, q)
    assert linkable_class_sizes(table).sizes.tolist() == [2]
    assert linkable_class_sizes(table, reading="multiset", pair_rows=rows).sizes.tolist() == [1]
    equal = np.array([2, 2, 1, 1])
    assert linkable_class_sizes(table, reading="multiset", pair_rows=equal).sizes.tolist() == [2]


def test_rows_that_merge_on_fewer_columns_add_up_in_the_multiset(table_of):
    # on column a: p has value 1 twice (two classes), q twice in one class
    table = table_of([(1, 1), (1, 2), (1, 1), (1, 1)], persons=["p", "p", "q", "q"])
    rows = np.array([1, 2, 1])  # (class 0: p, q), (class 1: p)
    assert linkable_class_sizes(table, ["a"], reading="multiset", pair_rows=rows).sizes.tolist() == [2]


def test_a_multiset_without_row_numbers_is_refused_unless_each_pair_has_one_row(table_of):
    once = table_of([(1,), (2,)], persons=["p", "p"])
    assert linkable_class_sizes(once, reading="multiset").sizes.tolist() == [1]
    twice = table_of([(1,), (1,)], persons=["p", "p"])
    with pytest.raises(ValueError, match="number of rows"):
        linkable_class_sizes(twice, reading="multiset")


def test_a_person_of_whom_nothing_is_left_is_lost(table_of):
    table = table_of([(None,), (None,), (1,), (1,)], persons=["p", "q", "q", "r"])
    sizes = linkable_class_sizes(table)
    assert (sizes.sizes.tolist(), sizes.classes.tolist(), sizes.residual) == ([1], [2], 1)


def test_without_a_unit_every_record_is_its_own_person(table_of):
    table = table_of([(1,), (1,), (2,)])
    assert person_class_sizes(table).sizes.tolist() == linkable_class_sizes(table).sizes.tolist() == [1, 2]
