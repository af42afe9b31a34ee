"""The state folder as a dry run sees it: runs that are removed again, of which those that would be published count as published meanwhile."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from privrelease.release.files import os_errors
from privrelease.release.runs import RunState
from privrelease.release.store import ReleaseStore, now

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from privrelease.release.outputs import Destination
    from privrelease.release.run_files import Look
    from privrelease.release.runs import ReleaseName, RunFolder, RunRecord

__all__ = ["DRY_RUN", "Rehearsal"]

#: The folder in which the reports of dry runs are kept.
DRY_RUN: Final = "dry-run"


class Rehearsal(ReleaseStore):
    """A state folder in which nothing is published. Later releases of the dry run are audited together with those that :meth:`show` names, as
    they would be with published ones. Other processes see runs that are under way, and what a kill leaves is cleared up by the next run.
    """

    def __init__(self, state: Path) -> None:
        super().__init__(state)
        self._open: dict[str, int] = {}
        self._shown: set[str] = set()

    @contextmanager
    def opened(self) -> Iterator[Rehearsal]:
        """Remove every run that was begun when the block ends, however it ends. Raises InputError (R101 to R105)."""
        try:
            yield self
        finally:
            try:
                with self._locked(), os_errors("removing what a dry run made"):
                    for run in self._open:
                        shutil.rmtree(self.folder(run).path)
            finally:
                for lock in self._open.values():
                    os.close(lock)
                self._open.clear()

    def begin(self, name: ReleaseName, sinks: Sequence[Destination]) -> RunFolder:
        """Open the folder of a run, as :meth:`start` does. Raises InputError (R1xx)."""
        self.check_outputs((sinks,))
        with self._locked():
            run, lock = self._made(name, sinks, None)
        self._open[run.id] = lock
        return run

    def show(self, run: RunFolder) -> None:
        """Let a run count as published for what follows in this dry run."""
        self._shown.add(run.id)

    def records(self, look: Look | None = None) -> tuple[RunRecord, ...]:
        """Return the records of all runs, oldest first, those that are shown as published."""
        return tuple(one.to(RunState.PUBLISHED, now()) if one.run in self._shown else one for one in super().records(look))

    def reports(self, name: ReleaseName) -> Path:
        """Make the folder for the reports of a release's last dry run, which only its owner may read. Raises InputError (R101 to R105)."""
        folder = self.state / DRY_RUN / name.key
        with os_errors("making the folder of a dry run"):
            for one in (folder.parent.parent, folder.parent, folder):
                one.mkdir(mode=0o700, exist_ok=True)
        return folder
