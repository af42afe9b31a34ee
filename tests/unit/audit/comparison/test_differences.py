from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from privrelease.audit.comparison.audits import compare_with_previous, differences
from privrelease.audit.document.model import AuditResult, Figure, Outcome, Visibility
from privrelease.audit.document.schema import read_audit
from privrelease.report.pages.html import render_html
from privrelease.report.view.edition import Edition


@pytest.fixture(scope="module")
def audit():
    path = Path(__file__).parents[3] / "golden" / "report" / "audit.json"
    return read_audit(path)


def with_risk(audit, risk, k):
    threat = audit.threats[0]
    verdict = threat.verdicts[0].model_copy(update={"figure": Figure.of(risk, "risk", Visibility.RECIPIENT)})
    after = threat.after.model_copy(update={"k": Figure.of(k, "count", Visibility.RECIPIENT)})
    changed = threat.model_copy(update={"verdicts": (verdict, *threat.verdicts[1:]), "after": after})
    return audit.model_copy(update={"threats": (changed, *audit.threats[1:])})


def said(found):
    return [(one.what, one.about, one.effect) for one in found]


def test_the_same_audit_has_no_difference(audit):
    assert differences(audit, audit) == ()


def test_a_higher_risk_and_a_smaller_class_are_worse_and_the_reverse_is_better(audit):
    low, high = with_risk(audit, Fraction(1, 10), 10), with_risk(audit, Fraction(1, 5), 5)
    assert said(differences(low, high)) == [("k", "external", "worse"), ("highest_risk", "external", "worse")]
    assert said(differences(high, low)) == [("k", "external", "better"), ("highest_risk", "external", "better")]


def test_a_check_that_fails_now_and_one_that_is_gone_are_worse(audit):
    failing = audit.checks[0].model_copy(update={"outcome": Outcome.FAIL})
    worse = audit.model_copy(update={"checks": (failing, *audit.checks[1:])})
    assert said(differences(audit, worse)) == [("check", audit.checks[0].id, "worse")]
    assert said(differences(worse, audit)) == [("check", audit.checks[0].id, "better")]
    assert said(differences(audit, audit.model_copy(update={"checks": audit.checks[1:]}))) == [
        ("check", audit.checks[0].id, "worse")
    ]


def test_a_threat_that_is_gone_is_worse(audit):
    fewer = audit.model_copy(update={"threats": audit.threats[1:]})
    assert said(differences(audit, fewer)) == [("threat", "external", "worse")]


def test_another_file_and_policy_are_told_without_judgement(audit):
    output = audit.identity.outputs[0].model_copy(update={"sha256": "a" * 64})
    identity = audit.identity.model_copy(update={"policy_version": "9", "outputs": (output, *audit.identity.outputs[1:])})
    found = differences(audit, audit.model_copy(update={"identity": identity}))
    assert said(found) == [("policy_version", "", "changed"), ("file", output.label, "changed")]


def test_the_report_shows_what_changed_to_those_inside_only(audit):
    before = with_risk(audit, Fraction(1, 7), 7)
    changed = audit.model_copy(update={"since": compare_with_previous(before, audit)})
    again = AuditResult.model_validate_json(changed.model_dump_json())
    assert again.since == compare_with_previous(before, audit)
    page = render_html(again, Edition.INTERNAL)
    assert "Since the previous release" in page
    assert "14.3 %" in page or "14 %" in page
    assert "Since the previous release" not in render_html(again, Edition.RECIPIENT)
