"""The findings of an audit about earlier releases, added to an audit of the release alone, which is then decided again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from privrelease.audit.check import Check, CheckOutcome, check_findings, result_of
from privrelease.audit.checks.decision import decide
from privrelease.audit.document.model import Outcome
from privrelease.audit.document.previous_releases import ComparedRelease, EarlierFacts
from privrelease.audit.document.sentences import both, coded
from privrelease.texts.sentences import Number, every, listed, say
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from privrelease.audit.comparison.earlier.rows_and_table import TableVerdict
    from privrelease.audit.comparison.previous_release import EarlierRelease, EarlierReleases, UnreadableRelease
    from privrelease.audit.document.model import AuditResult, CheckResult, Figure
    from privrelease.audit.document.previous_releases import LinkedBy, Looked, Verdict
    from privrelease.dp.budget import Budget
    from privrelease.plan.model import ReleasePlan
    from privrelease.texts.sentences import Said, Value

__all__ = [
    "EARLIER_CHECKS",
    "Compared",
    "PreviousReleaseFindings",
    "across_kinds",
    "against_cap",
    "compared",
    "earlier_check",
    "named",
    "set_aside",
    "together",
    "total_cost",
    "with_earlier",
]

_NAMED: Final = 3
_LOOKED: Final = "AUDIT-EARLIER-LOOKED"
_KNOWN: Final = "AUDIT-EARLIER-KNOWN"
_ROWS: Final = "AUDIT-EARLIER-ROWS"

_RESTORE: Final = "restore what is missing, or name with `privrelease audit --against` a copy that has columns of this release"
_BRING: Final = (
    "copy the folders of its runs (runs/RUN of the state folder that published it, with its digest.key) into runs of this state folder, "
    "or name that state folder with --state, then run again; in a pipeline, keep the state folder between jobs"
)


@dataclass(frozen=True, slots=True)
class Compared:
    """Result of comparing this release with earlier ones: ``faults``, or what is ``fine``, and the figure that decided. ``unjudged``: why some of
    them were not compared, though they must be. ``decided``: a person has to decide about what could not be looked at.
    """

    faults: tuple[Said, ...]
    fine: Said | None
    observed: Figure | None = None
    unjudged: Said | None = None
    decided: bool = False


def _compared(found: Compared) -> CheckOutcome:
    """It fails with its faults, and without any is left to a person where something was not compared. It names other releases, so it stays inside."""
    if found.unjudged and not found.faults:
        return CheckOutcome(Outcome.NOT_EVALUATED, found.unjudged, vacuous=True)
    outcome = Outcome.FAIL if found.faults else Outcome.PASS
    return CheckOutcome(outcome, every(found.faults) or found.fine, found.observed)


def _unread(found: Compared) -> CheckOutcome:
    """Judge what could not be looked at: no failure of this release, and no pass; it warns where no person has to decide."""
    names = named(found.faults)
    return CheckOutcome(Outcome.NOT_EVALUATED, say("unlooked", names=names), absent=not found.decided, vacuous=found.decided)


def _unknown(found: Compared) -> CheckOutcome:
    """Nothing was judged together with what is not available: neither a pass nor a failure, and a person decides."""
    return CheckOutcome(Outcome.NOT_EVALUATED, say("not_available", names=named(found.faults)), vacuous=True)


#: In the order in which they are reported.
EARLIER_CHECKS: tuple[Check[Compared], ...] = (
    Check(
        "A281",
        "AUDIT-EARLIER-INTERSECT",
        _compared,
    ),
    Check(
        "A282",
        "AUDIT-EARLIER-DIFFERENCE",
        _compared,
    ),
    Check(
        "A283",
        "AUDIT-EARLIER-CELLS",
        _compared,
    ),
    Check(
        "A284",
        "AUDIT-EARLIER-BUDGET",
        _compared,
    ),
    Check(
        "A285",
        "AUDIT-EARLIER-REPEATED",
        _compared,
    ),
    Check(
        "A286",
        "AUDIT-EARLIER-LOOKED",
        _unread,
        unmade=("A286", _RESTORE),
    ),
    Check(
        "A291",
        "AUDIT-EARLIER-KNOWN",
        _unknown,
        unmade=("A291", _BRING),
    ),
    Check(
        "A294",
        "AUDIT-EARLIER-ROWS",
        _compared,
    ),
)
_BY_ID: Final = {check.id: check for check in EARLIER_CHECKS}


@dataclass(frozen=True, slots=True)
class PreviousReleaseFindings:
    """``looked``: one for each earlier release. ``checks``: what was judged. ``remaining``: what a person has yet to assess."""

    looked: tuple[ComparedRelease, ...] = ()
    checks: tuple[CheckResult, ...] = ()
    remaining: tuple[Said, ...] = ()
    left: int = 0


def together(
    looked: Sequence[ComparedRelease], checks: Sequence[CheckResult], remaining: Sequence[Said], earlier: EarlierReleases
) -> PreviousReleaseFindings:
    """Put together what came of all that were found; what could not be looked at is named by a check that does not pass."""
    found = (
        *looked,
        *(compared(one, "unreadable", one.why) for one in earlier.unlooked),
    )
    blind = [
        say("noted", what=one.told_release, note=one.told) if one.note else say("names", names=one.told_release)
        for one in found
        if one.looked == "unreadable"
    ]
    decided = any(one.must for one in earlier.unlooked)
    unlooked = () if not blind else (result_of(_BY_ID[_LOOKED], _unread(Compared(tuple(blind), None, decided=decided))),)
    rest = [say("left_unlooked", name=one.name, why=one.why) for one in earlier.unlooked]
    for one in earlier.unknown:
        found = (*found, compared(one, _looked(one), "" if one.same else one.why))
        rest += _left_to_a_person(one)
    missing = [say("names", names=one.name) for one in earlier.unknown if _looked(one) == "unknown"]
    unknown = (earlier_check(_KNOWN, missing, None),) if missing else ()
    if earlier.left:
        rest.append(say("older_left", n=earlier.left))
    return PreviousReleaseFindings(found, (*checks, *unlooked, *unknown), (*remaining, *rest), earlier.left)


def _looked(one: UnreadableRelease) -> Looked:
    return "same_file" if one.same else "unknown" if one.held else "not_held"


def _left_to_a_person(one: UnreadableRelease) -> list[Said]:
    if one.same:
        return []
    if one.held:
        return [say("discloses_with", name=one.name, why=one.why)]
    return [say("not_held_why", name=one.name, why=one.why)]


def named(names: Sequence[Value]) -> Said:
    """Name the first releases.

    >>> named(["a", "b", "c", "d"])
    'a, b, c and 1 more'
    """
    first = listed(names[:_NAMED])
    return say("names_more", names=first, n=len(names) - _NAMED) if len(names) > _NAMED else say("names", names=first)


def compared(
    one: EarlierRelease | UnreadableRelease,
    looked: Looked,
    note: str = "",
    *,
    linked_by: LinkedBy | None = None,
    linked: Figure | None = None,
    figures: Mapping[str, Figure] | None = None,
) -> ComparedRelease:
    """Say how an earlier release was looked at, with a note, and what was found."""
    return ComparedRelease(
        release=one.name,
        release_coded=coded(one.name),
        run=one.run,
        looked=looked,
        linked_by=linked_by,
        linked=linked,
        figures=dict(figures or {}),
        note=note,
        note_coded=coded(note),
    )


def set_aside(one: EarlierRelease, kind: str) -> tuple[ComparedRelease, list[Said]] | None:
    """Say of an earlier release that it is not compared with one of ``kind``, and why; None where it is."""
    if one.apart:
        why = say("recipients_apart", name=one.name)
        return compared(one, "not_held", say("other_recipients")), [why]
    if not one.held:
        why = say("not_held", name=one.name)
        return compared(one, "not_held"), [why]
    if one.kind != kind:
        why = say("kinds_apart", name=one.name)
        return compared(one, "other_kind"), [why]
    return None


def across_kinds(judged: Sequence[tuple[EarlierRelease, TableVerdict]], what: Said) -> PreviousReleaseFindings:
    """Put together what came of rows next to tables, or of a table next to rows. ``what``: the release that is audited, in words."""
    looked, remaining, faults = [], [], []
    for one, verdict in judged:
        note = verdict.unjudged
        if note is None and not verdict.agree:
            note = say("other_state") if verdict.agree is False else say("rows_show_little")
        seen: Looked = "unreadable" if verdict.agree is None else "combined"
        looked.append(compared(one, seen, note or ""))
        faults += [say("with_release", name=one.name, fault=fault) for fault in verdict.faults]
        if note:
            remaining.append(say("rows_and_cells_left", name=one.name, what=what, why=note))
    names = [one.name for one, verdict in judged if verdict.agree]
    unjudged = every(
        say("with_release", name=one.name, fault=verdict.unjudged) for one, verdict in judged if verdict.unjudged is not None
    )
    fine = say("no_cell_follows_rows", names=named(names))
    checks = (earlier_check(_ROWS, faults, fine, unjudged=unjudged),) if names or unjudged else ()
    return PreviousReleaseFindings(tuple(looked), checks, tuple(remaining))


def total_cost(spent: Budget, unknown: Sequence[str]) -> Said:
    """Say what all releases cost together. ``unknown``: those of which the ledger does not know."""
    said = say("total_cost", epsilon=Number(str(spent.epsilon)), delta=Number(str(spent.delta)))
    return say("cost_uncharged", cost=said, names=named(unknown)) if unknown else said


def against_cap(cost: Said, names: Said, over: Budget | None, *, known: bool) -> tuple[tuple[Said, ...], Said]:
    """Return the faults of a cost that is ``over`` a cap, and what is said of one that is not. ``known``: there is a cap."""
    fine = say("cost_included", cost=cost, names=names)
    fine = fine if known else every((fine, say("no_cap"))) or fine
    if over is None:
        return (), fine
    return (say("cost_above_cap", cost=cost, epsilon=Number(str(over.epsilon)), delta=Number(str(over.delta))),), fine


def earlier_check(
    name: str, faults: Sequence[Said], fine: Said | None, observed: Figure | None = None, unjudged: Said | None = None
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
    remaining = (*audit.decision.told_remaining, *across.remaining)
    facts = EarlierFacts(
        releases=across.looked, left=across.left, verdict=_verdict(across), remaining=tuple(map(str, across.remaining))
    )
    return audit.model_copy(
        update={
            "checks": checks,
            "findings": findings,
            "decision": decision.model_copy(update={**both("assessment_remaining", remaining), "worst": audit.decision.worst}),
            "earlier": facts,
        }
    )


def _verdict(across: PreviousReleaseFindings) -> Verdict:
    outcomes = {check.outcome for check in across.checks}
    if Outcome.FAIL in outcomes:
        return "fail"
    if any(check.id == _KNOWN or (check.id == _LOOKED and check.vacuous) for check in across.checks):
        return "unknown"
    if not across.checks and all(one.looked == "same_file" for one in across.looked):
        return "same"
    if outcomes <= {Outcome.NOT_EVALUATED}:
        unlinked = not outcomes and all(one.looked == "nothing_shared" for one in across.looked)
        return "unlinked" if unlinked else "not_evaluated"
    return "pass" if outcomes == {Outcome.PASS} else "warn"
