"""Which points of a frontier another one beats."""

from __future__ import annotations

from fractions import Fraction

from privrelease.plan.microdata.frontier import Point, with_dominated


def point(highest: str | None, cells: int, *, feasible: bool = True) -> Point:
    risk = None if highest is None else Fraction(highest)
    return Point(2, Fraction(1, 2), False, feasible, risk, risk, 0, 10, cells, 0, True)


def beaten(*points: Point) -> list[bool]:
    return [one.dominated for one in with_dominated(points)]


def test_less_risk_at_no_more_cells_beats():
    assert beaten(point("1/2", 5), point("1/3", 5)) == [True, False]
    assert beaten(point("1/2", 6), point("1/2", 5)) == [True, False]


def test_equal_points_and_a_trade_beat_nothing():
    assert beaten(point("1/2", 5), point("1/2", 5)) == [False, False]
    assert beaten(point("1/2", 5), point("1/3", 6)) == [False, False]


def test_what_cannot_be_met_or_leaves_no_record_beats_nothing():
    assert beaten(point("1/2", 5), point("1/3", 1, feasible=False), point(None, 1)) == [False, False, False]
