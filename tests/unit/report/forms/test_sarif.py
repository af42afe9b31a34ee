"""SARIF: valid by the official schema, with places, rules, suppressions and fingerprints."""

from __future__ import annotations

import json

import pytest

from privrelease.audit.document.model import Visibility
from privrelease.findings import Finding, Location, Severity
from privrelease.report.forms.results import Result, cases_of, results_of, results_of_policy
from privrelease.report.forms.sarif import MOST_RESULTS, render_sarif
from privrelease.report.view.edition import Edition
from privrelease.texts.codes import code_of
from tests.unit.report.forms.conftest import failed, validate


@pytest.mark.parametrize("edition", Edition)
@pytest.mark.parametrize("waived", [False, True])
def test_sarif_validates_against_the_official_schema(audit, sarif_schema, edition, waived):
    found = failed(audit, waived=waived)
    validate(sarif_schema, json.loads(render_sarif(results_of(found, edition), cases=cases_of(found, edition))))


def test_recipients_are_told_that_something_fails_which_they_are_not_shown(audit):
    hidden = failed(audit)
    checks = tuple(check.model_copy(update={"visibility": Visibility.INTERNAL}) for check in hidden.checks)
    threats = tuple(
        threat.model_copy(update={"verdicts": tuple(one.model_copy(update={"holds": True}) for one in threat.verdicts)})
        for threat in hidden.threats
    )
    (result,) = results_of(hidden.model_copy(update={"checks": checks, "threats": threats}), Edition.RECIPIENT)
    assert (result.code, result.level, result.file) == ("A301", "error", None)
    assert "UTIL-009" not in result.message


def test_runs_of_several_policies_and_releases_are_told_apart(sarif_schema):
    """A viewer refuses two runs of one tool under one name in one upload."""
    about = [("policy",), ("policy", "r"), ("policy", "ci", "r"), ("policy/ci", "r"), ("policy", "r\u202e<b>")]
    logs = [json.loads(render_sarif((), one)) for one in about]
    for log in logs:
        validate(sarif_schema, log)
    names = {log["runs"][0]["automationDetails"]["id"] for log in logs}
    assert len(names) == len(about)
    # the part behind the last slash would be the run's, and would not count
    assert all(name.endswith("/") and name.isascii() for name in names)


def test_a_rule_of_sarif_helps_and_links_only_where_an_address_is_known(sarif_schema):
    found = results_of_policy([Finding("P403", "outside"), Finding("A999", "of a newer version")])
    logs = [json.loads(render_sarif(found, docs=docs)) for docs in ("", "https://docs.example.org/privrelease/")]
    for log in logs:
        validate(sarif_schema, log)
    (new, old), (_, linked) = (log["runs"][0]["tool"]["driver"]["rules"] for log in logs)
    assert new["shortDescription"] == {"text": "finding A999"}
    assert "helpUri" not in old
    assert linked.pop("helpUri") == "https://docs.example.org/privrelease/codes.md#p403"
    assert linked == old
    code = code_of("P403")
    assert old["shortDescription"]["text"] == code.meaning
    assert code.cause in old["help"]["text"]
    assert code.remedy in old["help"]["markdown"]


def test_sarif_of_policy_findings_points_at_their_lines(sarif_schema):
    found = Finding(
        "P104", "out of range", location=Location("policies/a b.yaml", 12, 9), hint="write 0.2", subject="threats.t"
    )
    log = json.loads(render_sarif(results_of_policy([found, Finding("P606", "missing", Severity.WARN)])))
    validate(sarif_schema, log)
    first, second = log["runs"][0]["results"]
    place = first["locations"][0]["physicalLocation"]
    assert place == {
        "artifactLocation": {"uri": "policies/a%20b.yaml"},
        "region": {"startLine": 12, "startColumn": 9},
    }
    assert (first["level"], second["level"]) == ("error", "warning")
    assert "locations" not in second
    rules = log["runs"][0]["tool"]["driver"]["rules"]
    assert [rules[result["ruleIndex"]]["id"] for result in (first, second)] == ["P104", "P606"]


def test_a_waiver_is_an_external_suppression_with_justification_and_expiry(audit):
    log = json.loads(render_sarif(results_of(failed(audit, waived=True), Edition.INTERNAL)))
    waived = [result for result in log["runs"][0]["results"] if result["ruleId"] == "A301"]
    suppressions = [result["suppressions"] for result in waived]
    assert suppressions == [
        [
            {
                "kind": "external",
                "status": "accepted",
                "justification": "known gap",
                "properties": {"expires": "2027-01-01", "owner": "role:steward", "approvedBy": "role:dpo"},
            }
        ]
    ]
    unwaived = json.loads(render_sarif(results_of(failed(audit), Edition.INTERNAL)))["runs"][0]["results"]
    assert not any("suppressions" in result for result in unwaived)


def test_sarif_keeps_the_errors_of_more_results_than_viewers_take(sarif_schema):
    many = [Result("A501", "info", f"n {n}") for n in range(MOST_RESULTS)] + [Result("A301", "error", "last")]
    log = json.loads(render_sarif(many))
    validate(sarif_schema, log)
    results = log["runs"][0]["results"]
    assert len(results) == MOST_RESULTS
    assert results[0]["message"]["text"] == "last"
    notes = log["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    assert notes[0]["message"]["text"].startswith("1 more")


def test_the_same_result_on_another_line_keeps_its_fingerprint():
    def print_of(line, subject):
        log = json.loads(render_sarif([Result("A301", "error", "m", subject=subject, file="a.yaml", line=line)]))
        return log["runs"][0]["results"][0]["partialFingerprints"]

    assert print_of(3, "checks.A") == print_of(30, "checks.A")
    assert print_of(3, "checks.A") != print_of(3, "checks.B")
