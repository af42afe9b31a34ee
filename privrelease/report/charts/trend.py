"""A figure over time compared with its limit: a line of points, one per audit."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from privrelease.report.charts.bars import nice_top
from privrelease.report.view import numbers
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Trend", "trend"]

WIDTH = 330
_LEFT, _RIGHT, _TOP, _BASE = 52, 318, 14, 132


@dataclass(frozen=True, slots=True)
class Trend:
    """A line through ``points`` of (x, y, what the point says), a broken line of limits, ``ticks`` of (y, label), first and last date."""

    name: str
    title: str
    description: str
    line: str
    points: tuple[tuple[str, str, str], ...]
    limit: str
    ticks: tuple[tuple[str, str], ...]
    labels: tuple[tuple[str, str, str], ...]
    width: int = WIDTH
    height: int = _BASE + 24
    left: int = _LEFT
    right: int = _RIGHT
    base: int = _BASE


def trend(name: str, title: str, description: str, points: Sequence[tuple[str, Fraction, Fraction | None]]) -> Trend:
    """Lay out (date, share, limit) from the oldest to the newest, evenly spaced; where there is no limit, its line is broken off.

    >>> chart = trend("t", "Risk", "", [("2026-01-01", Fraction(1, 5), Fraction(1, 5)), ("2026-02-01", Fraction(1, 10), None)])
    >>> chart.points[0][:2], chart.points[1][:2], chart.limit
    (('118.5', '14'), ('251.5', '73'), 'M52 14H185')
    """
    largest = max((value for _, share, limit in points for value in (share, limit) if value is not None), default=Fraction(0))
    top = nice_top(largest)
    step = Fraction(_RIGHT - _LEFT, max(1, len(points)))

    def down(value: Fraction) -> str:
        return _at(_BASE - (_BASE - _TOP) * value / top)

    laid = [
        (_at(_LEFT + step * place + step / 2), down(share), f"{date}: {numbers.percent(share)}")
        for place, (date, share, _) in enumerate(points)
    ]
    limits = [
        f"M{_at(_LEFT + step * place)} {down(limit)}H{_at(_LEFT + step * (place + 1))}"
        for place, (_, _, limit) in enumerate(points)
        if limit is not None
    ]
    ticks = tuple((down(top * part), numbers.percent(top * part, 2)) for part in (Fraction(0), Fraction(1, 2), Fraction(1)))
    first, last = points[0][0], points[-1][0]
    middle = (_at(Fraction(_LEFT + _RIGHT, 2)), first, "middle")
    labels = (middle,) if first == last else ((str(_LEFT), first, "start"), (str(_RIGHT), last, "end"))
    line = "M" + "L".join(f"{x} {y}" for x, y, _ in laid)
    return Trend(name, title, description, line, tuple(laid), "".join(limits), ticks, labels)


def _at(position: Fraction) -> str:
    tenths = round(position * 10)
    return f"{tenths // 10}.{tenths % 10}" if tenths % 10 else str(tenths // 10)
