"""Tables in the pipeline: aggregate, suppress, park, audit next to the tables of the same persons, and read previous ones."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from privrelease.audit.comparison.previous_release import EarlierRelease, EarlierReleases
    from privrelease.audit.document.model import AuditResult
    from privrelease.execute.common.progress import Progress
    from privrelease.execute.tables.forecast import TableForecast
    from privrelease.execute.tables.run import PublishedTable
    from privrelease.pipeline.audit import AuditedFiles
    from privrelease.pipeline.world import World
    from privrelease.plan.model import Plan
    from privrelease.plan.tables.plan import TablePlan
    from privrelease.release.manifest import InputDigest, Manifest
    from privrelease.release.runs import RunFolder
    from privrelease.release.store import ReleaseStore

__all__ = ["audit_files", "audited_table", "external", "forecast", "inputs", "lossy", "made", "previous"]


def audited_table(
    plan: TablePlan, policy: Plan, world: World, store: ReleaseStore, folder: RunFolder, progress: Progress
) -> AuditResult:
    """Run a table in ``folder`` and audit what was parked, on an engine of its own that may write nothing."""
    from privrelease.audit.tables.audit import TableTarget, audit_table
    from privrelease.execute.common.scope import engine_settings
    from privrelease.execute.tables.run import run_table
    from privrelease.pipeline.previous.published import published_before
    from privrelease.pipeline.previous.run_folders import readable_too
    from privrelease.pipeline.settings import versions
    from privrelease.release.store import now

    settings = world.settings
    limits = engine_settings(plan, folder, memory_limit=settings.memory_limit, threads=settings.threads)
    out = published_before(store, plan, policy, folder.id, kinds=world.kinds)
    with world.engine(limits) as engine:
        manifest = run_table(
            plan, policy, engine=engine, store=store, run=folder, progress=progress, published=_published(plan, policy, out)
        )
    progress("audit", None)
    files = tuple(replace(sink, path=path) for sink, path in zip(plan.sinks, folder.data, strict=True))
    target = TableTarget(files, manifest, folder.id, internal=folder.internal_part())
    moment = f"{now():%Y-%m-%dT%H:%M:%SZ}"
    earlier = published_before(store, plan, policy, folder.id, kinds=world.kinds)
    reading = readable_too(replace(limits, readable=(*limits.readable, folder.outgoing), writable=()), earlier)
    with world.engine(reading) as engine:
        return audit_table(plan, policy, target, engine=engine, audited_at=moment, versions=versions(), earlier=earlier)


def _published(plan: TablePlan, policy: Plan, earlier: EarlierReleases) -> list[PublishedTable]:
    """The tables of the same persons that are out, as their files are: each once for every plan that its file fits."""
    import numpy as np

    from privrelease.audit.tables.published_tables import others_out
    from privrelease.execute.tables.run import PublishedTable

    return [
        PublishedTable(other, tuple(row.figures for row in rows), np.array([row.status != "shown" for row in rows], np.bool_))
        for one in others_out(plan, policy, earlier.releases)
        for other, rows in one.readings
    ]


def audit_files(release: TablePlan, plan: Plan, asked: AuditedFiles, world: World) -> AuditResult:
    """Audit files against the plan, the run that made them and, unless that is not wanted, the source."""
    from privrelease.audit.tables.audit import TableTarget, audit_table
    from privrelease.execute.common.scope import engine_settings
    from privrelease.pipeline.audit import origin_of_files, sinks_of
    from privrelease.pipeline.previous.named import named_releases
    from privrelease.pipeline.previous.run_folders import readable_too
    from privrelease.pipeline.settings import versions
    from privrelease.release.store import now

    settings = world.settings
    files = sinks_of(release, asked.files)
    origin = origin_of_files(files, release, plan, world, source=asked.source)
    target = TableTarget(files, without_source=not asked.source)
    if origin is not None and origin.files is not None:
        run = origin.run
        internal = run.internal_part() if asked.source else None
        target = TableTarget(origin.files, origin.manifest, run.id, not asked.source, origin.altered, internal)
    limits = engine_settings(release, None, memory_limit=settings.memory_limit, threads=settings.threads)
    folders = dict.fromkeys(file.path.parent for file in target.files)
    limits = replace(limits, readable=(*limits.readable, *folders))
    moment = f"{now():%Y-%m-%dT%H:%M:%SZ}"
    earlier = named_releases(asked.against, release, plan, settings, kinds=world.kinds)
    with world.engine(readable_too(limits, earlier)) as engine:
        return audit_table(release, plan, target, engine=engine, audited_at=moment, versions=versions(), earlier=earlier)


def forecast(release: TablePlan, policy: Plan, world: World) -> TableForecast:
    """Compute on the source which cells a run would suppress, and which groups share one key. Writes nothing."""
    from privrelease.execute.common.scope import engine_settings
    from privrelease.execute.tables.forecast import forecast_table

    limits = engine_settings(release, None, memory_limit=world.settings.memory_limit, threads=world.settings.threads)
    with world.engine(limits) as engine:
        return forecast_table(release, policy, engine, world.progress(release.id))


def made(manifest: Manifest) -> bool:
    """Return whether a manifest describes a table: figures without noise, and a column that names totals."""
    return manifest.privacy is None and any(column.name == "total_over" for column in manifest.outputs[0].columns)


def inputs(run: RunFolder) -> tuple[InputDigest, ...]:
    """Return the digests of what a run read."""
    return run.internal_part().inputs


def previous(earlier: EarlierRelease, run: RunFolder) -> EarlierRelease:
    """Add the inputs, and the description by which the table was made."""
    from privrelease.release.manifest import table_description

    part = run.internal_part()
    of_run = None if earlier.manifest is None else table_description(part, earlier.manifest)
    return replace(earlier, inputs=part.inputs, content="cells", description=of_run)


def external(earlier: EarlierRelease, release: TablePlan) -> EarlierRelease:
    """Take a file of unknown origin as it is."""
    del release
    return replace(earlier, content="cells")


def lossy(release: TablePlan) -> frozenset[str]:
    """Return no column: a table says of each of its cells by itself that it is suppressed."""
    del release
    return frozenset()
