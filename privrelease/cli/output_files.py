"""Places where ``-o`` and ``--report`` may write: nowhere that a policy, a source, a release or a run is kept.

A report is made in seconds; what it would overwrite may be the only copy. So nothing that exists is overwritten unless ``--force`` asks
for it, and with ``--force`` neither what a command reads, nor an output of a release, nor anything of a state folder. A symbolic link at
the place is neither followed nor replaced: an output path of a release is one, and what it showed would no longer be what was audited.
"""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Final

from privrelease.errors import InputError, UsageError
from privrelease.release.files import flush_folder, os_errors
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from privrelease.plan.model import Plan
    from privrelease.policy.language.models import Policy
    from privrelease.policy.loader import LoadedPolicy
    from privrelease.release.store import ReleaseStore

__all__ = ["Kept", "Writer", "kept_of_audit", "kept_of_policy"]

_ELSEWHERE = "name another file"
_HEAD = 65536
_SPECIAL = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class Kept:
    """A path that must stay as it is (a pattern for sources of many files), and what it is in words."""

    path: Path
    what: str


def kept_of_policy(loaded: LoadedPolicy, plan: Plan, store: ReleaseStore) -> tuple[Kept, ...]:
    """Return what belongs to a policy: its files, sources, keys and ledger, and every path where a release of it is shown."""
    from privrelease.policy.validation.paths import PathFault, companions

    found = [Kept(path, "a file of the policy") for path in loaded.files]
    for name, dataset in loaded.policy.datasets.items():
        try:
            found.append(Kept(Path(loaded.roots.source(dataset).path), f"a source of dataset {name}"))
        except PathFault:
            continue
    for written, what in _of_attacks(loaded.policy):
        with suppress(PathFault):
            found.append(Kept(Path(loaded.roots.file(written).path), what))
    found += [
        Kept(one.path, f"a file of keys or of a hierarchy of release {release.id}")
        for release in plan.releases
        for one in release.lists
    ]
    if plan.approvals is not None:
        found.append(Kept(plan.approvals.keys, "the file of the approvers' keys"))
    url = "" if loaded.policy.ledger is None else loaded.policy.ledger.url
    if url.startswith("sqlite:///"):
        found.append(Kept(loaded.roots.folder / url.removeprefix("sqlite:///"), "the privacy-budget ledger"))
    if plan.publications is not None and plan.publications.path is not None:
        found.append(Kept(plan.publications.path, "the log of publications"))
    for release in plan.releases:
        paths = [sink.path for sink in release.sinks]
        found += [Kept(path, f"an output of release {release.id}") for path in (*paths, *companions(paths[0]))]
    return (*found, Kept(store.state, "the state folder"))


def _of_attacks(policy: Policy) -> Iterator[tuple[str, str]]:
    """Files of rows that the attacks of a policy read."""
    if policy.attacks is not None:
        if policy.attacks.control is not None:
            yield policy.attacks.control, "the control file of the attacks"
        if policy.attacks.linkability is not None and policy.attacks.linkability.auxiliary is not None:
            yield policy.attacks.linkability.auxiliary, "the auxiliary file of an attack"


def kept_of_audit(audit: Path) -> tuple[Kept, ...]:
    """Return what belongs to an audit: itself; of a run's folder, its state folder too, and where its release is shown."""
    from privrelease.errors import InputError
    from privrelease.release.runs import RunFolder

    found = [Kept(audit, "the folder of a run" if audit.is_dir() else "the audit that is read")]
    home = audit.resolve() if audit.is_dir() else audit.resolve().parent.parent
    try:
        links = RunFolder(home).record().links
    except InputError:
        return tuple(found)
    state = home.parent.parent
    found += [Kept(Path(os.path.normpath(state / link.link)), "an output of a release") for link in links]
    return (*found, Kept(state, "the state folder"))


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes results of a command. ``force``: an ordinary file that is already there is replaced."""

    kept: tuple[Kept, ...] = ()
    force: bool = False

    def check(self, *targets: Path | None) -> None:
        """Refuse places before any work is done.

        Raises UsageError: C130 something is there, C131 it must stay, C132 one place twice; InputError: C133 no file can be made there.
        """
        named = [target for target in targets if target is not None]
        with os_errors("looking at the place to write to"):
            for target in named:
                self._check(target)
            places = [str(_place(target)).casefold() for target in named]
        for folder in dict.fromkeys(_place(target).parent for target in named):
            _try(folder)
        if len(set(places)) != len(places):
            raise UsageError(code="C132", message="two results would go to one file", hint="name a file for each")

    def write(self, target: Path, content: bytes, *, mode: int = 0o666) -> None:
        """Write ``content`` completely or not at all, with ``mode`` less the user's umask. Raises UsageError as :meth:`check`."""
        with os_errors(f"writing {target.name}"):
            self._check(target)
            place = _place(target)
            draft = place.with_name(f".{secrets.token_hex(8)}.draft")
            handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
            try:
                with os.fdopen(handle, "wb") as stream:
                    stream.write(content)
                    stream.flush()
                    os.fsync(stream.fileno())
                if self.force:
                    draft.replace(place)
                else:
                    _put(draft, place, target)
            finally:
                draft.unlink(missing_ok=True)
            flush_folder(place.parent)

    def _check(self, target: Path) -> None:
        place = _place(target)
        matched = [kept for kept in self.kept if _is(place, kept.path)]
        if matched:
            raise _stays(target, _what(place, matched))
        if any(_is_state_folder(folder) for folder in place.parents):
            raise _stays(target, "inside a state folder")
        if not place.parent.is_dir():
            what = "no folder" if os.path.lexists(place.parent) else "not there"
            raise InputError(
                code="C133", message=f"the folder of {target} is {what}", hint="make the folder first, or name another file"
            )
        try:
            found = place.lstat()
        except FileNotFoundError:
            return
        if stat.S_ISLNK(found.st_mode):
            raise _stays(target, _LINK)
        if not stat.S_ISREG(found.st_mode):
            raise _stays(target, "no regular file")
        if _is_policy(place):
            raise _stays(target, "a policy")
        if not self.force:
            raise _taken(target)


def _try(folder: Path) -> None:
    """Make a file in a folder and remove it: rights, a full disk or a file system for reading alone show before the work, not after."""
    draft = folder / f".{secrets.token_hex(8)}.draft"
    try:
        os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600))
        draft.unlink()
    except OSError as error:
        what = error.strerror or type(error).__name__
        raise InputError(
            code="C133",
            message=f"no file can be made in {folder}: {what}",
            hint="check its rights and space, or name another file",
        ) from None


def _place(target: Path) -> Path:
    """Return where the name itself is: its folder resolved, its own name kept."""
    return target.parent.resolve() / target.name


def _put(draft: Path, place: Path, target: Path) -> None:
    """Give the draft its name unless something has it: a link refuses that in one step, where a file system has links."""
    try:
        os.link(draft, place)
    except FileExistsError:
        raise _taken(target) from None
    except OSError:
        if os.path.lexists(place):
            raise _taken(target) from None
        draft.rename(place)


_LINK: Final = "a symbolic link, as outputs of releases are"


def _what(place: Path, matched: Sequence[Kept]) -> str:
    """Say what a place is: by its own name where that is kept, else what it leads to or lies in."""
    named = next((kept.what for kept in matched if _place(kept.path) == place), None)
    if named is not None:
        return named
    if place.is_symlink():
        return _LINK
    around = next((kept.what for kept in matched if kept.path.resolve() in place.parents), None)
    return matched[0].what if around is None else f"in {around}"


def _is(place: Path, kept: Path) -> bool:
    """Return True if a place is a kept one or inside it: by its name in any case of letters, by where links lead, or as the
    same file.
    """
    names = {str(place).casefold(), os.path.realpath(place).casefold()}
    for other in {str(_place(kept)), os.path.realpath(kept)}:
        folded = other.casefold()
        if any(name == folded or name.startswith(folded + os.sep) for name in names):
            return True
        if _SPECIAL & set(other) and any(fnmatchcase(name, folded) for name in names):
            return True
    try:
        return place.samefile(kept)
    except OSError:
        return any(place.samefile(one) for one in _matches(kept)) if place.exists() else False


def _matches(pattern: Path) -> Iterable[Path]:
    """Return the files of a source of many files."""
    fixed = next((folder for folder in pattern.parents if not _SPECIAL & set(str(folder))), pattern)
    return fixed.glob(str(pattern.relative_to(fixed))) if _SPECIAL & set(pattern.name) or fixed != pattern.parent else ()


def _is_state_folder(folder: Path) -> bool:
    return folder.name.casefold() == ".privrelease" or all(
        (folder / part).is_dir() for part in ("runs", "current", "quarantine")
    )


def _is_policy(place: Path) -> bool:
    with place.open("rb") as file:
        head = file.read(_HEAD)
    return b"privrelease/v1" in head and b"ReleasePolicy" in head and not head.lstrip().startswith((b"<", b"{"))


def _stays(target: Path, what: str) -> UsageError:
    return UsageError(code="C131", message=f"{target} is {what}: it is never overwritten", hint=_ELSEWHERE)


def _taken(target: Path) -> UsageError:
    return UsageError(code="C130", message=f"{target} exists already", hint=f"{_ELSEWHERE}, or overwrite it with --force")
