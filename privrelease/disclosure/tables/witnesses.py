"""Witnesses of uncertainty: tables that fit what is printed and differ from the true one in a single figure.

Two tables that fit show that no one can tell them apart. Where only one figure differs, and that figure is a sum, the tables that fit are
convex: what lies between two of them fits, too. So of two tables in which a cell is above its true value and below it, one between them has
the true value there: it fits for whoever knows that cell. Most questions about contributors are answered by such tables, without another search.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["Witnesses"]

#: Tables that are remembered: the first of these, and the newest.
_FIRST: Final = 100
_NEWEST: Final = 200
#: Tables between two others that are followed where several cells are known at once.
_MOST_BETWEEN: Final = 400
_NEAR: Final = 1e-9
#: How large a figure without a bound is taken to be, in units.
_FAR: Final = 1e4
#: The number of a cell, and how far it may move down and up, in units.
_Room: TypeAlias = "tuple[int, float, float]"


class Witnesses:
    """Tables of one figure that fit, as differences from the true one on its unknown cells, in units.

    ``place``: the number of an unknown cell by cell, -1 for others. ``down``, ``up`` (k,): how far each may move; ``matrix`` (r, k): sums of
    movements that are between ``least`` and ``most``.
    """

    def __init__(
        self,
        place: NDArray[np.int64],
        down: NDArray[np.float64],
        up: NDArray[np.float64],
        matrix: Any,  # noqa: ANN401 -- scipy's sparse array
        least: NDArray[np.float64],
        most: NDArray[np.float64],
    ) -> None:
        self._place, self._down, self._up = place, down, up
        there = np.diff(matrix.tocsr().indptr) > 0
        self._matrix, self._least, self._most = matrix.tocsr()[there], least[there], most[there]
        #: The true table is the first one.
        self._moves = np.zeros((1, len(up)))

    def towards(
        self, cells: Sequence[int], signs: Sequence[float], held: Mapping[int, tuple[float, float]]
    ) -> NDArray[np.float64] | None:
        """Find a table in which ``cells`` are large, or small where their sign is negative, and ``held`` cells move between bounds, in units."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        low, high = self._down.copy(), self._up.copy()
        for place, down, up in self._rooms(held):
            low[place], high[place] = max(low[place], down), min(high[place], up)
        nearest = np.maximum(low, np.minimum(high, -_FAR))
        direction = np.zeros(len(low))
        for cell, sign in zip(cells, signs, strict=True):
            if self._place[cell] >= 0:
                direction[self._place[cell]] = -sign
        constraints = [LinearConstraint(self._matrix, self._least, self._most)] if len(self._least) else []
        found = milp(direction, constraints=constraints, bounds=Bounds(nearest, np.minimum(high, np.maximum(nearest, _FAR)))).x
        if found is None:
            return None
        moves = np.vstack([self._moves, found])
        self._moves = moves if len(moves) <= _FIRST + _NEWEST else np.vstack([moves[:_FIRST], moves[-_NEWEST:]])
        move: NDArray[np.float64] = found
        return move

    def seen(
        self, cells: Sequence[int], held: Mapping[int, tuple[float, float]]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return how far each of ``cells`` moves down and up, in units, among the tables that are known to fit ``held``: two (len(cells),)."""
        low, high = np.zeros(len(cells)), np.zeros(len(cells))
        places = self._place[list(cells)]
        unknown = places >= 0
        moves = self._moves
        *first, last = self._rooms(held) or [(-1, 0.0, 0.0)]
        for room in first:
            moves = _fitting(moves, room, _MOST_BETWEEN)
        if last[0] < 0:
            found = moves[:, places[unknown]]
            low[unknown], high[unknown] = found.min(axis=0), found.max(axis=0)
        else:
            low[unknown], high[unknown] = _ends(moves, places[unknown], last)
        return low, high

    def _rooms(self, held: Mapping[int, tuple[float, float]]) -> list[_Room]:
        return [(int(self._place[cell]), *room) for cell, room in held.items() if self._place[cell] >= 0]


def _straddling(moves: NDArray[np.float64], room: _Room) -> list[tuple[NDArray[np.bool_], NDArray[np.bool_], float]]:
    """The tables below and above each end of the room, between which one is at that end."""
    mine = moves[:, room[0]]
    ends = [end for end in dict.fromkeys(room[1:]) if np.isfinite(end)]
    return [(mine < end - _NEAR, mine > end + _NEAR, end) for end in ends]


def _ends(
    moves: NDArray[np.float64], places: NDArray[np.int64], room: _Room
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the least and the largest movement of each place among the tables that have ``room``, and those between two others.

    A table has (1, 2), another (-1, 1): halfway between them the first cell is true, and the second is 1.5 too large.

    >>> moves = np.array([[0.0, 0.0], [1.0, 2.0], [-1.0, 1.0]])
    >>> [end.tolist() for end in _ends(moves, np.array([1]), (0, 0.0, 0.0))]
    [[0.0], [1.5]]
    """
    mine = moves[:, room[0]]
    fits = moves[(mine >= room[1] - _NEAR) & (mine <= room[2] + _NEAR)][:, places]
    low, high = fits.min(axis=0, initial=np.inf), fits.max(axis=0, initial=-np.inf)
    for below, above, end in _straddling(moves, room):
        under, over = moves[below][:, places], moves[above][:, places]
        for one, own in zip(under, mine[below].tolist(), strict=True):
            share = ((mine[above] - end) / (mine[above] - own))[:, None]
            between = share * one + (1 - share) * over
            low = np.minimum(low, between.min(axis=0, initial=np.inf))
            high = np.maximum(high, between.max(axis=0, initial=-np.inf))
    return low, high


def _fitting(moves: NDArray[np.float64], room: _Room, most: int) -> NDArray[np.float64]:
    """Return the tables that have ``room``, and some of those between two others, ``most`` of them."""
    mine = moves[:, room[0]]
    found = [moves[(mine >= room[1] - _NEAR) & (mine <= room[2] + _NEAR)]]
    for below, above, end in _straddling(moves, room):
        under, over = np.flatnonzero(below), np.flatnonzero(above)
        pairs = np.arange(0, len(under) * len(over), max(1, len(under) * len(over) // most))
        if not len(pairs):
            continue
        one, other = under[pairs // len(over)], over[pairs % len(over)]
        share = ((mine[other] - end) / (mine[other] - mine[one]))[:, None]
        found.append(share * moves[one] + (1 - share) * moves[other])
    return np.concatenate(found)
