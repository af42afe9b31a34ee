"""Greedy merging of a grid: the cheapest merge of two parts again and again, down to one cell, every level kept."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from privrelease.synthesis.modl.state import cells_by_key, facing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from privrelease.synthesis.modl.state import State

__all__ = ["Merged", "merge"]

#: Numbers of a block: pairs of parts are compared in blocks, so that memory stays bounded.
_BLOCK: Final = 1 << 20


class Merged(NamedTuple):
    """A level of the merging. ``cost``: less that of the partition it began with, in steps of 1/UNIT."""

    cost: int
    parts: tuple[NDArray[np.int64], ...]


class _Pair(NamedTuple):
    price: int
    axis: int
    one: int
    two: int


def merge(state: State, parts: Sequence[NDArray[np.int64]]) -> list[Merged]:
    """Return every level on the way from a partition to one cell, the partition itself first.

    The merge that is made lowers the cost most, or raises it least; of equal ones that of the first axis, then of the first parts. In an
    ordered axis only neighbours merge.
    """
    grid = _Grid(state, parts)
    levels = [Merged(0, tuple(grid.parts))]
    while max(grid.sizes) > 1:
        pair = min(grid.cheapest(at) for at, size in enumerate(grid.sizes) if size > 1)
        grid.join(pair)
        levels.append(Merged(levels[-1].cost + pair.price, tuple(grid.parts)))
    return levels


class _Grid:
    """The cells of a grid that hold records, and the records and values of its parts."""

    def __init__(self, state: State, parts: Sequence[NDArray[np.int64]]) -> None:
        self.state = state
        self.parts = list(parts)
        self.sizes = [int(one.max()) + 1 for one in parts]
        self.coded, self.counts = state.collapsed(parts)
        known = list(zip(parts, state.frequencies.values, self.sizes, strict=True))
        self.held = [np.bincount(one, values, size).astype(np.int64) for one, values, size in known]
        self.members = [np.bincount(one, minlength=size) for one, _, size in known]

    def cheapest(self, at: int) -> _Pair:
        """Return the merge of two parts of an axis that costs least."""
        prior, logs, size = self.state.prior, self.state.logs, self.sizes[at]
        seen = facing(at, self.coded, self.sizes, self.counts)
        table = seen.table(seen.rows, size)
        ordered = self.state.axes[at].ordered
        one, two = (np.arange(size - 1), np.arange(1, size)) if ordered else np.triu_indices(size, 1)
        price = -_sums(logs, table, one, two)
        alone = logs[table].sum(axis=1) - logs[self.held[at]]
        held, members = self.held[at], self.members[at]
        if not ordered:
            alone -= prior.groups(held, members)
            price += prior.groups(held[one] + held[two], members[one] + members[two])
        price += alone[one] + alone[two] + logs[held[one] + held[two]]
        cells = prod(self.sizes)
        price += prior.grid(cells // size * (size - 1)) - prior.grid(cells) + prior.axis(at, size - 1) - prior.axis(at, size)
        least = int(price.argmin())
        return _Pair(int(price[least]), at, int(one[least]), int(two[least]))

    def join(self, pair: _Pair) -> None:
        """Merge two parts of an axis."""
        at = pair.axis
        self.parts[at] = _joined(self.parts[at], pair)
        self.coded[at] = _joined(self.coded[at], pair)
        for tally in (self.held, self.members):
            summed = np.delete(tally[at], pair.two)
            summed[pair.one] += tally[at][pair.two]
            tally[at] = summed
        self.sizes[at] -= 1
        self.coded, self.counts = cells_by_key(self.coded, self.sizes, self.counts)


def _sums(
    logs: NDArray[np.int64], table: NDArray[np.int64], one: NDArray[np.int64], two: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return Σ ln n! over the columns of each pair of rows put together."""
    found = np.empty(one.size, dtype=np.int64)
    step = max(1, _BLOCK // table.shape[1])
    for start in range(0, one.size, step):
        here = slice(start, start + step)
        found[here] = logs[table[one[here]] + table[two[here]]].sum(axis=1)
    return found


def _joined(codes: NDArray[np.int64], pair: _Pair) -> NDArray[np.int64]:
    found = np.where(codes == pair.two, pair.one, codes)
    return found - (found > pair.two)
