"""Files that other tools made are audited like ours: marks, delimiters and orders of columns of theirs change no verdict."""

from __future__ import annotations

import json

import pytest

from tests.unit.cli.conftest import marked_policy

POLICY = marked_policy(risk="0.34")
ROWS = [("north", "30")] * 3 + [("south", "40")] * 3
DATA = "id,area,age,pay\n" + "".join(f"p{n},{area},{age},{100 + n}\n" for n, (area, age) in enumerate(ROWS))

#: What each tool writes where area of the last three was suppressed: the mark, the delimiter, quotes.
TOOLS = {"arx": ("*", ";", ""), "sdcmicro": ("NA", ",", '"'), "plain": ("", ",", ""), "tab": ("NA", "\t", "")}


def file_of(tool, columns=("area", "age", "pay"), lost=3):
    mark, delimiter, quote = TOOLS[tool]
    lines = []
    for number, (area, age) in enumerate(ROWS):
        cells = {"area": mark if number >= lost else f"{quote}{area}{quote}", "age": age, "pay": str(100 + number)}
        lines.append(delimiter.join(cells[name] for name in columns))
    return "\n".join([delimiter.join(f"{quote}{name}{quote}" for name in columns), *lines]) + "\n"


@pytest.fixture
def theirs(desk):
    desk.data(DATA)
    desk.policy(POLICY)
    return desk


def audit(desk, text, *options):
    (desk.folder / "theirs.csv").write_text(text, encoding="utf-8")
    return desk("audit", "policy.yaml", "--release", "r", "--file", "theirs.csv", "--format", "json", *options)


def risk(document):
    after = document["threats"][0]["after"]
    return after["k"]["value"], after["records"]["value"], after["residual"]["value"]


@pytest.mark.parametrize("tool", TOOLS)
def test_a_suppressed_cell_is_one_whatever_its_mark(theirs, tool):
    said = audit(theirs, file_of(tool))
    assert said.code == 0, said.err
    assert risk(said.json) == (3, 6, 0)
    assert said.json["decision"]["outcome"] == "pass"


@pytest.mark.parametrize("name", ["", '""'])
def test_names_of_rows_in_a_first_column_without_a_name_are_a_column_that_nobody_planned(theirs, name):
    head, *rows = file_of("sdcmicro").splitlines()
    said = audit(theirs, "\n".join([f"{name},{head}", *(f'"{n}",{row}' for n, row in enumerate(rows, 1))]) + "\n")
    assert said.code == 1
    assert risk(said.json) == (3, 6, 0)
    (finding,) = [one for one in said.json["findings"] if one["severity"] == "error"]
    assert (finding["code"], "not planned: (row names)" in finding["message"]) == ("A203", True)


@pytest.mark.parametrize("tool", TOOLS)
def test_every_tools_file_below_k_fails_with_the_same_finding(theirs, tool):
    said = audit(theirs, file_of(tool, lost=4))
    assert said.code == 1
    assert risk(said.json) == (1, 6, 0)
    assert [finding["code"] for finding in said.json["findings"] if finding["severity"] == "error"] == ["A101"]


def test_columns_in_another_order_are_told_and_measured(theirs):
    said = audit(theirs, file_of("plain", ("pay", "age", "area")))
    assert said.code == 0, said.err
    assert risk(said.json) == (3, 6, 0)
    columns = next(check for check in said.json["checks"] if check["id"] == "AUDIT-COLUMNS")
    assert columns["outcome"] == "warn"
    assert "another order" in columns["message"]


def test_a_column_that_is_not_there_leaves_its_threat_unmeasured(theirs):
    said = audit(theirs, file_of("plain", ("area", "pay")))
    assert said.code == 1
    assert risk(said.json)[0] is None
    assert "A203" in said.err


def test_without_the_source_it_says_what_could_not_be_checked(theirs):
    (theirs.folder / "data.csv").unlink()
    said = audit(theirs, file_of("arx"), "--no-source")
    assert said.code == 0, said.err
    unlooked = {check["id"] for check in said.json["checks"] if check["outcome"] == "not_evaluated"}
    assert {"AUDIT-ROWMAP", "AUDIT-CHANGED", "AUDIT-HIDDEN", "AUDIT-DIGEST"} <= unlooked
    remaining = " ".join(said.json["decision"]["assessment_remaining"])
    assert all(title in remaining for title in ("No value changed", "No direct identifier under another name"))


def test_a_direct_identifier_under_another_name_is_found_without_a_row_map(theirs):
    lines = file_of("plain").splitlines()
    text = "\n".join([lines[0] + ",ref", *(f"{line},p{number}" for number, line in enumerate(lines[1:]))]) + "\n"
    said = audit(theirs, text)
    assert said.code == 1
    assert "ref holds values of id" in said.err
    assert "A217" in said.err


def test_checks_that_could_not_be_made_are_counted_apart_and_told_in_the_last_line(theirs):
    (theirs.folder / "theirs.csv").write_text(file_of("arx"), encoding="utf-8")
    said = theirs("audit", "policy.yaml", "--release", "r", "--file", "theirs.csv", "-o", "a.json", "--report", "r.html")
    document = json.loads((theirs.folder / "a.json").read_text(encoding="utf-8"))
    outcomes = [check["outcome"] for check in document["checks"]]
    unmade, held = outcomes.count("not_evaluated"), outcomes.count("pass") + 1  # one threshold
    decision = document["decision"]
    assert (decision["checks_passed"], decision["checks_not_made"]) == (held, unmade)
    unasked = outcomes.count("not_asked")
    assert decision["checks_total"] == len(outcomes) + 1 - unmade - unasked
    apart = f"{unmade} could not be made; {unasked} not asked for"
    assert f"({held} of {decision['checks_total']} checks hold; {apart})" in said.out
    asked = f"{unasked} check{'' if unasked == 1 else 's'} not asked for"
    assert said.last == f"exit 0: the files pass the release's policy; {unmade} checks could not be made; {asked}"
    page = (theirs.folder / "r.html").read_text(encoding="utf-8")
    assert f"{unmade} could not be made: AUDIT-DIGEST, AUDIT-ROWMAP, " in page


def test_ages_that_are_numbers_of_persons_too_are_no_hidden_identifier(desk):
    """Persons 1 to 90 of 18 to 67 years, each age in the file as a category: all values of age are values of id, none is its own row's."""
    rows = [(number, "north" if number % 2 else "south", 18 + (7 * number) % 50) for number in range(1, 91)]
    desk.data("id,area,age,pay\n" + "".join(f"{n},{area},{age},{200 + n}\n" for n, area, age in rows))
    desk.policy(marked_policy(risk="1").replace("age: {role: quasi, type: integer}", "age: {role: quasi, type: category}"))
    said = audit(desk, "area,age,pay\n" + "".join(f"{area},{age},{200 + n}\n" for n, area, age in reversed(rows)))
    assert said.code == 0, said.err
    assert next(check for check in said.json["checks"] if check["id"] == "AUDIT-HIDDEN")["outcome"] == "pass"
    ours = "area,age,pay,ref\n" + "".join(f"{area},{age},{200 + n},ID-{n:04d}\n" for n, area, age in reversed(rows))
    said = audit(desk, ours)
    assert said.code == 1
    assert "ref holds values of id by its digits" in said.err


@pytest.mark.parametrize(
    ("text", "code", "said_so"),
    [
        ("area,age,pay\nnorth,20-29,100\n", "D201", "age"),
        ("area,,age,pay\nnorth,1,20,100\n", "D104", "name"),
        ("area,age,pay\n1,north,20,100\n", "D111", "line 2"),
        ("", "D104", "empty"),
    ],
)
def test_a_file_that_cannot_be_read_says_why_and_shows_no_cell(theirs, text, code, said_so):
    said = audit(theirs, text)
    assert said.code == 1
    files = next(check for check in said.json["checks"] if check["id"] == "AUDIT-FILES")
    assert code in files["message"]
    assert said_so in files["message"]
    assert "20-29" not in said.out + said.err


def test_identifiers_of_other_persons_are_no_chance_where_they_are_no_numbers(theirs):
    lines = file_of("plain").splitlines()
    others = [f"{line},p{(number + 1) % 6}" for number, line in enumerate(lines[1:])]
    said = audit(theirs, "\n".join([lines[0] + ",ref", *others]) + "\n")
    assert said.code == 1
    assert "ref holds values of id" in said.err
