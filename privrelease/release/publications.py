"""Files shown to readers: the ``current`` links of the state folder and the output paths that lead to them.

The rename in :meth:`Publications.switch` is the moment of publication. Whatever stops before it leaves the previous release, whatever
stops after it leaves the new one; :meth:`Publications.settle_stopped` makes the records agree. Callers hold the state folder's lock.
"""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

from privrelease.errors import InputError, PrivreleaseError
from privrelease.release.files import flush, flush_folder
from privrelease.release.outputs import keep_copy, place_link, shows
from privrelease.release.run_files import ParsedFiles
from privrelease.release.runs import Replaced, RunFolder, RunState

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Sequence
    from datetime import datetime

    from privrelease.release.run_files import Look
    from privrelease.release.runs import OutputLink, ReleaseName, RunRecord

__all__ = ["Layout", "Publications"]


class Layout:
    """Places in a state folder."""

    def __init__(self, state: Path) -> None:
        self.state = state
        self.files = ParsedFiles()
        self.lock = state / "lock"
        self.runs = state / "runs"
        self.quarantine = state / "quarantine"
        self.replaced = state / "replaced"
        self.scratch = state / "scratch"

    def make(self) -> None:
        """Make the folders that are not there. Raises OSError."""
        self.state.mkdir(mode=0o711, parents=True, exist_ok=True)
        for folder in (self.runs, self.state / "current", self.replaced):
            folder.mkdir(mode=0o711, exist_ok=True)
        for folder in (self.quarantine, self.scratch):
            folder.mkdir(mode=0o700, exist_ok=True)

    def current(self, name: ReleaseName) -> Path:
        """Return the link to what is published under a name; real folders all the way, since links are relative to them."""
        return self.state.resolve() / "current" / name.key

    def place(self, link: str) -> Path:
        """Return the output path that a record names relative to the state folder."""
        return Path(os.path.normpath(self.state.resolve() / link))

    def run(self, name: str) -> RunFolder:
        """Return the folder of a run that is not in quarantine."""
        return RunFolder(self.runs / name, self.files)

    def folders(self, look: Look | None = None) -> tuple[RunFolder, ...]:
        """Return the folders of all runs, oldest first."""
        found: list[tuple[str, Path]] = []
        for home in (self.runs, self.quarantine):
            if home.is_dir():
                with os.scandir(home) as entries:
                    found += [(entry.name, home) for entry in entries if entry.is_dir()]
        return tuple(RunFolder(home / name, look or self.files) for name, home in sorted(found, key=itemgetter(0)))


class Publications:
    """Shows and hides releases."""

    def __init__(self, layout: Layout, clock: Callable[[], datetime]) -> None:
        self._layout = layout
        self._clock = clock

    def current(self, name: ReleaseName) -> RunFolder | None:
        """Return the run that is published under this name, if any."""
        link = self._layout.current(name)
        if not link.is_symlink():
            return None
        run = Path(os.path.normpath(link.parent / link.readlink())).parent
        if run.parent != self._layout.runs.resolve() or not run.is_dir():
            return None
        return self._layout.run(run.name)

    def show(
        self,
        run: RunFolder,
        record: RunRecord,
        links: Sequence[tuple[Path, str]],
        announce: Callable[[RunFolder, RunRecord], RunRecord] | None = None,
    ) -> RunRecord:
        """Publish: flush, link the output paths, announce, switch, settle. ``links``: (output path, file of ``outgoing``). Raises OSError."""
        for file in run.outgoing.iterdir():
            flush(file)
        flush_folder(run.outgoing)
        record = run.save(record.to(RunState.PUBLISHING, self._clock()))
        try:
            _open_to_readers(run)
            replaced = self._link(record, links)
            if replaced:
                record = run.save(record.model_copy(update={"replaced": replaced}))
            announced = record if announce is None else announce(run, record)
            self.switch(record.name, run.outgoing)
        except BaseException:
            with suppress(OSError, PrivreleaseError):  # else the next run settles it
                self.settle_stopped(run, record)
            raise
        return self._settle(run, announced)

    def hide(self, run: RunFolder, reason: str) -> RunRecord:
        """Take what is shown back: one unlink of the ``current`` link, then its output paths."""
        record = run.record()
        link = self._layout.current(record.name)
        link.unlink()
        flush_folder(link.parent)
        record = run.save(record.to(RunState.WITHDRAWN, self._clock(), reason))
        self.settle_hidden(run, record)
        return record

    def switch(self, name: ReleaseName, folder: Path) -> None:
        """Let the ``current`` link of ``name`` lead to ``folder``, by one rename."""
        link = self._layout.current(name)
        link.parent.mkdir(mode=0o711, exist_ok=True)
        draft = self._layout.scratch / "current"
        draft.unlink(missing_ok=True)
        draft.symlink_to(os.path.relpath(folder.resolve(), link.parent))
        draft.replace(link)
        flush_folder(link.parent)

    def settle_stopped(self, run: RunFolder, record: RunRecord) -> RunRecord:
        """Settle a publication that was stopped: it happened if ``current`` shows the run, else the run is parked as before."""
        shown = self.current(record.name)
        if shown is not None and shown.id == run.id:
            return self._settle(run, record)
        run.outgoing.chmod(0o700)
        current = self._layout.current(record.name)
        for link in record.links:
            place = self._layout.place(link.link)
            if shows(place, current, link.file) and not place.exists():
                place.unlink()
        return run.save(record.to(RunState.PARKED, self._clock(), "stopped before publication"))

    def settle_shown(self, run: RunFolder, record: RunRecord) -> RunRecord:
        """Settle a published run whose successor's, or withdrawal's, last note was not written."""
        shown = self.current(record.name)
        if shown is not None and shown.id != run.id:
            return run.save(record.to(RunState.SUPERSEDED, self._clock(), f"by run {shown.id}"))
        if not os.path.lexists(self._layout.current(record.name)):
            record = run.save(record.to(RunState.WITHDRAWN, self._clock(), "stopped while withdrawing"))
            self.settle_hidden(run, record)
        return record

    def settle_hidden(self, run: RunFolder, record: RunRecord) -> None:
        """Settle a withdrawn run: its files are closed, and its output paths lead nowhere, unless another release is shown there."""
        if not os.path.lexists(self._layout.current(record.name)):
            self._unlink(record)
        if run.outgoing.is_dir():
            run.outgoing.chmod(0o700)

    def _link(self, record: RunRecord, links: Sequence[tuple[Path, str]]) -> tuple[Replaced, ...]:
        current = self._layout.current(record.name)
        foreign = [(place, file) for place, file in links if os.path.lexists(place) and not shows(place, current, file)]
        replaced = self._adopt(record, links, foreign) if foreign else ()
        for place, file in links:
            if not shows(place, current, file):
                place_link(place, current, file, scratch=self._layout.scratch)
        return replaced

    def _adopt(
        self, record: RunRecord, links: Sequence[tuple[Path, str]], foreign: Sequence[tuple[Path, str]]
    ) -> tuple[Replaced, ...]:
        """Keep what exists at the output paths, then show the kept bytes through our links: the paths' content never changes.

        Returns what was not ours and where it is kept.
        """
        kept = self._layout.replaced / f"{self._clock():%Y%m%dT%H%M%SZ}-{secrets.token_hex(4)}"
        kept.mkdir(mode=0o711)
        previous = self.current(record.name)
        earlier = [] if previous is None else [(self._layout.place(link.link), link.file) for link in previous.record().links]
        found = {place: keep_copy(place, kept / file) for place, file in dict.fromkeys((*links, *earlier))}
        flush_folder(kept)
        self.switch(record.name, kept)
        current = self._layout.current(record.name)
        for place, file in foreign:
            place_link(place, current, file, scratch=self._layout.scratch)
        home = self._layout.state.resolve()
        return tuple(
            Replaced(link=os.path.relpath(place, home), kept=os.path.relpath(copy.resolve(), home))
            for place, _ in foreign
            if (copy := found[place]) is not None
        )

    def _settle(self, run: RunFolder, record: RunRecord) -> RunRecord:
        """Record the run that ``current`` shows as published and the others of its name as superseded."""
        at = self._clock()
        record = run.save(record.to(RunState.PUBLISHED, at))
        shown = {link.link for link in record.links if run.output(link.file).exists()}
        removed: list[str] = []
        for other in self._layout.folders():
            if other.id == run.id or not (other.internal / "state.json").exists():
                continue
            before = other.record()
            if before.name == record.name and before.state is RunState.PUBLISHED:
                removed += self._unlink(before, but=shown)
                other.save(before.to(RunState.SUPERSEDED, at, f"by run {run.id}"))
        return run.save(record.model_copy(update={"removed": tuple(removed)})) if removed else record

    def _unlink(self, record: RunRecord, *, but: Container[str] = ()) -> list[str]:
        """Remove the links of a run that are ours; return those of its data."""
        current = self._layout.current(record.name)
        removed = []
        for link in record.links:
            place = self._layout.place(link.link)
            if link.link not in but and shows(place, current, link.file):
                place.unlink()
                removed += [] if link.companion else [link.link]
        return removed

    def require_one_policy(self, name: ReleaseName, file: Path, links: Iterable[OutputLink]) -> None:
        """Raise InputError (R217) where the release was published from another policy file, and would be taken away from its output path."""
        run = self.current(name)
        if run is None:
            return
        before = run.record()
        if before.file is None:
            return
        other = self._layout.place(before.file)
        same = other.exists() and file.exists() and other.samefile(file)
        ours = {link.link for link in links}
        lost = [self._layout.place(link.link) for link in before.links if not link.companion and link.link not in ours]
        if not same and other.is_file() and lost:
            shown = ", ".join(os.path.relpath(place, other.parent.resolve()) for place in lost)
            raise InputError(
                code="R217",
                message=f"release {name.key} was published from the policy file {other.name}, which shows it at {shown}: this publication would "
                "take it away there",
                hint="give this policy an `id` of its own; where it replaces the other one, withdraw that release first "
                f"(`privrelease withdraw {other.name} {name.release} --reason …`) or remove that file",
            )


def _open_to_readers(run: RunFolder) -> None:
    """Give the published files the modes that ordinary files of this user have; ``internal`` stays closed."""
    mask = os.umask(0o077)
    os.umask(mask)
    for file in run.outgoing.iterdir():
        file.chmod(0o666 & ~mask)
    run.outgoing.chmod(0o777 & ~mask)
    run.path.chmod(0o711 & ~mask)
