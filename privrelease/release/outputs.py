"""Output paths of a policy: which links show a release, and how they are put in place without losing what was there.

An output path is a symbolic link to ``<state>/current/<release>/<file>``; ``current/<release>`` is a link to the run's ``outgoing``.
Replacing that one link by a rename publishes every file of a release at the same moment.
"""

from __future__ import annotations

import os
import shutil
import stat
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from privrelease.errors import InputError
from privrelease.policy.validation.paths import companions
from privrelease.release.files import flush, flush_folder, os_errors
from privrelease.release.runs import OutputLink

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = [
    "Destination",
    "check_destinations",
    "check_places",
    "keep_copy",
    "links_for",
    "manifest_place",
    "place_link",
    "shows",
    "target",
]


class Destination(Protocol):
    """A sink of the policy: an absolute path, and the path as written."""

    @property
    def path(self) -> Path:
        """Absolute path."""
        ...

    @property
    def label(self) -> str:
        """As the policy writes it."""
        ...


def manifest_place(first: Path) -> Path:
    """Return where the manifest of a release is shown, whose first output is at ``first``.

    >>> manifest_place(Path("out/a.csv")).as_posix()
    'out/a.manifest.json'
    """
    return companions(first)[0]


def links_for(state: Path, sinks: Sequence[Destination]) -> tuple[OutputLink, ...]:
    """Return the links that show a release: one per sink, then manifest and report next to the first.

    Raises InputError: no output, one path twice (R114), a path inside the state folder (R113).
    """
    if not sinks:
        raise InputError(code="R114", message="the release has no output", hint="name one in `output: {path: …}`")
    home = state.resolve()
    places = [_real(sink.path) for sink in sinks]
    for sink, place in zip(sinks, places, strict=True):
        if place == home or home in place.parents or place in home.parents:
            raise InputError(
                code="R113",
                message=f"the output {sink.label} and the state folder lie in one another",
                hint="choose a path outside the state folder",
            )
    wished = {path.name for path in (*places, *companions(places[0]))}
    taken: set[str] = set()
    links = []
    for place in places:
        numbered = (f"{number}-{place.name}" for number in count(2))
        name = place.name if place.name not in taken else next(one for one in numbered if one not in taken | wished)
        taken.add(name)
        links.append(OutputLink(link=os.path.relpath(place, home), file=name))
    links += [OutputLink(link=os.path.relpath(path, home), file=path.name, companion=True) for path in companions(places[0])]
    if len({link.link for link in links}) != len(links) or len({link.file for link in links}) != len(links):
        raise InputError(code="R114", message="two files of the release have one path", hint="give each output another name")
    return tuple(links)


def check_destinations(state: Path, releases: Iterable[Sequence[Destination]]) -> None:
    """Refuse, before anything is read, outputs that could not be published: what each release of a policy would put where.

    Raises InputError: R101 a folder that cannot be written, R103 too long a name, R104 a file where a folder must be, R111 another
    file system than the state folder's, R112 a folder where a file must be, R113 inside the state folder, R114 one path twice.
    """
    places: list[Path] = []
    for sinks in releases:
        for link in links_for(state, sinks):
            place = Path(os.path.normpath(state.resolve() / link.link))
            if place in places:
                raise InputError(
                    code="R114", message=f"two releases would write {place.name}", hint="give one of the outputs another name"
                )
            places.append(place)
    check_places(state, places)


def check_places(state: Path, places: Iterable[Path]) -> None:
    """Refuse places where no link could be put: see :func:`check_destinations`."""
    with os_errors("looking at the output folders"):
        home = _existing(state.resolve())
        _writable(home)
        device = home.stat().st_dev
        for place in places:
            _check(place, device)


def _check(place: Path, device: int) -> None:
    folder = _existing(place.parent)
    longest = os.pathconf(folder, "PC_NAME_MAX")
    if max(len(os.fsencode(part)) for part in place.parts) > longest or len(os.fsencode(place)) >= os.pathconf(
        folder, "PC_PATH_MAX"
    ):
        raise InputError(code="R103", message="an output path is too long for its file system", hint="shorten the output path")
    _writable(folder)
    if folder.stat().st_dev != device:
        raise InputError(
            code="R111",
            message=f"{place.name} would lie on another file system than the state folder",
            hint="name a state folder on the output's file system (--state)",
        )
    if place.is_dir():
        raise InputError(code="R112", message=f"the output path {place.name} is a folder", hint="name a file")


def _writable(folder: Path) -> None:
    if not folder.is_dir():
        raise NotADirectoryError(20, "not a folder", str(folder))
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(13, "not writable", str(folder))


def _existing(path: Path) -> Path:
    while not os.path.lexists(path):
        path = path.parent
    return path


def _real(path: Path) -> Path:
    """Return the place of a link: its folder resolved, its own name kept. Links are relative to where they really are."""
    return path.parent.resolve() / path.name


def target(place: Path, current: Path, file: str) -> str:
    """Return what the link at ``place`` holds: the relative path of ``file`` under the ``current`` link."""
    return os.path.relpath(current / file, place.parent)


def shows(place: Path, current: Path, file: str) -> bool:
    """Return True if ``place`` is already the link that shows ``file``."""
    return place.is_symlink() and str(place.readlink()) == target(place, current, file)


def place_link(place: Path, current: Path, file: str, *, scratch: Path) -> None:
    """Put the link at ``place``, by one rename from ``scratch`` (no stray name next to the outputs, also after a kill)."""
    place.parent.mkdir(parents=True, exist_ok=True)
    draft = scratch / f"link-{file}"[:200]
    draft.unlink(missing_ok=True)
    draft.symlink_to(target(place, current, file))
    draft.replace(place)
    flush_folder(place.parent)


def keep_copy(place: Path, kept: Path) -> Path | None:
    """Keep the bytes that ``place`` shows, if any, under ``kept``: the same file by a hard link, or a copy.

    Returns where they are, None where ``place`` shows nothing. A name that is taken gets a number. Where ``place`` is a link, its text is
    kept next to it, in ``<name>.link``.
    """
    kept = next(free for free in _numbered(kept) if not os.path.lexists(free))
    if place.is_symlink():
        kept.with_name(f"{kept.name}.link").write_text(f"{place.readlink()}\n", encoding="utf-8", errors="surrogateescape")
    try:
        found = place.stat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        raise InputError(code="R112", message=f"the output path {place.name} is not a regular file", hint="name a file")
    real = place.resolve()
    try:
        os.link(real, kept)
    except OSError:  # another file system, or an owner whose files may not be linked
        with real.open("rb") as old, kept.open("xb") as copy:
            shutil.copyfileobj(old, copy)
        shutil.copystat(real, kept)
    flush(kept)
    return kept


def _numbered(path: Path) -> Iterator[Path]:
    yield path
    yield from (path.with_name(f"{number}-{path.name}") for number in count(2))
