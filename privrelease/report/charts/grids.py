"""Charts of a data grid: the parts of each column as strips with their names, and the cost of the coarser grids of its hierarchy."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Final

from privrelease.report.view import numbers
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["GridStrips", "Hierarchy", "Strip", "grid_strips", "hierarchy"]

WIDTH: Final = 330
_LINE, _STRIP, _GAP = 15, 18, 2
_CHARS: Final = 44
#: Lines of names that a part has at most; a table lists all of them.
_MOST_LINES: Final = 2
#: Narrower boxes have no room for their number.
_NARROW: Final = 16
_LEFT, _RIGHT, _TOP, _BASE = 64, 318, 16, 156


@dataclass(frozen=True, slots=True)
class Strip:
    """A column: its name at ``name_y``; ``boxes`` of (x, width, number or empty) at ``y``; ``lines`` of (y, text), the names of its parts."""

    name: str
    name_y: int
    y: int
    boxes: tuple[tuple[str, str, str], ...]
    lines: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class GridStrips:
    """The strips of all columns, one under the other."""

    name: str
    title: str
    description: str
    strips: tuple[Strip, ...]
    height: int
    strip: int = _STRIP
    width: int = WIDTH


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """A line through the levels, marks of (x, y, what it says), the level in use, ``up`` and ``across`` of (position, label)."""

    name: str
    title: str
    description: str
    line: str
    marks: tuple[tuple[str, str, str], ...]
    taken: tuple[str, str] | None
    up: tuple[tuple[str, str], ...]
    across: tuple[tuple[str, str, str], ...]
    axis: str
    width: int = WIDTH
    height: int = _BASE + 42
    left: int = _LEFT
    right: int = _RIGHT
    base: int = _BASE


def grid_strips(name: str, title: str, description: str, parts: Iterable[tuple[str, int, int, str]]) -> GridStrips:
    """Lay out (column, part, cells of the column in it, their names); a box is as wide as its share of the column's cells.

    >>> chart = grid_strips("g", "", "", [("age", 1, 3, "[0, 30)"), ("age", 2, 1, "missing"), ("sex", 1, 2, "F, M")])
    >>> [(strip.name, [box[1:] for box in strip.boxes]) for strip in chart.strips]
    [('age', [('245.5', '1'), ('80.5', '2')]), ('sex', [('328', '1')])]
    >>> chart.strips[0].lines[1][1]
    '2: missing'
    """
    by_column: dict[str, list[tuple[int, int, str]]] = {}
    for column, part, cells, names in parts:
        by_column.setdefault(column, []).append((part, cells, names))
    strips, y = [], 0
    for column, held in by_column.items():
        whole, start = sum(cells for _, cells, _ in held), 0
        boxes = []
        for part, cells, _ in held:
            wide = WIDTH * cells / whole - _GAP
            boxes.append((_at(WIDTH * start / whole), _at(max(wide, 1.0)), str(part) if wide >= _NARROW else ""))
            start += cells
        top = y + _LINE + 5
        lines, at = [], top + _STRIP + _LINE
        for part, _, names in held:
            for text in _wrapped(f"{part}: {names}"):
                lines.append((at, text))
                at += _LINE
        strips.append(Strip(column, y + _LINE, top, tuple(boxes), tuple(lines)))
        y = at
    return GridStrips(name, title, description, tuple(strips), y)


def _wrapped(text: str) -> list[str]:
    """Return a text in lines, broken after commas where that can be; the last one ends with an ellipsis where more would follow."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and len(longer) > _CHARS:
            lines.append(word)
        else:
            lines[-1] = longer
    cut = [line if len(line) <= _CHARS else f"{line[: _CHARS - 1]}…" for line in lines]
    return cut if len(cut) <= _MOST_LINES else [*cut[: _MOST_LINES - 1], f"{cut[_MOST_LINES - 1][: _CHARS - 2]} …"]


def hierarchy(
    name: str, title: str, description: str, levels: Sequence[tuple[int, int, str]], *, taken: int | None, axis: str
) -> Hierarchy:
    """Lay out (cells, cost, what is said of it), cells on a logarithmic axis, cost upwards. ``taken``: cells of the level in use.

    >>> chart = hierarchy("h", "", "", [(16, 90, "a"), (4, 95, "b"), (1, 100, "c")], taken=4, axis="cells")
    >>> chart.line, chart.taken, [label for _, label in chart.up]
    ('M318 156L191 86L64 16', ('191', '86'), ['90', '95', '100'])
    """
    costs = [cost for _, cost, _ in levels]
    low, high = min(costs), max(costs)
    most = log(max(2, *(cells for cells, *_ in levels)))

    def across(cells: int) -> float:
        return _LEFT + (_RIGHT - _LEFT) * log(cells) / most

    def down(cost: float) -> float:
        return _BASE - (_BASE - _TOP) * (cost - low) / max(1, high - low)

    marks = tuple((_at(across(cells)), _at(down(cost)), said) for cells, cost, said in levels)
    at = next((mark[:2] for mark, (cells, *_) in zip(marks, levels, strict=True) if cells == taken), None)
    ticks = dict.fromkeys([low, (low + high) // 2, high])
    ends = [(1, "start"), (max(cells for cells, *_ in levels), "end")]
    return Hierarchy(
        name,
        title,
        description,
        "M" + "L".join(f"{x} {y}" for x, y, _ in marks),
        marks,
        at,
        tuple((_at(down(cost)), numbers.count(cost)) for cost in ticks),
        tuple((_at(across(cells)), numbers.count(cells), anchor) for cells, anchor in dict(ends).items()),
        axis,
    )


def _at(position: float) -> str:
    return f"{position:.1f}".removesuffix(".0")
