"""Forecast of what a release would lose at each of several thresholds of one threat. Publishes nothing, spends nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from privrelease.disclosure.classes.equivalence_classes import ClassTable
    from privrelease.pipeline.world import World
    from privrelease.plan.microdata.frontier import Frontier, Kept
    from privrelease.plan.model import MicrodataPlan, ThreatPlan

__all__ = ["sweep"]


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
    points = tuple(replace(point, kept=one) for point, one in zip(found.points, kept, strict=True))
    return replace(found, points=points)


def _kept(before: ClassTable, after: ClassTable) -> Kept:
    from privrelease.audit.microdata.utility.measures import information_kept
    from privrelease.audit.microdata.utility.value_counts import column_counts
    from privrelease.plan.microdata.frontier import Kept

    found = information_kept(column_counts(before, after))
    return Kept(found.entropy_whole_file, found.entropy_suppressed, found.granularity)
