"""A table's file without its source: what it shows by itself to be unsafe fails, and what cannot be looked at is left to a person."""

from __future__ import annotations

import pytest

from tests.unit.cli.conftest import POLICY_HEAD

POLICY = (
    POLICY_HEAD
    + """    columns:
      area: {role: quasi, type: category, domain: [north, south, west]}
releases:
  - id: t
    kind: table
    from: d
    by: [area]
    measures: [{count: true}]
    margins: true
    protect: {min_count: 10}
    output: out/t.csv
"""
)
ROWS = {"north": 17, "south": 4, "west": 12}


def file_of(**printed):
    lines = ["area,total_over,count,status"]
    for name in ("north", "south", "west", "total"):
        count = printed.get(name)
        keys = ",area" if name == "total" else f"{name},"
        lines.append(f"{keys},{'' if count is None else count},{'suppressed' if count is None else 'shown'}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def audited(desk):
    desk.policy(POLICY)
    desk.data("area\n" + "".join(f"{area}\n" * n for area, n in ROWS.items()))

    def audit(text, *options, policy=POLICY):
        desk.policy(policy)
        (desk.folder / "theirs.csv").write_text(text, encoding="utf-8")
        return desk("audit", "policy.yaml", "--release", "t", "--file", "theirs.csv", "--format", "json", *options)

    return audit


def failing(said):
    return {check["id"]: check["message"] for check in said.json["checks"] if check["outcome"] == "fail"}


@pytest.mark.parametrize(
    ("printed", "check", "named"),
    [
        ({"north": 17, "south": 4, "west": 12, "total": 33}, "AUDIT-TABLE-PRIMARY", "south"),
        ({"north": 17, "west": 9, "total": 33}, "AUDIT-TABLE-PRIMARY", "west"),
        ({"north": 17, "west": 12, "total": 33}, "AUDIT-TABLE-GROUP", "south"),
        ({"north": 24, "total": 33}, "AUDIT-TABLE-GROUP", "south; west"),
    ],
)
def test_what_the_file_alone_shows_to_be_below_the_minimum_fails(audited, printed, check, named):
    said = audited(file_of(**printed), "--no-source")
    assert said.code == 1
    assert named in failing(said)[check]


@pytest.mark.parametrize(
    "printed",
    [
        {"total": 33},
        {"north": 17, "total": 33},
        {"north": 23, "total": 33},
        {"north": 33, "south": 0, "west": 0, "total": 33},
        {"north": 10, "south": 10, "west": 13, "total": 33},
        {"north": 33, "total": 33},
        {},
    ],
)
def test_what_the_file_alone_does_not_show_is_left_to_a_person(audited, printed):
    said = audited(file_of(**printed), "--no-source")
    assert (said.code, failing(said)) == (5, {})
    assert said.json["decision"]["outcome"] == "review"
    assert any("AUDIT-TABLE-PRIMARY" in reason for reason in said.json["decision"]["reasons"])


def test_rounded_counts_are_held_to_the_minimum_but_not_added_up(audited):
    rounded = POLICY.replace("    margins: true\n", "    margins: true\n    round_up: 5\n")
    assert failing(audited(file_of(north=20, south=5, west=15, total=35), "--no-source", policy=rounded)).keys() == {
        "AUDIT-TABLE-PRIMARY"
    }
    assert audited(file_of(north=20, west=15, total=35), "--no-source", policy=rounded).code == 5


def test_with_the_source_such_files_fail_as_they_did(audited):
    assert "AUDIT-TABLE-PRIMARY" in failing(audited(file_of(north=17, south=4, west=12, total=33)))
    assert "AUDIT-TABLE-INTERVAL" in failing(audited(file_of(north=17, west=12, total=33)))
