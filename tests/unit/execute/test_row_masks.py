from __future__ import annotations

import numpy as np
import pytest

from privrelease.disclosure.classes.equivalence_classes import ClassTable
from privrelease.disclosure.suppression.problem import Solution
from privrelease.engine.protocol.base import RowClasses
from privrelease.errors import InternalError
from privrelease.execute.microdata import suppression
from privrelease.execute.microdata.suppression import nothing_suppressed, nulled_cells, one_class, pairs_of_rows, row_masks


def solution(parts):
    class_index, records, suppressed, dropped = zip(*parts, strict=True)
    return Solution(
        np.array(class_index, np.uint32),
        np.array(records),
        np.array(suppressed, np.bool_),
        np.array(dropped, np.bool_),
        np.zeros(len(suppressed[0]), np.int64),
    )


ROWS = RowClasses(
    ClassTable(("a", "b"), np.array([[1, 1], [2, 1]], np.int32), np.array([3, 2])), np.array([1, 0, 0, 1, 0], np.uint32)
)


@pytest.mark.parametrize("block", [1, 2, 5, 1 << 20])
def test_rows_of_a_class_go_to_its_parts_in_source_order(monkeypatch, block):
    monkeypatch.setattr(suppression, "_BLOCK_ROWS", block)
    solved = solution([(0, 1, [True, False], False), (0, 2, [False, True], False), (1, 2, [False, False], False)])
    masks, dropped = row_masks(solved, ROWS)
    assert masks.tolist() == [[0], [1], [2], [0], [2]]
    assert not dropped.any()
    assert nulled_cells(solved).tolist() == [1, 2]


def test_a_dropped_row_loses_no_single_cell():
    solved = solution([(0, 3, [True, True], True), (1, 2, [True, False], False)])
    masks, dropped = row_masks(solved, ROWS)
    assert masks.tolist() == [[1], [0], [0], [1], [0]]
    assert dropped.tolist() == [False, True, True, False, True]
    assert nulled_cells(solved).tolist() == [2, 0]


def test_seventy_columns_take_two_words():
    q = 70
    table = ClassTable(tuple(f"c{i}" for i in range(q)), np.ones((1, q), np.int32), np.array([1]))
    gone = [i in {0, 63, 64, 69} for i in range(q)]
    masks, _ = row_masks(solution([(0, 1, gone, False)]), RowClasses(table, np.zeros(1, np.uint32)))
    assert masks.tolist() == [[1 | 1 << 63, 1 | 1 << 5]]


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
        row_masks(solution(parts), ROWS)


def test_without_a_suppression_step_every_cell_stays():
    masks, dropped = row_masks(nothing_suppressed(ROWS.table), ROWS)
    assert not masks.any()
    assert not dropped.any()
    assert nulled_cells(nothing_suppressed(ROWS.table)).tolist() == [0, 0]


@pytest.mark.parametrize("n_rows", [0, 4])
def test_rows_without_quasi_identifiers_are_one_class(n_rows):
    rows = one_class(n_rows)
    masks, dropped = row_masks(nothing_suppressed(rows.table), rows)
    assert masks.shape == (n_rows, 1)
    assert dropped.shape == (n_rows,)


PAIRED = RowClasses(
    ClassTable(
        ("a", "b"),
        np.array([[1, 1], [2, 1]], np.int32),
        np.array([3, 2]),
        pairs_class=np.array([0, 0, 1], np.uint32),
        pairs_person=np.array([0, 1, 0], np.uint32),
    ),
    np.array([1, 0, 0, 1, 0], np.uint32),
)
WHO = np.array([0, 1, 0, 0, 1], np.uint32)


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


def test_rows_of_a_person_go_to_that_persons_part():
    pair, amounts = pairs_of_rows(PAIRED, WHO)
    assert (pair.tolist(), amounts.tolist()) == ([2, 1, 0, 2, 1], [1, 2, 2])
    masks, dropped = row_masks(by_person([1, 2, 2]), PAIRED, pair)
    assert masks.tolist() == [[0], [1], [2], [0], [1]]
    assert not dropped.any()


def test_persons_that_do_not_make_up_their_parts_are_a_fault_of_ours():
    pair, _ = pairs_of_rows(PAIRED, WHO)
    with pytest.raises(InternalError, match="R183"):
        row_masks(by_person([2, 1, 2]), PAIRED, pair)
    with pytest.raises(InternalError, match="R183"):
        row_masks(by_person([1, 2, 2]), PAIRED)
    with pytest.raises(InternalError, match="R185"):
        pairs_of_rows(PAIRED, np.array([1, 1, 0, 0, 1], np.uint32))
    with pytest.raises(InternalError, match="R185"):
        pairs_of_rows(ROWS, WHO)
