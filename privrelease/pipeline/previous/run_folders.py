"""Earlier releases as the folders of their runs hold them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from privrelease.audit.comparison.previous_release import EarlierRelease, EarlierReleases, named_by_run
from privrelease.errors import PrivreleaseError
from privrelease.pipeline.kinds import KINDS, Kind, kind_of_manifest
from privrelease.relational.treatments import CellRelation, relation_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from privrelease.engine.protocol.base import EngineSettings
    from privrelease.plan.model import Plan, ReleasePlan
    from privrelease.relational.schema import Column, Sink
    from privrelease.release.manifest import InputDigest, ManifestColumn, ManifestOutput
    from privrelease.release.runs import RunFolder, RunRecord

__all__ = [
    "inputs_of",
    "of_same_persons",
    "pseudonym_columns",
    "readable_too",
    "release_of_run",
    "released_column",
    "released_file",
]


def readable_too(settings: EngineSettings, earlier: EarlierReleases) -> EngineSettings:
    """Let an engine read the files of earlier releases too."""
    paths = [path for one in earlier.releases for path in (one.file.path, one.row_map, one.state) if path is not None]
    return replace(settings, readable=tuple(dict.fromkeys((*settings.readable, *(path.parent for path in paths)))))


def of_same_persons(run: RunFolder, record: RunRecord, release: ReleasePlan, policy: Plan) -> bool:
    """Return True if a run was about the release's population; where either names none, about one dataset of one policy."""
    if release.population_id is None and record.policy != policy.policy_id:
        return False
    data = run.audited()["data"]
    if release.population_id is not None and data["population"] is not None:
        return bool(data["population"] == release.population_id)
    return bool((record.policy, data["dataset"]) == (policy.policy_id, release.source.dataset))


def inputs_of(run: RunFolder, kinds: Sequence[Kind[Any]] = KINDS) -> tuple[InputDigest, ...]:
    """Return what a run read, whatever its kind; nothing where it has not come to that, or cannot be read any more."""
    try:
        return kind_of_manifest(run.manifest(), kinds).inputs(run)
    except (PrivreleaseError, OSError, ValueError, LookupError, StopIteration):
        return ()


def release_of_run(run: RunFolder, release: ReleasePlan, kinds: Sequence[Kind[Any]]) -> EarlierRelease:
    """Return an earlier release from the folder of its run."""
    manifest = run.manifest()
    paths = [(output, run.output(output.file)) for output in manifest.outputs]
    output, path = next((one for one in paths if one[0].kind == "parquet"), paths[0])
    table = next((sink.table for sink in release.sinks if sink.label == output.label), "data")
    kind = kind_of_manifest(manifest, kinds)
    earlier = EarlierRelease(
        name=named_by_run(manifest.release, run.id),
        kind=kind.name,
        file=released_file(path, output, table),
        columns=tuple(released_column(column) for column in output.columns),
        order=manifest.order,
        run=run.id,
        digests=frozenset(one.sha256 for one in manifest.outputs),
        manifest=manifest,
        snapshot=None if manifest.privacy is None else manifest.privacy.snapshot,
        pseudonyms=pseudonym_columns(output.columns),
    )
    return kind.previous(earlier, run)


def pseudonym_columns(columns: Sequence[ManifestColumn]) -> frozenset[str]:
    """Return the names of columns that hold keyed tokens."""
    return frozenset(column.name for column in columns if relation_of(column.treatment) is CellRelation.KEYED_TOKEN)


def released_file(path: Path, output: ManifestOutput, table: str = "data") -> Sink:
    """Return a released file as an engine is asked to read it."""
    from privrelease.relational.schema import Sink, SinkKind

    return Sink(SinkKind(output.kind), path.resolve(), output.label, table, output.delimiter, output.decimal)


def released_column(column: ManifestColumn) -> Column:
    """Return a released column as an engine reads it: of the type that the manifest states, and of no role."""
    from privrelease.relational.schema import Column, ColumnType, Role

    return Column(column.name, ColumnType(column.type), Role.INSENSITIVE)
