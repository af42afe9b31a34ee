from __future__ import annotations

import pytest

from privrelease.audit.checks.codes import FINDING_TITLES
from privrelease.audit.checks.hints import HINTS, NOT_MADE_HINT, hint_of
from privrelease.audit.document.model import CheckResult, Outcome


def check(outcome, **more):
    return CheckResult(id="X", title="x", outcome=outcome, severity="error", message="", **more)


def test_every_finding_says_what_to_do():
    assert HINTS.keys() == FINDING_TITLES.keys()
    assert all(hint and hint[0].islower() and not hint.endswith(".") for hint in HINTS.values())


@pytest.mark.parametrize("outcome", [Outcome.FAIL, Outcome.WARN])
def test_what_does_not_hold_has_the_hint_of_its_code(outcome):
    assert hint_of("A209", check(outcome)) == HINTS["A209"]


def test_what_could_not_be_made_has_one_where_somebody_can_act():
    assert hint_of("A206", check(Outcome.NOT_EVALUATED)) is None
    assert hint_of("A302", check(Outcome.NOT_EVALUATED)) == NOT_MADE_HINT
    assert hint_of("A401", check(Outcome.NOT_EVALUATED, vacuous=True)) == NOT_MADE_HINT
