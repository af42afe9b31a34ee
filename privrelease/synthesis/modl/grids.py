"""Data grids: each axis of an array divided into parts, intervals where its values have an order and groups where they have none."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from privrelease.synthesis.modl.frequencies import UNIT, log_choose, log_partitions
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from privrelease.synthesis.modl.frequencies import Frequencies

__all__ = ["Grid", "Prior", "cost", "null_cost"]


@dataclass(frozen=True, eq=False, slots=True)
class Grid:
    """A partition of each axis. ``parts``: for each axis the part of each of its values, parts numbered from 0 by their first value."""

    parts: tuple[NDArray[np.int64], ...]

    @classmethod
    def of(cls, parts: Sequence[NDArray[np.integer]]) -> Grid:
        """Return the grid of any numbering of the parts.

        >>> Grid.of([np.array([7, 3, 7])]).parts[0].tolist()
        [0, 1, 0]
        """
        return cls(tuple(map(_numbered, parts)))

    @classmethod
    def coarsest(cls, frequencies: Frequencies) -> Grid:
        """Return the grid of one cell, the null model."""
        return cls(tuple(np.zeros(axis.size, dtype=np.int64) for axis in frequencies.axes))

    @classmethod
    def finest(cls, frequencies: Frequencies) -> Grid:
        """Return the grid in which every value is a part."""
        return cls(tuple(np.arange(axis.size) for axis in frequencies.axes))

    @property
    def sizes(self) -> tuple[int, ...]:
        """Parts of each axis."""
        return tuple(int(one.max()) + 1 for one in self.parts)

    @property
    def cells(self) -> int:
        """The number of cells, G."""
        return prod(self.sizes)

    def same(self, other: Grid) -> bool:
        """Return True if both divide every axis alike."""
        return all(np.array_equal(one, two) for one, two in zip(self.parts, other.parts, strict=True))


class Prior:
    """The part of the cost that counts possible grids, in steps of 1/UNIT.

    Of an ordered axis ln N. Of an axis of V values without order, in I groups: ln V + ln B(V, I) + Σ_g ln C(n_g + m_g - 1, m_g - 1), where a
    group g has m_g values and n_g records. Of the grid: ln C(N + G - 1, G - 1).
    """

    def __init__(self, frequencies: Frequencies) -> None:
        self.records = frequencies.records
        self.axes = frequencies.axes
        self._logs = frequencies.logs

    def grid(self, cells: int) -> int:
        """Return ln C(N + G - 1, G - 1)."""
        return log_choose(self.records + cells - 1, cells - 1)

    def axis(self, at: int, parts: int) -> int:
        """Return what an axis costs in so many parts, without its groups."""
        axis = self.axes[at]
        if axis.ordered:
            return round(float(np.log(max(self.records, 1))) * UNIT)
        return round(float(np.log(axis.size)) * UNIT) + log_partitions(axis.size, axis.size)[parts]

    def groups(self, records: NDArray[np.int64], values: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return ln C(n + m - 1, m - 1) of groups with n records and m values each."""
        logs, fewer = self._logs, values - 1
        found: NDArray[np.int64] = logs[records + fewer] - logs[fewer] - logs[records]
        return found


def cost(frequencies: Frequencies, grid: Grid) -> int:
    """Return the MODL cost of a grid, in steps of 1/UNIT of a nat.

    Its prior (:class:`Prior`), then ln N! - Σ_cells ln n! + Σ_axes Σ_parts ln n_part! - Σ_axes without order Σ_values ln n_v!
    (Boullé 2010; khiops differs in the prior of the number of parts only).

    >>> from privrelease.synthesis.modl.frequencies import Frequencies
    >>> two = Frequencies.of(np.array([[2, 0], [0, 2]]), ordered=(True, True))
    >>> round(cost(two, Grid.finest(two)) / UNIT, 4), round(null_cost(two) / UNIT, 4)  # 2 ln 4 + ln C(7, 3) + ln 4! + 2 ln 2!
    (10.8923, 9.1287)
    """
    logs, prior = frequencies.logs, Prior(frequencies)
    sizes = grid.sizes
    total = prior.grid(grid.cells) + int(logs[frequencies.records])
    key = np.zeros(frequencies.counts.size, dtype=np.int64)
    for at, (axis, parts, many) in enumerate(zip(frequencies.axes, grid.parts, sizes, strict=True)):
        key = np.unique(key * many + parts[frequencies.cells[:, at]], return_inverse=True)[1]
        values = frequencies.values[at]
        held = np.bincount(parts, values, many).astype(np.int64)
        total += prior.axis(at, many) + int(logs[held].sum())
        if not axis.ordered:
            total += int(prior.groups(held, np.bincount(parts, minlength=many)).sum()) - int(logs[values].sum())
    cells = np.bincount(key, frequencies.counts).astype(np.int64)
    return total - int(logs[cells].sum())


def null_cost(frequencies: Frequencies) -> int:
    """Return the cost of the null model: one part an axis."""
    return cost(frequencies, Grid.coarsest(frequencies))


def _numbered(parts: NDArray[np.integer]) -> NDArray[np.int64]:
    _, first, inverse = np.unique(parts, return_index=True, return_inverse=True)
    rank = np.empty(first.size, dtype=np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    found: NDArray[np.int64] = rank[inverse]
    return found
