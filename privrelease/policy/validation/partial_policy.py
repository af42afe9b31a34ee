"""Parts left out of a policy with faults, so that the rest of it can still be read and its meaning checked.

As little as can be, and never so little that the rest would be read as something that no one wrote: a threshold of an attack
goes by itself, since no rule needs it; a query of a release does not, since the budget is shared among all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from privrelease.policy.language.attacks import ATTACKS
from privrelease.policy.language.models import Policy
from privrelease.policy.text.nodes import Entry, Mapping, Node, Scalar, as_written, walk
from privrelease.policy.validation.key_suggestions import meant_at
from privrelease.policy.validation.unsupported import pruned

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["faultless"]

_Path = tuple[str | int, ...]
_Names = tuple[str, ...]

_STAND_INS: Final = {
    "apiVersion": "privrelease/v1",
    "kind": "ReleasePolicy",
    "id": "unnamed",
    "version": "0",
    "title": "unnamed",
}
#: Sections whose elements represent themselves and are referred to by name.
_NAMED: Final = frozenset({"datasets", "threats", "releases", "checks"})
#: Sections of which a key can go while the rest means what it meant; rules look up whether it did.
_BY_KEY: Final = frozenset({"attacks", "tables", "legal"})
#: Keys of an attack that no rule reads.
_LIMITS: Final = frozenset({"max_risk", "max_advantage", "tolerance"})
#: Keys of a ledger without which the others mean the same.
_OF_LEDGER: Final = frozenset({"datasets", "retention"})


def faultless(tree: Node, problems: Sequence[Any], policy: type[Policy] = Policy) -> tuple[Node, frozenset[_Names]]:
    """Return the tree less every element with a fault, and what was left out.

    ``problems`` are pydantic's errors. What was left out: ``(kind, name)`` of a named element, ``("columns", dataset, name)``,
    ``(section, key)`` of a key and ``(section,)`` of a whole section; a misspelt key counts as the key that it can represent.
    """
    removed: set[_Path] = set()
    broken: set[_Names] = set()
    for item in problems:
        path = tuple(item["loc"])
        written = as_written(tree, path)
        meant = meant_at(tree, path, policy) if item["type"] == "extra_forbidden" else None
        gone = _unknown(written, meant) if meant is not None and len(written) <= 3 else None
        removed.add(gone or _element(written))
        broken.update(_names(tree, written, gone or _element(written), meant))
    partial = pruned(tree, removed)
    if not isinstance(partial, Mapping):
        return tree, frozenset(broken)
    entries = dict(partial.entries)
    for key, text in _STAND_INS.items():
        entries.setdefault(key, Entry(key, tree.location, Scalar(text, plain=False, location=tree.location)))
    return Mapping(entries, partial.location, partial.size), frozenset(broken)


def _element(path: _Path) -> _Path:
    """The element that is removed with a fault at ``path``."""
    match path:
        case ("datasets", _, "columns", _, *_):
            return path[:4]
        case ("attacks", attack, key, *_) if attack in ATTACKS and key in _LIMITS:
            return path[:3]
        case ("ledger", "datasets", _, *_) | ("approvals", "required", _, *_):
            return path[:3]
        case ("waivers" | "datasets" | "threats" | "releases" | "checks" | "attacks" | "tables" | "legal", _, *_):
            return path[:2]
        case ("ledger", "retention" | "datasets", *_):
            return path[:2]
        case _:
            return path[:1]


def _unknown(path: _Path, meant: frozenset[str]) -> _Path | None:
    """The unknown key alone, where what it can represent may go alone too; None where it may not."""
    match path:
        case ("attacks" | "tables" | "legal", _):
            return path
        case ("attacks", attack, _) if attack in ATTACKS and meant and meant <= _LIMITS:
            return path
        case ("ledger", _) if meant <= _OF_LEDGER:
            return path
        case ("approvals", _) if not meant:
            return path
        case _:
            return None


def _names(tree: Node, path: _Path, gone: _Path, meant: frozenset[str] | None) -> Iterator[_Names]:
    """Yield what rules learn of an element that is removed."""
    top = str(gone[0]) if gone else ""
    if len(gone) == 1:
        yield from ((key,) for key in meant or () if len(path) == 1)
        yield (top,)
    elif len(gone) == 4:
        yield ("columns", str(gone[1]), str(gone[3]))
    elif len(gone) == 2 and top in _NAMED:
        node = walk(tree, gone)
        name: Node | None = None
        if isinstance(node, Mapping) and isinstance(gone[1], int):
            name = walk(tree, path) if meant and "id" in meant and len(path) == 3 else node.get("id")
        yield (top, name.text if isinstance(name, Scalar) else str(gone[1]))
        if isinstance(gone[1], int) and not isinstance(name, Scalar):
            yield (top,)  # whatever is named and not there may be this one
    elif len(gone) == 2 and top in _BY_KEY:
        yield (top, str(gone[1]))
        yield from ((top, key) for key in meant or () if gone == path)
