"""The name of a release, the sources it reads, and what an engine may touch for it: of every kind, and without what makes any."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from privrelease.engine.protocol.base import EngineSettings
from privrelease.release.runs import ReleaseName

if TYPE_CHECKING:
    from privrelease.plan.model import Plan, ReleasePlan
    from privrelease.relational.schema import TableSource
    from privrelease.release.runs import RunFolder

__all__ = ["engine_settings", "release_name", "sources_of"]


def release_name(plan: ReleasePlan, policy: Plan) -> ReleaseName:
    """Return the name under which the release is published."""
    return ReleaseName(policy.policy_id, plan.id, policy.environment)


def sources_of(plan: ReleasePlan) -> tuple[TableSource, ...]:
    """Return every source that the release and its audit read: its own, the population tables of its threats, the files of attacks."""
    return plan.sources


def engine_settings(
    plan: ReleasePlan, run: RunFolder | None, *, memory_limit: str = "1GiB", threads: int | None = None
) -> EngineSettings:
    """Return settings that let an engine read the folders of the sources and write the run's folder alone (None: nothing).

    For a glob that is the folder above its first pattern.
    """
    readable = dict.fromkeys(folder_of(source.path) for source in sources_of(plan))
    if run is None:
        return EngineSettings(memory_limit=memory_limit, threads=threads, readable=tuple(readable))
    return EngineSettings(
        memory_limit=memory_limit,
        threads=threads,
        temp_folder=run.temporary,
        readable=tuple(readable),
        writable=(run.outgoing, run.internal),
    )


def folder_of(path: str) -> Path:
    """Return the folder of a source; of a pattern that above its first sign."""
    exact = Path(path)
    if exact.exists():
        return exact.parent
    fixed = exact.parent
    while any(sign in str(fixed) for sign in "*?["):
        fixed = fixed.parent
    return fixed
