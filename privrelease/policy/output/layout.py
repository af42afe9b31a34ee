"""The canonical layout of a policy's text: keys in the order of the language, comments kept, no blank at the end of a line.

The text is moved, never written again: comments and quotes stay as a person wrote them, and so do mappings in braces and the order of what a
person names (datasets, columns, threats) or lists. What the text means is the same before and after, which is checked, or the text is returned as it is.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from privrelease.policy.output.key_order import keys_of, of_entry, of_item
from privrelease.policy.text.nodes import Mapping, Scalar, Sequence_
from privrelease.policy.text.yaml import parse_yaml

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privrelease.policy.text.nodes import Entry, Node

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

    The line ends and the byte order mark of the text stay, and so do comments below the last section, which belong to the file.

    >>> print(canonical_layout("# top\n\nthreats: {}  \n# who\ndatasets: {}\nid: a\n"), end="")
    # top
    <BLANKLINE>
    id: a
    # who
    datasets: {}
    threats: {}
    """
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    plain = text.removeprefix(mark)
    both = plain.count("\r\n")
    ends = {"\n": plain.count("\n") - both, "\r\n": both, "\r": plain.count("\r") - both}
    made = _laid_out(plain.replace("\r\n", "\n").replace("\r", "\n"))
    return mark + made.replace("\n", max(ends, key=lambda end: ends[end]))


def _laid_out(text: str) -> str:
    from privrelease.policy.language.models import Policy

    tree, _ = parse_yaml(text, "policy")
    if not isinstance(tree, Mapping):
        return text
    lines, below = _without_last_comments(text)
    within = "\n".join(_Inside(lines).of_mapping(tree, Policy, 0, len(lines)))
    for inside in dict.fromkeys((within, "\n".join(lines))):
        moved, _ = parse_yaml(inside, "policy")
        placed = _reordered(inside, moved) if isinstance(moved, Mapping) else inside
        ended = "\n".join((placed.rstrip("\n"), *below))
        for changed in (_trimmed(ended), _trimmed("\n".join((inside, *below))), ended):
            again, _ = parse_yaml(changed, "policy")
            if again is not None and _meaning(again, Policy) == _meaning(tree, Policy):
                return changed
    return text


def _without_last_comments(text: str) -> tuple[list[str], list[str]]:
    """Return the lines of a text, and those at its end that are comments from the first column on or blank, where there are such comments."""
    lines = text.split("\n")
    end = len(lines)
    while end and (not lines[end - 1].strip() or lines[end - 1].startswith("#")):
        end -= 1
    commented = end and any(line.startswith("#") for line in lines[end:])
    return (lines[:end], lines[end:]) if commented else (lines, [])


_DASH: Final = re.compile(r"( *)- +$")


class _Inside:
    """Sorts the keys of block mappings below the sections. Lines move whole, so that what is inside is sorted before what is around it."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines

    def of_mapping(self, node: Mapping, annotation: Any, low: int, high: int) -> list[str]:  # noqa: ANN401 -- an annotation
        """Return the lines from ``low`` to before ``high``, which hold a block mapping, with its keys in order; sections stay where they are."""
        entries = sorted(node.entries.values(), key=lambda entry: entry.location.line)
        column = entries[0].location.column if entries else 0
        places = [entry.location.line - 1 for entry in entries]
        if not entries or any(entry.location.column != column for entry in entries) or len(set(places)) < len(places):
            return list(self._lines[low:high])
        starts = [max(low, self._above(place, column)) if number else low for number, place in enumerate(places)]
        ends = [*starts[1:], high]
        blocks = [
            self._block(entry, of_entry(annotation, node, entry.key), start, end)
            for entry, start, end in zip(entries, starts, ends, strict=True)
        ]
        keys = keys_of(annotation, node)
        if keys is None or column == 1:
            return [line for block in blocks for line in block]
        order = {name: place for place, name in enumerate(keys)}
        return _in_order(blocks, [order[entry.key] for entry in entries])

    def _block(self, entry: Entry, annotation: Any, low: int, high: int) -> list[str]:  # noqa: ANN401
        """The lines of one key, with what is inside its value in order."""
        first = entry.location.line  # the line below the key
        value = entry.value
        if value.location.line <= first or first >= high:
            return list(self._lines[low:high])
        below = list(self._lines[first:high])
        if isinstance(value, Mapping):
            below = self.of_mapping(value, annotation, first, high)
        elif isinstance(value, Sequence_):
            below = self._of_list(value, of_item(annotation), first, high)
        return [*self._lines[low:first], *below]

    def _of_list(self, node: Sequence_, annotation: Any, low: int, high: int) -> list[str]:  # noqa: ANN401
        places = [item.location.line - 1 for item in node.items]
        if not places or len(set(places)) < len(places):
            return list(self._lines[low:high])
        starts = [
            max(low, self._above(place, len(self._lines[place]) - len(self._lines[place].lstrip()) + 1)) for place in places
        ]
        found = list(self._lines[low : starts[0]])
        for item, start, place, end in zip(node.items, starts, places, [*starts[1:], high], strict=True):
            found += [*self._lines[start:place], *self._item(item, annotation, place, end)]
        return found

    def _item(self, item: Node, annotation: Any, low: int, high: int) -> list[str]:  # noqa: ANN401
        """The lines of an item: a mapping whose first key stands behind the dash has its dash taken off, and put on again."""
        line = self._lines[low]
        before = "" if not isinstance(item, Mapping) or not item.entries else line[: _first(item).location.column - 1]
        dash = _DASH.match(before)
        if dash is None or not isinstance(item, Mapping):
            return list(self._lines[low:high])
        blank = [*self._lines[:low], " " * len(before) + line[len(before) :], *self._lines[low + 1 :]]
        lines = _Inside(blank).of_mapping(item, annotation, low, high)
        at = next(number for number, one in enumerate(lines) if one.strip() and not one.lstrip().startswith("#"))
        lines[at] = before + lines[at][len(before) :]
        return lines

    def _above(self, line: int, column: int) -> int:
        """The first of the comments directly above a key that stand as far in as the key."""
        while line > 0 and re.match(rf" {{{column - 1}}}#", self._lines[line - 1]):
            line -= 1
        return line


def _first(node: Mapping) -> Entry:
    return min(node.entries.values(), key=lambda entry: entry.location.line)


def _in_order(blocks: Sequence[list[str]], places: Sequence[int]) -> list[str]:
    """Sort blocks; blank lines stay between the same places."""
    bodies, gaps = [], []
    for block in blocks:
        size = len(block)
        while size and not block[size - 1].strip():
            size -= 1
        bodies.append(block[:size])
        gaps.append(block[size:])
    sorted_bodies = [body for _, body in sorted(zip(places, bodies, strict=True), key=lambda pair: pair[0])]
    return [line for body, gap in zip(sorted_bodies, gaps, strict=True) for line in (*body, *gap)]


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


def _meaning(node: Node, annotation: Any = None) -> object:  # noqa: ANN401
    """Return what a text says as nested tuples that tell quoted from plain; the order of a model's keys, and no other, does not count."""
    if isinstance(node, Mapping):
        entries = tuple(
            (entry.key, _meaning(entry.value, of_entry(annotation, node, entry.key))) for entry in node.entries.values()
        )
        free = keys_of(annotation, node) is not None or getattr(annotation, "__name__", "") == "Policy"
        return ("mapping", tuple(sorted(entries, key=lambda entry: entry[0])) if free else entries)
    if isinstance(node, Sequence_):
        return ("list", tuple(_meaning(item, of_item(annotation)) for item in node.items))
    assert isinstance(node, Scalar)
    return ("text", node.text, node.plain)
