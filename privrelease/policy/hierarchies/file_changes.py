"""Changes in the files of hierarchies and of areas, which a policy only names: the values that labels represent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.policy.validation.paths import PathFault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from privrelease.policy.changes.diff import PolicyChange
    from privrelease.policy.changes.directions import Effect
    from privrelease.policy.loader import LoadedPolicy

__all__ = ["hierarchy_file_changes"]


def hierarchy_file_changes(old: LoadedPolicy, new: LoadedPolicy, *, in_one_place: bool = False) -> tuple[PolicyChange, ...]:
    """Return which files that hierarchies of both policies name under one key hold something else now.

    Labels may represent fewer values than they did, which is not looked into: other content weakens, and so does a file that one side lacks. Another name
    under the key is a change of the policy. ``in_one_place``: one policy was given as a text, and is read as if it was the file of the other, so that
    what its files held is not there to be compared.
    """
    from privrelease.policy.changes.diff import PolicyChange

    return tuple(
        PolicyChange(".".join(place), effect, f"{'.'.join(place)}: {words}", new.location(*place))
        for place, effect, words in _changed(old, new, in_one_place)
    )


def _changed(old: LoadedPolicy, new: LoadedPolicy, in_one_place: bool) -> Iterator[tuple[tuple[str, ...], Effect, str]]:
    before = dict(_named(old))
    for place, name in _named(new):
        if before.get(place) != name:
            continue
        if in_one_place:
            yield place, "weaker", f"{name} was not compared: one policy is read from stdin, without its files"
            continue
        was, is_now = _content(old, name), _content(new, name)
        if was is None or is_now is None:
            sides = [side for side, held in (("old", was), ("new", is_now)) if held is None]
            yield place, "weaker", f"{name} was not compared: that of the {' and of the '.join(sides)} policy cannot be read"
        elif was != is_now:
            yield place, "weaker", f"{name} has other content: a label may stand for fewer values than it did"


def _named(loaded: LoadedPolicy) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the files of hierarchies as the policy writes them, by their place in it."""
    from privrelease.policy.hierarchies.levels import files_by_key

    for dataset, found in loaded.policy.datasets.items():
        for column, spec in found.columns.items():
            for key, name in files_by_key(spec):
                yield ("datasets", dataset, "columns", column, "hierarchy", *key), name


def _content(loaded: LoadedPolicy, name: str) -> list[str] | None:
    """Return the lines of a file, whatever ends them; None where it cannot be read."""
    try:
        path = loaded.roots.inside(name, loaded.roots.folder)
        return path.read_text(encoding="utf-8-sig").split("\n") if path.is_file() else None
    except (OSError, ValueError, PathFault):
        return None
