"""Case w10: rows that a domain leaves out count as dropped, and every audit reports them."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

CASE = "w10-rows-left-out-by-the-domain"
RULE = "Rows are left out where a value is outside the declared domain of"


def use(case, *changes):
    """Write the policy of the case, changed."""
    text = (case.expected.parent / "policy.yaml").read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (case.folder / "policy.yaml").write_text(text, encoding="utf-8")


def run_of(case, release):
    """The folder of the only run of a release."""
    found = [path.parents[1] for path in case.folder.glob(".privrelease/*/*/internal/audit.json") if named(path) == release]
    (run,) = set(map(Path.resolve, found))
    return run


def named(path):
    return json.loads(path.read_text(encoding="utf-8"))["identity"]["release"]


def audit_of(case, release):
    return json.loads((run_of(case, release) / "internal" / "audit.json").read_text(encoding="utf-8"))


def report(case, release, edition, form="text"):
    made = case("report", run_of(case, release), "--format", form, "--edition", edition)
    assert made.code == 0, made.err
    return made.out.replace("\N{NO-BREAK SPACE}", " ")


def test_half_of_the_rows_are_dropped_and_the_check_fails(case):
    use(case)
    ran = case.once("run", "policy.yaml")
    assert ran.code == 1, ran.err
    assert "dropped_rows is 50 %; the policy asks for at most 1 %" in ran.err
    assert not (case.folder / "out" / "rows.csv").exists()


@pytest.mark.parametrize(("most", "code"), [("0.5", 0), ("0.4999", 1)])
def test_the_share_is_exact(case, most, code):
    use(case, ("max: 0.01", f"max: {most}"))
    assert case("run", "policy.yaml", "--release", "rows").code == code


def test_rows_that_are_suppressed_add_up_with_those_left_out(case):
    path = case.folder / "input.csv"
    path.write_text(path.read_text(encoding="utf-8") + "q1,A,31\nq2,A,32\n", encoding="utf-8")
    use(case, ("protect: [t], output: out/rows.csv", "protect: [t], transform: [{suppress: cells}], output: out/rows.csv"))
    ran = case("run", "policy.yaml", "--release", "rows")
    assert ran.code == 1
    check = next(one for one in audit_of(case, "rows")["checks"] if one["id"] == "LOSS")
    released = audit_of(case, "rows")["data"]["released_rows"]["value"]
    assert check["observed"]["exact"] == str(Fraction(62 - released, 62))


def test_the_internal_edition_counts_what_the_file_has(case):
    use(case)
    case.once("run", "policy.yaml")
    data = audit_of(case, "rows")["data"]
    assert (data["source_rows"]["value"], data["rows_outside"]["value"], data["released_rows"]["value"]) == (60, 30, 30)
    page = report(case, "rows", "internal", "html")
    assert "Rows left out, with a value outside its domain" in page
    assert "A501" in page


def test_the_internal_edition_of_a_table_counts_the_rows_in_no_cell(case):
    use(case)
    case.once("run", "policy.yaml")
    audit = audit_of(case, "counts")
    assert audit["table"]["left_out"]["value"] == 30
    assert any(one["code"] == "A501" and one["message"].startswith("30 rows") for one in audit["findings"])
    assert "A501" in report(case, "counts", "internal", "html")


def seen_of(case, release):
    seen = json.loads(report(case, release, "recipient", "json"))["data"]
    assert [column["name"] for column in seen["columns"] if column.get("drops_rows")] == ["age"]
    return (seen.get("rows_outside") or {}).get("value")


NUMBER = "Rows left out, with a value outside its domain"


@pytest.mark.parametrize(("least", "value"), [(3, 30), (30, 30), (31, None)])
def test_recipients_of_a_table_read_the_rule_and_a_number_that_reaches_the_minimum_count(case, least, value):
    use(case, ("{min_count: 3}", f"{{min_count: {least}}}"), ("max: 0.01", "max: 0.5"))
    case.once("run", "policy.yaml", "--release", "counts")
    page = report(case, "counts", "recipient", "html")
    assert RULE in page
    assert "A501" not in page
    assert seen_of(case, "counts") == value
    assert (NUMBER in page) == (value is not None)


@pytest.mark.parametrize(("risk", "value"), [("0.2", 30), ("0.03", None)])
def test_recipients_of_rows_read_the_rule_and_a_number_that_reaches_the_class_size(case, risk, value):
    """Classes of 5 are asked for, or of 34: 30 rows are left out, and 30 are read."""
    steps = ("protect: [t], output: out/rows.csv", "protect: [t], transform: [{suppress: cells}], output: out/rows.csv")
    use(case, ("max: 0.01", "max: 1"), ("highest_risk: 0.2", f"highest_risk: {risk}"), steps)
    case("run", "policy.yaml", "--release", "rows")
    assert seen_of(case, "rows") == value
    page = report(case, "rows", "recipient", "html")
    assert RULE in page
    assert (NUMBER in page) == (value is not None)


@pytest.mark.parametrize(("rows", "value"), [("1", 30), ("10", 30), ("11", None)])
def test_rows_of_one_person_count_once_towards_the_minimum(case, rows, value):
    """A minimum of 3 persons of up to 10 rows each is sure of at least 30 rows."""
    use(case, ("max_rows: 1", f"max_rows: {rows}"), ("max: 0.01", "max: 0.5"))
    case.once("run", "policy.yaml", "--release", "counts")
    assert seen_of(case, "counts") == value


def test_a_complement_below_the_minimum_shows_no_number(case):
    path = case.folder / "input.csv"
    head, *rows = path.read_text(encoding="utf-8").splitlines()
    inside, outside = ([row for row in rows if (int(row.rsplit(",", 1)[1]) > 90) == far] for far in (False, True))
    path.write_text("\n".join([head, *inside[:2], *outside, ""]), encoding="utf-8")
    use(case, ("max: 0.01", "max: 1"))
    case("run", "policy.yaml", "--release", "counts")
    assert seen_of(case, "counts") is None


def test_without_outside_drop_nothing_is_left_out(case):
    path = case.folder / "input.csv"
    path.write_text(path.read_text(encoding="utf-8").replace(",95", ",90"), encoding="utf-8")
    use(case)
    assert case("run", "policy.yaml").code == 0
    assert audit_of(case, "rows")["data"]["rows_outside"]["value"] == 0
    page = report(case, "rows", "internal", "html")
    assert RULE in page
    assert "Rows left out, with a value outside its domain" not in page
    assert "A501" not in page
