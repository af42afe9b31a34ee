from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from privrelease.audit.all_checks import ALL_CHECKS
from privrelease.audit.attacks.assessment import ATTACK_CHECKS
from privrelease.audit.check import (
    NOT_MADE_HINT,
    POLICY_CHECK,
    SOURCE_CHECK_HINT,
    Check,
    check_findings,
    failed,
    fault,
    passed,
    result_of,
    run_checks,
)
from privrelease.audit.checks.codes import OTHER_FINDINGS
from privrelease.audit.document.model import CheckResult, Outcome
from privrelease.audit.microdata.integrity.checks import MICRODATA_CHECKS
from privrelease.texts.catalogue import sentences
from privrelease.texts.sentences import say

CHANGED = next(check for check in MICRODATA_CHECKS if check.code == "A209")


def result(outcome, check=CHANGED, **more):
    return CheckResult(id=check.id, title="x", outcome=outcome, severity="error", message="", **more)


def test_every_finding_says_what_to_do():
    hints = [*(one.hint for one in ALL_CHECKS), *(one.hint for one in OTHER_FINDINGS)]
    assert all(hint and hint[0].islower() and not hint.endswith(".") for hint in hints)


def test_a_code_names_one_check():
    seen = {(check.code, check.id) for check in ALL_CHECKS}
    assert max(Counter(code for code, _ in seen).values()) == 1
    assert max(Counter(name for _, name in seen).values()) == 1
    assert {code for code, _ in seen}.isdisjoint(kind.code for kind in OTHER_FINDINGS)


@pytest.mark.parametrize("outcome", [Outcome.FAIL, Outcome.WARN])
def test_what_does_not_hold_has_the_hint_of_its_code(outcome):
    assert CHANGED.hint_of(result(outcome)) == CHANGED.hint


def test_a_check_on_the_source_asks_for_no_change_of_the_release():
    title = say("on_source", what="expect_column_values_to_be_unique", columns="pay")
    on_source = result_of(replace(POLICY_CHECK, id="X-1", words=(title, POLICY_CHECK.hint)), failed("no"))
    (found,) = check_findings(None, (on_source,))
    assert (found.code, found.hint) == ("A301", SOURCE_CHECK_HINT)
    assert sentences()["hint.A301-SOURCE"] == SOURCE_CHECK_HINT


def test_a_remedy_for_classes_with_earlier_releases_takes_no_pseudonym_for_granted():
    hint = sentences()["hint.AUDIT-EARLIER-INTERSECT"]
    assert hint.startswith("drop the columns that link both")
    assert "where both have the same pseudonym, use another key" in hint


def test_what_could_not_be_made_has_one_where_somebody_can_act():
    unmade = result(Outcome.NOT_EVALUATED)
    assert CHANGED.hint_of(unmade) is None
    assert (POLICY_CHECK.code_of(unmade), POLICY_CHECK.hint_of(unmade)) == ("A302", NOT_MADE_HINT)
    assert ATTACK_CHECKS[0].hint_of(result(Outcome.NOT_EVALUATED, vacuous=True)) == NOT_MADE_HINT


# one way from checks to results and findings: a file of figures is a number here, sound where it is even

EVEN = Check("A1", "AUDIT-EVEN", fault(lambda number: "odd" if number % 2 else None), words=("Even", "halve it"))
SMALL = Check("A2", "AUDIT-SMALL", lambda number: passed("ok") if number < 9 else failed("large"), words=("Small", "take less"))


def outcomes(checks, number, lacking=None):
    return [(one.outcome.value, one.severity, one.vacuous, one.message) for one in run_checks(checks, number, lacking)]


def test_checks_are_made_in_their_order():
    assert outcomes((EVEN, SMALL), 3) == [("fail", "error", False, "odd"), ("pass", "error", False, "ok")]


def test_a_check_that_is_not_asked_for_is_not_made():
    assert outcomes((replace(EVEN, asked=lambda number: number > 5), SMALL), 3) == [("pass", "error", False, "ok")]


@pytest.mark.parametrize(
    ("check", "number", "made"),
    [
        # what does not need the source is looked at, and its fault shown; nothing is called sound
        (replace(EVEN, needs="ledger"), 3, ("fail", "error", False, "odd")),
        (replace(EVEN, needs="ledger"), 2, ("not_evaluated", "warn", False, "lost")),
        # without the source only what the file alone shows
        (replace(EVEN, needs="source"), 3, ("not_evaluated", "warn", False, "lost")),
        (replace(EVEN, needs="source", alone=EVEN.judge), 3, ("fail", "error", False, "odd")),
        (replace(EVEN, needs="source", promised=True), 3, ("not_evaluated", "error", True, "lost")),
    ],
)
def test_what_a_check_lacks_makes_no_pass(check, number, made):
    assert outcomes((check,), number, {"ledger": "lost", "source": "lost"}) == [made]


def test_findings_are_those_of_their_checks_and_others_of_the_policy():
    own = result_of(replace(POLICY_CHECK, id="X-1", words=("x", POLICY_CHECK.hint)), failed("no"))
    found = check_findings(None, (*run_checks((EVEN, SMALL), 11), own), (EVEN, SMALL))
    assert [(one.code, one.severity, one.message, one.hint, one.subject) for one in found] == [
        ("A1", "error", "AUDIT-EVEN Even: odd", "halve it", "checks.AUDIT-EVEN"),
        ("A2", "error", "AUDIT-SMALL Small: large", "take less", "checks.AUDIT-SMALL"),
        ("A301", "error", "X-1 x: no", POLICY_CHECK.hint, "checks.X-1"),
    ]
    (informed,) = check_findings(None, (own,), informs=True)
    assert (informed.severity, informed.hint) == ("info", None)
