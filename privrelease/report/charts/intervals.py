"""Error bars (a point and its interval per group) and steps (a budget as it is spent)."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor, log10
from textwrap import wrap
from typing import TYPE_CHECKING

from privrelease.report.view import numbers
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["ErrorBar", "ErrorBars", "Steps", "error_bars", "steps"]

WIDTH = 330
_LEFT, _RIGHT = 8, 322
_LINE_CHARS = 30
#: Width of a letter below an axis, more or less.
_LETTER = Fraction(13, 2)
_STEPS_LEFT, _STEPS_TOP, _STEPS_BASE = 46, 14, 150


@dataclass(frozen=True, slots=True)
class ErrorBar:
    """A point with its interval under its label, which wraps over ``lines`` of (position, text); ``value`` at the right of the first line."""

    lines: tuple[tuple[str, str], ...]
    value: str
    value_y: str
    y: str
    low: str
    high: str
    point: str


@dataclass(frozen=True, slots=True)
class ErrorBars:
    """A chart of intervals over a common axis of ticks (position, label, how the label is anchored)."""

    name: str
    title: str
    description: str
    bars: tuple[ErrorBar, ...]
    ticks: tuple[tuple[str, str, str], ...]
    base: int
    height: int
    width: int = WIDTH
    left: int = _LEFT
    right: int = _RIGHT


@dataclass(frozen=True, slots=True)
class Steps:
    """A falling line of steps; ``last``: the part that is this release's. ``ticks``: (position, label) of the value axis."""

    name: str
    title: str
    description: str
    line: str
    last: str
    ticks: tuple[tuple[str, str], ...]
    labels: tuple[tuple[str, str, str], ...]
    axis: str
    end: tuple[str, str]
    width: int = WIDTH
    height: int = _STEPS_BASE + 42
    left: int = _STEPS_LEFT
    right: int = _RIGHT
    base: int = _STEPS_BASE


def error_bars(
    name: str, title: str, description: str, rows: Sequence[tuple[str, str, Fraction, Fraction, Fraction]]
) -> ErrorBars:
    """Lay out (label, value as written, value, low, high) from top to bottom, over one axis that holds every interval."""
    marks = axis(min(row[3] for row in rows), max(row[4] for row in rows))
    span = marks[-1] - marks[0]

    def across(value: Fraction) -> Fraction:
        return _LEFT + (_RIGHT - _LEFT) * (value - marks[0]) / span

    laid: list[ErrorBar] = []
    y = 2
    for label, written, value, low, high in rows:
        first, lines = y + 14, []
        for line in wrap(label, _LINE_CHARS, break_on_hyphens=False) or [""]:
            y += 14
            lines.append((str(y), line))
        y += 11
        laid.append(
            ErrorBar(tuple(lines), written, str(first), str(y), _at(across(low)), _at(across(high)), _at(across(value)))
        )
        y += 11
    anchors = ["start", *["middle"] * (len(marks) - 2), "end"]
    ticks = tuple((_at(across(mark)), numbers.number(mark), anchor) for mark, anchor in zip(marks, anchors, strict=True))
    return ErrorBars(name, title, description, tuple(laid), ticks, y, y + 20)


def axis(low: Fraction, high: Fraction) -> tuple[Fraction, ...]:
    """Return three to seven round marks around [low, high], from 0 where that costs no more than half of the axis.

    >>> [str(mark) for mark in axis(Fraction(23), Fraction(2435))]
    ['0', '500', '1000', '1500', '2000', '2500']
    >>> [str(mark) for mark in axis(Fraction(1483), Fraction(1513))]
    ['1480', '1490', '1500', '1510', '1520']
    >>> [str(mark) for mark in axis(Fraction(5), Fraction(5))]
    ['4', '9/2', '5', '11/2', '6']
    """
    if low == high:
        low, high = low - 1, high + 1
    if 0 <= low <= high / 2:
        low = Fraction(0)
    power = Fraction(10) ** floor(log10(float(high - low)))
    step = next(power * part for part in map(Fraction, ("0.2", "0.5", "1", "2")) if (high - low) / (power * part) <= 5)
    return tuple(step * number for number in range(floor(low / step), ceil(high / step) + 1))


def steps(
    name: str, title: str, description: str, levels: Sequence[Fraction], *, labels: tuple[str, str], axis_label: str, end: str
) -> Steps:
    """Lay out what was left before the first and after each step (at least two levels); the last step is this release's."""
    marks = axis(Fraction(0), max(*levels, Fraction(1, 10**6)))
    width = Fraction(_RIGHT - _STEPS_LEFT, len(levels))

    def down(value: Fraction) -> Fraction:
        return _STEPS_BASE - (_STEPS_BASE - _STEPS_TOP) * max(value, Fraction(0)) / marks[-1]

    corners = [(_STEPS_LEFT + width * place, down(level)) for place, level in enumerate(levels)]
    path = f"M{_at(corners[0][0])} {_at(corners[0][1])}" + "".join(f"H{_at(x)}V{_at(y)}" for x, y in corners[1:])
    x, before, after = corners[-1][0], corners[-2][1], corners[-1][1]
    shown = sorted({marks[0], marks[len(marks) // 2], marks[-1]})
    first, last = _at(corners[1][0]), _at(x)
    close = x - corners[1][0] < Fraction(sum(map(len, labels)), 2) * _LETTER
    under = (
        ((first, labels[0], "end" if close else "middle"), (last, labels[1], "middle"))
        if first != last
        else ((last, labels[1], "middle"),)
    )
    return Steps(
        name,
        title,
        description,
        path,
        f"M{_at(x)} {_at(before)}V{_at(after)}H{_RIGHT}",
        tuple((_at(down(mark)), numbers.number(mark)) for mark in shown),
        under,
        axis_label,
        (_at(max(after - 7, Fraction(_STEPS_TOP))), end),
    )


def _at(position: Fraction) -> str:
    tenths = round(position * 10)
    sign, tenths = ("-", -tenths) if tenths < 0 else ("", tenths)
    return f"{sign}{tenths // 10}.{tenths % 10}" if tenths % 10 else f"{sign}{tenths // 10}"
