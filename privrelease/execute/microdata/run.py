"""A microdata release from source to parked files: read, collapse to classes, suppress, write, describe.

Parked data are not yet safe: the audit measures it again and decides. Nothing here is printed; ``progress`` gets reports.
"""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from privrelease.engine.protocol.base import OutputColumn, OutputTable
from privrelease.errors import InternalError
from privrelease.execute.common.inputs import digest_inputs
from privrelease.execute.common.manifest import manifest_of
from privrelease.execute.common.progress import silent
from privrelease.execute.common.scope import sources_of
from privrelease.execute.microdata.forecast import separating_column
from privrelease.execute.microdata.frontier import stated
from privrelease.execute.microdata.protection import Protected, prepare, solve
from privrelease.execute.microdata.recoding import MAKERS, pseudonym_keys
from privrelease.execute.microdata.suppression import limit_exceeded, nulled_cells, parts_of
from privrelease.release.digests import digest_key, sha256_of
from privrelease.release.files import os_errors
from privrelease.release.manifest import (
    Claims,
    InternalManifest,
    Manifest,
    ManifestColumn,
    RowMapDigest,
)
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from privrelease.engine.protocol.base import Engine, Staged, WrittenOutput
    from privrelease.execute.common.progress import Progress
    from privrelease.execute.microdata.recoding import Makers
    from privrelease.findings import Finding
    from privrelease.plan.model import MicrodataPlan, Plan
    from privrelease.release.runs import RunFolder
    from privrelease.release.store import ReleaseStore

__all__ = [
    "ParkedRelease",
    "run_microdata",
]


@dataclass(frozen=True, slots=True)
class ParkedRelease:
    """A release that waits for its audit: its run, its manifests, the staged source, and what the executor found on the way.

    ``source``: as it was protected, recoded columns with the values that are released; ``findings`` hold the reader's warnings and an exceeded limit.
    """

    run: RunFolder
    manifest: Manifest
    internal: InternalManifest
    source: Staged
    findings: tuple[Finding, ...]


def run_microdata(
    plan: MicrodataPlan,
    policy: Plan,
    *,
    engine: Engine,
    store: ReleaseStore,
    run: RunFolder,
    progress: Progress = silent,
    environment: Mapping[str, str] | None = None,
    makers: Makers = MAKERS,
) -> ParkedRelease:
    """Execute one microdata release and park it in ``run``, a folder that ``store.start`` opened for this plan's sinks.

    ``engine`` may read the sources and write ``run`` (see :func:`privrelease.execute.common.scope.engine_settings`). ``environment`` (default: the
    process's) holds pseudonym and digest keys. ``makers``: of the values that transform steps replace. Raises InputError: D610, D611 before anything is read; D601, D602 persons; D620 the source
    changed meanwhile; and what reading and writing raise. Where a threat cannot be met, or the limit is exceeded, the release parks all the
    same, for the audit to fail it.
    """
    environment = os.environ if environment is None else environment
    keys = pseudonym_keys(plan, environment)
    progress("digest", None)
    inputs = digest_inputs(sources_of(plan), digest_key(store.state, environment), plan.lists)
    prepared = prepare(plan, engine, progress, makers)
    protected = Protected(prepared.source, prepared.persons, prepared.rows, solve(plan, prepared, progress))
    frontier = stated(plan, prepared, progress)
    inputs.check_unchanged()
    parts, source = parts_of(protected.solution, protected.rows), protected.source
    n_dropped = int(parts.records[parts.dropped].sum())
    claims = _claims(plan, protected, n_dropped)
    separating = partial(separating_column, plan, protected.rows.table, protected.persons.linkable)
    over = limit_exceeded(plan, claims.lost, claims.cells_total, separating)
    del prepared, protected, separating  # the class table is long, and writing needs memory of its own
    progress("write", None)
    sinks = tuple(replace(sink, path=path) for sink, path in zip(plan.sinks, run.data, strict=True))
    written = engine.write(
        source,
        OutputTable(
            columns=tuple(OutputColumn(column.name, column.type, keys.get(column.name)) for column in plan.columns),
            parts=parts,
            sinks=sinks,
            row_map=run.row_map,
            order=plan.order,
        ),
    )
    if written.rows + n_dropped != source.n_rows:
        raise InternalError(code="R184", message="the engine wrote another number of rows than it was given")
    progress("manifest", None)
    with os_errors("digesting the files of the release"):
        manifest = _manifest(plan, policy, run, written, engine.libraries)
        internal = InternalManifest(
            run=run.id,
            manifest_sha256=manifest.digest(),
            inputs=inputs.digests,
            row_map=RowMapDigest(file=run.row_map.name, sha256=sha256_of(run.row_map), bytes=run.row_map.stat().st_size),
            claims=claims,
            frontier=frontier,
        )
    store.park(run, manifest, internal)
    findings = (*source.warnings, *(() if over is None else (over,)))
    return ParkedRelease(run, manifest, internal, source, findings)


def _claims(plan: MicrodataPlan, protected: Protected, n_dropped: int) -> Claims:
    names = plan.quasi_identifiers
    n_rows = protected.source.n_rows
    return Claims(
        source_rows=n_rows,
        rows_outside_domain=protected.source.dropped_outside,
        source_persons=protected.persons.number,
        linkable=protected.persons.linkable,
        classes=protected.rows.table.n_classes,
        released_rows=n_rows - n_dropped,
        dropped_rows=n_dropped,
        cells_total=n_rows * len(names),
        suppressed=dict(zip(names, nulled_cells(protected.solution).tolist(), strict=True)),
        lost=dict(zip(names, protected.solution.lost_cells.tolist(), strict=True)),
        feasible=protected.solution.feasible,
    )


def _manifest(plan: MicrodataPlan, policy: Plan, run: RunFolder, written: WrittenOutput, libraries: Sequence[str]) -> Manifest:
    columns = tuple(
        ManifestColumn(name=column.name, type=column.type.value, treatment=column.treatment.code) for column in plan.columns
    )
    sinks = tuple(replace(sink, path=path) for sink, path in zip(plan.sinks, written.paths, strict=True))
    return manifest_of(plan.id, policy, run, sinks, columns, written.rows, order=plan.order, libraries=libraries)
