"""Running the releases of a policy: protect, audit, report, then publish, park or quarantine. Each release is independent."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, Literal

from privrelease.audit.document.model import FindingRecord, Outcome, Visibility
from privrelease.errors import InputError, PrivreleaseError, UnseenReleaseError, UsageError
from privrelease.interruption import heed, is_interruption
from privrelease.pipeline.kinds import kind_of
from privrelease.pipeline.publication_log import announcer, require_log
from privrelease.pipeline.publishing import approvers_of, kept_files, removed_files, required_signoff, say_standing
from privrelease.pipeline.results import ReleaseResult, RunResult, not_made, warned
from privrelease.pipeline.settings import chosen
from privrelease.pipeline.world import require_offered
from privrelease.release.digests import DIGEST_KEY
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from privrelease.audit.document.model import AuditResult
    from privrelease.pipeline.results import Became
    from privrelease.pipeline.world import World
    from privrelease.plan.model import Plan, ReleasePlan
    from privrelease.policy.loader import LoadedPolicy
    from privrelease.release.manifest import InputDigest
    from privrelease.release.rehearsal import Rehearsal
    from privrelease.release.runs import RunFolder
    from privrelease.release.store import ReleaseStore
    from privrelease.report.view.standing import StandingState

__all__ = ["DRY_RUN_SUBJECT", "Work", "prepare", "published_runs", "require_logged", "run", "tidy"]


@dataclass(frozen=True, slots=True)
class Work:
    """The releases of a run and what they share. ``editions``: of the report. ``stop_at_warnings``: a warning fails a release, too.
    ``dry``: nothing is published, parked or charged. ``inputs``: the files that each release must have read, by its id.
    ``file``: the policy's.
    """

    plan: Plan
    releases: tuple[ReleasePlan, ...]
    world: World
    store: ReleaseStore
    editions: tuple[str, ...] = ("internal", "recipient")
    stop_at_warnings: bool = False
    dry: bool = False
    inputs: Mapping[str, tuple[InputDigest, ...]] | None = None
    file: Path | None = None


def prepare(
    loaded: LoadedPolicy, plan: Plan, ids: Sequence[str], world: World, *, stop_at_warnings: bool = False, dry: bool = False
) -> Work:
    """Choose releases and see that their approvers can sign. Raises UsageError (C103, C167), PolicyError (P615), InputError (R150 to R152)."""
    if dry and world.settings.test_noise is not None:
        raise UsageError(
            code="C167",
            message="a dry run draws no noise, and test noise is for runs",
            hint="leave out one of --dry-run and --test-noise",
        )
    releases = chosen(plan, ids)
    require_offered(releases, world.offers())
    if os.environ.get(DIGEST_KEY) == "":
        world.log(f"{DIGEST_KEY} is empty: the key in the state folder is used, as if the variable were not set")
    if plan.approvals is not None:
        approvers_of(plan.approvals)
    editions = ("internal", "recipient") if loaded.policy.report is None else tuple(loaded.policy.report.editions)
    return Work(plan, releases, world, world.settings.store(plan), editions, stop_at_warnings, dry, file=loaded.path)


def tidy(work: Work) -> tuple[str, ...]:
    """See that every output can be published, and clear up after runs that were killed before a decision; return their ids."""
    from privrelease.execute.common.scope import release_name

    work.store.check_outputs([release.sinks for release in work.releases])
    if work.file is not None and work.world.settings.test_noise is None:
        for release in work.releases:
            work.store.require_one_policy(release_name(release, work.plan), work.file, release.sinks)
    return tuple(work.store.recover())


def require_logged(work: Work) -> None:
    """See, before any work, that publications can be recorded. Releases with test noise, and those of a dry run, are never published.

    Raises InputError (R190 to R195): the log of publications cannot be written, or is not what was written.
    """
    if work.world.settings.test_noise is None and not work.dry:
        require_log(work.plan, work.store, work.world.kinds)


def published_runs(work: Work) -> dict[str, str]:
    """Return the run that is published of each release of the work, by the release's id. Reads alone, so that it is true whatever was interrupted."""
    from privrelease.execute.common.scope import release_name

    found = ((release.id, work.store.current(release_name(release, work.plan))) for release in work.releases)
    return {name: run.id for name, run in found if run is not None}


def run(work: Work, ended: Callable[[ReleaseResult], None] | None = None) -> RunResult:
    """Run the releases one after the other. ``ended``: called with the result of each as soon as it is known.

    Whatever stops a release is reported in its result and does not stop the others, but for a person who interrupts
    (KeyboardInterrupt).
    """
    if work.dry:
        from privrelease.release.rehearsal import Rehearsal

        with Rehearsal(work.store.state).opened() as store:
            return _each(work, lambda release: _rehearsed(work, release, store), ended)
    return _each(work, lambda release: _one(work, release), ended)


def _each(work: Work, one: Callable[[ReleasePlan], ReleaseResult], ended: Callable[[ReleaseResult], None] | None) -> RunResult:
    results = []
    for release in work.releases:
        heed()
        results.append(_alone(one, release))
        if ended is not None:
            ended(results[-1])
    return RunResult(work.plan.policy_id, work.plan.policy_version, tuple(results))


def _alone(one: Callable[[ReleasePlan], ReleaseResult], release: ReleasePlan) -> ReleaseResult:
    """Run one release; whatever stops it does not stop the others, but for a person who interrupts."""
    try:
        return one(release)
    except Exception as error:  # noqa: BLE001 -- each release is independent, and what is raised is reported without its text
        if is_interruption(error):
            raise KeyboardInterrupt from None
        return ReleaseResult(release.id, "failed", f"release {release.id}: stopped", error=error)


def _one(work: Work, release: ReleasePlan) -> ReleaseResult:
    from privrelease.audit.checks.waivers import with_waivers
    from privrelease.execute.common.scope import release_name

    progress = work.world.progress(release.id)
    kind = kind_of(release, work.world.kinds)
    with work.store.start(release_name(release, work.plan), release.sinks, work.file) as folder:
        audit = kind.execute(release, work.plan, work.world, work.store, folder, progress)
        _require_inputs(work, release, folder)
        return _settled(
            work, release, folder, _since_previous(work, release, required_signoff(work.plan, with_waivers(audit, work.plan)))
        )


def _require_inputs(work: Work, release: ReleasePlan, folder: RunFolder) -> None:
    """Raise InputError (C169) where a release read other files than it must have: they were changed after the run had begun."""
    if work.inputs is not None and kind_of(release, work.world.kinds).inputs(folder) != work.inputs.get(release.id):
        raise InputError(
            code="C169",
            message=f"release {release.id} read other data than the saved plan was made for",
            hint="let whoever writes the data finish, then plan and review again",
        )


def _rehearsed(work: Work, release: ReleasePlan, store: Rehearsal) -> ReleaseResult:
    """Do all but publish: protect, audit and render, and leave nothing but the reports. A release that charges a budget is not executed."""
    from privrelease.audit.checks.waivers import with_waivers
    from privrelease.audit.document.schema import audit_bytes
    from privrelease.execute.common.scope import release_name

    progress = work.world.progress(release.id)
    kind = kind_of(release, work.world.kinds)
    name = release_name(release, work.plan)
    if kind.rehearse is not None:
        said = kind.rehearse(release, replace(work.plan, releases=work.releases), work.world, progress)
        return ReleaseResult(release.id, "rehearsed", f"release {release.id}: {said}")
    if kind.accounted:
        return ReleaseResult(
            release.id, "rehearsed", f"release {release.id}: a {kind.name} charges a budget and has no dry run"
        )
    folder = store.begin(name, release.sinks)
    audit = kind.execute(release, work.plan, work.world, store, folder, progress)
    _require_inputs(work, release, folder)
    audit = _since_previous(work, release, required_signoff(work.plan, with_waivers(audit, work.plan)))
    would = _outcome(work, audit)
    if would == "published":
        folder.audit.write_bytes(audit_bytes(audit))
        store.show(folder)
    audit = audit.model_copy(update={"findings": (_DRY, *audit.findings)})
    files = _write_rehearsal(work, store.reports(name), audit, recipient=would != "quarantined")
    reason = f"release {release.id}: dry run, {_WOULD[would]}; nothing was published, parked or charged"
    return ReleaseResult(release.id, "rehearsed", reason, None, audit, files, would=would)


#: What the note of a dry run is about.
DRY_RUN_SUBJECT: Final = "dry-run"
_WOULD: Final = {
    "published": "it would be published",
    "parked": "it would be parked for a person",
    "quarantined": "it fails its audit",
}
_DRY: Final = FindingRecord(
    code="R229",
    message="this is the report of a dry run: nothing was published, parked or charged, and the files were removed",
    severity="info",
    hint="run without --dry-run to release",
    subject=DRY_RUN_SUBJECT,
    visibility=Visibility.PUBLIC,
)


def _outcome(work: Work, audit: AuditResult) -> Literal["published", "parked", "quarantined"]:
    """Return what becomes of a release by its audit."""
    outcome = audit.decision.outcome
    if outcome is Outcome.FAIL or (outcome is Outcome.PASS and warned(audit) and work.stop_at_warnings):
        return "quarantined"
    return "parked" if outcome is Outcome.REVIEW or work.plan.approvals is not None else "published"


def _since_previous(work: Work, release: ReleasePlan, audit: AuditResult) -> AuditResult:
    """Add what changed since the release that is published now; an unreadable audit is reported and passed over."""
    from privrelease.audit.comparison.audits import compare_with_previous
    from privrelease.execute.common.scope import release_name
    from privrelease.report.forms.json_report import read_audit

    previous = work.store.current(release_name(release, work.plan))
    if previous is None:
        return audit
    try:
        changed = compare_with_previous(read_audit(previous.audit, previous.audit.name), audit)
    except InputError as error:
        work.world.log(f"changes since the previous release are not shown: {error}")
        return audit
    except (ValueError, ArithmeticError):
        work.world.log("changes since the previous release are not shown: a section or figure of its audit cannot be read")
        return audit
    return audit.model_copy(update={"since": changed})


def _settled(work: Work, release: ReleasePlan, folder: RunFolder, audit: AuditResult) -> ReleaseResult:
    """Write audit and reports, record the decision, then publish, leave parked, or move to quarantine."""
    outcome = audit.decision.outcome
    fails = _outcome(work, audit) == "quarantined"
    stopped_by_warning = fails and outcome is not Outcome.FAIL
    standing: StandingState | None = "quarantined" if fails else "parked" if _outcome(work, audit) == "parked" else None
    _write_reports(work, folder, audit, standing, recipient=not fails)
    reason = "--fail-on warn: the audit warns" if stopped_by_warning else _reason(audit)
    if fails:
        work.store.decide(folder.id, "fail", reason)
        folder = work.store.quarantine(folder.id, reason)
        ran = ReleaseResult(release.id, "quarantined", f"release {release.id}: {reason}", folder.id, audit)
    elif outcome is Outcome.REVIEW:
        work.store.decide(folder.id, "review", reason)
        ran = ReleaseResult(release.id, "parked", f"release {release.id}: {reason}", folder.id, audit)
    elif work.plan.approvals is not None:
        work.store.decide(folder.id, "warn" if warned(audit) else "pass", "waits for approval")
        reason = f"release {release.id} waits as run {folder.id} for approval by: {', '.join(work.plan.approvals.required)}"
        ran = ReleaseResult(release.id, "parked", reason, folder.id, audit)
    else:
        work.store.decide(folder.id, "warn" if warned(audit) else "pass")
        folder, ran = _published(work, release, folder, audit)
    return replace(ran, files=_files(release, folder, ran.became))


def _published(work: Work, release: ReleasePlan, folder: RunFolder, audit: AuditResult) -> tuple[RunFolder, ReleaseResult]:
    """Publish, or move to quarantine where another release that the audit did not look at was published meanwhile."""
    from privrelease.pipeline.previous.published import require_audited_together

    guard = partial(require_audited_together, work.store, release, work.plan, folder, audit, work.world.kinds)
    try:
        announce = announcer(work.plan, work.store, guard, work.world.kinds)
        record = work.store.publish(folder.id, guard=guard, announce=announce)
    except UnseenReleaseError as error:
        folder = work.store.quarantine(folder.id, error.message)
        say_standing(work.store, audit, folder.record())
        reason = f"release {release.id}: {error.code}"
        return folder, ReleaseResult(release.id, "quarantined", reason, folder.id, audit, error=error)
    except BaseException:
        _say_unpublished(work.store, audit, folder)
        raise
    say_standing(work.store, audit, record)
    kept, removed = kept_files(work.store, record), removed_files(work.store, record)
    reason = f"release {release.id} is published{not_made(audit)}"
    return folder, ReleaseResult(release.id, "published", reason, folder.id, audit, kept=kept, removed=removed)


def _say_unpublished(store: ReleaseStore, audit: AuditResult, folder: RunFolder) -> None:
    """Write the internal page of a run whose publication was stopped; it says nothing of what became of it."""
    from privrelease.report.pages.html import render_html
    from privrelease.report.view.edition import Edition

    with suppress(PrivreleaseError):  # what stopped the publication is the one to tell
        store.say_standing(folder.id, render_html(audit, Edition.INTERNAL).encode())


def _write_reports(
    work: Work, folder: RunFolder, audit: AuditResult, standing: StandingState | None, *, recipient: bool
) -> None:
    """Write the audit and its pages. ``standing``: what becomes of the release for certain; where none, it is to be published, and the internal page
    is written once it is: see :func:`_published`.
    """
    from privrelease.audit.document.schema import audit_bytes
    from privrelease.release.files import os_errors, write_atomically
    from privrelease.report.pages.html import render_html
    from privrelease.report.view.edition import Edition
    from privrelease.report.view.standing import Standing

    with os_errors("writing the report"):
        write_atomically(folder.audit, audit_bytes(audit))
        if standing is not None:
            page = render_html(audit, Edition.INTERNAL, standing=Standing(state=standing))
            write_atomically(folder.report, page.encode())
        if recipient and "recipient" in work.editions:
            write_atomically(folder.recipient_report, render_html(audit, Edition.RECIPIENT).encode())


def _write_rehearsal(work: Work, folder: Path, audit: AuditResult, *, recipient: bool) -> dict[str, str]:
    """Write audit and reports of a dry run over those of the last; return their paths by name."""
    from privrelease.audit.document.schema import audit_bytes
    from privrelease.release.files import os_errors, write_atomically
    from privrelease.report.pages.html import render_html
    from privrelease.report.view.edition import Edition
    from privrelease.report.view.standing import Standing

    report, page, file = (folder / name for name in ("report.html", "report.recipient.html", "audit.json"))
    with os_errors("writing the report"):
        write_atomically(file, audit_bytes(audit))
        write_atomically(report, render_html(audit, Edition.INTERNAL, standing=Standing(state="rehearsed")).encode())
        page.unlink(missing_ok=True)
        if recipient and "recipient" in work.editions:
            write_atomically(page, render_html(audit, Edition.RECIPIENT).encode())
    found = {"report": report, "recipient report": page, "audit": file}
    return {name: str(path) for name, path in found.items() if path.is_file()}


def _reason(audit: AuditResult) -> str:
    """Give the first reason in words; the report has all."""
    reasons = audit.decision.reasons
    more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
    return f"{reasons[0]}{more}" if reasons else audit.decision.outcome.value


def _files(release: ReleasePlan, folder: RunFolder, became: Became) -> dict[str, str]:
    """Return where what can be read is: outputs only where they were published."""
    files = {"report": str(folder.report), "audit": str(folder.audit)}
    if became == "published":
        files |= {sink.label: str(sink.path) for sink in release.sinks}
        if folder.recipient_report.is_file():
            files["recipient report"] = str(release.sinks[0].path.parent / folder.recipient_report.name)
        files["manifest"] = str(release.sinks[0].path.parent / folder.manifest_path.name)
    elif became == "parked":
        files["parked in"] = str(folder.path)
    else:
        files["quarantine"] = str(folder.path)
    return files
