from __future__ import annotations

import json
from pathlib import Path

import pytest

from privrelease.cli.main import main

EXAMPLE = Path(__file__).parents[4] / "policies" / "diabetes.yaml"


@pytest.fixture
def policy(desk):
    return (desk.folder / "policy.yaml").read_text(encoding="utf-8")


def test_a_policy_without_legal_fields_is_told_each_that_the_profile_asks_for_with_its_article(desk):
    said = desk("validate", "policy.yaml", "--profile", "gdpr")
    assert said.code == 0
    assert "legal.dpia.risks is not stated: Art. 35(7)(c)" in said.out
    assert "legal.controller.contact is not stated: Art. 30(1)(a)" in said.out
    assert "P606 warn" in said.out
    assert desk("validate", "policy.yaml", "--profile", "gdpr", "--fail-on", "warn").code == 1
    assert desk("validate", "policy.yaml", "--fail-on", "warn").code == 0
    listed = json.loads(desk("validate", "policy.yaml", "--profile", "gdpr", "--format", "json").out)["missing_legal"]
    assert {"field": "legal.data_categories", "article": "Art. 30(1)(c)"} in listed


def test_no_other_profile_is_known(desk):
    assert desk("validate", "policy.yaml", "--profile", "hipaa").code == 2


def test_the_complete_example_lacks_nothing(capsys):
    assert main(["validate", str(EXAMPLE), "--profile", "gdpr", "--fail-on", "warn"]) == 0
    assert "every required field is stated" in capsys.readouterr().out


AGGREGATES = {
    "table": """  - id: r
    kind: table
    from: d
    by: [area]
    measures: [{count: true}]
    protect: {min_count: 3}
    output: {path: out/r.csv}
""",
    "statistics": """  - id: r
    kind: statistics
    from: d
    budget: {epsilon: 1.0}
    queries: [{id: n, count: {where: "area = 'north'"}, epsilon: 1.0}]
    output: {path: out/r.csv}
ledger: {cap: {epsilon: 4.0}, url: "sqlite:///ledger.db"}
""",
}


@pytest.mark.parametrize("kind", AGGREGATES)
def test_a_missing_field_parks_releases_of_every_kind(desk, policy, kind):
    head = policy.split("threats:")[0].replace("max_rows: 1}", "max_rows: 1}\n    population: people")
    head = head.replace(
        "area: {role: quasi, type: category}", "area: {role: quasi, type: category, domain: [north, south, west]}"
    )
    desk.policy(head + "releases:\n" + AGGREGATES[kind] + "legal: {profile: gdpr, controller: {name: Made-up}}\n")
    if kind == "statistics":
        assert desk("ledger", "init", "policy.yaml").code == 0
    said = desk.run()
    assert said.code == 5, said.err
    assert "does not state what its legal profile requires" in said.err
    assert not desk.released.exists()


def test_a_file_of_others_is_judged_the_same(desk, policy):
    assert desk.run().code == 0
    desk.policy(policy + "legal: {profile: gdpr, controller: {name: Made-up}}\n")
    said = desk("audit", "policy.yaml", "--release", "r", "--file", "out/r.csv")
    assert said.code == 5
    assert "REVIEW" in said.out
