"""A table from source to parked files: read, aggregate, find unsafe cells, suppress them and those that protect them, write.

What is parked is not yet safe: the audit judges the files anew. Exact figures of suppressed cells are in no message, log or file.
"""

from __future__ import annotations

import os
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from privrelease.disclosure.tables.figures import ProtectedTable, SumFigure
from privrelease.disclosure.tables.rules import Magnitude
from privrelease.execute.describing import manifest_of
from privrelease.execute.inputs import digest_inputs
from privrelease.execute.persons import person_sizes
from privrelease.execute.progress import silent
from privrelease.execute.table_files import write_table
from privrelease.release.digests import digest_key
from privrelease.release.manifest import InternalStatistics, Manifest, ManifestColumn

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from privrelease.engine.protocol import Engine
    from privrelease.execute.inputs import InputFiles
    from privrelease.execute.progress import Progress
    from privrelease.execute.table_files import Row
    from privrelease.plan.model import Plan
    from privrelease.plan.tables import TablePlan
    from privrelease.relational.tables import TableCells
    from privrelease.release.runs import RunFolder
    from privrelease.release.store import ReleaseStore

__all__ = ["run_table"]


def run_table(
    plan: TablePlan,
    policy: Plan,
    *,
    engine: Engine,
    store: ReleaseStore,
    run: RunFolder,
    progress: Progress = silent,
    environment: Mapping[str, str] | None = None,
) -> Manifest:
    """Execute one table and park it in ``run``. Raises InputError where the source cannot be read, or rows lack a person or persons have too many."""
    progress("digest", None)
    inputs = digest_inputs((plan.source,), digest_key(store.state, os.environ if environment is None else environment))
    progress("read", None)
    staged = engine.stage(plan.source)
    inputs.check_unchanged()
    if plan.unit is not None:
        person_sizes(plan.unit, plan.source, engine, staged)
    progress("aggregate", None)
    cells = engine.table_cells(staged, plan.query)
    progress("suppress", None)
    rows = list(_rows(plan, cells, _suppressed(plan, cells)))
    progress("write", None)
    return _park(plan, policy, store, run, inputs, rows, staged.n_rows)


def _suppressed(plan: TablePlan, cells: TableCells) -> NDArray[np.bool_]:
    from privrelease.disclosure.tables.secondary import suppressed_cells

    unit = plan.unit
    sums = [
        SumFigure(Magnitude(cells.sums[i], cells.largest[i] * (one.kind == "sum")), one.low, one.high)
        for i, one in enumerate(plan.added)
    ]
    table = ProtectedTable(
        layout=plan.layout,
        rules=plan.rules,
        contributors=cells.persons,
        rows=cells.rows,
        sums=tuple(sums),
        counted=any(one.kind == "count" for one in plan.measures),
        round_up=plan.round_up,
        most=1 if unit is None else unit.max_rows or float("inf"),
    )
    if plan.secondary:
        return suppressed_cells(table)
    unsafe: NDArray[np.bool_] = np.logical_or.reduce(list(table.primaries().values()))
    return unsafe


def _rows(plan: TablePlan, cells: TableCells, suppressed: NDArray[np.bool_]) -> Iterator[Row]:
    """Every cell in the order of the box, the totals of a column after its keys."""
    places = [(*keys, None) if plan.margins else keys for keys in plan.keys]
    added = {one.name: i for i, one in enumerate(plan.added)}
    for cell, keys in enumerate(product(*places)):
        over = " ".join(name for name, key in zip(plan.by, keys, strict=True) if key is None)
        figures: list[Fraction | None] = []
        for one in plan.measures:
            if suppressed[cell]:
                figures.append(None)
            elif one.column is None:
                figures.append(Fraction(-(-int(cells.rows[cell]) // plan.round_up) * plan.round_up))
            else:
                figures.append(int(cells.sums[added[one.name], cell]) * one.grid)
        yield (*keys, over, *figures, "suppressed" if suppressed[cell] else "shown")


def _park(
    plan: TablePlan,
    policy: Plan,
    store: ReleaseStore,
    run: RunFolder,
    inputs: InputFiles,
    rows: Sequence[Row],
    read: int,
) -> Manifest:
    sinks = tuple(replace(sink, path=path) for sink, path in zip(plan.sinks, run.data, strict=True))
    write_table(plan.columns, rows, sinks)
    columns = tuple(ManifestColumn(name=name, type=kind) for name, kind in plan.columns)
    manifest = manifest_of(
        plan.id, policy, run, sinks, columns, len(rows), order="policy", libraries=("duckdb", "numpy", "pyarrow", "scipy")
    )
    internal = InternalStatistics(run=run.id, manifest_sha256=manifest.digest(), inputs=inputs.digests, source_rows=read)
    store.park(run, manifest, internal)
    return manifest
