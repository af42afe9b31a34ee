"""``validate --data``: what is wrong with the data, all at once, beside what is wrong with the policy."""

from __future__ import annotations

import pytest

from tests.unit.cli.conftest import POLICY

BOUNDED = POLICY.replace("pay: {role: sensitive, type: integer}", "pay: {role: sensitive, type: integer, domain: [0, 9]}")
AGAIN = POLICY[POLICY.index("  - id: r") :].replace("id: r\n", "id: again\n").replace("out/r.", "out/again.")
STATISTICS = """  - id: s
    kind: statistics
    from: d
    budget: {epsilon: 1}
    queries: [{id: total, sum: pay}]
    output: out/s.csv
ledger: {url: "sqlite:///ledger.db", cap: {epsilon: 9}}
"""
WRONG = "id,area,job,pay\n1,x,p,1\n2,x,p,zaunkoenig\n3,x,p,77\n4,x,p,\n"


def faults(said) -> dict[str, str]:
    """Return place by code."""
    return {line.split(" ")[1]: line.split(": ")[0] for line in said.out.splitlines() if line.startswith("data.csv")}


def test_every_fault_of_the_data_is_told_once_with_its_line_and_no_cell(desk):
    """Two releases read the dataset; what both find is one fault."""
    desk.policy(BOUNDED + AGAIN)
    desk.data(WRONG)
    said = desk("validate", "policy.yaml", "--data")
    assert said.code == 3
    assert faults(said) == {"D201": "data.csv:3:4", "D209": "data.csv:4:4"}
    assert said.out.count("D209") == 1
    assert not {"zaunkoenig", "77"} & set((said.out + said.err).replace(":", " ").split())
    assert said.err.endswith("the data has 2 errors\n")
    value = desk("validate", "policy.yaml", "--data", "--format", "json").json
    assert value["valid"] is True
    assert {fault["code"] for fault in value["data"]} == {"D201", "D209"}


def test_without_the_option_no_data_is_read(desk):
    (desk.folder / "data.csv").unlink()
    assert desk("validate", "policy.yaml").code == 0
    assert "data" not in desk("validate", "policy.yaml", "--format", "json").json
    assert faults(desk("validate", "policy.yaml", "--data")) == {}
    assert "D101 the file data.csv does not exist" in desk("validate", "policy.yaml", "--data").out


def test_statistics_are_bound_by_a_domain_and_rows_refused(desk):
    """Each release reads the data in its own way."""
    desk.policy(BOUNDED[: BOUNDED.index("  - id: r")] + STATISTICS)
    desk.data(WRONG)
    assert faults(desk("validate", "policy.yaml", "--data")) == {"D201": "data.csv:3:4"}


def test_values_without_a_label_are_told_too(desk):
    desk.policy(
        POLICY.replace(
            "job: {role: quasi, type: category}", "job: {role: quasi, type: category, hierarchy: {csv: jobs.csv}}"
        ).replace("[{suppress", "[{generalise: job}, {suppress")
    )
    (desk.folder / "jobs.csv").write_text("clerk;any\nother;any\n", encoding="utf-8")
    said = desk("validate", "policy.yaml", "--data")
    assert said.code == 3
    assert "D256" in said.out
    assert "smith" not in said.out + said.err


def test_data_as_declared_is_said_and_nothing_is_written(desk):
    before = sorted(path.name for path in desk.folder.iterdir())
    said = desk("validate", "policy.yaml", "--data")
    assert said.code == 0
    assert "the data is as declared" in said.err
    assert sorted(path.name for path in desk.folder.iterdir()) == before


def test_a_folder_in_place_of_a_file_is_named_as_such(desk):
    (desk.folder / "folder").mkdir()
    desk.policy(POLICY.replace("source: data.csv", "source: {csv: folder}"))
    said = desk("validate", "policy.yaml", "--data")
    assert said.code == 3
    assert "policy.yaml:8:5: D101 folder is a folder" in said.out
    assert "folder/*.csv" in said.out


@pytest.mark.parametrize("release", [0, 1], ids=["read by a release", "read by none"])
def test_how_data_is_read_is_warned_of_as_a_run_warns(desk, release):
    """Codes with zeros before them, declared as numbers: both verbs say that the zeros are lost."""
    desk.data("id,area,job,pay\n1,x,p,007\n2,x,p,7\n3,x,p,\n")
    other = "  other:\n    source: data.csv\n    columns: {id: {role: direct, type: string}, pay: {role: sensitive, type: integer}}\n    unlisted_columns: drop\n"
    unread = POLICY.replace("pay: {role: sensitive, type: integer}", "pay: {role: sensitive, type: string}")
    desk.policy(POLICY if not release else unread.replace("threats:", f"{other}threats:", 1))
    said = desk("validate", "policy.yaml", "--data")
    assert said.code == 0, said.out + said.err
    place = "policy.yaml:14:7" if not release else "policy.yaml:17:49"  # of the column's declaration, whoever reads it
    assert f"{place}: D251 warn: 1 cell of the column pay has zeros before the number" in said.out
    assert "the data is as declared, with 1 warning" in said.err
    assert "007," not in said.out + said.err
    assert desk("validate", "policy.yaml", "--data", "--format", "json").json["valid"] is True
    strict = desk("validate", "policy.yaml", "--data", "--fail-on", "warn")
    assert (strict.code, "the policy and its data have 1 warning" in strict.err) == (1, True)
    if not release:
        assert "D251 warn" in desk("plan", "policy.yaml", "--data").err


TABLE = """  - id: t
    kind: table
    from: d
    by: [area]
    measures: [{count: true}]
    output: out/t.csv
tables: {min_count: 5}
"""
WITH_AREAS = BOUNDED.replace("area: {role: quasi, type: category}", "area: {role: quasi, type: category, domain: [x, y]}")


def table_of_areas(pay: str) -> str:
    """A policy of a table that counts by area, so that no release reads ``pay``."""
    return (
        POLICY[: POLICY.index("threats:")]
        .replace("area: {role: quasi, type: category}", "area: {role: quasi, type: category, domain: [x, y]}")
        .replace("pay: {role: sensitive, type: integer}", f"pay: {{role: sensitive, type: integer{pay}}}")
        + "releases:\n"
    )


@pytest.mark.parametrize(
    ("release", "pay", "codes"),
    [
        (TABLE, "", {"D201"}),
        (TABLE, ", domain: [0, 9]", {"D201", "D209"}),
        (STATISTICS.replace("sum: pay", "count: true"), "", {"D201"}),
        (STATISTICS.replace("sum: pay", "count: true"), ", domain: [0, 9]", {"D201"}),
    ],
    ids=["table", "table and domain", "statistics", "statistics and domain"],
)
def test_a_column_that_no_release_reads_is_read_too(desk, release, pay, codes):
    """A domain bounds what statistics add up, and refuses no value there."""
    desk.policy(table_of_areas(pay) + release)
    desk.data(WRONG)
    said = desk("validate", "policy.yaml", "--data")
    assert (said.code, set(faults(said))) == (3, codes), said.out + said.err
    assert not {"zaunkoenig", "77"} & set((said.out + said.err).replace(":", " ").split())


def test_rows_that_a_domain_leaves_out_are_left_out_of_columns_that_no_release_reads(desk):
    desk.policy(table_of_areas("").replace("domain: [x, y]", "domain: [x, y], outside: drop") + TABLE)
    desk.data("id,area,job,pay\n1,x,p,1\n2,z,p,2\n")
    said = desk("validate", "policy.yaml", "--data")
    assert said.code == 0, said.out + said.err
    assert said.out.count("D2") <= 1
    assert "the data is as declared" in said.err


@pytest.mark.parametrize("kind", ["rows", "table"])
def test_a_source_without_a_row_is_refused_as_its_run_is(desk, kind):
    """Rows and tables of no record fail their audit, by the code that is said beforehand."""
    head = WITH_AREAS[: WITH_AREAS.index("  - id: r")]
    desk.policy(POLICY if kind == "rows" else head + TABLE)
    desk.data("id,area,job,pay\n")
    said = desk("validate", "policy.yaml", "--data")
    assert said.code == 3
    assert "policy.yaml:8:13: A219 data.csv has column names and no row: a run releases nothing, and fails" in said.out
    ran = desk("run", "policy.yaml")
    assert ran.code == 1
    assert "A219" in ran.err


def test_statistics_of_no_record_are_drawn_and_validate_says_nothing(desk):
    """How many records there are is private to noisy figures: nothing depends on it, and no one learns it from a refusal."""
    desk.policy(BOUNDED[: BOUNDED.index("  - id: r")] + STATISTICS)
    desk.data("id,area,job,pay\n")
    assert desk("validate", "policy.yaml", "--data").code == 0
    assert desk("ledger", "init", "policy.yaml").code == 0
    assert desk("run", "policy.yaml").code == 0


def test_rows_that_a_domain_leaves_out_to_the_last_are_no_rows(desk):
    desk.policy(BOUNDED.replace("domain: [0, 9]}", "domain: [0, 9], outside: drop}"))
    desk.data("id,area,job,pay\n1,x,p,77\n")
    said = desk("validate", "policy.yaml", "--data")
    assert said.code == 3
    assert "A219 no row of data.csv is within the domains that say `outside: drop`" in said.out
