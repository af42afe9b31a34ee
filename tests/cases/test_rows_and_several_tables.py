"""Rows and several tables of the same persons: what all of them give back and no table alone, in whichever order they are published."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from itertools import permutations, product

import pytest

from privrelease.audit.comparison.earlier import joint_boxes
from tests.cases.test_rows_and_determined_columns import CASE, GIVEN, outcome, persons, policy, source
from tests.depth import depth

__all__ = ["CASE"]

#: Two of the counts are few, in two areas and two places: one square is suppressed.
FEW = (("a1", "b1", 1), ("a1", "b2", 6), ("a2", "b1", 7), ("a2", "b2", 2), ("a3", "b1", 30), ("a3", "b2", 31))
COLUMNS = {
    "id": {"role": "direct", "type": "string"},
    **{name: {"role": "quasi", "type": "category"} for name in ("a", "b", "bn")},
    "x": {"role": "insensitive", "type": "integer", "domain": [0, 9]},
    "fee": {"role": "insensitive", "type": "integer", "domain": [0, 10000]},
}


def table(name, by, **more):
    return {
        "id": name,
        "kind": "table",
        "from": "d",
        "by": by,
        "measures": [{"count": True}],
        "margins": False,
        "protect": {"min_count": 3},
        "output": f"out/{name}.csv",
        **more,
    }


def described(case, tables, shows=("a", "x"), path="policy.yaml", ident="case", **more):
    """Rows, and these tables in place of the one of the other policies."""
    policy(case, shows=shows, path=path, columns=more.pop("columns", COLUMNS), **more)
    found = json.loads((case.folder / path).read_text(encoding="utf-8"))
    found["id"] = ident
    found["releases"] = [one for one in found["releases"] if one["id"] == "rows"] * bool(shows) + list(tables)
    if not shows:
        del found["threats"]
    (case.folder / path).write_text(json.dumps(found, indent=1), encoding="utf-8")


def last_of(case, last):
    """The last command is called, and those before it are a state that it starts from."""
    return case if last else case.once


TABLES = (table("areas", ["a", "b"]), table("places", ["b"]))


@pytest.mark.parametrize("order", [*permutations(("areas", "places", "rows"))])
def test_rows_and_two_tables_give_back_what_neither_table_does(case, order):
    """Areas by place leave two squares' worth open: the rows give the totals of areas, the other table those of places."""
    source(case, persons(FEW))
    described(case, TABLES)
    for name in order[:2]:
        assert case.once("run", "policy.yaml", "--release", name).code == 0
    for _ in range(2):
        ran = case("run", "policy.yaml", "--release", order[2])
        assert (ran.code, outcome(case)) == (1, "fail"), ran.err
        assert "A294" in ran.err
        assert "a1 / b1, a2 / b2" in ran.err
    assert not (case.folder / "out" / f"{order[2]}.csv").exists()


def test_one_run_of_everything_and_another_from_elsewhere_fail(case):
    source(case, persons(FEW))
    described(case, TABLES)
    ran = case("run", "policy.yaml")
    assert ran.code == 1
    assert "with rows (run" in ran.err
    assert "of areas (run" in ran.err
    elsewhere = case.folder / "elsewhere"
    elsewhere.mkdir()
    again = replace(case, folder=elsewhere)("run", case.folder / "policy.yaml", "--state", case.folder / ".privrelease")
    assert again.code == 1, again.err
    assert "a1 / b1, a2 / b2" in again.err


def test_rows_of_another_policy_are_those_of_the_same_persons(case):
    source(case, persons(FEW))
    described(case, TABLES, shows=(), path="tables.yaml", ident="tables")
    described(case, (), path="rows.yaml", ident="rows")
    assert case.once("run", "tables.yaml", "--release", "areas").code == 0
    assert case("run", "rows.yaml").code == 0
    ran = case("run", "tables.yaml", "--release", "places")
    assert (ran.code, outcome(case)) == (1, "fail"), ran.err


@pytest.mark.parametrize("last", ["rows", "north"])
def test_a_filter_joins_tables_as_a_column_does(case, last):
    """A table is of one place alone: it prints a total that the first leaves open, and rows give all others."""
    source(case, persons(FEW))
    names = ("areas", "north", "rows")
    of_places = [table(name, ["bn"], where=f"b = '{place}'") for name, place in (("north", "b1"), ("south", "b2"))]
    described(case, (TABLES[0], *of_places), columns=with_names())
    for name in sorted(names, key=lambda name: name == last):
        ran = last_of(case, name == last)("run", "policy.yaml", "--release", name)
        assert ran.code == int(name == last), ran.err
    assert outcome(case) == "fail"


def with_names():
    return {**COLUMNS, "bn": {**COLUMNS["bn"], "domain": ["north", "south"]}}


@pytest.mark.parametrize("last", ["rows", "places"])
def test_where_the_data_changed_between_the_tables_nothing_follows(case, last):
    source(case, persons(FEW))
    described(case, TABLES)
    assert case.once("run", "policy.yaml", "--release", "areas").code == 0
    source(case, persons(((*FEW[0][:2], 5), *FEW[1:])))
    for name in sorted(("places", "rows"), key=lambda name: name == last):
        ran = case("run", "policy.yaml", "--release", name)
        assert ran.code == 0, ran.err


@pytest.mark.parametrize("last", ["rows", "places"])
def test_printed_sums_of_a_column_of_the_rows_wait_for_a_person(case, last):
    """How the numbers of the rows add up to the sums of places was not computed, and four areas by place are suppressed."""
    few = (("a1", "b1", 1), ("a1", "b2", 2), ("a2", "b1", 2), ("a2", "b2", 1), *FEW[4:])
    source(case, [{**one, "x": i % 4} for i, one in enumerate(persons(few))])
    described(case, (TABLES[0], table("places", ["b"], measures=[{"sum": "x"}])))
    for name in sorted(("areas", "places", "rows"), key=lambda name: name == last):
        ran = last_of(case, name == last)("run", "policy.yaml", "--release", name)
        assert ran.code == 5 * (name == last), ran.err
    assert "printed sums (sum_x)" in ran.err


@pytest.mark.parametrize("last", ["rows", "places"])
def test_what_is_too_large_to_be_judged_waits_for_a_person(case, last, monkeypatch):
    monkeypatch.setattr(joint_boxes, "MOST_CELLS", 4)
    source(case, persons(FEW))
    described(case, TABLES)
    for name in sorted(("areas", "places", "rows"), key=lambda name: name == last):
        ran = case("run", "policy.yaml", "--release", name)
        assert ran.code == 5 * (name == last), ran.err
    assert "too many cells of all columns together" in ran.err


# no false alarm

REGIONS, AGES, SEXES = ([f"{letter}{i}" for i in range(n)] for letter, n in (("r", 8), ("g", 5), ("s", 2)))
WORK, ILLS = ([f"{letter}{i}" for i in range(n)] for letter, n in (("w", 6), ("i", 7)))


def official():
    """Some 1,900 persons, of a few kinds often and of others seldom; none is real."""
    dice, rows = random.Random(4), []
    for place, (region, age, sex) in enumerate(product(REGIONS, AGES, SEXES)):
        for _ in range(20 + 7 * place % 11):
            (work,) = dice.choices(WORK, (30, 25, 20, 15, 6, 3))
            (ill,) = dice.choices(ILLS, (40, 25, 15, 10, 5, 3, 2))
            rows.append({"id": f"p{len(rows)}", "region": region, "age": age, "sex": sex, "work": work, "ill": ill})
    return rows


def officially(case, tables):
    names = {"region": REGIONS, "age": AGES, "sex": SEXES, "work": WORK, "ill": ILLS}
    columns = {"id": COLUMNS["id"], **{name: {"role": "quasi", "type": "category"} for name in names}}
    source(case, official(), columns=tuple(columns))
    described(case, tables, shows=("region", "age"), columns=columns, domains=names)


PAIRS = {
    "no suppressed cell": (["region", "sex"], ["age", "sex"], False),
    "nothing in common": (["region", "work"], ["age", "ill"], True),
    "a column in common": (["region", "work"], ["age", "work"], True),
    "the region in common": (["region", "sex", "ill"], ["region", "work"], True),
}
#: Each pair, with the rows last or one of the tables; the whole has both of each.
OFFICIAL = [
    pytest.param(*pair, last, id=f"{name}-{last}")
    for number, (name, pair) in enumerate(PAIRS.items())
    for last in depth(("rows", "two")[number % 2 :][:1], ("rows", "two"))
]


@pytest.mark.parametrize(("one", "two", "suppresses", "last"), OFFICIAL)
def test_official_tables_beside_rows_by_region_and_age_pass(case, one, two, suppresses, last):
    few = {"protect": {"min_count": 10}, "margins": True}
    officially(case, (table("one", one, **few), table("two", two, **few)))
    for name in sorted(("one", "two", "rows"), key=lambda name: name == last):
        ran = last_of(case, name == last)("run", "policy.yaml", "--release", name)
        assert ran.code == 0, ran.err
    assert outcome(case) == "pass"
    files = [(case.folder / "out" / f"{name}.csv").read_text(encoding="utf-8") for name in ("one", "two")]
    assert any("suppressed" in text for text in files) == suppresses
    assert GIVEN in {check["id"] for check in case.audit()["checks"]}
