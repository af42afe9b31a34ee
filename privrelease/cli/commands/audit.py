"""``privrelease audit``: files that exist already, whoever made them, against a release of a policy."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privrelease.audit.document.model import Outcome
from privrelease.cli.ci_output import check_summary, for_pipeline, stopped_in_form
from privrelease.cli.console import FailOn
from privrelease.cli.exit import Ending
from privrelease.cli.findings_output import report_findings
from privrelease.cli.output_files import Kept, Writer, kept_of_policy
from privrelease.cli.progress import world_of
from privrelease.pipeline import audit as pipeline
from privrelease.pipeline.kinds import KINDS
from privrelease.pipeline.results import not_made, warned
from privrelease.pipeline.settings import chosen
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privrelease.audit.document.model import AuditResult
    from privrelease.cli.console import Console
    from privrelease.pipeline.kinds import Kind
    from privrelease.pipeline.settings import Settings

__all__ = ["Audited", "audit"]


@dataclass(frozen=True, slots=True)
class Audited:
    """Files that are to be audited, and the place of the result."""

    release: str
    files: tuple[Path, ...]
    source: bool
    audit_file: Path | None
    report_file: Path | None
    force: bool = False
    against: tuple[str, ...] = ()


def audit(
    policy: Path, settings: Settings, asked: Audited, fail_on: FailOn, console: Console, *, kinds: Sequence[Kind[Any]] = KINDS
) -> Ending:
    """Audit files. Those of a run known here are led back to the source by its row map; of external files, what needs it is
    unchecked.
    """
    with stopped_in_form("audit", policy, console):
        result, writer = _audited(policy, settings, asked, console, kinds)
    _write(policy, result, asked, writer, console)
    return _ending(result, fail_on)


def _audited(
    policy: Path, settings: Settings, asked: Audited, console: Console, kinds: Sequence[Kind[Any]]
) -> tuple[AuditResult, Writer]:
    """The audit, and what writes it, which saw before any work that it can."""
    loaded, plan = settings.load(policy, kinds)
    for finding in loaded.warnings:
        console.log(str(finding))
    release = chosen(plan, (asked.release,))[0]
    audited = [Kept(file, "a file to audit") for file in asked.files]
    audited += [Kept(Path(one), "an earlier release that is read") for one in asked.against if Path(one).exists()]
    writer = Writer((*audited, *kept_of_policy(loaded, plan, settings.store(plan))), asked.force)
    writer.check(asked.audit_file, asked.report_file)
    check_summary(console)
    files = pipeline.AuditedFiles(asked.files, asked.source, asked.against)
    return pipeline.audit(release, plan, files, replace(world_of(settings, console), kinds=tuple(kinds))), writer


def _write(policy: Path, result: AuditResult, asked: Audited, writer: Writer, console: Console) -> None:
    import json

    from privrelease.audit.document.schema import audit_bytes

    if asked.audit_file is not None:
        writer.write(asked.audit_file, audit_bytes(result))
        console.log(f"wrote {asked.audit_file}")
    if asked.report_file is not None:
        from privrelease.report.pages.html import render_html
        from privrelease.report.view.edition import Edition

        writer.write(asked.report_file, render_html(result, Edition.INTERNAL).encode())
        console.log(f"wrote {asked.report_file}")
    # what was not looked at appears in the text on stdout, and is not reported twice
    told = _unlooked(result) if console.text else frozenset()
    report_findings(result.findings, console, but=told)
    if console.json:
        console.document(json.loads(audit_bytes(result)))
    elif console.text:
        from privrelease.report.forms.text import render_text

        console.data(render_text(result))
    for_pipeline("audit", policy, (result,), (), console)


def _unlooked(result: AuditResult) -> frozenset[str]:
    """The subjects of findings that say of a check that it could not be made."""
    return frozenset(f"checks.{check.id}" for check in result.checks if check.outcome is Outcome.NOT_EVALUATED)


def _unread(result: AuditResult) -> list[str]:
    """The earlier releases that a person named and that could not be read, each with why."""
    facts = result.earlier
    releases = () if facts is None else facts.releases
    return [f"{one.release} ({one.note})" if one.note else one.release for one in releases if one.looked == "unreadable"]


def _ending(result: AuditResult, fail_on: FailOn) -> Ending:
    reasons = result.decision.reasons
    if result.decision.outcome is Outcome.FAIL:
        errors = [finding.subject for finding in result.findings if finding.severity == "error"]
        if errors and _unlooked(result).issuperset(errors) and all(threat.holds for threat in result.threats):
            titles = {f"checks.{check.id}": f"{check.id} ({check.title})" for check in result.checks}
            named = ", ".join(titles[subject] for subject in errors)
            return Ending(1, f"{named}: no check that was made fails", meaning="not everything could be checked")
        return Ending(1, reasons[0] if reasons else "the audit failed")
    unread = _unread(result)
    if unread:
        return Ending(3, f"named with --against, and cannot be read as an earlier release: {', '.join(unread)}")
    if warned(result) and fail_on is FailOn.WARN:
        return Ending(1, "--fail-on warn: the audit warns")
    if result.decision.outcome is Outcome.REVIEW:
        return Ending(5, reasons[0] if reasons else "the audit asks for review", meaning="a person has to decide")
    return Ending(0, f"the files pass the release's policy{not_made(result)}")
