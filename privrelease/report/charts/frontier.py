"""The risk-utility frontier: risk across on a logarithmic axis, share of cells lost upwards, a mark for each threshold."""

from __future__ import annotations

from fractions import Fraction
from math import log10
from typing import TYPE_CHECKING, Literal

from privrelease.report.view.numbers import percent
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["FrontierChart", "Mark", "Shape", "frontier_chart"]

_WIDTH, _LEFT, _RIGHT, _TOP, _BASE = 330, 52, 312, 22, 172
_APART = 15
_TICKS = tuple(Fraction(tick) for tick in ("1", "0.5", "0.2", "0.1", "0.05", "0.02", "0.01", "0.005", "0.002", "0.001"))
_STEPS = tuple(Fraction(part) * Fraction(10) ** power for power in range(-6, 1) for part in (1, 2, 5))

#: A disc on the frontier, a hollow square for a point that another beats, a ring around what the policy chooses.
Shape = Literal["point", "beaten", "chosen"]


@dataclass(frozen=True, slots=True)
class Mark:
    """A point: place, shape, its k (empty where there is no room: the table has it), and what it says."""

    x: str
    y: str
    shape: Shape
    label: str
    said: str


@dataclass(frozen=True, slots=True)
class FrontierChart:
    """``line`` joins the points that no other beats. ``limit``: y of the limit on cells, None where there is none or it is out of sight."""

    name: str
    title: str
    description: str
    line: str
    marks: tuple[Mark, ...]
    up: tuple[tuple[str, str], ...]
    across: tuple[tuple[str, str], ...]
    limit: str | None
    axis: str
    side: str
    width: int = _WIDTH
    height: int = _BASE + 42
    left: int = _LEFT
    right: int = _RIGHT
    base: int = _BASE


def frontier_chart(
    name: str,
    title: str,
    description: str,
    points: Sequence[tuple[Fraction, Fraction, Shape, str, str]],
    *,
    limit: Fraction | None,
    axis: str,
    side: str,
) -> FrontierChart:
    """Lay out (highest risk, share of cells lost, shape, label, what it says); risk falls from left to right.

    >>> points = [(Fraction(1, 2), Fraction(0), "point", "2", ""), (Fraction(1, 5), Fraction(1, 50), "chosen", "5", "")]
    >>> chart = frontier_chart("f", "", "", points, limit=Fraction(1, 20), axis="risk", side="cells")
    >>> [(mark.x, mark.y) for mark in chart.marks], chart.limit, [label for _, label in chart.up]
    ([('52', '172'), ('312', '22')], None, ['0 %', '0.5 %', '1 %', '1.5 %', '2 %'])
    """
    risks = [risk for risk, *_ in points] or [Fraction(1)]
    most = max((share for _, share, *_ in points), default=Fraction(0)) or Fraction(1, 100)
    step = next((one for one in _STEPS if one * 4 >= most), Fraction(1, 2))
    ticks = [step * place for place in range(6) if step * (place - 1) < most and step * place <= 1]
    top = max(ticks[-1], most)
    highest, lowest = log10(max(risks)), log10(min(risks))
    span = highest - lowest

    def across(risk: Fraction) -> float:
        return (_LEFT + _RIGHT) / 2 if span <= 0 else _LEFT + (_RIGHT - _LEFT) * (highest - log10(risk)) / span

    def up(share: Fraction) -> float:
        return _BASE - (_BASE - _TOP) * float(share / top)

    placed: list[tuple[float, float]] = []
    marks: dict[int, Mark] = {}
    for place in sorted(range(len(points)), key=lambda one: points[one][2] != "chosen"):  # the policy's own label first
        risk, share, shape, label, said = points[place]
        x, y = across(risk), up(share)
        free = all(abs(x - other) >= _APART or abs(y - height) >= _APART for other, height in placed)
        if free:
            placed.append((x, y))
        marks[place] = Mark(_at(x), _at(y), shape, label if free else "", said)
    on_line = sorted(((risk, share) for risk, share, shape, *_ in points if shape != "beaten"), reverse=True)
    line = "".join(
        f"{'L' if place else 'M'}{_at(across(risk))} {_at(up(share))}" for place, (risk, share) in enumerate(on_line)
    )
    return FrontierChart(
        name=name,
        title=title,
        description=description,
        line=line,
        marks=tuple(marks[place] for place in range(len(points))),
        up=tuple((_at(up(tick)), percent(tick, 3)) for tick in ticks),
        across=tuple((_at(across(tick)), percent(tick)) for tick in _ticks(min(risks), max(risks))),
        limit=_at(up(limit)) if limit is not None and limit <= top else None,
        axis=axis,
        side=side,
    )


def _ticks(low: Fraction, high: Fraction) -> tuple[Fraction, ...]:
    """Round risks within [low, high]; its ends where there are fewer than two."""
    within = tuple(tick for tick in _TICKS if low <= tick <= high)
    return within if len(within) > 1 else tuple(dict.fromkeys((high, low)))


def _at(position: float) -> str:
    return f"{position:.1f}".removesuffix(".0")
