"""Checks on released files and sources, through the real command line."""

from __future__ import annotations

import json
import re

import pytest
from ruamel.yaml import YAML

X02 = """datasets:
  d:
    source: {source}
    columns:
      id: {{role: insensitive, type: string}}
      x: {{role: insensitive, type: integer}}
      y: {{role: insensitive, type: integer}}
releases:
  - {{id: r, kind: microdata, from: d, output: {{path: out/r.csv}}}}
checks:
  - {{id: X, release: r, {severity}expect: expect_column_values_to_be_between, column: x, min_value: 0, max_value: 10, mostly: 0.5}}
  - {{id: Y, release: r, {severity}expect: expect_column_values_to_not_be_null, column: y}}
"""


def checks(audit: dict[str, object]) -> dict[str, dict[str, object]]:
    return {check["id"]: check for check in audit["checks"]}


@pytest.mark.case("x02-percentages-over-non-missing")
def test_the_share_shown_is_the_one_compared_and_an_all_missing_column_fails(case):
    expected = YAML(typ="safe").load(case.expected.read_text(encoding="utf-8"))["values"]
    case.policy(X02.format(source="input.csv", severity=""))
    ran = case("run", "policy.yaml")
    assert ran.code == 1, ran.err
    made = checks(case.audit())
    assert {made[name]["outcome"] for name in ("X", "Y")} == {"fail"}
    assert made["X"]["observed"]["value"] == expected["x_fail_nonmissing"]
    assert made["X"]["limit"]["exact"] == "1/2"
    assert made["Y"]["observed"]["value"] == expected["y_missing"]
    assert "25" not in made["X"]["message"]
    (run,) = case.folder.glob(".privrelease/quarantine/*")
    for form in ("html", "junit"):
        shown = case("report", run, "--format", form).out
        assert re.search(r"100 %.{0,200}50 %", shown, re.DOTALL), form
        assert not re.search(r"\b25 ?%", shown), form


@pytest.mark.case("x02-percentages-over-non-missing")
def test_without_rows_nothing_is_evaluated_and_nothing_is_a_hundred_per_cent(case):
    case.policy(X02.format(source="empty.csv", severity=""))
    ran = case("run", "policy.yaml")
    made = checks(case.audit())
    for name in ("X", "Y"):
        assert (made[name]["outcome"], made[name]["message"], made[name]["observed"]) == ("not_evaluated", "no rows", None)
    assert case.audit()["decision"]["outcome"] != "pass"
    assert ran.code == 1  # a release without a record fails by itself
    (run,) = case.folder.glob(".privrelease/quarantine/*")
    shown = case("report", run, "--format", "text").out
    assert "100 %" not in "".join(line for line in shown.splitlines() if "expect_" in line)
    assert re.search(r"not evaluated: X .*: no rows", shown)
    junit = case("report", run, "--format", "junit").out
    assert len(re.findall(r'<skipped message="not assessed: no rows"', junit)) == 2


@pytest.mark.case("x02-percentages-over-non-missing")
@pytest.mark.parametrize(("severity", "code", "outcome"), [("", 5, "review"), ("severity: warn, ", 0, "pass")])
def test_rows_without_a_value_are_left_to_a_person_where_the_check_must_hold(case, severity, code, outcome):
    # y has no value at all: its values can neither meet a set nor fail it
    text = X02.format(source="input.csv", severity=severity).split("checks:")[0]
    case.policy(
        text
        + f"checks:\n  - {{id: Z, release: r, {severity}expect: expect_column_values_to_be_in_set, column: y, value_set: [1]}}\n"
    )
    ran = case("run", "policy.yaml")
    assert ran.code == code, ran.err
    audit = case.audit()
    assert audit["decision"]["outcome"] == outcome
    made = checks(audit)["Z"]
    assert (made["outcome"], made["message"]) == ("not_evaluated", "no values: all that it would look at are missing")
    assert (case.folder / "out" / "r.csv").exists() is (code == 0)


R02 = r"""datasets:
  d:
    source: input.csv
    columns:
      id: {role: insensitive, type: integer}
      mail: {role: direct, type: string}
      salary: {role: sensitive, type: integer}
releases:
  - {id: r, kind: microdata, from: d, transform: [{drop: [mail, salary]}], output: {path: out/r.csv}}
checks:
  - {id: MAIL, release: r, on: source, SEVERITYexpect: expect_column_values_to_match_regex, column: mail, regex: "^.+@.+$"}
  - {id: PAY, release: r, on: source, severity: warn, expect: expect_column_max_to_be_between, column: salary, max_value: 100000}
  - {id: ONCE, release: r, on: source, severity: warn, expect: expect_column_values_to_be_in_set, column: salary, value_set: [1]}
"""


@pytest.mark.case("r02-raw-values-in-the-report")
@pytest.mark.parametrize(("severity", "code"), [("", 1), ("severity: warn, ", 0)])
def test_a_check_on_the_source_tells_counts_and_places_and_no_output_holds_a_value(case, severity, code):
    expected = YAML(typ="safe").load(case.expected.read_text(encoding="utf-8"))["values"]
    case.policy(R02.replace("SEVERITY", severity))
    told = []
    ran = case("run", "policy.yaml")
    told += [ran.out, ran.err]
    assert ran.code == code, ran.err
    made = checks(case.audit())
    assert made["MAIL"]["message"] == "2 of 4 values fail (50 %, rows 2, 3); at most 0 % may"
    assert made["MAIL"]["observed"]["exact"] == "1/2"
    assert made["MAIL"]["visibility"] == "internal"
    assert round(made["MAIL"]["observed"]["value"] * 4) == expected["failing"]
    assert made["PAY"]["outcome"] == "warn"
    (run,) = [*case.folder.glob(".privrelease/quarantine/*"), *case.folder.glob(".privrelease/runs/*")]
    for form in ("text", "markdown", "junit", "sarif", "github") if code else ():
        told.append(case("report", run, "--format", form).out)
    everything = case.everything_written().decode("utf-8", "replace") + "".join(told)
    for forbidden in expected["forbidden_strings"]:
        assert str(forbidden) not in everything, forbidden
    assert "partial_unexpected_list" not in everything
    if code == 0:
        outside = "".join(path.read_text(encoding="utf-8") for path in (case.folder / "out").iterdir())
        assert "MAIL" not in outside
        assert "expect_" not in outside


@pytest.mark.case("r02-raw-values-in-the-report")
def test_salaries_are_released_in_bands_and_no_output_holds_one(case):
    expected = YAML(typ="safe").load(case.expected.read_text(encoding="utf-8"))["values"]
    banded = R02.replace("SEVERITY", "severity: warn, ").replace(
        "{drop: [mail, salary]}", "{drop: [mail]}, {generalise: salary}"
    )
    case.policy(banded.replace("type: integer}\nreleases", "type: integer, hierarchy: {widths: [50000]}}\nreleases"))
    ran = case("run", "policy.yaml")
    assert ran.code == 0, ran.err
    lines = (case.folder / "out" / "r.csv").read_text(encoding="utf-8").splitlines()[1:]
    bands = [tuple(map(int, band.split("-"))) for band in expected["released_salary"]]
    assert [line.split(",", 1)[1] for line in lines] == [f'"[{low}, {high + 1})"' for low, high in bands]
    everything = case.everything_written().decode("utf-8", "replace") + ran.out + ran.err
    for forbidden in expected["forbidden_strings"]:
        assert str(forbidden) not in everything, forbidden


K05 = """datasets:
  d:
    source: {source}
    columns: {{{columns}}}
threats:
  t: {{dataset: d, knows: [{knows}], highest_risk: 0.5}}
releases:
  - {{id: r, kind: microdata, from: d, protect: [t], output: {{path: out/r.csv}}}}
checks:
  - {{id: L, release: r, expect: l_diversity, column: {column}, min: {least}}}
"""


def k05(case, **values):
    case.policy(K05.format(**values))
    return case("run", "policy.yaml")


@pytest.mark.case("k05-l-diversity-and-missing")
def test_a_missing_sensitive_value_is_no_value_and_a_class_without_one_fails(case):
    columns = "area: {role: quasi, type: category}, diagnosis: {role: sensitive, type: category}"
    ran = k05(case, source="input.csv", columns=columns, knows="area", column="diagnosis", least=2)
    assert ran.code == 1, ran.err
    made = checks(case.audit())["L"]
    assert (made["outcome"], made["observed"]["exact"], made["limit"]["exact"]) == ("fail", "0", "2")
    # both readings, and the class without a known value set apart
    assert made["message"] == (
        "l_diversity of diagnosis (known values) is 0; the policy asks for at least 2 (threat t: 2 of 3 classes are below,"
        " 1 of these hold no known value; with missing as one more value the smallest is 1)"
    )
    assert json.dumps(made).find("south") == -1


@pytest.mark.case("k05-l-diversity-and-missing")
def test_a_class_without_a_known_value_fails_even_the_weakest_demand(case):
    columns = "area: {role: quasi, type: category}, diagnosis: {role: sensitive, type: category}"
    assert k05(case, source="input.csv", columns=columns, knows="area", column="diagnosis", least=1).code == 1


@pytest.mark.case("k05-l-diversity-and-missing")
@pytest.mark.parametrize(("least", "code"), [(2, 0), (3, 1)])
def test_a_missing_key_is_a_class_of_its_own(case, least, code):
    columns = ", ".join(f"{name}: {{role: quasi, type: category}}" for name in ("sex", "job", "lang"))
    columns += ", s: {role: sensitive, type: integer}"
    ran = k05(case, source="input_null_key.csv", columns=columns, knows="sex, job, lang", column="s", least=least)
    assert ran.code == code, ran.err
    audit = case.audit()
    made = checks(audit)["L"]
    assert made["observed"]["exact"] == "2"
    assert audit["threats"][0]["after"]["classes"]["value"] == 3
    if code:
        assert "3 of 3 classes are below, 0 of these hold no known value" in made["message"]
