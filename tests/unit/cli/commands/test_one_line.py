"""Names of files that hold a line break: every message stays on its line, and forms for machines keep the name."""

from __future__ import annotations

import json

import pytest

from privrelease.errors import InputError, UsageError
from privrelease.findings import Finding, Location
from tests.unit.cli.conftest import POLICY

WRONG = "id,area,job,pay\n1,x,p,zaunkoenig\n"
#: The parts of a dataset that is read by a pattern: names of its files are not written in the policy.
PATTERN = POLICY.replace("source: data.csv", 'source: {csv: "data*.csv"}')


@pytest.fixture
def broken(desk):
    """A folder in which the only file that the pattern matches has a line break in its name, and a cell that is no number."""
    (desk.folder / "data.csv").unlink()
    (desk.folder / "data\n1.csv").write_text(WRONG, encoding="utf-8")
    desk.policy(PATTERN)
    return desk


@pytest.mark.parametrize("verb", [("validate", "--data"), ("run",), ("plan", "--data")])
def test_a_name_with_a_line_break_keeps_a_message_on_one_line(broken, verb):
    said = broken(verb[0], "policy.yaml", *verb[1:])
    assert said.code == 3
    assert "\ndata\\n1.csv:2:4: D201 " in "\n" + said.out + said.err
    assert "\n1.csv" not in said.out + said.err


def test_forms_for_machines_name_the_file_as_it_is(broken):
    (found,) = broken("validate", "policy.yaml", "--data", "--format", "json").json["data"]
    assert found["file"] == "data\n1.csv"
    sarif = json.loads(broken("validate", "policy.yaml", "--data", "--format", "sarif").out)
    places = [one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in sarif["runs"][0]["results"]]
    assert places == ["data%0A1.csv"]
    lines = broken("validate", "policy.yaml", "--data", "--format", "github").out.splitlines()
    assert [line.split(",")[1] for line in lines] == ["file=data%0A1.csv"]


def test_a_starter_is_refused_for_a_file_that_no_policy_can_name(broken):
    said = broken("init", "data\n1.csv", "-o", "s.yaml")
    assert said.code == 3
    assert "C111 the name of data\\n1.csv holds a line break, which no policy can name\nhint: rename the file\n" in said.err
    assert not (broken.folder / "s.yaml").exists()


@pytest.mark.parametrize("sign", ["\n", "\r", "\v", "\f", "\x85", "\u2028", "\u2029", "\x1c"])
def test_no_sign_that_breaks_a_line_is_left_in_an_error(sign):
    place = Location(f"a{sign}b.csv", 3, 4)
    texts = (
        str(place),
        str(Finding("D101", f"no a{sign}b.csv", location=place)),
        str(InputError("D101", f"no a{sign}b.csv", location=place)),
        str(UsageError("C110", f"a{sign}b.csv exists")),
    )
    assert [len(text.splitlines()) for text in texts] == [1, 1, 1, 1]
