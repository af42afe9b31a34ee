"""Synthetic rows in the pipeline: reserve, measure, draw, park, audit against the claim and the ledger."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from privrelease.errors import PrivreleaseError

if TYPE_CHECKING:
    from privrelease.audit.comparison.previous_release import EarlierRelease
    from privrelease.audit.document.model import AuditResult
    from privrelease.audit.synthetic.evidence import SyntheticTarget
    from privrelease.execute.common.progress import Progress
    from privrelease.pipeline.audit import AuditedFiles
    from privrelease.pipeline.world import World
    from privrelease.plan.model import Plan
    from privrelease.plan.synthetic.plan import SyntheticPlan
    from privrelease.release.manifest import InputDigest
    from privrelease.release.runs import RunFolder
    from privrelease.release.store import ReleaseStore

__all__ = ["audit_files", "audited_synthetic", "external", "inputs", "lossy", "previous", "rehearse"]


def audited_synthetic(
    plan: SyntheticPlan, policy: Plan, world: World, store: ReleaseStore, folder: RunFolder, progress: Progress
) -> AuditResult:
    """Run a synthetic release in ``folder`` and audit what was parked. Raises BudgetError where nothing may be spent."""
    from privrelease.audit.checks.charges import charges_of
    from privrelease.audit.synthetic.audit import audit_synthetic
    from privrelease.audit.synthetic.evidence import SyntheticTarget
    from privrelease.execute.common.questions import lost_reservations
    from privrelease.execute.common.scope import engine_settings
    from privrelease.execute.synthetic.run import holdout_key, run_synthetic
    from privrelease.pipeline.previous.published import published_before
    from privrelease.pipeline.settings import versions
    from privrelease.pipeline.spending import noise_source
    from privrelease.release.digests import digest_key
    from privrelease.release.store import now

    source, settings = noise_source(policy, world, store), world.settings
    for note in lost_reservations(plan.id, policy, source.ledger):
        world.notice(f"{plan.id}: {note}")
    limits = engine_settings(plan, folder, memory_limit=settings.memory_limit, threads=settings.threads)
    with world.engine(limits) as engine:
        parked = run_synthetic(
            plan,
            policy,
            engine=engine,
            store=store,
            run=folder,
            ledger=source.ledger,
            randomness=source.randomness,
            progress=progress,
        )
    progress("audit", None)
    files = tuple(replace(sink, path=path) for sink, path in zip(plan.sinks, folder.data, strict=True))
    charges = charges_of(source.ledger.book(), parked.manifest)
    secret = holdout_key(digest_key(store.state, os.environ))
    digests = tuple(one.hmac_sha256 for one in parked.internal.inputs)
    target = SyntheticTarget(files, parked.manifest, folder.id, charges, source_digests=digests, divided_by=secret)
    moment = f"{now():%Y-%m-%dT%H:%M:%SZ}"
    earlier = published_before(store, plan, policy, folder.id, kinds=world.kinds)
    reading = replace(limits, readable=(*limits.readable, folder.outgoing), writable=())
    with world.engine(reading) as engine:
        return audit_synthetic(plan, policy, target, engine, audited_at=moment, versions=versions(), earlier=earlier)


def rehearse(plan: SyntheticPlan, policy: Plan, world: World, progress: Progress) -> str:
    """Read the source and see that the ledger covers the release; measure and charge nothing. Raises BudgetError (L120)."""
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
    return f"the source can be read, and a run would spend {spent.spends}; nothing was measured, so there are no rows and no report"


def audit_files(release: SyntheticPlan, plan: Plan, asked: AuditedFiles, world: World) -> AuditResult:
    """Audit files against the plan, the claim of the run that made them and the ledger."""
    from privrelease.audit.synthetic.audit import audit_synthetic
    from privrelease.audit.synthetic.evidence import SyntheticTarget
    from privrelease.execute.common.scope import engine_settings
    from privrelease.pipeline.audit import origin_of_files, sinks_of
    from privrelease.pipeline.previous.named import named_releases
    from privrelease.pipeline.settings import versions
    from privrelease.pipeline.spending import with_charges
    from privrelease.release.store import now

    settings, files = world.settings, sinks_of(release, asked.files)
    origin = origin_of_files(files, release, plan, world, source=False)
    target = SyntheticTarget(files)
    if origin is not None and origin.files is not None:
        target = with_charges(
            SyntheticTarget(origin.files, origin.manifest, origin.run.id, altered=origin.altered), plan, world
        )
        if asked.source:
            target = _beside_source(target, origin.run, release, world, world.settings.store(plan))
    earlier = named_releases(asked.against, release, plan, settings, kinds=world.kinds)
    moment = f"{now():%Y-%m-%dT%H:%M:%SZ}"
    limits = engine_settings(release, None, memory_limit=settings.memory_limit, threads=settings.threads)
    folders = tuple(dict.fromkeys(file.path.parent for file in target.files))
    limits = replace(limits, readable=(*limits.readable, *folders) if asked.source else folders)
    seen = release if asked.source else replace(release, checked=None)
    with world.engine(limits) as engine:
        return audit_synthetic(seen, plan, target, engine, audited_at=moment, versions=versions(), earlier=earlier)


def _beside_source(
    target: SyntheticTarget, run: RunFolder, release: SyntheticPlan, world: World, store: ReleaseStore
) -> SyntheticTarget:
    """Add what the comparison with the source needs: the source that the run read, and the key by which persons were held out; else say why not."""
    from privrelease.execute.common.inputs import digest_inputs
    from privrelease.execute.synthetic.run import holdout_key
    from privrelease.pipeline.digest_keys import key_in_use

    key, why = key_in_use(store), None
    try:
        read = tuple((one.key_id, one.hmac_sha256) for one in run.internal_part().inputs)
        if key is None or any(key_id != key.id for key_id, _ in read):
            why = "the key of digests is not that of the run, so that no one can tell who was held out"
        elif tuple((one.key_id, one.hmac_sha256) for one in digest_inputs((release.source,), key).digests) != read:
            why = "the source is not there, or is another one than the run read"
    except (PrivreleaseError, OSError, ValueError) as error:
        why = f"the source, or what the run recorded of it, cannot be read ({getattr(error, 'code', type(error).__name__)})"
    if why is not None or key is None:
        world.notice(f"{release.id}: not compared with the source: {why}")
        return target
    return replace(target, source_digests=tuple(digest for _, digest in read), divided_by=holdout_key(key))


def inputs(run: RunFolder) -> tuple[InputDigest, ...]:
    """Return the digests of what a run read."""
    return run.internal_part().inputs


def previous(earlier: EarlierRelease, run: RunFolder) -> EarlierRelease:
    """Add the inputs."""
    return replace(earlier, inputs=inputs(run))


def external(earlier: EarlierRelease, release: SyntheticPlan) -> EarlierRelease:
    """Take a file of unknown origin as it is."""
    del release
    return earlier


def lossy(release: SyntheticPlan) -> frozenset[str]:
    """Return no column: rows are drawn, and no cell is suppressed."""
    del release
    return frozenset()
