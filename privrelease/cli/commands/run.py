"""``privrelease run``: the releases of a policy on the command line; each is reported as soon as it has ended."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from privrelease.cli.ci_output import check_summary, for_pipeline, stopped_in_form
from privrelease.cli.commands.publishing import say_kept, say_removed
from privrelease.cli.console import FailOn
from privrelease.cli.exit import INTERRUPTED, MEANINGS, Ending, ending_of, worst
from privrelease.cli.findings_output import finding_value, record_value, report_findings
from privrelease.cli.progress import world_of
from privrelease.pipeline import run as pipeline

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from privrelease.audit.document.model import AuditResult, CheckResult
    from privrelease.cli.console import Console
    from privrelease.pipeline.results import ReleaseResult
    from privrelease.pipeline.settings import Settings
    from privrelease.plan.model import Plan

__all__ = ["run"]

#: The exit code of a release that was not stopped, by what became of it.
_CODES: Final = {"published": 0, "quarantined": 1, "parked": 5, "rehearsed": 0}


def run(
    policy: Path,
    settings: Settings,
    ids: Sequence[str],
    fail_on: FailOn,
    console: Console,
    *,
    dry: bool = False,
    saved: Path | None = None,
) -> Ending:
    """Run releases of a policy, report all, and end with the worst exit code. ``dry``: all but the publication. ``saved``: a plan
    that must be what is run.
    """
    world = world_of(settings, console)
    with stopped_in_form("run", policy, console):
        loaded, plan = settings.load(policy)
        for finding in loaded.warnings:
            console.log(str(finding))
        asked = None
        if saved is not None:
            from privrelease.cli.commands.saved_plan import check_saved, read_saved

            asked = read_saved(saved)
        ids = ids if asked is None or ids else asked.releases
        work = pipeline.prepare(loaded, plan, ids, world, stop_at_warnings=fail_on is FailOn.WARN, dry=dry)
        if asked is not None:
            work = replace(work, inputs=check_saved(asked, loaded, plan, work.releases, settings, world.kinds))
        check_summary(console)
        for abandoned in pipeline.tidy(work):
            console.log(f"cleared up after run {abandoned}, which was killed before a decision")
        pipeline.require_logged(work)
    crash_folder = work.store.state
    told: list[tuple[ReleaseResult, Ending]] = []

    def ended(result: ReleaseResult) -> None:
        told.append((result, _ending(result, crash_folder)))
        _tell(*told[-1], console)

    before = pipeline.published_runs(work)
    try:
        pipeline.run(work, ended)
    except KeyboardInterrupt:
        if len(told) < len(work.releases):
            return _interrupted(work, told, before)
    try:
        return _reported(policy, plan, told, console, dry=dry)
    except KeyboardInterrupt:
        return _interrupted(work, told, before)


def _reported(policy: Path, plan: Plan, told: Sequence[tuple[ReleaseResult, Ending]], console: Console, *, dry: bool) -> Ending:
    """Report all releases together, and end with the worst exit code."""
    ran, endings = [one for one, _ in told], [ending for _, ending in told]
    if console.json:
        values = [_value(one, ending) for one, ending in told]
        console.document({"policy": plan.policy_id, "version": plan.policy_version, "releases": values})
    stopped = [finding for ending in endings for finding in ending.findings]
    for_pipeline("run", policy, [one.audit for one in ran if one.audit is not None], stopped, console)
    if len(endings) == 1:
        return _of_rehearsal(replace(endings[0], said="")) if dry else replace(endings[0], said="")
    bad: dict[int, list[str]] = {}
    for one, ending in told:
        if ending.code:
            bad.setdefault(ending.code, []).append(one.release)
    said = "; ".join(f"{', '.join(names)} ({MEANINGS[code]})" for code, names in bad.items()) or f"{len(endings)} releases"
    if len(bad) == 1:
        said = ", ".join(*bad.values())  # the line begins with what the code means
    code = worst([ending.code for ending in endings])
    return (
        _of_rehearsal(Ending(code, f"dry run, nothing was published, parked or charged; {said}")) if dry else Ending(code, said)
    )


def _of_rehearsal(ending: Ending) -> Ending:
    """Say of a dry run that something would be missing: nothing is parked."""
    return replace(ending, meaning="a required approval or review would be missing") if ending.code == 5 else ending


def _interrupted(work: pipeline.Work, told: Sequence[tuple[ReleaseResult, Ending]], before: Mapping[str, str]) -> Ending:
    """Say what was published and what was not, as the state folder shows it: the moment of publication may have passed unreported.

    ``before``: the runs that were published when the command began.
    """
    done = {one.release: one.became for one, _ in told}
    shown = {name: run for name, run in pipeline.published_runs(work).items() if name not in done and before.get(name) != run}
    if not done and not shown:
        return INTERRUPTED
    said = ["interrupted", *(f"release {name} was published, as run {run}" for name, run in shown.items())]
    if len(done) + len(shown) < len(work.releases):
        said.append("of the others nothing was published")
    if done:
        said.append(f"before that: {', '.join(f'{name} ({became})' for name, became in done.items())}")
    return Ending(INTERRUPTED.code, "; ".join(said))


def _ending(result: ReleaseResult, crash_folder: Path) -> Ending:
    """Say how a command ends with this release alone."""
    if result.error is None:
        return Ending(_CODES[result.would or result.became], result.reason)
    ending = ending_of(result.error, crash_folder=crash_folder)
    reason = result.reason if result.became == "quarantined" else f"release {result.release}: {ending.reason}"
    return replace(ending, reason=reason)


def _tell(result: ReleaseResult, ending: Ending, console: Console) -> None:
    if ending.said:
        console.say(ending.said)
    if result.became == "rehearsed" and result.audit is None:
        _tell_unaudited(result, console)
    elif result.audit is None:
        _tell_stopped(result, ending, console)
    else:
        say_kept(result.kept, console)
        say_removed(result.removed, console)
        _tell_audited(result, result.audit, console)


def _tell_unaudited(result: ReleaseResult, console: Console) -> None:
    """Report a dry run that ended before a draw."""
    if console.text:
        console.data(f"release {result.release}: NOT DRAWN\n  {result.reason.partition(': ')[2]}")


def _tell_stopped(result: ReleaseResult, ending: Ending, console: Console) -> None:
    console.log(
        f"release {result.release}: no report, since it was stopped before its audit was complete; nothing was published"
    )
    if console.text:
        why = [f"{finding.code} {finding.message}" for finding in ending.findings] or ending.said.splitlines()[:1]
        head = f"release {result.release}: STOPPED ({MEANINGS[ending.code]})"
        console.data("\n".join([head, *(f"  {one}" for one in why), "  failed"]))


def _tell_audited(result: ReleaseResult, audit: AuditResult, console: Console) -> None:
    from privrelease.report.forms.text import render_text

    report_findings(audit.findings, console, but={pipeline.DRY_RUN_SUBJECT})
    if not console.text:
        return
    console.data(render_text(audit))
    width = max(map(len, result.files))
    console.data(f"  {result.became}" if result.would is None else f"  {result.reason.partition(': ')[2]}")
    for name, path in result.files.items():
        console.data(f"  {name:<{width}}  {_short(path)}")


def _short(path: str) -> str:
    """Return a path as seen from here, where that is shorter."""
    try:
        near = os.path.relpath(path)
    except ValueError:
        return path
    return near if not near.startswith("..") else path


def _value(ran: ReleaseResult, ending: Ending) -> dict[str, object]:
    audit = ran.audit
    return {
        "release": ran.release,
        "became": ran.became,
        **({"would": ran.would} if ran.became == "rehearsed" else {}),
        "run": ran.run,
        "exit_code": ending.code,
        "reason": ending.reason,
        "outcome": None if audit is None else audit.decision.outcome.value,
        "checks_passed": None if audit is None else audit.decision.checks_passed,
        "checks_total": None if audit is None else audit.decision.checks_total,
        "checks_not_made": None if audit is None else audit.decision.checks_not_made,
        "checks_not_asked": None if audit is None else audit.decision.checks_not_asked,
        "findings": [
            *map(finding_value, ending.findings),
            *(map(record_value, audit.findings) if audit is not None else ()),
        ],
        "checks": [] if audit is None else [_check(check) for check in audit.checks],
        "files": ran.files,
        "kept": [{"output": output, "kept": place} for output, place in ran.kept],
        "removed": list(ran.removed),
    }


def _check(check: CheckResult) -> dict[str, object]:
    return {
        "id": check.id,
        "outcome": check.outcome.value,
        "severity": check.severity,
        "message": check.message,
        "waived": check.waived,
    }
