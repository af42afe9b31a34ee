"""Boxes of cells for sets of columns that are linked without a ring: where they agree in what they share, they are of one population."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from privrelease.audit.comparison.earlier.rows_and_table import MOST_PLACES
from privrelease.disclosure.tables.acyclicity import clusters
from privrelease.relational.filter_truth import truths_of_keys

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from privrelease.audit.comparison.earlier.joint_axes import JointAxes, Numbers
    from privrelease.audit.comparison.earlier.rows_and_table import Cell, TableShown

__all__ = ["MOST_CELLS", "JointBoxes", "Kind"]

#: The most cells of the boxes of tables that are judged together.
MOST_CELLS: Final = 2_000
#: The places that rows can have, for each axis of which they show something.
Kind: TypeAlias = "tuple[tuple[int, ...], ...]"


class JointBoxes:
    """Boxes of cells, one after another. ``seen``: the axes of which rows show something, of every one or of some."""

    def __init__(
        self,
        axes: JointAxes,
        own: frozenset[int],
        seen: tuple[int, ...],
        tables: Sequence[TableShown],
        listed: frozenset[int],
        *,
        dependent: bool,
    ) -> None:
        self._axes, self._seen, self._listed = axes, seen, listed
        self._absent = {some: gone for some, gone in axes.absent.items() if {*some} <= own} if dependent else {}
        filters = [axes.of_filter(axis) for axis in sorted(own) if axis >= len(axes.columns)]
        edges = [*map(axes.of_table, tables), *filters, *map(frozenset, self._absent), frozenset(seen)]
        self._sets, self._links = clusters([one for one in edges if one], {axis: axes.size(axis) for axis in own})
        self._filters = filters
        self._shape = tuple(map(axes.size, seen))
        self._grids: list[dict[int, Numbers]] = []
        self._starts: list[int] = []
        self.cells = 0
        self._reached = np.zeros(0, np.bool_)

    def reached(self, kinds: Sequence[tuple[Kind, float]]) -> bool:
        """Make the cells that rows of these kinds can reach; False where they are too many."""
        size = prod(self._shape)
        if size > 1000 * MOST_CELLS or sum(prod(map(len, kind)) for kind, _ in kinds) > MOST_PLACES:
            return False
        self._reached = np.zeros(size, np.bool_)
        for kind, _ in kinds:
            self._reached[self.seen_cells(kind)] = True
        for own in self._sets:
            if prod(map(self._axes.size, own)) > 1000 * MOST_CELLS:
                return False
            grid = self._grid(own)
            self._starts.append(self.cells)
            self._grids.append(grid)
            self.cells += len(next(iter(grid.values())))
        return self.cells <= MOST_CELLS

    def seen_cells(self, kind: Kind) -> list[int]:
        """Return the numbers of what rows of a kind can show."""
        strides = [prod(self._shape[place + 1 :]) for place in range(len(self._shape))]
        return [sum(place * stride for place, stride in zip(at, strides, strict=True)) for at in product(*kind)]

    def _grid(self, own: frozenset[int]) -> dict[int, Numbers]:
        """Return the places of the cells of a box, by axis: of those that may have rows."""
        order = sorted(own)
        shape = tuple(map(self._axes.size, order))
        grid = dict(zip(order, np.indices(shape).reshape(len(shape), -1), strict=True))
        there = np.ones(prod(shape), np.bool_)
        for axis in own & self._listed:
            there &= grid[axis] < self._axes.size(axis) - 1
        for some, gone in self._absent.items():
            if {*some} <= own:
                there &= ~gone[tuple(grid[axis] for axis in some)]
        for read in self._filters:
            if read <= own:
                there &= self._may_hold(read, grid)
        if self._holds_seen(own):
            there &= self._reached[self._seen_of(grid)]
        return {axis: places[there] for axis, places in grid.items()}

    def _may_hold(self, read: frozenset[int], grid: Mapping[int, Numbers]) -> NDArray[np.bool_]:
        """Tell for each cell whether its keys and whether it satisfies a filter can be together."""
        *columns, axis = sorted(read)
        where = self._axes.filters[axis - len(self._axes.columns)]
        can = np.ones((*map(self._axes.size, columns), 2), np.bool_)
        for at in product(*(range(self._axes.size(column)) for column in columns)):
            sides = zip(columns, at, strict=True)
            keys = {
                self._axes.columns[side]: ((*self._axes.keys[side], None)[place], self._axes.keys[side])
                for side, place in sides
            }
            truths = truths_of_keys(where, keys)
            can[at] = [True in truths, truths != {True}]
        return can[tuple(grid[one] for one in (*columns, axis))]

    def _holds_seen(self, own: frozenset[int]) -> bool:
        return {*self._seen} <= own

    def _seen_of(self, grid: Mapping[int, Numbers]) -> Numbers:
        if not self._seen:
            return np.zeros(len(next(iter(grid.values()))), np.int64)
        return np.ravel_multi_index(tuple(grid[axis] for axis in self._seen), self._shape).astype(np.int64)

    def _host(self, axes: frozenset[int]) -> int:
        return next(place for place, own in enumerate(self._sets) if axes <= own)

    def by_seen(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Yield what rows can show, with the cells of it."""
        host = self._host(frozenset(self._seen))
        found: dict[int, tuple[int, ...]] = dict.fromkeys(np.flatnonzero(self._reached).tolist(), ())
        found |= self._parts(self._seen_of(self._grids[host]), self._starts[host])
        yield from found.items()

    def common(self) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Yield the cells of two linked boxes that have the same places in what the boxes share."""
        for one, other in self._links:
            shared = sorted(self._sets[one] & self._sets[other])
            shape = tuple(map(self._axes.size, shared))
            sides = []
            for place in (one, other):
                grid = self._grids[place]
                size = len(next(iter(grid.values())))
                code = np.ravel_multi_index(tuple(grid[axis] for axis in shared), shape) if shared else np.zeros(size, np.int64)
                sides.append(self._parts(code.astype(np.int64), self._starts[place]))
            for key in sorted(sides[0].keys() | sides[1].keys()):
                yield sides[0].get(key, ()), sides[1].get(key, ())

    def of_cell(self, table: TableShown, cell: Cell) -> tuple[int, ...]:
        """Return the cells that a cell of a table is made of."""
        axes = self._axes
        host = self._host(axes.of_table(table))
        grid, keys = self._grids[host], dict(cell)
        there = np.ones(len(next(iter(grid.values()))), np.bool_)
        for name, listed in zip(table.by, table.keys, strict=True):
            axis = axes.number[name]
            there &= np.isin(grid[axis], [axes.places[axis][key] for key in ((keys[name],) if name in keys else listed)])
        if table.where is not None:
            there &= grid[axes.filter_axis(table.where)] == 0
        return tuple((np.flatnonzero(there) + self._starts[host]).tolist())

    @staticmethod
    def _parts(codes: Numbers, start: int) -> dict[int, tuple[int, ...]]:
        found: dict[int, list[int]] = {}
        for place, code in enumerate(codes.tolist(), start):
            found.setdefault(code, []).append(place)
        return {code: tuple(places) for code, places in found.items()}
