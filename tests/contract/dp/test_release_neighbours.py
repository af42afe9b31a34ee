"""Whole releases over neighbouring data sets, through the command line: no person moves a draw further than it says, nor loses more together.

The exact figures of a run are caught before noise is added, over data sets that differ in one person: one who has several rows, in several groups
and parts, missing and undeclared keys, values outside their domain, numbers that are none. Bounding keeps the same rows of everybody
else, because both runs draw from one seed. For every pair: the change of each draw in L1, L2, its largest coordinate and how many change, against
the sensitivity that its noise was made for; the scores of choices; and the loss of all draws together against the claim.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import pytest

from privrelease.dp import composition, sensitivity
from privrelease.dp.composition import Apart
from privrelease.dp.sensitivity import Contribution, Neighbours
from privrelease.engine.duckdb.measuring import aggregates
from tests.depth import depth
from tests.statistical.door import caught, data_of, planted, policy_of

#: One of each: figures, keys, filters, parts.
LAPLACE = {
    "by_keys": "count: true, by: [g]",
    "by_some": "count: true, by: [g], keys: {g: [b, a]}, other: true",
    "by_all": "count: true, by: [g], keys: {g: [b]}, other: true, missing: true",
    "missing_means": "mean: n, by: [g], missing: true, fill: 1",
    "given": "count: {column: x}, by: [g]",
    "persons": "count_persons: {where: n > 0}",
    "persons_by": "count_persons: true, by: [g], keys: {g: [b]}, other: true",
    "sum": "sum: n",
    "filled": "sum: x, fill: 1",
    "sums": "sum: n, by: [g]",
    "mean": "mean: n",
    "mean_filled": "mean: n, fill: 5",
    "means": "mean: n, by: [g], keys: {g: [b]}, other: true, fill: -2",
    "spread": "stddev: x",
    "spread_filled": "variance: n, fill: 0",
    "bands": "histogram: n, bins: {width: 2}",
    "bands_by": "histogram: n, bins: {edges: [-1, 0, 3]}, other: true, by: [g]",
    "middle": "median: n",
    "middles": "median: n, by: [g], interval: true, fill: 2",
    "high": "quantile: n, at: 0.9, interval: true",
    "low": "count: {where: n < 1}",
    "mid": "count: {where: n >= 1 AND n < 3}",
    "top": "sum: x, where: n >= 3",
    "gone": "count_persons: {where: n IS NULL}",
    "not_a": "mean: n, where: NOT g = 'a'",
    "only_a": "count: true, where: g IN ('a'), by: [g]",
}
GAUSSIAN = {
    "g_count": "count: {where: n < 2}, mechanism: gaussian",
    "g_count2": "count: {where: n >= 2}, mechanism: gaussian",
    "g_count3": "count: {where: n IS NULL}, mechanism: gaussian",
    "g_by": "count: true, by: [g], mechanism: gaussian",
    "g_missing": "histogram: n, bins: {width: 2}, by: [g], missing: true, mechanism: gaussian",
    "g_means": "mean: n, by: [g], mechanism: gaussian, fill: 0",
    "g_bands": "histogram: n, bins: {width: 2}, mechanism: gaussian, other: true",
    "g_spread": "stddev: n, mechanism: gaussian",
    "private": "count: true, by: [k], keys: private, mechanism: gaussian",
    "private_sum": "sum: n, by: [k], keys: private, fill: 1",
}
BASE = [
    ("p1", "a", "u", "1", "0.5"),
    ("p2", "b", "u", "", "9"),
    ("p2", "z", "v", "-40", ""),
    ("p3", "c", "v", "3", "nan"),
    ("p4", "", "", "5", "0"),
]

#: What one person may hold.
PERSONS = {
    "one": [("a", "w", "5", "1.5")],
    "far": [("b", "u", "99", "-7")],
    "nothing": [("", "", "", "")],
    "strange": [("q", "odd", "-99", "inf")],
    "many": [("a", "u", "5", "1.5"), ("a", "w", "5", "1.5"), ("b", "v", "-2", "0"), ("", "t", "", ""), ("r", "s", "1", "1")],
    "same": [("b", "u", "-2", "0")] * 4,
    "spread": [("a", "u", "0", ""), ("b", "v", "2", "1"), ("c", "w", "4", "0.5")],
}


def data(held):
    return data_of([*BASE, *(("p9", *row) for row in held)])


def runs(asked, rows, neighbours, groups=None, persons=PERSONS):
    text = policy_of(asked, "epsilon: 40, delta: 1e-4", rows=rows, groups=groups, relation=neighbours)
    everybody = persons if neighbours is Neighbours.REPLACE else {None: [], **persons}
    return {person: caught(text, data(held)) for person, held in everybody.items()}


def pairs(found, neighbours):
    if neighbours is Neighbours.REPLACE:
        return [(found[a], found[b]) for a, b in combinations(found, 2)]
    return [(found[None], other) for person, other in found.items() if person is not None]


def aligned(one, other):
    """Each draw with its figures in both data sets; private keys that only one of them holds count as 0 in the other."""
    for (draw, here), (same, there) in zip(one.work, other.work, strict=True):
        assert draw == same
        if draw.size is None:
            left, right = (dict(zip(run.keys[draw.query], found, strict=True)) for run, found in ((one, here), (other, there)))
            keys = sorted({*left, *right})
            yield draw, [left.get(key, 0) for key in keys], [right.get(key, 0) for key in keys]
        else:
            yield draw, here, there


def excesses(found, neighbours):
    """What moves further than its sensitivity, and releases that lose more than they claim, as words."""
    for one, other in pairs(found, neighbours):
        loss = rho = Fraction(0)
        for draw, here, there in aligned(one, other):
            moves = [move(a, b) for a, b in zip(here, there, strict=True)]
            stated = draw.sensitivity
            if sum(moves) > stated.l1:
                yield f"{draw.key}: L1"
            if draw.mechanism == "permute_and_flip":
                loss += (1 if draw.monotone else 2) * Fraction(sum(moves)) / draw.scale
                continue
            if (
                sum(x * x for x in moves) > stated.l2_squared
                or max(moves) > stated.largest
                or sum(map(bool, moves)) > stated.coordinates
            ):
                yield f"{draw.key}: L2"
            if draw.mechanism == "discrete_laplace":
                loss += Fraction(sum(moves)) / draw.scale
            elif draw.mechanism == "discrete_gaussian":
                rho += Fraction(sum(x * x for x in moves)) / (2 * draw.scale)
        yield from () if loss <= one.epsilon else (f"loss {float(loss)} of {float(one.epsilon)}",)
        assert one.epsilon == other.epsilon


def move(a, b):
    return abs(a - b) if isinstance(a, int) else max(abs(x - y) for x, y in zip(a, b, strict=True))


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


#: Whether a person has one row or several, and whether it joins or is replaced: each of them in the small part, all four in the whole.
SETTINGS = [
    pytest.param(rows, groups, relation, id=f"{rows} rows, {relation}")
    for number, (rows, groups) in enumerate(((1, None), (3, 2)))
    for place, relation in enumerate(Neighbours)
    if number == place or depth(False, True)
]


@pytest.mark.parametrize(("rows", "groups", "relation"), SETTINGS)
def test_no_person_moves_a_release_further_than_it_says(rows, groups, relation):
    several = {name: held for name, held in PERSONS.items() if (rows > 1) is (len(held) > 1)}
    assert list(excesses(runs(LAPLACE, rows, relation, groups, several), relation)) == []


@pytest.mark.parametrize("relation", Neighbours)
def test_nor_one_of_gaussian_noise_and_private_keys(relation):
    few = {name: PERSONS[name] for name in ("many", "same")}
    assert list(excesses(runs(GAUSSIAN, 3, relation, 2, few), relation)) == []


# --------------------------------------------------------------------------------------------------------------- planted faults

TWO = {name: PERSONS[name] for name in ("one", "same")}
PARTS = {
    name: f"count_persons: {{where: {where}}}"
    for name, where in {"low": "n < 1", "mid": "n >= 1 AND n < 3", "top": "n >= 3"}.items()
}


def unbounded(connection, table, bounding, asked, real=aggregates.aggregates):
    return real(connection, table, replace(bounding, max_rows=100), asked)


def faults_of(asked, rows, relation, groups=None, persons=TWO):
    return list(excesses(runs(asked, rows, relation, groups, persons), relation))


@pytest.mark.parametrize("fault", ["rows", "groups"])
def test_a_person_who_is_not_bounded_is_found(fault):
    asked, persons = {"by_keys": LAPLACE["by_keys"]}, {"same": PERSONS["same"], "spread": PERSONS["spread"]}
    groups = 2
    if fault == "groups":
        asked, groups = {"persons_by": "count_persons: true, by: [g]"}, 1
    assert faults_of(asked, 3, Neighbours.ADD_REMOVE, groups, persons) == []
    plant = {
        "rows": (aggregates, "aggregates", unbounded),
        "groups": (aggregates, "_few_groups", lambda source, *_: source),
    }[fault]
    with planted(plant):
        assert faults_of(asked, 3, Neighbours.ADD_REMOVE, groups, persons)


def test_noise_for_one_person_fewer_under_replace_is_found():
    real = sensitivity.of_group_counts
    with planted((sensitivity, "of_group_counts", lambda contribution, _: real(contribution, Neighbours.ADD_REMOVE))):
        assert faults_of({"by_keys": LAPLACE["by_keys"]}, 1, Neighbours.REPLACE)


def test_a_filter_that_leaves_the_number_of_rows_public_is_found():
    assert faults_of({"not_a": LAPLACE["not_a"]}, 1, Neighbours.REPLACE) == []
    with planted((Contribution, "filtered", lambda self: self)):
        assert "('not_a', 'rows'): L1" in faults_of({"not_a": LAPLACE["not_a"]}, 1, Neighbours.REPLACE)


@pytest.mark.parametrize("fault", ["overlapping filters", "a person of three rows in one part", "two persons in one part"])
def test_parts_in_which_one_person_is_twice_are_found(fault):
    asked, rows, relation = PARTS, 1, Neighbours.ADD_REMOVE
    if fault == "overlapping filters":
        asked = {"low": PARTS["low"], "under": "count: {where: n < 3}", "sure": "count: {where: g <> 'c'}"}
        plant = (composition, "disjoint", lambda *_: True)
    elif fault == "two persons in one part":
        relation = Neighbours.REPLACE
        plant = (Apart, "most", property(lambda self: self.max_rows))
    else:
        rows = 3
        plant = (Apart, "most", property(lambda _: 1))
    persons = {"one": PERSONS["one"], "zero": [("a", "u", "0", "0")]} if rows == 1 else {"spread": PERSONS["spread"]}
    assert faults_of(asked, rows, relation, None, persons) == []
    with planted(plant):
        assert any("loss" in said for said in faults_of(asked, rows, relation, None, persons))
