from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from privrelease.disclosure.classes.equivalence_classes import ClassTable
from privrelease.disclosure.suppression.problem import Solution
from privrelease.engine.protocol.base import RowClasses
from privrelease.errors import InternalError
from privrelease.execute.microdata.households import _members
from privrelease.execute.microdata.protection import Protected
from privrelease.execute.microdata.suppression import nothing_suppressed, nulled_cells, parts_of


def solution(parts):
    class_index, records, suppressed, dropped = zip(*parts, strict=True)
    return Solution(
        np.array(class_index, np.uint32),
        np.array(records),
        np.array(suppressed, np.bool_),
        np.array(dropped, np.bool_),
        np.zeros(len(suppressed[0]), np.int64),
    )


ROWS = RowClasses(ClassTable(("a", "b"), np.array([[1, 1], [2, 1]], np.int32), np.array([3, 2])), "rows")


def test_a_part_says_of_every_column_how_it_is_released():
    solved = solution([(0, 1, [True, False], False), (0, 2, [False, True], False), (1, 2, [False, False], False)])
    parts = parts_of(solved, ROWS)
    assert (parts.classes, parts.columns) == ("rows", ("a", "b"))
    assert parts.levels.tolist() == [[255, 0], [0, 255], [0, 0]]
    assert (parts.class_index.tolist(), parts.records.tolist()) == ([0, 0, 1], [1, 2, 2])
    assert not parts.dropped.any()
    assert nulled_cells(solved).tolist() == [1, 2]


def test_a_dropped_row_loses_no_single_cell():
    solved = solution([(0, 3, [True, True], True), (1, 2, [True, False], False)])
    parts = parts_of(solved, ROWS)
    assert parts.levels.tolist() == [[0, 0], [255, 0]]
    assert parts.dropped.tolist() == [True, False]
    assert nulled_cells(solved).tolist() == [2, 0]


@pytest.mark.parametrize(
    "parts",
    [
        [(0, 3, [False, False], False)],
        [(0, 2, [False, False], False), (1, 2, [False, False], False)],
        [(1, 2, [False, False], False), (0, 3, [False, False], False)],
        [(0, 4, [False, False], False), (0, -1, [True, False], False), (1, 2, [False, False], False)],
    ],
)
def test_parts_that_do_not_make_up_the_classes_are_a_fault_of_ours(parts):
    with pytest.raises(InternalError, match="R183"):
        parts_of(solution(parts), ROWS)


def test_without_a_suppression_step_every_cell_stays():
    parts = parts_of(nothing_suppressed(ROWS.table), ROWS)
    assert not parts.levels.any()
    assert not parts.dropped.any()
    assert nulled_cells(nothing_suppressed(ROWS.table)).tolist() == [0, 0]


PAIRED = RowClasses(
    ClassTable(
        ("a", "b"),
        np.array([[1, 1], [2, 1]], np.int32),
        np.array([3, 2]),
        pairs_class=np.array([0, 0, 1], np.uint32),
        pairs_person=np.array([0, 1, 0], np.uint32),
    ),
    "rows",
    np.array([1, 2, 2]),
)


def by_person(records):
    """Person 1 loses the first cell in class 0, person 0 the second; class 1 loses nothing."""
    return Solution(
        np.array([0, 0, 1], np.uint32),
        np.array(records),
        np.array([[False, True], [True, False], [False, False]]),
        np.zeros(3, np.bool_),
        np.array([2, 1]),
        pair_part=np.array([0, 1, 2], np.uint32),
    )


def test_a_pair_of_class_and_person_names_its_part():
    parts = parts_of(by_person([1, 2, 2]), PAIRED)
    assert parts.pair_part.tolist() == [0, 1, 2]
    assert parts.levels.tolist() == [[0, 255], [255, 0], [0, 0]]


def test_persons_that_do_not_make_up_their_parts_are_a_fault_of_ours():
    with pytest.raises(InternalError, match="R183"):
        parts_of(by_person([2, 1, 2]), PAIRED)
    with pytest.raises(InternalError, match="R183"):
        parts_of(by_person([1, 2, 2]), ROWS)


def test_rows_of_alike_persons_are_counted_for_each_of_them():
    """Person 0 stands for three persons: a pair of theirs has one row in class 0 and two in class 1."""
    table = ClassTable(
        ("a", "b"),
        np.array([[1, 1], [2, 1]], np.int32),
        np.array([5, 6]),
        pairs_class=np.array([0, 0, 1], np.uint32),
        pairs_person=np.array([0, 1, 0], np.uint32),
        alike=np.array([3, 1]),
    )
    rows = RowClasses(table, "rows", np.array([1, 2, 2]))
    assert parts_of(by_person([3, 2, 6]), rows).records.tolist() == [3, 2, 6]
    with pytest.raises(InternalError, match="R183"):
        parts_of(by_person([1, 2, 2]), rows)


class OneTable:
    """An engine that answers with one class table."""

    def __init__(self, rows):
        self.rows = rows

    def classes(self, source, columns, *, unit):
        return self.rows


def test_members_of_households_are_persons_and_not_their_numbers():
    """Number 0 stands for two persons, each with one row of class 0 and two of class 1; number 1 is one person with two rows of class 0."""
    table = ClassTable(
        ("a", "home"),
        np.array([[1, 1], [2, 1]], np.int32),
        np.array([4, 4]),
        pairs_class=np.array([0, 0, 1], np.uint32),
        pairs_person=np.array([0, 1, 0], np.uint32),
        alike=np.array([2, 1]),
    )
    rows = RowClasses(table, "rows", np.array([1, 2, 2]))
    codes, persons = _members(OneTable(rows), Protected(None, None, rows, None), ("a", "home"), "who")
    found = Counter(zip(codes[:, 0].tolist(), persons.tolist(), strict=True))
    assert found == {(1, 0): 1, (1, 1): 1, (2, 0): 2, (2, 1): 2, (1, 2): 2}
