"""Tables of the same persons beside each other, from the command line: what one prints gives back what another hides."""

from __future__ import annotations

import pytest

from tests.unit.cli.conftest import POLICY_HEAD

POLICY = (
    POLICY_HEAD
    + """\
    unit: {column: id, max_rows: 1}
    columns:
      id: {role: direct, type: string}
      area: {role: quasi, type: category, domain: [north, south, east]}
      sex: {role: quasi, type: category, domain: [F, M]}
      pay: {role: sensitive, type: integer, domain: [0, 1000]}
tables: {min_count: 3}
releases:
"""
)
FINE = "  - {id: fine, kind: table, from: d, by: [area, sex], measures: [{count: true}], margins: true, output: {path: out/fine.csv}}\n"
COARSE = "  - {id: coarse, kind: table, from: d, by: [area], measures: [{count: true}], output: {path: out/coarse.csv}}\n"


def people(cells):
    """One person a row."""
    rows = [(area, sex) for (area, sex), size in cells.items() for _ in range(size)]
    return "id,area,sex,pay\n" + "".join(f"p{n},{area},{sex},10\n" for n, (area, sex) in enumerate(rows))


#: One cell of two persons: it is suppressed, and others with it so that no total gives it back.
CELLS = {("north", "F"): 2, ("north", "M"): 9, ("south", "F"): 8, ("south", "M"): 7, ("east", "F"): 6, ("east", "M"): 8}


def checks(document):
    return {check["id"]: check["outcome"] for check in document["checks"] if check["id"].startswith("AUDIT-EARLIER")}


@pytest.fixture
def tables(desk):
    desk.data(people(CELLS))
    desk.policy(POLICY + FINE)
    return desk


def run_coarse(desk):
    """The other table, under a policy of the same id."""
    desk.policy(POLICY + COARSE)
    return desk.run()


def audited(desk, release, file, *against):
    options = [option for one in against for option in ("--against", one)]
    return desk("audit", "policy.yaml", "--release", release, "--file", file, *options, "--format", "json")


def test_tables_that_say_the_same_of_their_cells_hold_together(tables):
    assert tables.run_once().code == 0
    run = next((tables.folder / ".privrelease" / "runs").iterdir()).name
    said = run_coarse(tables)
    assert said.code == 0, said.err
    again = audited(tables, "coarse", "out/coarse.csv", run)
    assert again.code == 0, again.err
    assert checks(again.json) == {"AUDIT-EARLIER-CELLS": "pass", "AUDIT-EARLIER-DIFFERENCE": "pass"}


def suppressed(desk):
    lines = (desk.folder / "out" / "fine.csv").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.endswith("suppressed")]


def test_an_earlier_table_that_prints_the_suppressed_cell_is_named(tables):
    assert tables.run_once().code == 0
    assert any(line.startswith("north,F") for line in suppressed(tables))
    (tables.folder / "old.csv").write_text("area,sex,total_over,count,status\nnorth,F,,2,shown\n", encoding="utf-8")
    said = audited(tables, "fine", "out/fine.csv", "old.csv")
    assert said.code == 1
    assert checks(said.json)["AUDIT-EARLIER-CELLS"] == "fail"
    assert "it prints suppressed cells: north / F" in said.err
    assert "A283" in said.err


def test_an_earlier_table_that_prints_what_protects_a_cell_gives_the_cell_back(tables):
    """The suppressed neighbour in the row is safe by itself; with its total it gives the cell of two back."""
    assert tables.run_once().code == 0
    others = [line for line in suppressed(tables) if not line.startswith("north,F")]
    places = {tuple(line.split(",")[:3]) for line in others}
    rows = []
    for area, sex, over in places:
        size = sum(size for (a, s), size in CELLS.items() if (a == area or not area) and (s == sex or not sex))
        rows.append(f"{area},{sex},{over},{size},shown")
    (tables.folder / "old.csv").write_text("\n".join(["area,sex,total_over,count,status", *rows]) + "\n", encoding="utf-8")
    said = audited(tables, "fine", "out/fine.csv", "old.csv")
    assert said.code == 1
    assert checks(said.json)["AUDIT-EARLIER-CELLS"] == "fail"
    assert "what it prints gives suppressed cells back: north / F" in said.err


def test_one_person_more_in_a_cell_is_a_small_difference(tables):
    assert run_coarse(tables).code == 0
    tables.data(people({**CELLS, ("east", "M"): 9}))
    said = run_coarse(tables)
    assert said.code == 1
    assert "AUDIT-EARLIER-DIFFERENCE" in said.err
    assert "east" in said.err


def test_as_many_persons_more_as_a_printed_cell_needs_are_none(tables):
    assert run_coarse(tables).code == 0
    tables.data(people({**CELLS, ("east", "M"): 11}))
    said = run_coarse(tables)
    assert said.code == 0, said.err


def test_parts_of_a_finer_table_are_a_total_of_the_coarser_one(tables):
    """The finer table leaves out who has no sex: one person in the difference. A run hides it; a file that prints it fails."""
    assert tables.run_once().code == 0
    text = people(CELLS).splitlines(keepends=True)
    tables.data("".join(text) + "p99,east,,10\n")
    said = run_coarse(tables)
    assert said.code == 0, said.err
    assert "east,,,suppressed" in (tables.folder / "out" / "coarse.csv").read_text(encoding="utf-8")
    (tables.folder / "made.csv").write_text(
        "area,total_over,count,status\nnorth,,11,shown\nsouth,,15,shown\neast,,15,shown\n", encoding="utf-8"
    )
    said = audited(tables, "coarse", "made.csv", "out/fine.csv")
    assert said.code == 1
    assert "AUDIT-EARLIER-DIFFERENCE" in said.err


def test_what_is_no_table_is_said_and_not_compared(tables):
    assert tables.run_once().code == 0
    (tables.folder / "old.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    said = audited(tables, "fine", "out/fine.csv", "old.csv")
    assert said.code == 3
    assert any("old.csv" in text for text in said.json["decision"]["assessment_remaining"])


def test_a_named_table_by_none_of_the_keys_ends_as_bad_input(tables):
    assert tables.run_once().code == 0
    (tables.folder / "other.csv").write_text("region,total_over,count,status\nx,,7,printed\n", encoding="utf-8")
    said = audited(tables, "fine", "out/fine.csv", "other.csv")
    assert said.code == 3
    assert said.last.endswith("cannot be read as an earlier release: other.csv (it has no column of this release)")
    assert checks(said.json) == {"AUDIT-EARLIER-LOOKED": "not_evaluated"}
