"""Faults of the data that a policy's releases read: values that are not as declared, each reported once. Makes nothing, and spends nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.errors import InputError
from privrelease.findings import Finding
from privrelease.pipeline.kinds import kind_of

if TYPE_CHECKING:
    from privrelease.pipeline.world import World
    from privrelease.plan.model import Plan

__all__ = ["data_faults"]


def data_faults(planned: Plan, world: World) -> tuple[Finding, ...]:
    """Read what every release reads, and return each fault once, in the order of the releases: misfits with file, line and column, never a cell.

    A column that releases read otherwise is read for each of them: statistics bound by a domain what rows and tables refuse.
    """
    from privrelease.execute.common.scope import engine_settings

    settings = world.settings
    found: dict[str, Finding] = {}
    for release in planned.releases:
        limits = engine_settings(release, None, memory_limit=settings.memory_limit, threads=settings.threads)
        with world.engine(limits) as engine:
            for read in kind_of(release, world.kinds).readings(release, engine, world):
                try:
                    read()
                except InputError as error:
                    alone = Finding(error.code, error.message, location=error.location, hint=error.hint)
                    for fault in error.findings or (alone,):
                        found.setdefault(str(fault), fault)
    return tuple(found.values())
