"""Files of hierarchies: read once, checked line by line, all faults together. A message names lines, and never a cell."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections import defaultdict
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, TypeVar

from privrelease.policy.text.messages import CONTROL, TURNING
from privrelease.policy.validation.paths import PathFault, silent
from privrelease.relational.hierarchies import SmallAreas, Tree
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from privrelease.policy.validation.paths import Roots

__all__ = ["Fault", "line_list", "listed_tree", "parents_tree", "small_areas"]

_LONGEST: Final = 64 * 2**20
_HIDDEN: Final = re.compile(f"{CONTROL.pattern}|{TURNING.pattern}")
_Lines = list[tuple[int, list[str]]]
_R = TypeVar("_R", Tree, SmallAreas)

#: Bytes from which reading a file takes about a second, so that it is told.
_LONG: Final = 8 * 2**20
#: Files of which what was read is kept.
_KEPT: Final = 32


#: Lines that one message names.
_MOST_LINES = 6


@dataclass(frozen=True, slots=True)
class Fault:
    """``path``: keys below ``hierarchy``. ``file``, ``line``: where a file is at fault, as the policy writes it."""

    code: str
    message: str
    path: tuple[str | int, ...] = ()
    hint: str | None = None
    file: str | None = None
    line: int = 0


def line_list(lines: list[int]) -> str:
    """Return the numbers of lines in words, the first of many.

    >>> line_list([3]), line_list([3, 4]), line_list([1, 2, 3, 4, 5, 6, 7, 8])
    ('line 3', 'lines 3 and 4', 'lines 1, 2, 3, 4, 5, 6 and 2 more')
    """
    if len(lines) == 1:
        return f"line {lines[0]}"
    if len(lines) > _MOST_LINES:
        return f"lines {', '.join(map(str, lines[:_MOST_LINES]))} and {len(lines) - _MOST_LINES} more"
    return f"lines {', '.join(map(str, lines[:-1]))} and {lines[-1]}"


class _Unreadable(Exception):  # noqa: N818  becomes a fault where it is caught
    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


class _Text:
    """The content of a file as a key: two of one content are one, and what is read of it is kept in its place."""

    def __init__(self, content: bytes, log: Callable[[str], None]) -> None:
        self._content, self._log = content, log
        self._digest = hashlib.sha256(content).digest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Text) and self._digest == other._digest

    def __hash__(self) -> int:
        return hash(self._digest)

    def taken(self, written: str) -> str:
        """Return the text, and let go of it; tell of one that takes long to read."""
        content, self._content, log, self._log = self._content, b"", self._log, silent
        if len(content) > _LONG:
            log(f"reading {written} ({len(content) / 2**20:.0f} MiB)")
        text = content.decode("utf-8-sig")
        return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _text(written: str, roots: Roots, key: tuple[str, ...]) -> _Text:
    """Return what a file holds now."""
    try:
        path = roots.inside(written, roots.folder)
        if path.exists() and not path.is_file():  # reading from a pipe would wait for its writer
            raise _Unreadable(
                Fault("P571", f"{written} is no regular file", key, "write a CSV file in UTF-8 next to the policy")
            )
        if path.stat().st_size > _LONGEST:
            message = f"{written} is longer than a hierarchy of {_LONGEST // 2**20} MiB"
            raise _Unreadable(Fault("P571", message, key, "list values in fewer bytes, or use a closed form such as `widths`"))
        return _Text(path.read_bytes(), roots.log)
    except PathFault as fault:
        raise _Unreadable(Fault(fault.code, fault.message, key, fault.hint)) from None
    except OSError:
        raise _unreadable(written, key) from None


def _unreadable(written: str, key: tuple[str, ...]) -> _Unreadable:
    return _Unreadable(
        Fault("P571", f"{written} cannot be read as a hierarchy", key, "write a CSV file in UTF-8 next to the policy")
    )


def _read(
    make: Callable[..., tuple[_R | None, list[Fault]]], written: str, roots: Roots, key: tuple[str, ...], *how: object
) -> tuple[_R | None, list[Fault]]:
    """Return what a file holds, or all that is wrong with it. The same content is looked at once, however often a policy asks."""
    try:
        found, faults = _made(make, _text(written, roots, key), written, key, *how)
    except _Unreadable as error:
        return None, [error.fault]
    return found, list(faults)


@lru_cache(maxsize=_KEPT)
def _made(make: Callable[..., Any], text: _Text, written: str, key: tuple[str, ...], *how: object) -> Any:  # noqa: ANN401
    return make(text, written, key, *how)


def _lines(text: _Text, written: str, key: tuple[str, ...], delimiter: str, *, heading: bool) -> _Lines:
    """Return the lines of a file that are not empty, with their numbers."""
    try:
        found = _split(text.taken(written), delimiter)
    except (UnicodeDecodeError, csv.Error, TypeError):
        raise _unreadable(written, key) from None
    found = [one for one in found[int(heading) :] if one[1]]
    hidden = {cell for cell in set(chain.from_iterable(cells[1:] for _, cells in found)) if _HIDDEN.search(cell)}
    odd = [line for line, cells in found if not hidden.isdisjoint(cells[1:])] if hidden else []
    if odd:
        message = f"{line_list(odd)}: a label holds a control character, or a sign that turns the direction of text"
        raise _Unreadable(Fault("P572", message, key, "remove it: readers would not see it", written, odd[0]))
    if not found:
        raise _Unreadable(Fault("P571", f"{written} holds no line", key, "list a value and its labels in each line"))
    return found


def _split(text: str, delimiter: str) -> _Lines:
    """Return the cells of each line with its number, as :mod:`csv` reads them. Raises csv.Error, TypeError."""
    lines = text.split("\n")
    long = max(map(len, lines)) > csv.field_size_limit()  # perhaps one cell, which csv refuses
    if long or len(delimiter) != 1 or delimiter in '\n"' or any(sign in text for sign in '"\r\0'):
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        return [(reader.line_num, line) for line in reader]
    return [(number, line.split(delimiter) if line else []) for number, line in enumerate(lines, 1)]


def listed_tree(written: str, roots: Roots, delimiter: str, *, heading: bool) -> tuple[Tree | None, list[Fault]]:
    """Return the tree of a file with a value and its labels in each line, or all that is wrong with it."""
    return _read(_listed, written, roots, ("csv",), delimiter, heading)


def _listed(text: _Text, written: str, key: tuple[str, ...], delimiter: str, heading: bool) -> tuple[Tree | None, list[Fault]]:
    lines = _lines(text, written, key, delimiter, heading=heading)
    depth = len(lines[0][1])
    if _sound([cells for _, cells in lines], depth):
        leaves, *levels = zip(*(cells for _, cells in lines), strict=True)
        return Tree(leaves, tuple(levels)), []
    faults = list(_misshapen(written, lines, depth))
    whole = [(line, cells) for line, cells in lines if len(cells) == depth and depth > 1]
    faults += _ambiguous(written, whole)
    if faults:
        return None, faults
    rows = [cells for _, cells in whole]
    return Tree(tuple(row[0] for row in rows), tuple(tuple(row[level] for row in rows) for level in range(1, depth))), []


def _sound(rows: list[list[str]], depth: int) -> bool:
    """Return True if nothing is wrong with the lines of a file. By sets alone: a long file is looked at line by line only where something is."""
    if depth < 2 or set(map(len, rows)) != {depth}:
        return False
    columns = list(zip(*rows, strict=True))
    names = [set(column) for column in columns]
    if len(names[0]) < len(rows) or any("" in some for some in names[1:]):
        return False
    pairs = zip(columns[1:], columns[2:], names[1:], strict=False)
    if any(len(set(zip(lower, upper, strict=True))) != len(some) for lower, upper, some in pairs):
        return False
    return all(one.isdisjoint(other) for place, one in enumerate(names) for other in names[place + 1 :])


def _misshapen(written: str, lines: _Lines, depth: int) -> Iterator[Fault]:
    first, other = lines[0][0], [line for line, cells in lines if len(cells) != depth]
    if depth < 2:
        hint = "write a value and its labels, with the declared `delimiter` between them"
        yield Fault("P572", f"line {first} holds a value and no label", ("csv",), hint, written, first)
    elif other:
        message = f"{line_list(other)} {'is' if len(other) == 1 else 'are'} of another depth than line {first}, which has {depth} cells"
        yield Fault("P572", message, ("csv",), "write as many labels in every line", written, other[0])
    empty = [line for line, cells in lines if not all(cells[1:])]
    if empty:
        message = f"{line_list(empty)}: a label is empty, which would read as missing"
        yield Fault("P572", message, ("csv",), "give every label a name", written, empty[0])


def _ambiguous(written: str, lines: _Lines) -> Iterator[Fault]:
    """Yield values at two places, labels with two parents, and texts that are a value or label of others too."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    chains: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for line, cells in lines:
        places[cells[0]].append(line)
        chains[cells[0]].add(tuple(cells[1:]))
    for value, where in places.items():
        if len(where) > 1:
            apart = "has different labels in" if len(chains[value]) > 1 else "is listed twice, in"
            yield Fault("P573", f"one value {apart} {line_list(where)}", ("csv",), "keep one line", written, where[0])
    depth = len(lines[0][1]) if lines else 0
    for level in range(1, depth - 1):
        parents: defaultdict[str, dict[str, int]] = defaultdict(dict)
        for line, cells in lines:
            parents[cells[level]].setdefault(cells[level + 1], line)
        for found in parents.values():
            if len(found) > 1:
                where = sorted(found.values())
                message = f"one label of level {level} has {len(found)} labels at level {level + 1}, in {line_list(where)}"
                yield Fault("P573", message, ("csv",), "give it one, or give the labels different names", written, where[0])
    yield from _texts_of_two(written, lines, depth)


def _texts_of_two(written: str, lines: _Lines, depth: int) -> Iterator[Fault]:
    """Yield texts that represent some values at one place of the tree and for others at another place."""
    leaves = {cells[0]: (line, cells) for line, cells in lines}
    wrong: set[int] = set()
    for level in range(1, depth):
        for line, cells in lines:
            own = leaves.get(cells[level])
            if own is not None and own[1][level] != cells[level]:
                wrong.add(line)
    if wrong:
        where = sorted(wrong)
        message = f"{line_list(where)}: a label is also a value, which has another label"
        yield Fault("P573", message, ("csv",), "give the label a name that no value has", written, where[0])
    levels: defaultdict[str, set[int]] = defaultdict(set)
    for _, cells in lines:
        for level in range(1, depth):
            levels[cells[level]].add(level)
    several = {text: sorted(found) for text, found in levels.items() if len(found) > 1}
    apart = sorted(
        {
            line
            for line, cells in lines
            for level in range(1, depth - 1)
            for text in (cells[level],)
            if text in several and any(cells[above] != text for above in several[text] if above > level)
        }
    )
    if apart:
        message = f"{line_list(apart)}: a label is also that of another level, for other values"
        yield Fault("P573", message, ("csv",), "give labels of different levels different names", written, apart[0])


def parents_tree(
    written: str, roots: Roots, delimiter: str, key: tuple[str, ...], *, heading: bool
) -> tuple[Tree | None, list[Fault]]:
    """Return the tree of a file with a child and its parent in each line, or all that is wrong with it."""
    return _read(_of_parents, written, roots, key, delimiter, heading)


def _of_parents(
    text: _Text, written: str, key: tuple[str, ...], delimiter: str, heading: bool
) -> tuple[Tree | None, list[Fault]]:
    lines = _lines(text, written, key, delimiter, heading=heading)
    tree = _sound_parents([cells for _, cells in lines])
    if tree is not None:
        return tree, []
    faults = []
    odd = [line for line, cells in lines if len(cells) != 2 or not all(cells)]
    if odd:
        message = f"{line_list(odd)}: not a child and its parent"
        faults.append(Fault("P572", message, key, f"write two cells with {delimiter} between them", written, odd[0]))
    pairs = [(line, cells[0], cells[1]) for line, cells in lines if len(cells) == 2 and all(cells)]
    faults += _twice(written, [(line, child) for line, child, _ in pairs], "one child has several lines", key)
    parent = {child: above for _, child, above in pairs}
    line_of = {child: line for line, child, _ in pairs}
    ring = [line_of[one] for one in parent if _in_ring(one, parent)]
    if ring:
        message = f"{line_list(ring)}: a name is above itself"
        return None, [*faults, Fault("P573", message, key, "end at a name without a parent", written, ring[0])]
    inner = set(parent.values())
    chains = {leaf: _chain(leaf, parent) for leaf in parent if leaf not in inner}
    depth = len(next(iter(chains.values()), ()))
    other = [line_of[leaf] for leaf, chain in chains.items() if len(chain) != depth]
    if other:
        message = f"{line_list(other)}: a value has another number of levels above it than the first, which has {depth}"
        faults.append(Fault("P572", message, key, "give every value as many levels", written, other[0]))
    if faults:
        return None, faults
    return Tree(tuple(chains), tuple(zip(*chains.values(), strict=True))), []


def _sound_parents(rows: list[list[str]]) -> Tree | None:
    """Return the tree of lines in which nothing is wrong, else None. By whole levels: a long file is looked at line by line only where something is."""
    if set(map(len, rows)) != {2}:
        return None
    children, above = zip(*rows, strict=True)
    parent, inner = dict(zip(children, above, strict=True)), set(above)
    if len(parent) < len(rows) or "" in parent or "" in inner:
        return None
    leaves = at = tuple(child for child in children if child not in inner)
    levels: list[tuple[str, ...]] = []
    distinct, total = set(leaves), len(parent.keys() | inner)
    names = len(distinct)
    while distinct and distinct <= parent.keys():
        at = tuple(map(parent.__getitem__, at))
        distinct = set(at)
        levels.append(at)
        names += len(distinct)
        if names > total:  # every name has one level, but in a ring
            return None
    if not levels or names != total or not distinct.isdisjoint(parent):
        return None
    return Tree(leaves, tuple(levels))


def _twice(written: str, lines: Sequence[tuple[int, str]], what: str, key: tuple[str, ...]) -> list[Fault]:
    places: defaultdict[str, list[int]] = defaultdict(list)
    for line, name in lines:
        places[name].append(line)
    several = [where for where in places.values() if len(where) > 1]
    return [Fault("P573", f"{what}: {line_list(where)}", key, "keep one", written, where[0]) for where in several]


def _chain(leaf: str, parent: dict[str, str]) -> tuple[str, ...]:
    """Return the names above a leaf, the nearest first; there is no ring."""
    chain = []
    while leaf in parent:
        leaf = parent[leaf]
        chain.append(leaf)
    return tuple(chain)


def _in_ring(name: str, parent: dict[str, str]) -> bool:
    slow = fast = name
    while fast in parent and parent[fast] in parent:
        slow, fast = parent[slow], parent[parent[fast]]
        if slow == fast:
            return True
    return False


def small_areas(
    written: str, roots: Roots, above: int, label: str, lengths: Sequence[int], fill: str
) -> tuple[SmallAreas | None, list[Fault]]:
    """Return which areas of a file are small, or all that is wrong with it."""
    return _read(_areas, written, roots, ("small", "file"), above, label, tuple(lengths), fill)


def _areas(
    text: _Text, written: str, key: tuple[str, ...], above: int, label: str, lengths: tuple[int, ...], fill: str
) -> tuple[SmallAreas | None, list[Fault]]:
    lines = _lines(text, written, key, ",", heading=True)
    length, faults = lengths[0], []
    odd = [line for line, cells in lines if len(cells) < 2 or not (cells[1].isascii() and cells[1].isdecimal())]
    if odd:
        message = f"{line_list(odd)}: not an area and its number of persons"
        faults.append(Fault("P572", message, key, "write the area, a comma and a whole number", written, odd[0]))
    other = [line for line, cells in lines if len(cells[0]) != length]
    if other:
        message = f"{line_list(other)}: the area does not have the {length} characters of the first prefix"
        faults.append(Fault("P572", message, key, "list areas by the first prefix", written, other[0]))
    faults += _twice(written, [(line, cells[0]) for line, cells in lines], "one area has several lines", key)
    if faults:
        return None, faults
    persons = {cells[0]: int(cells[1]) for _, cells in lines}
    small = frozenset(area for area, many in persons.items() if many <= above)
    others = frozenset(persons) - small
    line_of = {cells[0]: line for line, cells in lines}
    clash = [line_of[area] for area in others if label.startswith(area) or any(area[:kept] + fill == label for kept in lengths)]
    if clash:
        message = (
            f"{line_list(sorted(set(clash)))}: the label of small areas is, or begins with, that of an area which is not small"
        )
        faults.append(Fault("P573", message, ("small", "label"), "give small areas another label", written, min(clash)))
        return None, faults
    return SmallAreas(small, others, label), []
