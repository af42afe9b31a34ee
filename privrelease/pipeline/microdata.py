"""Microdata in the pipeline: protect, park, audit with the row map, and read previous releases of the kind.

Forecast of what a release would lose at each of several thresholds of one threat. Publishes nothing, spends nothing.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from privrelease.relational.treatments import CellRelation, relation_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from privrelease.audit.comparison.earlier.rows_and_table import RowsOut, TableJudge, TableVerdict
    from privrelease.audit.comparison.previous_release import EarlierRelease, EarlierReleases, EarlierThreat
    from privrelease.audit.document.model import AuditResult
    from privrelease.audit.microdata.recoding import Verifiers
    from privrelease.audit.microdata.target import AuditTarget
    from privrelease.disclosure.classes.equivalence_classes import ClassTable
    from privrelease.engine.protocol.audit import AuditEngine, MeasuringEngine
    from privrelease.engine.protocol.base import Staged
    from privrelease.execute.common.progress import Progress
    from privrelease.execute.microdata.forecast import Forecast
    from privrelease.execute.microdata.hierarchy_levels import HierarchyLevel
    from privrelease.execute.microdata.run import ParkedRelease
    from privrelease.pipeline.audit import AuditedFiles
    from privrelease.pipeline.world import World
    from privrelease.plan.microdata.frontier import Frontier, Kept
    from privrelease.plan.model import MicrodataPlan, Plan, ThreatPlan
    from privrelease.policy.loader import LoadedPolicy
    from privrelease.release.manifest import InputDigest, Manifest
    from privrelease.release.runs import RunFolder
    from privrelease.release.store import ReleaseStore

__all__ = [
    "audit_files",
    "audited_microdata",
    "external",
    "forecast",
    "inputs",
    "levels_of_data",
    "lossy",
    "made",
    "previous",
    "readings",
    "sweep",
]


def audited_microdata(
    release: MicrodataPlan, policy: Plan, world: World, store: ReleaseStore, folder: RunFolder, progress: Progress
) -> AuditResult:
    """Run a release of microdata in ``folder`` and audit what was parked, on an engine of its own that may write nothing."""
    from privrelease.execute.common.scope import engine_settings
    from privrelease.execute.microdata.run import run_microdata
    from privrelease.pipeline.previous.published import published_before
    from privrelease.pipeline.previous.run_folders import readable_too
    from privrelease.pipeline.steps import makers_of, steps_of, verifiers_of

    settings = world.settings
    steps = steps_of(release, world.kinds)
    limits = engine_settings(release, folder, memory_limit=settings.memory_limit, threads=settings.threads)
    with world.engine(limits) as engine:
        parked = run_microdata(
            release, policy, engine=engine, store=store, run=folder, progress=progress, makers=makers_of(steps)
        )
    progress("audit", None)
    earlier = published_before(store, release, policy, folder.id, kinds=world.kinds)
    readable = (*limits.readable, folder.outgoing, folder.internal)
    with world.engine(readable_too(replace(limits, readable=readable, writable=()), earlier)) as engine:
        other_keys = _other_keys(release, policy, store, folder.id, world)
        return _audited(release, policy, parked, earlier, engine, verifiers_of(steps), other_keys)


def _audited(
    release: MicrodataPlan,
    policy: Plan,
    parked: ParkedRelease,
    earlier: EarlierReleases,
    engine: AuditEngine,
    verifiers: Verifiers,
    other_keys: tuple[str, ...],
) -> AuditResult:
    from privrelease.audit.microdata.audit import audit_microdata
    from privrelease.audit.microdata.target import AuditTarget, digests_of_source
    from privrelease.pipeline.settings import versions
    from privrelease.release.store import now

    files = tuple(replace(sink, path=path) for sink, path in zip(release.sinks, parked.run.data, strict=True))
    target = AuditTarget(
        files,
        parked.run.row_map,
        manifest=parked.manifest,
        internal=parked.internal,
        run=parked.run.id,
        source_digests=digests_of_source(release, parked.internal),
        other_keys=other_keys,
    )
    moment = f"{now():%Y-%m-%dT%H:%M:%SZ}"
    return audit_microdata(
        release,
        policy,
        target,
        engine=engine,
        audited_at=moment,
        versions=versions(),
        earlier=earlier,
        judge_table=_table_judge(policy),
        verifiers=verifiers,
    )


def _table_judge(plan: Plan) -> TableJudge:
    """Return the judge of published tables, which loads what it judges by where there is a table to judge."""

    def judge(pairs: Sequence[tuple[EarlierRelease, RowsOut]], engine: MeasuringEngine) -> list[TableVerdict]:
        if not pairs:
            return []
        from privrelease.audit.tables.beside_rows import table_judge

        return table_judge(plan)(pairs, engine)

    return judge


def audit_files(release: MicrodataPlan, plan: Plan, asked: AuditedFiles, world: World) -> AuditResult:
    """Audit files as a release of microdata."""
    from privrelease.audit.microdata.audit import audit_microdata
    from privrelease.execute.common.scope import engine_settings
    from privrelease.pipeline.previous.named import named_releases
    from privrelease.pipeline.previous.run_folders import readable_too
    from privrelease.pipeline.settings import versions
    from privrelease.pipeline.steps import steps_of, verifiers_of
    from privrelease.release.store import now

    settings = world.settings
    target = _target(release, plan, asked, world)
    earlier = named_releases(asked.against, release, plan, settings, kinds=world.kinds)
    limits = engine_settings(release, None, memory_limit=settings.memory_limit, threads=settings.threads)
    read = (*(sink.path for sink in target.files), *(() if target.row_map is None else (target.row_map,)))
    folders = tuple(dict.fromkeys(path.parent for path in read))
    limits = settings.engine(readable_too(replace(limits, readable=(*limits.readable, *folders)), earlier))
    world.log(f"auditing {', '.join(sink.label for sink in target.files)}")
    with world.engine(limits) as engine:
        moment = f"{now():%Y-%m-%dT%H:%M:%SZ}"
        return audit_microdata(
            release,
            plan,
            target,
            engine=engine,
            audited_at=moment,
            versions=versions(),
            earlier=earlier,
            judge_table=_table_judge(plan),
            verifiers=verifiers_of(steps_of(release, world.kinds)),
        )


def _target(release: MicrodataPlan, plan: Plan, asked: AuditedFiles, world: World) -> AuditTarget:
    """Take the files as the run's that made them, where that is known here and the source is asked; else as external files."""
    from privrelease.audit.microdata.target import AuditTarget, digests_of_source
    from privrelease.pipeline.audit import origin_of_files, sinks_of

    files = sinks_of(release, asked.files)
    origin = origin_of_files(files, release, plan, world) if asked.source else None
    if origin is None or origin.files is None:
        store = world.settings.store(plan)
        digests = _source_digests(release, store) if asked.source and release.attacks is not None else ()
        others = _other_keys(release, plan, store, None, world)
        return AuditTarget(files, without_source=not asked.source, source_digests=digests, other_keys=others)
    run = origin.run
    internal = run.internal_manifest()
    return AuditTarget(
        origin.files,
        run.row_map,
        manifest=origin.manifest,
        internal=internal,
        run=run.id,
        altered=origin.altered,
        source_digests=digests_of_source(release, internal),
        other_keys=_other_keys(release, plan, world.settings.store(plan), run.id, world),
    )


def _source_digests(release: MicrodataPlan, store: ReleaseStore) -> tuple[str, ...]:
    """Digests of the source for files that no run is known of: under the key of the state folder, so that a file of others is attacked at
    the same persons as a run's; where there is no key, plain ones, which are not shown. An audit makes no key.
    """
    from privrelease.execute.common.inputs import digest_inputs
    from privrelease.pipeline.digest_keys import key_in_use
    from privrelease.release.digests import DigestKey

    key = key_in_use(store) or DigestKey(bytes(16))
    return tuple(one.hmac_sha256 for one in digest_inputs((release.source,), key).digests)


def _other_keys(release: MicrodataPlan, plan: Plan, store: ReleaseStore, run: str | None, world: World) -> tuple[str, ...]:
    """Runs about the same persons under another key of digests; none where nothing is attacked."""
    if release.attacks is None:
        return ()
    from privrelease.pipeline.digest_keys import runs_of_other_keys

    return runs_of_other_keys(store, release, plan, run, world.kinds)


def forecast(release: MicrodataPlan, policy: Plan, world: World) -> Forecast:
    """Compute on the source what a run would find and suppress. Writes nothing."""
    from privrelease.execute.common.scope import engine_settings
    from privrelease.execute.microdata.forecast import forecast as computed
    from privrelease.pipeline.steps import makers_of, steps_of

    del policy  # rows are protected release by release
    limits = engine_settings(release, None, memory_limit=world.settings.memory_limit, threads=world.settings.threads)
    with world.engine(limits) as engine:
        return computed(release, engine, world.progress(release.id), makers_of(steps_of(release, world.kinds)))


def readings(release: MicrodataPlan, engine: AuditEngine, world: World) -> tuple[Callable[[], Staged], ...]:
    """Return what reads the data as a run would: the source with its persons, populations and replaced values, and each file of an attack."""
    from privrelease.execute.microdata.protection import prepare
    from privrelease.pipeline.steps import makers_of, steps_of

    makers = makers_of(steps_of(release, world.kinds))
    attacks = () if release.attacks is None else release.attacks.sources
    progress = world.progress(release.id)
    return (lambda: prepare(release, engine, progress, makers).source, *(partial(engine.stage, source) for source in attacks))


def made(manifest: Manifest) -> bool:
    """Return whether a manifest describes microdata: neither noise was paid for, nor is there a column of totals."""
    return manifest.privacy is None and not any(column.name == "total_over" for column in manifest.outputs[0].columns)


def inputs(run: RunFolder) -> tuple[InputDigest, ...]:
    """Return the digests of what a run read."""
    return run.internal_manifest().inputs


def previous(earlier: EarlierRelease, run: RunFolder) -> EarlierRelease:
    """Add the columns with suppressed cells, the inputs, the row map and the threats."""
    internal = run.internal_manifest()
    suppressed = frozenset(name for name, cells in internal.claims.suppressed.items() if cells)
    row_map = run.row_map if run.row_map.is_file() else None
    own = frozenset(
        column.name
        for column in (() if earlier.manifest is None else earlier.manifest.outputs[0].columns)
        if relation_of(column.treatment).own_values
    )
    return replace(
        earlier,
        lossy=suppressed,
        inputs=internal.inputs,
        row_map=row_map,
        threats=_threats(run),
        content="rows",
        own=own,
    )


def _threats(run: RunFolder) -> tuple[EarlierThreat, ...]:
    """Return the attackers against whom a run's release was protected, by its audit."""
    from privrelease.audit.comparison.previous_release import EarlierThreat

    if not run.audit.is_file():
        return ()
    found = []
    for threat in run.audited()["threats"]:
        highest = [one["threshold"]["exact"] for one in threat["verdicts"] if one["measure"] == "highest_risk"]
        found.append(EarlierThreat(threat["name"], tuple(threat["columns"]), Fraction(highest[0]) if highest else None))
    return tuple(found)


def external(earlier: EarlierRelease, release: MicrodataPlan) -> EarlierRelease:
    """Read a file of unknown origin under the release's rules."""
    from privrelease.audit.checks.release_files import planned_columns

    own = frozenset(column.name for column in release.columns if column.treatment.relation.own_values)
    return replace(earlier, columns=planned_columns(release), lossy=lossy(release), marked=True, content="rows", own=own)


def lossy(release: MicrodataPlan) -> frozenset[str]:
    """Return the columns that some threat knows."""
    return frozenset(release.quasi_identifiers)


def levels_of_data(loaded: LoadedPolicy, dataset: str | None, column: str, world: World) -> tuple[HierarchyLevel, ...]:
    """Count the labels of each level of a column's hierarchy in the source, and the rows of the smallest."""
    from privrelease.engine.protocol.base import EngineSettings
    from privrelease.execute.common.scope import folder_of
    from privrelease.execute.microdata.hierarchy_levels import column_source
    from privrelease.execute.microdata.hierarchy_levels import levels_of_data as counted

    readable = (folder_of(column_source(loaded, dataset, column).path),)
    limits = EngineSettings(world.settings.memory_limit, world.settings.threads, readable=readable)
    with world.engine(limits) as engine:
        return counted(loaded, dataset, column, engine)


def sweep(release: MicrodataPlan, threat: ThreatPlan, risks: Sequence[Fraction], world: World) -> Frontier:
    """Protect the release at each risk, and measure how much information each solution keeps."""
    from privrelease.execute.common.scope import engine_settings
    from privrelease.execute.microdata.frontier import frontier
    from privrelease.pipeline.steps import makers_of, steps_of

    kept: list[Kept] = []
    limits = engine_settings(release, None, memory_limit=world.settings.memory_limit, threads=world.settings.threads)
    with world.engine(limits) as engine:
        steps = world.progress(release.id)
        makers = makers_of(steps_of(release, world.kinds))
        found = frontier(release, threat, risks, engine, lambda before, after: kept.append(_kept(before, after)), steps, makers)
    if any(column.treatment.relation is CellRelation.MAPPED for column in release.columns):
        return found  # what is kept of labels is not what is kept of the values that they represent
    points = tuple(replace(point, kept=one) for point, one in zip(found.points, kept, strict=True))
    return replace(found, points=points)


def _kept(before: ClassTable, after: ClassTable) -> Kept:
    from privrelease.audit.microdata.utility.measures import information_kept
    from privrelease.audit.microdata.utility.value_counts import column_counts
    from privrelease.plan.microdata.frontier import Kept

    found = information_kept(column_counts(before, after))
    return Kept(found.entropy_whole_file, found.entropy_suppressed, found.granularity)
