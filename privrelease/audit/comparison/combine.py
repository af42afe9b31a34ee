"""The findings of an audit about earlier releases, added to an audit of the release alone, which is then decided anew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from privrelease.audit.checks.codes import EARLIER_CODES
from privrelease.audit.checks.decision import decide
from privrelease.audit.checks.findings import place
from privrelease.audit.checks.hints import HINTS
from privrelease.audit.document.model import CheckResult, FindingRecord, Outcome, Visibility
from privrelease.audit.document.previous_releases import SECTION, ComparedRelease, EarlierFacts
from privrelease.findings import pluralise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privrelease.audit.comparison.previous_release import EarlierKind, EarlierRelease, EarlierReleases
    from privrelease.audit.document.model import AuditResult, Figure
    from privrelease.plan.model import ReleasePlan

__all__ = ["NO_COLUMN", "PreviousReleaseFindings", "earlier_check", "named", "set_aside", "together", "with_earlier"]

_NAMED: Final = 3
_LOOKED: Final = "AUDIT-EARLIER-LOOKED"

#: Why a file that can be read, and that nobody knows as an earlier release, cannot be compared.
NO_COLUMN: Final = "it has no column of this release"

_CODES = {name: (code, title) for name, code, title in EARLIER_CODES}


@dataclass(frozen=True, slots=True)
class PreviousReleaseFindings:
    """``looked``: one for each earlier release. ``checks``: what was judged. ``remaining``: what a person has yet to assess."""

    looked: tuple[ComparedRelease, ...] = ()
    checks: tuple[CheckResult, ...] = ()
    remaining: tuple[str, ...] = ()
    left: int = 0


def together(
    looked: Sequence[ComparedRelease], checks: Sequence[CheckResult], remaining: Sequence[str], earlier: EarlierReleases
) -> PreviousReleaseFindings:
    """Put together what came of all that were found; what could not be looked at is named by a check that does not pass."""
    every = (
        *looked,
        *(ComparedRelease(release=one.name, run=one.run, looked="unreadable", note=one.why) for one in earlier.unlooked),
    )
    blind = [f"{one.release} ({one.note})" if one.note else one.release for one in every if one.looked == "unreadable"]
    unlooked = () if not blind else (_unlooked(blind),)
    rest = [f"What {one.name} tells beside this release: it could not be looked at, {one.why}." for one in earlier.unlooked]
    if earlier.left:
        rest.append(
            f"What {pluralise(earlier.left, 'older release', 'older releases')} beside this one: only the newest of different content were combined."
        )
    return PreviousReleaseFindings(every, (*checks, *unlooked), (*remaining, *rest), earlier.left)


def _unlooked(names: Sequence[str]) -> CheckResult:
    return CheckResult(
        id=_LOOKED,
        title=_CODES[_LOOKED][1],
        outcome=Outcome.NOT_EVALUATED,
        severity="warn",
        message=f"could not be looked at: {named(names)}",
        visibility=Visibility.INTERNAL,
    )


def named(names: Sequence[str]) -> str:
    """Name the first releases.

    >>> named(["a", "b", "c", "d"])
    'a, b, c and 1 more'
    """
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")


def set_aside(one: EarlierRelease, kind: EarlierKind) -> tuple[ComparedRelease, list[str]] | None:
    """Say of an earlier release that it is not compared with one of ``kind``, and why; None where it is."""
    if not one.held:
        why = f"Whether no recipient holds {one.name}: the policy says so (recipients_hold_previous), and it was not combined with this release."
        return ComparedRelease(release=one.name, run=one.run, looked="not_held"), [why]
    if one.kind != kind:
        why = f"What {one.name} tells beside this release: releases of different kinds were not compared."
        return ComparedRelease(release=one.name, run=one.run, looked="other_kind"), [why]
    return None


def earlier_check(name: str, faults: Sequence[str], fine: str, observed: Figure | None = None) -> CheckResult:
    """Give the result of a check: it fails with ``faults``, or passes and says what is ``fine``. It names other releases: it stays inside."""
    return CheckResult(
        id=name,
        title=_CODES[name][1],
        outcome=Outcome.FAIL if faults else Outcome.PASS,
        severity="error",
        message="; ".join(faults) or fine,
        observed=observed,
        visibility=Visibility.INTERNAL,
    )


def with_earlier(audit: AuditResult, across: PreviousReleaseFindings, plan: ReleasePlan) -> AuditResult:
    """Add what earlier releases tell and decide anew. Where no earlier release was found, it is the same audit."""
    if not across.looked:
        return audit
    checks = (*audit.checks, *across.checks)
    findings = (*audit.findings, *(_finding(plan, check) for check in across.checks if check.outcome is not Outcome.PASS))
    decision = decide(audit.threats, audit.union, checks, findings, audit.legal)
    remaining = (*audit.decision.assessment_remaining, *across.remaining)
    facts = EarlierFacts(releases=across.looked, left=across.left, verdict=_verdict(across.checks), remaining=across.remaining)
    return audit.model_copy(
        update={
            "checks": checks,
            "findings": findings,
            "decision": decision.model_copy(update={"assessment_remaining": remaining, "worst": audit.decision.worst}),
            "sections": {**audit.sections, SECTION: facts},
        }
    )


def _verdict(checks: Sequence[CheckResult]) -> Literal["pass", "warn", "fail", "not_evaluated"]:
    outcomes = {check.outcome for check in checks}
    if Outcome.FAIL in outcomes:
        return "fail"
    if outcomes <= {Outcome.NOT_EVALUATED}:
        return "not_evaluated"
    return "pass" if outcomes == {Outcome.PASS} else "warn"


def _finding(plan: ReleasePlan, check: CheckResult) -> FindingRecord:
    return FindingRecord(
        code=_CODES[check.id][0],
        message=f"{check.id} {check.title}: {check.message}",
        severity="error" if check.outcome is Outcome.FAIL else "warn",
        hint=HINTS[_CODES[check.id][0]],
        subject=f"checks.{check.id}",
        **place(plan.location),
    )
