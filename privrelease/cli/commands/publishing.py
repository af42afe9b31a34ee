"""``privrelease approve``, ``publish`` and ``withdraw``: what a person decides about a parked release. Nothing is executed again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from privrelease.cli.exit import Ending
from privrelease.cli.settings import chosen

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from privrelease.audit.document.model import AuditResult
    from privrelease.audit.document.waivers import WaiverRecord
    from privrelease.cli.console import Console
    from privrelease.cli.settings import Settings
    from privrelease.errors import UsageError
    from privrelease.findings import Finding
    from privrelease.plan.approvals import ApprovalsPlan
    from privrelease.plan.model import Plan
    from privrelease.release.approvals import Approvals
    from privrelease.release.approvers import Approver
    from privrelease.release.runs import RunFolder, RunRecord
    from privrelease.release.store import ReleaseStore

__all__ = ["approve", "approvers_of", "kept_files", "publish", "required_signoff", "signoff_of", "withdraw"]


@dataclass(frozen=True, slots=True)
class _Parked:
    """A run, and the policy as it is now, in the environment that the run had."""

    plan: Plan
    store: ReleaseStore
    run: RunFolder
    audit: AuditResult

    @property
    def waivers(self) -> tuple[WaiverRecord, ...]:
        """The run's open waivers: those that let a failed check pass."""
        from privrelease.audit.document.waivers import waiver_facts

        facts = waiver_facts(self.audit)
        return () if facts is None else tuple(one for one in facts.waivers if one.counts)

    @property
    def owners(self) -> tuple[str, ...]:
        """Owners of the run's open waivers."""
        return tuple(one.owner for one in self.waivers)


def _parked(policy: Path, settings: Settings, run_id: str) -> _Parked:
    from privrelease.release.store import ReleaseStore
    from privrelease.report.forms.json_report import read_audit

    store = ReleaseStore.beside(policy) if settings.state is None else ReleaseStore(settings.state)
    store.recover()
    run = store.folder(run_id)
    _, plan = replace(settings, environment=run.record().environment).load(policy)
    return _Parked(plan, store, run, read_audit(run.audit, run.audit.name))


def approvers_of(approvals: ApprovalsPlan) -> tuple[Approver, ...]:
    """Read the approvers of a policy and see that every required role can be signed for. Raises InputError (R150 to R152)."""
    from privrelease.release.approvers import load_approvers, require_approvers
    from privrelease.release.store import now

    approvers = load_approvers(approvals.keys, approvals.label)
    require_approvers(approvals.required, approvers, now().date(), approvals.label)
    return approvers


def required_signoff(plan: Plan, audit: AuditResult) -> AuditResult:
    """Return the audit with the approvals that the policy requires, which nobody can have given yet."""
    from privrelease.audit.document.signoff import SignoffFacts, with_signoff

    return audit if plan.approvals is None else with_signoff(audit, SignoffFacts(required=plan.approvals.required))


def _changed(parked: _Parked) -> tuple[Finding, ...]:
    """What is not as it was decided upon: files of the run, the policy, or the day, where a waiver has expired since."""
    from privrelease.findings import Finding
    from privrelease.release.store import now
    from privrelease.release.tamper_check import alterations

    found = alterations(parked.run)
    if parked.audit.identity.policy_sha256 != parked.plan.policy_sha256:
        message = f"{parked.plan.policy_path.name} is not the policy that was run: it says something else now"
        found = (*found, Finding("R163", message, hint="run the release again under the policy as it is"))
    today = now().date().isoformat()
    for waiver in parked.waivers:
        if waiver.expires < today:
            message = f"the waiver of check {waiver.check} expired on {waiver.expires}, and the check failed"
            found = (*found, Finding("R169", message, hint="renew the waiver in the policy, or mend what fails, and run again"))
    return found


def _altered(parked: _Parked, findings: Sequence[Finding], console: Console) -> Ending:
    for finding in findings:
        console.say(str(finding))
    return Ending(1, f"run {parked.run.id}: {findings[0].message}", findings=tuple(findings))


def approve(
    policy: Path, settings: Settings, run_id: str, role: str, key: tuple[Path | None, str | None], console: Console
) -> Ending:
    """Sign the digests of a parked release in a role. Publishes nothing."""
    from privrelease.cli.commands.signing import signing_key
    from privrelease.errors import InputError
    from privrelease.release.approvals import approvals_of
    from privrelease.release.approvals import approve as sign
    from privrelease.release.runs import RunState
    from privrelease.release.store import now

    parked = _parked(policy, settings, run_id)
    approvals = parked.plan.approvals
    record = parked.run.record()
    if approvals is None:
        raise InputError(
            code="R154", message="the policy requires no approval", hint="write `approvals: {required: [dpo], keys: …}`"
        )
    if record.state is not RunState.PARKED or record.decided is None or record.decided.outcome == "fail":
        raise InputError(
            code="R122", message=f"run {run_id} is {record.state.value}: only a parked release is approved", hint="run it again"
        )
    if role not in approvals.required:
        raise _no_role(role, approvals)
    findings = _changed(parked)
    if findings:
        return _altered(parked, findings, console)
    approvers = approvers_of(approvals)
    made = sign(parked.run, role, signing_key(*key), approvers, parked.owners, now())
    found = approvals_of(parked.run, approvers, parked.owners, now())
    _record_signoff(parked, approvals, found)
    missing = found.missing(approvals.required)
    console.data(f"approved   run {run_id} as {made.role}, by {made.approver}")
    console.data(f"missing    {', '.join(missing) or 'none: it can be published'}")
    return Ending(0, f"run {run_id} is approved as {role}")


def _no_role(role: str, approvals: ApprovalsPlan) -> UsageError:
    """A role that no approval is asked for in: its signature would count for nothing, and use up the key."""
    from privrelease.errors import UsageError
    from privrelease.policy.text.messages import did_you_mean, shown

    roles = ", ".join(approvals.required)
    hint = (
        did_you_mean(role, approvals.required)
        or f"write --role with one of these, and a key that {approvals.label} lists for it"
    )
    return UsageError(code="C126", message=f"the policy requires no approval as {shown(role)}, but as: {roles}", hint=hint)


def publish(policy: Path, settings: Settings, run_id: str, console: Console) -> Ending:
    """Publish a parked release after verifying digests and signatures. No second draw, no second charge.

    Raises UnseenReleaseError (R167) where another release that its audit did not look at was published; the run stays parked.
    """
    from privrelease.cli.earlier import require_audited_together
    from privrelease.release.approvals import approvals_of
    from privrelease.release.store import now

    parked = _parked(policy, settings, run_id)
    record, approvals = parked.run.record(), parked.plan.approvals
    findings = _changed(parked)
    if findings:
        return _altered(parked, findings, console)
    if approvals is None:
        if record.decided is not None and record.decided.outcome == "review":
            hint = "state what is missing in the policy, or let it require approvals"
            return Ending(5, f"run {run_id} needs review, and the policy names nobody who could approve it ({hint})")
    else:
        found = approvals_of(parked.run, approvers_of(approvals), parked.owners, now())
        if found.altered:
            return _altered(parked, found.altered, console)
        for finding in found.discounted:
            console.say(str(finding))
        missing = found.missing(approvals.required)
        if missing:
            return Ending(5, f"run {run_id} is not approved by: {', '.join(missing)}")
        _record_signoff(parked, approvals, found)
    release = chosen(parked.plan, (record.release,))[0]
    guard = partial(require_audited_together, parked.store, release, parked.plan, parked.run, parked.audit)
    kept_files(parked.store, parked.store.publish(run_id, guard=guard), console)
    for sink in release.sinks:
        console.data(f"published  {sink.label}")
    return Ending(0, f"release {record.release} is published")


def kept_files(store: ReleaseStore, record: RunRecord, console: Console) -> tuple[tuple[str, str], ...]:
    """Say which files stood at output paths before a release was published there, and where they are kept. Returns the pairs."""
    import os

    home = store.state.resolve()
    pairs = tuple(
        (os.path.relpath(os.path.normpath(home / one.link)), os.path.relpath(home / one.kept)) for one in record.replaced
    )
    for output, kept in pairs:
        console.say(f"{output} was there before and is kept at {kept}")
    return pairs


def withdraw(policy: Path, settings: Settings, release: str, reason: str, console: Console) -> Ending:
    """Take the current release back; its output paths show nothing any more."""
    from privrelease.errors import UsageError
    from privrelease.execute.common.scope import release_name

    if not reason.strip():
        raise UsageError(code="C112", message="a reason is needed", hint="write --reason 'why it is taken back'")
    _, plan = settings.load(policy)
    store = settings.store(plan)
    store.recover()
    record = store.withdraw(release_name(chosen(plan, (release,))[0], plan), reason.strip())
    console.data(f"withdrawn  run {record.run}: {reason.strip()}")
    return Ending(0, f"release {release} is withdrawn; whoever has a copy keeps it")


def signoff_of(folder: Path) -> object | None:
    """Return what is recorded of a run's sign-off; None where nothing is."""
    import json

    path = folder / "internal" / "signoff.json"
    return json.loads(path.read_bytes()) if path.is_file() else None


def _record_signoff(parked: _Parked, approvals: ApprovalsPlan, found: Approvals) -> None:
    """Keep the approvals that count beside the audit, and show them in the internal report."""
    from privrelease.audit.document.signoff import SignoffFacts, SignoffRecord, with_signoff
    from privrelease.release.files import canonical_json
    from privrelease.report.pages.html import render_html
    from privrelease.report.view.edition import Edition

    records = tuple(
        SignoffRecord(
            role=approval.role,
            approver=approval.approver,
            signed_at=f"{approval.signed_at:%Y-%m-%dT%H:%M:%SZ}",
            key=key,
            manifest_sha256=approval.digests.manifest,
            audit_sha256=approval.digests.audit,
        )
        for approval, key in found.counting
    )
    facts = SignoffFacts(required=approvals.required, approvals=records)
    page = render_html(with_signoff(parked.audit, facts), Edition.INTERNAL).encode()
    parked.store.sign_off(parked.run.id, canonical_json(facts.model_dump(mode="json")), page)
