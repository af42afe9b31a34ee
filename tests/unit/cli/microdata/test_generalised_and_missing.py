"""Generalised columns of which no released cell has a value: missing in the source, or suppressed to the last."""

from __future__ import annotations

import csv

import pytest

POLICY = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: made
version: 1.0.0
title: Made-up
datasets:
  people:
    source: people.csv
    unit: rows
    columns:
      place: {{role: quasi, type: string, hierarchy: {hierarchy}}}
      sex: {{role: quasi, type: category}}
threats:
  T: {{dataset: people, knows: [place, sex], highest_risk: 0.2}}
releases:
  - id: rows
    kind: microdata
    from: people
    protect: [T]
    transform:
      - {{generalise: place, level: 1}}
      - {{suppress: cells}}
    output: out/rows.csv
"""
HIERARCHIES = {
    "csv": "{csv: places.csv, delimiter: ','}",
    "parents": "{parents: parents.csv, delimiter: ','}",
    "prefix": "{prefix: [2, 1], fill: '*'}",
}


@pytest.fixture(params=HIERARCHIES.values(), ids=HIERARCHIES)
def policy(request, desk):
    desk.policy(POLICY.format(hierarchy=request.param))
    (desk.folder / "places.csv").write_text("100,10*\n200,20*\n300,30*\n", encoding="utf-8")
    (desk.folder / "parents.csv").write_text("100,10*\n200,20*\n300,30*\n", encoding="utf-8")
    return desk


def written(desk, places):
    rows = "".join(f"{place},{'F' if number % 2 else 'M'}\n" for number, place in enumerate(places))
    (desk.folder / "people.csv").write_text("place,sex\n" + rows, encoding="utf-8")


def released(desk):
    with (desk.folder / "out" / "rows.csv").open(encoding="utf-8", newline="") as file:
        return [row["place"] for row in csv.DictReader(file)]


def test_a_column_that_is_missing_throughout_is_released_as_it_is(policy):
    written(policy, [""] * 40)
    said = policy.run()
    assert said.code == 0, said.err
    assert released(policy) == [""] * 40


def test_a_column_whose_last_values_are_suppressed_is_released_without_any(policy):
    written(policy, ["100", "200", "300", *[""] * 60])
    said = policy.run()
    assert said.code == 0, said.err
    assert released(policy) == [""] * 63


def test_rows_that_are_all_suppressed_fail_the_check_of_records(policy):
    written(policy, ["100", "200", "300"])
    said = policy.run()
    assert said.code == 1, said.err
    assert "AUDIT-RECORDS" in said.err
