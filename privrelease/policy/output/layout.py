"""The canonical layout of a policy's text: its sections in the order of the language, comments kept, no blank at the end of a line.

The text is moved, never written again: comments, quotes and the order inside a section stay as a person wrote them. What the text means is
the same before and after, which is checked, or the text is returned as it is.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from privrelease.policy.text.nodes import Mapping, Scalar, Sequence_
from privrelease.policy.text.yaml import parse_yaml

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privrelease.policy.text.nodes import Node

__all__ = ["canonical_layout", "section_order"]

_FIRST: Final = ("$schema", "apiVersion", "kind", "id", "version", "title", "extends")
_LAST: Final = ("environments",)


def section_order() -> tuple[str, ...]:
    """Return the sections of a policy in their canonical order."""
    from privrelease.policy.language.models import Policy

    middle = [name for name in Policy.model_fields if name not in _FIRST]
    return (*_FIRST, *middle, *_LAST)


def canonical_layout(text: str) -> str:
    r"""Return the text of a policy in canonical layout. A text that is no block mapping, or would change its meaning, is returned as it is.

    >>> print(canonical_layout("# top\n\nthreats: {}  \n# who\ndatasets: {}\nid: a\n"), end="")
    # top
    <BLANKLINE>
    id: a
    # who
    datasets: {}
    threats: {}
    """
    tree, _ = parse_yaml(text, "policy")
    if not isinstance(tree, Mapping):
        return text
    for changed in (_trimmed(_reordered(text, tree)), _trimmed(text), _reordered(text, tree)):
        again, _ = parse_yaml(changed, "policy")
        if again is not None and _meaning(again, top=True) == _meaning(tree, top=True):
            return changed
    return text


def _trimmed(text: str) -> str:
    """Take blanks off the ends of lines, several blank lines down to one, and end with one line feed."""
    lines = [line.rstrip(" \t\r") for line in text.split("\n")]
    joined = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")
    return joined + "\n"


def _reordered(text: str, tree: Mapping) -> str:
    """Sort sections; each takes the comments directly above it along, and the blank lines below it stay below it."""
    entries = sorted(tree.entries.values(), key=lambda entry: entry.location.line)
    if not entries or any(entry.location.column != 1 for entry in entries):
        return text
    lines = [f"{line}\n" for line in text.removesuffix("\n").split("\n")]
    starts = [_start(lines, entry.location.line - 1, first=number == 0) for number, entry in enumerate(entries)]
    ends = [*starts[1:], len(lines)]
    order = {name: place for place, name in enumerate(section_order())}
    blocks = [
        (order.get(entry.key, len(order)), lines[low:high]) for entry, low, high in zip(entries, starts, ends, strict=True)
    ]
    placed = sorted(blocks, key=lambda block: block[0])
    if all(one[0] <= other[0] for one, other in pairwise(blocks)):
        return text
    return "".join((*lines[: starts[0]], *_joined([block for _, block in placed])))


def _start(lines: Sequence[str], line: int, *, first: bool) -> int:
    """Return the line on which a section begins: with the comments directly above its key; those above the first key head the file."""
    while not first and line > 0 and lines[line - 1].startswith("#"):
        line -= 1
    return line


def _joined(blocks: Sequence[list[str]]) -> list[str]:
    """Put blocks one after the other; what stood last brings no blank lines into the middle, and long sections stay apart."""
    found: list[str] = []
    for block in blocks:
        body = list(block)
        while body and not body[-1].strip():
            body.pop()
        long = len([line for line in body if not line.startswith("#")]) > 1
        if found and long and found[-1].strip():
            found.append("\n")
        found += [*body, "\n"] if long else body
    return found


def _meaning(node: Node, *, top: bool = False) -> object:
    """Return what a text says as nested tuples that tell quoted from plain; the order of the sections, and no other, does not count."""
    if isinstance(node, Mapping):
        entries = tuple((entry.key, _meaning(entry.value)) for entry in node.entries.values())
        return ("mapping", tuple(sorted(entries, key=lambda entry: entry[0])) if top else entries)
    if isinstance(node, Sequence_):
        return ("list", tuple(map(_meaning, node.items)))
    assert isinstance(node, Scalar)
    return ("text", node.text, node.plain)
