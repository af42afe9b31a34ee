"""Parts of the policy language that this version does not have: refused where they appear, never passed over.

A key that promises something (a budget, an approval, a stricter model) must not be accepted and ignored. Whoever builds one of these
removes its line here and adds its model.
"""

from __future__ import annotations

import re

from privrelease.findings import Finding, Location
from privrelease.policy.text.nodes import Entry, Mapping, Node, Scalar, Sequence_
from privrelease.value_classes import dataclass

__all__ = ["UNAVAILABLE", "Feature", "without_unavailable"]


@dataclass(frozen=True, slots=True)
class Feature:
    """``path`` of keys (``*`` is any key, ``[]`` any item); ``value`` a pattern that the text there must match in full.

    ``levels``: how many levels above the key the element stands that cannot be used without it.
    """

    path: tuple[str, ...]
    name: str
    value: str | None = None
    levels: int = 0


_STEPS = ("microaggregate", "swap", "pram", "quantise")

UNAVAILABLE: tuple[Feature, ...] = (
    *(Feature(("releases", "[]", "transform", "[]", step), f"the transform step {step}", levels=1) for step in _STEPS),
    Feature(("threats", "*", "also", "l_diversity"), "l-diversity"),
    Feature(("threats", "*", "also", "t_closeness"), "t-closeness"),
    Feature(("datasets", "*", "source", "postgresql"), "a PostgreSQL source", levels=2),
    Feature(("datasets", "*", "source", "postgres"), "a PostgreSQL source", levels=2),
    Feature(("datasets", "*", "source"), "a PostgreSQL source", "postgres(ql)?:.*", 1),
)

_HINT = "remove it: what is not done must not be promised by the policy"


def without_unavailable(root: Node) -> tuple[Node, tuple[Finding, ...], frozenset[tuple[str, ...]]]:
    """Return the tree without unavailable elements, a finding for each, and the (kind, name) of named elements that went."""
    findings: list[Finding] = []
    gone: set[tuple[str, ...]] = set()
    removed: set[tuple[str | int, ...]] = set()
    for feature in UNAVAILABLE:
        for path, place in _matches(root, feature, 0, (), root.location):
            findings.append(
                Finding(
                    "P210",
                    f"{feature.name} is not available in this version",
                    location=place,
                    hint=_HINT,
                    subject=_dotted(path),
                )
            )
            removed.add(path[: len(path) - feature.levels])
    for path in removed:
        gone |= _named(root, path)
    return (_pruned(root, (), removed) or root) if removed else root, tuple(findings), frozenset(gone)


def _dotted(path: tuple[str | int, ...]) -> str:
    return ".".join(str(part) for part in path)


def _matches(
    node: Node, feature: Feature, depth: int, path: tuple[str | int, ...], place: Location
) -> list[tuple[tuple[str | int, ...], Location]]:
    if depth == len(feature.path):
        if feature.value is None:
            return [(path, place)]
        fits = isinstance(node, Scalar) and re.fullmatch(feature.value, node.text, re.DOTALL) is not None
        return [(path, place)] if fits else []
    part = feature.path[depth]
    if part == "[]":
        items = node.items if isinstance(node, Sequence_) else ()
        return [hit for i, item in enumerate(items) for hit in _matches(item, feature, depth + 1, (*path, i), item.location)]
    if not isinstance(node, Mapping):
        return []
    entries = node.entries.values() if part == "*" else [node.entries[part]] if part in node.entries else []
    return [hit for entry in entries for hit in _matches(entry.value, feature, depth + 1, (*path, entry.key), entry.location)]


def _named(root: Node, path: tuple[str | int, ...]) -> set[tuple[str, ...]]:
    """The name of the element at ``path``, where other parts of the policy may refer to it; its kind alone where it has none."""
    if len(path) != 2 or not isinstance(root, Mapping):
        return set()
    kind = str(path[0])
    if isinstance(path[1], str):
        return {(kind, path[1])}
    container = root.get(kind)
    item = container.items[path[1]] if isinstance(container, Sequence_) else None
    name = item.get("id") if isinstance(item, Mapping) else None
    return {(kind, name.text)} if isinstance(name, Scalar) else {(kind,)}


def _pruned(node: Node, path: tuple[str | int, ...], removed: set[tuple[str | int, ...]]) -> Node | None:
    if path in removed:
        return None
    if isinstance(node, Mapping):
        entries = {}
        for entry in node.entries.values():
            value = _pruned(entry.value, (*path, entry.key), removed)
            if value is not None:
                entries[entry.key] = Entry(entry.key, entry.location, value)
        return Mapping(entries, node.location, node.size)
    if isinstance(node, Sequence_):
        kept = [_pruned(item, (*path, index), removed) for index, item in enumerate(node.items)]
        return Sequence_(tuple(item for item in kept if item is not None), node.location, node.size)
    return node


def pruned(root: Node, removed: set[tuple[str | int, ...]]) -> Node:
    """Return the tree without the elements at ``removed``."""
    return _pruned(root, (), removed) or root
