"""A table from source to parked files: read, aggregate, find unsafe cells, suppress them and those that protect them, write.

Parked tables are not yet safe: the audit judges the files again. Exact figures of suppressed cells are in no message, log or
file.
"""

from __future__ import annotations

import os
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import floor
from typing import TYPE_CHECKING

import numpy as np

from privrelease.errors import InputError
from privrelease.execute.common.inputs import digest_inputs
from privrelease.execute.common.manifest import manifest_of
from privrelease.execute.common.persons import check_unit
from privrelease.execute.common.progress import silent
from privrelease.execute.tables.files import write_table
from privrelease.plan.tables.description import described
from privrelease.plan.tables.plan import joined, joint_source, tables_of_same_rows
from privrelease.release.digests import digest_key
from privrelease.release.manifest import InternalTable, Manifest, ManifestColumn
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from privrelease.disclosure.tables.linked import Linked
    from privrelease.disclosure.tables.secondary import Suppression
    from privrelease.engine.protocol.base import Engine
    from privrelease.execute.common.inputs import InputFiles
    from privrelease.execute.common.progress import Progress
    from privrelease.execute.tables.files import Row
    from privrelease.plan.model import Plan
    from privrelease.plan.tables.plan import MeasurePlan, TablePlan
    from privrelease.release.runs import RunFolder
    from privrelease.release.store import ReleaseStore

__all__ = ["PublishedTable", "cells_to_suppress", "run_table"]


@dataclass(frozen=True, eq=False, slots=True)
class PublishedTable:
    """A table of the same rows that is already published: figures of every cell in its order (None: suppressed), in the order
    of its measures.
    """

    plan: TablePlan
    rows: tuple[tuple[Fraction | None, ...], ...]
    suppressed: NDArray[np.bool_]


def run_table(
    plan: TablePlan,
    policy: Plan,
    *,
    engine: Engine,
    store: ReleaseStore,
    run: RunFolder,
    progress: Progress = silent,
    environment: Mapping[str, str] | None = None,
    published: Sequence[PublishedTable] = (),
) -> Manifest:
    """Execute one table and park it in ``run``. Its suppression holds against it together with every other table of the same
    rows, those of the policy and those that are ``published`` already.

    Raises InputError where the source cannot be read, rows lack a person, persons have too many, or too many columns are linked.
    """
    tables = tables_of_same_rows(plan, policy)
    gone = [one for one in published if one.plan not in tables]
    source = joint_source((*tables, *(one.plan for one in gone)))
    progress("digest", None)
    key = digest_key(store.state, os.environ if environment is None else environment)
    inputs = digest_inputs((source,), key, plan.lists)
    progress("read", None)
    staged = engine.stage(source)
    inputs.check_unchanged()
    check_unit(plan, source, engine, staged)
    progress("aggregate", None)
    unit = plan.unit
    most = 1 if unit is None else unit.max_rows or float("inf")

    def link(linked: Sequence[TablePlan]) -> Linked:
        return joined(linked, most=most, fetch=lambda asked: engine.table_cells(staged, asked))

    together, tables = _linked(link, tables, gone)
    mine = tables.index(plan)
    _refuse_impossible(plan, together.table.rows[together.places[mine]])
    progress("suppress", None)
    suppressed = cells_to_suppress(plan, together, tables, published, progress).suppressed[together.places[mine]]
    rows = list(_rows(plan, together, mine, suppressed))
    progress("write", None)
    return _park(plan, policy, store, run, inputs, rows, staged.n_rows, engine.libraries)


def _linked(
    link: Callable[[Sequence[TablePlan]], Linked], tables: tuple[TablePlan, ...], gone: Sequence[PublishedTable]
) -> tuple[Linked, tuple[TablePlan, ...]]:
    """The tables of the policy together with the ``gone`` (removed) ones of these rows, as far as they are not too many."""
    same = [one.plan for one in gone if _prints(one, link((one.plan,)), 0)]
    every = (*tables, *(plan for i, plan in enumerate(same) if plan not in same[:i]))
    try:
        return link(every), every
    except InputError:
        if every == tables:
            raise
        return link(tables), tables


def _prints(one: PublishedTable, together: Linked, number: int) -> bool:
    """Return True if the rows that are there now give what a table prints."""
    made = [row[len(one.plan.by) + 1 : -1] for row in _rows(one.plan, together, number, one.suppressed)]
    return made == list(one.rows)


def _refuse_impossible(plan: TablePlan, rows: NDArray[np.int64]) -> None:
    impossible = plan.impossible_cells
    if impossible is not None and rows[impossible].any():
        raise InputError(
            code="D631",
            message=f"release {plan.id}: the source has rows in a cell that its policy calls impossible",
            hint="correct `impossible`, or the source",
        )


def cells_to_suppress(
    plan: TablePlan,
    together: Linked,
    tables: Sequence[TablePlan],
    published: Sequence[PublishedTable],
    progress: Progress = silent,
) -> Suppression:
    """Return the cells of all tables that are not printed. Some are known to be empty; whether they are printed is for the policy to say."""
    found = _protected(plan, together, tables, published, progress)
    granted, impossible = together.table.granted, together.table.impossible
    if granted is None or plan.rules.zeros_shown:
        return found
    return replace(found, suppressed=found.suppressed | (granted if impossible is None else granted & ~impossible))


def _protected(
    plan: TablePlan,
    together: Linked,
    tables: Sequence[TablePlan],
    published: Sequence[PublishedTable],
    progress: Progress,
) -> Suppression:
    """The cells of all tables that must not be printed. A table that was made of other rows says nothing of these; what is
    already published and unsafe by the rules of today is not printed again.
    """
    from privrelease.disclosure.tables.secondary import Suppression, suppression

    size = together.table.layout.size
    kept, hidden = np.zeros(size, np.bool_), np.zeros(size, np.bool_)
    unsafe: NDArray[np.bool_] = np.logical_or.reduce(list(together.table.primaries().values()))
    if not plan.secondary:
        return Suppression(unsafe, 0)
    for one in published:
        number = tables.index(one.plan) if one.plan in tables else None
        if number is not None and _prints(one, together, number):
            kept[together.places[number][~one.suppressed]] = True
            hidden[together.places[number][one.suppressed]] = True
    kept &= ~unsafe
    return suppression(together.table, kept, hidden & ~kept, plan.prefer, progress)


def _rows(plan: TablePlan, together: Linked, number: int, suppressed: NDArray[np.bool_]) -> Iterator[Row]:
    """Every cell in the order of the box, the totals of a column after its keys."""
    places = [(*keys, None) if plan.margins else keys for keys in plan.keys]
    for cell, (keys, mine) in enumerate(zip(product(*places), together.places[number], strict=True)):
        over = " ".join(name for name, key in zip(plan.by, keys, strict=True) if key is None)
        figures = [None if suppressed[cell] else _figure(one, plan, together, int(mine)) for one in plan.measures]
        yield (*keys, over, *figures, "suppressed" if suppressed[cell] else "shown")


def _figure(one: MeasurePlan, plan: TablePlan, together: Linked, cell: int) -> Fraction | None:
    """A figure as it is printed; the mean of no value is not a figure."""
    cells = together.cells
    if one.column is None:
        return Fraction(-(-int(cells.rows[cell]) // plan.round_up) * plan.round_up)
    column = together.names.index(one.column)
    value = int(cells.sums[column, cell]) * one.grid
    if one.kind != "mean":
        return value
    rows = int(cells.known_rows[column, cell])
    return floor(value / rows / one.unit + Fraction(1, 2)) * one.unit if rows else None


def _park(
    plan: TablePlan,
    policy: Plan,
    store: ReleaseStore,
    run: RunFolder,
    inputs: InputFiles,
    rows: Sequence[Row],
    read: int,
    libraries: Sequence[str],
) -> Manifest:
    sinks = tuple(replace(sink, path=path) for sink, path in zip(plan.sinks, run.data, strict=True))
    write_table(plan.columns, rows, sinks)
    columns = tuple(ManifestColumn(name=name, type=kind) for name, kind in plan.columns)
    manifest = manifest_of(
        plan.id, policy, run, sinks, columns, len(rows), order="policy", libraries=(*libraries, "numpy", "pyarrow", "scipy")
    )
    internal = InternalTable(
        run=run.id,
        manifest_sha256=manifest.digest(),
        inputs=inputs.digests,
        source_rows=read,
        description=described(plan),
    )
    store.park(run, manifest, internal)
    return manifest
