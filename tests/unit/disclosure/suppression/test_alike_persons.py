"""Persons with as many rows of the same classes are one number of a class table: what is suppressed is what it is person by person."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from privrelease.disclosure.classes.equivalence_classes import ClassTable
from privrelease.disclosure.risk.thresholds import RecordsAtRisk, Thresholds
from privrelease.disclosure.suppression.cell_suppression import suppress_cells
from privrelease.disclosure.suppression.problem import Problem, Requirement

THRESHOLDS = (
    Thresholds(highest=Fraction(1, 3)),
    Thresholds(average=Fraction(1, 4)),
    Thresholds(highest=Fraction(1, 2), at_risk=RecordsAtRisk(Fraction(1, 4), Fraction(1, 5))),
)


def person_by_person(seed):
    """A class table of persons with one to three rows each, and the rows of each of its pairs."""
    rng = np.random.default_rng(seed)
    codes = np.unique(rng.integers(0, 3, (12, 3)), axis=0).astype(np.int32)
    rows = [(int(one), person) for person in range(60) for one in rng.integers(0, len(codes), int(rng.integers(1, 4)))]
    pairs, times = np.unique(np.array(rows), axis=0, return_counts=True)
    counts = np.bincount([one for one, _ in rows], minlength=len(codes))
    used = counts > 0
    place = np.cumsum(used) - 1
    pairs[:, 0] = place[pairs[:, 0]]
    persons_weight = rng.integers(1, 3, 60).astype(np.float64)
    table = ClassTable(
        ("a", "b", "c"),
        np.ascontiguousarray(codes[used]),
        counts[used].astype(np.int64),
        np.bincount(pairs[:, 0], persons_weight[pairs[:, 1]] * times),
        pairs[:, 0].astype(np.uint32),
        pairs[:, 1].astype(np.uint32),
        pair_weights=persons_weight[pairs[:, 1]],
    )
    return table, times.astype(np.int64)


def collapsed(table, pair_rows):
    """The table with one number for alike persons, the rows of its pairs, and the new pair of each old one."""
    own = {}
    listed = list(
        zip(table.pairs_class.tolist(), table.pairs_person.tolist(), pair_rows.tolist(), table.pair_weights, strict=True)
    )
    for one, person, rows, weight in listed:
        own.setdefault(person, []).append((one, rows, float(weight)))
    kinds = {}
    number = {person: kinds.setdefault(tuple(own[person]), len(kinds)) for person in sorted(own)}
    alike = np.bincount(list(number.values())).astype(np.int64)
    pairs = sorted({(one, number[person], rows, float(weight)) for one, person, rows, weight in listed})
    place = {pair[:2]: at for at, pair in enumerate(pairs)}
    new = replace(
        table,
        pairs_class=np.array([one for one, *_ in pairs], np.uint32),
        pairs_person=np.array([kind for _, kind, *_ in pairs], np.uint32),
        alike=alike,
        pair_weights=np.array([weight for *_, weight in pairs]),
    )
    assert len(pairs) < len(listed)
    return (
        new,
        np.array([rows for _, _, rows, _ in pairs], np.int64),
        [place[one, number[person]] for one, person, *_ in listed],
    )


def requirements(thresholds, **more):
    return tuple(Requirement(f"r{i}", columns, thresholds, **more) for i, columns in enumerate(((0, 1), (1, 2))))


@pytest.mark.parametrize("knows_rows", [False, True])
@pytest.mark.parametrize("thresholds", THRESHOLDS)
@pytest.mark.parametrize("seed", range(5))
def test_linkable_rows_lose_the_same_cells(seed, thresholds, knows_rows):
    table, rows = person_by_person(seed)
    alike, alike_rows, new = collapsed(table, rows)
    ours, theirs = (
        suppress_cells(Problem(one, requirements(thresholds), (Fraction(1),) * 3, "drop", True, knows_rows, of_pair))
        for one, of_pair in ((table, rows), (alike, alike_rows))
    )
    assert ours.lost_cells.any()
    assert theirs.lost_cells.tolist() == ours.lost_cells.tolist()
    mine, other = ours.pair_part, theirs.pair_part[new]
    assert theirs.suppressed[other].tolist() == ours.suppressed[mine].tolist()
    assert theirs.dropped[other].tolist() == ours.dropped[mine].tolist()
    assert np.bincount(mine, rows).tolist() == ours.records.tolist()
    assert int(theirs.records.sum()) == table.n_records


@pytest.mark.parametrize("attacker", ["prosecutor", "journalist"])
@pytest.mark.parametrize("thresholds", THRESHOLDS)
@pytest.mark.parametrize("seed", range(5))
def test_rows_that_no_one_can_link_lose_the_same_cells(seed, thresholds, attacker):
    table, rows = person_by_person(seed)
    alike, _, _ = collapsed(table, rows)
    asked = requirements(thresholds, attacker=attacker, use_weights=attacker == "journalist")
    ours, theirs = (suppress_cells(Problem(one, asked, (Fraction(1),) * 3)) for one in (table, alike))
    assert theirs.suppressed.tolist() == ours.suppressed.tolist()
    assert theirs.dropped.tolist() == ours.dropped.tolist()
    assert theirs.lost_cells.tolist() == ours.lost_cells.tolist()


@pytest.mark.parametrize("seed", range(5))
def test_a_population_of_alike_persons_is_as_large(seed):
    table, rows = person_by_person(seed)
    sample = replace(table, counts=np.ones(table.n_classes, np.int64), pairs_class=None, pairs_person=None, pair_weights=None)
    alike, _, _ = collapsed(table, rows)
    ours, theirs = (
        suppress_cells(
            Problem(
                sample,
                (Requirement("r", (0, 1, 2), Thresholds(highest=Fraction(1, 14)), attacker="journalist", population=one),),
                (Fraction(1),) * 3,
            )
        )
        for one in (table, alike)
    )
    assert ours.lost_cells.any()
    assert theirs.suppressed.tolist() == ours.suppressed.tolist()
