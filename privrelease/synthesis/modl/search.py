"""Search for the data grid of least cost, and its hierarchy of coarser grids.

Several random coarse grids are improved by moves, merged to the end, and moved again from the best level. Then the best grid is disturbed,
some axes divided further and now and then one divided at random, and improved in the same way, round after round (after Boullé 2010, who
disturbs the best solution by variable neighbourhood search). Merging the finest grid alone stops at 93 %, and once at 15 %, of the gain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from privrelease.synthesis.modl.grids import Grid, cost, null_cost
from privrelease.synthesis.modl.merging import merge
from privrelease.synthesis.modl.moves import improve
from privrelease.synthesis.modl.state import State
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from privrelease.synthesis.modl.frequencies import Axis, Frequencies

__all__ = ["MOST_VALUES", "CoClustering", "Level", "cocluster"]

#: Most values of an axis without order, which are moved one by one.
MOST_VALUES: Final = 4096
#: Random grids at first, and parts of each of their axes.
_STARTS: Final = 4
_FEWEST, _MOST = 6, 16
#: Rounds without a better grid after which the search ends (at most one a value; fewer where values are many), and rounds at most.
_PATIENCE: Final = 50
_MOST_ROUNDS: Final = 120
_MANY_VALUES: Final = 400


@dataclass(frozen=True, eq=False, slots=True)
class Level:
    """A grid of the hierarchy and its cost in steps of 1/UNIT."""

    grid: Grid
    cost: int

    @property
    def cells(self) -> int:
        """The number of cells of the grid."""
        return self.grid.cells


@dataclass(frozen=True, eq=False, slots=True)
class CoClustering:
    """The best grid found and its hierarchy. ``levels``: from that grid by the cheapest merges to one cell; ``null``: cost of one cell."""

    levels: tuple[Level, ...]

    @property
    def best(self) -> Level:
        """The grid of least cost."""
        return self.levels[0]

    @property
    def null(self) -> int:
        """The cost of the null model, one cell, in steps of 1/UNIT."""
        return self.levels[-1].cost

    def at_most(self, cells: int) -> Level:
        """Return the finest level with at most so many cells; of 0 the best grid.

        Raises ValueError below 0.
        """
        if cells < 0:
            msg = "a grid has at least one cell"
            raise ValueError(msg)
        return next(one for one in self.levels if cells in {0, one.cells} or one.cells < cells)


def cocluster(frequencies: Frequencies, seed: int | None = None) -> CoClustering:
    """Return the grid of least cost that the search finds, with its hierarchy. The same array gives the same.

    ``seed``: of the random starts; of None it follows from the array itself (:meth:`Frequencies.seed`).

    Raises ValueError where an axis without order has more than MOST_VALUES values.

    >>> from privrelease.synthesis.modl.frequencies import Frequencies
    >>> blocks = np.kron(np.array([[9, 0], [0, 9]]), np.ones((3, 4), dtype=int))
    >>> found = cocluster(Frequencies.of(blocks, ordered=(False, True)))
    >>> [one.tolist() for one in found.best.grid.parts], [level.cells for level in found.levels]
    ([[0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 1, 1, 1, 1]], [4, 2, 1])
    """
    if any(axis.size > MOST_VALUES for axis in frequencies.axes if not axis.ordered):
        msg = f"an axis without order has at most {MOST_VALUES} values"
        raise ValueError(msg)
    state = State(frequencies)
    bits = np.random.PCG64(frequencies.seed() if seed is None else seed)  # its bits are part of no guarantee: they are public
    best = Level(Grid.coarsest(frequencies), null_cost(frequencies))
    for _ in range(_STARTS):
        best = min(best, _descended(state, _random(state, bits)), key=_cost)
    values = sum(axis.size for axis in frequencies.axes)
    patience = min(values, max(4, _PATIENCE * _MANY_VALUES // max(values, _MANY_VALUES)))
    last = 0
    for turn in range(_MOST_ROUNDS):
        if turn - last >= patience:
            break
        found = _descended(state, _disturbed(state, best.grid, bits, redivide=turn % 2 == 1))
        if found.cost < best.cost:
            best, last = found, turn
    return CoClustering(_hierarchy(state, best))


def _cost(level: Level) -> int:
    return level.cost


def _descended(state: State, parts: Sequence[NDArray[np.int64]]) -> Level:
    """Return what moves, merging to the best level and moves again make of a partition."""
    levels = merge(state, improve(state, parts))
    found = Grid.of(improve(state, min(levels, key=lambda level: level.cost).parts))
    return Level(found, cost(state.frequencies, found))


def _hierarchy(state: State, best: Level) -> tuple[Level, ...]:
    levels = merge(state, best.grid.parts)
    return tuple(Level(Grid.of(level.parts), best.cost + level.cost) for level in levels)


def _random(state: State, bits: np.random.PCG64) -> list[NDArray[np.int64]]:
    """Return a random coarse partition."""
    return [_divided(axis, _FEWEST + _below(bits, _MOST - _FEWEST + 1), bits) for axis in state.axes]


def _disturbed(state: State, grid: Grid, bits: np.random.PCG64, *, redivide: bool) -> list[NDArray[np.int64]]:
    """Return a grid with the parts of one to three axes cut in two, and with one other axis divided at random where that is asked."""
    parts = list(grid.parts)
    order = np.argsort(bits.random_raw(len(parts)), kind="stable").tolist()
    wanted = 1 + _below(bits, 3)
    if redivide and len(parts) > wanted:
        at = order[-1]
        parts[at] = _divided(state.axes[at], 2 + _below(bits, 5), bits)
    for at in order[:wanted]:
        parts[at] = _cut(state.axes[at], parts[at], bits)
    return parts


def _below(bits: np.random.PCG64, many: int) -> int:
    return int(bits.random_raw()) % many


def _divided(axis: Axis, wanted: int, bits: np.random.PCG64) -> NDArray[np.int64]:
    """Return an axis in at most so many random parts."""
    raw = bits.random_raw(axis.size)
    wanted = min(wanted, axis.size)
    if not axis.ordered:
        return _numbered(raw % wanted)
    starts = np.zeros(axis.size, dtype=np.int64)
    starts[np.argsort(raw[1:], kind="stable")[: wanted - 1] + 1] = 1
    return np.cumsum(starts)


def _cut(axis: Axis, parts: NDArray[np.int64], bits: np.random.PCG64) -> NDArray[np.int64]:
    """Return an axis with as many more cuts as it has intervals, or each of its groups divided at random."""
    raw = bits.random_raw(axis.size)
    if not axis.ordered:
        return _numbered(parts.astype(np.uint64) * 2 + raw % 2)
    starts = np.zeros(axis.size, dtype=np.int64)
    starts[1:] = np.diff(parts)
    starts[np.argsort(raw[1:], kind="stable")[: int(parts[-1]) + 1] + 1] = 1
    return np.cumsum(starts)


def _numbered(parts: NDArray[np.unsignedinteger]) -> NDArray[np.int64]:
    found: NDArray[np.int64] = np.unique(parts, return_inverse=True)[1].astype(np.int64)
    return found
