"""Bar charts: grouped bars (class sizes before and after) and horizontal bars (a share per column)."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from privrelease.report.view import numbers
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Bar", "Group", "GroupedBars", "HorizontalBar", "HorizontalBars", "grouped_bars", "horizontal_bars", "nice_top"]

#: Drawing width in user units; a page is 320 px or wider, so text of 12 units stays legible.
WIDTH = 330
_LEFT, _RIGHT, _TOP, _BASE = 46, 324, 24, 164
_LINE_CHARS = 38
#: Width of the track that represents 100 %; values are written behind it.
_TRACK = WIDTH - 66
_TOPS = tuple(Fraction(top) for top in ("0.001", "0.01", "0.02", "0.05", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.8", "1"))


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar: left, top, width, height."""

    x: str
    y: str
    width: str
    height: str


@dataclass(frozen=True, slots=True)
class Group:
    """The bars of one class size, before and after (None: no bar), and its label."""

    label: str
    centre: str
    before: Bar | None
    after: Bar | None


@dataclass(frozen=True, slots=True)
class GroupedBars:
    """A chart of groups with a value axis of ticks (position, label) and a line at what the policy demands."""

    name: str
    title: str
    description: str
    groups: tuple[Group, ...]
    ticks: tuple[tuple[str, str], ...]
    line: str | None
    line_label: str
    line_anchor: str
    axis: str
    width: int = WIDTH
    height: int = 204
    left: int = _LEFT
    right: int = _RIGHT
    top: int = _TOP
    base: int = _BASE


@dataclass(frozen=True, slots=True)
class HorizontalBar:
    """A bar under its label, which wraps over ``lines`` of (position, text); ``text``: its value; ``before``: the width of what it was, empty: none."""

    lines: tuple[tuple[str, str], ...]
    y: str
    width: str
    text: str
    before: str = ""


@dataclass(frozen=True, slots=True)
class HorizontalBars:
    """A chart of horizontal bars."""

    name: str
    title: str
    description: str
    bars: tuple[HorizontalBar, ...]
    height: int
    width: int = WIDTH
    track: int = _TRACK


def nice_top(largest: Fraction) -> Fraction:
    """Return the upper end of a value axis for shares up to ``largest``.

    >>> nice_top(Fraction("0.33")), nice_top(Fraction(0))
    (Fraction(2, 5), Fraction(1, 1000))
    """
    return next((top for top in _TOPS if largest <= top), Fraction(1))


def grouped_bars(
    name: str,
    title: str,
    description: str,
    groups: Sequence[tuple[int, int | None, Fraction | None, Fraction | None]],
    *,
    k: int | None,
    line_label: str,
    axis: str,
) -> GroupedBars:
    """Lay out groups of (low, high, share before, share after), with a line at class size ``k`` where there is one."""
    top = nice_top(max((share for group in groups for share in group[2:] if share is not None), default=Fraction(1)))
    step = Fraction(_RIGHT - _LEFT, max(1, len(groups)))
    laid: list[Group] = []
    line: Fraction | None = None
    for place, (low, high, before, after) in enumerate(groups):
        left = _LEFT + step * place
        if k is not None and k > 1 and line is None and (high is None or k <= high):
            line = left + (step * Fraction(max(0, k - low), high + 1 - low) if high is not None else Fraction(0))
        label = f"{numbers.count(low)}+" if high is None else numbers.count(low)
        if high is not None and high != low:
            label = f"{numbers.count(low)}–{numbers.count(high)}"  # noqa: RUF001 -- a range takes an en dash
        bar = step * Fraction(19, 50)
        laid.append(
            Group(
                label,
                _at(left + step / 2),
                _bar(left + step * Fraction(5, 50), bar, before, top),
                _bar(left + step * Fraction(26, 50), bar, after, top),
            )
        )
    ticks = tuple(
        (_at(_BASE - (_BASE - _TOP) * part), numbers.percent(top * part, 2))
        for part in (Fraction(0), Fraction(1, 2), Fraction(1))
    )
    middle = Fraction(_LEFT + _RIGHT, 2)
    anchor = "start" if line is None or line < middle else "end"
    at = None if line is None else _at(line)
    return GroupedBars(name, title, description, tuple(laid), ticks, at, line_label, anchor, axis)


def horizontal_bars(
    name: str, title: str, description: str, shares: Sequence[tuple[str, Fraction]], before: Sequence[Fraction | None] = ()
) -> HorizontalBars:
    """Lay out one bar per (label, share) on a track from 0 to 100 %; labels appear above their bars and wrap. ``before``: shares as they were.

    >>> chart = horizontal_bars("b", "", "", [("age", Fraction(1, 2))], [Fraction(1)])
    >>> chart.bars[0].width, chart.bars[0].before, chart.bars[0].text
    ('132', '264', '50 %')
    """
    laid: list[HorizontalBar] = []
    y = 4
    for place, (label, share) in enumerate(shares):
        lines: list[tuple[str, str]] = []
        for line in _wrapped(label):
            y += 14
            lines.append((str(y), line))
        was = before[place] if place < len(before) else None
        text = numbers.percent(share)
        laid.append(HorizontalBar(tuple(lines), str(y + 5), _across(share), text, "" if was is None else _across(was)))
        y += 5 + 14 + 6
    return HorizontalBars(name, title, description, tuple(laid), y + 2)


def _across(share: Fraction) -> str:
    return _at(max(_TRACK * share, Fraction(3, 2)) if share else Fraction(0))


def _bar(x: Fraction, width: Fraction, share: Fraction | None, top: Fraction) -> Bar | None:
    if not share:
        return None
    height = max(Fraction(_BASE - _TOP) * share / top, Fraction(3, 2))
    return Bar(_at(x), _at(_BASE - height), _at(width), _at(height))


def _wrapped(label: str) -> list[str]:
    return [label[start : start + _LINE_CHARS] for start in range(0, len(label), _LINE_CHARS)] or [""]


def _at(position: Fraction) -> str:
    tenths = round(position * 10)
    return f"{tenths // 10}.{tenths % 10}" if tenths % 10 else str(tenths // 10)
