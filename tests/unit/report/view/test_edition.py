from __future__ import annotations

import json

import pytest
from pydantic import BaseModel

from privrelease.audit.checks.decision import decide
from privrelease.audit.document.model import CheckResult, Figure, FindingRecord, Outcome, Visibility
from privrelease.audit.document.schema import audit_of
from privrelease.audit.document.sensitive import SensitiveFacts, SensitiveRow
from privrelease.report.forms.intoto import render_statement
from privrelease.report.forms.json_report import render_json
from privrelease.report.forms.junit import render_junit
from privrelease.report.forms.markdown import render_markdown
from privrelease.report.forms.results import cases_of
from privrelease.report.forms.text import render_text
from privrelease.report.pages.html import render_html, render_index
from privrelease.report.pages.index import build_index, entry_of
from privrelease.report.view.edition import Edition, for_edition
from privrelease.texts.catalogue import english


def figures(value):
    if isinstance(value, Figure):
        yield value
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from figures(getattr(value, name))
    elif isinstance(value, tuple | list):
        for item in value:
            yield from figures(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from figures(item)


def marked(value, marks):
    """The same audit with every internal figure replaced by a number that occurs nowhere else."""
    if isinstance(value, Figure):
        if value.visibility is not Visibility.INTERNAL:
            return value
        marks.append(7310000 + len(marks))
        return value.model_copy(update={"value": marks[-1], "exact": str(marks[-1]), "unit": "count", "note": None})
    if isinstance(value, BaseModel):
        return value.model_copy(update={name: marked(getattr(value, name), marks) for name in type(value).model_fields})
    if isinstance(value, tuple):
        return tuple(marked(item, marks) for item in value)
    if isinstance(value, dict):
        return {name: marked(item, marks) for name, item in value.items()}
    return value


def planted_row(secret):
    figure = Figure.of(1)
    return SensitiveRow(
        threat=secret, column=secret, distinct_l=figure, entropy_l=figure, t=figure, distance="equal", shared=figure
    )


@pytest.mark.parametrize("render", [render_html, render_text, lambda audit, edition: render_json(audit, edition).decode()])
def test_the_recipient_edition_shows_no_internal_figure_in_any_form(audit, render):
    marks: list[int] = []
    planted = marked(audit, marks)
    assert len(marks) > 50
    internal, recipient = render(planted, Edition.INTERNAL), render(planted, Edition.RECIPIENT)
    for mark in marks:
        assert str(mark) not in recipient
        assert f"{mark:,}" not in recipient
    assert any(str(mark) in internal or f"{mark:,}" in internal for mark in marks)


def test_the_recipient_json_is_a_valid_audit_with_the_released_figures(audit):
    kept = audit_of(render_json(audit, Edition.RECIPIENT))
    assert kept.threats[0].after.k == audit.threats[0].after.k
    assert kept.threats[0].before.k.value is None
    assert all(figure.value is None for figure in figures(kept) if figure.visibility is Visibility.INTERNAL)


def test_the_recipient_edition_has_no_digest_of_the_input_no_reasons_and_no_findings(audit):
    secret = "only-for-those-inside"
    planted = audit.model_copy(
        update={
            "decision": audit.decision.model_copy(update={"reasons": (secret,)}),
            "identity": audit.identity.model_copy(update={"input_digest": secret, "run": secret}),
            "findings": (FindingRecord(code="A1", message=secret, severity="warn"),),
            "checks": (
                CheckResult(
                    id="X", title=secret, outcome=Outcome.FAIL, severity="error", message=secret, visibility=Visibility.INTERNAL
                ),
            ),
            "sensitive": SensitiveFacts(rows=(planted_row(secret),)),
        }
    )
    assert secret in render_html(planted, Edition.INTERNAL)
    assert secret not in render_html(planted, Edition.RECIPIENT)
    assert secret not in render_json(planted, Edition.RECIPIENT).decode()


def test_the_impact_assessment_and_security_measures_stay_with_the_controller(audit):
    page = render_html(audit, Edition.RECIPIENT)
    assert "encryption at rest" not in page
    assert "Yearly extract" not in page
    assert "encryption at rest" in render_html(audit, Edition.INTERNAL)
    assert "stays with the controller" in page


def test_smallest_classes_of_single_combinations_are_internal(audit):
    kept = for_edition(audit, Edition.RECIPIENT)
    assert audit.threats[1].subsets.by_size
    assert kept.threats[1].subsets.by_size == ()


def test_the_internal_edition_is_the_audit_itself(audit):
    assert for_edition(audit, Edition.INTERNAL) is audit
    assert json.loads(render_json(audit, Edition.INTERNAL)) == json.loads(audit.model_dump_json())


def with_check(audit, outcome, visibility):
    """The audit with one more check of the policy that only warns, decided anew."""
    check = CheckResult(
        id="UTIL-ROWS", title="dropped_rows", outcome=outcome, severity="warn", message="7310001 rows", visibility=visibility
    )
    checks = (*audit.checks, check)
    decision = decide(audit.threats, audit.union, checks, audit.findings, audit.legal)
    return audit.model_copy(update={"checks": checks, "decision": decision})


def outside(audit):
    passed = audit.model_copy(update={"decision": audit.decision.model_copy(update={"outcome": Outcome.PASS})})
    entry = entry_of(passed, Edition.RECIPIENT, english(), None)
    assert entry is not None
    return {
        "html": render_html(audit, Edition.RECIPIENT),
        "text": render_text(audit, Edition.RECIPIENT),
        "json": render_json(audit, Edition.RECIPIENT),
        "markdown": render_markdown([audit], Edition.RECIPIENT),
        "junit": render_junit(cases_of(audit, Edition.RECIPIENT)),
        "in-toto": render_statement(audit),
        "index": render_index(build_index([entry], Edition.RECIPIENT, english())),
    }


def test_no_form_for_outside_tells_what_became_of_a_check_that_is_not_shown(audit):
    told = [outside(with_check(audit, outcome, Visibility.INTERNAL)) for outcome in Outcome]
    assert all(one == told[0] for one in told)
    shown = [outside(with_check(audit, outcome, Visibility.RECIPIENT)) for outcome in (Outcome.PASS, Outcome.WARN)]
    assert all(shown[0][form] != shown[1][form] for form in shown[0])


def test_recipients_are_told_the_number_of_checks_that_they_see(audit):
    planted = with_check(with_check(audit, Outcome.NOT_EVALUATED, Visibility.INTERNAL), Outcome.WARN, Visibility.INTERNAL)
    kept = for_edition(planted, Edition.RECIPIENT)
    verdicts = [verdict.holds for threat in kept.threats for verdict in threat.verdicts]
    made = [check for check in kept.checks if check.outcome is not Outcome.NOT_EVALUATED]
    assert kept.decision.checks_total == len(made) + len(verdicts)
    assert kept.decision.checks_passed == sum(check.outcome is Outcome.PASS for check in made) + sum(verdicts)
    assert kept.decision.checks_not_made == len(kept.checks) - len(made)
    assert not any("dropped_rows" in text for text in kept.decision.assessment_remaining)
    assert for_edition(kept, Edition.RECIPIENT).decision == kept.decision


def test_lost_cells_are_withheld_once_in_the_text_for_recipients(audit):
    (line,) = (line for line in render_text(audit, Edition.RECIPIENT).splitlines() if "cells lost" in line)
    assert line.count("not shown in this edition") == 1
