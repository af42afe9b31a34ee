from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from privrelease.plan.build import build_plan
from privrelease.plan.explain import exact_text, explain
from privrelease.policy.loader import load_policy

if TYPE_CHECKING:
    from pathlib import Path

    from privrelease.plan.model import Plan

POLICY = """\
apiVersion: privrelease/v1
kind: ReleasePolicy
id: registry
version: 2.1.0
title: A registry
datasets:
  patients:
    source: data/patients.csv
    unit: {column: id, max_rows: 2}
    columns:
      id: {role: direct, type: string}
      name: {role: direct, type: string}
      age: {role: quasi, type: integer}
      sex: {role: quasi, type: category}
      zip: {role: quasi, type: string}
threats:
  external:
    dataset: patients
    knows: [age, sex, zip]
    highest_risk: 0.09
    average_risk: 0.05
    records_at_risk: {above: 0.07, share: 0.125}
    also: {subsets: {up_to: 2, k: 3}}
releases:
  - id: microdata
    kind: microdata
    from: patients
    protect: [external]
    transform:
      - {drop: [zip]}
      - {pseudonymise: [id], key: SECRET_KEY}
      - {suppress: cells, limit: 0.055}
    output: out/patients.csv
checks:
  - {id: UTIL, release: microdata, expect: suppressed_cells, column: age, min: 0.01, max: 0.05, severity: warn}
"""


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    (tmp_path / "p.yaml").write_text(POLICY)
    return build_plan(load_policy(tmp_path / "p.yaml"), commit="abc")


def test_a_plan_in_words(plan: Plan) -> None:
    assert explain(plan).as_lines() == (
        "registry 2.1.0: A registry",
        f"policy sha256 {plan.policy_sha256}",
        "",
        "release microdata",
        "  source  patients: data/patients.csv (csv)",
        "  unit    persons by id, at most 2 rows each",
        "  threat  external: prosecutor who knows age, sex",
        "          zip known too, but not leaving",
        "          highest_risk 0.09: k = 12: every class has at least 12 in the data",
        "          average_risk 0.05: classes have on average at least 20 persons",
        "          records_at_risk above 0.07, share 0.125: k = 15: at most 12.5 % of the persons are in classes of fewer than 15",
        "          subsets up_to 2, k 3: k = 3: every class of each of 3 combinations of up to 2 columns has at least 3",
        "     1.   read data/patients.csv",
        "     2.   leave out name, zip",
        "     3.   replace id by a pseudonym, keyed by the environment variable SECRET_KEY",
        "     4.   suppress cells of age, sex until every threat holds, at most 5.5 % of them",
        "     5.   drop small groups of rows in which every known column is suppressed",
        "     6.   order rows by the released values",
        "     7.   audit the parked files, then publish",
        "  check   UTIL: suppressed_cells (column age) at least 0.01 and at most 0.05, only a warning",
        "  output  out/patients.csv (csv)",
    )


def test_records_are_counted_where_no_unit_names_persons(plan: Plan) -> None:
    (release,) = plan.releases
    explanation = explain(replace(plan, releases=(replace(release, unit=None),)))
    meanings = [limit.meaning for limit in explanation.releases[0].threats[0].thresholds]
    assert meanings[1] == "classes have on average at least 20 records"
    assert meanings[2] == "at most 12.5 % of the records are in classes of fewer than 15"


def test_a_plan_as_data_is_json(plan: Plan) -> None:
    data = json.loads(json.dumps(explain(plan).as_data()))
    (threat,) = data["releases"][0]["threats"]
    assert [(limit["threshold"], limit["value"], limit["k"]) for limit in threat["thresholds"]] == [
        ("highest_risk", "0.09", 12),
        ("average_risk", "0.05", None),
        ("records_at_risk", "above 0.07, share 0.125", 15),
        ("subsets", "up_to 2, k 3", 3),
    ]
    assert data["commit"] == "abc"


@pytest.mark.parametrize(("risk", "k"), [("0.2", 5), ("0.09", 12), ("0.33", 4), ("1", 1), ("0.5", 2), ("0.0001", 10000)])
def test_the_k_of_a_threshold_is_the_smallest_class_that_passes(risk: str, k: int, plan: Plan) -> None:
    (release,) = plan.releases
    (threat,) = release.threats
    changed = replace(threat, thresholds=replace(threat.thresholds, highest=Fraction(risk)))
    explanation = explain(replace(plan, releases=(replace(release, threats=(changed,)),)))
    assert explanation.releases[0].threats[0].thresholds[0].k == k


def test_a_release_that_may_change_nothing_says_so(plan: Plan) -> None:
    (release,) = plan.releases
    explanation = explain(replace(plan, releases=(replace(release, suppress=None),)))
    assert "change nothing: the release fails where a threat does not hold" in explanation.releases[0].steps


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("0", "0"),
        ("1", "1"),
        ("10", "10"),
        ("0.05", "0.05"),
        ("1/3", "1/3"),
        ("5/2", "2.5"),
        ("-1/8", "-0.125"),
        ("3/40", "0.075"),
    ],
)
def test_fractions_are_written_exactly(value: str, text: str) -> None:
    assert exact_text(Fraction(value)) == text
    assert Fraction(exact_text(Fraction(value))) == Fraction(value)
