"""The findings of an audit about earlier releases, added to an audit of the release alone, which is then decided again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from privrelease.audit.check import Check, CheckOutcome, check_findings, result_of
from privrelease.audit.checks.decision import decide
from privrelease.audit.document.model import Outcome
from privrelease.audit.document.previous_releases import ComparedRelease, EarlierFacts, Verdict
from privrelease.findings import pluralise
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privrelease.audit.comparison.earlier.rows_and_table import TableVerdict
    from privrelease.audit.comparison.previous_release import EarlierRelease, EarlierReleases, UnreadableRelease
    from privrelease.audit.document.model import AuditResult, CheckResult, Figure
    from privrelease.plan.model import ReleasePlan

__all__ = [
    "EARLIER_CHECKS",
    "NO_COLUMN",
    "Compared",
    "PreviousReleaseFindings",
    "across_kinds",
    "earlier_check",
    "named",
    "set_aside",
    "together",
    "with_earlier",
]

_NAMED: Final = 3
_LOOKED: Final = "AUDIT-EARLIER-LOOKED"
_KNOWN: Final = "AUDIT-EARLIER-KNOWN"
_ROWS: Final = "AUDIT-EARLIER-ROWS"
_OTHER_STATE: Final = "they are not of one state of the data"
_NOT_READ: Final = "a file cannot be read, or too many rows show too little"

#: Why a file that can be read, but is not known as an earlier release, cannot be compared.
NO_COLUMN: Final = "it has no column of this release"

_NOT_HELD: Final = (
    "where no one who gets this release can hold the earlier one (it was withdrawn before anybody fetched it, or went to others), "
    "say so: `recipients_hold_previous: false`"
)
_RESTORE: Final = "restore what is missing, or name with `privrelease audit --against` a copy that has columns of this release"
_BRING: Final = (
    "copy the folders of its runs (runs/RUN of the state folder that published it, with its digest.key) into runs of this state folder, "
    "or name that state folder with --state, then run again; in a pipeline, keep the state folder between jobs"
)


@dataclass(frozen=True, slots=True)
class Compared:
    """Result of comparing this release with earlier ones: ``faults``, or what is ``fine``, and the figure that decided. ``unjudged``: why some of
    them were not compared, though they must be.
    """

    faults: tuple[str, ...]
    fine: str
    observed: Figure | None = None
    unjudged: str = ""


def _compared(found: Compared) -> CheckOutcome:
    """It fails with its faults, and without any is left to a person where something was not compared. It names other releases, so it stays inside."""
    if found.unjudged and not found.faults:
        return CheckOutcome(Outcome.NOT_EVALUATED, found.unjudged, vacuous=True)
    outcome = Outcome.FAIL if found.faults else Outcome.PASS
    return CheckOutcome(outcome, "; ".join(found.faults) or found.fine, found.observed)


def _unread(found: Compared) -> CheckOutcome:
    """Judge what could not be looked at: no failure of this release, and no pass."""
    return CheckOutcome(Outcome.NOT_EVALUATED, f"could not be looked at: {named(found.faults)}")


def _unknown(found: Compared) -> CheckOutcome:
    """Nothing was judged together with what is not available: neither a pass nor a failure, and a person decides."""
    return CheckOutcome(Outcome.NOT_EVALUATED, f"published before, and not available here: {named(found.faults)}", vacuous=True)


#: In the order in which they are reported.
EARLIER_CHECKS: tuple[Check[Compared], ...] = (
    Check(
        "A281",
        "AUDIT-EARLIER-INTERSECT",
        "Classes stay large together with earlier releases",
        f"use another key for the pseudonym or drop the columns that link both, or keep the rules of the earlier release; {_NOT_HELD}",
        _compared,
    ),
    Check(
        "A282",
        "AUDIT-EARLIER-DIFFERENCE",
        "No small group between this and earlier releases",
        f"wait until enough persons joined, left or changed, or leave those few out; {_NOT_HELD}",
        _compared,
    ),
    Check(
        "A283",
        "AUDIT-EARLIER-CELLS",
        "Earlier tables give no cell back",
        f"suppress what the earlier table suppresses, or release both as one policy's tables; {_NOT_HELD}",
        _compared,
    ),
    Check(
        "A284",
        "AUDIT-EARLIER-BUDGET",
        "The budget covers all releases together",
        "spend less on this release, or raise the cap of the ledger if that can be answered for",
        _compared,
    ),
    Check(
        "A285",
        "AUDIT-EARLIER-REPEATED",
        "The same question is not asked again",
        "serve the stored answer again: leave `fresh` out and keep `snapshot`, policy and queries as they were",
        _compared,
    ),
    Check(
        "A286",
        "AUDIT-EARLIER-LOOKED",
        "Every earlier release was looked at",
        _RESTORE,
        _unread,
        unmade=("A286", _RESTORE),
        severity="warn",
    ),
    Check(
        "A291",
        "AUDIT-EARLIER-KNOWN",
        "Every release that was published is available",
        _BRING,
        _unknown,
        unmade=("A291", _BRING),
    ),
    Check(
        "A294",
        "AUDIT-EARLIER-ROWS",
        "Rows and tables give no suppressed cell back",
        "leave a group column of the table out of the rows, group the table more coarsely, or give rows and table to different recipients and say "
        f"so on both (`recipients`); {_NOT_HELD}",
        _compared,
    ),
)
_BY_ID: Final = {check.id: check for check in EARLIER_CHECKS}


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
    unlooked = () if not blind else (earlier_check(_LOOKED, blind, ""),)
    rest = [
        f"What {one.name} discloses together with this release: it could not be looked at, {one.why}."
        for one in earlier.unlooked
    ]
    for one in earlier.unknown:
        every = (*every, ComparedRelease(release=one.name, run=one.run, looked=_looked(one), note="" if one.same else one.why))
        rest += _left_to_a_person(one)
    missing = [one.name for one in earlier.unknown if _looked(one) == "unknown"]
    unknown = (earlier_check(_KNOWN, missing, ""),) if missing else ()
    if earlier.left:
        rest.append(
            f"What {pluralise(earlier.left, 'older release', 'older releases')} together with this one: only the newest of different content were combined."
        )
    return PreviousReleaseFindings(every, (*checks, *unlooked, *unknown), (*remaining, *rest), earlier.left)


def _looked(one: UnreadableRelease) -> Literal["same_file", "unknown", "not_held"]:
    return "same_file" if one.same else "unknown" if one.held else "not_held"


def _left_to_a_person(one: UnreadableRelease) -> list[str]:
    if one.same:
        return []
    if one.held:
        return [f"What {one.name} discloses together with this release: {one.why}."]
    return [f"Whether no recipient holds {one.name}: the policy says so (recipients_hold_previous), and {one.why}."]


def named(names: Sequence[str]) -> str:
    """Name the first releases.

    >>> named(["a", "b", "c", "d"])
    'a, b, c and 1 more'
    """
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")


def set_aside(one: EarlierRelease, kind: str) -> tuple[ComparedRelease, list[str]] | None:
    """Say of an earlier release that it is not compared with one of ``kind``, and why; None where it is."""
    if one.apart:
        why = f"Whether no one gets both {one.name} and this release: the policy says so (recipients), and they were not combined."
        return ComparedRelease(release=one.name, run=one.run, looked="not_held", note="other recipients"), [why]
    if not one.held:
        why = f"Whether no recipient holds {one.name}: the policy says so (recipients_hold_previous), and it was not combined with this release."
        return ComparedRelease(release=one.name, run=one.run, looked="not_held"), [why]
    if one.kind != kind:
        why = f"What {one.name} discloses together with this release: releases of different kinds were not compared."
        return ComparedRelease(release=one.name, run=one.run, looked="other_kind"), [why]
    return None


def across_kinds(judged: Sequence[tuple[EarlierRelease, TableVerdict]], what: str) -> PreviousReleaseFindings:
    """Put together what came of rows next to tables, or of a table next to rows. ``what``: the release that is audited, in words."""
    looked, remaining, faults = [], [], []
    for one, verdict in judged:
        note = verdict.unjudged or ("" if verdict.agree else _OTHER_STATE if verdict.agree is False else _NOT_READ)
        seen: Literal["combined", "unreadable"] = "unreadable" if verdict.agree is None else "combined"
        looked.append(ComparedRelease(release=one.name, run=one.run, looked=seen, note=note))
        faults += [f"with {one.name}: {fault}" for fault in verdict.faults]
        if note:
            remaining.append(f"What {one.name} and {what} disclose about suppressed cells together: {note}.")
    names = [one.name for one, verdict in judged if verdict.agree]
    unjudged = "; ".join(f"with {one.name}: {verdict.unjudged}" for one, verdict in judged if verdict.unjudged)
    fine = f"no suppressed cell follows from rows and cells of {named(names)}"
    checks = (earlier_check(_ROWS, faults, fine, unjudged=unjudged),) if names or unjudged else ()
    return PreviousReleaseFindings(tuple(looked), checks, tuple(remaining))


def earlier_check(
    name: str, faults: Sequence[str], fine: str, observed: Figure | None = None, unjudged: str = ""
) -> CheckResult:
    """Return the result of a check of :data:`EARLIER_CHECKS`."""
    check = _BY_ID[name]
    return result_of(check, check.judge(Compared(tuple(faults), fine, observed, unjudged)))


def with_earlier(audit: AuditResult, across: PreviousReleaseFindings, plan: ReleasePlan) -> AuditResult:
    """Add what earlier releases disclose and decide again. Where no earlier release was found, it is the same audit."""
    if not across.looked:
        return audit
    checks = (*audit.checks, *across.checks)
    findings = (*audit.findings, *check_findings(plan.location, across.checks, EARLIER_CHECKS))
    decision = decide(audit.threats, audit.union, checks, findings, audit.legal)
    remaining = (*audit.decision.assessment_remaining, *across.remaining)
    facts = EarlierFacts(releases=across.looked, left=across.left, verdict=_verdict(across), remaining=across.remaining)
    return audit.model_copy(
        update={
            "checks": checks,
            "findings": findings,
            "decision": decision.model_copy(update={"assessment_remaining": remaining, "worst": audit.decision.worst}),
            "earlier": facts,
        }
    )


def _verdict(across: PreviousReleaseFindings) -> Verdict:
    outcomes = {check.outcome for check in across.checks}
    if Outcome.FAIL in outcomes:
        return "fail"
    if any(check.id == _KNOWN for check in across.checks):
        return "unknown"
    if not across.checks and all(one.looked == "same_file" for one in across.looked):
        return "same"
    if outcomes <= {Outcome.NOT_EVALUATED}:
        unlinked = not outcomes and all(one.looked == "nothing_shared" for one in across.looked)
        return "unlinked" if unlinked else "not_evaluated"
    return "pass" if outcomes == {Outcome.PASS} else "warn"
