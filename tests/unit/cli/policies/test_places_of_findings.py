"""Every finding about an element of a policy says where it was written: file, line and column, both from 1, in every form."""

from __future__ import annotations

import json
import re

import pytest

from tests.unit.cli.conftest import POLICY

#: What the policy extends: a check, its waivers and an attack's limit stand in another file than the release.
BASE = """checks:
  - {id: U-1, release: r, expect: rows, min: 1000}
  - id: U-2
    release: r
    expect: suppressed_cells
    max: 0
    severity: warn
  -   {id: U-3, release: r, expect: expect_column_values_to_be_in_set, column: job, value_set: [smith]}
  - {id: U-4, release: r, expect: suppressed_cells, max: 0}
  - {id: U-5, release: r, expect: expect_column_max_to_be_between, column: pay, max_value: 1}
waivers:
  - {check: U-1, release: r, reason: known, owner: carol, approved_by: dan, expires: 2999-12-31}
  -    {check: U-3, release: r, reason: known, owner: carol, approved_by: Carol, expires: 2999-12-31}
  - {check: U-4, release: r, reason: known, owner: carol, approved_by: dan, expires: 2001-12-31}
attacks:
    singling_out: {max_risk: 0.004}
    inference: {target: pay, max_advantage: 0}
"""
EXTENDING = POLICY.replace("id: made\n", "id: made\nextends: [base.yaml]\n", 1)


def annotated(text):
    """(code, file, line, column) of every annotation of a policy's element."""
    found = []
    for line in text.splitlines():
        properties = dict(one.split("=", 1) for one in re.match(r"::\w+ (.*?)::", line)[1].split(","))
        if "file" not in properties:  # of checks that were not assessed or not asked for: about no element
            assert line.startswith("::notice ")
            continue
        found.append((properties["title"].split()[0], properties["file"], int(properties["line"]), int(properties["col"])))
    return sorted(found)


def regions(text):
    """The same of every result of a SARIF log."""
    found = []
    for result in json.loads(text)["runs"][0]["results"]:
        place = result["locations"][0]["physicalLocation"]
        region = place["region"]
        found.append((result["ruleId"], place["artifactLocation"]["uri"], region["startLine"], region["startColumn"]))
    return sorted(found)


def stands(folder, file, line, column):
    """What begins at a place."""
    return (folder / file).read_text(encoding="utf-8").splitlines()[line - 1][column - 1 :]


@pytest.fixture
def run(desk):
    """A run of which a threshold, checks, an attack and waivers fail, and nothing is read a second time."""
    desk.policy(EXTENDING.replace("    transform: [{suppress: cells}]\n", ""))
    (desk.folder / "base.yaml").write_text(BASE, encoding="utf-8")
    return desk


def test_every_finding_of_a_run_points_into_the_file_in_which_its_element_was_written(run):
    found = {form: run.run("--format", form) for form in ("sarif", "github")}
    assert {said.code for said in found.values()} == {1}
    places = regions(found["sarif"].out)
    assert places == annotated(found["github"].out)
    assert {code for code, *_ in places} >= {"A101", "A301", "A303", "A401", "A402", "A404"}
    begins = {(code, file, stands(run.folder, file, line, column)[:20]) for code, file, line, column in places}
    expected = {
        ("A101", "policy.yaml", "t: {dataset: d, knows: ["),
        ("A301", "base.yaml", "{id: U-1, release: r,"),
        ("A301", "base.yaml", "{id: U-3, release: r,"),
        ("A301", "base.yaml", "{id: U-5, release: r,"),
        ("A303", "base.yaml", "{check: U-3, release:"),
        ("A401", "base.yaml", "singling_out: {max_risk: 0.004}"),
        ("A404", "base.yaml", "inference: {target: pay"),
    }
    assert {(code, file, text[:20]) for code, file, text in expected} <= begins
    # the same on a terminal
    text = run.run().err
    for code, file, line, column in places:
        assert f"{file}:{line}:{column}: {code} " in text


def test_what_is_wrong_with_a_file_points_at_its_release(desk):
    assert desk.run_once().code == 0
    path = desk.folder / "theirs.csv"
    path.write_text(desk.released.read_text(encoding="utf-8").replace("clerk", "clark"), encoding="utf-8")
    said = desk("audit", "policy.yaml", "--release", "r", "--file", "theirs.csv", "--format", "sarif")
    assert said.code == 1
    places = regions(said.out)
    assert {code for code, *_ in places} >= {"A222"}
    for _, file, line, column in places:
        assert file == "policy.yaml"
        assert stands(desk.folder, file, line, column).startswith(("id: r", "t: {dataset: d", "{suppress"))
    github = desk("audit", "policy.yaml", "--release", "r", "--file", "theirs.csv", "--format", "github")
    assert annotated(github.out) == places


def test_recipients_are_not_told_how_the_file_of_the_policy_was_named(run):
    run.run()
    folder = next((run.folder / ".privrelease" / "quarantine").iterdir())
    for form in ("json", "sarif", "github", "junit", "markdown", "text", "html"):
        assert "base.yaml" not in run("report", str(folder), "--edition", "recipient", "--format", form).out
