"""Statistics in the pipeline: charge, draw, park, audit against the claim and the ledger, and read previous releases of the
kind.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from privrelease.audit.comparison.previous_release import EarlierRelease
    from privrelease.audit.document.model import AuditResult
    from privrelease.execute.common.progress import Progress
    from privrelease.pipeline.audit import AuditedFiles
    from privrelease.pipeline.world import World
    from privrelease.plan.model import Plan
    from privrelease.plan.statistics.plan import StatisticsPlan
    from privrelease.release.manifest import InputDigest, Manifest
    from privrelease.release.runs import RunFolder
    from privrelease.release.store import ReleaseStore

__all__ = ["audit_files", "audited_statistics", "external", "inputs", "lossy", "made", "previous", "rehearse"]


def audited_statistics(
    plan: StatisticsPlan, policy: Plan, world: World, store: ReleaseStore, folder: RunFolder, progress: Progress
) -> AuditResult:
    """Run a release of statistics in ``folder`` and audit what was parked. Raises BudgetError where nothing may be spent."""
    from privrelease.audit.checks.charges import charges_of
    from privrelease.audit.statistics.audit import StatisticsTarget, audit_statistics
    from privrelease.execute.common.questions import lost_reservations
    from privrelease.execute.common.scope import engine_settings
    from privrelease.execute.statistics.run import run_statistics
    from privrelease.pipeline.previous.published import published_before
    from privrelease.pipeline.settings import versions
    from privrelease.pipeline.spending import noise_source
    from privrelease.release.store import now

    source = noise_source(policy, world, store)
    for note in lost_reservations(plan.id, policy, source.ledger):
        world.notice(f"{plan.id}: {note}")
    settings = world.settings
    limits = engine_settings(plan, folder, memory_limit=settings.memory_limit, threads=settings.threads)
    with world.engine(limits) as engine:
        parked = run_statistics(
            plan,
            policy,
            engine=engine,
            store=store,
            run=folder,
            ledger=source.ledger,
            randomness=source.randomness,
            progress=progress,
        )
    for note in parked.notes:
        world.notice(f"{plan.id}: {note}")
    progress("audit", None)
    files = tuple(replace(sink, path=path) for sink, path in zip(plan.sinks, folder.data, strict=True))
    charges = charges_of(source.ledger.book(), parked.manifest)
    target = StatisticsTarget(files, parked.manifest, folder.id, charges)
    moment = f"{now():%Y-%m-%dT%H:%M:%SZ}"
    earlier = published_before(store, plan, policy, folder.id, kinds=world.kinds)
    if not plan.checks:
        return audit_statistics(plan, policy, target, audited_at=moment, versions=versions(), earlier=earlier)
    reading = replace(limits, readable=(*limits.readable, folder.outgoing), writable=())
    with world.engine(reading) as engine:
        return audit_statistics(plan, policy, target, audited_at=moment, versions=versions(), engine=engine, earlier=earlier)


def rehearse(plan: StatisticsPlan, policy: Plan, world: World, progress: Progress) -> str:
    """Read the source and see that the ledger covers the draws; draw and charge nothing, since a figure of the data that is drawn without a charge
    discloses what no budget bounds, whoever sees it. ``policy``: with the releases that are rehearsed. Raises BudgetError (L120).
    """
    from privrelease.errors import BudgetError
    from privrelease.execute.common.persons import check_unit
    from privrelease.execute.common.scope import engine_settings
    from privrelease.pipeline.spending import spendings

    world.open_ledger(policy, world.settings.store(policy))  # says why where there is none
    spent = next(one for one in spendings(policy, policy.releases, world.settings) if one.release == plan.id)
    if not spent.fits:
        raise BudgetError(
            code="L120",
            message=f"the privacy budget of population {spent.population} does not cover release {plan.id}: it asks for {spent.spends}; "
            f"{spent.left} left: {spent.reason}",
            hint="lower the budget of the release, or have an owner of the ledger raise the cap",
        )
    settings = world.settings
    limits = engine_settings(plan, None, memory_limit=settings.memory_limit, threads=settings.threads)
    with world.engine(limits) as engine:
        progress("read", None)
        staged = engine.stage(plan.source)
        if plan.unit is None:
            check_unit(plan, plan.source, engine, staged)
    again = f", {spent.stored} of {len(plan.queries)} queries served again" if spent.stored else ""
    return f"the source can be read, and a run would spend {spent.spends}{again}; no noise was drawn, so there are no figures and no report"


def audit_files(release: StatisticsPlan, plan: Plan, asked: AuditedFiles, world: World) -> AuditResult:
    """Audit files against the plan, the claim of the run that made them and the ledger: nothing of the source is read."""
    from privrelease.audit.statistics.audit import StatisticsTarget, audit_statistics
    from privrelease.execute.common.scope import engine_settings
    from privrelease.pipeline.audit import origin_of_files, sinks_of
    from privrelease.pipeline.previous.named import named_releases
    from privrelease.pipeline.settings import versions
    from privrelease.pipeline.spending import with_charges
    from privrelease.release.store import now

    settings = world.settings
    files = sinks_of(release, asked.files)
    origin = origin_of_files(files, release, plan, world, source=False)
    target = StatisticsTarget(files)
    if origin is not None and origin.files is not None:
        target = StatisticsTarget(origin.files, origin.manifest, origin.run.id, altered=origin.altered)
        target = with_charges(target, plan, world)
    earlier = named_releases(asked.against, release, plan, settings, kinds=world.kinds)
    moment = f"{now():%Y-%m-%dT%H:%M:%SZ}"
    if not any(check.on == "release" for check in release.checks):
        return audit_statistics(release, plan, target, audited_at=moment, versions=versions(), earlier=earlier)
    unread = replace(release, checked=None)
    limits = engine_settings(release, None, memory_limit=settings.memory_limit, threads=settings.threads)
    limits = replace(limits, readable=tuple(dict.fromkeys(file.path.parent for file in target.files)))
    with world.engine(limits) as engine:
        return audit_statistics(unread, plan, target, audited_at=moment, versions=versions(), engine=engine, earlier=earlier)


def made(manifest: Manifest) -> bool:
    """Return whether a manifest describes statistics: it claims a privacy loss."""
    return manifest.privacy is not None


def inputs(run: RunFolder) -> tuple[InputDigest, ...]:
    """Return the digests of what a run read."""
    return run.internal_part().inputs


def previous(earlier: EarlierRelease, run: RunFolder) -> EarlierRelease:
    """Add the inputs."""
    return replace(earlier, inputs=inputs(run))


def external(earlier: EarlierRelease, release: StatisticsPlan) -> EarlierRelease:
    """Take a file of unknown origin as it is."""
    del release
    return earlier


def lossy(release: StatisticsPlan) -> frozenset[str]:
    """Return no column: noise is added to figures, and no cell is suppressed."""
    del release
    return frozenset()
