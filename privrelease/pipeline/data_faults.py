"""Faults of the data that a policy's releases read: values that are not as declared, and warnings of how others are read, each reported once.

Makes nothing, and spends nothing.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from privrelease.errors import InputError
from privrelease.findings import Finding
from privrelease.pipeline.kinds import kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from privrelease.engine.protocol.base import Staged
    from privrelease.pipeline.world import World
    from privrelease.plan.model import Plan
    from privrelease.relational.schema import Column, TableSource

__all__ = ["data_faults"]


def data_faults(planned: Plan, world: World, declared: Sequence[TableSource] = ()) -> tuple[Finding, ...]:
    """Read what every release reads, then the columns of ``declared`` that none does, and return each fault and warning once, in the order of the releases: misfits with file, line and column, never a cell.

    A column that releases read otherwise is read for each of them: statistics bound by a domain what rows and tables refuse.
    """
    from privrelease.engine.protocol.base import EngineSettings
    from privrelease.execute.common.scope import engine_settings, folder_of

    settings = world.settings
    found: dict[str, Finding] = {}

    def attempt(read: Callable[[], Staged], fails_empty: TableSource | None = None) -> None:
        said: tuple[Finding, ...]
        try:
            staged = read()
            said = staged.warnings
            if fails_empty is not None and not staged.n_rows:
                said += (_empty(fails_empty, staged),)
        except InputError as error:
            said = error.findings or (Finding(error.code, error.message, location=error.location, hint=error.hint),)
        for one in said:
            found.setdefault(str(one), one)

    for release in planned.releases:
        limits = engine_settings(release, None, memory_limit=settings.memory_limit, threads=settings.threads)
        with world.engine(limits) as engine:
            kind = kind_of(release, world.kinds)
            for place, read in enumerate(kind.readings(release, engine, world)):
                attempt(read, release.source if kind.empty_fails and not place else None)
    for source in declared:
        rest = _left_unread(source, planned, world)
        if rest is not None:
            limits = EngineSettings(
                memory_limit=settings.memory_limit, threads=settings.threads, readable=(folder_of(source.path),)
            )
            with world.engine(limits) as engine:
                attempt(partial(engine.stage, rest))
    return tuple(found.values())


def _left_unread(source: TableSource, planned: Plan, world: World) -> TableSource | None:
    """Return the columns of a dataset that no release reads; None where all are read.

    Where a domain bounds what a release with noise draws, values outside it are no fault. Rows that `outside: drop` leaves out are left out here, too.
    """
    reading = [(release, one) for release in planned.releases for one in release.sources if one.dataset == source.dataset]
    if not reading:
        return source
    read = {column.name for _, one in reading for column in one.columns}
    rest = [column for column in source.columns if column.name not in read]
    if not rest:
        return None
    if any(kind_of(release, world.kinds).accounted for release, _ in reading):
        rest = [column if _drops(column) else replace(column, domain=None) for column in rest]
    dropping = [column for column in source.columns if column.name in read and _drops(column)]
    return replace(
        source, columns=(*dropping, *rest), unread=tuple(one for one in source.columns if one.name in read and not _drops(one))
    )


def _drops(column: Column) -> bool:
    return column.domain is not None and column.domain.outside == "drop"


def _empty(source: TableSource, staged: Staged) -> Finding:
    """Return the fault of a source without a row, of which a run makes an empty release that fails its audit."""
    if staged.dropped_outside:
        message = f"no row of {source.label} is within the domains that say `outside: drop`: a run releases nothing, and fails"
        hint = "correct the domains, or the source"
    else:
        message, hint = (
            f"{source.label} has column names and no row: a run releases nothing, and fails",
            "add rows to the source",
        )
    return Finding("A219", message, location=source.location, hint=hint)
