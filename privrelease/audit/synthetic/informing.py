"""Checks of synthetic rows that read the source without noise: copies of single rows, and errors of marginals that a policy asks for.

They are internal, warn at most and never decide (DESIGN, semantics 12). The held-out persons are the reference of each.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from privrelease.audit.attacks.rates import Rate, exceeds
from privrelease.audit.check import POLICY_CHECK, Check, CheckOutcome, passed, result_of, run_checks, unevaluated, warned
from privrelease.audit.checks.findings import per_cent
from privrelease.audit.document.model import Figure, Outcome, Visibility
from privrelease.texts.sentences import every, listed, of_key, say, share_of

if TYPE_CHECKING:
    from privrelease.audit.document.model import CheckResult
    from privrelease.audit.synthetic.source import BesideSource
    from privrelease.plan.model import CheckPlan
    from privrelease.plan.synthetic.plan import SyntheticPlan

__all__ = ["INFORMING_CHECKS", "informing_checks"]

#: A model that keeps nothing of single rows is suspected in one run of 200.
_BY_CHANCE: Final = 1 / 200


def _copies(beside: BesideSource) -> CheckOutcome:
    """Compare how often a row that is alone in the source is present: rows that the model saw, and rows that it did not.

    Who is held out is drawn at random, so that a model that keeps nothing of single rows finds as many of either kind as a random division would:
    warns where Fisher's exact test gives so large a difference at most once in 200.
    """
    ours, theirs = (Rate(*counts) for counts in beside.alone())
    if not ours.attempts or not theirs.attempts:
        return unevaluated(say("copies_none"))
    fitted, held = ours.successes, theirs.successes
    said = {"fitted": fitted, "of_fitted": ours.attempts, "held": held, "of_held": theirs.attempts}
    if exceeds(ours, theirs) <= _BY_CHANCE:
        return warned(say("alone_more", **said))
    return replace(passed(say("alone_found", **said)), visibility=Visibility.INTERNAL)


#: In the order in which they are reported; no one can be compared with where no one is held out.
INFORMING_CHECKS: Final[tuple[Check[BesideSource], ...]] = (
    Check(
        "A270",
        "AUDIT-SYN-COPIES",
        _copies,
        asked=lambda beside: beside.held is not None,
        severity="warn",
        private=True,
    ),
)


def informing_checks(plan: SyntheticPlan, beside: BesideSource | None) -> tuple[CheckResult, ...]:
    """Make the checks that compare with the source. ``beside``: None where it was not read."""
    own = () if beside is None else run_checks(INFORMING_CHECKS, beside)
    return (*own, *(_measured(check, beside) for check in plan.checks if check.expectation is None))


def _measured(check: CheckPlan, beside: BesideSource | None) -> CheckResult:
    """Measure the error of a marginal that the policy names, in the cells of the model."""
    columns = dict(check.options).get("columns")
    assert isinstance(columns, tuple)
    made = replace(
        POLICY_CHECK,
        id=check.id,
        words=(say("title_of", what=check.expect, columns=listed(columns)), POLICY_CHECK.hint),
        severity="warn",
        private=True,
        location=check.location,
    )
    return result_of(made, _error(check, columns, beside))


def _error(check: CheckPlan, columns: tuple[str, ...], beside: BesideSource | None) -> CheckOutcome:
    if beside is None:
        return unevaluated(say("source_not_read"))
    ours, theirs = beside.error_of(columns)
    if ours is None or check.maximum is None:
        return unevaluated(say("no_row_to_compare"))
    error = Fraction(f"{ours:.12g}")
    most = of_key("fragment.at_most", n=share_of(per_cent(check.maximum)))
    said = say("asks_variation", figure=share_of(per_cent(error)), bounds=most)
    if theirs is not None:
        held = say("held_differ", share=share_of(per_cent(Fraction(f"{theirs:.12g}"))))
        said = every((said, held)) or said
    outcome = Outcome.PASS if error <= check.maximum else Outcome.WARN
    return CheckOutcome(outcome, said, Figure.of(error, "share"), Figure.of(check.maximum, "share"), Visibility.INTERNAL)
