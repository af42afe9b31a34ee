"""Names: every element has one of its own, also for whoever folds case.

Looked at on the tree, so that a fault inside an element hides no confusion about its name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.findings import Finding
from privrelease.policy.text.messages import shown
from privrelease.policy.text.nodes import Mapping, Node, Scalar, Sequence_, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from privrelease.findings import Location

__all__ = ["check_names"]

_Named = list[tuple[str, "Location"]]


def check_names(tree: Node) -> tuple[Finding, ...]:
    """Return a finding for each name that appears twice, or differs from another only in case."""
    return tuple(_confusions(tree))


def _confusions(tree: Node) -> Iterator[Finding]:
    rename = "rename one of them"
    for kind in ("datasets", "threats"):
        yield from _folded(kind, _keys(walk(tree, (kind,))), rename)
    source = "rename one of them in the source: an engine that folds case would take one for the other"
    datasets = walk(tree, ("datasets",))
    for entry in datasets.entries.values() if isinstance(datasets, Mapping) else ():
        yield from _folded("columns", _keys(walk(entry.value, ("columns",))), source)
    for kind in ("releases", "checks"):
        named = _ids(walk(tree, (kind,)))
        yield from _repeated(kind, named)
        yield from _folded(kind, named, rename)


def _keys(node: Node | None) -> _Named:
    return [(entry.key, entry.location) for entry in node.entries.values()] if isinstance(node, Mapping) else []


def _ids(node: Node | None) -> _Named:
    items = node.items if isinstance(node, Sequence_) else ()
    found = (item.get("id") for item in items if isinstance(item, Mapping))
    return [(name.text, name.location) for name in found if isinstance(name, Scalar) and not name.is_null]


def _repeated(kind: str, named: _Named) -> Iterator[Finding]:
    seen: set[str] = set()
    for name, place in named:
        if name in seen:
            yield Finding("P408", f"two {kind} are called {shown(name)}", location=place, hint="rename one of them")
        seen.add(name)


def _folded(kind: str, named: _Named, hint: str) -> Iterator[Finding]:
    first: dict[str, str] = {}
    for name, place in named:
        other = first.setdefault(name.casefold(), name)
        if other != name:
            yield Finding("P409", f"{kind} {shown(other)} and {shown(name)} differ only in case", location=place, hint=hint)
