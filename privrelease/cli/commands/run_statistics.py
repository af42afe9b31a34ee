"""``privrelease run`` for a release of statistics: charge, draw, park, audit. What then becomes of it is settled as for every kind."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from privrelease.audit.document.model import AuditResult
    from privrelease.cli.progress import Steps
    from privrelease.cli.settings import Settings
    from privrelease.dp.randomness import Randomness
    from privrelease.ledger.protocol import Ledger
    from privrelease.plan.model import Plan
    from privrelease.plan.statistics.plan import StatisticsPlan
    from privrelease.release.runs import RunFolder
    from privrelease.release.store import ReleaseStore

__all__ = ["audited_statistics"]


@dataclass(frozen=True, slots=True)
class _Source:
    """Where noise comes from and what it is charged to."""

    randomness: Randomness
    ledger: Ledger


def audited_statistics(
    plan: StatisticsPlan, policy: Plan, settings: Settings, store: ReleaseStore, folder: RunFolder, steps: Steps
) -> AuditResult:
    """Run a release of statistics in ``folder`` and audit what was parked. Raises BudgetError where nothing may be spent."""
    from privrelease.audit.statistics.audit import StatisticsTarget, audit_statistics
    from privrelease.audit.statistics.charges import charges_of
    from privrelease.cli.earlier import published_before
    from privrelease.cli.settings import versions
    from privrelease.engine.duckdb import DuckDBEngine
    from privrelease.execute.common.scope import engine_settings
    from privrelease.execute.statistics.run import run_statistics
    from privrelease.release.store import now

    source = _source(policy, settings, store)
    limits = engine_settings(plan, folder, memory_limit=settings.memory_limit, threads=settings.threads)
    with DuckDBEngine(settings.engine(limits)) as engine:
        parked = run_statistics(
            plan,
            policy,
            engine=engine,
            store=store,
            run=folder,
            ledger=source.ledger,
            randomness=source.randomness,
            progress=steps,
        )
    steps("audit", None)
    files = tuple(replace(sink, path=path) for sink, path in zip(plan.sinks, folder.data, strict=True))
    charges = charges_of(source.ledger.book(), parked.manifest)
    target = StatisticsTarget(files, parked.manifest, folder.id, charges)
    moment = f"{now():%Y-%m-%dT%H:%M:%SZ}"
    earlier = published_before(store, plan, policy, folder.id)
    if not plan.checks:
        return audit_statistics(plan, policy, target, audited_at=moment, versions=versions(), earlier=earlier)
    reading = replace(settings.engine(limits), readable=(*limits.readable, folder.outgoing), writable=())
    with DuckDBEngine(reading) as engine:
        return audit_statistics(plan, policy, target, audited_at=moment, versions=versions(), engine=engine, earlier=earlier)


def _source(policy: Plan, settings: Settings, store: ReleaseStore) -> _Source:
    from privrelease.dp.randomness import SystemRandomness, TestRandomness
    from privrelease.ledger.memory import MemoryLedger

    if settings.test_noise is not None:
        return _Source(TestRandomness(settings.test_noise), MemoryLedger(identity="test"))
    return _Source(SystemRandomness(), _ledger(policy, store))


def _ledger(policy: Plan, store: ReleaseStore) -> Ledger:
    """Open the ledger that the policy names. None is never made on the way: a fresh one would forget what was spent."""
    from privrelease.cli.commands.ledger import opened

    ledger = opened(policy, store)
    if policy.ledger is not None and policy.ledger.retention is not None:
        ledger.forget(policy.policy_id, policy.ledger.retention)
    return ledger
