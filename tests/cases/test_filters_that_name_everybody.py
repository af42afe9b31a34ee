"""Tables of three filters of which everybody satisfies one, next to rows or to a table of all: what is left over is shared among the cells that are hidden.

No pair of the filters says that everybody is in one of them. A test that adds a person of none finds that nothing follows.
"""

from __future__ import annotations

import csv
from itertools import product

import pytest

from tests.cases.test_rows_and_determined_columns import CASE, DOMAINS, outcome, persons, source
from tests.cases.test_rows_and_several_tables import described, table
from tests.depth import depth

__all__ = ["CASE"]

#: Ten of a1, six in b1: what is left over is four, of two cells of one or two each.
FEW = {("a1", "b1"): 6, ("a1", "b2"): 2, ("a1", "b3"): 2, ("a2", "b1"): 20, ("a2", "b2"): 30, ("a2", "b3"): 40}
PLACES = DOMAINS | {"b": ["b1", "b2", "b3", "b4"], "bn": ["B1", "B2", "B3", "B4"]}
YEARS = tuple(table(f"in_{place}", ["a"], where=f"b = '{place}'") for place in ("b1", "b2", "b3"))
ORDERS = [
    ("rows", "in_b1", "in_b2", "in_b3"),
    ("in_b1", "in_b2", "in_b3", "rows"),
    ("in_b3", "rows", "in_b1", "in_b2"),
]


def made(few=FEW):
    """Ten persons of another area lie in every place, so that areas and places say nothing of each other."""
    every = few | {("a3", place): 10 for _, place in few}
    return persons(tuple((area, place, n) for (area, place), n in every.items()), name=str.upper)


@pytest.mark.parametrize(
    ("others", "order"),
    [
        pytest.param(others, order, id=f"{others}-{'-'.join(order)}")
        for others, orders in ((0, ORDERS), (5, depth(ORDERS[:1], ORDERS)))
        for order in orders
    ],
)
def test_what_rows_leave_over_for_the_last_years_is_seen(case, order, others):
    """With five persons of no such place the four may be among them."""
    source(case, made(FEW | ({("a1", "b4"): others} if others else {})))
    described(case, YEARS, domains=PLACES)
    for name in order[:-1]:
        assert case.once("run", "policy.yaml", "--release", name).code == 0
    for _ in range(2):
        ran = case("run", "policy.yaml", "--release", order[-1])
        assert (ran.code, outcome(case)) == ((0, "pass") if others else (1, "fail")), ran.err
        assert ("A294" in ran.err) == (not others)


def test_two_years_are_judged_as_before(case):
    source(case, made({key: n for key, n in FEW.items() if key[1] != "b3"}))
    described(case, YEARS[:2], domains=PLACES)
    assert [case("run", "policy.yaml", "--release", name).code for name in ("rows", "in_b1", "in_b2")] == [0, 0, 1]


@pytest.mark.parametrize("one_by_one", [False, True])
def test_a_table_of_all_is_protected_together_with_those_of_the_years(case, one_by_one):
    """Every way to fill the hidden cells of an area: none of them is the same in all ways, as a recount of what was printed shows."""
    source(case, made())
    every = (table("every", ["a"]), *YEARS)
    described(case, every, shows=(), domains=PLACES)
    for options in [("--release", one["id"]) for one in every] if one_by_one else [()]:
        assert case("run", "policy.yaml", *options).code == 0
    printed = {one["id"]: cells(case, one["id"]) for one in every}
    for area in ("a1", "a2", "a3"):
        total, *years = (printed[one["id"]][area] for one in every)
        hidden = [place for place, n in enumerate(years) if n is None]
        few = {
            place for place in hidden if FEW.get((area, f"b{place + 1}"), 10) < 3
        }  # that they are is known: each is hidden for itself
        known = [(1, 2) if place in few else range(61) if n is None else (n,) for place, n in enumerate(years)]
        ways = [way for way in product(*known) if total is None or sum(way) == total]
        assert all(len({way[place] for way in ways}) > 1 for place in hidden)


@pytest.mark.parametrize("together", [False, True])
def test_nearly_as_many_persons_in_two_years_are_no_change_of_few(case, together):
    """A quarter, and the next as a table of its own: the differences of 2 and 1 are of nobody."""
    source(case, made({("a1", "b1"): 20, ("a1", "b2"): 22, ("a2", "b1"): 31, ("a2", "b2"): 30, ("a2", "b4"): 9}))
    described(case, YEARS[:2], shows=(), domains=PLACES)
    for options in [()] if together else [("--release", "in_b1"), ("--release", "in_b2")]:
        for _ in range(2):
            ran = case("run", "policy.yaml", *options)
            assert ran.code == 0, ran.err
    assert cells(case, "in_b2") == {"a1": 22, "a2": 30, "a3": 10}


def test_a_year_that_is_printed_anew_is_still_compared_with_itself(case):
    """Two persons who join are two of the difference, whatever other years there are."""
    source(case, made({("a1", "b1"): 20, ("a1", "b2"): 22, ("a2", "b1"): 31, ("a2", "b2"): 30, ("a2", "b4"): 9}))
    described(case, YEARS[:2], shows=(), domains=PLACES)
    assert case("run", "policy.yaml").code == 0
    source(case, made({("a1", "b1"): 22, ("a1", "b2"): 22, ("a2", "b1"): 31, ("a2", "b2"): 30, ("a2", "b4"): 9}))
    ran = case("run", "policy.yaml", "--release", "in_b1")
    assert ran.code == 1
    assert "the difference to in_b1" in ran.err


def cells(case, name):
    with (case.folder / "out" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return {line["a"]: int(line["count"]) if line["count"] else None for line in csv.DictReader(file)}
