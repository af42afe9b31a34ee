"""Filters that read several columns make cells of other tables, and unions of cells: what they print counts wherever those are suppressed.

An area, whether a person works, and whether they live alone, all made up: of the first area one person does both.
"""

from __future__ import annotations

import csv
from dataclasses import replace

import pytest

from tests.cases.test_rows_and_determined_columns import CASE, outcome, source
from tests.cases.test_rows_and_several_tables import described, table

__all__ = ["CASE"]

COUNTS = {
    ("a1", "work", "alone"): 1,
    ("a1", "work", "with"): 6,
    ("a1", "none", "alone"): 7,
    ("a1", "none", "with"): 9,
    ("a2", "work", "alone"): 10,
    ("a2", "work", "with"): 16,
    ("a2", "none", "alone"): 17,
    ("a2", "none", "with"): 19,
}
DOMAINS = {"a": ["a1", "a2"], "b": ["work", "none"], "bn": ["alone", "with"]}
WORK, ALONE = "b = 'work'", "bn = 'alone'"
WORKING, LIVING = table("working", ["a"], where=WORK, margins=True), table("living", ["a"], where=ALONE, margins=True)
EITHER = table("either", ["a"], where=f"{WORK} OR {ALONE}", margins=True)
BOTH = table("both", ["a"], where=f"{WORK} AND {ALONE}", margins=True)
NEITHER = table("neither", ["a"], where=f"NOT ({WORK} OR {ALONE})", margins=True)
EVERY = table("every", ["a", "b", "bn"], margins=True)


def made(case, counts=COUNTS):
    people = [key for key, n in counts.items() for _ in range(n)]
    source(case, [{"id": f"p{i}", "a": a, "b": b, "bn": c, "x": i % 3, "fee": i} for i, (a, b, c) in enumerate(people)])


def printed(case, name, **keys):
    """The figure of a cell, by its keys; None where it is suppressed. Keys that are not named are totals."""
    with (case.folder / "out" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    (found,) = [one for one in lines if all(one.get(key, "") == keys.get(key, "") for key in ("a", "b", "bn"))]
    return int(found["count"]) if found["status"] == "shown" else None


def published(case, *tables, one_by_one=False):
    described(case, tables, shows=(), domains=DOMAINS)
    for options in [("--release", one["id"]) for one in tables] if one_by_one else [()]:
        ran = case("run", "policy.yaml", *options)
        assert ran.code == 0, ran.err


@pytest.mark.parametrize("one_by_one", [False, True])
def test_a_condition_another_and_either_do_not_tell_how_many_are_in_both(case, one_by_one):
    made(case)
    published(case, WORKING, LIVING, EITHER, one_by_one=one_by_one)
    assert None in [printed(case, name, a="a1") for name in ("working", "living", "either")]
    for _ in range(2):
        again = case("run", "policy.yaml")
        assert again.code == 0, again.err
        assert None in [printed(case, name, a="a1") for name in ("working", "living", "either")]


def test_where_enough_are_in_both_all_is_printed(case):
    made(case, COUNTS | {("a1", "work", "alone"): 5})
    published(case, WORKING, LIVING, EITHER)
    assert [printed(case, name, a="a1") for name in ("working", "living", "either")] == [11, 12, 18]


@pytest.mark.parametrize("one_by_one", [False, True])
def test_a_suppressed_table_of_both_is_not_given_back_by_the_others(case, one_by_one):
    made(case)
    published(case, BOTH, WORKING, LIVING, EITHER, one_by_one=one_by_one)
    assert printed(case, "both", a="a1") is None
    assert None in [printed(case, name, a="a1") for name in ("working", "living", "either")]


@pytest.mark.parametrize("of", [NEITHER, EITHER], ids=lambda one: one["id"])
@pytest.mark.parametrize("one_by_one", [False, True])
def test_a_filter_over_two_group_columns_gives_no_suppressed_cell_of_a_table_back(case, of, one_by_one):
    """The table of all prints its totals: with the cell of neither the others of the area follow, down to the one person."""
    made(case)
    published(case, EVERY, of, one_by_one=one_by_one)
    alone = {"b": "work", "bn": "alone"}
    assert printed(case, "every", a="a1", **alone) is None
    neither = printed(case, "every", a="a1", b="none", bn="with")
    of_filter = printed(case, of["id"], a="a1")
    total = printed(case, "every", a="a1")
    if of_filter is not None and total is not None and of is EITHER:
        of_filter = total - of_filter
    if (
        neither is not None or of_filter is not None
    ):  # nine are known, and so are seven who do not work, where their sum is printed
        seven = (
            printed(case, "every", a="a1", b="none") is not None
            or printed(case, "every", a="a1", b="none", bn="alone") is not None
        )
        eight = printed(case, "every", a="a1", bn="alone") is not None
        assert not (seven and eight)


def test_a_table_prints_no_cell_that_another_suppresses(case):
    made(case)
    published(case, EVERY, table("cells", ["a", "b", "bn"], where=f"NOT ({WORK} OR {ALONE})", margins=True))
    ours = printed(case, "every", a="a1", b="none", bn="with")
    theirs = printed(case, "cells", a="a1", b="none", bn="with")
    assert ours == theirs


ORDER = ("rows", "living", "either", "both")


@pytest.mark.parametrize("last", ["rows", "both"])
def test_rows_that_show_one_column_of_the_filters_give_the_other_table_back(case, last):
    """Rows show who works, tables how many live alone and how many do either: the rest of those who live alone work."""
    made(case)
    described(case, (LIVING, EITHER, BOTH), shows=("a", "b"), domains=DOMAINS)
    for name in [one for one in ORDER if one != last]:
        assert case("run", "policy.yaml", "--release", name).code == 0
    for _ in range(2):
        ran = case("run", "policy.yaml", "--release", last)
        assert (ran.code, outcome(case)) == (1, "fail"), ran.err
        assert "A294" in ran.err
    elsewhere = case.folder / "elsewhere"
    elsewhere.mkdir()
    options = ("--release", last, "--state", case.folder / ".privrelease")
    again = replace(case, folder=elsewhere)("run", case.folder / "policy.yaml", *options)
    assert again.code == 1, again.err


def test_rows_next_to_a_table_of_both_alone_pass(case):
    """Without the tables of one condition nothing tells who of those who work live alone."""
    made(case)
    described(case, (BOTH,), shows=("a", "b"), domains=DOMAINS)
    for name in ("rows", "both"):
        assert case("run", "policy.yaml", "--release", name).code == 0


def test_who_lacks_a_key_is_no_difference_of_one(case):
    """One table leaves out who lacks the area, the other counts them by its filter: nobody else is in the difference of both."""
    lines = "a1,work,with a1,none, a1,none,alone a1,none,alone a1,work,alone ,work,alone a1,,alone a1,work,alone a2,work,alone a1,work,alone ,work, a2,work,alone a1,work,alone"
    people = [dict(zip(("a", "b", "bn"), one.split(","), strict=True)) for one in lines.split(" ")]
    source(case, [{"id": f"p{i}", **one, "x": 1, "fee": i} for i, one in enumerate(people)])
    first = table("first", ["b", "bn", "a"], where="a IS NOT NULL")
    second = table("second", ["bn", "b"], where="a IS NULL OR a = 'a1'", margins=True)
    published(case, first, second)
    assert None in (printed(case, "first", a="a1", b="work", bn="alone"), printed(case, "second", b="work", bn="alone"))


#: Of the last place, an area and a year (0 to 2) each: what two overlapping years leave of the place is one person, in one of two cells.
YEARS = {"a1": (1, 5, 9), "a2": (7, 0, 9)}


@pytest.mark.parametrize("one_by_one", [False, True])
def test_a_cell_without_anybody_does_not_take_a_union_of_one_out_of_sight(case, one_by_one):
    """Those of the first area in the years but the first, and those of the second in the years but the second, leave 1 and 0 of the total."""
    people = [("work", *key) for key in (("a1", 0), ("a1", 1), ("a1", 2), ("a2", 0), ("a2", 1), ("a2", 2)) for _ in range(9)]
    people += [("none", area, year) for area, years in YEARS.items() for year, n in enumerate(years) for _ in range(n)]
    source(case, [{"id": f"p{i}", "a": a, "b": b, "bn": "with", "x": x, "fee": i} for i, (b, a, x) in enumerate(people)])
    first, second = table("first", ["b", "a"], where="x <> 0"), table("second", ["b", "a"], where="x <> 1")
    published(case, first, second, table("places", ["b"], margins=True), one_by_one=one_by_one)
    known = (
        printed(case, "first", b="none", a="a1"),
        printed(case, "second", b="none", a="a2"),
        printed(case, "places", b="none"),
    )
    assert None in known
