"""The verdict: fail where a check or a threshold fails, review where the policy's legal profile lacks a field, pass otherwise.

A check that could not be made is no pass: it fails, except where an external file has nothing to compare with, which is left to
a person. A check of the policy that could not be made, or any check that had nothing to look at (no rows, no values, an
attack's limit with no one to attack), neither passes nor fails: it means review. Evidence and residual risk are stated; nothing
is called anonymous.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from privrelease.audit.check import fails
from privrelease.audit.document.model import Decision, Outcome, WorstFigure, check_unmade
from privrelease.audit.document.sentences import coded_all
from privrelease.texts.sentences import listed, of_key, say

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from privrelease.audit.document.model import CheckResult, FindingRecord, LegalFacts, ThreatResult, ThresholdVerdict

__all__ = ["REMAINING", "decide"]

#: The codes of what no audit of a file can settle.
REMAINING = ("remaining.threats", "remaining.other_releases", "remaining.in_common", "remaining.lawful")
UNION_REMAINING = "remaining.union"


def _undecided(check: CheckResult) -> bool:
    """Return True if a check that must hold had nothing to look at, or does not hold and is for a person to decide."""
    return (check.vacuous and check.severity == "error") or check.outcome is Outcome.REVIEW


def _ratio(verdict: ThresholdVerdict) -> Fraction | None:
    """Return the share of its threshold that a figure takes up; None: undefined, worse than any."""
    figure, limit = verdict.figure.exact, verdict.threshold.exact
    if figure is None or limit is None:
        return None
    if verdict.measure == "subsets":
        return Fraction(limit) / Fraction(figure) if Fraction(figure) else None
    return Fraction(figure) / Fraction(limit) if Fraction(limit) else Fraction(0 if not Fraction(figure) else 10**9)


def _worst(threats: Iterable[ThreatResult]) -> WorstFigure | None:
    pairs = [(threat, verdict) for threat in threats for verdict in threat.verdicts]
    if not pairs:
        return None

    def rank(pair: tuple[ThreatResult, ThresholdVerdict]) -> tuple[bool, bool, Fraction]:
        ratio = _ratio(pair[1])
        return (not pair[1].holds, ratio is None, ratio or Fraction(0))

    threat, verdict = max(pairs, key=rank)
    what = f"{verdict.measure.replace('_', ' ')} of threat {threat.name}"
    return WorstFigure(what=what, figure=verdict.figure, threshold=verdict.threshold, holds=verdict.holds)


def decide(
    threats: Sequence[ThreatResult],
    union: ThreatResult | None,
    checks: Sequence[CheckResult],
    findings: Sequence[FindingRecord],
    legal: LegalFacts,
) -> Decision:
    """Decide from what was found."""
    errors = [finding.told for finding in findings if finding.severity == "error"]
    checks = [check for check in checks if not check.private]
    unlooked = [check for check in checks if check.outcome is Outcome.NOT_EVALUATED and not fails(check)]
    failing = any(fails(check) for check in checks) or not all(threat.holds for threat in threats) or bool(errors)
    asked = [check for check in checks if check.outcome is not Outcome.NOT_ASKED]
    empty = tuple(
        say("check_finding", id=check.id, title=check.told_title, message=check.told) for check in checks if _undecided(check)
    )
    incomplete = legal.profile is not None and bool(legal.missing)
    missing = (say("legal_missing", fields=listed(legal.missing)),) if incomplete else ()
    if failing:
        outcome: Literal[Outcome.PASS, Outcome.FAIL, Outcome.REVIEW] = Outcome.FAIL
    else:
        outcome = Outcome.REVIEW if incomplete or empty else Outcome.PASS
    verdicts = [verdict.holds for threat in threats for verdict in threat.verdicts]
    made = [check for check in asked if check.outcome is not Outcome.NOT_EVALUATED]
    good = [check.outcome is Outcome.PASS for check in made]
    reasons = (*errors, *missing, *empty)
    left = (
        *map(of_key, REMAINING),
        *((of_key(UNION_REMAINING),) if union is not None else ()),
        *(check_unmade(check) for check in unlooked),
    )
    return Decision(
        outcome=outcome,
        checks_passed=sum(verdicts) + sum(good),
        checks_total=len(verdicts) + len(good),
        checks_not_made=len(asked) - len(made),
        checks_not_asked=len(checks) - len(asked),
        worst=_worst(threats),
        reasons=reasons,
        reasons_coded=coded_all(reasons),
        assessment_remaining=left,
        assessment_remaining_coded=coded_all(left),
    )
