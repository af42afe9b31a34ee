"""Checks and control files of a release of labels, through the command line, by figures worked by hand."""

from __future__ import annotations

import json
import re

import pytest

POLICY = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: made
version: 1.0.0
title: Made-up
datasets:
  people:
    source: people.csv
    unit: {column: id, max_rows: 1}
    columns:
      id: {role: direct, type: string}
      age: {role: quasi, type: integer, domain: [0, 99], hierarchy: {widths: [10, 20, 40], top: 90}}
      town: {role: quasi, type: category, hierarchy: {csv: towns.csv}}
threats:
  T: {dataset: people, knows: [age, town], highest_risk: 1}
ATTACKSreleases:
  - id: rows
    kind: microdata
    from: people
    protect: [T]
    transform:
      - {drop: [id]}
      - {generalise: age}
      - {generalise: town}
    output: out/rows.csv
checks:
  - {id: G, release: rows, expect: generalised_cells, max: 1}
  - {id: A, release: rows, expect: generalised_cells, column: age, max: 1}
  - {id: B, release: rows, expect: generalised_cells, column: town, max: 0.5}
  - {id: P, release: rows, expect: precision, min: 0.3}
  - {id: M, release: rows, expect: marginal_error, columns: [age, town], max: 0}
"""
#: `solo` has a label of its own, which holds it alone.
TOWNS = "Ahlen;north\nBeck;north\nCarl;solo\n"
PEOPLE = "id,age,town\n" + "".join(
    f"p{n},{age},{town}\n"
    for n, (age, town) in enumerate([(1, "Ahlen"), (25, "Beck"), (29, "Carl"), ("", "Carl"), (95, "Carl"), (47, "")])
)


@pytest.fixture
def people(desk):
    (desk.folder / "people.csv").write_text(PEOPLE, encoding="utf-8")
    (desk.folder / "towns.csv").write_text(TOWNS, encoding="utf-8")
    return desk


def test_the_checks_are_figures_of_cells_levels_and_released_values(people):
    people.policy(POLICY.replace("ATTACKS", ""))
    said = people.run()
    assert said.code == 0, said.err
    (audit,) = (people.folder / ".privrelease").glob("[rq]*/*/internal/audit.json")
    told = {one["id"]: one["message"] for one in json.loads(audit.read_text(encoding="utf-8"))["checks"]}
    assert told["G"].startswith("generalised_cells is 70 %")  # all five ages, and two of five towns
    assert told["A"].startswith("generalised_cells of age is 100 %")
    assert told["B"].startswith("generalised_cells of town is 40 %")
    # five ages at level 1 of 3, five towns at level 1 of 1: 1 - (5/3 + 5) / 10
    assert told["P"].startswith("precision is 33.3333 %")
    assert told["M"].startswith("marginal_error of age, town is 0 %")


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (
            "c0,20,Ahlen\nc1,30,Dorf\nc2,,\nc3,40,Emst\n",
            "column town: 2 rows have a value that its hierarchy lacks (first in row 2)",
        ),
        ("c0,20,Ahlen\nc1,30,north\n", "column town: 1 row has a value that its hierarchy lacks (first in row 2)"),
    ],
)
def test_a_control_with_values_that_the_hierarchy_lacks_is_named_by_column_and_rows(people, rows, words):
    (people.folder / "control.csv").write_text("id,age,town\n" + rows, encoding="utf-8")
    people.policy(POLICY.replace("ATTACKS", "attacks: {control: control.csv, inference: {target: town}}\n"))
    said = people.run()
    assert said.code == 3
    assert "D258" in said.err
    assert words in said.err
    assert not {"Dorf", "Emst", "c1", "Traceback"} & {*re.findall(r"\w+", said.out + said.err)}
    assert not (people.folder / "out" / "rows.csv").exists()


def test_an_auxiliary_file_with_values_that_the_hierarchy_lacks_is_named_by_column_and_rows(people):
    (people.folder / "aux.csv").write_text("id,town\np0,Ahlen\np1,Dorf\np2,Carl\n", encoding="utf-8")
    linkability = "attacks: {linkability: {columns: [[town], [age]], auxiliary: aux.csv}}\n"
    people.policy(POLICY.replace("ATTACKS", linkability))
    said = people.run()
    assert said.code == 3
    assert "D258" in said.err
    assert "aux.csv" in said.err
    assert "column town: 1 row has a value that its hierarchy lacks (first in row 2)" in said.err
    assert "Dorf" not in said.out + said.err
    assert not (people.folder / "out" / "rows.csv").exists()
