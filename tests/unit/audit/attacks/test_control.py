"""A control that repeats the data: told from chance by the exact law of all splits."""

from __future__ import annotations

import csv
from itertools import combinations

import numpy as np
import pytest

from privrelease.audit.attacks.control import LIKELY, _moments, compared, too_even
from privrelease.disclosure.classes.equivalence_classes import ClassTable
from tests.depth import depth


def statistic(ours, pooled, n, m):
    """Pearson's X² of a table with two columns, by its cells."""
    total = n + m
    ours, pooled = np.asarray(ours, float), np.asarray(pooled, float)
    theirs = pooled - ours
    expected = pooled * n / total, pooled * m / total
    return float(((ours - expected[0]) ** 2 / expected[0] + (theirs - expected[1]) ** 2 / expected[1]).sum())


@pytest.mark.parametrize(("pooled", "n"), [((2, 2, 2), 3), ((3, 2, 1, 1), 3), ((4, 3), 2), ((1, 1, 1, 2, 3), 5)])
def test_the_moments_are_those_over_every_split(pooled, n):
    rows = np.repeat(np.arange(len(pooled)), pooled)
    found = [
        statistic(np.bincount(rows[list(chosen)], minlength=len(pooled)), pooled, n, len(rows) - n)
        for chosen in combinations(range(len(rows)), n)
    ]
    mean, variance = _moments(np.array(pooled, float), n, len(rows) - n)
    assert mean == pytest.approx(np.mean(found))
    assert variance == pytest.approx(np.var(found))


def table(rows):
    codes, counts = np.unique(rows, axis=0, return_counts=True)
    return ClassTable(tuple(f"c{place}" for place in range(codes.shape[1])), codes.astype(np.int32), counts.astype(np.int64))


def population(kind, rows, random):
    """Rows of one column: all different, mostly different, in classes of five, or of two values."""
    spread = {"fine": 10**9, "mixed": rows, "coarse": max(2, rows // 5), "binary": 2}[kind]
    values = random.integers(1, spread, rows, endpoint=True)
    if kind == "mixed":
        values[: rows // 2] %= 7
    return values[:, None]


@pytest.mark.parametrize("kind", ["fine", "mixed", "coarse"])
@pytest.mark.parametrize("share", [1, 0.5, 0.3])
def test_a_control_from_the_data_overlaps(kind, share):
    random = np.random.default_rng(7)
    data = population(kind, 600, random)
    control = data[random.permutation(600)[: int(600 * share)]]
    found = compared(table(data), table(control))
    assert found.overlaps
    assert found.equal == found.rows == len(control)


def test_copies_among_others_are_found_too():
    random = np.random.default_rng(8)
    data, others = population("fine", 500, random), population("fine", 400, random)
    found = compared(table(data), table(np.concatenate((data[:40], others))))
    assert (found.rows, found.equal, found.overlaps) == (440, 40, True)


def test_copies_are_found_beside_a_shift_of_the_large_classes():
    random = np.random.default_rng(9)
    large = np.repeat([[1]], 500, 0), np.repeat([[2]], 500, 0)
    data = population("fine", 300, random) + 10
    found = compared(table(np.concatenate((data, large[0]))), table(np.concatenate((data[:60], large[1]))))
    assert found.overlaps


def test_thirteen_rows_that_are_the_data_are_no_chance():
    """Of the 26 over 13 splits of 13 pairs, 2^13 part every pair: 8,192 of 10,400,600."""
    rows = np.arange(13)[:, None]
    assert too_even(np.full(13, 1), np.full(13, 1)) < LIKELY
    assert compared(table(rows), table(rows)).overlaps


@pytest.mark.parametrize("kind", ["fine", "mixed", "coarse", "binary"])
@pytest.mark.parametrize(("ours", "theirs"), [(13, 13), (40, 100), (300, 300), (300, 60)])
def test_an_independent_control_is_seldom_blamed(kind, ours, theirs):
    """At 1 in 1,000 for each of two readings, 600 controls give 1.2 on average; more than 9 have a probability below 1e-5. So have more than 5
    of 150.
    """
    random = np.random.default_rng(11)
    blamed, (controls, most) = 0, depth((150, 5), (600, 9))
    for _ in range(controls):
        rows = population(kind, ours + theirs, random)[random.permutation(ours + theirs)]
        blamed += compared(table(rows[:ours]), table(rows[ours:])).overlaps
    assert blamed <= most


def test_equal_rows_of_two_values_show_nothing():
    rows = np.repeat([[1], [2]], 100, 0)
    found = compared(table(rows), table(rows))
    assert (found.equal, found.overlaps) == (200, False)


@pytest.mark.parametrize("sides", [((), ()), ((5,), (5,)), ((0, 3), (4, 0)), ((3, 0), (0, 0))])
def test_nothing_is_told_from_nothing(sides):
    assert too_even(*(np.array(side, np.int64) for side in sides)) > LIKELY


def persons(rows, random):
    """Rows of five columns of 2 to 1,000 values, none of which says much by itself; codes from 1."""
    return np.column_stack([random.integers(1, most, rows, endpoint=True) for most in (2, 5, 9, 40, 1000)])


@pytest.mark.parametrize("column", range(5))
@pytest.mark.parametrize("change", ["jittered", "missing", "shuffled"])
def test_the_data_with_one_column_changed_is_no_control(column, change):
    random = np.random.default_rng(12)
    data = persons(600, random)
    control = data[random.permutation(600)[:400]].copy()
    if change == "jittered":
        control[:, column] += random.integers(1, 4, len(control))
    else:
        control[:, column] = 0 if change == "missing" else random.permutation(control[:, column])
    found = compared(table(data), table(control))
    assert found.overlaps
    if change == "shuffled" and found.without is None:
        return  # what the shuffle left alike shows it in all columns already
    assert (found.equal, found.rows, found.without) == (400, 400, f"c{column}")


@pytest.mark.parametrize(("ours", "theirs"), [(100, 100), (300, 300), (300, 60), (2000, 1000)])
def test_independent_persons_are_seldom_blamed_for_columns_that_agree(ours, theirs):
    """At 1 in 1,000 for all columns, and again for all but one, 300 controls give less than one on average; more than 6 have a probability below 1e-4.
    So have more than 3 of 100.
    """
    random = np.random.default_rng(13)
    blamed, (controls, most) = 0, depth((100, 3), (300, 6))
    for _ in range(controls):
        rows = persons(ours + theirs, random)
        blamed += compared(table(rows[:ours]), table(rows[ours:])).overlaps
    assert blamed <= most


@pytest.fixture(scope="module")
def every(shared):
    """The rows of Adult as codes."""
    with (shared / "data" / "adult.csv").open(newline="", encoding="utf-8") as stream:
        lines = list(csv.reader(stream, delimiter=";"))
    return np.column_stack([np.unique(column, return_inverse=True)[1] + 1 for column in zip(*lines[1:], strict=True)])


@pytest.mark.parametrize("size", [150, 1000, 4000])
def test_real_splits_of_adult_are_seldom_blamed_and_its_jittered_copies_are(every, size):
    random = np.random.default_rng(14)
    blamed = jittered = 0
    for turn in range(60):
        chosen = every[random.permutation(len(every))[: 2 * size]]
        blamed += compared(table(chosen[:size]), table(chosen[size:])).overlaps
        if turn < 12:
            copy = chosen[:size].copy()
            column = turn % every.shape[1]
            copy[:, column] = np.maximum(1, copy[:, column] + random.choice((-1, 1), size))
            jittered += compared(table(chosen[:size]), table(copy)).overlaps
    assert blamed <= 2
    assert jittered == 12
