"""``privrelease audit``: files that exist already, whoever made them, against a release of a policy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from privrelease.audit.document.model import Outcome
from privrelease.cli.ci_output import check_summary, for_pipeline, stopped_in_form
from privrelease.cli.commands.run import not_made, warned
from privrelease.cli.console import FailOn
from privrelease.cli.exit import Ending
from privrelease.cli.findings_output import report_findings
from privrelease.cli.output_files import Kept, Writer, kept_of_policy
from privrelease.cli.settings import chosen, versions
from privrelease.errors import InputError, PrivreleaseError, UsageError

if TYPE_CHECKING:
    from privrelease.audit.document.model import AuditResult
    from privrelease.audit.microdata.target import AuditTarget
    from privrelease.audit.statistics.audit import StatisticsTarget
    from privrelease.cli.console import Console
    from privrelease.cli.origin import Origin
    from privrelease.cli.settings import Settings
    from privrelease.plan.model import MicrodataPlan, Plan, ReleasePlan
    from privrelease.plan.statistics.plan import StatisticsPlan
    from privrelease.plan.tables.plan import TablePlan
    from privrelease.relational.schema import Sink

__all__ = ["Audited", "audit"]

#: A ledger that is damaged, altered, an older copy, or another one.
_UNBELIEVABLE = frozenset({"L103", "L110", "L111", "L112"})


@dataclass(frozen=True, slots=True)
class Audited:
    """What is to be audited, and where the result goes."""

    release: str
    files: tuple[Path, ...]
    source: bool
    audit_file: Path | None
    report_file: Path | None
    force: bool = False
    against: tuple[str, ...] = ()


def audit(policy: Path, settings: Settings, asked: Audited, fail_on: FailOn, console: Console) -> Ending:
    """Audit files. Those of a run known here are led back to the source by its row map; of others, what needs that is unchecked."""
    with stopped_in_form("audit", policy, console):
        result, writer = _audited(policy, settings, asked, console)
    _write(policy, result, asked, writer, console)
    return _ending(result, fail_on)


def _audited(policy: Path, settings: Settings, asked: Audited, console: Console) -> tuple[AuditResult, Writer]:
    """The audit, and what writes it, which saw before any work that it can."""
    from privrelease.audit.checks.waivers import with_waivers
    from privrelease.audit.microdata.audit import audit_microdata
    from privrelease.cli.earlier import named_releases, readable_too
    from privrelease.engine.duckdb import DuckDBEngine
    from privrelease.execute.common.scope import engine_settings
    from privrelease.plan.model import MicrodataPlan
    from privrelease.release.store import now

    loaded, plan = settings.load(policy)
    for finding in loaded.warnings:
        console.log(str(finding))
    release = chosen(plan, (asked.release,))[0]
    audited = [Kept(file, "a file to audit") for file in asked.files]
    audited += [Kept(Path(one), "an earlier release that is read") for one in asked.against if Path(one).exists()]
    writer = Writer((*audited, *kept_of_policy(loaded, plan, settings.store(plan))), asked.force)
    writer.check(asked.audit_file, asked.report_file)
    check_summary(console)
    if not isinstance(release, MicrodataPlan):
        return with_waivers(_figures(release, plan, settings, asked, console), plan), writer
    target = _target(release, plan, settings, asked, console)
    earlier = named_releases(asked.against, release, plan, settings)
    limits = engine_settings(release, None, memory_limit=settings.memory_limit, threads=settings.threads)
    read = (*(sink.path for sink in target.files), *(() if target.row_map is None else (target.row_map,)))
    folders = tuple(dict.fromkeys(path.parent for path in read))
    limits = settings.engine(readable_too(replace(limits, readable=(*limits.readable, *folders)), earlier))
    console.log(f"auditing {', '.join(sink.label for sink in target.files)}")
    with DuckDBEngine(limits) as engine:
        moment = f"{now():%Y-%m-%dT%H:%M:%SZ}"
        result = audit_microdata(release, plan, target, engine=engine, audited_at=moment, versions=versions(), earlier=earlier)
    return with_waivers(result, plan), writer


def _target(release: MicrodataPlan, plan: Plan, settings: Settings, asked: Audited, console: Console) -> AuditTarget:
    """Take the files as the run's that made them, where that is known here and the source is asked; else as anybody's."""
    from privrelease.audit.microdata.target import AuditTarget

    files = _sinks(release, asked.files)
    origin = _origin(files, release, plan, settings, console) if asked.source else None
    if origin is None or origin.files is None:
        return AuditTarget(files, without_source=not asked.source)
    run = origin.run
    return AuditTarget(
        origin.files,
        run.row_map,
        manifest=origin.manifest,
        internal=run.internal_manifest(),
        run=run.id,
        altered=origin.altered,
    )


def _origin(
    files: tuple[Sink, ...], release: ReleasePlan, plan: Plan, settings: Settings, console: Console, *, source: bool = True
) -> Origin | None:
    """The run that made the files; what of it the audit takes is said."""
    from privrelease.cli.origin import origin_of
    from privrelease.plan.model import MicrodataPlan

    origin = origin_of(files, release, plan, settings.store(plan), source=source)
    if origin is None:
        return None
    names = f"{', '.join(sink.label for sink in files)}: made by run {origin.run.id} ({origin.state})"
    if origin.files is None:
        console.log(f"{names}; {origin.why}: audited as a file of others")
    else:
        row_map = ", row map" if isinstance(release, MicrodataPlan) else ""
        console.log(f"{names}, audited with its manifest{row_map}{' and source' if source else ''}")
    return origin


def _figures(
    release: StatisticsPlan | TablePlan, plan: Plan, settings: Settings, asked: Audited, console: Console
) -> AuditResult:
    from privrelease.plan.tables.plan import TablePlan

    if isinstance(release, TablePlan):
        return _table(release, plan, settings, asked, console)
    return _statistics(release, plan, settings, asked, console)


def _statistics(release: StatisticsPlan, plan: Plan, settings: Settings, asked: Audited, console: Console) -> AuditResult:
    """Statistics are audited against the plan, the claim of the run that made them and the ledger: nothing of the source is read."""
    from privrelease.audit.statistics.audit import StatisticsTarget, audit_statistics
    from privrelease.cli.earlier import named_releases
    from privrelease.engine.duckdb import DuckDBEngine
    from privrelease.execute.common.scope import engine_settings
    from privrelease.release.store import now

    files = _sinks(release, asked.files)
    origin = _origin(files, release, plan, settings, console, source=False)
    target = StatisticsTarget(files)
    if origin is not None and origin.files is not None:
        target = StatisticsTarget(origin.files, origin.manifest, origin.run.id, altered=origin.altered)
        target = _charged(target, plan, settings, console)
    earlier = named_releases(asked.against, release, plan, settings)
    moment = f"{now():%Y-%m-%dT%H:%M:%SZ}"
    if not any(check.on == "release" for check in release.checks):
        return audit_statistics(release, plan, target, audited_at=moment, versions=versions(), earlier=earlier)
    unread = replace(release, checked=None)
    limits = engine_settings(release, None, memory_limit=settings.memory_limit, threads=settings.threads)
    limits = replace(limits, readable=tuple(dict.fromkeys(file.path.parent for file in target.files)))
    with DuckDBEngine(settings.engine(limits)) as engine:
        return audit_statistics(unread, plan, target, audited_at=moment, versions=versions(), engine=engine, earlier=earlier)


def _charged(target: StatisticsTarget, plan: Plan, settings: Settings, console: Console) -> StatisticsTarget:
    """Add what the ledger says of the release. One that is not at hand is told; one that was altered is a fault of the release."""
    from privrelease.audit.statistics.charges import charges_of
    from privrelease.cli.commands.ledger import opened

    if target.manifest is None:
        return target
    try:
        book = opened(plan, settings.store(plan)).book()
    except PrivreleaseError as error:
        if error.code in _UNBELIEVABLE:
            return replace(target, ledger_fault=f"the ledger cannot be believed ({error.code}): {error.message}")
        console.log(f"the ledger is not at hand: {error}")
        return target
    return replace(target, charges=charges_of(book, target.manifest))


def _table(release: TablePlan, plan: Plan, settings: Settings, asked: Audited, console: Console) -> AuditResult:
    """A table is audited against the plan, the run that made it and, unless that is not wanted, the source."""
    from privrelease.audit.tables.audit import TableTarget, audit_table
    from privrelease.cli.earlier import named_releases
    from privrelease.engine.duckdb import DuckDBEngine
    from privrelease.execute.common.scope import engine_settings
    from privrelease.release.store import now

    files = _sinks(release, asked.files)
    origin = _origin(files, release, plan, settings, console, source=asked.source)
    target = TableTarget(files, without_source=not asked.source)
    if origin is not None and origin.files is not None:
        run = origin.run
        internal = run.internal_statistics() if asked.source else None
        target = TableTarget(origin.files, origin.manifest, run.id, not asked.source, origin.altered, internal)
    limits = engine_settings(release, None, memory_limit=settings.memory_limit, threads=settings.threads)
    folders = dict.fromkeys(file.path.parent for file in target.files)
    limits = replace(limits, readable=(*limits.readable, *folders))
    moment = f"{now():%Y-%m-%dT%H:%M:%SZ}"
    earlier = named_releases(asked.against, release, plan, settings)
    with DuckDBEngine(settings.engine(limits)) as engine:
        return audit_table(release, plan, target, engine=engine, audited_at=moment, versions=versions(), earlier=earlier)


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
    # what was not looked at stands in the text on stdout, and is not told twice
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
    from privrelease.audit.document.previous_releases import earlier_facts

    facts = earlier_facts(result)
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
