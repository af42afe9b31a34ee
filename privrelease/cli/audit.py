"""``privrelease audit``: files that exist already, whoever made them, against a release of a policy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from privrelease.audit.model import Outcome
from privrelease.cli.console import FailOn
from privrelease.cli.ending import Ending
from privrelease.cli.forms import for_pipeline
from privrelease.cli.run import warned
from privrelease.cli.settings import chosen, versions
from privrelease.cli.writing import Kept, Writer, kept_of_policy
from privrelease.errors import InputError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from privrelease.audit.model import AuditResult
    from privrelease.cli.console import Console
    from privrelease.cli.settings import Settings
    from privrelease.plan.model import Plan, ReleasePlan
    from privrelease.plan.statistics import StatisticsPlan
    from privrelease.plan.tables import TablePlan
    from privrelease.relational.schema import Sink

__all__ = ["Audited", "audit"]


@dataclass(frozen=True, slots=True)
class Audited:
    """What is to be audited, and where the result goes."""

    release: str
    files: tuple[Path, ...]
    source: bool
    audit_file: Path | None
    report_file: Path | None
    force: bool = False


def audit(policy: Path, settings: Settings, asked: Audited, fail_on: FailOn, console: Console) -> Ending:
    """Audit files. Nothing leads their rows back to the source, so what would need that is said to be unchecked."""
    from privrelease.audit.microdata import audit_microdata
    from privrelease.audit.target import AuditTarget
    from privrelease.audit.waivers import with_waivers
    from privrelease.engine.duckdb import DuckDBEngine
    from privrelease.execute.microdata import engine_settings
    from privrelease.plan.statistics import StatisticsPlan
    from privrelease.plan.tables import TablePlan
    from privrelease.release.store import now

    loaded, plan = settings.load(policy)
    for finding in loaded.warnings:
        console.log(str(finding))
    release = chosen(plan, (asked.release,))[0]
    audited = [Kept(file, "a file to audit") for file in asked.files]
    writer = Writer((*audited, *kept_of_policy(loaded, plan, settings.store(plan))), asked.force)
    writer.check(asked.audit_file, asked.report_file)
    if isinstance(release, StatisticsPlan):
        result = with_waivers(_statistics(release, plan, asked), plan)
        _write(result, asked, writer, console)
        return _ending(result, fail_on)
    if isinstance(release, TablePlan):
        result = with_waivers(_table(release, plan, settings, asked), plan)
        _write(result, asked, writer, console)
        return _ending(result, fail_on)
    target = AuditTarget(_sinks(release, asked.files), without_source=not asked.source)
    limits = engine_settings(release, None, memory_limit=settings.memory_limit, threads=settings.threads)
    folders = tuple(dict.fromkeys(sink.path.parent for sink in target.files))
    limits = settings.engine(replace(limits, readable=(*limits.readable, *folders)))
    console.log(f"auditing {', '.join(sink.label for sink in target.files)}")
    with DuckDBEngine(limits) as engine:
        moment = f"{now():%Y-%m-%dT%H:%M:%SZ}"
        result = audit_microdata(release, plan, target, engine=engine, audited_at=moment, versions=versions())
    result = with_waivers(result, plan)
    _write(result, asked, writer, console)
    return _ending(result, fail_on)


def _statistics(release: StatisticsPlan, plan: Plan, asked: Audited) -> AuditResult:
    """Statistics are audited against the plan alone: nothing of the source is read."""
    from privrelease.audit.statistics import StatisticsTarget, audit_statistics
    from privrelease.release.store import now

    target = StatisticsTarget(_sinks(release, asked.files))
    return audit_statistics(release, plan, target, audited_at=f"{now():%Y-%m-%dT%H:%M:%SZ}", versions=versions())


def _table(release: TablePlan, plan: Plan, settings: Settings, asked: Audited) -> AuditResult:
    """A table is audited against the plan and, unless that is not wanted, the source."""
    from privrelease.audit.tables import TableTarget, audit_table
    from privrelease.engine.duckdb import DuckDBEngine
    from privrelease.execute.microdata import engine_settings
    from privrelease.release.store import now

    target = TableTarget(_sinks(release, asked.files), without_source=not asked.source)
    limits = engine_settings(release, None, memory_limit=settings.memory_limit, threads=settings.threads)
    moment = f"{now():%Y-%m-%dT%H:%M:%SZ}"
    with DuckDBEngine(settings.engine(limits)) as engine:
        return audit_table(release, plan, target, engine=engine, audited_at=moment, versions=versions())


def _sinks(release: ReleasePlan, files: tuple[Path, ...]) -> tuple[Sink, ...]:
    """Take the files for the release's outputs, in their order; one file may stand for the first output of its kind."""
    from pathlib import Path

    from privrelease.relational.schema import Sink, SinkKind

    kinds = {".csv": SinkKind.CSV, ".parquet": SinkKind.PARQUET, ".pq": SinkKind.PARQUET, ".duckdb": SinkKind.DUCKDB}
    sinks = []
    for file in files:
        if not file.is_file():
            raise InputError(code="C113", message=f"{file} is no file", hint="check the path after --file")
        kind = kinds.get(file.suffix.lower())
        if kind is None:
            raise UsageError(
                code="C108", message=f"the kind of {file.name} is not known", hint="audit a csv, parquet or duckdb file"
            )
        table = next((sink.table for sink in release.sinks if sink.kind is kind), "data")
        sinks.append(Sink(kind, Path(file).resolve(), str(file), table))
    return tuple(sinks)


def _write(result: AuditResult, asked: Audited, writer: Writer, console: Console) -> None:
    import json

    from privrelease.audit.schema import audit_bytes
    from privrelease.report.edition import Edition
    from privrelease.report.html import render_html
    from privrelease.report.text import render_text

    if asked.audit_file is not None:
        writer.write(asked.audit_file, audit_bytes(result))
        console.log(f"wrote {asked.audit_file}")
    if asked.report_file is not None:
        writer.write(asked.report_file, render_html(result, Edition.INTERNAL).encode())
        console.log(f"wrote {asked.report_file}")
    for finding in result.findings:
        console.log(f"{finding.code} {finding.message}", level=-1 if finding.severity == "error" else 0)
    if console.json:
        console.document(json.loads(audit_bytes(result)))
    elif console.text:
        console.data(render_text(result))
    for_pipeline((result,), (), console)


def _ending(result: AuditResult, fail_on: FailOn) -> Ending:
    reasons = result.decision.reasons
    if result.decision.outcome is Outcome.FAIL:
        return Ending(1, reasons[0] if reasons else "the audit failed")
    if warned(result) and fail_on is FailOn.WARN:
        return Ending(1, "--fail-on warn: the audit warns")
    if result.decision.outcome is Outcome.REVIEW:
        return Ending(5, reasons[0] if reasons else "the audit asks for review")
    return Ending(0, "the files pass the release's policy")
