"""Rows and tables of one source that are judged by less than the policy which made them, or by several files together: a person decides, or it fails."""

from __future__ import annotations

import json

import pytest

from tests.cases.test_rows_and_determined_columns import CASE, COLUMNS, GIVEN, outcome, persons, policy, source

__all__ = ["CASE"]

TABLE = {"id": "cells", "kind": "table", "from": "d", "by": ["a", "b"], "measures": [{"count": True}], "margins": False}


def alone(case, name, kept, ident, **changes):
    """Keep one release of the policy, in a file and under an id of its own."""
    path = case.folder / name
    found = json.loads((case.folder / "policy.yaml").read_text(encoding="utf-8"))
    found["releases"] = [{**one, **changes} for one in found["releases"] if one["id"] == kept]
    found["id"] = ident
    path.write_text(json.dumps(found, indent=1), encoding="utf-8")
    return name


def published(case, name, code=0, *more):
    ran = case("run", name, *more)
    assert ran.code == code, ran.err
    return ran


def undescribed(case):
    """Take the description out of what the newest run kept, as runs of before had none."""
    found = sorted(case.folder.glob(".privrelease/runs/*/internal/manifest.json"), key=lambda path: path.stat().st_mtime_ns)
    written = json.loads(found[-1].read_text(encoding="utf-8"))
    del written["description"]
    found[-1].write_text(json.dumps(written), encoding="utf-8")


@pytest.mark.parametrize("kept", [True, False], ids=["described", "by its file"])
@pytest.mark.parametrize("change", [{"where": "x = 0"}, {"round_up": 5}], ids=["filter", "rounded"])
def test_a_table_of_another_policy_that_does_not_fit_the_rows_by_its_file_is_left_to_a_person(case, change, kept):
    """What filtered it, or rounded it, its file does not say: rows that show the filter's column count the two persons all the same. Its run kept that."""
    few = (("a1", "b1", 24), ("a1", "b2", 27), ("a2", "b1", 21), ("a2", "b2", 2), ("a3", "b1", 27), ("a3", "b2", 24))
    source(case, [{**one, "x": 0 if one["b"] == "b2" or i % 2 else 1} for i, one in enumerate(persons(few))])
    policy(case, shows=("a", "b", "x"), knows=["a", "b"])
    tables, rows = alone(case, "tables.yaml", "cells", "tables", **change), alone(case, "rows.yaml", "rows", "rows")
    published(case, tables)
    if not kept:
        undescribed(case)
    for _ in range(2):
        ran = published(case, rows, 1 if kept else 5)
        assert ("a2 / b2" if kept else "though both are of one source") in ran.err
    assert not (case.folder / "out" / "rows.csv").exists()


@pytest.mark.parametrize("first", ["rows", "cells"])
def test_a_table_of_other_rows_by_its_domain_is_left_to_a_person(case, first):
    source(case, persons())
    policy(case, shows=("a", "b", "x"), knows=["a", "b"])
    files = {"rows": alone(case, "rows.yaml", "rows", "rows")}
    columns = {**COLUMNS, "x": {"role": "insensitive", "type": "integer", "domain": [0, 1], "outside": "drop"}}
    policy(case, shows=("a", "b", "x"), knows=["a", "b"], columns=columns)
    files["cells"] = alone(case, "cells.yaml", "cells", "tables")
    published(case, files[first])
    published(case, files["cells" if first == "rows" else "rows"], 5)


def test_where_the_data_changed_meanwhile_nothing_follows_and_nobody_is_asked(case):
    """A row joins between the two: they are of two states of the data, as they are every night."""
    source(case, persons())
    policy(case, shows=("a", "b"))
    published(case, "policy.yaml", 0, "--release", "cells")
    source(case, [*persons(), {"id": "p99", "a": "a1", "b": "b1", "bn": "north", "x": 0, "fee": 1}])
    published(case, "policy.yaml", 0, "--release", "rows")


@pytest.mark.parametrize("kept", [True, False], ids=["described", "by its file"])
def test_a_sum_of_a_table_that_its_policy_does_not_have_any_more_waits_for_a_person_by_its_file(case, kept):
    """The rows show areas and fees. That a figure is the sum of the fees its run kept, and its file does not say."""
    source(case, persons())
    sums = {"by": ["a"], "measures": [{"sum": "fee"}], "protect": {"min_count": 10}}
    policy(case, shows=("a", "fee"), cells=sums)
    tables, rows = alone(case, "tables.yaml", "cells", "tables"), alone(case, "rows.yaml", "rows", "rows")
    assert "suppressed" in published(case, tables).out + (case.folder / "out" / "cells.csv").read_text(encoding="utf-8")
    if not kept:
        undescribed(case)
    assert ("suppressed cells: a2" if kept else "sum_fee") in published(case, rows, 1 if kept else 5).err


def test_the_rules_of_another_policy_under_the_same_name_are_not_the_tables(case):
    few = (("a1", "b1", 12), ("a1", "b2", 19), ("a2", "b1", 17), ("a2", "b2", 7), ("a3", "b1", 12), ("a3", "b2", 18))
    source(case, persons(few))
    policy(case, shows=("a", "b"), cells={"protect": {"min_count": 10}})
    published(case, alone(case, "tables.yaml", "cells", "tables"))
    policy(case, shows=("a", "b"))  # its own `cells` prints seven
    published(case, "policy.yaml", 1, "--release", "rows")
    assert outcome(case) == "fail"


@pytest.mark.parametrize("order", [("one", "two", "cells"), ("cells", "one", "two"), ("one", "cells", "two")])
def test_two_files_of_rows_that_show_a_column_each_are_left_to_a_person(case, order):
    """Nothing links them, and neither gives a cell back: areas and places together were not judged with the table."""
    source(case, [{**one, "x": 0} for one in persons()])
    policy(case, shows=("a", "b"), cells={"margins": True})
    found = json.loads((case.folder / "policy.yaml").read_text(encoding="utf-8"))
    rows, table = found["releases"]
    found["releases"] = [
        {**rows, "id": name, "columns": [shown, "x"], "output": f"out/{name}.csv"}
        for name, shown in (("one", "a"), ("two", "b"))
    ] + [table]
    (case.folder / "policy.yaml").write_text(json.dumps(found), encoding="utf-8")
    for name in order[:2]:
        published(case, "policy.yaml", 0, "--release", name)
    ran = published(case, "policy.yaml", 5, "--release", order[2])
    assert "show more of the group columns (a, b)" in ran.err
    assert {check["id"]: check["outcome"] for check in case.audit()["checks"]}[GIVEN] != "pass"


@pytest.mark.parametrize("first", ["rows", "cells"])
@pytest.mark.parametrize("where", ["bn = 'south' OR x = 5", "bn = 'south' AND fee >= 0", "NOT (bn = 'north' OR fee < 0)"])
def test_the_part_of_a_filter_that_rows_show_decides_as_far_as_it_goes(case, first, where):
    """Two persons of a2 are of the south. Those of the north are out, whatever else the filter asks for; and no other column is shown."""
    source(case, [{**one, "x": 0} for one in persons()])
    policy(case, shows=("a", "bn"), cells={"by": ["a"], "where": where})
    published(case, "policy.yaml", 0, "--release", first)
    published(case, "policy.yaml", 1, "--release", "cells" if first == "rows" else "rows")
    assert outcome(case) == "fail"


@pytest.mark.parametrize("lacking", [False, True])
@pytest.mark.parametrize("first", ["rows", "cells"])
def test_rows_that_were_left_out_are_in_some_cell_too_where_no_key_is_missing(case, first, lacking):
    """One of the two persons of a2 / b2 is left out of the rows, 42 of 43 are in them; the table prints 41. If someone's place is missing, who was
    left out may be in no cell.
    """
    rows = persons()
    alone = max(i for i, one in enumerate(rows) if (one["a"], one["b"]) == ("a2", "b2"))
    rows = [{**one, "x": 9 if i == alone else 1} for i, one in enumerate(rows)]
    source(case, [*rows, {**rows[0], "id": "p99", "b": ""}] if lacking else rows)
    columns = {**COLUMNS, "x": {**COLUMNS["x"], "role": "quasi"}}
    transform = {"transform": [{"suppress": "cells", "limit": 0.5}]}
    policy(case, shows=("a", "b", "x"), columns=columns, knows=["x"], rows=transform)
    published(case, "policy.yaml", 0, "--release", first)
    published(case, "policy.yaml", 0 if lacking else 1, "--release", "cells" if first == "rows" else "rows")


@pytest.mark.parametrize("repeats", [True, False])
@pytest.mark.parametrize("first", ["rows", "cells"])
def test_rows_that_show_the_summed_amount_in_another_unit_wait_for_a_person(case, first, repeats):
    """The table adds up fees; the rows show an area and, as `x`, a number for each fee. Where no fee repeats, no one has a map of fees."""
    rows = [
        {**one, "fee": 100 + 10 * (i % 4 if repeats else i), "x": i % 4 if repeats else 100 + 2 * i}
        for i, one in enumerate(persons())
    ]
    source(case, rows)
    columns = {**COLUMNS, "x": {"role": "insensitive", "type": "integer", "domain": [0, 999]}}
    cells = {"by": ["a"], "measures": [{"sum": "fee"}], "protect": {"min_count": 10}, "margins": True}
    policy(case, shows=("a", "x"), columns=columns, cells=cells)
    published(case, "policy.yaml", 0, "--release", first)
    ran = published(case, "policy.yaml", 5 if repeats else 0, "--release", "cells" if first == "rows" else "rows")
    assert ("narrow down suppressed sums" in ran.err) == repeats


@pytest.mark.parametrize("first", ["rows", "cells"])
@pytest.mark.parametrize(("dropped", "code"), [((5,), 1), (range(0, 85, 9), 0)], ids=["one row", "ten rows"])
def test_rows_that_the_domain_of_another_dataset_leaves_out_count_in_either_order(case, first, dropped, code):
    """The table is made of all 85 rows of the file, the rows of those with x below 2. One row that is missing is seen in the cell that prints one more, so that
    the seven of a2 / b2 follow; ten are in too many ways in the suppressed cells. Whichever is released later is judged alike.
    """
    few = (("a1", "b1", 12), ("a1", "b2", 19), ("a2", "b1", 17), ("a2", "b2", 7), ("a3", "b1", 12), ("a3", "b2", 18))
    source(case, [{**one, "x": 2 if i in dropped else i % 2} for i, one in enumerate(persons(few))])
    policy(case, shows=("a", "b"), cells={"margins": True, "protect": {"min_count": 10}})
    found = json.loads((case.folder / "policy.yaml").read_text(encoding="utf-8"))
    own = found["datasets"]["d"]
    bounded = {**own["columns"]["x"], "domain": [0, 1], "outside": "drop"}
    found["datasets"]["narrow"] = {**own, "columns": {**own["columns"], "x": bounded}}
    found["threats"]["t"]["dataset"] = "narrow"
    for release in found["releases"]:
        if release["id"] == "rows":
            release["from"] = "narrow"
    (case.folder / "policy.yaml").write_text(json.dumps(found), encoding="utf-8")
    published(case, "policy.yaml", 0, "--release", first)
    ran = published(case, "policy.yaml", code, "--release", "cells" if first == "rows" else "rows")
    assert ("a2 / b2" in ran.err) == bool(code)
