"""Waivers applied to an audit: a failed check of the policy that an open one lets pass stays visible as failed, and fails no more.

Integrity checks (``AUDIT-…``), thresholds of threats and checks that could not be made are never waived. Expiry is judged by the moment
of the audit, so that the same audit gives the same verdict.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Literal

from privrelease.audit.check import NOT_MADE_HINT
from privrelease.audit.checks.codes import kind_of
from privrelease.audit.checks.decision import decide
from privrelease.audit.checks.findings import place
from privrelease.audit.document.model import FindingRecord, Outcome
from privrelease.audit.document.sentences import both, coded
from privrelease.audit.document.signoff import WaiverFacts, WaiverRecord
from privrelease.texts.sentences import say

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from privrelease.audit.document.model import AuditResult, CheckResult
    from privrelease.plan.approvals import WaiverPlan
    from privrelease.plan.model import Plan
    from privrelease.texts.sentences import Said

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
    kept = {**both("assessment_remaining", audit.decision.told_remaining), "worst": audit.decision.worst}
    return audit.model_copy(
        update={
            "checks": checks,
            "findings": findings,
            "decision": decision.model_copy(update={**both("reasons", (*decision.told_reasons, *said)), **kept}),
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


def _sentence(record: WaiverRecord) -> Said:
    return say(
        "open_waiver",
        check=record.check,
        day=record.expires,
        owner=record.owner,
        by=str(record.approved_by),
        reason=record.reason,
    )


def _told(finding: FindingRecord, opened: Mapping[str, WaiverRecord]) -> FindingRecord:
    """A failure that is waived warns."""
    name = finding.subject.removeprefix("checks.")
    if finding.severity != "error" or not finding.subject.startswith("checks.") or name not in opened:
        return finding
    message = say("waived_until", day=opened[name].expires, message=finding.told)
    return finding.model_copy(update={"severity": "warn", "message": str(message), "message_coded": coded(message)})


def _discounted(records: Sequence[WaiverRecord], checks: Sequence[CheckResult]) -> Iterator[FindingRecord]:
    """Say of a waiver that does not count why; one that nothing fails without is only mentioned."""
    outcomes = {check.id: check for check in checks}
    for record in records:
        check = outcomes.get(record.check)
        why: Said | None = None
        if record.state == "expired":
            why = say("waiver_expired", day=record.expires)
        elif record.state == "self_approved":
            why = say("waiver_self_approved")
        elif record.state == "unused" and check is not None and check.outcome is Outcome.NOT_EVALUATED:
            why = say("waiver_unmade")
        if why is None:
            continue
        message = say("waiver_counts_not", check=record.check, why=why)
        needed = check is not None and check.severity == "error" and check.outcome in {Outcome.FAIL, Outcome.NOT_EVALUATED}
        yield FindingRecord(
            code="A303",
            message=message,
            message_coded=coded(message),
            severity="warn" if needed else "info",
            hint=kind_of("A303").hint if record.state != "unused" else NOT_MADE_HINT,
            subject=f"waivers.{record.check}",
            file=record.file,
            line=record.line,
            column=record.column,
        )
