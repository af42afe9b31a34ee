from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import jsonschema
import pytest

from privrelease.audit.checks.decision import decide
from privrelease.audit.checks.facts import left_out, legal_facts
from privrelease.audit.document.model import AuditResult, Outcome, Visibility
from privrelease.audit.document.schema import audit_bytes, audit_schema, read_audit
from privrelease.audit.microdata.audit import findings_of
from privrelease.audit.microdata.evidence import PopulationSide
from privrelease.audit.microdata.expectations import policy_checks
from privrelease.audit.microdata.facts import data_facts, identity, utility_facts
from privrelease.audit.microdata.integrity.checks import integrity
from privrelease.audit.microdata.risk.threats import threat_results, union_result
from privrelease.disclosure.risk.thresholds import Thresholds
from privrelease.findings import Finding, Location, Severity
from privrelease.plan.model import CheckPlan, ThreatPlan

if TYPE_CHECKING:
    from pathlib import Path

VERSIONS = {"privrelease": "0"}


def audited(made, evidence, legal=None, missing=(), warnings=()):
    plan = evidence.plan
    threats, union = threat_results(evidence), union_result(evidence)
    checks = (*integrity(evidence), *policy_checks(evidence, threats, None))
    findings = findings_of(plan, threats, checks, warnings)
    legal = legal_facts(legal, missing)
    return AuditResult(
        kind="microdata",
        decision=decide(threats, union, checks, findings, legal),
        identity=identity(evidence, made.policy(plan), "2026-01-02T03:04:05Z", VERSIONS),
        legal=legal,
        data=data_facts(evidence),
        threats=threats,
        union=union,
        utility=utility_facts(evidence),
        checks=checks,
        findings=findings,
    )


def check(expect, maximum=None, minimum=None, severity="error", **options):
    limits = [None if value is None else Fraction(value) for value in (maximum, minimum)]
    return CheckPlan(
        "X-1", expect, *limits, severity=severity, options=tuple(options.items()), location=Location("policy.yaml", 40, 5)
    )


def test_a_sound_release_passes_and_leaves_something_to_assess(made):
    decision = audited(made, made.evidence()).decision
    assert decision.outcome is Outcome.PASS
    assert decision.checks_passed == decision.checks_total
    assert decision.assessment_remaining


def test_a_failed_threshold_is_named_with_threat_measure_figure_and_threshold(made):
    place = Location("policy.yaml", 30, 3)
    plan = made.plan(ThreatPlan("outsider", ("sex", "region"), Thresholds(highest=Fraction(1, 50)), location=place))
    result = audited(made, made.evidence(plan, after=made.table([[1, 1], [2, 1]], [9, 60])))
    assert result.decision.outcome is Outcome.FAIL
    finding = next(finding for finding in result.findings if finding.code == "A101")
    assert finding.message == (
        "highest_risk of threat outsider is 1/9 (k = 9) and is above 1/50: every class needs at least 50 records"
    )
    assert (finding.file, finding.line, finding.visibility) == ("policy.yaml", 30, Visibility.INTERNAL)


def test_the_worst_figure_is_the_one_that_fills_most_of_its_threshold(made):
    plan = made.plan(
        ThreatPlan("a", ("sex",), Thresholds(highest=Fraction(1, 2))),
        ThreatPlan("b", ("region",), Thresholds(highest=Fraction(1, 2), average=Fraction(1, 2))),
    )
    worst = audited(made, made.evidence(plan, after=made.table([[1, 1], [2, 2]], [5, 4]))).decision.worst
    assert (worst.what, worst.figure.exact, worst.threshold.exact, worst.holds) == (
        "highest risk of threat a",
        "1/4",
        "1/2",
        True,
    )


def test_a_failing_figure_is_worse_than_any_that_holds(made):
    plan = made.plan(
        ThreatPlan("a", ("sex",), Thresholds(highest=Fraction(1, 4))),
        ThreatPlan("b", ("region",), Thresholds(average=Fraction(1, 10))),
    )
    worst = audited(made, made.evidence(plan, after=made.table([[1, 1], [2, 2]], [5, 4]))).decision.worst
    assert worst.what == "average risk of threat b"
    assert not worst.holds


def test_a_population_with_fewer_persons_than_the_file_is_told_with_the_number_of_classes(made):
    threat = ThreatPlan("outsider", ("sex", "region"), Thresholds(highest=Fraction(1, 2)), "journalist")
    sample, population = made.table([[1, 1], [2, 1], [3, 1]], [3, 2, 2]), made.table([[1, 1], [2, 1]], [1, 9])
    evidence = made.evidence(
        made.plan(threat), before=sample, after=sample, outside={"outsider": PopulationSide(sample, sample, population)}
    )
    result = audited(made, evidence)
    (finding,) = [finding for finding in result.findings if finding.code == "A108"]
    assert (finding.severity, finding.subject) == ("warn", "threats.outsider")
    assert "fewer persons than the file in 2 classes" in finding.message
    assert result.decision.outcome is Outcome.PASS


def test_nothing_to_check_is_no_pass(made):
    result = audited(made, made.evidence(made.plan(threats=())))
    assert result.decision.outcome is Outcome.FAIL
    assert "A107" in {finding.code for finding in result.findings}


def test_records_that_lost_every_column_of_a_threat_fail_as_undefined(made):
    result = audited(made, made.evidence(after=made.table([[0, 0]], [5])))
    assert result.decision.outcome is Outcome.FAIL
    messages = [finding.message for finding in result.findings if finding.code == "A105"]
    assert messages
    assert all("every released record lost all columns of the threat" in message for message in messages)


def test_that_no_record_is_there_is_said_once(made):
    sound = made.evidence(after=made.table([], []))
    result = audited(made, replace(sound, main=replace(sound.main, n_rows=0)))
    assert result.decision.outcome is Outcome.FAIL
    assert [finding.code for finding in result.findings if "no released records" in finding.message] == ["A219"]


def test_a_missing_legal_field_means_review_under_the_profile_only(made):
    evidence = made.evidence()
    assert audited(made, evidence, {"profile": "gdpr"}, ("dpo",)).decision.outcome is Outcome.REVIEW
    assert "dpo" in audited(made, evidence, {"profile": "gdpr"}, ("dpo",)).decision.reasons[0]
    assert audited(made, evidence, {"profile": None}, ("dpo",)).decision.outcome is Outcome.PASS
    assert audited(made, replace(evidence, order_breaks=1), {"profile": "gdpr"}, ("dpo",)).decision.outcome is Outcome.FAIL


def test_warnings_are_told_and_decide_nothing(made):
    warning = Finding("D210", "the column sex holds 3 distinct texts that become 1", Severity.WARN, subject="sex")
    result = audited(made, made.evidence(), warnings=(warning,))
    assert result.decision.outcome is Outcome.PASS
    assert [(finding.code, finding.severity) for finding in result.findings] == [("D210", "warn")]


@pytest.mark.parametrize(
    ("asked", "outcome", "figure"),
    [
        (check("suppressed_cells", maximum="0.25"), Outcome.PASS, "1/4"),
        (check("suppressed_cells", maximum="0.24"), Outcome.FAIL, "1/4"),
        (check("suppressed_cells", maximum="0.3", column="region"), Outcome.FAIL, "1/3"),
        (check("dropped_rows", maximum="0.2"), Outcome.PASS, "1/6"),
        (check("highest_risk", maximum="0.5"), Outcome.PASS, "1/2"),
        (check("average_risk", maximum="0.3"), Outcome.FAIL, "2/5"),
        (check("k", minimum=3, severity="warn"), Outcome.WARN, "2"),
        (check("unique_records", maximum=0), Outcome.PASS, "0"),
        (check("classes", minimum=2, maximum=2), Outcome.PASS, "2"),
        (check("rows", minimum=5), Outcome.PASS, "5"),
    ],
)
def test_policy_checks_compare_exactly(made, asked, outcome, figure):
    result = audited(made, made.evidence(made.plan(checks=(asked,)))).checks[-1]
    assert (result.id, result.outcome, result.observed.exact, result.line) == ("X-1", outcome, figure, 40)


def test_a_check_that_cannot_be_made_fails_as_an_error_and_not_as_a_warning(made):
    for severity, outcome in (("error", Outcome.FAIL), ("warn", Outcome.PASS)):
        result = audited(made, made.evidence(made.plan(checks=(check("no_such_measure", maximum=1, severity=severity),))))
        assert result.checks[-1].outcome is Outcome.NOT_EVALUATED
        assert result.decision.outcome is outcome


def test_a_check_that_only_warns_is_not_counted_among_those_that_hold(made):
    decision = audited(made, made.evidence(made.plan(checks=(check("k", minimum=3, severity="warn"),)))).decision
    assert decision.outcome is Outcome.PASS
    assert decision.checks_passed == decision.checks_total - 1


def test_figures_of_the_source_stay_internal(made):
    result = audited(made, made.evidence(made.plan(checks=(check("suppressed_cells", maximum=1),))))
    assert result.checks[-1].visibility is Visibility.INTERNAL
    assert result.data.source_rows.visibility is Visibility.INTERNAL
    assert result.utility.cells_lost.visibility is Visibility.INTERNAL
    assert result.data.released_rows.visibility is Visibility.RECIPIENT


def test_utility_counts_cells_lost_per_column(made):
    utility = audited(made, made.evidence()).utility
    assert (utility.cells_lost.value, utility.cells_total.value, utility.rows_dropped.value) == (3, 12, 1)
    assert [(loss.column, loss.suppressed.value, loss.in_dropped_rows.value) for loss in utility.columns] == [
        ("sex", 0, 1),
        ("region", 1, 1),
    ]


def test_the_result_follows_the_published_schema_and_its_bytes_repeat(made, tmp_path: Path):
    result = audited(made, made.evidence(), {"profile": "gdpr", "purposes": [{"id": "research"}]})
    content = audit_bytes(result)
    assert content == audit_bytes(audited(made, made.evidence(), {"profile": "gdpr", "purposes": [{"id": "research"}]}))
    path = tmp_path / "audit.json"
    path.write_bytes(content)
    again = read_audit(path)
    assert again == result
    jsonschema.Draft202012Validator.check_schema(audit_schema())
    jsonschema.validate(again.model_dump(mode="json"), audit_schema(), cls=jsonschema.Draft202012Validator)


def test_rows_left_out_by_a_domain_are_told(made):
    found = left_out(4, made.plan())
    assert [(finding.code, finding.severity) for finding in found] == [("A501", Severity.INFO)]
    assert "4 rows" in found[0].message
    assert left_out(0, made.plan()) == ()
