"""The state folder: runs, what is current, quarantine. The only place that publishes.

::

    <state>/                      0711  default: .privrelease beside the policy; its own .gitignore keeps it out of git
      lock                              held while anything below changes hands
      digest.key                  0600
      runs/<run>/outgoing         0700  data, recipient's manifest and report; opened to the user's umask by publication
      runs/<run>/internal         0700  state.json, lock, audit, row map; never leaves
      current/<policy>/<release>        link to ../../runs/<run>/outgoing: its replacement is the moment of publication
      quarantine/<run>/           0700
      replaced/<time>-<run>/      0700  what an older tool had left at an output path

A kill at any moment leaves the previous release or the new one, both whole: see :meth:`ReleaseStore.publish` and
:meth:`ReleaseStore.recover`.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from privrelease.errors import InputError, PrivreleaseError
from privrelease.release.digests import sha256_of
from privrelease.release.files import flush, flush_folder, speaking, write_atomically
from privrelease.release.outputs import check_destinations, check_places, keep_copy, links_for, place_link, shows
from privrelease.release.runs import Decided, ReleaseName, RunFolder, RunRecord, RunState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from privrelease.release.manifest import InternalManifest, Manifest
    from privrelease.release.outputs import Destination

__all__ = ["ReleaseStore", "now"]

_KEPT_OF_INTERNAL = frozenset({"state.json", "lock"})


def now() -> datetime:
    """Return the present moment in UTC, in whole seconds."""
    return datetime.now(UTC).replace(microsecond=0)


class ReleaseStore:
    """The state folder of a policy. Safe for several processes at once: both finish, the last publisher wins, nothing mixes."""

    def __init__(self, state: Path, *, clock: Callable[[], datetime] = now) -> None:
        self.state = Path(os.path.abspath(state))  # noqa: PTH100 -- resolve() would follow a link that may be re-pointed
        self._clock = clock

    @classmethod
    def beside(cls, policy_file: Path) -> ReleaseStore:
        """Return the default store of a policy: ``.privrelease`` in the policy's folder."""
        return cls(policy_file.resolve().parent / ".privrelease")

    # a run's life

    def check_outputs(self, releases: Iterable[Sequence[Destination]]) -> None:
        """Refuse outputs that could not be published, before anything is read; see :func:`~.outputs.check_destinations`."""
        check_destinations(self.state, releases)

    @contextmanager
    def start(self, name: ReleaseName, sinks: Sequence[Destination]) -> Iterator[RunFolder]:
        """Open the folder of a new run, after clearing up after killed ones; it stays locked until the block ends.

        When the block raises before a decision, the run's data is removed and the run recorded as failed. Raises InputError (R1xx)
        where outputs or state folder cannot be used.
        """
        self.check_outputs((sinks,))
        with self._locked():
            self._recover()
            run, lock = self._made(name, sinks)
        try:
            try:
                yield run
            except BaseException as error:
                # the block's own error is the one to tell; what cannot be cleared now is cleared by the next run
                with suppress(PrivreleaseError), self._locked():
                    reason = error.code if isinstance(error, PrivreleaseError) else type(error).__name__
                    self._end(run.id, f"stopped by {reason}")
                raise
            with self._locked():
                self._end(run.id, None)
        finally:
            os.close(lock)

    def _made(self, name: ReleaseName, sinks: Sequence[Destination]) -> tuple[RunFolder, int]:
        at = self._clock()
        with speaking("making the folder of a run"):
            run = RunFolder(self._runs / f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}-{secrets.token_hex(3)}")
            for folder in (run.path, run.outgoing, run.internal, run.temporary):
                folder.mkdir(mode=0o700)
            lock = os.open(run.lock, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with speaking("locking a run"):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            links = links_for(self.state, sinks)
            first = RunRecord.model_validate(
                {
                    "run": run.id,
                    "policy": name.policy,
                    "environment": name.environment,
                    "release": name.release,
                    "links": links,
                    "history": ({"state": RunState.RUNNING, "at": at},),
                }
            )
            run.save(first)
        except BaseException:
            os.close(lock)
            shutil.rmtree(run.path, ignore_errors=True)
            raise
        return run, lock

    def park(self, run: RunFolder, manifest: Manifest, internal: InternalManifest) -> RunRecord:
        """Write both manifests and record the release as parked: complete, not yet audited, visible to nobody."""
        manifest.save(run.manifest_path)
        internal.save(run.internal / "manifest.json")
        with self._locked():
            return run.save(self._in(run, RunState.RUNNING).to(RunState.PARKED, self._clock()))

    def decide(self, run_id: str, outcome: Literal["pass", "warn", "review", "fail"], reason: str = "") -> RunRecord:
        """Record the decision about a parked release, bound to the digest of its manifest.

        A release that waits for approval stays parked. Raises InputError (R122, R123).
        """
        with self._locked():
            run = self.folder(run_id)
            record = self._in(run, RunState.PARKED).to(RunState.PARKED, self._clock(), reason)
            return run.save(
                record.model_copy(update={"decided": Decided(outcome=outcome, manifest_sha256=run.manifest().digest())})
            )

    def quarantine(self, run_id: str, reason: str) -> RunFolder:
        """Move a run that must not be published out of the way; the previous release stays as it was. Returns the new folder."""
        with self._locked():
            run = self.folder(run_id)
            record = run.record()
            if record.state not in {RunState.RUNNING, RunState.PARKED}:
                raise _wrong_state(record, "quarantined")
            run.save(record.to(RunState.QUARANTINED, self._clock(), reason))
            return self._quarantined(run)

    def publish(self, run_id: str) -> RunRecord:
        """Publish a parked release that was decided upon. Executes nothing again.

        The files are verified against the manifest that was audited and forced to disk. Links are put where there are none (until
        the next step they show nothing, or the previous release). Where something else stands at an output path, its bytes are
        kept, and shown through the links, first. Then one rename of the ``current`` link publishes all files at once.

        Raises InputError (exit 3): R120 a file is not what was audited, R121 no decision, or it failed, R122 not parked, R124 a file
        that the manifest does not know; R101 to R105, R111, R112 from the file system. The previous release stays then.
        """
        with self._locked():
            run = self.folder(run_id)
            record = self._in(run, RunState.PARKED)
            if record.decided is None or record.decided.outcome == "fail":
                raise InputError(
                    code="R121",
                    message=f"run {run_id} was not audited, or failed its audit",
                    hint="only an audited release can be published",
                )
            links = self._verified(run, record)
            check_places(self.state, [place for place, _ in links])
            with speaking("publishing"):
                for file in run.outgoing.iterdir():
                    flush(file)
                flush_folder(run.outgoing)
                record = run.save(record.to(RunState.PUBLISHING, self._clock()))
                try:
                    self._open_to_readers(run)
                    self._link_outputs(record, links)
                    self._switch(record.name, run.outgoing)
                except BaseException:
                    with suppress(OSError, PrivreleaseError):
                        self._settle_stopped(run, record)
                    raise
                return self._settle(run, record)

    def withdraw(self, name: ReleaseName, reason: str) -> RunRecord:
        """Take the current release back: its paths show nothing any more. The run and the reason stay on record."""
        with self._locked():
            run = self.current(name)
            if run is None:
                raise InputError(
                    code="R127",
                    message=f"no release of {name.key} is published",
                    hint="check policy, environment and release id",
                )
            with speaking("withdrawing"):
                self._current(name).unlink()
                flush_folder(self._current(name).parent)
                record = run.save(run.record().to(RunState.WITHDRAWN, self._clock(), reason))
                self._unlink_outputs(record)
                run.outgoing.chmod(0o700)
            return record

    def recover(self) -> tuple[str, ...]:
        """Clear up after killed runs; returns the ids of those abandoned. Live runs and decided releases are left alone."""
        if not self.state.is_dir():
            return ()
        with self._locked():
            return self._recover()

    # looking

    def folder(self, run_id: str) -> RunFolder:
        """Return the folder of a run, wherever it is. Raises InputError (R123)."""
        if run_id == Path(run_id).name:
            for home in (self._runs, self._quarantine):
                if run_id not in {"", ".", ".."} and (home / run_id).is_dir():
                    return RunFolder(home / run_id)
        raise InputError(code="R123", message="there is no such run", hint="see `privrelease show` for the runs")

    def record(self, run_id: str) -> RunRecord:
        """Return the record of a run. Raises InputError (R123)."""
        return self.folder(run_id).record()

    def current(self, name: ReleaseName) -> RunFolder | None:
        """Return the run that is published under this name, if any."""
        link = self._current(name)
        if not link.is_symlink():
            return None
        run = Path(os.path.normpath(link.parent / link.readlink())).parent
        return RunFolder(run) if run.parent == self._runs and run.is_dir() else None

    def records(self) -> tuple[RunRecord, ...]:
        """Return the records of all runs, oldest first."""
        return tuple(run.record() for run in self._folders() if (run.internal / "state.json").exists())

    # inside

    @property
    def _runs(self) -> Path:
        return self.state / "runs"

    @property
    def _quarantine(self) -> Path:
        return self.state / "quarantine"

    @property
    def _scratch(self) -> Path:
        return self.state / "scratch"

    def _current(self, name: ReleaseName) -> Path:
        return self.state / "current" / name.key

    def _folders(self) -> tuple[RunFolder, ...]:
        found = [path for home in (self._runs, self._quarantine) if home.is_dir() for path in home.iterdir() if path.is_dir()]
        return tuple(RunFolder(path) for path in sorted(found, key=lambda path: path.name))

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with speaking("preparing the state folder"):
            self.state.mkdir(mode=0o711, parents=True, exist_ok=True)
            for folder, mode in (
                ("runs", 0o711),
                ("current", 0o711),
                ("quarantine", 0o700),
                ("scratch", 0o700),
                ("replaced", 0o711),
            ):
                (self.state / folder).mkdir(mode=mode, exist_ok=True)
            handle = os.open(self.state / "lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            with speaking("locking the state folder"):
                fcntl.flock(handle, fcntl.LOCK_EX)
                if not (self.state / ".gitignore").exists():
                    write_atomically(self.state / ".gitignore", b"*\n")
            yield
        finally:
            os.close(handle)

    def _in(self, run: RunFolder, state: RunState) -> RunRecord:
        record = run.record()
        if record.state is not state:
            raise _wrong_state(record, state.value)
        return record

    def _verified(self, run: RunFolder, record: RunRecord) -> tuple[tuple[Path, str], ...]:
        """Return (place, file) of everything that will be shown, after comparing it with the manifest that was decided upon."""
        manifest = run.manifest()
        assert record.decided is not None
        if manifest.digest() != record.decided.manifest_sha256 or manifest.run != run.id:
            raise _not_as_audited(run.manifest_path)
        with speaking("verifying the files of the release"):
            for output in manifest.outputs:
                file = run.output(output.file)
                if (
                    file.is_symlink()
                    or not file.is_file()
                    or file.stat().st_size != output.bytes
                    or sha256_of(file) != output.sha256
                ):
                    raise _not_as_audited(file)
            present = {file.name for file in run.outgoing.iterdir()}
        listed = {output.file for output in manifest.outputs}
        shown = [link for link in record.links if link.file in present]
        if {link.file for link in record.links if not link.companion} != listed or present - {link.file for link in shown}:
            raise InputError(
                code="R124",
                message="outgoing holds a file that the manifest does not know",
                hint="remove it, or run the release again",
            )
        return tuple((self._place(link.link), link.file) for link in shown)

    def _place(self, link: str) -> Path:
        return Path(os.path.normpath(self.state.resolve() / link))

    def _open_to_readers(self, run: RunFolder) -> None:
        """Give the published files the modes that ordinary files of this user have; ``internal`` stays closed."""
        mask = os.umask(0o077)
        os.umask(mask)
        for file in run.outgoing.iterdir():
            file.chmod(0o666 & ~mask)
        run.outgoing.chmod(0o777 & ~mask)
        run.path.chmod(0o711 & ~mask)

    def _link_outputs(self, record: RunRecord, links: tuple[tuple[Path, str], ...]) -> None:
        current = self._real_current(record.name)
        foreign = [(place, file) for place, file in links if os.path.lexists(place) and not shows(place, current, file)]
        if foreign:
            self._adopt(record, links, foreign)
        for place, file in links:
            if not shows(place, current, file):
                place_link(place, current, file, scratch=self._scratch)

    def _real_current(self, name: ReleaseName) -> Path:
        return self.state.resolve() / "current" / name.key

    def _adopt(self, record: RunRecord, links: tuple[tuple[Path, str], ...], foreign: list[tuple[Path, str]]) -> None:
        """Keep what stands at the output paths, then show the kept bytes through our links: the paths' content never changes."""
        kept = self.state / "replaced" / f"{self._clock():%Y%m%dT%H%M%SZ}-{secrets.token_hex(4)}"
        kept.mkdir(mode=0o711)
        previous = self.current(record.name)
        earlier = [] if previous is None else [(self._place(link.link), link.file) for link in previous.record().links]
        for place, file in dict.fromkeys((*links, *earlier)):
            keep_copy(place, kept / file)
        flush_folder(kept)
        self._switch(record.name, kept)
        current = self._real_current(record.name)
        for place, file in foreign:
            place_link(place, current, file, scratch=self._scratch)

    def _switch(self, name: ReleaseName, folder: Path) -> None:
        link = self._current(name)
        link.parent.mkdir(mode=0o711, exist_ok=True)
        draft = self._scratch / "current"
        draft.unlink(missing_ok=True)
        draft.symlink_to(os.path.relpath(folder, link.parent))
        draft.replace(link)
        flush_folder(link.parent)

    def _settle(self, run: RunFolder, record: RunRecord) -> RunRecord:
        """Record the run that ``current`` shows as published and the others of its name as superseded."""
        at = self._clock()
        if record.state is not RunState.PUBLISHED:
            record = run.save(record.to(RunState.PUBLISHED, at))
        shown = {link.link for link in record.links if run.output(link.file).exists()}
        for other in self._folders():
            if other.id == run.id or not (other.internal / "state.json").exists():
                continue
            before = other.record()
            if before.name == record.name and before.state is RunState.PUBLISHED:
                self._unlink_outputs(before, but=shown)
                other.save(before.to(RunState.SUPERSEDED, at, f"by run {run.id}"))
        return record

    def _unlink_outputs(self, record: RunRecord, *, but: Iterable[str] = ()) -> None:
        """Remove the links of a run that are ours and show nothing of use any more."""
        current = self._real_current(record.name)
        for link in record.links:
            place = self._place(link.link)
            if link.link not in set(but) and shows(place, current, link.file):
                place.unlink()

    def _quarantined(self, run: RunFolder) -> RunFolder:
        with speaking("moving a run to quarantine"):
            run.outgoing.chmod(0o700)
            run.path.chmod(0o700)
            moved = RunFolder(self._quarantine / run.id)
            run.path.rename(moved.path)
            flush_folder(self._quarantine)
            flush_folder(self._runs)
        return moved

    def _end(self, run_id: str, failure: str | None) -> None:
        run = self.folder(run_id)
        record = run.record()
        with speaking("clearing up after a run"):
            shutil.rmtree(run.temporary, ignore_errors=True)
            undecided = record.state is RunState.RUNNING or (record.state is RunState.PARKED and record.decided is None)
            if undecided and (failure is not None or record.state is RunState.RUNNING):
                _clear(run)
                record = record.to(RunState.FAILED, self._clock(), failure or "ended without a release")
            run.save(record.model_copy(update={"closed": True}))

    def _recover(self) -> tuple[str, ...]:
        abandoned = []
        with speaking("clearing up after killed runs"):
            for draft in self._scratch.iterdir():
                draft.unlink()
            for run in self._folders():
                if not (run.internal / "state.json").exists():
                    shutil.rmtree(run.path)
                elif self._recovered(run):
                    abandoned.append(run.id)
        return tuple(abandoned)

    def _recovered(self, run: RunFolder) -> bool:
        record = run.record()
        if record.state is RunState.PUBLISHING:
            record = self._settle_stopped(run, record)
        elif record.state is RunState.PUBLISHED:
            record = self._settle_shown(run, record)
        elif record.state is RunState.QUARANTINED and run.path.parent == self._runs:
            run = self._quarantined(run)
        if record.closed or _is_live(run):
            return False
        shutil.rmtree(run.temporary, ignore_errors=True)
        if record.state is RunState.RUNNING or (record.state is RunState.PARKED and record.decided is None):
            _clear(run)
            run.save(
                record.to(RunState.ABANDONED, self._clock(), "killed before a decision").model_copy(update={"closed": True})
            )
            return True
        if record.state is RunState.PARKED and record.decided is not None and record.decided.outcome == "fail":
            run.save(record.to(RunState.QUARANTINED, self._clock(), "failed its audit").model_copy(update={"closed": True}))
            self._quarantined(run)
        else:
            run.save(record.model_copy(update={"closed": True}))
        return False

    def _settle_stopped(self, run: RunFolder, record: RunRecord) -> RunRecord:
        """Settle a publication that was stopped: it happened if ``current`` shows the run, else the run is parked as before."""
        shown = self.current(record.name)
        if shown is not None and shown.id == run.id:
            return self._settle(run, record)
        run.outgoing.chmod(0o700)
        current = self._real_current(record.name)
        for link in record.links:
            place = self._place(link.link)
            if shows(place, current, link.file) and not place.exists():
                place.unlink()
        return run.save(record.to(RunState.PARKED, self._clock(), "stopped before publication"))

    def _settle_shown(self, run: RunFolder, record: RunRecord) -> RunRecord:
        """Settle a published run whose successor's, or withdrawal's, last note was not written."""
        shown = self.current(record.name)
        if shown is not None and shown.id != run.id:
            return run.save(record.to(RunState.SUPERSEDED, self._clock(), f"by run {shown.id}"))
        if not os.path.lexists(self._current(record.name)):
            self._unlink_outputs(record)
            return run.save(record.to(RunState.WITHDRAWN, self._clock(), "stopped while withdrawing"))
        return record


def _clear(run: RunFolder) -> None:
    """Remove what a run made: nothing unverified stays. The record does."""
    if run.outgoing.exists():
        shutil.rmtree(run.outgoing)
    for path in run.internal.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name not in _KEPT_OF_INTERNAL:
            path.unlink()


def _is_live(run: RunFolder) -> bool:
    """Whether a process holds the run's lock."""
    try:
        handle = os.open(run.lock, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def _wrong_state(record: RunRecord, wanted: str) -> InputError:
    return InputError(
        "R122",
        f"run {record.run} is {record.state.value}, not {wanted}",
        hint="only a parked run can be decided upon, published or quarantined",
    )


def _not_as_audited(file: Path) -> InputError:
    return InputError("R120", f"{file.name} is not what was audited", hint="run the release again; nothing was published")
