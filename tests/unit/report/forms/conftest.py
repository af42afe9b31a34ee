from __future__ import annotations

import json

import pytest
from jsonschema import Draft4Validator, Draft7Validator

from privrelease.audit.document.model import CheckResult, Figure, FindingRecord, Outcome
from privrelease.audit.document.signoff import WaiverFacts, WaiverRecord


@pytest.fixture(scope="module")
def sarif_schema(shared):
    return json.loads((shared / "reference" / "schemas" / "sarif-schema-2.1.0.json").read_text(encoding="utf-8"))


def failed(audit, *, waived=False):
    """The audit with a failed check of the policy, waived or not."""
    check = CheckResult(
        id="UTIL-009",
        title="dropped_rows",
        outcome=Outcome.FAIL,
        severity="error",
        message="too many",
        observed=Figure.of(3, "count"),
        waived=waived,
    )
    finding = FindingRecord(
        code="A301",
        message="UTIL-009: too many",
        severity="warn" if waived else "error",
        subject="checks.UTIL-009",
        file="policies/a.yaml",
        line=7,
        column=3,
    )
    waiver = WaiverRecord(
        check="UTIL-009", reason="known gap", owner="role:steward", approved_by="role:dpo", expires="2027-01-01", state="open"
    )
    decision = audit.decision.model_copy(update={"outcome": Outcome.PASS if waived else Outcome.FAIL})
    return audit.model_copy(
        update={
            "checks": (*audit.checks, check),
            "findings": (*audit.findings, finding),
            "decision": decision,
            "waivers": WaiverFacts(waivers=(waiver,)) if waived else None,
        }
    )


def validate(schema, log):
    kind = Draft7Validator if "draft-07" in schema["$schema"] else Draft4Validator
    errors = [error.message for error in kind(schema).iter_errors(log)]
    assert errors == []
