"""``privrelease run`` for a table: aggregate, suppress, park, audit. What then becomes of it is settled as for every kind."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from privrelease.audit.comparison.previous_release import EarlierReleases
    from privrelease.audit.document.model import AuditResult
    from privrelease.cli.progress import Steps
    from privrelease.cli.settings import Settings
    from privrelease.execute.tables.run import PublishedTable
    from privrelease.plan.model import Plan
    from privrelease.plan.tables.plan import TablePlan
    from privrelease.release.runs import RunFolder
    from privrelease.release.store import ReleaseStore

__all__ = ["audited_table"]


def audited_table(
    plan: TablePlan, policy: Plan, settings: Settings, store: ReleaseStore, folder: RunFolder, steps: Steps
) -> AuditResult:
    """Run a table in ``folder`` and audit what was parked, on an engine of its own that may write nothing."""
    from privrelease.audit.tables.audit import TableTarget, audit_table
    from privrelease.cli.earlier import published_before
    from privrelease.cli.settings import versions
    from privrelease.engine.duckdb import DuckDBEngine
    from privrelease.execute.common.scope import engine_settings
    from privrelease.execute.tables.run import run_table
    from privrelease.release.store import now

    limits = engine_settings(plan, folder, memory_limit=settings.memory_limit, threads=settings.threads)
    limits = settings.engine(limits)
    out = published_before(store, plan, policy, folder.id)
    with DuckDBEngine(limits) as engine:
        manifest = run_table(
            plan, policy, engine=engine, store=store, run=folder, progress=steps, published=_published(plan, policy, out)
        )
    steps("audit", None)
    files = tuple(replace(sink, path=path) for sink, path in zip(plan.sinks, folder.data, strict=True))
    target = TableTarget(files, manifest, folder.id, internal=folder.internal_statistics())
    moment = f"{now():%Y-%m-%dT%H:%M:%SZ}"
    earlier = published_before(store, plan, policy, folder.id)
    with DuckDBEngine(replace(limits, readable=(*limits.readable, folder.outgoing), writable=())) as engine:
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
