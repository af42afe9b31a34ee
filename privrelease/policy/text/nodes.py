"""Contents of a policy file before it is typed: mappings, lists and scalars as written, each with its place.

A scalar stays the text of the file until a model says which type is wanted: ``NO``, ``on``, ``010`` and ``12:30`` are texts where a
text is wanted, and ``0.2`` never passes through a float.

How policies are put together: mappings merge key by key, everything else is replaced.

``extends: [a.yaml, b.yaml]`` reads a, then b over it, then the file itself over both; each may extend others. Every value keeps the
place it was written at. A list is one value: it replaces the list below it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from privrelease.findings import Location

__all__ = [
    "Entry",
    "Mapping",
    "Node",
    "Plain",
    "Quoted",
    "Scalar",
    "Sequence_",
    "as_written",
    "merged",
    "place_of",
    "plain_data",
    "walk",
]


#: The plain scalars that mean "nothing" in YAML 1.2 (core schema).
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})


class Plain(str):
    """A scalar written without quotes."""

    __slots__ = ()


class Quoted(str):
    """A scalar written in quotes or as a block: always a text."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Scalar:
    """A text as written; ``plain`` where it had no quotes."""

    text: str
    plain: bool
    location: Location
    size: int = 1

    @property
    def is_null(self) -> bool:
        """Nothing is written here (``null``, ``~`` or no value at all)."""
        return self.plain and self.text in _NULLS


@dataclass(frozen=True, slots=True)
class Sequence_:  # noqa: N801  the name Sequence belongs to collections.abc
    """A list."""

    items: tuple[Node, ...]
    location: Location
    size: int = 1


@dataclass(frozen=True, slots=True)
class Entry:
    """A key with its own place, and its value."""

    key: str
    location: Location
    value: Node


@dataclass(frozen=True, slots=True)
class Mapping:
    """Keys and values in the order of the file; a key occurs once."""

    entries: dict[str, Entry]
    location: Location
    size: int = 1

    def get(self, key: str) -> Node | None:
        """Return the value of ``key``, None where there is none."""
        entry = self.entries.get(key)
        return entry.value if entry is not None else None

    def without(self, key: str) -> Mapping:
        """Return the same mapping less one key."""
        return Mapping({name: entry for name, entry in self.entries.items() if name != key}, self.location, self.size)


Node = Scalar | Sequence_ | Mapping


def plain_data(node: Node) -> object:
    """Return the node as dict, tuple, None, :class:`Plain` and :class:`Quoted`: what the models read."""
    match node:
        case Mapping():
            return {entry.key: plain_data(entry.value) for entry in node.entries.values()}
        case Sequence_():
            return tuple(plain_data(item) for item in node.items)
        case Scalar():
            if node.is_null:
                return None
            return Plain(node.text) if node.plain else Quoted(node.text)


def _step(node: Node, part: str | int) -> tuple[Node, Location] | None:
    """One step down: the child and the place to name for it (a key's place for a mapping)."""
    if isinstance(node, Mapping) and isinstance(part, str) and part in node.entries:
        entry = node.entries[part]
        return entry.value, entry.location
    if isinstance(node, Sequence_) and isinstance(part, int) and 0 <= part < len(node.items):
        return node.items[part], node.items[part].location
    return None


def as_written(root: Node, path: Sequence[str | int]) -> tuple[str | int, ...]:
    """Return ``path`` less the parts that the models know and the file does not have.

    These are: variants of a model (in angle brackets), and the keys and numbers that a short form leaves out, such as ``path`` where a
    text represents a source, or ``values`` where a list represents a domain.
    """
    node: Node | None = root
    kept: list[str | int] = []
    for part in path:
        if isinstance(part, str) and part.startswith("<") and not (isinstance(node, Mapping) and part in node.entries):
            continue  # a variant, and no key that happens to look like one
        fits = isinstance(node, Sequence_) if isinstance(part, int) else isinstance(node, Mapping) or part == "[key]"
        if node is not None and not fits:
            continue
        kept.append(part)
        step = _step(node, part) if node is not None else None
        node = step[0] if step is not None else None
    return tuple(kept)


def place_of(root: Node, path: Sequence[str | int], *, key: bool = False) -> Location:
    """Return the place of the value at ``path`` (of its key with ``key``); of the deepest part that exists.

    A mapping or list has the place of its key.
    """
    parts = as_written(root, path)
    node: Node = root
    place = root.location
    for index, part in enumerate(parts):
        step = _step(node, part)
        if step is None:
            break
        node, key_place = step
        last = index == len(parts) - 1
        place = node.location if last and isinstance(node, Scalar) and not key else key_place
    return place


def walk(root: Node, path: Sequence[str | int]) -> Node | None:
    """Return the node at an exact path, None where there is none."""
    node: Node = root
    for part in path:
        step = _step(node, part)
        if step is None:
            return None
        node = step[0]
    return node


def leaves(root: Node, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Node]]:
    """Yield every node below (and with) ``root`` and its path."""
    yield path, root
    if isinstance(root, Mapping):
        for entry in root.entries.values():
            yield from leaves(entry.value, (*path, entry.key))
    elif isinstance(root, Sequence_):
        for index, item in enumerate(root.items):
            yield from leaves(item, (*path, index))


def merged(below: Node, above: Node) -> Node:
    """Return ``above`` laid over ``below``."""
    if not (isinstance(below, Mapping) and isinstance(above, Mapping)):
        return above
    entries = dict(below.entries)
    for key, entry in above.entries.items():
        lower = entries.get(key)
        if lower is None:
            entries[key] = entry
        else:
            both = isinstance(lower.value, Mapping) and isinstance(entry.value, Mapping)
            # an element that both hold stands where it was declared first; a value stands where it was written last
            place = lower.location if both else entry.location
            entries[key] = Entry(key, place, merged(lower.value, entry.value))
    size = 1 + sum(entry.value.size for entry in entries.values())
    return Mapping(entries, above.location, size)
