"""Every form of ten releases counts the same: what holds, what does not, what could not be made, and what was not asked for."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import cycle, islice
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from privrelease.audit.checks.decision import decide
from privrelease.audit.document.model import Outcome, Visibility
from privrelease.audit.document.schema import read_audit
from privrelease.report.forms.intoto import render_statement
from privrelease.report.forms.json_report import render_json
from privrelease.report.forms.junit import render_junit
from privrelease.report.forms.markdown import render_markdown
from privrelease.report.forms.results import cases_of, results_of
from privrelease.report.forms.sarif import render_sarif
from privrelease.report.forms.text import render_text
from privrelease.report.pages.html import render_html
from privrelease.report.pages.index import entry_of
from privrelease.report.view.edition import Edition, for_edition
from privrelease.texts.catalogue import english

ROOT = Path(__file__).parents[4]
MADE = sorted([*ROOT.glob("reports/*/audit.json"), ROOT / "tests" / "golden" / "report" / "audit.json"])
KINDS = [
    {"outcome": outcome, "severity": severity, "vacuous": vacuous, "visibility": visibility}
    for outcome in Outcome
    for severity in ("error", "warn")
    for vacuous in ((False, True) if outcome is Outcome.NOT_EVALUATED else (False,))
    for visibility in (Visibility.RECIPIENT, Visibility.INTERNAL)
]


def audited(path, changed):
    """An audit as it was made, or with its checks in every state that there is; decided anew."""
    audit = read_audit(path)
    checks = audit.checks
    if changed:
        kinds = list(islice(cycle(KINDS), len(KINDS) * 2))
        checks = tuple(
            checks[place % len(checks)].model_copy(
                update={"id": f"X-{place}", "observed": None, "waived": False, "private": False, **kind}
            )
            for place, kind in enumerate(kinds)
        )
    decision = decide(audit.threats, audit.union, checks, (), audit.legal)
    return audit.model_copy(update={"checks": checks, "decision": decision, "findings": ()})


RELEASES = [(path, changed) for path in MADE for changed in (False, True)]


def states(audit, edition):
    kept = for_edition(audit, edition)
    held = ["holds" if verdict.holds else "does_not_hold" for threat in kept.threats for verdict in threat.verdicts]
    found = Counter([*held, *(check.outcome.state for check in kept.checks if not check.private)])
    return tuple(found[state] for state in ("holds", "does_not_hold", "not_assessed", "not_asked"))


def in_words(holds, does_not, unassessed, unasked):
    parts = [f"({holds} of {holds + does_not} checks hold"]
    parts += [f"{unassessed} could not be made"] if unassessed else []
    parts += [f"{unasked} not asked for"] if unasked else []
    return "; ".join(parts) + ")"


def test_there_are_ten_at_least():
    assert len(RELEASES) >= 10


@pytest.mark.parametrize("edition", Edition)
@pytest.mark.parametrize(
    ("path", "changed"), RELEASES, ids=lambda value: getattr(getattr(value, "parent", value), "name", str(value))
)
def test_every_form_counts_the_same(path, changed, edition):
    audit = audited(path, changed)
    expected = holds, does_not, unassessed, unasked = states(audit, edition)
    cases = cases_of(audit, edition)
    texts = english()

    decision = json.loads(render_json(audit, edition))["decision"]
    counted = (decision["checks_passed"], decision["checks_total"], decision.get("checks_not_made", 0))
    assert (*counted, decision.get("checks_not_asked", 0)) == (holds, holds + does_not, unassessed, unasked)

    assert in_words(*expected) in render_text(audit, edition).splitlines()[0]

    suite = ET.fromstring(render_junit(cases)).find("testsuite")
    skipped = Counter(one.get("message").partition(": ")[0] for one in suite.iter("skipped"))
    warned = len(list(suite.iter("system-out")))
    tests, failures, errors = (int(suite.get(key)) for key in ("tests", "failures", "errors"))
    assert int(suite.get("skipped")) == skipped.total()
    junit = (tests - failures - errors - skipped.total() - warned, failures + warned, errors + skipped["not assessed"])
    assert (*junit, skipped["not asked for"]) == expected

    checks = json.loads(render_sarif(results_of(audit, edition), cases=cases))["runs"][0]["properties"]["checks"]
    assert tuple(len(checks[state]) for state in ("holds", "does_not_hold", "not_assessed", "not_asked")) == expected

    markdown = render_markdown([audit], edition)
    rows = Counter(
        line.split(" | ")[1].split(" ", 1)[1]
        for line in markdown.splitlines()
        if re.match(r"\| .* \| .* \|$", line) and "---" not in line and texts.text("word.result") not in line
    )
    said = {key: rows[texts.text(f"case.{key}")] for key in ("pass", "warn", "fail", "waived", "error", "skipped", "not_asked")}
    does = said["warn"] + said["fail"] + said["waived"]
    assert (said["pass"], does, said["error"] + said["skipped"], said["not_asked"]) == expected
    assert f"{holds} of {holds + does_not} checks hold." in markdown

    page = render_html(audit, edition)
    assert (f"{holds} of {holds + does_not} checks hold." in page) == bool(holds + does_not)
    assert (f"{unasked} not asked for" in page) == bool(unasked)
    assert (f"{unassessed} could not be made" in page) == bool(unassessed)

    line = entry_of(audit, edition, texts, None)
    if line is not None:
        assert (line.passed, line.total, line.not_made, line.not_asked) == (holds, holds + does_not, unassessed, unasked)

    if edition is Edition.RECIPIENT:
        predicate = json.loads(render_statement(audit))["predicate"]
        lists = {name: len(predicate[f"{name}Tests"]) for name in ("passed", "warned", "failed", "notAssessed", "notAsked")}
        attested = (lists["passed"], lists["warned"] + lists["failed"], lists["notAssessed"], lists["notAsked"])
        assert attested == expected
        named = [one for one in results_of(audit, edition) if one.subject]
        assert len(named) == does_not + unassessed
