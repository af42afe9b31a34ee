"""Contents of a state folder: every run with the state that it is in, read without changing anything."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING, Final

from privrelease.errors import InputError, PrivreleaseError
from privrelease.release.publications import Layout, Publications
from privrelease.release.runs import RunFolder, RunState
from privrelease.release.store import now
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from privrelease.release.manifest import Manifest
    from privrelease.release.runs import RunRecord

__all__ = ["STANDING", "ListedRun", "Listing", "list_runs", "near", "state_of"]

#: States of what is published or waits for a person, or was taken out of use by a decision. The others are history.
STANDING: Final = (RunState.PUBLISHED, RunState.PARKED, RunState.QUARANTINED, RunState.WITHDRAWN, RunState.RUNNING)


@dataclass(frozen=True, slots=True)
class ListedRun:
    """One run as it is found. ``manifest``: None where the run has none (any more), or it cannot be read. ``doubled``: another folder has its id."""

    folder: RunFolder
    record: RunRecord
    state: RunState
    places: tuple[Path, ...]
    manifest: Manifest | None
    doubled: bool = False

    @property
    def since(self) -> datetime:
        """The moment of its last transition."""
        return self.record.history[-1].at

    @property
    def where(self) -> tuple[str, ...]:
        """Output paths of what is published, else the run's folder; as seen from the working folder where that is shorter."""
        found = self.places if self.state is RunState.PUBLISHED else (self.folder.path,)
        return tuple(map(near, found))

    @property
    def version(self) -> str | None:
        """The version of the policy that it was made under."""
        return None if self.manifest is None else self.manifest.policy.version


@dataclass(frozen=True, slots=True)
class Listing:
    """The runs of a state folder, newest first, and the folders of runs whose record cannot be read, each with the reason."""

    runs: tuple[ListedRun, ...]
    unreadable: tuple[tuple[Path, PrivreleaseError], ...] = ()


def near(path: Path) -> str:
    """Return a path as seen from the working folder, unless that leads out of it."""
    seen = os.path.relpath(path)
    return str(path) if seen.startswith("..") else seen


def list_runs(state: Path, policy: str | None = None) -> Listing:
    """Return the runs of a state folder, of one policy where its id is given. Raises InputError (R227): there is no such state folder."""
    layout = Layout(state)
    if not layout.runs.is_dir():
        raise InputError(
            code="R227",
            message=f"there is no state folder {near(state)}",
            hint="name it with --state; the first run makes it",
        )
    folders = layout.folders()
    times = Counter(folder.id for folder in folders)
    runs: list[ListedRun] = []
    unreadable: list[tuple[Path, PrivreleaseError]] = []
    for folder in reversed(folders):
        try:
            record = folder.record()
        except PrivreleaseError as error:
            unreadable.append((folder.path, error))
            continue
        if policy is None or record.policy == policy:
            places = tuple(layout.place(link.link) for link in record.links if not link.companion)
            found = state_of(folder, record, layout)
            runs.append(ListedRun(folder, record, found, places, _manifest(folder), times[folder.id] > 1))
    return Listing(tuple(runs), tuple(unreadable))


def state_of(folder: RunFolder, record: RunRecord, layout: Layout) -> RunState:
    """Return the state that the next command would settle a run in: what was killed half way is not what its record says."""
    if record.state in {RunState.PUBLISHING, RunState.PUBLISHED}:
        shown = Publications(layout, now).current(record.name)
        if shown is not None:
            there = shown.id == folder.id
            return RunState.PUBLISHED if there else _LOST[record.state]
        if record.state is RunState.PUBLISHED:
            return RunState.PUBLISHED if os.path.lexists(layout.current(record.name)) else RunState.WITHDRAWN
        return RunState.PARKED
    outcome = None if record.decided is None else record.decided.outcome
    waits = record.state is RunState.PARKED and outcome not in {None, "fail"}
    if record.closed or waits or record.state not in {RunState.RUNNING, RunState.PARKED}:
        return record.state
    if folder.is_live:
        return RunState.RUNNING
    return RunState.ABANDONED if outcome is None else RunState.QUARANTINED


#: What becomes of a run whose publication is recorded while another run is shown.
_LOST: Final = {RunState.PUBLISHING: RunState.PARKED, RunState.PUBLISHED: RunState.SUPERSEDED}


def _manifest(folder: RunFolder) -> Manifest | None:
    try:
        return folder.manifest() if folder.manifest_path.is_file() else None
    except PrivreleaseError:
        return None
