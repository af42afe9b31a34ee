"""Earlier releases beside which a release is audited: those that were published from the same state folder, and those that a person names."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from privrelease.audit.comparison.combine import named
from privrelease.audit.comparison.previous_release import EarlierRelease, EarlierReleases, Recipients, UnreadableRelease
from privrelease.errors import InputError, PrivreleaseError, UnseenReleaseError, UsageError
from privrelease.pipeline.kinds import KINDS, Kind, kind_named, kind_of, kind_of_manifest
from privrelease.pipeline.publication_log import unknown_publications
from privrelease.pipeline.settings import chosen
from privrelease.plan.model import releases_of
from privrelease.relational.treatments import CellRelation, relation_of
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privrelease.audit.document.model import AuditResult
    from privrelease.engine.protocol.base import EngineSettings
    from privrelease.pipeline.settings import Settings
    from privrelease.plan.model import Plan, ReleasePlan
    from privrelease.relational.schema import Column, Sink
    from privrelease.release.manifest import InputDigest, ManifestColumn, ManifestOutput
    from privrelease.release.runs import RunFolder, RunRecord
    from privrelease.release.store import ReleaseStore

__all__ = [
    "MOST_EARLIER",
    "inputs_of",
    "named_releases",
    "of_same_persons",
    "published_before",
    "readable_too",
    "require_audited_together",
]

#: Earlier releases of different content that a run looks at, the newest first.
MOST_EARLIER: Final = 24


@dataclass(frozen=True, slots=True)
class _Asked:
    """The release that an earlier one is compared with."""

    release: ReleasePlan
    plan: Plan
    settings: Settings
    kinds: Sequence[Kind[Any]] = KINDS


def readable_too(settings: EngineSettings, earlier: EarlierReleases) -> EngineSettings:
    """Let an engine read the files of earlier releases too."""
    paths = [path for one in earlier.releases for path in (one.file.path, one.row_map, one.state) if path is not None]
    return replace(settings, readable=tuple(dict.fromkeys((*settings.readable, *(path.parent for path in paths)))))


# ------------------------------------------------------------------------------------------------------------ published from here


def published_before(
    store: ReleaseStore, release: ReleasePlan, policy: Plan, run: str | None, *, kinds: Sequence[Kind[Any]] = KINDS
) -> EarlierReleases:
    """Return releases of the same persons that were published before, newest first.

    The same persons: of the population that the dataset names, else of the dataset of that name in the policy of that id; and whatever was
    made of the same files under other names, statistics apart, which are the ledger's matter. Releases of the same content count once, but
    for statistics, each of which was paid for, and whoever got one of them has it; a withdrawn one counts, for its recipients have it.
    ``run``: the run that is audited, which is not earlier. What was published and cannot be looked at is named, never passed over.
    """
    return _published(store, release, policy, run, kinds, files=True)


def require_audited_together(
    store: ReleaseStore,
    release: ReleasePlan,
    policy: Plan,
    run: RunFolder,
    audit: AuditResult,
    kinds: Sequence[Kind[Any]] = KINDS,
) -> None:
    """Raise UnseenReleaseError (R167) where an audit made now would look at a release that the run's audit did not look at.

    For the store's lock: another release may have been published since the audit. One of the same content is no other, unless the audit left
    it out because others got it, and somebody who gets this release has it now. Statistics are the ledger's matter, and where recipients hold
    no previous release none is combined. Files are not digested again.
    """
    kind = kind_of(release, kinds)
    if kind.accounted or not release.recipients_hold_previous:
        return
    facts = audit.earlier
    looked = () if facts is None else facts.releases
    seen = {one.run or one.release for one in looked}
    combined = {one.run or one.release for one in looked if one.looked != "not_held"}
    out = _published(store, release, policy, run.id, kinds, files=False)
    others = [one for one in out.releases if one.held and not kind_named(one.kind, kinds).accounted and one.run not in combined]
    if others:
        known = _digests(store, run.id).union(*(_digests(store, one) for one in combined))
        others = [one for one in others if not one.digests & known]
    unlooked = (*out.unlooked, *out.unknown)
    names = [one.name for one in others] + [one.name for one in unlooked if (one.run or one.name) not in seen]
    if names:
        raise UnseenReleaseError(
            code="R167",
            message=f"the audit of release {release.id} (run {run.id}) was made without what is published of the same persons: {named(names)}",
            hint="run the release again, so that both are audited together",
        )


def _digests(store: ReleaseStore, run: str) -> frozenset[str]:
    """Of the files that a run made; none where that cannot be read any more."""
    try:
        return frozenset(output.sha256 for output in store.folder(run).manifest().outputs)
    except (PrivreleaseError, OSError, ValueError, StopIteration):
        return frozenset()


def _published(
    store: ReleaseStore, release: ReleasePlan, policy: Plan, run: str | None, kinds: Sequence[Kind[Any]], *, files: bool
) -> EarlierReleases:
    """As said of :func:`published_before`. ``files``: see that each file is still the one that was published."""
    kind = kind_of(release, kinds)
    try:
        records = [one for one in reversed(store.records()) if _was_published(one) and one.run != run]
    except (PrivreleaseError, OSError) as error:
        return EarlierReleases(unlooked=(UnreadableRelease("what was published from the state folder", None, _why(error)),))
    found: list[EarlierRelease] = []
    unlooked: list[UnreadableRelease] = []
    twice: list[RunRecord] = []
    left = 0
    own = () if run is None or kind.accounted else _own_inputs(store, release, run, kinds)
    for record in records:
        try:
            folder = store.folder(record.run)
            if not (of_same_persons(folder, record, release, policy) or _same_files(folder, own, kinds)):
                twice.append(record)
                continue
            one = _given_to(_of_run(folder, release, kinds), folder, release, policy)
            if files:
                _check_files(folder, one)
                one = replace(one, state=_state(store, release, one, kinds))
        except (PrivreleaseError, OSError, ValueError, TypeError, LookupError, StopIteration) as error:
            unlooked.append(UnreadableRelease(f"{record.release} (run {record.run})", record.run, _why(error)))
            twice.append(record)
            continue
        alike = [other for other in found if other.kind == one.kind]
        if kind.accounted and one.kind == kind.name:
            found.append(one)
        elif any(one.digests & other.digests for other in alike):
            twice.append(record)
        elif not one.apart and sum(not other.apart for other in alike) >= MOST_EARLIER:
            left += 1
        else:
            found.append(one)
    made = () if run is None else _digests(store, run)
    held = release.recipients_hold_previous
    unknown = unknown_publications(store, release, policy, (own, made), kinds, held=held, outputs=files)
    return EarlierReleases(_held_by_all(found, twice, store, (release, policy), kinds), left, tuple(unlooked), unknown)


def _held_by_all(
    found: Sequence[EarlierRelease],
    twice: Sequence[RunRecord],
    store: ReleaseStore,
    asked: tuple[ReleasePlan, Plan],
    kinds: Sequence[Kind[Any]],
) -> tuple[EarlierRelease, ...]:
    """Add to each release whoever got the same files by another publication, whatever its policy calls them. ``twice``: all others.

    A publication of which only its files are known was given to anybody.
    """
    every = list(found)
    if not any(one.apart for one in every):
        return tuple(every)
    for record in twice:
        files = _digests(store, record.run)
        for place, one in enumerate(every):
            if one.apart and one.digests & files:
                every[place] = one.given_too(_publication(one, store.folder(record.run), asked, kinds))
    return tuple(every)


def _publication(
    one: EarlierRelease, folder: RunFolder, asked: tuple[ReleasePlan, Plan], kinds: Sequence[Kind[Any]]
) -> EarlierRelease:
    """Another publication of what ``one`` holds, with its recipients."""
    release, policy = asked
    try:
        return _given_to(_of_run(folder, release, kinds), folder, release, policy)
    except (PrivreleaseError, OSError, ValueError, TypeError, LookupError, StopIteration):
        return replace(one, recipients=None, apart=False, held=release.recipients_hold_previous)


def _state(store: ReleaseStore, release: ReleasePlan, one: EarlierRelease, kinds: Sequence[Kind[Any]]) -> Path | None:
    """Return the file that an earlier table was made of, where it is still there and the same: by its name, next to the source of today."""
    from privrelease.release.digests import digest_key, keyed_digest

    if not kind_named(one.kind, kinds).differences or not one.inputs:
        return None
    noted, source = one.inputs[0], Path(release.source.path)
    root = Path(release.source.path.removesuffix(release.source.label)) if release.source.label else source.parent
    for path in dict.fromkeys((root / noted.label, source.parent / noted.file)):
        if path.is_file():
            key = digest_key(store.state, os.environ)
            if key.id == noted.key_id and keyed_digest(path, key) == noted.hmac_sha256:
                return path
    return None


def _why(error: Exception) -> str:
    """Say what went wrong, without a word of what was read."""
    if isinstance(error, PrivreleaseError):
        return error.code
    return "a file of it cannot be read" if isinstance(error, OSError) else "a file of it is not what this tool writes"


def _check_files(folder: RunFolder, one: EarlierRelease) -> None:
    """Raise InputError (R120) where a file is not the one that was published, OSError where it is gone."""
    from privrelease.release.digests import sha256_of

    manifest = folder.manifest()
    for output in manifest.outputs:
        if sha256_of(folder.output(output.file)) != output.sha256:
            raise InputError(
                code="R120",
                message=f"a file of {one.name} is not what was published",
                hint="restore it from a recipient's copy",
            )


def _was_published(record: RunRecord) -> bool:
    """A publication under way, or one that was killed, may be out."""
    return record.state.value == "publishing" or any(step.state.value == "published" for step in record.history)


def of_same_persons(run: RunFolder, record: RunRecord, release: ReleasePlan, policy: Plan) -> bool:
    """Return True if a run was about the release's population; where none is named, about its dataset."""
    if release.population_id is None and record.policy != policy.policy_id:
        return False
    data = json.loads(run.audit.read_text(encoding="utf-8"))["data"]
    if release.population_id is not None:
        return bool(data["population"] == release.population_id)
    return bool(data["dataset"] == release.source.dataset)


def _own_inputs(store: ReleaseStore, release: ReleasePlan, run: str, kinds: Sequence[Kind[Any]]) -> tuple[str, ...]:
    """Keyed digests of the files of a release's source: as its run noted them, or as they are where it has not come to that."""
    from privrelease.execute.common.inputs import digest_inputs
    from privrelease.release.digests import digest_key

    try:
        noted = inputs_of(store.folder(run), kinds)
    except (PrivreleaseError, OSError):
        noted = ()
    every = noted or digest_inputs((release.source,), digest_key(store.state, os.environ)).digests
    return tuple(one.hmac_sha256 for one in every if one.label == release.source.label)


def _same_files(run: RunFolder, own: tuple[str, ...], kinds: Sequence[Kind[Any]]) -> bool:
    """Return True if a run was made of these files: of its inputs the first is its source's."""
    inputs = inputs_of(run, kinds) if own else ()
    return bool(inputs) and inputs[0].hmac_sha256 in own


def inputs_of(run: RunFolder, kinds: Sequence[Kind[Any]] = KINDS) -> tuple[InputDigest, ...]:
    """Return what a run read, whatever its kind; nothing where it has not come to that, or cannot be read any more."""
    try:
        return kind_of_manifest(run.manifest(), kinds).inputs(run)
    except (PrivreleaseError, OSError, ValueError, LookupError, StopIteration):
        return ()


def _of_run(run: RunFolder, release: ReleasePlan, kinds: Sequence[Kind[Any]]) -> EarlierRelease:
    """An earlier release from the folder of its run."""
    manifest = run.manifest()
    paths = [(output, run.output(output.file)) for output in manifest.outputs]
    output, path = next((one for one in paths if one[0].kind == "parquet"), paths[0])
    table = next((sink.table for sink in release.sinks if sink.label == output.label), "data")
    kind = kind_of_manifest(manifest, kinds)
    earlier = EarlierRelease(
        name=f"{manifest.release} (run {run.id})",
        kind=kind.name,
        file=_sink(path, output, table),
        columns=tuple(_column(column) for column in output.columns),
        order=manifest.order,
        run=run.id,
        digests=frozenset(one.sha256 for one in manifest.outputs),
        manifest=manifest,
        snapshot=None if manifest.privacy is None else manifest.privacy.snapshot,
        pseudonyms=_pseudonyms(output.columns),
    )
    return kind.previous(earlier, run)


def _given_to(one: EarlierRelease, folder: RunFolder, release: ReleasePlan, policy: Plan) -> EarlierRelease:
    """Add who got an earlier release, and whether recipients of the new one may hold it: not where both name theirs and none is in both.

    Ids and names are those of one policy, whatever its version: another one may call the same recipient otherwise.
    """
    from privrelease.audit.checks.facts import legal_facts

    audit = json.loads(folder.audit.read_text(encoding="utf-8"))
    ids = audit["data"].get("recipients")
    theirs = None if ids is None else Recipients.stated(ids, audit["legal"]["stated"])
    apart = (
        theirs is not None
        and release.recipients is not None
        and one.manifest is not None
        and one.manifest.policy.id == policy.policy_id
        and not theirs.meet(Recipients.stated(release.recipients, legal_facts(policy.legal, ()).stated))
    )
    given = None if theirs is None else theirs.ids
    return replace(one, recipients=given, apart=apart, held=release.recipients_hold_previous and not apart)


def _pseudonyms(columns: Sequence[ManifestColumn]) -> frozenset[str]:
    return frozenset(column.name for column in columns if relation_of(column.treatment) is CellRelation.KEYED_TOKEN)


def _sink(path: Path, output: ManifestOutput, table: str = "data") -> Sink:
    from privrelease.relational.schema import Sink, SinkKind

    return Sink(SinkKind(output.kind), path.resolve(), output.label, table, output.delimiter, output.decimal)


def _column(column: ManifestColumn) -> Column:
    from privrelease.relational.schema import Column, ColumnType, Role

    return Column(column.name, ColumnType(column.type), Role.INSENSITIVE)


# --------------------------------------------------------------------------------------------------------------- named by a person


def named_releases(
    texts: Sequence[str], release: ReleasePlan, plan: Plan, settings: Settings, *, kinds: Sequence[Kind[Any]] = KINDS
) -> EarlierReleases:
    """Return the releases that were named, each as ``[POLICY#]EARLIER``: a file, a folder, a run, or the release published now.

    ``POLICY``: the policy it was made under; without one, the policy of the audit. Raises UsageError (C140) where nothing has that name.
    """
    return EarlierReleases(tuple(_named(text, _Asked(release, plan, settings, kinds)) for text in texts))


def _named(text: str, asked: _Asked) -> EarlierRelease:
    policy, mark, name = text.rpartition("#")
    if mark and Path(policy).is_file():
        _, plan = asked.settings.load(Path(policy), asked.kinds)
        asked = replace(asked, plan=plan, release=_counterpart(plan, asked.release))
    else:
        name = text
    path = Path(name)
    if path.is_dir():
        return _of_folder(path, asked)
    return _of_file(path, asked) if path.is_file() else _of_name(name, asked)


def _counterpart(plan: Plan, release: ReleasePlan) -> ReleasePlan:
    """The release of another policy that has the same id, else the only one of the same kind."""
    alike = [one for one in plan.releases if one.id == release.id] or list(releases_of(plan.releases, type(release)))
    if len(alike) == 1:
        return alike[0]
    raise UsageError(
        code="C141",
        message=f"which release of {plan.policy_path.name} an earlier file is of cannot be determined",
        hint="name its run, or a policy with one release of that kind",
    )


def _of_name(name: str, asked: _Asked) -> EarlierRelease:
    from privrelease.release.runs import ReleaseName

    store = asked.settings.store(asked.plan)
    try:
        run = store.folder(name)
    except InputError:
        chosen(asked.plan, (name,))
        current = store.current(ReleaseName(asked.plan.policy_id, name, asked.plan.environment))
        if current is None:
            raise UsageError(
                code="C140",
                message=f"{name} is not a file, folder or run, and no release of that name is published",
                hint="name an earlier release as a file, the folder of its run, its run, or its id once it is published",
            ) from None
        run = current
    return _of_run(run, asked.release, asked.kinds)


def _of_folder(folder: Path, asked: _Asked) -> EarlierRelease:
    """The folder of a run, or one that holds a release and its manifest as a recipient has them."""
    from privrelease.release.manifest import Manifest
    from privrelease.release.runs import RunFolder

    if (folder / "internal" / "state.json").is_file():
        return _of_run(RunFolder(folder.resolve()), asked.release, asked.kinds)
    manifests = sorted(folder.glob("*.manifest.json"))
    if len(manifests) != 1:
        raise UsageError(
            code="C140",
            message=f"{folder} is not a run, and holds {'no manifest' if not manifests else 'several manifests'}",
            hint="name a file in it",
        )
    manifest = Manifest.load(manifests[0])
    output = manifest.outputs[0]
    return EarlierRelease(
        name=f"{manifest.release} (run {manifest.run})",
        kind=kind_of_manifest(manifest, asked.kinds).name,
        file=_sink(folder / output.file, output),
        columns=tuple(_column(column) for column in output.columns),
        lossy=kind_of(asked.release, asked.kinds).lossy(asked.release),
        order=manifest.order,
        run=manifest.run,
        digests=frozenset(one.sha256 for one in manifest.outputs),
        manifest=manifest,
        pseudonyms=_pseudonyms(output.columns),
    )


def _of_file(file: Path, asked: _Asked) -> EarlierRelease:
    """A file: of the run that made it, where that is known; else of anybody, under the release's rules."""
    from privrelease.pipeline.audit import sinks_of
    from privrelease.pipeline.provenance import origin_of
    from privrelease.release.digests import sha256_of

    store = asked.settings.store(asked.plan)
    (sink,) = sinks_of(asked.release, (file,))
    for release in asked.plan.releases:
        origin = origin_of((sink,), release, asked.plan, store, source=False, kinds=asked.kinds)
        if origin is not None and not origin.altered:
            made = _of_run(origin.run, release, asked.kinds)
            if sha256_of(sink.path) in made.digests:
                return made
    planned = kind_of(asked.release, asked.kinds)
    earlier = EarlierRelease(str(file), planned.name, sink, digests=frozenset({sha256_of(sink.path)}))
    return planned.external(earlier, asked.release)
