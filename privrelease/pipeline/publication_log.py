"""The log of publications at work: what it knows and the state folder does not, the line of a publication, and what is settled later."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from privrelease.audit.comparison.previous_release import UnreadableRelease, named_by_run
from privrelease.errors import InputError, PrivreleaseError
from privrelease.pipeline.kinds import KINDS, Kind, kind_of, kind_of_manifest
from privrelease.release.publication_log import (
    LOG_KEY,
    ChargedEntry,
    FileLog,
    PublicationLine,
    newest,
    next_line,
    require_signed,
    verified_lines,
)
from privrelease.release.runs import Logged, RunState
from privrelease.texts.sentences import say
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime

    from privrelease.ledger.database import DatabaseLedger
    from privrelease.plan.model import Plan, ReleasePlan
    from privrelease.release.publication_log import Appending, LoggedLine, PublicationLog
    from privrelease.release.runs import RunFolder, RunRecord
    from privrelease.release.signing import SigningKey
    from privrelease.release.store import ReleaseStore
    from privrelease.texts.sentences import Said

__all__ = ["announcer", "charged_lines", "lines_of_same_persons", "log_of", "require_log", "settle", "unknown_publications"]


_Event: TypeAlias = Literal["published", "stopped", "withdrawn"]


@dataclass(frozen=True, slots=True)
class _LedgerLog:
    """The log that the ledger keeps."""

    ledger: DatabaseLedger
    shown: str = "in the ledger"

    @property
    def place(self) -> str:
        """The ledger, by its identity: a copy elsewhere is the same log."""
        return f"ledger {self.ledger.book().identity}"

    def check(self) -> None:
        """Do nothing: a ledger that cannot be written shows when it is."""

    def texts(self) -> tuple[str, ...]:
        """Return every line."""
        return self.ledger.publications()

    def writing(self) -> AbstractContextManager[Appending]:
        """Lock the ledger against other writers."""
        return self.ledger.publishing()


def log_of(plan: Plan, store: ReleaseStore) -> PublicationLog | None:
    """Return the log that the policy names. None: the plan names none. Raises BudgetError where the ledger that keeps it cannot be used."""
    named = plan.publications
    if named is None:
        return None
    if named.path is not None:
        return FileLog(named.path, named.label, os.path.relpath(named.path, store.state.resolve()))
    from privrelease.pipeline.ledger import opened

    return _LedgerLog(opened(plan, store))


def _signer() -> SigningKey | None:
    """The key that signs lines, where one is configured; a variable that is set to nothing is not."""
    if not os.environ.get(LOG_KEY):
        return None
    from privrelease.release.signing import SigningKey

    return SigningKey.from_environment(LOG_KEY, os.environ)


def require_log(plan: Plan, store: ReleaseStore, kinds: Sequence[Kind[Any]] = KINDS) -> None:
    """Require, before any work, that publications can be recorded, and that the log holds what this state folder published.

    Lines that a killed command left undone are written. Raises InputError: R190 the log cannot be written, R191 a line is not as it was
    written, R192 a line is missing, R193 and R194 signatures, R195 no regular file.
    """
    log = log_of(plan, store)
    if log is not None:
        log.check()
        settle(plan, store, log, kinds)


# ---------------------------------------------------------------------------------------------------------- what the log alone knows


def unknown_publications(
    store: ReleaseStore,
    release: ReleasePlan,
    plan: Plan,
    own: tuple[Collection[str], Collection[str]],
    kinds: Sequence[Kind[Any]] = KINDS,
    *,
    held: bool,
    outputs: bool,
) -> tuple[UnreadableRelease, ...]:
    """Return publications of the same persons whose runs are not in the state folder, by the log and by what the output paths show.

    ``own``: keyed digests of the release's source, and SHA-256 of its files.
    ``outputs``: look at the output paths too; while a release is being published, they are already its own.
    Statistics are the ledger's matter. A publication that was withdrawn counts: its recipients have it.
    """
    log = log_of(plan, store)
    if log is None or kind_of(release, kinds).accounted:
        return ()
    inputs, files = own
    accounted = {kind.name for kind in kinds if kind.accounted}
    lines = newest(verified_lines(log.texts(), log.shown))
    found = [
        UnreadableRelease(
            named_by_run(line.release, line.run),
            line.run,
            _why(line, store),
            held=held,
            same=bool(set(line.files) & set(files)),
        )
        for line in lines.values()
        if line.event != "stopped"
        and line.kind not in accounted
        and _same_persons(line, release, plan, inputs)
        and not _is_here(store, line.run)
    ]
    if outputs and not any((line.policy, line.release) == (plan.policy_id, release.id) for line in lines.values()):
        found += _shown_unknown(store, release, plan, files, held=held)
    return tuple(found)


def lines_of_same_persons(store: ReleaseStore, release: ReleasePlan, plan: Plan) -> tuple[PublicationLine, ...]:
    """Return the newest line of every publication of the same persons, by population or dataset; none where the plan names no log."""
    log = log_of(plan, store)
    if log is None:
        return ()
    return tuple(
        line for line in newest(verified_lines(log.texts(), log.shown)).values() if _same_persons(line, release, plan, ())
    )


def charged_lines(plan: Plan, store: ReleaseStore) -> tuple[PublicationLine, ...]:
    """Return the lines that name an entry of a ledger: of this policy, and of others that name a population. None of a log that is in the ledger."""
    if plan.publications is None or plan.publications.path is None:
        return ()
    log = log_of(plan, store)
    lines = () if log is None else tuple(one.line for one in verified_lines(log.texts(), log.shown))
    ours = (line for line in lines if line.policy == plan.policy_id or line.population is not None)
    return tuple(line for line in ours if line.charged is not None)


def _is_here(store: ReleaseStore, run: str) -> bool:
    try:
        return (store.folder(run).internal / "state.json").is_file()
    except InputError:
        return False


def _same_persons(line: PublicationLine, release: ReleasePlan, plan: Plan, inputs: Collection[str]) -> bool:
    """Of one population; where either names none, of one dataset of one policy; or made of the same files."""
    if set(line.inputs) & set(inputs):
        return True
    if line.population is not None and release.population_id is not None:
        return line.population == release.population_id
    return (line.policy, line.dataset) == (plan.policy_id, release.source.dataset)


def _why(line: PublicationLine, store: ReleaseStore) -> Said:
    key = _key_id(store)
    return say("not_in_folder" if key is None or line.key in {None, key} else "not_in_folder_key")


def _key_id(store: ReleaseStore) -> str | None:
    """The fingerprint of this state folder's key of digests; None where there is none yet."""
    from privrelease.release.digests import DIGEST_KEY, digest_key

    if not os.environ.get(DIGEST_KEY) and not (store.state / "digest.key").is_file():
        return None
    return digest_key(store.state, os.environ).id


def _shown_unknown(
    store: ReleaseStore, release: ReleasePlan, plan: Plan, files: Collection[str], *, held: bool
) -> list[UnreadableRelease]:
    """Return what is at the output paths and no run of the state folder made: a manifest of another run, or links that lead nowhere."""
    from privrelease.execute.common.scope import release_name
    from privrelease.policy.validation.paths import companions
    from privrelease.release.manifest import Manifest

    first = release.sinks[0].path
    place = companions(first)[0]
    if place.is_file():
        try:
            manifest = Manifest.load(place)
        except PrivreleaseError:
            return []
        of_same = manifest.release == release.id and manifest.policy.id == plan.policy_id
        if not of_same or _is_here(store, manifest.run) or {one.sha256 for one in manifest.outputs} & set(files):
            return []
        why = say("manifest_at_path")
        return [UnreadableRelease(named_by_run(manifest.release, manifest.run), manifest.run, why, held=held)]
    key = release_name(release, plan).key
    leads = first.is_symlink() and not first.exists() and Path(*first.readlink().parts[-4:-1]) == Path("current", key)
    why = say("path_leads_nowhere")
    return [UnreadableRelease(say("file_showed", file=release.sinks[0].label), None, why, held=held)] if leads else []


# ------------------------------------------------------------------------------------------------------------------- writing lines


def announcer(
    plan: Plan, store: ReleaseStore, recheck: Callable[[], None], kinds: Sequence[Kind[Any]] = KINDS
) -> Callable[[RunFolder, RunRecord], RunRecord]:
    """Return what writes the line of a publication, right before the rename. ``recheck``: raises where something else was published
    since the audit; called while the log is locked, since another state folder may write to it too.
    """

    def announce(run: RunFolder, record: RunRecord) -> RunRecord:
        log = log_of(plan, store)
        if log is None:
            return record
        with _full_disk_is_spoken(), log.writing() as appending:
            recheck()
            verified_lines(appending.texts, log.shown)
            line = next_line(_maker(run, record, "published", record.history[-1].at, kinds), appending.texts, _signer())
            announced = run.save(record.model_copy(update={"logged": Logged(log=log.place, line=line.hash)}))
            appending.append(line.text)
        return announced

    return announce


@contextmanager
def _full_disk_is_spoken() -> Iterator[None]:
    from privrelease.release.files import os_errors

    with os_errors("writing the log of publications"):
        yield


def settle(plan: Plan, store: ReleaseStore, log: PublicationLog, kinds: Sequence[Kind[Any]] = KINDS) -> None:
    """Write what the log lacks: a publication that was stopped after its line, a withdrawal, releases of a version that kept no log.

    Raises InputError (R191 to R194) where the log is not what this state folder wrote.
    """
    signer = _signer()
    if not store.state.is_dir():
        require_signed(verified_lines(log.texts(), log.shown), signer, frozenset(), log.shown)
        return
    with store.held():
        lines = verified_lines(log.texts(), log.shown)
        every = store.records()
        known = frozenset(one.logged.line for one in every if one.logged is not None) | _followed(lines, every)
        require_signed(lines, signer, known, log.shown)
        records = [one for one in every if one.policy == plan.policy_id and one.state is not RunState.PUBLISHING]
        _require_lines(lines, records, log)
        todo = _unsettled(newest(lines), records)
        if not todo:
            return
        with log.writing() as appending:
            for record, event in todo:
                _append(store.folder(record.run), record, event, log, appending, signer, kinds)


def _followed(lines: Sequence[LoggedLine], records: Sequence[RunRecord]) -> frozenset[str]:
    """Lines that say of a run of this state folder what its record says too: the second of a run has no hash in the record."""
    states = {one.run: one.state for one in records}
    fits = {
        "withdrawn": {RunState.WITHDRAWN},
        "stopped": {RunState.PARKED, RunState.QUARANTINED, RunState.PUBLISHED, RunState.SUPERSEDED, RunState.WITHDRAWN},
    }
    return frozenset(one.hash for one in lines if states.get(one.line.run) in fits.get(one.line.event, set()))


def _require_lines(lines: Sequence[LoggedLine], records: Sequence[RunRecord], log: PublicationLog) -> None:
    hashes = {one.hash for one in lines}
    for record in records:
        if record.logged is None or record.logged.log != log.place or not _came_out(record):
            continue
        if record.logged.line not in hashes:
            raise InputError(
                code="R192",
                message=f"the log of publications {log.shown} lacks the line of run {record.run}, which was published: it was cut, or removed",
                hint="restore it from version control, or name a new file in `publications`: the runs of this state folder are then "
                "written to that one",
            )


def _came_out(record: RunRecord) -> bool:
    return any(step.state is RunState.PUBLISHED for step in record.history)


def _unsettled(events: dict[str, PublicationLine], records: Sequence[RunRecord]) -> list[tuple[RunRecord, _Event]]:
    """The lines that are missing, in their order."""
    todo: list[tuple[RunRecord, _Event]] = []
    for record in records:
        line = events.get(record.run)
        event = None if line is None else line.event
        if not _came_out(record):
            if event == "published":
                todo.append((record, "stopped"))
            continue
        if event in {None, "stopped"}:
            todo.append((record, "published"))
        if record.state is RunState.WITHDRAWN and event != "withdrawn":
            todo.append((record, "withdrawn"))
    return todo


def _append(
    run: RunFolder,
    record: RunRecord,
    event: _Event,
    log: PublicationLog,
    appending: Appending,
    signer: SigningKey | None,
    kinds: Sequence[Kind[Any]],
) -> None:
    """Write one line. A run that is too damaged to be described has none: a release next to it is told that it could not be looked at."""
    moments = [step.at for step in record.history if step.state.value == event]
    at = moments[-1] if moments else record.history[-1].at
    try:
        line = next_line(_maker(run, record, event, at, kinds), appending.texts, signer)
    except (PrivreleaseError, OSError, ValueError, LookupError, StopIteration):
        return
    if event == "published":
        run.save(run.record().model_copy(update={"logged": Logged(log=log.place, line=line.hash)}))
    appending.append(line.text)


def _maker(
    run: RunFolder, record: RunRecord, event: _Event, at: datetime, kinds: Sequence[Kind[Any]]
) -> Callable[[int, str], PublicationLine]:
    """Read what a line says of a run, once."""
    from privrelease.pipeline.previous.run_folders import inputs_of

    manifest = run.manifest()
    data = run.audited()["data"]
    kind = kind_of_manifest(manifest, kinds).name
    inputs = inputs_of(run, kinds)[:1]
    columns = dict.fromkeys(column.name for output in manifest.outputs for column in output.columns)
    claim = manifest.privacy
    charged = None
    if claim is not None and claim.private and claim.anchor is not None:
        charged = ChargedEntry(**claim.anchor.model_dump(), population=claim.population, unit=claim.unit)

    def made(sequence: int, previous: str) -> PublicationLine:
        return PublicationLine(
            sequence=sequence,
            event=event,
            at=at,
            run=run.id,
            policy=record.policy,
            environment=record.environment,
            release=record.release,
            kind=kind,
            population=data["population"],
            dataset=data["dataset"],
            files=tuple(output.sha256 for output in manifest.outputs),
            columns=tuple(columns),
            inputs=tuple(one.hmac_sha256 for one in inputs),
            key=inputs[0].key_id if inputs else None,
            charged=charged,
            previous=previous,
        )

    return made
