"""Case t06: a table grouped by a sensitive column says whether its groups were checked for sharing one key, and how that ended."""

from __future__ import annotations

import csv
import json
from xml.etree import ElementTree as ET

import pytest

CASE = "t06-a-group-shares-one-key"
POLICY = """datasets:
  d:
    source: input.csv
    unit: {column: id, max_rows: 1}
    columns:
      id: {role: direct, type: string}
      ward: {role: quasi, type: category, domain: [A, B]}
      hiv: {role: ROLE, type: category, domain: ["yes", "no"]}
releases:
  - id: s
    kind: table
    from: d
    by: [ward, hiv]
    measures: [{count: true}]
    margins: MARGINS
    protect: {min_count: 10PROTECT}
    output: out/s.csv
"""


def policy(case, protect="", role="sensitive", margins="true", **other):
    text = POLICY.replace("PROTECT", protect and f", {protect}").replace("ROLE", role).replace("MARGINS", margins)
    return case.policy(text, **other)


def the_check(case):
    return next(check for check in case.audit()["checks"] if check["id"] == "AUDIT-TABLE-CLASS")


def counts(case):
    decision = case.audit()["decision"]
    return decision["checks_passed"], decision["checks_total"], decision.get("checks_not_asked", 0)


@pytest.mark.parametrize("margins", ["true", "false"])
def test_where_the_policy_says_nothing_a_group_of_one_key_parks_the_release(case, margins):
    policy(case, margins=margins)
    said = case("validate", "policy.yaml")
    assert said.code == 0
    assert "P650" in said.out
    ran = case("run", "policy.yaml")
    assert ran.code == 5, ran.err
    assert "A261" in ran.err
    assert "A / no" in ran.out
    assert (the_check(case)["outcome"], case.audit()["decision"]["outcome"]) == ("review", "review")
    assert not (case.folder / "out" / "s.csv").exists()


def test_a_release_without_such_a_group_is_published_and_says_that_it_was_checked(case):
    policy(case)
    rows = [
        f"p{n},{ward},{hiv}" for n, (ward, hiv) in enumerate((w, h) for w in "AB" for h in ("yes", "no") for _ in range(12))
    ]
    (case.folder / "input.csv").write_text("\n".join(["id,ward,hiv", *rows]) + "\n", encoding="utf-8")
    assert case("run", "policy.yaml").code == 0
    assert the_check(case)["outcome"] == "pass"


def test_true_repairs_it(case):
    policy(case, "class_disclosure: true")
    assert "P65" not in case("validate", "policy.yaml").out
    assert case("run", "policy.yaml").code == 0
    assert the_check(case)["outcome"] == "pass"
    with (case.folder / "out" / "s.csv").open(encoding="utf-8", newline="") as file:
        hidden = {(row["ward"], row["hiv"]) for row in csv.DictReader(file) if row["status"] == "suppressed"}
    assert {("A", "yes"), ("A", "no")} <= hidden


def test_false_asks_for_no_check_and_every_form_says_so(case):
    policy(case, "class_disclosure: false")
    said = case("validate", "policy.yaml")
    assert said.code == 0
    assert "P651" in said.out
    ran = case("run", "policy.yaml")
    assert ran.code == 0, ran.err
    assert "not asked for: AUDIT-TABLE-CLASS" in ran.out
    assert the_check(case)["outcome"] == "not_asked"
    passed, total, not_asked = counts(case)
    assert (passed, not_asked) == (total, 2)  # nor is a cell called impossible
    newest = max(case.folder.glob(".privrelease/runs/*"))
    for form in ("text", "html", "markdown", "junit", "sarif", "in-toto", "json"):
        for edition in ("internal", "recipient"):
            made = case("report", newest, "--format", form, "--edition", edition)
            assert made.code == 0, made.err
            assert f"{total + 1} of" not in made.out
            if form == "junit":
                (found,) = (one for one in ET.fromstring(made.out).iter("testcase") if "TABLE-CLASS" in one.get("name", ""))
                assert found.find("skipped").get("message").startswith("not asked for: ")
            elif form == "in-toto":
                predicate = json.loads(made.out)["predicate"]
                assert "AUDIT-TABLE-CLASS" in predicate["notAskedTests"]
                assert "AUDIT-TABLE-CLASS" not in predicate["passedTests"]
            elif form == "sarif":
                (run,) = json.loads(made.out)["runs"]
                assert "s: AUDIT-TABLE-CLASS" in run["properties"]["checks"]["not_asked"]
            elif form == "json":
                assert (
                    next(one for one in json.loads(made.out)["checks"] if "TABLE-CLASS" in one["id"])["outcome"] == "not_asked"
                )
            else:
                assert "not asked for" in made.out


def test_a_table_of_no_sensitive_column_is_not_held_up(case):
    policy(case, role="quasi")
    assert "P65" not in case("validate", "policy.yaml").out
    ran = case("run", "policy.yaml")
    assert ran.code == 0, ran.err
    assert the_check(case)["outcome"] == "not_asked"


def test_what_repairing_costs_is_forecast(case):
    policy(case)
    said = case("plan", "--data", "policy.yaml")
    assert said.code == 0, said.err
    assert "a run would park it" in said.err
    shown = " ".join(said.out.split())
    assert "groups known to share one key 1" in shown
    assert "suppressed with `class_disclosure: true` 4 cells" in shown
    (forecast,) = json.loads(case("plan", "--data", "policy.yaml", "--format", "json").out)["forecasts"]
    assert (forecast["suppressed"], forecast["repaired"], forecast["parks"]) == (0, 4, True)
    policy(case, "class_disclosure: true")
    case("run", "policy.yaml")
    with (case.folder / "out" / "s.csv").open(encoding="utf-8", newline="") as file:
        assert sum(row["status"] == "suppressed" for row in csv.DictReader(file)) == forecast["repaired"]


def test_without_the_source_it_is_not_assessed(case):
    policy(case, "class_disclosure: false")
    assert case("run", "policy.yaml").code == 0
    policy(case)
    ran = case("audit", "policy.yaml", "--release", "s", "--file", "out/s.csv", "--no-source", "--format", "json")
    found = {check["id"]: check["outcome"] for check in json.loads(ran.out)["checks"]}
    assert (found["AUDIT-TABLE-CLASS"], found["AUDIT-TABLE-IMPOSSIBLE"]) == ("not_evaluated", "not_asked")
