from __future__ import annotations

import json
from pathlib import Path

from privrelease.cli.main import main

EXAMPLE = Path(__file__).parents[3] / "policies" / "diabetes.yaml"


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
