"""JUnit, annotations, Markdown and statements; and what holds in every form."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree as ET

import pytest

from privrelease.audit.document.model import CheckResult, FindingRecord, Outcome, Visibility
from privrelease.report.forms.dpv import render_dpv
from privrelease.report.forms.github import render_annotations
from privrelease.report.forms.intoto import render_statement
from privrelease.report.forms.junit import render_junit
from privrelease.report.forms.markdown import escaped, render_markdown, render_results_markdown
from privrelease.report.forms.results import Case, Result, cases_of, results_of
from privrelease.report.forms.sarif import render_sarif
from privrelease.report.view.edition import Edition
from tests.unit.report.forms.conftest import failed, validate

UNMADE = {"not_assessed": "not assessed", "not_asked": "not asked for"}
EVIL = "]]>&<script>alert(1)</script>|`@team`\n::error::x\x1b[31m\u202e\x00"


def test_junit_counts_what_it_lists(audit):
    root = ET.fromstring(render_junit(cases_of(failed(audit), Edition.INTERNAL)))
    cases = list(root.iter("testcase"))
    assert int(root.get("tests")) == len(cases) == len(cases_of(failed(audit), Edition.INTERNAL))
    failures = [case.get("name") for case in cases if case.find("failure") is not None]
    assert failures == ["UTIL-009 dropped_rows"]
    assert int(root.get("failures")) == 1
    waived = ET.fromstring(render_junit(cases_of(failed(audit, waived=True), Edition.INTERNAL)))
    assert int(waived.get("failures")) == 0
    assert any("waived" in (said.text or "") for said in waived.iter("system-out"))


def test_junit_of_a_valid_policy_has_one_case_that_passes():
    root = ET.fromstring(render_junit((), ()))
    assert [root.get(key) for key in ("tests", "failures")] == ["1", "0"]


@pytest.mark.parametrize("form", ["sarif", "junit", "github", "markdown"])
def test_no_text_of_a_policy_becomes_markup_or_a_command(sarif_schema, form):
    results = [Result("P200", "error", EVIL, EVIL, EVIL, f"{EVIL}.yaml", 3, 1)]
    if form == "sarif":
        text = render_sarif(results)
        validate(sarif_schema, json.loads(text))
    elif form == "junit":
        text = render_junit((), results)
        assert len(list(ET.fromstring(text).iter("testcase"))) == 1
    elif form == "github":
        text = render_annotations(results)
        assert len(text.splitlines()) == 1
    else:
        text = render_results_markdown(results)
        assert len(text.splitlines()) == 1
        assert "|`" not in text
    assert "<script>" not in text or form == "github"
    assert not set(text) & {"\x1b", "\u202e", "\x00"}


def test_annotations_name_file_line_and_column_and_escape_them():
    line = render_annotations([Result("P104", "error", "50 %\nmore", file="a,b:c.yaml", line=4, column=2)])
    assert line == "::error title=P104,file=a%2Cb%3Ac.yaml,line=4,col=2::50 %25%0Amore\n"


def test_a_waived_result_is_annotated_as_a_notice(audit):
    text = render_annotations(results_of(failed(audit, waived=True), Edition.INTERNAL))
    assert [line.split(" ")[0] for line in text.splitlines() if "UTIL-009" in line] == ["::notice"]
    assert "waived until 2027-01-01" in text
    told = Result(
        "A301",
        "warn",
        "waived until 2027-01-01: too many",
        waiver=results_of(failed(audit, waived=True), Edition.INTERNAL)[-1].waiver,
    )
    assert told.waiver is not None
    assert render_annotations([told]).count("waived until") == 1, "an audit's own message says it already"


def test_markdown_lists_what_fails_first(audit):
    text = render_markdown([failed(audit)])
    rows = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith("| Check")]
    assert "UTIL-009" in rows[0]
    assert "❌" in rows[0]
    assert text.startswith("## ❌")


def test_markdown_takes_no_link_and_no_mention():
    assert escaped("[a](https://x.example) @team") == "\\[a\\]\\(https\\://x.example\\) @\u200bteam"


@pytest.mark.parametrize(
    ("outcome", "waived", "result"), [("fail", False, "FAILED"), ("pass", True, "WARNED"), ("clean", False, "PASSED")]
)
def test_a_statement_says_what_the_audit_decided(audit, outcome, waived, result):
    changed = audit
    if outcome == "clean":
        changed = audit.model_copy(update={"checks": tuple(one for one in audit.checks if one.outcome is Outcome.PASS)})
    elif outcome == "fail" or waived:
        changed = failed(audit, waived=waived)
    statement = json.loads(render_statement(changed))
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert statement["predicateType"] == "https://in-toto.io/attestation/test-result/v0.1"
    assert statement["predicate"]["result"] == result
    assert statement["predicate"]["configuration"][0]["digest"] == {"sha256": audit.identity.policy_sha256}
    assert {one["digest"]["sha256"] for one in statement["subject"]} == {one.sha256 for one in audit.identity.outputs}


def test_forms_for_recipients_hold_no_internal_finding_and_no_internal_check(audit):
    hidden = CheckResult(
        id="HIDDEN-1",
        title="secret title",
        outcome=Outcome.WARN,
        severity="warn",
        message="count 4711",
        visibility=Visibility.INTERNAL,
    )
    found = FindingRecord(code="A501", message="4711 rows were left out", severity="warn")
    planted = audit.model_copy(update={"checks": (*audit.checks, hidden), "findings": (*audit.findings, found)})
    forms = [
        render_sarif(results_of(planted, Edition.RECIPIENT)),
        render_junit(cases_of(planted, Edition.RECIPIENT)),
        render_annotations(results_of(planted, Edition.RECIPIENT)),
        render_markdown([planted], Edition.RECIPIENT),
        render_statement(planted).decode(),
        render_dpv(planted, Edition.RECIPIENT),
    ]
    for text in forms:
        assert "4711" not in text
        assert "HIDDEN" not in text
    assert "4711" in render_sarif(results_of(planted, Edition.INTERNAL))


@pytest.mark.parametrize("edition", list(Edition))
def test_annotations_name_once_what_was_not_made_as_every_other_form_counts_it(audit, edition):
    states = {"UTIL-1": Outcome.NOT_ASKED, "UTIL-2": Outcome.NOT_ASKED, "UTIL-3": Outcome.NOT_EVALUATED}
    more = [
        CheckResult(id=name, title="t", outcome=outcome, message="m", visibility=Visibility.RECIPIENT, severity="warn")
        for name, outcome in states.items()
    ]
    decision = audit.decision.model_copy(
        update={
            "checks_not_asked": audit.decision.checks_not_asked + 2,
            "checks_not_made": audit.decision.checks_not_made + 1,
        }
    )
    audit = audit.model_copy(update={"checks": (*audit.checks, *more), "decision": decision})
    cases = cases_of(audit, edition)
    lines = render_annotations((), cases).splitlines()
    counts = {words: len([case for case in cases if case.state == state]) for state, words in UNMADE.items()}
    told = {}
    for line in lines:
        found = re.fullmatch(r"::notice title=([a-z ]+) [\w-]+::([a-z ]+) \((\d+)\): (.+)", line)
        assert found is not None, line
        assert found[1] == found[2]
        told[found[1]] = int(found[3])
        assert len(found[4].split(", ")) == int(found[3])
    assert told == counts
    assert min(counts.values()) >= 1
    if edition is Edition.INTERNAL:
        assert counts == {"not assessed": audit.decision.checks_not_made, "not asked for": audit.decision.checks_not_asked}


def test_annotations_of_two_releases_name_what_was_not_made_of_each_and_escape_it():
    made = [
        Case(release, "A,b", "t", outcome, "m")
        for release in ("r", "s:1")
        for outcome in ("not_asked", "skipped", "error", "pass")
    ]
    assert render_annotations((), made).splitlines() == [
        "::notice title=not assessed r::not assessed (2): A,b, A,b",
        "::notice title=not asked for r::not asked for (1): A,b",
        "::notice title=not assessed s%3A1::not assessed (2): A,b, A,b",
        "::notice title=not asked for s%3A1::not asked for (1): A,b",
    ]


#: Attributes that the schema of Jenkins' xUnit plugin (junit-10.xsd) admits, the required ones first, and elements within each.
JENKINS = {
    "testsuites": ((), ("name", "time", "tests", "failures", "errors"), {"testsuite"}),
    "testsuite": (
        ("name", "tests", "failures", "errors"),
        ("group", "time", "skipped", "timestamp", "hostname", "id", "package", "file", "log", "url"),
        {"testsuite", "properties", "testcase", "system-out", "system-err"},
    ),
    "testcase": (("name",), ("time", "classname", "group"), {"skipped", "error", "failure", "system-out", "system-err"}),
    "skipped": ((), ("type", "message"), set()),
    "error": ((), ("type", "message"), set()),
    "failure": ((), ("type", "message"), set()),
    "system-out": ((), (), set()),
}


@pytest.mark.parametrize("waived", [True, False])
def test_junit_has_the_elements_and_attributes_of_the_schema_of_jenkins(audit, waived):
    results = [Result("P200", "error", "a fault", "", "p.yaml", "p.yaml", 3, 1), Result("P711", "warning", "a warning", "", "")]
    root = ET.fromstring(render_junit(cases_of(failed(audit, waived=waived), Edition.INTERNAL), results))
    seen = set()
    for element in root.iter():
        required, allowed, within = JENKINS[element.tag]
        assert set(required) <= set(element.keys()) <= {*required, *allowed}, element.tag
        assert {child.tag for child in element} <= within
        seen.add(element.tag)
    assert seen >= {"testsuites", "testsuite", "testcase", "failure"}
