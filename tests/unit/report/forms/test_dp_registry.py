from __future__ import annotations

import re
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
        {"epsilon": "3", "delta": "1/3000000"},
    ],
)
def test_an_entry_fits_the_registrys_schema(audit, validator, changes):
    text = render_dp_registry(audit, claim(**changes))
    entry = YAML(typ="safe").load(text)
    assert [error.message for error in validator.iter_errors(entry)] == []
    assert entry["status"] == "Draft"
    given = claim(**changes)
    parameters = entry["deployment"]["privacy_loss"]["privacy_parameters"]
    assert all(type(number) in {int, float} for number in parameters.values())
    assert 0 <= written(text, "epsilon") - Fraction(given.epsilon) <= Fraction(given.epsilon) / 10**14
    assert 0 <= written(text, "delta") - Fraction(given.delta) <= Fraction(given.delta) / 10**14
    variant = entry["deployment"]["dp_variant"]["variant_name"]
    assert variant == ("Pure DP" if given.delta == "0" else "Approximate DP")


def written(text, parameter):
    """The number as its digits say it, before any reader makes a float of it."""
    found = re.search(rf"^ *{parameter}: ([0-9.]+)$", text, re.MULTILINE)
    return Fraction(found[1]) if found else Fraction(0)


@pytest.mark.parametrize("delta", ["0.000001", "0.0000015", "0.00000000003"])
def test_a_budget_of_the_policy_is_written_as_the_decimal_it_is(audit, delta):
    text = render_dp_registry(audit, claim(epsilon="7/10", delta=str(Fraction(delta))))
    assert "      epsilon: 0.7\n" in text
    assert f"      delta: {delta}\n" in text


def test_what_the_policy_does_not_state_is_said_to_be_so(audit):
    legal = audit.legal.model_copy(update={"stated": {}})
    entry = YAML(typ="safe").load(render_dp_registry(audit.model_copy(update={"legal": legal}), claim()))
    basic = entry["deployment"]["basic"]
    assert basic["data_curators"] == ["not stated in the policy"]
    assert basic["intended_use"] == "not stated in the policy"
    assert basic["publication_date"] == audit.identity.audited_at[:10]
