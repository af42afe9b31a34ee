from __future__ import annotations

from fractions import Fraction

import pytest
from jsonschema import Draft202012Validator
from ruamel.yaml import YAML

from privrelease.release.privacy import PrivacyClaim, QueryClaim
from privrelease.report.forms.dp_registry import render_dp_registry


def claim(**changes):
    query = QueryClaim(id="n", figure="count", epsilon="1/10", delta="0", draws=({"mechanism": "discrete_laplace"},) * 2)
    values = {
        "private": True,
        "neighbours": "add_remove",
        "unit": "person by patient_id",
        "max_rows": 1,
        "population": "made-up",
        "epsilon": "1/10",
        "delta": "0",
        "accountant": "basic",
        "queries": (query,),
    }
    return PrivacyClaim.model_validate({**values, **changes})


@pytest.fixture(scope="module")
def validator(shared):
    text = (shared / "reference" / "schemas" / "dp-deployments-schema.yaml").read_text(encoding="utf-8")
    return Draft202012Validator(YAML(typ="safe").load(text))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"delta": "1/1000000"},
        {"neighbours": "replace", "unit": 'a: "b"\n# c', "accountant": "NO"},
        {"delta": "1/100000000000"},
    ],
)
def test_an_entry_fits_the_registrys_schema(audit, validator, changes):
    entry = YAML(typ="safe").load(render_dp_registry(audit, claim(**changes)))
    assert [error.message for error in validator.iter_errors(entry)] == []
    assert entry["status"] == "Draft"
    given = claim(**changes)
    parameters = entry["deployment"]["privacy_loss"]["privacy_parameters"]
    assert Fraction(parameters["epsilon"]) >= Fraction(given.epsilon)
    assert Fraction(parameters.get("delta", 0)) >= Fraction(given.delta)
    variant = entry["deployment"]["dp_variant"]["variant_name"]
    assert variant == ("Pure DP" if given.delta == "0" else "Approximate DP")


def test_what_the_policy_does_not_state_is_said_to_be_so(audit):
    legal = audit.legal.model_copy(update={"stated": {}})
    entry = YAML(typ="safe").load(render_dp_registry(audit.model_copy(update={"legal": legal}), claim()))
    basic = entry["deployment"]["basic"]
    assert basic["data_curators"] == ["not stated in the policy"]
    assert basic["intended_use"] == "not stated in the policy"
    assert basic["publication_date"] == audit.identity.audited_at[:10]
