"""Section 13 of a made-up release, hand-worked: six rows of sex, region and score; one row dropped, one cell of region missing."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import log2

import numpy as np
import pytest

from privrelease.audit.microdata.utility.measures import utility_measures
from privrelease.disclosure.risk.thresholds import Thresholds
from privrelease.engine.protocol.audit import LeftRows
from privrelease.engine.protocol.base import ColumnChange, ReleasedFile
from privrelease.plan.model import ThreatPlan


class Numbers:
    """An engine that knows the scores of source and release, and counts how often it is asked."""

    def __init__(self, before, after, distances=()):
        self.sides, self.distances, self.asked = {"Staged": before, "ReleasedFile": after}, distances, []

    def number_counts(self, of, column):
        self.asked.append(column)
        return self._counted(self.sides[type(of).__name__])

    def number_distances(self, source, released, row_map, column):
        return self._counted(self.distances)

    def _counted(self, numbers):
        values, counts = np.unique(np.array(numbers, float), return_counts=True)
        return values, counts.astype(np.int64)


#: The dropped row is the sixth: sex 2, region 2, score 9.
SCORES = Numbers([1, 1, 2, 3, 4, 9], [1, 1, 2, 3, 4])


def measured(made, engine=SCORES, **changes):
    evidence = made.evidence(
        before=made.table([[1, 1], [1, 2], [2, 1], [2, 2]], [3, 1, 1, 1]),
        after=made.table([[1, 1], [1, 2], [2, 0]], [3, 1, 1]),
        **changes,
    )
    return utility_measures(evidence, made.policy(evidence.plan), engine)


def test_cells_rows_and_information_kept(made):
    found = measured(made)
    # lost of 12 cells: sex 2 once, region 1 and region 2 once each
    assert Fraction(found.cells_lost.exact.exact) == Fraction(3, 12)
    assert Fraction(found.rows_lost.exact.exact) == Fraction(1, 6)
    assert Fraction(found.granularity.exact.exact) == Fraction(9, 12)
    h = 4 * -log2(4 / 6) + 2 * -log2(2 / 6)
    whole = -log2(2 / 6) + -log2(4 / 6) - log2(2 / 6)
    assert found.entropy_whole_file.exact.value == pytest.approx(1 - whole / (2 * h), abs=1e-9)
    assert found.entropy_suppressed.exact.value == pytest.approx(1 - 2 / (2 * h), abs=1e-9)
    assert [(one.column, one.lost.exact.exact) for one in found.columns] == [("sex", "1/6"), ("region", "1/3")]
    assert found.basis == "rows"


def test_numbers_of_a_release_with_a_dropped_row_moved(made):
    found = measured(made).numbers
    (score,) = found.columns
    deviation = np.std([1, 1, 2, 3, 4, 9], ddof=1)
    assert score.mean.exact.value == pytest.approx((11 / 5 - 20 / 6) / deviation, abs=1e-8)
    # 5, 25, 50, 75, 95 %: 1, 1, 2, 4, 9 before; 1, 1, 2, 3, 4 after
    shifts = [one.shift.exact.value for one in score.quantiles]
    assert shifts == pytest.approx(np.array([0, 0, 0, -1, -5]) / deviation, abs=1e-8)
    assert [one.at for one in score.quantiles] == ["1/20", "1/4", "1/2", "3/4", "19/20"]
    assert score.il1s.exact.value == found.il1s.exact.value == 0


def test_a_column_of_which_every_cell_left_is_not_read_again(made):
    engine = Numbers([], [])
    found = measured(made, engine, left=LeftRows(0, None, (("sex", 0), ("region", 0)))).numbers
    assert (found.untouched, found.columns, engine.asked) == (("score",), (), [])


def test_il1s_is_over_the_cells_that_changed(made):
    changes = (ColumnChange("sex", 5, 0, 0, 0), ColumnChange("region", 4, 1, 0, 0), ColumnChange("score", 3, 0, 2, 0))
    found = measured(made, Numbers([1, 1, 2, 3, 4, 9], [1, 1, 2, 3, 4], [1, 2]), changes=changes).numbers
    deviation = np.std([1, 1, 2, 3, 4, 9], ddof=1)
    assert found.columns[0].il1s.exact.value == pytest.approx(3 / (2**0.5 * deviation), abs=1e-8)
    assert found.il1s.exact.value == pytest.approx(3 / (2**0.5 * deviation) / 5, abs=1e-8)


def test_huge_numbers_neither_overflow_nor_change_a_figure(made):
    huge = Numbers([1e307 * x for x in (1, 1, 2, 3, 4, 9)], [1e307 * x for x in (1, 1, 2, 3, 4)])
    plain, scaled = measured(made).numbers.columns[0], measured(made, huge).numbers.columns[0]
    assert scaled.mean.exact.value == pytest.approx(plain.mean.exact.value, abs=1e-8)


def test_nothing_of_so_few_cells_is_for_recipients(made):
    found = measured(made)
    figures = [found.cells_lost, found.rows_lost, found.granularity, found.entropy_suppressed, found.entropy_whole_file]
    figures += [one.lost for one in found.columns] + [one.shift for one in found.numbers.columns[0].quantiles]
    assert [figure.rounded for figure in figures] == [None] * len(figures)


def test_many_lost_cells_are_told_rounded_and_a_column_that_lost_few_is_not(made):
    before = made.table([[1, 1], [1, 2], [2, 1], [2, 2]], [3000, 3000, 3000, 3000])
    after = made.table([[0, 1], [1, 0], [1, 1], [1, 2], [2, 1], [2, 2]], [1, 1234, 2999, 1766, 3000, 3000])
    evidence = made.evidence(before=before, after=after)
    found = utility_measures(evidence, made.policy(evidence.plan), SCORES)
    sex, region = found.columns
    assert sex.lost.rounded is None
    assert (region.lost.exact.exact, region.lost.rounded.exact) == ("617/6000", "103/1000")
    assert found.cells_lost.rounded.exact == "51/1000"
    assert found.queries[0].median.rounded is not None


def test_quantiles_with_few_cells_beyond_them_are_not_for_recipients(made):
    numbers = [float(n) for n in range(60)]
    changes = (ColumnChange("sex", 5, 0, 0, 0), ColumnChange("region", 4, 1, 0, 0), ColumnChange("score", 40, 20, 0, 0))
    plan = made.plan(ThreatPlan("t", ("sex", "region"), Thresholds(highest=Fraction(1, 5))))
    evidence = made.evidence(plan, changes=changes, left=LeftRows(0, None, (("sex", 0), ("region", 0))))
    found = utility_measures(evidence, made.policy(plan), Numbers(numbers, numbers[:40]))
    (score,) = found.numbers.columns
    assert [one.shift.rounded is not None for one in score.quantiles] == [False, True, True, True, False]
    assert score.mean.rounded is not None


def test_changed_values_are_not_called_lost(made):
    evidence = made.evidence(after=made.table([[1, 1], [2, 1]], [3, 2]))
    found = utility_measures(evidence, made.policy(evidence.plan), SCORES)
    assert found.cells_lost.exact.value is None
    assert "other than they were" in found.cells_lost.exact.note
    assert found.granularity.exact.value is None
    assert found.entropy_suppressed.rounded is None


def test_a_pseudonym_is_not_compared_by_value(made):
    plan = made.plan(ThreatPlan("t", ("id", "sex", "region"), Thresholds(highest=Fraction(1, 2))))
    codes = [[1, 1, 1], [2, 1, 1], [3, 1, 1], [4, 1, 2], [5, 2, 1], [6, 2, 2]]
    names = ("id", "sex", "region")
    evidence = made.evidence(
        plan,
        before=made.table(codes, [1] * 6, names),
        after=made.table([[6 + a, b, c] for a, b, c in codes[:5]], [1] * 5, names),
    )
    found = utility_measures(evidence, made.policy(plan), SCORES)
    assert [one.column for one in found.columns] == ["sex", "region"]
    assert Fraction(found.cells_lost.exact.exact) == Fraction(2, 12)


def test_without_a_row_map_counts_are_compared_and_numbers_tell_recipients_nothing(made):
    evidence = made.evidence(row_map=None, changes=None, left=None)
    evidence = replace(evidence, target=replace(evidence.target, row_map=None))
    found = utility_measures(evidence, made.policy(evidence.plan), SCORES)
    assert found.basis == "counts"
    assert found.cells_lost.exact.value is not None
    assert found.numbers.columns[0].mean.exact.value is not None
    assert found.numbers.columns[0].il1s.exact.note == "released rows cannot be led back to the source"
    assert found.numbers.columns[0].mean.rounded is None


def test_without_a_source_or_a_file_nothing_is_measured(made):
    for changes in ({"source": None, "before": None}, {"main": None, "after": None}):
        evidence = made.evidence(**changes)
        assert utility_measures(evidence, made.policy(evidence.plan), SCORES) is None


def test_queries_are_those_of_the_policy_and_the_release(made):
    found = measured(made)
    assert found.seed == f"{made.digest}/extract"
    assert [(one.kind, one.asked) for one in found.queries] == [("point", 100)]
    assert measured(made) == found


def test_only_columns_that_are_there_are_compared(made):
    evidence = made.evidence()
    main = ReleasedFile("p", evidence.main.columns[:2], 5)
    evidence = replace(evidence, main=main, usable=evidence.plan.columns[:2])
    found = utility_measures(evidence, made.policy(evidence.plan), SCORES)
    assert ([one.column for one in found.columns], found.numbers.columns) == (["sex"], ())


def test_a_release_without_a_column_that_anyone_knows_has_rows_to_lose_and_no_cells(made):
    alone = made.table([[]], [6], ()), made.table([[]], [5], ())
    evidence = made.evidence(made.plan(ThreatPlan("t", (), Thresholds())), before=alone[0], after=alone[1])
    found = utility_measures(evidence, made.policy(evidence.plan), SCORES)
    assert (found.columns, found.queries, found.cells_lost.exact.value) == ((), (), None)
    assert found.cells_lost.exact.note == "there is nothing to lose"
    assert found.rows_lost.exact.exact == "1/6"
