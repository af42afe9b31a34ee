"""``privrelease run``: protect, audit, report, then publish, park or quarantine. Each release of a policy stands alone."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from privrelease.audit.document.model import Outcome
from privrelease.cli.ci_output import check_summary, for_pipeline, stopped_in_form
from privrelease.cli.commands.publishing import approvers_of, kept_files, required_signoff
from privrelease.cli.commands.run_statistics import audited_statistics
from privrelease.cli.commands.run_tables import audited_table
from privrelease.cli.console import FailOn
from privrelease.cli.exit import MEANINGS, Ending, ending_of, is_interruption
from privrelease.cli.findings_output import report_findings
from privrelease.cli.json_values import finding_value, record_value
from privrelease.cli.progress import Steps
from privrelease.cli.settings import chosen, versions
from privrelease.errors import InputError, UnseenReleaseError
from privrelease.findings import pluralise
from privrelease.release.digests import DIGEST_KEY

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from privrelease.audit.comparison.previous_release import EarlierReleases
    from privrelease.audit.document.model import AuditResult, CheckResult
    from privrelease.cli.console import Console
    from privrelease.cli.settings import Settings
    from privrelease.engine.protocol.audit import AuditEngine
    from privrelease.execute.microdata.run import ParkedRelease
    from privrelease.plan.model import MicrodataPlan, Plan, ReleasePlan
    from privrelease.plan.statistics.plan import StatisticsPlan
    from privrelease.plan.tables.plan import TablePlan
    from privrelease.release.runs import RunFolder
    from privrelease.release.store import ReleaseStore

__all__ = ["not_made", "run", "warned", "worst"]

Became = Literal["published", "parked", "quarantined", "failed"]

#: Exit codes from the worst to the best: a fault of ours, what could not run, what must not leave, what waits, what passed.
_WORST_FIRST = (70, 2, 3, 4, 1, 5, 0)


@dataclass(frozen=True, slots=True)
class _Ran:
    """What became of one release."""

    release: str
    ending: Ending
    became: Became
    run: str | None = None
    audit: AuditResult | None = None
    files: dict[str, str] = field(default_factory=dict)
    kept: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class _Work:
    """What every release of a run shares."""

    plan: Plan
    settings: Settings
    store: ReleaseStore
    fail_on: FailOn
    editions: tuple[str, ...]
    console: Console


def run(policy: Path, settings: Settings, ids: Sequence[str], fail_on: FailOn, console: Console) -> Ending:
    """Run releases of a policy, report all, and end with the worst exit code."""
    with stopped_in_form("run", policy, console):
        loaded, plan = settings.load(policy)
        for finding in loaded.warnings:
            console.log(str(finding))
        releases = chosen(plan, ids)
        if os.environ.get(DIGEST_KEY) == "":
            console.log(f"{DIGEST_KEY} is empty: the key in the state folder is used, as if the variable were not set")
        if plan.approvals is not None:
            approvers_of(plan.approvals)
        check_summary(console)
        store = settings.store(plan)
        store.check_outputs([release.sinks for release in releases])
        for abandoned in store.recover():
            console.log(f"cleared up after run {abandoned}, which was killed before a decision")
    editions = ("internal", "recipient") if loaded.policy.report is None else tuple(loaded.policy.report.editions)
    work = _Work(plan, settings, store, fail_on, editions, console)
    ran = [_alone(work, release) for release in releases]
    if console.json:
        console.document({"policy": plan.policy_id, "version": plan.policy_version, "releases": [_value(one) for one in ran]})
    stopped = [finding for one in ran for finding in one.ending.findings]
    for_pipeline("run", policy, [one.audit for one in ran if one.audit is not None], stopped, console)
    if len(ran) == 1:
        return replace(ran[0].ending, said="")
    bad = ", ".join(f"{one.release} ({MEANINGS[one.ending.code]})" for one in ran if one.ending.code)
    return Ending(worst([one.ending.code for one in ran]), bad or f"{len(ran)} releases")


def worst(codes: Sequence[int]) -> int:
    """Return the exit code that stands for several; one that no command gives (a killed one's) is the worst.

    >>> worst([0, 5, 1]), worst([0, 5]), worst([]), worst([70, -9])
    (1, 5, 0, -9)
    """
    return min(codes, key=lambda code: _WORST_FIRST.index(code) if code in _WORST_FIRST else -1, default=0)


def warned(audit: AuditResult) -> bool:
    """Whether a check or a finding of the audit warns; one that nothing may depend on is passed over."""
    return any(check.outcome is Outcome.WARN and not check.private for check in audit.checks) or any(
        finding.severity == "warn" for finding in audit.findings
    )


def not_made(audit: AuditResult) -> str:
    """Say after a verdict how many checks could not be made; nothing where all were."""
    n = audit.decision.checks_not_made
    return f"; {pluralise(n, 'check')} could not be made" if n else ""


def _alone(work: _Work, release: ReleasePlan) -> _Ran:
    """Run one release; whatever stops it does not stop the others, but for a person who interrupts."""
    try:
        return _one(work, release)
    except Exception as error:  # noqa: BLE001 -- each release stands alone, and what is raised is told without its text
        if is_interruption(error):
            raise KeyboardInterrupt from None
        ending = ending_of(error, crash_folder=work.store.state)
    work.console.say(ending.said)
    work.console.log(
        f"release {release.id}: no report, since it was stopped before its audit was complete; nothing was published"
    )
    if work.console.text:
        why = [f"{finding.code} {finding.message}" for finding in ending.findings] or ending.said.splitlines()[:1]
        work.console.data(
            "\n".join([f"release {release.id}: STOPPED ({MEANINGS[ending.code]})", *(f"  {one}" for one in why), "  failed"])
        )
    return _Ran(release.id, replace(ending, reason=f"release {release.id}: {ending.reason}"), "failed")


def _one(work: _Work, release: ReleasePlan) -> _Ran:
    from privrelease.audit.checks.waivers import with_waivers
    from privrelease.execute.common.scope import release_name
    from privrelease.plan.model import MicrodataPlan

    steps = Steps(work.console, release.id)
    with work.store.start(release_name(release, work.plan), release.sinks) as folder:
        if isinstance(release, MicrodataPlan):
            audit = _audited_microdata(work, release, folder, steps)
        else:
            audit = _audited_figures(work, release, folder, steps)
        return _settled(
            work, release, folder, _since_previous(work, release, required_signoff(work.plan, with_waivers(audit, work.plan)))
        )


def _audited_figures(work: _Work, release: StatisticsPlan | TablePlan, folder: RunFolder, steps: Steps) -> AuditResult:
    from privrelease.plan.tables.plan import TablePlan

    if isinstance(release, TablePlan):
        return audited_table(release, work.plan, work.settings, work.store, folder, steps)
    return audited_statistics(release, work.plan, work.settings, work.store, folder, steps)


def _audited_microdata(work: _Work, release: MicrodataPlan, folder: RunFolder, steps: Steps) -> AuditResult:
    from privrelease.cli.earlier import published_before, readable_too
    from privrelease.engine.duckdb import DuckDBEngine
    from privrelease.execute.common.scope import engine_settings
    from privrelease.execute.microdata.run import run_microdata

    limits = engine_settings(release, folder, memory_limit=work.settings.memory_limit, threads=work.settings.threads)
    limits = work.settings.engine(limits)
    with DuckDBEngine(limits) as engine:
        parked = run_microdata(release, work.plan, engine=engine, store=work.store, run=folder, progress=steps)
    steps("audit", None)
    earlier = published_before(work.store, release, work.plan, folder.id)
    readable = (*limits.readable, folder.outgoing, folder.internal)
    with DuckDBEngine(readable_too(replace(limits, readable=readable, writable=()), earlier)) as engine:
        return _audited(work, release, parked, earlier, engine)


def _audited(
    work: _Work, release: MicrodataPlan, parked: ParkedRelease, earlier: EarlierReleases, engine: AuditEngine
) -> AuditResult:
    from privrelease.audit.microdata.audit import audit_microdata
    from privrelease.audit.microdata.target import AuditTarget
    from privrelease.release.store import now

    files = tuple(replace(sink, path=path) for sink, path in zip(release.sinks, parked.run.data, strict=True))
    target = AuditTarget(files, parked.run.row_map, manifest=parked.manifest, internal=parked.internal, run=parked.run.id)
    moment = f"{now():%Y-%m-%dT%H:%M:%SZ}"
    return audit_microdata(release, work.plan, target, engine=engine, audited_at=moment, versions=versions(), earlier=earlier)


def _since_previous(work: _Work, release: ReleasePlan, audit: AuditResult) -> AuditResult:
    """Add what changed since the release that is published now; an audit that cannot be read any more is told and passed over."""
    from privrelease.audit.comparison.audits import compare_with_previous
    from privrelease.audit.document.changes import SECTION
    from privrelease.execute.common.scope import release_name
    from privrelease.report.forms.json_report import read_audit

    previous = work.store.current(release_name(release, work.plan))
    if previous is None:
        return audit
    try:
        changed = compare_with_previous(read_audit(previous.audit, previous.audit.name), audit)
    except InputError as error:
        work.console.log(f"changes since the previous release are not shown: {error}")
        return audit
    except (ValueError, ArithmeticError):
        work.console.log("changes since the previous release are not shown: a section or figure of its audit cannot be read")
        return audit
    return audit.model_copy(update={"sections": {**audit.sections, SECTION: changed}})


def _settled(work: _Work, release: ReleasePlan, folder: RunFolder, audit: AuditResult) -> _Ran:
    """Write audit and reports, record the decision, then publish, leave parked, or move to quarantine."""
    outcome = audit.decision.outcome
    stopped_by_warning = outcome is Outcome.PASS and warned(audit) and work.fail_on is FailOn.WARN
    fails = outcome is Outcome.FAIL or stopped_by_warning
    _write_reports(work, folder, audit, recipient=not fails)
    reason = "--fail-on warn: the audit warns" if stopped_by_warning else _reason(audit)
    if fails:
        work.store.decide(folder.id, "fail", reason)
        folder = work.store.quarantine(folder.id, reason)
        ran = _Ran(release.id, Ending(1, f"release {release.id}: {reason}"), "quarantined", folder.id, audit)
    elif outcome is Outcome.REVIEW:
        work.store.decide(folder.id, "review", reason)
        ran = _Ran(release.id, Ending(5, f"release {release.id}: {reason}"), "parked", folder.id, audit)
    elif work.plan.approvals is not None:
        work.store.decide(folder.id, "warn" if warned(audit) else "pass", "waits for approval")
        reason = f"release {release.id} waits as run {folder.id} for approval by: {', '.join(work.plan.approvals.required)}"
        ran = _Ran(release.id, Ending(5, reason), "parked", folder.id, audit)
    else:
        work.store.decide(folder.id, "warn" if warned(audit) else "pass")
        folder, ran = _published(work, release, folder, audit)
    ran = replace(ran, files=_files(release, folder, ran.became))
    _tell(work.console, ran, audit)
    return ran


def _published(work: _Work, release: ReleasePlan, folder: RunFolder, audit: AuditResult) -> tuple[RunFolder, _Ran]:
    """Publish, or move to quarantine where another release that the audit did not look at was published meanwhile."""
    from privrelease.cli.earlier import require_audited_together

    guard = partial(require_audited_together, work.store, release, work.plan, folder, audit)
    try:
        record = work.store.publish(folder.id, guard=guard)
    except UnseenReleaseError as error:
        work.console.say(str(error))
        folder = work.store.quarantine(folder.id, error.message)
        ending = replace(ending_of(error), reason=f"release {release.id}: {error.code}")
        return folder, _Ran(release.id, ending, "quarantined", folder.id, audit)
    kept = kept_files(work.store, record, work.console)
    ending = Ending(0, f"release {release.id} is published{not_made(audit)}")
    return folder, _Ran(release.id, ending, "published", folder.id, audit, kept=kept)


def _write_reports(work: _Work, folder: RunFolder, audit: AuditResult, *, recipient: bool) -> None:
    from privrelease.audit.document.schema import audit_bytes
    from privrelease.release.files import os_errors, write_atomically
    from privrelease.report.pages.html import render_html
    from privrelease.report.view.edition import Edition

    with os_errors("writing the report"):
        write_atomically(folder.audit, audit_bytes(audit))
        write_atomically(folder.report, render_html(audit, Edition.INTERNAL).encode())
        if recipient and "recipient" in work.editions:
            write_atomically(folder.recipient_report, render_html(audit, Edition.RECIPIENT).encode())


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


def _tell(console: Console, ran: _Ran, audit: AuditResult) -> None:
    from privrelease.report.forms.text import render_text

    report_findings(audit.findings, console)
    if not console.text:
        return
    console.data(render_text(audit))
    width = max(map(len, ran.files))
    console.data(f"  {ran.became}")
    for name, path in ran.files.items():
        console.data(f"  {name:<{width}}  {_short(path)}")


def _short(path: str) -> str:
    """Return a path as seen from here, where that is shorter."""
    try:
        near = os.path.relpath(path)
    except ValueError:
        return path
    return near if not near.startswith("..") else path


def _value(ran: _Ran) -> dict[str, object]:
    audit = ran.audit
    return {
        "release": ran.release,
        "became": ran.became,
        "run": ran.run,
        "exit_code": ran.ending.code,
        "reason": ran.ending.reason,
        "outcome": None if audit is None else audit.decision.outcome.value,
        "checks_passed": None if audit is None else audit.decision.checks_passed,
        "checks_total": None if audit is None else audit.decision.checks_total,
        "checks_not_made": None if audit is None else audit.decision.checks_not_made,
        "findings": [
            *map(finding_value, ran.ending.findings),
            *(map(record_value, audit.findings) if audit is not None else ()),
        ],
        "checks": [] if audit is None else [_check(check) for check in audit.checks],
        "files": ran.files,
        "kept": [{"output": output, "kept": place} for output, place in ran.kept],
    }


def _check(check: CheckResult) -> dict[str, object]:
    return {
        "id": check.id,
        "outcome": check.outcome.value,
        "severity": check.severity,
        "message": check.message,
        "waived": check.waived,
    }
