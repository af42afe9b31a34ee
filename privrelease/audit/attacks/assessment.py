"""Meaning of an attack's rates for the release: its figures next to their limits, as facts of the report and as a check.

A limit holds for the figure itself: it fails where the figure is above. Where only the upper end of the interval is above, the sample is
too small to show that the limit holds: it warns. Where no success at all among so few attempts could show it, as the data has fewer persons than are
needed, it is not evaluated, which means review. Where the figure is undefined because the control always succeeds it fails, since nothing
is shown. Where no attempt could be made there was nothing to attack with: it is not evaluated, which means review. Evidence
that was not handed over with an external file means review as well: a limit that could not be checked against anything is a
promise that no one saw kept. Without control persons the limit is checked against guessing: risk is then higher, never lower,
than what the release itself is to blame for.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from privrelease.audit.attacks.rates import Risk, advantage, attempts_needed, residual_risk, wilson
from privrelease.audit.check import Check, CheckOutcome, failed, result_of, warned
from privrelease.audit.document.attacks import AttackFacts, BoundedFacts, ClosestFacts, RateFacts
from privrelease.audit.document.model import Figure, Outcome, Visibility
from privrelease.audit.document.sentences import coded, title_said
from privrelease.texts.sentences import Number, Said, listed, say
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from privrelease.audit.attacks.attempts import AttackAttempt, Distances
    from privrelease.audit.attacks.rates import Rate
    from privrelease.audit.attacks.setup import AttackSetup
    from privrelease.audit.document.model import CheckResult
    from privrelease.audit.document.visibility import Audience
    from privrelease.texts.sentences import Value

__all__ = ["ATTACK_CHECKS", "GROUND_CHECKS", "Attacked", "check_of", "closest_facts", "facts_of", "shows_too_little"]

_SEVERITY: tuple[Outcome, ...] = (Outcome.PASS, Outcome.WARN, Outcome.NOT_EVALUATED, Outcome.FAIL)


@dataclass(frozen=True, slots=True)
class _Judged:
    outcome: Outcome
    said: Said


def facts_of(one: AttackAttempt, confidence: Fraction, audience: Audience, *, decides: bool) -> AttackFacts:
    """Return what the report says of an attack. ``decides`` False: nothing fails, and every figure is internal."""
    against = one.control if one.control is not None else one.baseline
    risk = gain = None
    if one.main is not None and against is not None:
        risk, gain = residual_risk(one.main, against, confidence), advantage(one.main, against, confidence)
    judged = _judged(one, risk, gain, confidence)
    if judged is not None and not decides and judged.outcome in {Outcome.FAIL, Outcome.NOT_EVALUATED}:
        judged = _Judged(Outcome.WARN, judged.said)
    shown = _visibility(one, audience) if decides else Visibility.INTERNAL
    said = _why_not(one, risk) if judged is None else judged.said
    return AttackFacts(
        attack=one.attack,
        knows=one.knows,
        other=one.other,
        target=one.target,
        combine=one.combine,
        covered=None if one.covered is None else Figure.of(round(one.covered, 6), "share", shown),
        strongest=one.strongest,
        exist=None if one.exist is None else Figure.of(one.exist, "count"),
        main=_rate(one.main, confidence, shown, audience),
        baseline=_rate(one.baseline, confidence, shown, audience),
        control=_rate(one.control, confidence, shown, audience),
        control_kind=one.control_kind,
        risk=_bounded(risk, shown),
        advantage=_bounded(gain, shown),
        max_risk=_limit(one.limits.max_risk),
        max_advantage=_limit(one.limits.max_advantage),
        outcome=None if judged is None else judged.outcome,
        said=said or "",
        said_coded=coded(said),
        visibility=shown,
    )


@dataclass(frozen=True, slots=True)
class Attacked:
    """An attack that was tried: what the report says of it, and the attempt itself.

    ``absent``: what it lacked was never handed over with an external file; ``few``: the data gave too few attempts.
    """

    facts: AttackFacts
    tried: AttackAttempt
    absent: bool = False
    decides: bool = True
    few: bool = False

    @property
    def said(self) -> Said | None:
        """Return the sentence of the report about the attack."""
        said = self.facts.told
        return said if isinstance(said, Said) else None


def _attack_outcome(one: Attacked) -> CheckOutcome:
    """Judge an attack that could not be made. A person decides where evidence was not handed over with an external file,
    or where no one, or too few persons, could be attacked. For any other reason, the release fails.
    """
    facts = one.facts
    outcome = facts.outcome or Outcome.NOT_EVALUATED
    figure = facts.risk if facts.max_risk is not None else facts.advantage
    return CheckOutcome(
        outcome,
        one.said,
        observed=None if figure is None else figure.value.model_copy(update={"visibility": Visibility.INTERNAL}),
        limit=facts.max_risk if facts.max_risk is not None else facts.max_advantage,
        visibility=Visibility.RECIPIENT if one.decides and outcome is Outcome.PASS else Visibility.INTERNAL,
        vacuous=outcome is Outcome.NOT_EVALUATED and (one.absent or one.few or not _undefined_by_control(one.tried)),
    )


def _control_outcome(found: AttackSetup) -> CheckOutcome:
    """Control persons who are in the data would hide what the release gives away."""
    shared = found.shared_persons or 0
    if not shared:
        return CheckOutcome(Outcome.PASS, say("control"), visibility=Visibility.RECIPIENT)
    return CheckOutcome(Outcome.FAIL, say("control_shared", n=shared))


def _content_outcome(found: AttackSetup) -> CheckOutcome:
    """Judge rows of the control that equal rows of the data."""
    content = found.content
    assert content is not None
    n = len(content.columns)
    if not content.overlaps:
        return CheckOutcome(Outcome.PASS, say("control_content", n=n), visibility=Visibility.RECIPIENT)
    if content.without is None:
        return failed(say("control_repeats", equal=content.equal, rows=content.rows, n=n))
    return failed(say("control_repeats_but", equal=content.equal, rows=content.rows, n=n, without=content.without))


def _size_outcome(found: AttackSetup) -> CheckOutcome:
    """Judge the number of persons in the control."""
    assert found.control is not None
    if found.control.number >= found.least_control:
        return CheckOutcome(Outcome.PASS, say("control_size"), visibility=Visibility.RECIPIENT)
    return failed(say("control_small", persons=say("n_persons", n=found.control.number), least=found.least_control))


def _limited_by_control(found: AttackSetup) -> bool:
    """Return True if a limit is held against control persons."""
    plan = found.plan
    parts = (plan.singling_out, plan.linkability, *plan.inference, plan.membership)
    limits = [part.limits for part in parts if part is not None]
    return found.control is not None and any(one.max_risk is not None or one.max_advantage is not None for one in limits)


def _key_outcome(found: AttackSetup) -> CheckOutcome:
    """Report a new key: whoever may replace it could try samples until one passes."""
    runs = found.other_keys
    last = listed(runs[-3:])
    shown = say("names_more", names=last, n=len(runs) - 3) if len(runs) > 3 else say("names", names=last)
    return warned(say("attack_key", runs=shown))


#: The check of each attack that has a limit, by the name of the attack: in the order in which they are reported.
ATTACK_CHECKS: tuple[Check[Attacked], ...] = (
    Check("A401", "AUDIT-ATTACK-SINGLING-OUT-UNIVARIATE", _attack_outcome),
    Check("A402", "AUDIT-ATTACK-SINGLING-OUT-MULTIVARIATE", _attack_outcome),
    Check("A403", "AUDIT-ATTACK-LINKABILITY", _attack_outcome),
    Check("A404", "AUDIT-ATTACK-INFERENCE", _attack_outcome),
    Check("A405", "AUDIT-ATTACK-RECORD-LINKAGE", _attack_outcome),
    Check("A406", "AUDIT-ATTACK-MEMBERSHIP", _attack_outcome),
)
CONTROL_CHECK: Check[AttackSetup] = Check(
    "A407",
    "AUDIT-ATTACK-CONTROL",
    _control_outcome,
    asked=lambda found: found.shared_persons is not None,
)
CONTENT_CHECK: Check[AttackSetup] = Check(
    "A306",
    "AUDIT-ATTACK-CONTROL-CONTENT",
    _content_outcome,
    asked=lambda found: found.content is not None,
)
SIZE_CHECK: Check[AttackSetup] = Check(
    "A307",
    "AUDIT-ATTACK-CONTROL-SIZE",
    _size_outcome,
    asked=_limited_by_control,
)
KEY_CHECK: Check[AttackSetup] = Check(
    "A305",
    "AUDIT-ATTACK-KEY",
    _key_outcome,
    asked=lambda found: bool(found.other_keys),
    severity="warn",
)
#: Checks of the ground that the attacks are tried on.
GROUND_CHECKS: tuple[Check[AttackSetup], ...] = (CONTROL_CHECK, CONTENT_CHECK, SIZE_CHECK, KEY_CHECK)


def check_of(one: Attacked, check: Check[Attacked], number: int = 1) -> CheckResult | None:
    """Return the result of the check of an attack with a limit; None without one. ``number``: of the attacks of that name, from 1."""
    if one.facts.outcome is None:
        return None
    name = check.id
    about: Value | None = one.tried.target or (listed(one.tried.knows) if one.tried.combine is not None else None)
    mine = replace(
        check,
        id=name if number == 1 else f"{name}-{number}",
        words=(
            check.title if about is None else say("titled", title=title_said(check.id, check.title), about=about),
            check.hint,
        ),
        location=one.tried.limits.location,
        private=not one.decides,
    )
    return result_of(mine, mine.judge(one))


def closest_facts(found: Distances) -> ClosestFacts:
    """Return the medians and the share of copies; all of the source, so internal."""
    released, others = found.released, found.held_out
    return ClosestFacts(
        rows=Figure.of(len(released), "count"),
        median=_median(released),
        copies=_copies(released),
        held_out_rows=None if others is None else Figure.of(len(others), "count"),
        held_out_median=None if others is None else _median(others),
        held_out_copies=None if others is None else _copies(others),
    )


def _median(distances: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Figure:
    return Figure.of(
        round(float(np.median(distances)), 12) if len(distances) else None, note=None if len(distances) else "no record"
    )


def _copies(distances: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Figure:
    return Figure.of(Fraction(int(np.count_nonzero(distances == 0)), len(distances)) if len(distances) else None, "share")


def _undefined_by_control(one: AttackAttempt) -> bool:
    """Return True if attempts were made and yet nothing is shown."""
    return one.main is None or one.main.value is not None


def _why_not(one: AttackAttempt, risk: Risk | None) -> Said | None:
    if one.missing is not None:
        return say("attack_unmade", why=one.missing)
    return None if risk is None else risk.why


def _judged(one: AttackAttempt, risk: Risk | None, gain: Risk | None, confidence: Fraction) -> _Judged | None:
    limits = [("risk", risk, one.limits.max_risk), ("advantage", gain, one.limits.max_advantage)]
    judged = [_against(one, what, figure, limit, confidence) for what, figure, limit in limits if limit is not None]
    if not judged:
        return None
    return max(judged, key=lambda one: _SEVERITY.index(one.outcome))


def _against(one: AttackAttempt, what: str, figure: Risk | None, limit: Fraction, confidence: Fraction) -> _Judged:
    if figure is None or figure.value is None or figure.interval is None:
        why = _why_not(one, figure) or (figure.why if figure is not None else None) or say("undefined")
        return _Judged(Outcome.NOT_EVALUATED, why)
    shown, most = Number(_percent(figure.value)), Number(_percent(limit))
    if figure.value > limit:
        low, high = (Number(_percent(Fraction(end))) for end in (figure.interval.low, figure.interval.high))
        return _Judged(Outcome.FAIL, _beside(one, say(f"attack_above_{what}", figure=shown, low=low, high=high, limit=most)))
    if one.unsound is not None:
        return _Judged(Outcome.NOT_EVALUATED, say("attack_unsound", why=one.unsound))
    if _too_few(one, limit, confidence):
        assert one.main is not None
        said = say(
            f"attack_few_{what}",
            figure=shown,
            limit=most,
            attempts=say("n_attempts", n=one.main.attempts),
            least=Number(_percent(Fraction(wilson(0, one.main.attempts, confidence).high))),
            needed=attempts_needed(limit, confidence),
        )
        return _Judged(Outcome.NOT_EVALUATED, _beside(one, said))
    if figure.interval.high > limit:
        reach = Number(_percent(Fraction(figure.interval.high)))
        said = say(f"attack_wide_{what}", figure=shown, limit=most, high=reach)
        return _Judged(Outcome.WARN, _beside(one, said))
    return _Judged(Outcome.PASS, _beside(one, say(what)))


def _beside(one: AttackAttempt, said: Said) -> Said:
    """Say where there is no control that the attack was held against guessing."""
    return said if one.control is not None else say("against_guessing", what=said)


def _too_few(one: AttackAttempt, limit: Fraction, confidence: Fraction) -> bool:
    """Return True if not even no success among the attempts shows that a limit above 0 holds."""
    return limit > 0 and one.main is not None and 0 < one.main.attempts < attempts_needed(limit, confidence)


def shows_too_little(one: AttackAttempt, facts: AttackFacts, confidence: Fraction) -> bool:
    """Return True if an attack is not evaluated because the data gave too few attempts: a person decides."""
    undefined = facts.risk is None or facts.risk.value.value is None
    if facts.outcome is not Outcome.NOT_EVALUATED or one.unsound is not None or undefined:
        return False
    limits = [limit for limit in (one.limits.max_risk, one.limits.max_advantage) if limit is not None]
    return any(_too_few(one, limit, confidence) for limit in limits)


def _percent(value: Fraction) -> str:
    """Write a share with one decimal, more where it would look like none or all.

    >>> _percent(Fraction(1, 8)), _percent(Fraction(1, 5000)), _percent(Fraction(1, 10))
    ('12.5 %', '0.02 %', '10 %')
    """
    hundred = value * 100
    for decimals in range(1, 7):
        text = f"{float(hundred):.{decimals}f}"
        if hundred in {0, 100} or Fraction(text) not in {0, 100}:
            break
    return f"{text.rstrip('0').rstrip('.')} %"


def _visibility(one: AttackAttempt, audience: Audience) -> Visibility:
    """Recipients may see rates of which neither successes nor failures are few, on any side."""
    sides = [rate for rate in (one.main, one.baseline, one.control) if rate is not None and rate.known is None]
    seen = [audience.of(rate.successes, rate.attempts) for rate in sides]
    few = any(0 < rate.attempts < (audience.minimum or 0) for rate in sides)
    return Visibility.INTERNAL if few or Visibility.INTERNAL in seen or one.main is None else Visibility.RECIPIENT


def _rate(rate: Rate | None, confidence: Fraction, shown: Visibility, audience: Audience) -> RateFacts | None:
    if rate is None:
        return None
    known = rate.known is not None
    interval = rate.interval(confidence)
    why = None if rate.value is not None else say("no_attempt")
    return RateFacts(
        successes=None if known else Figure.of(rate.successes, "count"),
        attempts=None if known else Figure.of(rate.attempts, "count", audience.of(rate.attempts)),
        rate=BoundedFacts(
            value=Figure.of(rate.value, "share", shown, why),
            low=_end(None if interval is None else interval.low, shown),
            high=_end(None if interval is None else interval.high, shown),
        ),
    )


def _bounded(risk: Risk | None, shown: Visibility) -> BoundedFacts | None:
    if risk is None:
        return None
    interval = risk.interval
    return BoundedFacts(
        value=Figure.of(risk.value, "share", shown, risk.why),
        low=_end(None if interval is None else interval.low, shown),
        high=_end(None if interval is None else interval.high, shown),
    )


def _end(value: float | None, shown: Visibility) -> Figure:
    return Figure.of(value, "share", shown)


def _limit(limit: Fraction | None) -> Figure | None:
    return None if limit is None else Figure.of(limit, "share", Visibility.RECIPIENT)
