"""Two releases that show the same households: each composition is common in either, and one couple alone has both."""

from __future__ import annotations

import pytest

POLICY = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: made
version: 1.0.0
title: Made-up
datasets:
  d:
    source: data.csv
    population: couples
    unit: {column: id, max_rows: 1}
    columns:
      id: {role: direct, type: string}
      home: {role: direct, type: string, links: household}
      age: {role: quasi, type: integer}
      sex: {role: quasi, type: category}
threats:
  t: {dataset: d, knows: [age, sex], highest_risk: 0.2}
releases:
  - id: ages
    kind: microdata
    from: d
    protect: [t]
    columns: [home, age]
    transform: [{pseudonymise: [home], key: ONE_KEY}]
    output: out/ages.csv
  - id: sexes
    kind: microdata
    from: d
    protect: [t]
    columns: [home, sex]
    transform: [{pseudonymise: [home], key: ONE_KEY}]
    output: out/sexes.csv
"""
#: Couples by ages and sexes: ten of (30, 30) and ten of two women, and one of both.
COUPLES = [((30, 40), "FM")] * 20 + [((30, 30), "FM")] * 10 + [((30, 40), "FF")] * 9 + [((30, 30), "FF")]


@pytest.fixture
def couples(desk, monkeypatch):
    rows = ["id,home,age,sex"]
    for home, (ages, sexes) in enumerate(COUPLES):
        rows += [f"p{home}-{place},h{home},{ages[place]},{sexes[place]}" for place in range(2)]
    desk.data("\n".join(rows) + "\n")
    for name in ("ONE_KEY", "OTHER_KEY"):
        monkeypatch.setenv(name, name.lower() * 8)
    return desk


def test_households_that_both_show_are_left_to_a_person(couples):
    couples.policy(POLICY)
    said = couples.run()
    assert said.code == 5
    assert "what both disclose about the members of one household (home) was not judged together" in said.out
    assert (couples.folder / "out" / "ages.csv").exists()
    assert not (couples.folder / "out" / "sexes.csv").exists()
    assert couples.run().code == 5  # the second run, too


def test_households_under_two_keys_are_not_linked(couples):
    head, last = POLICY.rsplit("ONE_KEY", 1)
    couples.policy(head + "OTHER_KEY" + last)
    said = couples.run()
    assert said.code == 0, said.err


def test_both_columns_in_one_release_fail(couples):
    couples.policy(POLICY.split("  - id: sexes", maxsplit=1)[0].replace("[home, age]", "[home, age, sex]"))
    said = couples.run()
    assert said.code == 1
    assert "A298" in said.err
