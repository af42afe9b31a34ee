"""Suppression on tables small enough to solve by hand."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from privrelease.disclosure.classes.equivalence_classes import ClassTable
from privrelease.disclosure.risk.thresholds import RecordsAtRisk, Thresholds
from privrelease.disclosure.suppression.cell_suppression import suppress_cells
from privrelease.disclosure.suppression.problem import Problem, Requirement

HALF = Thresholds(highest=Fraction(1, 2))
THIRD = Thresholds(highest=Fraction(1, 3))


def table(rows, counts=None, **more):
    codes = np.array(rows, np.int32).reshape(len(rows), -1)
    counts = np.ones(len(rows), np.int64) if counts is None else np.array(counts, np.int64)
    return ClassTable(tuple(f"c{column}" for column in range(codes.shape[1])), codes, counts, **more)


def solve(classes, *requirements, costs=None, **more):
    q = len(classes.columns)
    named = tuple(
        one if isinstance(one, Requirement) else Requirement(f"r{number}", tuple(range(q)), one)
        for number, one in enumerate(requirements)
    )
    return suppress_cells(Problem(classes, named, costs or (Fraction(1),) * q, **more))


def parts(solution):
    """(class, records, suppressed columns or "dropped") of every part."""
    return [
        (index, records, "dropped" if dropped else tuple(np.flatnonzero(mask).tolist()))
        for index, records, mask, dropped in zip(
            solution.class_index.tolist(),
            solution.records.tolist(),
            solution.suppressed,
            solution.dropped.tolist(),
            strict=True,
        )
    ]


def test_classes_that_are_large_enough_lose_nothing():
    assert parts(solve(table([[1, 1], [2, 2]], [2, 3]), HALF)) == [(0, 2, ()), (1, 3, ())]


def test_two_records_that_differ_in_one_column_lose_that_column():
    assert parts(solve(table([[1, 1], [1, 2]]), HALF)) == [(0, 1, (1,)), (1, 1, (1,))]


def test_a_large_class_gives_a_record_to_one_that_is_short():
    # 2 + 3 records at k = 3: one of the three would leave two behind, so all five join; 4 + 2 at k = 3: one of four is enough.
    solution = solve(table([[1, 1], [1, 2]], [4, 2]), THIRD)
    assert parts(solution) == [(0, 3, ()), (0, 1, (1,)), (1, 2, (1,))] or parts(solution) == [
        (0, 1, (1,)),
        (0, 3, ()),
        (1, 2, (1,)),
    ]
    assert solution.lost_cells.tolist() == [0, 3]


def test_a_record_joins_those_whose_value_was_missing_from_the_start():
    # The class (1, missing) has two records: (1, 2) needs to lose one cell only to be as they are.
    assert parts(solve(table([[1, 0], [1, 2]], [2, 1]), HALF)) == [(0, 2, ()), (1, 1, (1,))]


def test_a_cell_missing_in_the_source_is_neither_marked_nor_counted():
    solution = solve(table([[0, 1], [2, 1]]), HALF)
    assert parts(solution) == [(0, 1, ()), (1, 1, (0,))]
    assert solution.lost_cells.tolist() == [1, 0]


def test_column_weights_decide_which_column_goes():
    rows = [[1, 1], [1, 2], [2, 2]]
    dear_first = solve(table(rows), HALF, costs=(Fraction(5), Fraction(1)))
    dear_second = solve(table(rows), HALF, costs=(Fraction(1), Fraction(5)))
    assert parts(dear_first)[:2] == [(0, 1, (1,)), (1, 1, (1,))]
    assert parts(dear_second)[1:] == [(1, 1, (0,)), (2, 1, (0,))]


@pytest.mark.parametrize("rule", ["drop", "keep"])
def test_a_lone_record_is_dropped_or_kept_residual(rule):
    solution = solve(table([[1, 1], [2, 2]], [2, 1]), HALF, residual=rule)
    expected = "dropped" if rule == "drop" else (0, 1)
    assert parts(solution) == [(0, 2, ()), (1, 1, expected)]
    assert solution.lost_cells.tolist() == [1, 1]


def test_fewer_records_than_the_class_size_leave_nothing_released():
    solution = solve(table([[1], [2]]), Thresholds(highest=Fraction("0.2")))
    assert solution.dropped.all()
    assert solution.feasible


def test_dropping_for_one_requirement_is_repaired_for_another():
    # By the first column record 2 is alone and is dropped; with it the class of the second column would be one too small.
    classes = table([[1, 1], [1, 2], [2, 2]], [2, 1, 1])
    solution = solve(classes, Requirement("first", (0,), HALF), Requirement("second", (1,), HALF))
    shown = [(index, mask) for index, _, mask in parts(solution) if mask != "dropped"]
    assert [mask for index, mask in shown if index == 1] in ([(1,)], [(0, 1)]) or all(index != 1 for index, _ in shown)
    second = sum(records for index, records, mask in parts(solution) if mask != "dropped" and 1 not in mask and index > 0)
    assert second in (0, 2)


def test_zero_rows_one_row_and_equal_rows():
    empty = ClassTable(("a", "b"), np.zeros((0, 2), np.int32), np.zeros(0, np.int64))
    assert parts(solve(empty, HALF)) == []
    assert parts(solve(table([[1, 1]]), HALF)) == [(0, 1, "dropped")]
    assert parts(solve(table([[1, 1]], [1000]), HALF)) == [(0, 1000, ())]


def test_no_requirement_suppresses_nothing():
    assert parts(solve(table([[1, 1]]))) == [(0, 1, ())]


def test_a_column_that_is_unique_per_row_goes_and_nothing_else():
    rows = [[row + 1, 1 + row % 2] for row in range(40)]
    assert solve(table(rows), Thresholds(highest=Fraction("0.2"))).lost_cells.tolist() == [40, 0]


def test_persons_are_counted_once_and_their_class_is_not_split():
    # Three rows of one person are one person; six rows of two persons are two.
    classes = table(
        [[1], [2]],
        [3, 6],
        pairs_class=np.array([0, 1, 1], np.uint32),
        pairs_person=np.array([0, 1, 2], np.uint32),
    )
    assert parts(solve(classes, HALF)) == [(0, 3, "dropped"), (1, 6, ())]


def test_a_share_of_persons_is_no_share_of_the_classes_they_are_in():
    # Case k12: both persons are in class 1, and each is alone in another. Two of four pairs are at risk, and both persons.
    classes = table(
        [[1], [2], [3]],
        [2, 1, 1],
        pairs_class=np.array([0, 0, 1, 2], np.uint32),
        pairs_person=np.array([0, 1, 0, 1], np.uint32),
    )
    half = Thresholds(at_risk=RecordsAtRisk(Fraction(1, 2), Fraction(1, 2)))
    assert int(solve(classes, half).lost_cells.sum()) >= 1
    assert int(solve(classes, Thresholds(average=Fraction(3, 4))).lost_cells.sum()) >= 1
    # Without the rows of class 3 the second person's smallest class is that of both.
    fewer = table([[1], [2]], [2, 1], pairs_class=np.array([0, 0, 1], np.uint32), pairs_person=np.array([0, 1, 0], np.uint32))
    assert int(solve(fewer, half).lost_cells.sum()) == 0
    assert int(solve(fewer, Thresholds(average=Fraction(3, 4))).lost_cells.sum()) == 0


def test_average_risk_is_met_exactly_and_not_below_it():
    # Four classes of two: J/n = 1/2. An average of 1/4 asks for half as many classes.
    rows = [[1, 1], [1, 2], [2, 1], [2, 2]]
    limits = Thresholds(highest=Fraction(1, 2), average=Fraction(1, 4))
    assert int(solve(table(rows, [2] * 4), limits).lost_cells.sum()) == 8
    relaxed = Thresholds(highest=Fraction(1, 2), average=Fraction(3, 8))
    assert int(solve(table(rows, [2] * 4), relaxed).lost_cells.sum()) == 4


def test_a_share_of_records_may_stay_at_risk():
    # Two of nineteen records are alone: a share of 0.2 allows both, 0.1 allows one.
    rows = [[1, 1], [2, 2], [3, 3]]
    allowed = Thresholds(at_risk=RecordsAtRisk(Fraction(1, 2), Fraction("0.2")))
    assert int(solve(table(rows, [17, 1, 1]), allowed).lost_cells.sum()) == 0
    one = Thresholds(at_risk=RecordsAtRisk(Fraction(1, 2), Fraction("0.1")))
    assert int(solve(table(rows, [17, 1, 1]), one).lost_cells.sum()) == 2


def test_a_large_population_protects_a_record_that_is_alone_in_the_sample():
    population = ClassTable(("a",), np.array([[1], [2]], np.int32), np.array([50, 2]))
    known = Requirement("r", (0,), Thresholds(highest=Fraction("0.2")), attacker="journalist", population=population)
    assert parts(solve(table([[1], [2]]), known, residual="keep")) == [(0, 1, ()), (1, 1, (0,))]


def test_the_population_counts_those_who_agree_on_what_is_still_shown():
    # Nobody in the population is (1, 3), but five agree on the first column.
    population = ClassTable(("a", "b"), np.array([[1, 1], [1, 2]], np.int32), np.array([3, 2]))
    known = Requirement("r", (0, 1), Thresholds(highest=Fraction("0.2")), attacker="journalist", population=population)
    assert parts(solve(table([[1, 3]]), known)) == [(0, 1, (1,))]


def test_sampling_weights_stand_for_the_population():
    classes = table([[1], [2]], [1, 1], weights=np.array([4.5, 5.0]))
    known = Requirement("r", (0,), Thresholds(highest=Fraction("0.2")), attacker="journalist", use_weights=True)
    assert parts(solve(classes, known, residual="keep")) == [(0, 1, (0,)), (1, 1, ())]


def linked():
    """Persons 0 and 1 have both rows (1) and (2), person 2 has (1) only, three times."""
    return table(
        [[1, 1], [2, 1]],
        [5, 2],
        pairs_class=np.array([0, 0, 0, 1, 1], np.uint32),
        pairs_person=np.array([0, 1, 2, 0, 1], np.uint32),
    )


def test_a_linkable_person_is_known_by_its_set_of_rows():
    solution = solve(linked(), HALF, linkable=True, pair_rows=np.array([1, 1, 3, 1, 1]))
    # Person 2 alone has the set {(1, 1)}. Without the first column all three have {(-, 1)}, but it is cheaper to lose person 2's three rows.
    assert solution.pair_part.tolist()[0] == solution.pair_part.tolist()[1] != solution.pair_part.tolist()[2]
    assert solution.lost_cells.tolist() == [3, 3]
    assert solution.dropped.tolist()[solution.pair_part.tolist()[2]]


def test_a_class_of_linkable_persons_is_treated_alike_where_rows_cannot_be_told_apart():
    solution = solve(linked(), HALF, linkable=True)
    assert len(solution.records) == 2
    assert solution.pair_part is None


def test_a_multiset_needs_the_rows_of_each_pair():
    with pytest.raises(ValueError, match="rows of the"):
        solve(linked(), HALF, linkable=True, knows_rows=True)


def lost_by(*column_sets):
    generator = np.random.default_rng(3)
    rows, counts = np.unique(generator.integers(1, 4, (200, 5)), axis=0, return_counts=True)
    known = [
        Requirement(f"r{number}", columns, Thresholds(highest=Fraction("0.2"))) for number, columns in enumerate(column_sets)
    ]
    return int(solve(table(rows, counts), *known).lost_cells.sum())


def test_many_overlapping_requirements_cost_no_more_than_one_on_all_their_columns():
    triples = [(a, b, c) for a in range(5) for b in range(a + 1, 5) for c in range(b + 1, 5)]
    assert lost_by(*triples) <= lost_by((0, 1, 2, 3, 4))


def test_requirements_on_columns_of_their_own_cost_as_much_together_as_alone():
    assert lost_by((0, 1), (2, 3, 4)) == lost_by((0, 1)) + lost_by((2, 3, 4))


def test_progress_goes_from_nothing_to_all():
    seen = []
    classes = table([[1, 1], [1, 2]])
    problem = Problem(classes, (Requirement("r", (0, 1), HALF),), (Fraction(1),) * 2)
    suppress_cells(problem, progress=lambda step, share: seen.append((step, share)))
    assert seen[0] == ("suppress", 0.0)
    assert seen[-1] == ("suppress", 1.0)
    assert [share for _, share in seen] == sorted(share for _, share in seen)
