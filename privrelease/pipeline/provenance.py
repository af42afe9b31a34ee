"""Provenance of a file from a run of ours: its bytes are an output's in the decided manifest, or it lies at its place in the
run.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from privrelease.errors import InputError, PrivreleaseError
from privrelease.pipeline.kinds import KINDS, Kind, kind_of
from privrelease.texts.sentences import Said
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from privrelease.plan.model import Plan, ReleasePlan
    from privrelease.relational.schema import Sink
    from privrelease.release.manifest import Manifest, ManifestOutput
    from privrelease.release.runs import RunFolder, RunRecord
    from privrelease.release.store import ReleaseStore

__all__ = ["Origin", "origin_of"]

#: The finding that an output is not the one that was audited: the audit itself says so, of the file it was given.
_OUTGOING = frozenset({"R161", "R168"})


@dataclass(frozen=True, slots=True)
class Origin:
    """The run that made files. ``files``: its outputs in the plan's order, the audited files in place of those whose they are.

    ``files`` None: ``why`` its record leads nowhere any more.
    """

    run: RunFolder
    state: str
    manifest: Manifest | None
    """None: there is none that can be read any more."""
    altered: tuple[Said, ...]
    """Names of what the run says of itself that is not as it was decided upon."""
    files: tuple[Sink, ...] | None = None
    why: str = ""


def origin_of(
    files: Sequence[Sink],
    release: ReleasePlan,
    policy: Plan,
    store: ReleaseStore,
    *,
    source: bool = True,
    kinds: Sequence[Kind[Any]] = KINDS,
) -> Origin | None:
    """Return the newest run of the release that made all of ``files``, a published one before others; None: no run known here did.

    A file that lies at its place in the run's folder is the run's, whatever its bytes are now: the audit then reports that it
    was altered. ``source``: the audit will read it, so it has to be the one that the run read.
    """
    from privrelease.release.digests import sha256_of

    digests = {sha256_of(sink.path): sink for sink in files}
    found = [known for record in _records(store, release, policy) if (known := _made(record, store, digests)) is not None]
    if not found:
        return None
    made = next((one for one in found if one.state == "published"), found[0])
    origin = Origin(made.run, made.state, made.manifest, made.altered)
    outputs = made.run.data
    if len(outputs) != len(release.sinks) or made.outputs not in (None, [_form(one, one.kind.value) for one in release.sinks]):
        return replace(origin, why="the policy names other outputs now")
    if source and not _source_unchanged(made.run, release, store, kinds):
        return replace(origin, why="the source, or a file of keys, is not the one that was read then")
    paths = [made.taken[path.name].path if path.name in made.taken else path for path in outputs]
    return replace(origin, files=tuple(replace(sink, path=path) for sink, path in zip(release.sinks, paths, strict=True)))


@dataclass(frozen=True, slots=True)
class _Made:
    """A run that made every file. ``taken``: its outputs' names with the files that they are."""

    run: RunFolder
    state: str
    manifest: Manifest | None
    altered: tuple[Said, ...]
    taken: dict[str, Sink]

    @property
    def outputs(self) -> list[tuple[str, ...]] | None:
        return None if self.manifest is None else [_form(output, output.kind) for output in self.manifest.outputs]


def _form(output: Sink | ManifestOutput, kind: str) -> tuple[str, ...]:
    """Return how a file of a release is named and written."""
    return output.label, kind, output.delimiter, output.decimal


def _records(store: ReleaseStore, release: ReleasePlan, policy: Plan) -> list[RunRecord]:
    """The decided runs of the release, newest first; none where the state folder cannot be read."""
    from privrelease.execute.common.scope import release_name
    from privrelease.release.runs import RunState

    kept = {RunState.PUBLISHED, RunState.PARKED, RunState.SUPERSEDED}
    name = release_name(release, policy)
    try:
        records = store.records()
    except (PrivreleaseError, OSError):
        return []
    return [one for one in reversed(records) if one.name == name and one.state in kept and one.decided is not None]


def _made(record: RunRecord, store: ReleaseStore, digests: Mapping[str, Sink]) -> _Made | None:
    """The run, where it made every file."""
    from privrelease.release.tamper_check import alterations

    try:
        run = store.folder(record.run)
        places = {path.resolve(): path.name for path in run.data}
        manifest = run.manifest() if run.manifest_path.is_file() else None
    except InputError as error:
        if error.code != "R125":
            return None
        manifest = None
    except OSError:
        return None
    names = {} if manifest is None else {output.sha256: output.file for output in manifest.outputs}
    taken: dict[str, Sink] = {}
    for digest, sink in digests.items():
        name = names.get(digest) or places.get(sink.path)
        if name is None:
            return None
        taken[name] = sink
    try:
        altered = tuple(
            said for finding in alterations(run) if finding.code not in _OUTGOING and isinstance(said := finding.message, Said)
        )
    except (PrivreleaseError, OSError):
        return None
    return _Made(run, record.state.value, manifest, altered, taken)


def _source_unchanged(run: RunFolder, release: ReleasePlan, store: ReleaseStore, kinds: Sequence[Kind[Any]]) -> bool:
    """Return True if the files of the source, and lists of keys, are those that the run read, as its row map needs."""
    from privrelease.execute.common.inputs import digest_inputs
    from privrelease.execute.common.scope import sources_of
    from privrelease.release.digests import DIGEST_KEY, digest_key

    if not os.environ.get(DIGEST_KEY) and not (store.state / "digest.key").is_file():
        return False
    try:
        then = kind_of(release, kinds).inputs(run)
        return digest_inputs(sources_of(release), digest_key(store.state, os.environ), release.lists).digests == then
    except (InputError, OSError):
        return False
