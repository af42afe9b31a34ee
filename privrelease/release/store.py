"""The state folder: runs, what is current, quarantine. The only place that publishes.

::

    <state>/                      0711  default: .privrelease next to the policy; its own .gitignore keeps it out of git
      lock                              held while anything below changes hands
      digest.key                  0600
      runs/<run>/outgoing         0700  data, recipient's manifest and report; opened to the user's umask by publication
      runs/<run>/internal         0700  state.json, lock, audit, row map; is never released
      current/<policy>/<release>        link to ../../runs/<run>/outgoing: its replacement is the moment of publication
      quarantine/<run>/           0700
      replaced/<time>-<run>/      0700  what an older tool had left at an output path
      dry-run/<policy>/<release>/ 0700  reports of the last dry run; no data

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
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from privrelease.errors import InputError, PrivreleaseError
from privrelease.interruption import heed
from privrelease.release.digests import sha256_of
from privrelease.release.files import flush_folder, os_errors, write_atomically
from privrelease.release.outputs import check_destinations, check_places, links_for
from privrelease.release.publications import Layout, Publications
from privrelease.release.runs import Decided, ReleaseName, RunFolder, RunRecord, RunState, copied_run
from privrelease.release.tamper_check import verified

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from privrelease.release.manifest import InternalPart, Manifest
    from privrelease.release.outputs import Destination
    from privrelease.release.run_files import Look

__all__ = ["ReleaseStore", "now"]


def now() -> datetime:
    """Return the present moment in UTC, in whole seconds."""
    return datetime.now(UTC).replace(microsecond=0)


class ReleaseStore:
    """The state folder of a policy. Safe for several processes at once: both finish, the last publisher wins, nothing mixes."""

    def __init__(self, state: Path, *, clock: Callable[[], datetime] = now) -> None:
        self.state = Path(os.path.abspath(state))  # noqa: PTH100 -- resolve() would follow a link that may be re-pointed
        self._clock, self._layout = clock, Layout(self.state)
        self._publications = Publications(self._layout, clock)
        self.files = self._layout.files

    @classmethod
    def beside(cls, policy_file: Path) -> ReleaseStore:
        """Return the default store of a policy: ``.privrelease`` in the policy's folder."""
        return cls(policy_file.resolve().parent / ".privrelease")

    # a run's life

    def check_outputs(self, releases: Iterable[Sequence[Destination]]) -> None:
        """Refuse outputs that could not be published, before anything is read; see :func:`~.outputs.check_destinations`."""
        check_destinations(self.state, releases)

    @contextmanager
    def start(self, name: ReleaseName, sinks: Sequence[Destination], file: Path | None = None) -> Iterator[RunFolder]:
        """Open the folder of a new run, after clearing up after killed ones; it stays locked until the block ends.

        When the block raises before a decision, the run's data is removed and the run recorded as failed. Raises InputError (R1xx)
        where outputs or state folder cannot be used. ``file``: the policy's.
        """
        self.check_outputs((sinks,))
        with self._locked():
            self._recover()
            run, lock = self._made(name, sinks, file)
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

    def _made(self, name: ReleaseName, sinks: Sequence[Destination], file: Path | None) -> tuple[RunFolder, int]:
        at = self._clock()
        with os_errors("making the folder of a run"):
            run = self._layout.run(f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}-{secrets.token_hex(3)}")
            for folder in (run.path, run.outgoing, run.internal, run.temporary):
                folder.mkdir(mode=0o700)
            lock = os.open(run.lock, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os_errors("locking a run"):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            links = links_for(self.state, sinks)
            first = RunRecord.model_validate(
                {
                    "run": run.id,
                    "policy": name.policy,
                    "environment": name.environment,
                    "release": name.release,
                    "links": links,
                    "file": None if file is None else os.path.relpath(file.resolve(), self.state.resolve()),
                    "history": ({"state": RunState.RUNNING, "at": at},),
                }
            )
            run.save(first)
        except BaseException:
            os.close(lock)
            shutil.rmtree(run.path, ignore_errors=True)
            raise
        return run, lock

    def park(self, run: RunFolder, manifest: Manifest, internal: InternalPart) -> RunRecord:
        """Write both manifests and record the release as parked: complete, not yet audited, visible to no one."""
        manifest.save(run.manifest_path)
        internal.save(run.internal / "manifest.json")
        with self._locked():
            return run.save(self._in(run, RunState.RUNNING).to(RunState.PARKED, self._clock()))

    def decide(self, run_id: str, outcome: Literal["pass", "warn", "review", "fail"], reason: str = "") -> RunRecord:
        """Record the decision about a parked release, bound to the digests of its manifest, its audit and its recipients' report.

        A release that waits for approval stays parked. Raises InputError (R122, R123).
        """
        with self._locked():
            run = self.folder(run_id)
            record = self._in(run, RunState.PARKED).to(RunState.PARKED, self._clock(), reason)
            audit, page = (sha256_of(path) if path.is_file() else None for path in (run.audit, run.report))
            manifest = run.manifest().digest()
            decided = Decided(
                outcome=outcome,
                manifest_sha256=manifest,
                audit_sha256=audit,
                beside=run.beside(),
                pages=() if page is None else (page,),
            )
            return run.save(record.model_copy(update={"decided": decided}))

    def sign_off(self, run_id: str, record: bytes, page: bytes) -> None:
        """Keep what is known of a parked run's sign-off next to its audit, and the internal report that shows it. Raises InputError (R122, R123)."""
        with self._locked():
            run = self.folder(run_id)
            state = self._in(run, RunState.PARKED)
            if state.decided is None:
                raise _wrong_state(state, "decided upon")
            with _page_recorded(run, state, page), os_errors("recording the sign-off"):
                write_atomically(run.internal / "signoff.json", record)
                write_atomically(run.report, page)

    def say_standing(self, run_id: str, page: bytes) -> None:
        """Write the internal report of a run that was decided upon again, as it says what became of it. Raises InputError (R123)."""
        with self._locked():
            state = (run := self.folder(run_id)).record()
            if state.decided is not None:
                with _page_recorded(run, state, page), os_errors("writing what became of a run"):
                    write_atomically(run.report, page)

    def quarantine(self, run_id: str, reason: str) -> RunFolder:
        """Move a run that must not be published out of the way; the previous release stays as it was. Returns the new folder."""
        with self._locked():
            run = self.folder(run_id)
            record = run.record()
            if record.state not in {RunState.RUNNING, RunState.PARKED}:
                raise _wrong_state(record, "quarantined")
            run.save(record.to(RunState.QUARANTINED, self._clock(), reason))
            return self._quarantined(run)

    def publish(
        self,
        run_id: str,
        *,
        guard: Callable[[], None] | None = None,
        announce: Callable[[RunFolder, RunRecord], RunRecord] | None = None,
    ) -> RunRecord:
        """Publish a parked release that was decided upon. Executes nothing again.

        The files are verified against the manifest that was audited and forced to disk. Links are put where there are none (until
        the next step they show nothing, or the previous release). Where something else stands at an output path, its bytes are
        kept, and shown through the links, first. Then one rename of the ``current`` link publishes all files at once. ``guard``: called
        last, while no one else can publish; what it raises stops the publication. ``announce``: writes the line of the log of publications
        right before the rename, and returns the record with it.

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
            links = verified(run, record, self._layout)
            check_places(self.state, [place for place, _ in links])
            if record.file is not None:
                self._publications.require_one_policy(record.name, self._layout.place(record.file), record.links)
            if guard is not None:
                guard()
            heed()
            with os_errors("publishing"):
                return self._publications.show(run, record, links, announce)

    def withdraw(self, name: ReleaseName, reason: str, only: str | None = None) -> RunRecord:
        """Take the current release back: its paths show nothing any more. The run and the reason stay on record.

        ``only``: the run that must be the current one. Raises InputError (R122) where it is not, R127 where none is.
        """
        with self._locked():
            run = self.current(name)
            if only is not None and (run is None or run.id != only):
                raise _wrong_state(self.folder(only).record(), RunState.PUBLISHED.value)
            if run is None:
                raise InputError(
                    code="R127",
                    message=f"no release of {name.key} is published",
                    hint="check policy, environment and release id",
                )
            with os_errors("withdrawing"):
                return self._publications.hide(run, reason)

    def recover(self) -> tuple[str, ...]:
        """Clear up after killed runs; returns the ids of those abandoned. Live runs and decided releases are left alone."""
        if not self.state.is_dir():
            return ()
        with self._locked():
            return self._recover()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the state folder: meanwhile nothing is published, withdrawn or decided upon from it."""
        with self._locked():
            yield

    def require_one_policy(self, name: ReleaseName, file: Path, sinks: Sequence[Destination]) -> None:
        """Raise InputError (R217) where the release of this name was published from another policy file that is still there, and would be taken away
        from an output path that is none of these.
        """
        self._publications.require_one_policy(name, file, links_for(self.state, sinks))

    # looking

    def folder(self, run_id: str, look: Look | None = None) -> RunFolder:
        """Return the folder of a run, wherever it is. Raises InputError (R123, R225)."""
        if run_id == Path(run_id).name and run_id not in {"", ".", ".."}:
            homes = [home for home in (self._layout.runs, self._layout.quarantine) if (home / run_id).is_dir()]
            if len(homes) > 1:
                raise copied_run(run_id, [RunFolder(home / run_id) for home in homes])
            if homes:
                return RunFolder(homes[0] / run_id, look or self._layout.files)
        raise InputError(code="R123", message="there is no such run", hint="see `privrelease list` for the runs")

    def named(self, name: str) -> RunFolder:
        """Return a run by its id or by its folder. Raises InputError (R123, R225); R226 where the folder is one of another state folder."""
        path = Path(name)
        if (self._layout.runs / path.name / "internal").is_dir() or (self._layout.quarantine / path.name / "internal").is_dir():
            if path.name == name:
                return self.folder(name)
            homes = (self._layout.runs.resolve(), self._layout.quarantine.resolve())
            if path.is_dir() and path.resolve().parent in homes:
                return self.folder(path.resolve().name)
        if (path / "internal").is_dir():
            raise InputError(
                code="R226",
                message=f"{name} is not a run of the state folder {self.state.name}",
                hint="name the state folder of that run with --state",
            )
        return self.folder(name)

    def record(self, run_id: str) -> RunRecord:
        """Return the record of a run. Raises InputError (R123)."""
        return self.folder(run_id).record()

    def current(self, name: ReleaseName) -> RunFolder | None:
        """Return the run that is published under this name, if any."""
        return self._publications.current(name)

    def records(self, look: Look | None = None) -> tuple[RunRecord, ...]:
        """Return the records of all runs, oldest first."""
        return tuple(run.record() for run in self._layout.folders(look) if (run.internal / "state.json").exists())

    # inside

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with os_errors("preparing the state folder"):
            self._layout.make()
            handle = os.open(self._layout.lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            with os_errors("locking the state folder"):
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

    def _quarantined(self, run: RunFolder) -> RunFolder:
        with os_errors("moving a run to quarantine"):
            run.outgoing.chmod(0o700)
            run.path.chmod(0o700)
            moved = RunFolder(self._layout.quarantine / run.id, self._layout.files)
            run.path.rename(moved.path)
            flush_folder(self._layout.quarantine)
            flush_folder(self._layout.runs)
        return moved

    def _end(self, run_id: str, failure: str | None) -> None:
        run = self.folder(run_id)
        record = run.record()
        with os_errors("clearing up after a run"):
            shutil.rmtree(run.temporary, ignore_errors=True)
            undecided = record.state is RunState.RUNNING or (record.state is RunState.PARKED and record.decided is None)
            if undecided and (failure is not None or record.state is RunState.RUNNING):
                run.clear()
                record = record.to(RunState.FAILED, self._clock(), failure or "ended without a release")
            run.save(record.model_copy(update={"closed": True}))

    def _recover(self) -> tuple[str, ...]:
        abandoned = []
        with os_errors("clearing up after killed runs"):
            for draft in self._layout.scratch.iterdir():
                draft.unlink()
            folders = self._layout.folders()
            # sorted by id, the two of a run that was copied are neighbours; which of them counts is left to a person
            twice = {one.id for one, other in pairwise(folders) if one.id == other.id}
            for run in folders:
                if not (run.internal / "state.json").exists():
                    shutil.rmtree(run.path)
                elif run.id not in twice and self._recovered(run):
                    abandoned.append(run.id)
        return tuple(abandoned)

    def _recovered(self, run: RunFolder) -> bool:
        record = run.record()
        if record.state is RunState.PUBLISHING:
            record = self._publications.settle_stopped(run, record)
        elif record.state is RunState.PUBLISHED:
            record = self._publications.settle_shown(run, record)
        elif record.state is RunState.WITHDRAWN:
            self._publications.settle_hidden(run, record)
        elif record.state is RunState.QUARANTINED and run.path.parent == self._layout.runs:
            run = self._quarantined(run)
        if record.closed or run.is_live:
            return False
        shutil.rmtree(run.temporary, ignore_errors=True)
        if record.state is RunState.RUNNING or (record.state is RunState.PARKED and record.decided is None):
            run.clear()
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


@contextmanager
def _page_recorded(run: RunFolder, record: RunRecord, page: bytes) -> Iterator[None]:
    """Record the digest of a page that the block writes; stopped at any line, the page is one of those that are recorded."""
    decided, after = record.decided, sha256(page).hexdigest()
    assert decided is not None
    run.save(record.model_copy(update={"decided": decided.model_copy(update={"pages": (*decided.pages, after)})}))
    yield
    run.save(record.model_copy(update={"decided": decided.model_copy(update={"pages": (after,)})}))


def _wrong_state(record: RunRecord, wanted: str) -> InputError:
    return InputError(
        "R122",
        f"run {record.run} is {record.state.value}, not {wanted}",
        hint="only a parked run can be decided upon, published or quarantined, and only a published one withdrawn",
    )
