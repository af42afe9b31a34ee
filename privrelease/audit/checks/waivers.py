"""Waivers applied to an audit: a failed check of the policy that an open one lets pass stays visible as failed, and fails no more.

Integrity checks (``AUDIT-…``), thresholds of threats and checks that could not be made are never waived. Expiry is judged by the moment
of the audit, so that the same audit gives the same verdict.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Final, Literal

from privrelease.audit.check import NOT_MADE_HINT
from privrelease.audit.checks.codes import kind_of
from privrelease.audit.checks.decision import decide
from privrelease.audit.checks.findings import place
from privrelease.audit.document.model import FindingRecord, Outcome
from privrelease.audit.document.signoff import WaiverFacts, WaiverRecord

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from privrelease.audit.document.model import AuditResult, CheckResult
    from privrelease.plan.approvals import WaiverPlan
    from privrelease.plan.model import Plan

__all__ = ["with_waivers"]


def with_waivers(audit: AuditResult, policy: Plan) -> AuditResult:
    """Return the audit with the policy's waivers of its release applied and decided again; without waivers, the same audit."""
    plans = [waiver for waiver in policy.waivers if waiver.release == audit.identity.release]
    if not plans:
        return audit
    day = date.fromisoformat(audit.identity.audited_at[:10])
    failed = {check.id for check in audit.checks if _waivable(check)}
    records = tuple(_record(waiver, _state(waiver, failed, day)) for waiver in plans)
    opened = {record.check: record for record in records if record.counts}
    checks = tuple(
        check.model_copy(update={"waived": True}) if check.id in opened and _waivable(check) else check
        for check in audit.checks
    )
    findings = (*(_told(finding, opened) for finding in audit.findings), *_discounted(records, audit.checks))
    decision = decide(audit.threats, audit.union, checks, findings, audit.legal)
    said = tuple(_sentence(record) for record in records if record.counts)
    kept = {"assessment_remaining": audit.decision.assessment_remaining, "worst": audit.decision.worst}
    return audit.model_copy(
        update={
            "checks": checks,
            "findings": findings,
            "decision": decision.model_copy(update={"reasons": (*decision.reasons, *said), **kept}),
            "waivers": WaiverFacts(waivers=records),
        }
    )


def _waivable(check: CheckResult) -> bool:
    return check.outcome is Outcome.FAIL and check.severity == "error" and not check.id.startswith("AUDIT-")


def _state(waiver: WaiverPlan, failed: set[str], day: date) -> Literal["open", "unused", "expired", "self_approved"]:
    if waiver.self_approved:
        return "self_approved"
    if day > waiver.expires:
        return "expired"
    return "open" if waiver.check in failed else "unused"


def _record(waiver: WaiverPlan, state: Literal["open", "unused", "expired", "self_approved"]) -> WaiverRecord:
    return WaiverRecord(
        check=waiver.check,
        reason=waiver.reason,
        owner=waiver.owner,
        approved_by=waiver.approved_by,
        expires=waiver.expires.isoformat(),
        state=state,
        **place(waiver.location),
    )


def _sentence(record: WaiverRecord) -> str:
    return (
        f"open waiver: check {record.check} failed and is let pass until {record.expires}"
        f" (owner {record.owner}, approved by {record.approved_by}): {record.reason}"
    )


def _told(finding: FindingRecord, opened: Mapping[str, WaiverRecord]) -> FindingRecord:
    """A failure that is waived warns."""
    name = finding.subject.removeprefix("checks.")
    if finding.severity != "error" or not finding.subject.startswith("checks.") or name not in opened:
        return finding
    message = f"waived until {opened[name].expires}: {finding.message}"
    return finding.model_copy(update={"severity": "warn", "message": message})


def _discounted(records: Sequence[WaiverRecord], checks: Sequence[CheckResult]) -> Iterator[FindingRecord]:
    """Say of a waiver that does not count why; one that nothing fails without is only mentioned."""
    outcomes = {check.id: check for check in checks}
    for record in records:
        check = outcomes.get(record.check)
        why = _WHY_NOT.get(record.state, "").format(expires=record.expires)
        if record.state == "unused" and check is not None and check.outcome is Outcome.NOT_EVALUATED:
            why = "the check could not be made, and only one that fails can be let pass"
        if not why:
            continue
        needed = check is not None and check.severity == "error" and check.outcome in {Outcome.FAIL, Outcome.NOT_EVALUATED}
        yield FindingRecord(
            code="A303",
            message=f"the waiver of check {record.check} does not count: {why}",
            severity="warn" if needed else "info",
            hint=kind_of("A303").hint if record.state != "unused" else NOT_MADE_HINT,
            subject=f"waivers.{record.check}",
            file=record.file,
            line=record.line,
            column=record.column,
        )


_WHY_NOT: Final = {"expired": "it expired on {expires}", "self_approved": "its owner approved it"}
