"""Arrays of a record search: packed classes, column sets, parts and nodes, and the compiled moves on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from privrelease.disclosure.suppression import kernels
from privrelease.disclosure.suppression.arrays import Classes, Nodes, Places, Sets, Waiting, kept_bits, pack
from privrelease.disclosure.suppression.candidate_sets import candidate_sets
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["Figures", "RecordState", "Step"]


_UNLIMITED = 1 << 62
_MOST_BANDS = 64  # where values cost differently


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a schedule: work through the sets of ``band`` with this class size; classes of ``safe`` are not broken into."""

    band: int
    need: int
    safe: int = 1


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures that a target limits: released classes, released records, and those in classes below ``safe``."""

    classes: int
    records: int
    exposed: int


class RecordState:
    """The state of every record of the classes ``codes`` (m, q): which columns it loses and with whom it then agrees.

    At most 62 columns. ``costs`` (q,): of a cell of each column, on average; ``cell_cost`` (1 or m, q): of every class, or of each.
    Costs are doubled inside, so that half a cell can be distinguished. ``bands``: the candidate sets in groups of
    about one cell's cost.
    """

    def __init__(
        self,
        codes: NDArray[np.integer[Any]],
        records: NDArray[np.int64],
        costs: tuple[int, ...],
        cell_cost: NDArray[np.int64],
    ) -> None:
        self._records = records.astype(np.int64, copy=False)
        self.columns, nominal = candidate_sets(codes, costs)
        column_cost = 2 * np.array(costs, np.int64)
        cell = int(column_cost[column_cost > 0].min(initial=1 << 40))
        if len(cell_cost) > 1:
            # A column of nearly one value costs next to nothing: bands of that width would be as many as there are sets.
            cell = max(cell, int(column_cost.sum()) // _MOST_BANDS, 2)
        self._half_cell = cell // 2
        bit = np.int64(1) << np.arange(len(costs))
        keys, fields = pack(codes)
        present = np.zeros(len(codes), np.int64)
        for column in range(codes.shape[1]):
            present |= np.where(codes[:, column] > 0, bit[column], 0)
        self._classes = Classes(keys, present)
        set_bits = (self.columns * bit).sum(axis=1).astype(np.int64)
        self._sets = Sets(kept_bits(fields, self.columns), set_bits, 2 * nominal, 2 * cell_cost)
        band_of = self._sets.cost[:-1] // (2 * self._half_cell)
        self.bands = [np.flatnonzero(band_of == band) for band in np.unique(band_of)]

    def _start(self) -> None:
        """Let every record wait, nothing released."""
        items = len(self._records)
        room = items + items // 2 + 1024
        self.places = Places(
            item=_with_room(np.arange(items), room),
            records=_with_room(self._records, room),
            set=np.full(room, len(self.columns) - 1, np.int32),
            node=np.zeros(room, np.int32),
            cost=np.zeros(room, np.int64),
        )
        self._nodes = Nodes(
            slots=np.full(1 << (5 * room // 4).bit_length(), -1, np.int32),
            marks=np.zeros(1 << max(4, room.bit_length() - 4), np.uint64),
            key=np.zeros(room, np.uint64),
            size=np.zeros(room, np.int64),
            used=np.array([items, 1, items], np.int64),
        )
        self._wait(np.arange(items), self._classes.key.copy(), self._records.copy())

    def _wait(self, part: NDArray[np.int64], key: NDArray[np.uint64], records: NDArray[np.int64]) -> None:
        """Let these parts wait, with work space for as many."""
        self._count = len(part)
        slots = 1 << max(4, (5 * self._count // 3).bit_length())  # three in five are taken at most
        self._waiting = Waiting(
            part=part,
            key=key,
            records=records,
            masked=np.empty(self._count, np.uint64),
            table=np.empty(slots, np.uint64),
            totals=np.empty(slots, np.int64),
            slot=np.empty(self._count, np.int32),
        )

    def _without_work_space(self) -> Waiting:
        """Return the waiting parts alone, without keys: while donors are looked for, which takes much room itself, nothing is counted."""
        nothing, no_keys = np.zeros(0, np.uint64), np.zeros((len(self._classes.key), 0), np.uint64)
        return Waiting(
            self._waiting.part[: self._count].copy(),
            no_keys,
            self._waiting.records[: self._count].copy(),
            nothing,
            nothing,
            np.zeros(0, np.int64),
            np.zeros(0, np.int32),
        )

    @property
    def parts(self) -> Places:
        """The parts in use that have records."""
        live = np.flatnonzero(self.places.records[: self._nodes.used[0]] > 0)
        at = self.places
        return Places(at.item[live], at.records[live], at.set[live], at.node[live], at.cost[live])

    def run(self, steps: Sequence[Step], *, donors: bool = True) -> None:
        """Start again and follow a schedule; at the end what still waits costs all its columns."""
        self._start()
        for step in steps:
            if not self._count:
                break
            self._greedy(self.bands[step.band], step.need)
            if donors and self._count and self._can_complete():
                highest = int(self._sets.cost[self.bands[step.band]].max())
                self.places.cost[self._waiting.part[: self._count]] = highest + self._half_cell
                self._waiting = self._without_work_space()
                near = self.bands[step.band] if not step.band else np.concatenate(self.bands[step.band - 1 : step.band + 1])
                self._complete(near, step.need, step.safe)
                self._drop_placed()
        left = self._waiting.part[: self._count]
        self.places.cost[left] = self._whole_cost(self.places.item[left])

    def _can_complete(self) -> bool:
        """Return whether a class is released: until then no records are spared, and greedy has released what could do without."""
        return int(self._nodes.used[1]) > 1

    def _whole_cost(self, item: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what a record of each of these classes costs without any of its cells."""
        present, cell_cost = self._classes.present[item], self._sets.cell_cost
        cost = np.zeros(len(item), np.int64)
        for column in range(cell_cost.shape[1]):
            of_one = cell_cost[:, column]
            cost += (present >> column & 1) * (of_one if len(of_one) == 1 else of_one[item])
        return cost

    def figures(self, safe: int) -> Figures:
        """Count classes, records and exposed records."""
        size = self._nodes.size[1 : self._nodes.used[1]]
        return Figures(int(np.count_nonzero(size)), int(size.sum()), int(size[size < safe].sum()))

    def cost(self) -> int:
        """Return the cost of all records as they are (twice the cells' cost)."""
        p = int(self._nodes.used[0])
        return int((self.places.cost[:p] * self.places.records[:p]).sum())

    def _greedy(self, band: NDArray[np.int64], need: int) -> None:
        for cost in np.unique(self._sets.cost[band]):
            if self._count:
                layer = band[self._sets.cost[band] == cost]
                self._count = kernels.release_layer(
                    self._waiting, self._count, layer, need, self._classes, self._sets, self.places, self._nodes
                )

    def _drop_placed(self) -> None:
        waiting = self._waiting
        # A part that gave some of its records waits with the others.
        still = np.flatnonzero(self.places.node[waiting.part] == 0)
        part = waiting.part[still]
        self._wait(part, np.ascontiguousarray(self._classes.key[:, self.places.item[part]]), self.places.records[part])

    def spend(self, slack: tuple[int, int], need: int, safe: int) -> None:
        """Open cheaper classes while ``slack`` (classes, exposed records) leaves room, the most gainful first."""
        chosen = np.arange(len(self.columns) - 1)
        budget = np.array(slack, np.int64)
        for price in (4 * self._half_cell, 0):
            self._complete(chosen, need, safe, price, budget)

    def _complete(
        self, chosen: NDArray[np.int64], need: int, safe: int, price: int = 0, budget: NDArray[np.int64] | None = None
    ) -> int:
        p = int(self._nodes.used[0])
        self._nodes.used[2] = self._count
        node = self.places.node[:p]
        size = self._nodes.size[node]
        records = self.places.records[:p]
        free = (node == 0) | (records == size) | (size > np.where(size >= safe, max(safe, need), need))
        movable = np.flatnonzero(free & (records > 0))
        movable = movable[_dearest_first(self.places.cost[movable])]
        del node, size, records, free  # as long as the parts
        return int(
            kernels.complete_groups(
                movable,
                chosen,
                need,
                max(need, safe),
                price,
                np.array([_UNLIMITED, _UNLIMITED]) if budget is None else budget,
                self._classes,
                self._sets,
                self.places,
                self._nodes,
            )
        )

    def close(self, excess: tuple[int, int], need: int, safe: int) -> bool:
        """Close classes, the least dear per relief first, until ``excess`` (classes, exposed records) is gone; whether any closed."""
        least = safe if excess[1] > 0 else need
        closing = np.flatnonzero(self._nodes.size[: self._nodes.used[1]] > 0)
        size = self._nodes.size[closing]
        if excess[1] > 0:
            closing = closing[size < safe]
        else:
            closing = closing[np.argsort(size, kind="stable")[: 4 * excess[0] + 64]]
        p = int(self._nodes.used[0])
        order_of = np.full(int(self._nodes.used[1]), -1, np.int64)
        order_of[closing] = np.arange(len(closing))
        parts = np.flatnonzero((order_of[self.places.node[:p]] >= 0) & (self.places.records[:p] > 0))
        other_set = np.zeros(len(parts), np.int32)
        other_node = np.zeros(len(parts), np.int32)
        other_cost = np.zeros(len(parts), np.int64)
        kernels.find_alternatives(
            parts, least, self._classes, self._sets, self.places, self._nodes, other_set, other_node, other_cost
        )
        loss = np.zeros(len(closing), np.int64)
        which = order_of[self.places.node[parts]]
        np.add.at(loss, which, (other_cost - self.places.cost[parts]) * self.places.records[parts])
        rank = np.argsort(loss / self._nodes.size[closing] if excess[1] > 0 else loss, kind="stable")
        place = np.empty(len(closing), np.int64)
        place[rank] = np.arange(len(closing))
        line = np.argsort(place[which], kind="stable")
        before = self.figures(safe)
        kernels.close_classes(
            closing[rank],
            np.searchsorted(place[which][line], np.arange(len(closing) + 1)),
            parts[line],
            least,
            safe,
            other_set[line],
            other_node[line],
            other_cost[line],
            self.places,
            self._nodes,
            np.array(excess, np.int64),
        )
        return self.figures(safe) != before


def _with_room(values: NDArray[np.int64], room: int) -> NDArray[np.int64]:
    """Return ``values`` with zeros after them, (room,); memory is taken only once it is written."""
    wide = np.zeros(room, np.int64)
    wide[: len(values)] = values
    return wide


def _dearest_first(cost: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the order by falling cost, stable; costs below 2^15 take numpy's radix sort."""
    narrow = int(cost.max(initial=0)) < 1 << 15
    return np.argsort((-cost).astype(np.int16) if narrow else -cost, kind="stable")
