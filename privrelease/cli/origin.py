"""Which run of ours made a file: its bytes are those of an output in the manifest that was decided upon."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from privrelease.errors import InputError, PrivreleaseError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privrelease.audit.target import AuditTarget
    from privrelease.plan.model import MicrodataPlan, Plan
    from privrelease.relational.schema import Sink
    from privrelease.release.manifest import Manifest
    from privrelease.release.runs import RunFolder, RunRecord
    from privrelease.release.store import ReleaseStore

__all__ = ["Origin", "origin_of"]


@dataclass(frozen=True, slots=True)
class Origin:
    """The run that made files, and what an audit may take from it. ``target`` None: ``why`` its record leads nowhere any more."""

    run: str
    state: str
    target: AuditTarget | None
    why: str = ""


def origin_of(files: Sequence[Sink], release: MicrodataPlan, policy: Plan, store: ReleaseStore) -> Origin | None:
    """Return the newest run of the release that made all of ``files``, a published one before others; None: no run known here did.

    The target is the whole run, with its manifests and its row map, and ``files`` in place of the outputs whose bytes they are.
    """
    from privrelease.release.digests import sha256_of

    digests = {sha256_of(sink.path): sink for sink in files}
    found = [known for record in _records(store, release, policy) if (known := _made(record, store, digests)) is not None]
    if not found:
        return None
    record, run, manifest = next((one for one in found if one[0].state.value == "published"), found[0])
    outputs = [(output.label, output.kind) for output in manifest.outputs]
    if outputs != [(sink.label, sink.kind.value) for sink in release.sinks]:
        return Origin(run.id, record.state.value, None, "the policy names other outputs now")
    if not _source_unchanged(run, release, store):
        return Origin(run.id, record.state.value, None, "the source is not the one that was read then")
    return Origin(run.id, record.state.value, _target(run, manifest, release, digests))


def _records(store: ReleaseStore, release: MicrodataPlan, policy: Plan) -> list[RunRecord]:
    """The decided runs of the release, newest first; none where the state folder cannot be read."""
    from privrelease.execute.microdata import release_name
    from privrelease.release.runs import RunState

    kept = {RunState.PUBLISHED, RunState.PARKED, RunState.SUPERSEDED}
    name = release_name(release, policy)
    try:
        records = store.records()
    except (PrivreleaseError, OSError):
        return []
    return [one for one in reversed(records) if one.name == name and one.state in kept and one.decided is not None]


def _made(record: RunRecord, store: ReleaseStore, digests: dict[str, Sink]) -> tuple[RunRecord, RunFolder, Manifest] | None:
    try:
        run = store.folder(record.run)
        manifest = run.manifest()
    except (PrivreleaseError, OSError):
        return None
    decided = record.decided
    if decided is None or decided.manifest_sha256 != manifest.digest():
        return None
    return (record, run, manifest) if digests.keys() <= {output.sha256 for output in manifest.outputs} else None


def _source_unchanged(run: RunFolder, release: MicrodataPlan, store: ReleaseStore) -> bool:
    """Whether the files of the source are those that the run read: else its row map leads to other rows."""
    from privrelease.execute.inputs import digest_inputs
    from privrelease.execute.microdata import sources_of
    from privrelease.release.digests import DIGEST_KEY, digest_key

    if DIGEST_KEY not in os.environ and not (store.state / "digest.key").is_file():
        return False
    try:
        then = run.internal_manifest().inputs
        return digest_inputs(sources_of(release), digest_key(store.state, os.environ)).digests == then
    except (InputError, OSError):
        return False


def _target(run: RunFolder, manifest: Manifest, release: MicrodataPlan, digests: dict[str, Sink]) -> AuditTarget:
    from privrelease.audit.target import AuditTarget

    paths = [digests[one.sha256].path if one.sha256 in digests else run.output(one.file) for one in manifest.outputs]
    files = tuple(replace(sink, path=path) for sink, path in zip(release.sinks, paths, strict=True))
    return replace(AuditTarget.of_run(run, release), files=files)
