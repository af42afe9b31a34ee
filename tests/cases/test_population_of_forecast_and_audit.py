"""Case k15: forecast, run and audit use the population that the policy names, or name the figure that stands in for it."""

from __future__ import annotations

import json
import shutil

import pytest

CASE = "k15-journalist-with-weights-in-forecast-and-audit"


def use(case, *changes):
    """Write the policy of the case, changed."""
    text = (case.expected.parent / "policy.yaml").read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (case.folder / "policy.yaml").write_text(text, encoding="utf-8")


def forecast(case):
    ran = case("plan", "--data", "policy.yaml", "--format", "json")
    assert ran.code == 0, ran.err
    return json.loads(ran.out)["forecasts"][0]["threats"][0]


def test_forecast_run_and_audit_give_one_figure(case):
    use(case)
    found = forecast(case)
    assert (found["attacker"], found["highest"], found["not_assessed"]) == ("journalist", "1/100", None)
    assert case("run", "policy.yaml").code == 0
    assert case.threat("j")["after"]["highest"]["exact"] == "1/100"
    shutil.copy(case.folder / "out" / "rows.csv", case.folder / "published.csv")
    ran = case("audit", "policy.yaml", "--release", "rows", "--file", "published.csv")
    assert ran.code == 0, ran.err
    assert "highest risk                 1 % (limit 1 %) holds" in ran.out


def test_the_forecast_in_words_names_the_attacker(case):
    use(case)
    ran = case("plan", "--data", "policy.yaml")
    assert "100 %" not in ran.out
    (line,) = (line for line in ran.out.splitlines() if line.split()[:2] == ["j", "journalist"])
    assert "1 % (1 in 100)" in line


def test_without_the_source_another_attackers_figure_has_its_name_everywhere(case):
    use(case)
    (case.folder / "file.csv").write_text("a\nx\ny\n", encoding="utf-8")
    ran = case("audit", "policy.yaml", "--release", "rows", "--file", "file.csv", "--no-source")
    assert ran.code == 1
    (line,) = (line for line in ran.out.splitlines() if line.strip().startswith("journalist's risk"))
    assert "not assessed; shown is the prosecutor's figure: class sizes in the population are not known" in line
    (finding,) = (line for line in ran.err.splitlines() if " A101 " in line)
    assert "the journalist's risk is not assessed, this is the prosecutor's figure" in finding
    assert "hint: audit the file with its source and row map" in ran.err


@pytest.mark.parametrize(
    ("population", "why"),
    [
        ("{table: people}", "the audit of a run compares the classes with the population's table"),
        ("{size: 1000, estimator: zayatz}", "class sizes in the population are not known"),
    ],
)
def test_what_a_forecast_cannot_measure_is_not_assessed_with_the_reason(case, population, why):
    (case.folder / "people.csv").write_text("a\n" + "x\ny\n" * 100, encoding="utf-8")
    people = "  people: {source: people.csv, columns: {a: {role: quasi, type: category}}}\nthreats:\n"
    use(case, ("{weight: w}", population), ("threats:\n", people))
    found = forecast(case)
    assert (found["highest"], found["not_assessed"]) == (None, why)
    assert f"threat j: the journalist's risk is not assessed: {why}" in case("plan", "--data", "policy.yaml").out


def test_weights_add_up_within_a_class(case):
    """Two rows of x stand for 300 persons, one of y for 90: the smallest class of the population has 90."""
    (case.folder / "input.csv").write_text("a,w\nx,100\nx,200\ny,90\n", encoding="utf-8")
    use(case)
    assert forecast(case)["highest"] == "1/90"
    assert case("run", "policy.yaml").code == 1
    assert case.threat("j")["after"]["highest"]["exact"] == "1/90"
