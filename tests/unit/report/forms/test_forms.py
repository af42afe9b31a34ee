from __future__ import annotations

import csv
import json
import re
from xml.etree import ElementTree as ET

import pytest
from jsonschema import Draft4Validator, Draft7Validator

from privrelease.audit.document.model import CheckResult, Figure, FindingRecord, Outcome, Visibility
from privrelease.audit.document.signoff import WaiverFacts, WaiverRecord
from privrelease.findings import Finding, Location, Severity
from privrelease.report.forms.dpv import DATA_SUBJECTS, PURPOSES, render_dpv
from privrelease.report.forms.github import render_annotations
from privrelease.report.forms.intoto import render_statement
from privrelease.report.forms.junit import render_junit
from privrelease.report.forms.markdown import escaped, render_markdown, render_results_markdown
from privrelease.report.forms.results import Case, Result, cases_of, results_of, results_of_policy
from privrelease.report.forms.sarif import MOST_RESULTS, render_sarif
from privrelease.report.view.edition import Edition
from privrelease.texts.codes import code_of

UNMADE = {"not_assessed": "not assessed", "not_asked": "not asked for"}
EVIL = "]]>&<script>alert(1)</script>|`@team`\n::error::x\x1b[31m\u202e\x00"


@pytest.fixture(scope="module")
def sarif_schema(shared):
    return json.loads((shared / "reference" / "schemas" / "sarif-schema-2.1.0.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def dpv_terms(shared):
    with (shared / "reference" / "schemas" / "dpv-terms.tsv").open(encoding="utf-8") as file:
        return {row["iri"] for row in csv.DictReader(file, delimiter="\t")}


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


def iris(value, context):
    """Every IRI of a JSON-LD document, expanded."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key == "@context":
                continue
            names = [key] if not key.startswith("@") else [item] if isinstance(item, str) else item
            for name in names:
                prefix, _, term = name.partition(":")
                yield context[prefix] + term
            yield from () if key.startswith("@") else iris(item, context)
    elif isinstance(value, list):
        for item in value:
            yield from iris(item, context)


@pytest.mark.parametrize("edition", Edition)
def test_every_iri_of_the_dpv_form_is_in_the_published_vocabulary(audit, dpv_terms, edition):
    pseudonym = audit.data.columns[0].model_copy(update={"leaves": True, "treatment": "pseudonymised (keyed hash)"})
    special = audit.data.columns[-1].model_copy(update={"leaves": True, "category": "special"})
    data = audit.data.model_copy(update={"columns": (pseudonym, special, *audit.data.columns)})
    more = {"transfers.1.safeguard": "clauses", "dpia.views": "asked", "dpia.legitimate_interest": "one"}
    transfers = more | {
        "transfers.1.country": "CH",
        "data_categories": ("health",),
        "representative.name": "Somebody",
        "purposes.2.dpv": "dpv:NoSuchTerm",
    }
    stated = {**audit.legal.stated, **transfers, "data_subjects": ("dpv:Patient", "dpv:NoSuchTerm", "<b>")}
    changed = audit.model_copy(update={"data": data, "legal": audit.legal.model_copy(update={"stated": stated})})
    document = json.loads(render_dpv(changed, edition))
    used = set(iris(document, document["@context"]))
    assert len(used) > 20
    assert used <= dpv_terms


def test_every_term_that_a_policy_may_state_is_in_the_published_vocabulary(dpv_terms):
    assert {f"https://w3id.org/dpv#{term}" for term in PURPOSES | DATA_SUBJECTS} <= dpv_terms


def test_recipients_get_no_impact_assessment_in_the_dpv_form(audit):
    assert "dpv:DPIA" in render_dpv(audit, Edition.INTERNAL)
    assert "dpv:DPIA" not in render_dpv(audit, Edition.RECIPIENT)


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
