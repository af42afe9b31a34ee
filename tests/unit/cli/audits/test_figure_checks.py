"""Checks by names of Great Expectations on the file of a table and of statistics: what is about to leave, and nothing else, is looked at."""

from __future__ import annotations

import csv
import json

import pytest

from tests.unit.cli.conftest import POLICY_HEAD

COMMON = (
    POLICY_HEAD
    + """\
    population: p
    snapshot: first
    unit: {column: id, max_rows: 1}
    columns:
      id: {role: direct, type: string}
      area: {role: quasi, type: category, domain: [north, south]}
      pay: {role: sensitive, type: integer, domain: [0, 1000]}
"""
)
TABLE = (
    COMMON
    + """tables: {min_count: 3}
releases:
  - id: t
    kind: table
    from: d
    by: [area]
    measures: [{count: true}, {mean: pay}]
    margins: true
    output: [{path: out/t.csv}, {path: out/t.parquet}]
"""
)
STATISTICS = (
    COMMON
    + """releases:
  - id: t
    kind: statistics
    from: d
    budget: {epsilon: 1}
    queries: [{id: n, count: true, by: [area]}]
    output: out/t.csv
ledger: {cap: {epsilon: 9}, url: "sqlite:///ledger.db"}
"""
)
ROWS = "id,area,pay\n" + "".join(f"{n},{'north' if n % 3 else 'south'},{n}\n" for n in range(30))
FEW = "id,area,pay\n" + "".join(f"{n},{'north' if n > 1 else 'south'},{n}\n" for n in range(30))


def checks(*written):
    return "checks:\n" + "".join(f"  - {{id: C-{n}, release: t, {one}}}\n" for n, one in enumerate(written, start=1))


def made(desk):
    found = max(desk.folder.glob(".privrelease/*/*/internal/audit.json"), key=lambda path: path.stat().st_mtime_ns)
    document = json.loads(found.read_text(encoding="utf-8"))
    return {check["id"]: check for check in document["checks"] if check["id"].startswith("C-")}, document


def table(desk, *written, data=ROWS):
    desk.policy(TABLE + checks(*written))
    desk.data(data)
    return desk("run", "policy.yaml")


def statistics(desk, *written):
    desk.policy(STATISTICS + checks(*written))
    desk.data(ROWS)
    if not (desk.folder / "ledger.db").exists():
        assert desk("ledger", "init", "policy.yaml").code == 0
    return desk("run", "policy.yaml")


def test_the_form_of_a_table_is_checked_on_its_file(desk) -> None:
    said = table(
        desk,
        "expect: expect_table_columns_to_match_ordered_list, column_list: [area, total_over, count, mean_pay, status]",
        "expect: expect_column_values_to_be_in_set, column: area, value_set: [north, south]",
        "expect: expect_column_values_to_be_of_type, column: count, type_: integer",
        "expect: expect_column_values_to_be_of_type, column: mean_pay, type_: number",
        "expect: expect_table_row_count_to_equal, value: 3",
        "expect: expect_column_values_to_not_be_null, column: count",
    )
    assert said.code == 0, said.err
    found, _ = made(desk)
    assert {check["outcome"] for check in found.values()} == {"pass"}
    assert len(found) == 6


def test_a_table_with_a_suppressed_figure_fails_where_none_may_be_missing(desk) -> None:
    said = table(desk, "expect: expect_column_values_to_not_be_null, column: count", data=FEW)
    assert said.code == 1
    assert "A301" in said.err
    assert not (desk.folder / "out" / "t.csv").exists()
    found, document = made(desk)
    assert (found["C-1"]["outcome"], found["C-1"]["observed"]["exact"]) == ("fail", "2/3")
    assert [one["subject"] for one in document["findings"] if one["severity"] == "error"] == ["checks.C-1"]


def test_a_share_of_suppressed_figures_may_be_allowed_and_a_warning_lets_it_leave(desk) -> None:
    assert table(desk, "expect: expect_column_values_to_not_be_null, column: count, mostly: 0.3", data=FEW).code == 0
    said = table(desk, "severity: warn, expect: expect_column_values_to_not_be_null, column: count", data=FEW)
    assert said.code == 0, said.err
    assert made(desk)[0]["C-1"]["outcome"] == "warn"


def test_a_table_of_others_is_checked_as_well(desk) -> None:
    written = "expect: expect_column_values_to_be_in_set, column: status, value_set: [shown]"
    assert table(desk, written).code == 0
    file = desk.folder / "out" / "t.csv"
    rows = list(csv.reader(file.read_text(encoding="utf-8").splitlines()))
    rows[1][-1] = "hidden"
    other = desk.folder / "other.csv"
    other.write_text("\n".join(",".join(row) for row in rows) + "\n", encoding="utf-8")
    said = desk("audit", "policy.yaml", "--release", "t", "--file", "other.csv", "--no-source")
    assert said.code == 1
    assert "C-1 expect_column_values_to_be_in_set" in said.err + said.out
    assert "hidden" not in said.err + said.out


def test_the_form_of_noisy_statistics_is_checked_and_decides(desk) -> None:
    sound = (
        "expect: expect_column_values_to_be_in_set, column: query, value_set: [n]",
        "expect: expect_column_values_to_not_be_null, column: value",
        "expect: expect_table_row_count_to_equal, value: 2",
        "expect: expect_column_values_to_be_of_type, column: epsilon, type_: number",
    )
    said = statistics(desk, *sound)
    assert said.code == 0, said.err
    found, _ = made(desk)
    assert [check["outcome"] for check in found.values()] == ["pass"] * 4
    assert not any(check.get("private") for check in found.values())


def test_noisy_statistics_that_break_a_check_stay_and_a_second_run_draws_nothing_new(desk) -> None:
    written = "expect: expect_table_row_count_to_equal, value: 3"
    assert statistics(desk, written).code == 1
    assert not (desk.folder / "out" / "t.csv").exists()
    spent = desk("ledger", "status", "policy.yaml").out
    assert statistics(desk, written).code == 1
    assert desk("ledger", "status", "policy.yaml").out == spent
    assert made(desk)[0]["C-1"]["outcome"] == "fail"


def test_statistics_are_audited_with_their_checks_and_without_the_source(desk) -> None:
    assert statistics(desk, "expect: expect_table_row_count_to_equal, value: 2").code == 0
    (desk.folder / "data.csv").unlink()
    said = desk("audit", "policy.yaml", "--release", "t", "--file", "out/t.csv", "-o", "found.json")
    assert said.code == 0, said.err
    document = json.loads((desk.folder / "found.json").read_text(encoding="utf-8"))
    assert [check["outcome"] for check in document["checks"] if check["id"] == "C-1"] == ["pass"]


@pytest.mark.parametrize(("kind", "column"), [(TABLE, "mean_pay"), (STATISTICS, "value")])
def test_the_plan_says_what_is_checked(desk, kind, column) -> None:
    desk.policy(kind + checks(f"expect: expect_column_values_to_not_be_null, column: {column}, mostly: 0.9"))
    said = desk("plan", "policy.yaml")
    assert f"check   C-1: expect_column_values_to_not_be_null (column {column}) by a share of at least 0.9" in said.out
