"""Every sensitivity formula against all pairs of neighbours of small tables, and equal to the maximum wherever it can be reached."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from privrelease.dp import sensitivity as moves
from privrelease.dp.draws import Target
from privrelease.dp.quantiles import scores as quantile_scores
from privrelease.dp.sensitivity import Contribution, Neighbours, Sensitivity

BOTH = list(Neighbours)


def persons(cells, max_rows, *, least=0, max_groups=None):
    """All contents one person can have: multisets of at most ``max_rows`` rows, in at most ``max_groups`` groups (a row's first part)."""
    held = [rows for n in range(least, max_rows + 1) for rows in combinations_with_replacement(cells, n)]
    return [rows for rows in held if max_groups is None or len({row[0] for row in rows}) <= max_groups]


def neighbours(contents, relation, others=1):
    """Pairs of tables (each a list of persons): one person's rows taken away, or replaced; ``others`` more persons hold anything."""
    for rest in product(contents, repeat=others):
        if relation is Neighbours.ADD_REMOVE:
            for mine in contents:
                yield [*rest, mine], [*rest]
        else:
            for mine, theirs in product(contents, repeat=2):
                yield [*rest, mine], [*rest, theirs]


def largest_moves(statistic, pairs):
    """The true maxima over pairs of tables: L1, squared L2, largest coordinate, number of coordinates."""
    found = [0, 0, 0, 0]
    for left, right in pairs:
        change = [abs(a - b) for a, b in zip(statistic(left), statistic(right), strict=True)]
        now = (sum(change), sum(c * c for c in change), max(change), sum(c != 0 for c in change))
        found = [max(pair) for pair in zip(found, now, strict=True)]
    return Sensitivity(*found)


def rows_of(table):
    return [row for person in table for row in person]


def covers(claimed, true):
    return (
        claimed.l1 >= true.l1
        and claimed.l2_squared >= true.l2_squared
        and claimed.largest >= true.largest
        and claimed.coordinates >= true.coordinates
    )


@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("m", [1, 2, 3])
def test_rows(relation, m):
    true = largest_moves(lambda table: [len(rows_of(table))], neighbours(persons([("x",)], m), relation))
    assert moves.of_rows(Contribution(m), relation) == true


def test_rows_are_public_under_replace_with_exactly_one_each():
    true = largest_moves(lambda table: [len(rows_of(table))], neighbours(persons(["x", "y"], 1, least=1), Neighbours.REPLACE))
    assert moves.of_rows(Contribution(1, exactly_one=True), Neighbours.REPLACE) == true == Sensitivity(0, 0, 0, 0)
    assert moves.of_rows(Contribution(1, exactly_one=True), Neighbours.ADD_REMOVE).l1 == 1
    assert moves.of_rows(Contribution(1, exactly_one=True).filtered(), Neighbours.REPLACE).l1 == 1


@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("filtered", [False, True])
def test_persons(relation, filtered):
    contents = persons(["x", "y"], 2, least=0 if filtered else 1)
    true = largest_moves(lambda table: [sum(bool(person) for person in table)], neighbours(contents, relation))
    assert moves.of_persons(relation, filtered=filtered) == true


@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize(("low", "high"), [(0, 5), (-3, 5), (-5, 2), (2, 7), (-7, -2), (-4, 0)])
def test_sum(relation, m, low, high):
    contents = persons([low, (low + high) // 2, high], m)
    true = largest_moves(lambda table: [sum(rows_of(table))], neighbours(contents, relation))
    assert moves.of_sum(low, high, Contribution(m), relation) == true


@pytest.mark.parametrize(("low", "high"), [(0, 5), (-3, 5), (2, 7), (-7, -2)])
def test_sum_under_replace_with_exactly_one_row_each(low, high):
    contents = persons([low, (low + high) // 2, high], 1, least=1)
    true = largest_moves(lambda table: [sum(rows_of(table))], neighbours(contents, Neighbours.REPLACE))
    assert moves.of_sum(low, high, Contribution(1, exactly_one=True), Neighbours.REPLACE) == true
    assert moves.of_sum(low, high, Contribution(1), Neighbours.REPLACE).l1 >= true.l1


@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("m", [1, 2])
@pytest.mark.parametrize(("low", "high"), [(-3, 3), (-2, 3), (0, 4)])
def test_centred_squares(relation, m, low, high):
    most = max(low * low, high * high)
    offset = most // 2
    contents = persons(list(range(low, high + 1)), m)
    true = largest_moves(lambda table: [sum(x * x - offset for x in rows_of(table))], neighbours(contents, relation, others=0))
    # d^2 - offset lies in [-offset, most - offset]: a sum of clamped integers
    claimed = moves.of_sum(-offset, most - offset, Contribution(m), relation)
    assert covers(claimed, true)
    if low <= 0 <= high:
        assert claimed == true


GROUPS = ["a", "b", "c", "d"]


@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize(("m", "g"), [(1, 1), (2, 1), (2, 2), (3, 1), (3, 2)])
def test_counts_by_group(relation, m, g):
    contents = persons([(group,) for group in GROUPS], m, max_groups=g)

    def counts(table):
        rows = rows_of(table)
        return [sum(row == (group,) for row in rows) for group in GROUPS]

    def people(table):
        return [sum((group,) in person for person in table) for group in GROUPS]

    pairs = list(neighbours(contents, relation, others=0 if m == 3 else 1))
    assert moves.of_group_counts(Contribution(m, g), relation) == largest_moves(counts, pairs)
    assert moves.of_group_persons(Contribution(m, g), relation) == largest_moves(people, pairs)


@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize(("m", "g"), [(1, 1), (2, 1), (2, 2)])
@pytest.mark.parametrize(("low", "high"), [(0, 3), (-3, 3), (-1, 3), (2, 3), (-3, -1)])
def test_sums_by_group(relation, m, g, low, high):
    contents = persons([(group, x) for group in GROUPS for x in {low, high}], m, max_groups=g)

    def sums(table):
        rows = rows_of(table)
        return [sum(x for at, x in rows if at == group) for group in GROUPS]

    true = largest_moves(sums, neighbours(contents, relation, others=0))
    assert moves.of_group_sums(low, high, Contribution(m, g), relation) == true


def quantile_score(table, candidate, a, b, figure="quantile", margin=0):
    step, rows = np.unique(np.array(rows_of(table), np.int64), return_counts=True)
    target = Target(figure, "x", 0, 2, offset=margin, quantile=Fraction(a, b))
    return int(quantile_scores(target, step, rows)[candidate])


@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("m", [1, 2])
@pytest.mark.parametrize(("a", "b"), [(1, 2), (1, 4), (9, 10)])
@pytest.mark.parametrize(("figure", "margin"), [("quantile", 0), ("lower", 3), ("upper", 3)])
def test_scores_of_a_quantile_and_of_the_ends_of_its_interval(relation, m, a, b, figure, margin):
    pairs = list(neighbours(persons([0, 1, 2], m), relation))
    claimed = moves.of_quantile_scores(a, b, Contribution(m), relation)
    found = [
        largest_moves(lambda table, at=candidate: [quantile_score(table, at, a, b, figure, margin)], pairs).largest
        for candidate in (0, 1, 2)
    ]
    assert max(found) <= claimed.largest
    assert figure != "quantile" or max(found) == claimed.largest


@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize(("m", "g"), [(1, 1), (2, 1), (2, 2)])
@pytest.mark.parametrize(("a", "b"), [(1, 2), (3, 4)])
def test_scores_of_quantiles_by_group(relation, m, g, a, b):
    contents = persons([(group, x) for group in GROUPS for x in (0, 2)], m, max_groups=g)

    def scores(table):
        parts = {group: [[x for at, x in rows_of(table) if at == group]] for group in GROUPS}
        return [quantile_score(parts[group], 1, a, b) for group in GROUPS]

    true = largest_moves(scores, neighbours(contents, relation, others=0 if m > 1 else 1))
    claimed = moves.of_group_quantile_scores(a, b, Contribution(m, g), relation)
    assert covers(claimed, true)


def test_more_groups_than_rows_are_never_held():
    assert Contribution(2, 5).groups == 2
    assert Contribution(2).groups == 2


@pytest.mark.parametrize("arguments", [(0,), (-1,), (1, 0)])
def test_a_contribution_of_nothing_is_refused(arguments):
    with pytest.raises(ValueError, match="at least one"):
        Contribution(*arguments)


def test_exactly_one_row_and_several_rows_exclude_each_other():
    with pytest.raises(ValueError, match="max_rows 1"):
        Contribution(2, exactly_one=True)


@pytest.mark.parametrize("numbers", [(1, 1, 2, 1), (3, 1, 1, 2), (2, 1, 1, 2), (2, 5, 1, 2), (-1, 0, 0, 0)])
def test_an_inconsistent_sensitivity_cannot_be_built(numbers):
    with pytest.raises(ValueError, match="inconsistent"):
        Sensitivity(*numbers)
