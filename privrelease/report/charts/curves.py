"""Charts of the noise of figures by budget (lines on a logarithmic axis, one shape a mechanism) and of the spread of errors
(bars, the law as dots).
"""

from __future__ import annotations

from math import ceil, floor, log10
from typing import TYPE_CHECKING, Literal

from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Curve", "Curves", "Spread", "Stroke", "curves", "measured", "spread"]

WIDTH = 330
_LEFT, _RIGHT, _TOP, _BASE = 52, 318, 16, 156

#: Solid with discs; dashed with hollow squares; crosses alone.
Stroke = Literal["first", "second", "crosses"]


@dataclass(frozen=True, slots=True)
class Curve:
    """One line through its marks (x, y, what the mark says)."""

    stroke: Stroke
    line: str
    marks: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class Curves:
    """Lines over the same budgets, ``ticks`` of (y, label), ``labels`` of (x, budget)."""

    name: str
    title: str
    description: str
    curves: tuple[Curve, ...]
    ticks: tuple[tuple[str, str], ...]
    labels: tuple[tuple[str, str], ...]
    axis: str
    width: int = WIDTH
    height: int = _BASE + 42
    left: int = _LEFT
    right: int = _RIGHT
    base: int = _BASE


@dataclass(frozen=True, slots=True)
class Spread:
    """Bars (x, y, width, height) of observed shares; dots (x, y) of the law; ``ticks`` of (x, label, anchor) and of (y, label)."""

    name: str
    title: str
    description: str
    bars: tuple[tuple[str, str, str, str], ...]
    dots: tuple[tuple[str, str], ...]
    across: tuple[tuple[str, str, str], ...]
    up: tuple[tuple[str, str], ...]
    axis: str
    width: int = WIDTH
    height: int = _BASE + 42
    left: int = _LEFT
    right: int = _RIGHT
    base: int = _BASE


def measured(value: float) -> str:
    """Write a figure with four significant digits, without an exponent where it is short.

    >>> [measured(value) for value in (14.13624, 0.6016899, 20.0, 0.00001234, 123456.7)]
    ['14.14', '0.6017', '20', '1.234e-05', '123,457']
    """
    text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return "0" if text == "-0" else text


def curves(
    name: str,
    title: str,
    description: str,
    budgets: Sequence[str],
    series: Sequence[tuple[Stroke, str, Sequence[float | None]]],
    *,
    axis: str,
) -> Curves:
    """Lay out (stroke, name, value at each budget) over evenly spaced budgets; a value that is not there breaks the line.

    >>> chart = curves("c", "", "", ["0.1", "1"], [("first", "Laplace", [10.0, 1.0])], axis="epsilon")
    >>> [label for _, label in chart.ticks], chart.curves[0].line
    (['1', '2', '5', '10'], 'M118.5 16L251.5 156')
    """
    present = [value for _, _, values in series for value in values if value is not None and value > 0]
    marks = _log_ticks(min(present, default=1.0), max(present, default=1.0))
    low, high = log10(marks[0]), log10(marks[-1])
    step = (_RIGHT - _LEFT) / max(1, len(budgets))
    across = [_LEFT + step * (place + 0.5) for place in range(len(budgets))]

    def down(value: float) -> float:
        return _BASE - (_BASE - _TOP) * (log10(value) - low) / (high - low)

    laid = []
    for stroke, called, values in series:
        line, pen = "", "M"
        points: list[tuple[str, str, str]] = []
        for x, budget, value in zip(across, budgets, values, strict=True):
            if value is None or value <= 0:
                pen = "M"
                continue
            line += f"{pen}{_at(x)} {_at(down(value))}"
            pen = "L"
            points.append((_at(x), _at(down(value)), f"{called}, {budget}: {measured(value)}"))
        laid.append(Curve(stroke, "" if stroke == "crosses" else line, tuple(points)))
    ticks = tuple((_at(down(mark)), measured(mark)) for mark in marks)
    return Curves(name, title, description, tuple(laid), ticks, tuple(zip(map(_at, across), budgets, strict=True)), axis)


def _log_ticks(low: float, high: float) -> list[float]:
    """Round marks around [low, high]: 1, 2 and 5 of each power of ten, or the powers alone where the span is wide."""
    first, last = floor(log10(low)), ceil(log10(high))
    parts = (1, 2, 5) if last - first <= 2 else (1,)
    marks = [part * 10.0**power for power in range(first, last + 1) for part in parts]
    below = [mark for mark in marks if mark <= low * (1 + 1e-9)]
    above = [mark for mark in marks if mark >= high * (1 - 1e-9)]
    start, end = (below or marks)[-1 if below else 0], (above or marks)[0 if above else -1]
    chosen = [mark for mark in marks if start <= mark <= end]
    return chosen if len(chosen) > 1 else [chosen[0] / 2, chosen[0], chosen[0] * 2]


def spread(
    name: str, title: str, description: str, bins: Sequence[tuple[float, float, float, float | None]], *, axis: str
) -> Spread:
    """Lay out (low, high, observed share, share by the law or None), bins side by side.

    >>> chart = spread("s", "", "", [(-1.5, -0.5, 0.25, 0.2), (-0.5, 0.5, 0.5, 0.6), (0.5, 1.5, 0.25, None)], axis="error")
    >>> chart.bars[0], len(chart.dots), [label for _, label, _ in chart.across]
    (('52', '97.7', '87.7', '58.3'), 2, ['-1.5', '0', '1.5'])
    """
    low, high = (bins[0][0], bins[-1][1]) if bins else (-1.0, 1.0)
    top = max((share for one in bins for share in one[2:] if share is not None), default=0.0) or 1.0

    def across(value: float) -> float:
        return _LEFT + (_RIGHT - _LEFT) * (value - low) / (high - low)

    def down(share: float) -> float:
        return _BASE - (_BASE - _TOP) * share / top

    bars = tuple(
        (_at(across(left)), _at(down(seen)), _at(max(across(right) - across(left) - 1, 0.5)), _at(_BASE - down(seen)))
        for left, right, seen, _ in bins
        if seen
    )
    dots = tuple((_at((across(left) + across(right)) / 2), _at(down(law))) for left, right, _, law in bins if law is not None)
    ends = ((low, "start"), (0.0, "middle"), (high, "end"))
    return Spread(
        name,
        title,
        description,
        bars,
        dots,
        tuple((_at(across(value)), measured(value), anchor) for value, anchor in ends),
        ((_at(_BASE), "0 %"), (_at(_TOP), f"{top * 100:.3g} %")),
        axis,
    )


def _at(position: float) -> str:
    text = f"{position:.1f}"
    return text.removesuffix(".0")
