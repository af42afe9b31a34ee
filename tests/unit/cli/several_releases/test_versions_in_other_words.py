"""A table and an earlier version of it in other words: by a column that determines the other's, or a mean with its count where a sum was.

One person joins with an amount of 999, and it is never the difference of what the two files print.
"""

from __future__ import annotations

import csv
from itertools import product

import pytest

HEAD = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: areas
version: 1.0.0
title: Made-up
tables: {{min_count: 3, p_percent: 0.2}}
datasets:
  d:
    source: {source}
    unit: {{column: id, max_rows: 1}}
    columns:
      id: {{role: direct, type: string}}
      town: {{role: quasi, type: category, domain: [t0, t1, t2]}}
      county: {{role: quasi, type: category, domain: [c0, c1]}}
      x: {{role: insensitive, type: integer, domain: [0, 1000]}}
releases:
  - {{id: table, kind: table, from: d, by: [{by}], measures: [{measures}], margins: true, output: out/table.csv}}
"""
SUM, MEAN, COUNT = "{sum: x}", "{mean: x}, {count: true}", "{count: true}"
#: Towns t0 and t1 lie in county c0.
STAYS = [(f"p{town}{i}", f"t{town}", f"c{town // 2}", 10 + 7 * i % 31) for town, i in product(range(3), range(20))]
ONE = ("joined", "t0", "c0", 999)


def state(desk, name: str, people) -> None:
    lines = "".join(f"{one},{town},{county},{x}\n" for one, town, county, x in people)
    (desk.folder / name).write_text("id,town,county,x\n" + lines, encoding="utf-8")


def some(many: int, *, x: int = 30):
    return [(f"n{town}{i}", f"t{town}", f"c{town // 2}", x) for town, i in product(range(3), range(many))]


def run(desk, source: str, by: str, measures: str):
    desk.policy(HEAD.format(source=source, by=by, measures=measures))
    return desk.run()


VERSIONS = [
    (("county", SUM), ("town", SUM)),
    (("town", SUM), ("county", SUM)),
    (("county", COUNT), ("town", COUNT)),
    (("county", SUM), ("town", MEAN)),
    (("town", SUM), ("town", MEAN)),
    (("town", MEAN), ("town", SUM)),
]


@pytest.mark.parametrize(("before", "after"), VERSIONS)
def test_what_one_person_adds_is_not_printed_in_other_words(desk, before, after) -> None:
    state(desk, "1.csv", STAYS)
    state(desk, "2.csv", [*STAYS, ONE, *[one for one in some(6) if one[1] == "t2"]])
    assert run(desk, "1.csv", *before).code == 0
    earlier = (desk.folder / "out" / "table.csv").read_bytes()
    for _ in range(2):
        said = run(desk, "2.csv", *after)
        assert said.code == 1, said.out + said.err
        assert "A282" in said.err
    assert (desk.folder / "out" / "table.csv").read_bytes() == earlier


@pytest.mark.parametrize(("before", "after"), VERSIONS)
def test_a_difference_of_enough_persons_passes(desk, before, after) -> None:
    state(desk, "1.csv", STAYS)
    state(desk, "2.csv", [*STAYS, *some(8)])
    assert run(desk, "1.csv", *before).code == 0
    said = run(desk, "2.csv", *after)
    assert said.code == 0, said.out + said.err
    with (desk.folder / "out" / "table.csv").open(encoding="utf-8", newline="") as file:
        assert all(row["status"] == "shown" for row in csv.DictReader(file))


def test_the_rounding_of_a_mean_of_many_is_nobodys_change(desk) -> None:
    """A mean of thousands times its count is not their sum: what is off by that is not taken for a person who changed."""
    many = [
        (f"q{town}{i}", f"t{town}", f"c{town // 2}", (i * i + 7 * town) % 997) for town, i in product(range(3), range(2_500))
    ]
    state(desk, "1.csv", many)
    state(desk, "2.csv", [*many, *[one for one in some(8, x=501) if one[1] != "t2"]])
    assert run(desk, "1.csv", "town", SUM).code == 0
    said = run(desk, "2.csv", "town", MEAN)
    assert said.code == 0, said.out + said.err
    state(desk, "3.csv", [*many, ONE])
    said = run(desk, "3.csv", "town", SUM)
    assert said.code == 1, said.out + said.err


def test_two_pairs_of_columns_are_added_up_together(desk) -> None:
    """By county and band, then by town and age: 999 is the difference of one cell once towns are added up to counties and ages to bands, and enough persons
    changed in every other, so that no pair alone shows it.
    """
    columns = "\n      age: {role: quasi, type: category, domain: [y1, y2, z1]}\n      band: {role: quasi, type: category, domain: [y, z]}"
    places = [(town, age) for town in range(3) for age in ("y1", "y2", "z1")]
    stay = [(f"s{town}{age}{i}", town, age, 10 + 7 * i % 31) for town, age in places for i in range(20)]
    new = [(f"n{town}{age}{i}", town, age, 30 + i) for town, age in places if town == 2 or age == "z1" for i in range(8)]
    for source, people in (("1.csv", stay), ("2.csv", [*stay, *new, ("joined", 0, "y1", 999)])):
        lines = "".join(f"{one},t{town},c{town // 2},{x},{age},{age[0]}\n" for one, town, age, x in people)
        (desk.folder / source).write_text("id,town,county,x,age,band\n" + lines, encoding="utf-8")
    for source, by, code in (("1.csv", "county, band", 0), ("2.csv", "town, age", 1)):
        policy = HEAD.format(source=source, by=by, measures=SUM).replace("margins: true", "margins: false")
        desk.policy(policy.replace("domain: [c0, c1]}", "domain: [c0, c1]}" + columns))
        said = desk.run()
        assert said.code == code, said.out + said.err
    assert "A282" in said.err


WEIGHTS = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: weights
version: 1.0.0
title: Made-up
tables: {min_count: 3}
datasets:
  d:
    source: data.csv
    unit: {column: id, max_rows: 1}
    columns:
      id: {role: direct, type: string}
      a: {role: quasi, type: category, domain: [a0, a1]}
      b: {role: quasi, type: category, domain: [b0, b1, b2]}
      w: {role: quasi, type: integer, domain: [0, 1]}
releases:
  - {id: t, kind: table, from: d, by: [a], measures: [FIRST], output: out/t.csv}
  - {id: u, kind: table, from: d, by: [a, b], measures: [SECOND], margins: false, output: out/u.csv}
"""
#: Persons of a and b: two of (a0, b0).
MANY = {("a0", "b0"): 2, ("a0", "b1"): 8, ("a0", "b2"): 9, ("a1", "b0"): 20, ("a1", "b1"): 6, ("a1", "b2"): 7}


@pytest.mark.parametrize(
    ("first", "second", "said_of"),
    [
        ("{count: true, weight: w}", "{sum: w}", "adds up w as weights"),
        ("{sum: w}", "{count: true, weight: w}", "adds up w as weights"),
        ("{sum: w}", "{count: true}], where: 'w = 1", "which has two values"),
    ],
)
def test_one_figure_in_two_kinds_is_left_to_a_person(desk, first, second, said_of) -> None:
    """A weighted count is the sum of its weights, and a sum of ones a count: what one table hides follows from the other's."""
    rows = [(f"{a}{b}{i}", a, b, int(i > 0)) for (a, b), many in MANY.items() for i in range(many)]
    desk.data("id,a,b,w\n" + "".join(f"{one},{a},{b},{w}\n" for one, a, b, w in rows))
    second, _, where = second.partition("], where: '")
    policy = WEIGHTS.replace("FIRST", first).replace("[SECOND]", f"[{second}]" + (f", where: '{where}'" if where else ""))
    desk.policy(policy)
    for _ in range(2):
        said = desk.run()
        assert said.code == 5, said.out + said.err
        assert said_of in said.out
    assert not list((desk.folder / "out").glob("?.csv"))
