"""What rates mean beside a limit, and what recipients may see of them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from privrelease.audit.attacks.assessment import ATTACK_CHECKS, Attacked, check_of, closest_facts, facts_of
from privrelease.audit.attacks.attempts import AttackAttempt, Distances
from privrelease.audit.attacks.rates import Rate
from privrelease.audit.checks.decision import decide
from privrelease.audit.document.attacks import AttacksFacts, for_recipients
from privrelease.audit.document.model import LegalFacts, Outcome, Visibility
from privrelease.audit.document.visibility import Audience
from privrelease.audit.microdata.audit import findings_of
from privrelease.plan.attacks import AttackLimits

NINETY_FIVE = Fraction("0.95")
CHECK = ATTACK_CHECKS[0]
NAME = CHECK.id


ZERO = Rate(known=Fraction(0))


def tried(main, control=None, *, risk=None, advantage=None, kind="held_out", baseline=ZERO, missing=None):
    limits = AttackLimits(None if risk is None else Fraction(risk), None if advantage is None else Fraction(advantage))
    return AttackAttempt(
        "singling_out_univariate",
        limits,
        ("age",),
        main,
        baseline,
        control,
        "none" if control is None else kind,
        missing=missing,
    )


def facts(one, *, decides=True, minimum=5):
    return facts_of(one, NINETY_FIVE, Audience(minimum), decides=decides)


@pytest.mark.parametrize(
    ("one", "outcome", "said"),
    [
        (tried(Rate(10, 1000), Rate(10, 1000), risk="0.1"), "pass", "the risk and its interval are within the limit"),
        (tried(Rate(500, 1000), Rate(10, 1000), risk="0.1"), "fail", "the risk is 49.5 % (46.3 % to 52.6 %) and above 10 %"),
        (tried(Rate(4, 40), Rate(0, 40), risk="0.1"), "warn", "the risk is 10 %, within 10 %, but its interval reaches 23.1 %"),
        (
            tried(Rate(1, 10), Rate(0, 10), risk="0.1"),
            "not_evaluated",
            "the risk is 10 %, within 10 %, but so few attempts show nothing: the smallest upper end that 10 attempts can reach is 27.8 %, and 35 are needed",
        ),
        (
            tried(Rate(0, 34), Rate(0, 34), risk="0.1"),
            "not_evaluated",
            "the risk is 0 %, within 10 %, but so few attempts show",
        ),
        (tried(Rate(0, 35), Rate(0, 35), risk="0.1"), "pass", "the risk and its interval are within the limit"),
        (tried(Rate(10, 10), Rate(10, 10), risk="0.1"), "not_evaluated", "undefined (0/0): the control always succeeds"),
        (tried(Rate(), Rate(), risk="0.1"), "not_evaluated", "undefined (0/0): no attempt could be made"),
        (tried(None, None, baseline=None, risk="0.1", missing="no file"), "not_evaluated", "could not be made: no file"),
        (
            tried(Rate(600, 1000), Rate(500, 1000), advantage="0.05"),
            "fail",
            "the advantage is 10 % (5.6 % to 14.3 %) and above 5 %",
        ),
        (
            tried(Rate(1, 100), None, risk="0.1"),
            "pass",
            "the risk and its interval are within the limit, against guessing: there is no control file",
        ),
    ],
)
def test_a_limit_holds_fails_or_is_not_shown_to_hold(one, outcome, said):
    found = facts(one)
    assert found.outcome is Outcome(outcome)
    assert found.said.startswith(said)


def test_the_worse_of_two_limits_counts():
    found = facts(tried(Rate(600, 1000), Rate(500, 1000), risk="0.9", advantage="0.05"))
    assert found.outcome is Outcome.FAIL
    assert found.said.startswith("the advantage")


def test_without_a_limit_an_attack_is_information():
    one = tried(Rate(500, 1000), Rate(10, 1000))
    found = facts(one)
    assert found.outcome is None
    assert check_of(Attacked(found, one), CHECK) is None
    assert facts(tried(Rate(), Rate())).said == "undefined (0/0): no attempt could be made"


UNCONTROLLED = tried(Rate(10, 10), Rate(10, 10), risk="0.1")
NOBODY = tried(Rate(), Rate(), risk="0.1")
LACKING = tried(None, None, baseline=None, risk="0.1", missing="no row map")


@pytest.mark.parametrize(
    ("one", "absent", "decided"),
    [
        (UNCONTROLLED, False, "fail"),
        (UNCONTROLLED, True, "review"),
        (NOBODY, False, "review"),
        (NOBODY, True, "review"),
        (tried(Rate(), Rate(), advantage="0.1"), False, "review"),
        (tried(Rate(3, 9), Rate(), risk="0.1"), False, "fail"),
        (LACKING, False, "fail"),
        (LACKING, True, "review"),
    ],
)
def test_a_limit_that_could_not_be_held_against_anything_never_passes(made_plan, one, absent, decided):
    check = check_of(Attacked(facts(one), one, absent), CHECK)
    assert (check.outcome, check.severity) == (Outcome.NOT_EVALUATED, "error")
    assert check.vacuous == (decided == "review")
    findings = findings_of(made_plan, (), (check,), ())
    legal = LegalFacts(profile=None, stated={}, missing=())
    findings = tuple(one for one in findings if one.subject == f"checks.{NAME}")
    assert [(one.code, one.severity) for one in findings] == [("A401", "error" if decided == "fail" else "warn")]
    decision = decide((), None, (check,), findings, legal)
    assert decision.outcome is Outcome(decided)
    assert any(NAME in reason for reason in decision.reasons)


@pytest.mark.parametrize("one", [UNCONTROLLED, NOBODY, LACKING])
def test_under_differential_privacy_what_could_not_be_made_decides_nothing_either(one):
    check = check_of(Attacked(facts(one, decides=False), one, decides=False), CHECK)
    assert (check.outcome, check.private, check.vacuous) == (Outcome.WARN, True, False)
    legal = LegalFacts(profile=None, stated={}, missing=())
    assert decide((), None, (check,), (), legal).outcome is Outcome.PASS


def test_under_differential_privacy_an_attack_warns_and_decides_nothing():
    one = tried(Rate(1000, 1000), Rate(0, 1000), risk="0.1")
    found = facts(one, decides=False)
    assert found.outcome is Outcome.WARN
    assert found.visibility is Visibility.INTERNAL
    check = check_of(Attacked(found, one, decides=False), CHECK)
    assert (check.outcome, check.private, check.visibility) == (Outcome.WARN, True, Visibility.INTERNAL)
    legal = LegalFacts(profile=None, stated={}, missing=())
    assert decide((), None, (check,), (), legal).outcome is Outcome.PASS
    section = AttacksFacts(sample=9, confidence="19/20", decides=False, control=None, auxiliary=None, attacks=(found,))
    assert for_recipients(section) is None


def test_a_failed_attack_fails_the_release_with_a_code_of_its_own(made_plan):
    one = tried(Rate(500, 1000), Rate(10, 1000), risk="0.1")
    check = check_of(Attacked(facts(one), one), CHECK)
    findings = findings_of(made_plan, (), (check,), ())
    assert [finding.code for finding in findings if finding.subject == f"checks.{NAME}"] == ["A401"]
    legal = LegalFacts(profile=None, stated={}, missing=())
    assert decide((), None, (check,), findings, legal).outcome is Outcome.FAIL


def test_recipients_see_whole_per_cent_and_no_count():
    section = AttacksFacts(
        sample=1000,
        confidence="19/20",
        decides=True,
        control="holdout.csv",
        auxiliary=None,
        attacks=(facts(tried(Rate(523, 1000), Rate(261, 1000), risk="0.9")),),
        closest=closest_facts(Distances(np.array([0.0, 0.5]), None)),
    )
    seen = for_recipients(section)
    assert (seen.control, seen.closest) == (None, None)
    main = seen.attacks[0].main
    assert main.successes is None
    assert (main.rate.value.exact, main.rate.low.exact, main.rate.high.exact) == ("13/25", "49/100", "14/25")


@pytest.mark.parametrize(
    ("main", "control", "seen"),
    [
        (Rate(5, 100), Rate(5, 100), "recipient"),
        (Rate(4, 100), Rate(5, 100), "internal"),
        (Rate(97, 100), Rate(5, 100), "internal"),
        (Rate(50, 100), Rate(98, 100), "internal"),
        (Rate(0, 100), Rate(100, 100), "recipient"),
        (Rate(0, 4), Rate(0, 4), "internal"),
    ],
)
def test_few_successes_or_failures_are_internal(main, control, seen):
    found = facts(tried(main, control))
    assert found.visibility is Visibility(seen)
    assert found.main.rate.value.visibility is Visibility(seen)
    assert found.main.successes.visibility is Visibility.INTERNAL


def test_a_rate_above_none_never_rounds_to_none_for_recipients():
    seen = for_recipients(
        AttacksFacts(
            sample=10_000,
            confidence="19/20",
            decides=True,
            control=None,
            auxiliary=None,
            attacks=(facts(tried(Rate(10, 10_000), Rate(9_990, 10_000))),),
        )
    ).attacks[0]
    assert (seen.main.rate.value.exact, seen.control.rate.value.exact) == ("1/100", "99/100")
