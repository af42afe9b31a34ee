"""Classes of what leaves, where persons have several rows."""

from __future__ import annotations

import numpy as np

from privrelease.disclosure.classes.equivalence_classes import ClassTable
from privrelease.disclosure.classes.persons import person_class_sizes
from privrelease.disclosure.suppression.problem import Solution
from privrelease.execute.microdata.frontier import released_classes

TABLE = ClassTable(
    ("a", "b"),
    np.array([[1, 1], [1, 2], [2, 1]], np.int32),
    np.array([2, 3, 1]),
    pairs_class=np.array([0, 0, 1, 1, 2], np.uint32),
    pairs_person=np.array([0, 1, 1, 2, 3], np.uint32),
)


def solution(hidden, dropped, **more) -> Solution:
    parts = more.pop("parts", [0, 1, 2])
    records = more.pop("records", [2, 3, 1])
    return Solution(
        np.array(parts, np.uint32),
        np.array(records),
        np.array(hidden, np.bool_),
        np.array(dropped),
        np.zeros(2, np.int64),
        **more,
    )


def test_a_person_of_two_classes_that_become_one_counts_once():
    after = released_classes(TABLE, solution([[0, 1], [0, 1], [0, 0]], [False, False, True]))
    assert (after.codes.tolist(), after.counts.tolist()) == ([[1, 0]], [5])
    assert person_class_sizes(after).sizes.tolist() == [3]


def test_parts_by_person_keep_their_persons():
    found = solution(
        [[0, 0], [0, 1], [0, 1], [0, 0]],
        [False, False, False, True],
        parts=[0, 0, 1, 2],
        records=[1, 1, 3, 1],
        pair_part=np.array([0, 1, 2, 2, 3], np.uint32),
    )
    after = released_classes(TABLE, found)
    assert after.codes.tolist() == [[1, 0], [1, 1]]
    assert after.counts.tolist() == [4, 1]
    assert after.pairs_class.tolist() == [0, 0, 1]
    assert after.pairs_person.tolist() == [1, 2, 0]


def test_where_nothing_leaves_no_class_is_left():
    after = released_classes(TABLE, solution([[0, 0]] * 3, [True] * 3))
    assert (after.n_classes, after.pairs_class.tolist()) == (0, [])
