"""Synthetic rows next to the source: figures worked out by hand, a count by brute force, and a planted copy of the fitted rows that stands out."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from privrelease.audit.synthetic.source import CountedRows, compared, marginal_error

SIZES = (3, 4, 2)


def counted(rows):
    found = Counter(map(tuple, rows))
    codes = np.array(sorted(found), np.int32).reshape(len(found), -1)
    return CountedRows(codes, np.array([found[tuple(one)] for one in codes.tolist()], np.int64))


def drawn(seed, rows):
    draw = np.random.default_rng(seed)
    return np.stack([draw.integers(0, size, rows) for size in SIZES], axis=1).tolist()


def test_shares_of_fitted_and_held_out_rows_by_hand():
    # fitted: two alike, one alone; held out: one like the two, one alone; the file has the pair and the held-out one
    fitted, held = counted([(0, 0), (0, 0), (1, 1)]), counted([(0, 0), (2, 0)])
    found = compared((3, 2), counted([(0, 0), (2, 0), (2, 0)]), fitted, held)
    assert (found.fitted.value, found.held_out.value) == (3, 2)
    assert found.fitted_present.exact == "2/3"
    assert found.held_out_present.exact == "1"
    assert found.fitted_alone_present.exact == "0"
    assert found.held_out_alone_present.exact == "1"
    one, two = found.marginal_errors
    # first column: file (1/3, 0, 2/3), fitted (2/3, 1/3, 0): 2/3; second: (1, 0), (2/3, 1/3): 1/3
    assert one.synthetic.value == pytest.approx(1 / 2)
    # first column: held out (1/2, 0, 1/2): 1/2; second: (1, 0): 1/3
    assert one.held_out.value == pytest.approx(5 / 12)
    assert two.synthetic.value == pytest.approx(2 / 3)
    assert {figure.visibility.value for figure in (found.fitted, found.fitted_present, one.synthetic)} == {"internal"}


@pytest.mark.parametrize("seed", range(4))
def test_the_figures_are_those_of_a_loop_over_rows(seed):
    file, fitted, held = drawn(seed, 15), drawn(seed + 10, 40), drawn(seed + 20, 9)
    found = compared(SIZES, counted(file), counted(fitted), counted(held))
    everybody = [tuple(row) for row in fitted + held]
    for rows, all_, alone in (
        (fitted, found.fitted_present, found.fitted_alone_present),
        (held, found.held_out_present, found.held_out_alone_present),
    ):
        there = [row in file for row in rows]
        assert Fraction(all_.exact) == Fraction(sum(there), len(rows))
        lonely = [is_there for row, is_there in zip(rows, there, strict=True) if everybody.count(tuple(row)) == 1]
        assert alone.exact == (str(Fraction(sum(lonely), len(lonely))) if lonely else None)
    for ways, figure in ((1, found.marginal_errors[0]), (2, found.marginal_errors[1])):
        distances = []
        for places in combinations(range(3), ways):
            first, second = (Counter(tuple(row[at] for at in places) for row in rows) for rows in (file, fitted))
            distances.append(sum(abs(first[key] / 15 - second[key] / 40) for key in first | second) / 2)
        assert figure.synthetic.value == pytest.approx(sum(distances) / len(distances))


def test_a_file_that_copies_fitted_rows_shows_more_of_them_than_of_the_held_out_ones():
    draw = np.random.default_rng(3)
    sizes = (50, 50, 50)
    source = draw.integers(0, 50, (1_000, 3)).tolist()
    fitted, held = source[:800], source[800:]
    leaks = compared(sizes, counted(fitted[:400]), counted(fitted), counted(held))
    honest = compared(sizes, counted(draw.integers(0, 50, (400, 3)).tolist()), counted(fitted), counted(held))
    assert leaks.fitted_alone_present.value > 0.45
    assert leaks.held_out_alone_present.value < 0.05
    assert abs(honest.fitted_alone_present.value - honest.held_out_alone_present.value) < 0.02


def test_without_a_holdout_and_without_rows_there_is_no_control_and_no_error():
    nothing = CountedRows(np.empty((0, 2), np.int32), np.empty(0, np.int64))
    found = compared((3, 2), nothing, counted([(0, 0)]), None)
    assert found.held_out is None
    assert found.held_out_present is None
    assert found.fitted_present.exact == "0"
    assert found.marginal_errors[0].synthetic.value is None
    assert marginal_error((3, 2), counted([(0, 0)]), counted([(0, 0), (0, 0)]), 2) == 0
    assert marginal_error((5_000, 5_000), counted([(0, 0)]), counted([(0, 0)]), 2) is None, "too many cells"
    assert compared((3,), counted([(1,)]), nothing_of(1), None).fitted_present.value is None


def nothing_of(columns):
    return CountedRows(np.empty((0, columns), np.int32), np.empty(0, np.int64))
