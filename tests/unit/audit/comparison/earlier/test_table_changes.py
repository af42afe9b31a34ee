"""Differences between two versions of a table, against what each person changed, counted anew."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from privrelease.audit.comparison.earlier.table_changes import Changes, shared_key_differences, small_differences
from privrelease.disclosure.tables.rules import CellRules
from privrelease.relational.tables import Contributions

KEYS = {"area": ("n", "s"), "sex": ("f", "m")}


def plan(by=("area",), rules=None, max_rows=1, figures=("count", "sum_pay"), two=None):
    return SimpleNamespace(
        by=by,
        keys=tuple(KEYS[name] for name in by),
        rules=rules or CellRules(3),
        round_up=1,
        unit=SimpleNamespace(column="id", max_rows=max_rows),
        measures=[
            SimpleNamespace(name=name, kind=name[:4], column="pay", grid=Fraction(1), two_values=two, low=0) for name in figures
        ],
    )


def table(people, by, *, margins=False, figures=("count", "sum_pay")):
    """The printed cells of a table of persons {id: (area, sex, pay)}."""
    found = {}
    for place in product(*((*KEYS[name], *((None,) if margins else ())) for name in by)):
        mine = [
            pay
            for area, sex, pay in people.values()
            if all(key in {None, {"area": area, "sex": sex}[name]} for name, key in zip(by, place, strict=True))
        ]
        cell = frozenset((name, key) for name, key in zip(by, place, strict=True) if key is not None)
        every = {
            "count": Fraction(len(mine)),
            "sum_pay": Fraction(sum(mine)),
            "mean_pay": Fraction(round(1000 * sum(mine) / len(mine)), 1000) if mine else None,
        }
        found[cell] = {name: every[name] for name in figures}
    return found


def changes(now, before, by):
    """What each person changed, by inner cell."""
    sizes = [len(KEYS[name]) for name in by]
    entries = {}
    for people, sign in ((now, 1), (before, -1)):
        for person, (area, sex, pay) in people.items():
            cell = int(np.ravel_multi_index([KEYS[name].index({"area": area, "sex": sex}[name]) for name in by], sizes))
            rows, value = entries.get((cell, person), (0, 0))
            entries[cell, person] = rows + sign, value + sign * pay
    kept = [(cell, person, *both) for (cell, person), both in entries.items() if any(both)]
    cells, persons, rows, values = (np.array([one[i] for one in kept], np.int64) for i in range(4))
    return Changes(
        Contributions(cells, persons, rows, values[None], rows[None], 0), by, tuple(KEYS[name] for name in by), ("pay",)
    )


PEOPLE = {i: (("n", "s")[i % 2], ("f", "m")[i // 2 % 2], 100 + i) for i in range(20)}
JOINED = {**PEOPLE, 90: ("n", "f", 777)}
CROWD = {**PEOPLE, **{90 + i: ("n", "f", 100 + i) for i in range(5)}}


def judged(now, before, by=("area",), before_by=None, *, readable=True, margins=False, before_margins=False, **more):
    figures = more.pop("figures", ("count", "sum_pay"))
    complete = more.pop("complete", ("pay",))
    mine = table(now, by, margins=margins, figures=figures)
    theirs = table(before, before_by or by, margins=before_margins, figures=figures)
    known = changes(now, before, by) if readable else None
    return small_differences(plan(by, figures=figures, **more), mine, before_by or by, theirs, known, complete)


NORTH = frozenset({("area", "n")})
ALL = frozenset()


@pytest.mark.parametrize("readable", [True, False])
@pytest.mark.parametrize(
    "now",
    [
        JOINED,
        {person: one for person, one in PEOPLE.items() if person != 4},
        {**PEOPLE, 4: ("n", "f", 5)},
        {person: one for person, one in JOINED.items() if person != 4},
    ],
    ids=["joins", "leaves", "changes a value", "is exchanged"],
)
@pytest.mark.parametrize("figures", [("count", "sum_pay"), ("sum_pay",), ("count", "mean_pay")])
def test_one_person_is_a_difference_that_is_not_safe(now, readable, figures):
    assert (NORTH,) in judged(now, PEOPLE, readable=readable, figures=figures)


@pytest.mark.parametrize("readable", [True, False])
def test_enough_persons_may_join_under_a_minimum_count(readable):
    assert judged(CROWD, PEOPLE, readable=readable) == []


def test_rows_that_may_lack_a_value_prove_no_contributor_of_a_sum():
    """Five join, of whom perhaps one has a value: the difference of the sums is that value. Of five that left no one knows how many had one."""
    for figures in (("count", "sum_pay"), ("count", "mean_pay")):
        assert (NORTH,) in judged(CROWD, PEOPLE, readable=False, figures=figures, complete=())
        assert (NORTH,) in judged(PEOPLE, CROWD, readable=False, figures=figures)
    for now, before in ((CROWD, PEOPLE), (PEOPLE, CROWD)):
        assert judged(now, before, readable=False, figures=("count",), complete=()) == []


@pytest.mark.parametrize("readable", [True, False])
@pytest.mark.parametrize(("ones", "zeros", "safe"), [(3, 0, True), (3, 3, True), (0, 3, True), (1, 3, False), (3, 1, False)])
def test_a_changed_sum_of_two_values_is_two_changed_counts(readable, ones, zeros, safe):
    """Of four who join three have a 1: that one has a 0 is a cell of one, as it would be in a table."""
    before = {i: (area, sex, i % 2) for i, (area, sex, _) in PEOPLE.items()}
    now = {**before, **{90 + i: ("n", "f", int(i < ones)) for i in range(ones + zeros)}}
    assert ((NORTH,) not in judged(now, before, readable=readable, two=(0, 1))) == safe
    if not readable:
        assert (NORTH,) in judged(now, before, readable=False, two=(0, 1), complete=()) or not ones
        assert (NORTH,) in judged(now, before, readable=False, two=(0, 1), figures=("count", "mean_pay"))


def test_no_difference_is_no_cell():
    assert judged(PEOPLE, PEOPLE, readable=False, margins=True, before_margins=True) == []


def test_one_that_dominates_those_who_join_is_not_safe():
    rules = CellRules(3, dominance=(1, Fraction(8, 10)))
    now = {**CROWD, 95: ("n", "f", 100000)}
    assert (NORTH,) in judged(now, PEOPLE, rules=rules)
    assert judged(CROWD, PEOPLE, rules=rules) == []
    assert (NORTH,) in judged(CROWD, PEOPLE, rules=rules, readable=False)  # who has how much of it is not known


def test_p_percent_is_about_the_changes():
    rules = CellRules(3, p_percent=Fraction(1, 10))
    now = {**PEOPLE, 90: ("n", "f", 5000), 91: ("n", "f", 50), 92: ("n", "m", 50)}
    assert (NORTH,) in judged(now, PEOPLE, rules=rules)


def test_a_margin_of_one_and_cells_of_the_other():
    """The earlier one prints a total alone that this one's cells add up to."""
    before = {ALL: table(PEOPLE, ("area",), margins=True)[ALL]}
    found = small_differences(plan(), table(JOINED, ("area",)), ("area",), before, changes(JOINED, PEOPLE, ("area",)))
    assert found == [(ALL,)]
    with_margins = judged(JOINED, PEOPLE, margins=True)
    assert (NORTH,) in with_margins
    assert (ALL,) in with_margins


@pytest.mark.parametrize("readable", [True, False])
def test_another_grouping_without_margins_shares_the_total(readable):
    assert judged(JOINED, PEOPLE, ("area",), ("sex",), readable=readable) == [(ALL,)]


def test_what_a_total_leaves_of_suppressed_cells_is_a_cell():
    """Ten join, nine of them in a printed cell: the other cell is suppressed in both versions and gains one."""
    now = {**PEOPLE, **{50 + i: ("n", "f", 100) for i in range(9)}, 70: ("s", "f", 100)}
    mine, theirs = (table(people, ("area",), margins=True) for people in (now, PEOPLE))
    south = frozenset({("area", "s")})
    for one in (mine, theirs):
        one[south] = dict.fromkeys(one[south])
    found = small_differences(plan(), mine, ("area",), theirs, changes(now, PEOPLE, ("area",)))
    assert found == [(south,)]


def test_who_moves_within_a_total_is_no_change_of_it():
    now = {**PEOPLE, 0: ("s", "f", 100)}
    found = judged(now, PEOPLE, margins=True, before_margins=True)
    assert (NORTH,) in found
    assert (ALL,) not in found


def test_changes_that_share_one_key_are_a_class():
    """Of either figure, with the total and without."""
    for figures in (("count",), ("sum_pay",)):
        for margins in (True, False):
            now, before = (table(people, ("area",), margins=margins, figures=figures) for people in (CROWD, PEOPLE))
            asked = plan(("area",), figures=figures, rules=CellRules(3, class_disclosure=True))
            assert shared_key_differences(asked, now, ("area",), before) == [(NORTH,)]
            assert not shared_key_differences(asked, before, ("area",), before)


def test_several_rows_of_a_person_prove_fewer_persons():
    assert judged(CROWD, PEOPLE, readable=False, max_rows=1) == []
    assert (NORTH,) in judged(CROWD, PEOPLE, readable=False, max_rows=2, rules=CellRules(4))
    assert (NORTH,) in judged(CROWD, PEOPLE, readable=False, max_rows=None)


def test_against_persons_counted_anew():
    """Random pairs of versions: every printed difference of few persons is found, and no other (minimum count alone)."""
    dice = np.random.default_rng(5)
    seen = set()
    for _ in range(200):
        pool = {
            i: (str(dice.choice(KEYS["area"])), str(dice.choice(KEYS["sex"])), int(dice.integers(1, 50))) for i in range(12)
        }
        before = {i: one for i, one in pool.items() if dice.random() < 0.6}
        now = {
            i: (*one[:2], one[2] + int(dice.integers(0, 2)) * int(dice.random() < 0.3))
            for i, one in pool.items()
            if (i in before) != (dice.random() < 0.25)
        }
        by = ("area", "sex")
        found = {group[0] for group in judged(now, before, by, margins=True, before_margins=True) if len(group) == 1}
        expected = set()
        mine, theirs = (table(people, by, margins=True) for people in (now, before))
        for cell in mine:
            inside = [
                {i: one for i, one in people.items() if set(cell) <= {("area", one[0]), ("sex", one[1])}}
                for people in (now, before)
            ]
            joined_or_left = inside[0].keys() ^ inside[1].keys()
            valued = {i for i in inside[0].keys() | inside[1].keys() if inside[0].get(i) != inside[1].get(i)}
            if mine[cell]["count"] != theirs[cell]["count"] and len(joined_or_left) < 3:
                expected.add(cell)
            if mine[cell]["sum_pay"] != theirs[cell]["sum_pay"] and len(valued) < 3:
                expected.add(cell)
        assert found == expected
        seen.add(bool(found))
    assert seen == {True, False}
