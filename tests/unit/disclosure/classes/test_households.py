"""Households by composition, worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from privrelease.disclosure.classes.households import compositions, joint_codes, linked_values, multisets

F, M, CHILD = 1, 2, 3


def test_couples_and_a_single_person_are_classes_of_their_own():
    # households 1 and 2: a woman and a man, in either order; 3: a man; 4: nobody's, since its number is missing
    found = compositions(np.array([1, 1, 2, 2, 3, 0]), None, np.array([F, M, M, F, M, F]))
    assert (found.sizes.sizes.tolist(), found.sizes.classes.tolist()) == ([1, 2], [1, 1])
    assert found.sizes.n_records == 3
    assert found.largest == 2


def test_a_composition_is_a_multiset_not_a_set():
    # a woman and two children is not a woman and one child
    found = compositions(np.array([1, 1, 1, 2, 2]), None, np.array([F, CHILD, CHILD, F, CHILD]))
    assert found.sizes.sizes.tolist() == [1]
    assert found.sizes.n_records == 2


def test_household_risk_is_that_of_finding_one_member():
    # every tuple is five persons': 1 - (1 - 1/5)^2 = 0.36 (case w03), 1 - (4/5)^3 = 0.488
    pairs = np.repeat(np.arange(1, 6), 2), np.tile([F, M], 5)
    assert compositions(pairs[0], None, pairs[1]).member_risk == pytest.approx(0.36)
    three = np.repeat(np.arange(1, 6), 3), np.tile([F, M, CHILD], 5)
    assert compositions(three[0], None, three[1]).member_risk == pytest.approx(0.488)
    # of three women one is at 1/3; the man is alone: certain
    assert compositions(np.array([1, 2, 3, 3]), None, np.array([F, F, F, M])).member_risk == 1


def test_a_member_with_several_rows_is_a_set_or_a_multiset_where_rows_are_known():
    # person 10 has two rows with the same value, person 20 one: alike as sets, not as multisets
    households, persons, values = np.array([1, 1, 2]), np.array([10, 10, 20]), np.array([F, F, F])
    assert compositions(households, persons, values).sizes.sizes.tolist() == [2]
    assert compositions(households, persons, values, knows_rows=True).sizes.sizes.tolist() == [1]
    # two persons of one value each are not one person of both
    assert compositions(np.array([1, 1, 2, 2]), np.array([1, 2, 3, 3]), np.array([F, M, F, M])).sizes.sizes.tolist() == [1]


def test_no_household_is_nothing_to_find():
    assert compositions(np.array([0, 0]), None, np.array([F, M])).sizes.smallest is None
    empty = compositions(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.int64))
    assert (empty.sizes.n_records, empty.largest, empty.member_risk) == (0, 0, 0.0)


def test_a_household_of_everybody_costs_no_loop_over_its_members():
    n = 200_000
    found = compositions(np.ones(n, np.int64), None, np.arange(n) % 7)
    assert (found.sizes.sizes.tolist(), found.largest) == ([1], n)


def test_joint_codes_are_equal_where_all_columns_are():
    assert joint_codes([], 2).tolist() == [0, 0]
    first, second = np.array([0, 2**31 - 1, 0], np.int64), np.array([5, 5, 6], np.uint8)
    assert len(set(joint_codes([first, second], 3).tolist())) == 3


def test_multisets_of_different_lengths_never_meet():
    assert len(set(multisets(np.array([0, 1, 1]), np.array([7, 7, 7]), 2, distinct=False).tolist())) == 2
    assert len(set(multisets(np.array([0, 1, 1]), np.array([7, 7, 7]), 2, distinct=True).tolist())) == 1


@pytest.mark.parametrize(
    ("persons", "values", "numbers", "linked"),
    [
        ([1, 2], [5, 5], False, 5),  # half of the values
        ([1, 2], [6, 5], False, 0),  # less
        ([2, 20, 21], [2, 3, 5], False, 5),  # 2 and 20 both count, 21 does not
        ([3], [4], False, 0),  # too few to tell from a classification
        ([3, 300], [9, 1], False, 9),
        ([3, 300], [9, 1], True, 0),  # an amount that most persons share
        ([3, 27], [9, 1], True, 9),  # half of the persons
        ([], [], False, 0),
    ],
)
def test_numbers_of_households_are_told_by_their_persons(persons, values, numbers, linked):
    assert linked_values(np.array(persons, np.int64), np.array(values, np.int64), numbers=numbers) == linked


def test_persons_without_a_number_are_counted_among_themselves():
    # three numbered, all alike; without a number: two women and a man, of whom one woman has two rows
    households, persons = np.array([1, 2, 3, 0, 0, 0, 0]), np.array([1, 2, 3, 4, 5, 6, 4])
    found = compositions(households, persons, np.array([F, F, F, F, F, M, F]))
    assert (found.unnumbered.sizes.tolist(), found.unnumbered.records.tolist()) == ([1, 2], [1, 2])
    assert compositions(households, persons, np.array([F, F, F, F, F, M, F]), knows_rows=True).unnumbered.sizes.tolist() == [1]
    assert compositions(np.zeros(3, np.int64), None, np.array([F, F, M])).unnumbered.smallest is None
