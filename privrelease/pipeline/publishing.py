"""Approving, publishing and withdrawing: what a person decides about a parked release. Nothing is executed again."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privrelease.pipeline.kinds import KINDS
from privrelease.pipeline.publication_log import announcer, require_log
from privrelease.pipeline.settings import chosen
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privrelease.audit.document.model import AuditResult
    from privrelease.audit.document.signoff import WaiverRecord
    from privrelease.errors import PrivreleaseError, UsageError
    from privrelease.findings import Finding
    from privrelease.pipeline.kinds import Kind
    from privrelease.pipeline.settings import Settings
    from privrelease.plan.approvals import ApprovalsPlan
    from privrelease.plan.model import Plan
    from privrelease.release.approvals import Approvals
    from privrelease.release.approvers import Approver
    from privrelease.release.runs import RunFolder, RunRecord
    from privrelease.release.store import ReleaseStore

__all__ = [
    "Approved",
    "Publishable",
    "Published",
    "approve",
    "approvers_of",
    "kept_files",
    "publish",
    "publishable",
    "removed_files",
    "required_signoff",
    "say_standing",
    "signoff_of",
    "withdraw",
]


@dataclass(frozen=True, slots=True)
class _Parked:
    """A run, and the policy as it is now, in the environment that the run had."""

    plan: Plan
    store: ReleaseStore
    run: RunFolder
    audit: AuditResult
    kinds: Sequence[Kind[Any]] = KINDS

    @property
    def waivers(self) -> tuple[WaiverRecord, ...]:
        """The run's open waivers: those that let a failed check pass."""
        facts = self.audit.waivers
        return () if facts is None else tuple(one for one in facts.waivers if one.counts)

    @property
    def owners(self) -> tuple[str, ...]:
        """Owners of the run's open waivers."""
        return tuple(one.owner for one in self.waivers)


def _parked(policy: Path, settings: Settings, run_id: str, kinds: Sequence[Kind[Any]]) -> _Parked:
    from privrelease.release.store import ReleaseStore
    from privrelease.report.forms.json_report import read_audit

    home = settings.state or state_of_run(Path(run_id))
    store = ReleaseStore.beside(policy) if home is None else ReleaseStore(home)
    store.recover()
    run = store.named(run_id)
    _, plan = replace(settings, environment=run.record().environment).load(policy, kinds)
    return _Parked(plan, store, run, read_audit(run.audit, run.audit.name), kinds)


def state_of_run(folder: Path) -> Path | None:
    """Return the state folder of a run that is named by its folder; None where it is named by its id."""
    return folder.resolve().parents[1] if len(folder.parts) > 1 and (folder / "internal" / "state.json").is_file() else None


def approvers_of(approvals: ApprovalsPlan) -> tuple[Approver, ...]:
    """Read the approvers of a policy and see that every required role can be signed for. Raises InputError (R150 to R152)."""
    from privrelease.release.approvers import load_approvers, require_approvers
    from privrelease.release.store import now

    approvers = load_approvers(approvals.keys, approvals.label)
    require_approvers(approvals.required, approvers, now().date(), approvals.label)
    return approvers


def required_signoff(plan: Plan, audit: AuditResult) -> AuditResult:
    """Return the audit with the language of its reports, and the approvals that the policy requires, which no one can have given yet."""
    from privrelease.audit.document.signoff import SignoffFacts, with_signoff

    audit = audit if plan.language in {None, "en"} else audit.model_copy(update={"language": plan.language})
    return audit if plan.approvals is None else with_signoff(audit, SignoffFacts(required=plan.approvals.required))


def _changed(parked: _Parked) -> tuple[Finding, ...]:
    """Return findings on what differs from the decision: files of the run, the policy, or waivers that have expired since."""
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


@dataclass(frozen=True, slots=True)
class Approved:
    """An approval. ``changed``: what is not as it was decided upon, so that nothing was signed; ``missing``: roles that have not approved."""

    run: str
    role: str = ""
    approver: str = ""
    missing: tuple[str, ...] = ()
    changed: tuple[Finding, ...] = ()


def approve(
    policy: Path,
    settings: Settings,
    run_id: str,
    role: str,
    key: tuple[Path | None, str | None],
    *,
    kinds: Sequence[Kind[Any]] = KINDS,
) -> Approved:
    """Sign the digests of a parked release, named by its run's id or folder, in a role. Publishes nothing."""
    from privrelease.errors import InputError
    from privrelease.pipeline.signing import signing_key
    from privrelease.release.approvals import approvals_of
    from privrelease.release.approvals import approve as sign
    from privrelease.release.runs import RunState
    from privrelease.release.store import now

    parked = _parked(policy, settings, run_id, kinds)
    approvals = parked.plan.approvals
    record = parked.run.record()
    if approvals is None:
        raise InputError(
            code="R154", message="the policy requires no approval", hint="write `approvals: {required: [dpo], keys: …}`"
        )
    if record.state is not RunState.PARKED or record.decided is None or record.decided.outcome == "fail":
        raise InputError(
            code="R122",
            message=f"run {record.run} is {record.state.value}: only a parked release is approved",
            hint="run it again",
        )
    if role not in approvals.required:
        raise _no_role(role, approvals)
    findings = _changed(parked)
    if findings:
        return Approved(parked.run.id, changed=findings)
    approvers = approvers_of(approvals)
    made = sign(parked.run, role, signing_key(*key), approvers, parked.owners, now())
    found = approvals_of(parked.run, approvers, parked.owners, now())
    _record_signoff(parked, approvals, found)
    return Approved(parked.run.id, made.role, made.approver, found.missing(approvals.required))


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


@dataclass(frozen=True, slots=True)
class Publishable:
    """A parked run, and whether it may be published: nothing is changed, and it is approved by all who must."""

    parked: _Parked
    release: str
    changed: tuple[Finding, ...] = ()
    """Findings about what is not as it was decided upon."""
    discounted: tuple[Finding, ...] = ()
    """Approvals that do not count, and why."""
    missing: tuple[str, ...] = ()
    """Roles that have not approved."""
    unreviewed: bool = False
    """A person has to decide, and the policy names no one who could."""
    approvals: Approvals | None = None

    @property
    def ready(self) -> bool:
        """Return True if nothing prevents its publication."""
        return not (self.changed or self.missing or self.unreviewed)

    @property
    def run(self) -> str:
        """The run's id."""
        return self.parked.run.id

    @property
    def shown(self) -> bool:
        """Return True if it is what is published now."""
        current = self.parked.store.current(self.parked.run.record().name)
        return current is not None and current.id == self.run


@dataclass(frozen=True, slots=True)
class Published:
    """A release that was published. ``outputs``: as the policy names them; ``kept``: what was there before, and where it is kept; ``removed``: output
    paths of the run before it that show nothing any more.
    """

    release: str
    outputs: tuple[str, ...]
    kept: tuple[tuple[str, str], ...] = ()
    removed: tuple[str, ...] = ()


def publishable(policy: Path, settings: Settings, run_id: str, *, kinds: Sequence[Kind[Any]] = KINDS) -> Publishable:
    """Verify digests and signatures of a parked release, named by its run's id or folder, and that its publication can be recorded. Publishes
    nothing.

    Raises InputError (R190 to R195): the log of publications cannot be written, or is not what was written.
    """
    from privrelease.release.approvals import approvals_of
    from privrelease.release.store import now

    parked = _parked(policy, settings, run_id, kinds)
    require_log(parked.plan, parked.store, parked.kinds)
    record, approvals = parked.run.record(), parked.plan.approvals
    findings = _changed(parked)
    if findings:
        return Publishable(parked, record.release, findings)
    if approvals is None:
        return Publishable(parked, record.release, unreviewed=record.decided is not None and record.decided.outcome == "review")
    found = approvals_of(parked.run, approvers_of(approvals), parked.owners, now())
    if found.altered:
        return Publishable(parked, record.release, tuple(found.altered))
    missing = found.missing(approvals.required)
    return Publishable(parked, record.release, (), tuple(found.discounted), missing, approvals=found)


def publish(found: Publishable) -> Published:
    """Publish a parked release that may be published. No second draw, no second charge.

    Raises ValueError where it is not ready, UnseenReleaseError (R167) where another release that its audit did not look at was published; the run stays parked.
    """
    from privrelease.pipeline.previous.published import require_audited_together

    if not found.ready:
        message = "a run that is changed, not approved or not reviewed is not published"
        raise ValueError(message)
    parked = found.parked
    if parked.plan.approvals is not None and found.approvals is not None:
        _record_signoff(parked, parked.plan.approvals, found.approvals)
    release = chosen(parked.plan, (found.release,))[0]
    guard = partial(require_audited_together, parked.store, release, parked.plan, parked.run, parked.audit, parked.kinds)
    announce = announcer(parked.plan, parked.store, guard, parked.kinds)
    record = parked.store.publish(found.run, guard=guard, announce=announce)
    say_standing(parked.store, _signed(parked.run, parked.audit), record)
    kept, removed = kept_files(parked.store, record), removed_files(parked.store, record)
    return Published(found.release, tuple(sink.label for sink in release.sinks), kept, removed)


def kept_files(store: ReleaseStore, record: RunRecord) -> tuple[tuple[str, str], ...]:
    """Return the files that were at output paths before a release was published there, each with the place where it is kept."""
    home = store.state.resolve()
    return tuple(
        (os.path.relpath(os.path.normpath(home / one.link)), os.path.relpath(home / one.kept)) for one in record.replaced
    )


def removed_files(store: ReleaseStore, record: RunRecord) -> tuple[str, ...]:
    """Return the output paths that a release had before, and that its publication took away."""
    home = store.state.resolve()
    return tuple(os.path.relpath(os.path.normpath(home / link)) for link in record.removed)


def withdraw(
    policy: Path, settings: Settings, named: str, reason: str, *, kinds: Sequence[Kind[Any]] = KINDS
) -> tuple[RunRecord, PrivreleaseError | None]:
    """Take the current release back; its output paths show nothing any more. ``named``: the release's id, or its run by id or folder.

    Return its run, and why the log of publications could not record it (None: it did): a fault of the log does not keep a release published.
    Raises InputError (R122): the run that is named is not the published one.
    """
    from privrelease.errors import InputError, PrivreleaseError, UsageError
    from privrelease.execute.common.scope import release_name

    if not reason.strip():
        raise UsageError(code="C112", message="a reason is needed", hint="write --reason 'why it is taken back'")
    _, plan = settings.load(policy, kinds)
    known = {release.id for release in plan.releases}
    only = None
    if named not in known:
        settings = replace(settings, state=settings.state or state_of_run(Path(named)))
        try:
            only = settings.store(plan).named(named).record()
        except InputError as error:
            if error.code == "R123":
                chosen(plan, (named,))  # says which releases there are
            raise
        if only.policy != plan.policy_id:
            raise UsageError(
                code="C166",
                message=f"run {only.run} is of policy {only.policy}, not {plan.policy_id}",
                hint="name the policy that was run",
            )
        if only.environment != settings.environment:
            settings = replace(settings, environment=only.environment)
            _, plan = settings.load(policy, kinds)
    store = settings.store(plan)
    store.recover()
    name = release_name(chosen(plan, (named if only is None else only.release,))[0], plan)
    record = store.withdraw(name, reason.strip(), None if only is None else only.run)
    _say_withdrawn(store, record)
    try:
        require_log(plan, store, kinds)
    except PrivreleaseError as error:
        return record, error
    return record, None


def say_standing(store: ReleaseStore, audit: AuditResult, record: RunRecord) -> None:
    """Write the internal report of a run again, with what became of it. Nothing depends on it: that it cannot be written is no fault."""
    from privrelease.errors import PrivreleaseError
    from privrelease.report.pages.html import render_html
    from privrelease.report.view.edition import Edition
    from privrelease.report.view.standing import standing_of

    with suppress(PrivreleaseError):
        store.say_standing(record.run, render_html(audit, Edition.INTERNAL, standing=standing_of(record)).encode())


def _say_withdrawn(store: ReleaseStore, record: RunRecord) -> None:
    """Say in the report of a withdrawn run that it is; where its audit cannot be read, the report stays as it is."""
    from privrelease.errors import InputError
    from privrelease.report.forms.json_report import read_audit

    run = store.folder(record.run)
    with suppress(InputError):
        say_standing(store, _signed(run, read_audit(run.audit, run.audit.name)), record)


def _signed(run: RunFolder, audit: AuditResult) -> AuditResult:
    """Return the audit with the approvals that are recorded next to it."""
    from privrelease.audit.document.signoff import SignoffFacts, with_signoff

    recorded = signoff_of(run.path)
    return audit if recorded is None else with_signoff(audit, SignoffFacts.model_validate(recorded))


def signoff_of(folder: Path) -> object | None:
    """Return what is recorded of a run's sign-off; None where nothing is."""
    import json

    path = folder / "internal" / "signoff.json"
    return json.loads(path.read_bytes()) if path.is_file() else None


def _record_signoff(parked: _Parked, approvals: ApprovalsPlan, found: Approvals) -> None:
    """Keep the approvals that count next to the audit, and show them in the internal report."""
    from privrelease.audit.document.signoff import SignoffFacts, SignoffRecord, with_signoff
    from privrelease.release.files import canonical_json
    from privrelease.report.pages.html import render_html
    from privrelease.report.view.edition import Edition
    from privrelease.report.view.standing import Standing

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
    page = render_html(with_signoff(parked.audit, facts), Edition.INTERNAL, standing=Standing(state="parked")).encode()
    parked.store.sign_off(parked.run.id, canonical_json(facts.model_dump(mode="json")), page)
