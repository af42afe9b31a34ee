"""The policy of a folder that a policy is compared with: the one of the same id, whatever its file is called."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from privrelease.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["holds_policies", "id_of", "policies_gone", "policy_before"]

_ENDINGS = frozenset({".yaml", ".yml"})
#: Bytes that every policy has: what lacks them is not parsed.
_MARK = b"ReleasePolicy"


def holds_policies(folder: Path) -> bool:
    """Return whether a folder has policies anywhere below it, and is neither a run nor a folder of reports."""
    if not folder.is_dir() or (folder / "audit.json").is_file() or (folder / "internal").is_dir():
        return False
    return next(_policies(folder), None) is not None


def policy_before(folder: Path, new: Path) -> Path | None:
    """Return the policy below ``folder`` that ``new`` was; None where the id is new, and no policy was at its path.

    Of one id, the policy at the path of ``new`` comes first, then the only one of those whose paths are no longer there. Raises UsageError
    (C145) where several remain.
    """
    named = new if not new.is_absolute() else Path(os.path.relpath(new))
    there = folder / named
    wanted = id_of(new)
    same = [path for path, name in _policies(folder) if name is not None and name == wanted]
    if there in same:
        return there
    if not same:
        return there if there.is_file() else None
    gone = [path for path in same if not path.relative_to(folder).exists()]
    chosen = gone or same
    if len(chosen) == 1:
        return chosen[0]
    names = ", ".join(str(path.relative_to(folder)) for path in chosen[:3])
    raise UsageError(
        code="C145",
        message=f"several policies below {folder} have the id {wanted}: {names}",
        hint="give each policy an id of its own, or name the old policy's file",
    )


def policies_gone(folder: Path, new: Sequence[Path], below: Sequence[Path]) -> tuple[str, ...]:
    """Return the policies of an old folder that none of ``new`` has the id or the path of, by their paths in it. ``below``: the new folders;
    elsewhere nothing is said to be gone.
    """
    ids = {id_of(path) for path in new}
    found = []
    for path, name in _policies(folder):
        here = path.relative_to(folder)
        inside = any(os.path.commonpath([os.path.abspath(here), os.path.abspath(one)]) == os.path.abspath(one) for one in below)  # noqa: PTH100  links are kept
        if inside and name not in ids and not here.exists():
            found.append(here.as_posix())
    return tuple(found)


def _policies(folder: Path) -> Iterator[tuple[Path, str | None]]:
    for home, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(home) / name
            if path.suffix.lower() in _ENDINGS and _is_policy(path):
                yield path, id_of(path)


def _is_policy(path: Path) -> bool:
    from privrelease.policy.text.yaml import MAX_BYTES

    try:
        with path.open("rb") as file:
            return _MARK in file.read(MAX_BYTES)
    except OSError:
        return False


def id_of(path: Path) -> str | None:
    """Return the id of a policy as it is written; None where there is none. What else is wrong with the policy does not matter here."""
    from privrelease.policy.text.nodes import Mapping, Scalar
    from privrelease.policy.text.yaml import MAX_BYTES, parse_yaml

    try:
        with path.open("rb") as file:
            tree, _ = parse_yaml(file.read(MAX_BYTES), path.name)
    except OSError:
        return None
    found = tree.get("id") if isinstance(tree, Mapping) else None
    return found.text if isinstance(found, Scalar) else None
