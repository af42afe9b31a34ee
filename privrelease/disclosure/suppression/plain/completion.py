"""Groups completed by donors: records that others can spare join a group that lacks a few.

Rows of movable parts are distinguished by numpy: only those whose key is that of a group are looked at one by one.
"""

from __future__ import annotations

from dataclasses import field
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from privrelease.disclosure.suppression.plain.keys import costs_under, fold, nodes_by_key
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from privrelease.disclosure.suppression.arrays import Classes, Counts, Keys, Nodes, Places, Sets

__all__ = ["complete_groups"]

_RENEWALS = 16


@dataclass(slots=True)
class _Group:
    """Parts that agree on what a set of columns keeps: ``key``, what its gainers gain (``hope``), how many records it lacks, the most one
    donor may cost it (``bar``), and its ``rows``: part, loss of one record.
    """

    key: int
    lacking: int
    hope: int = 0
    bar: int = -1
    rows: list[tuple[int, int]] = field(default_factory=list)

    def set_bar(self) -> None:
        """Share what is gained by the donors that are lacking."""
        self.bar = (self.hope - 1) // self.lacking


@dataclass(frozen=True, slots=True)
class _Outcome:
    """A group as it would be: its size, what is gained, classes more, exposed records more, and what each part gives."""

    size: int
    gained: int
    more: int
    exposed: int
    took: list[tuple[int, int, int]]


@dataclass(slots=True)
class _Completion:
    movable: Counts
    need: int
    safe: int
    price: int
    budget: Counts
    classes: Classes
    sets: Sets
    places: Places
    nodes: Nodes
    dear: Counts
    row_key: Keys
    there: dict[int, int]
    #: What rows lose under the chosen set, where classes cost differently.
    losses: Counts | None = None

    def complete(self, chosen: int) -> int:
        """Complete the groups of one set of columns; return the cost saved."""
        groups = self._groups(chosen)
        if not groups:
            return 0
        if self.losses is None:
            self._link_donors(chosen, groups)
        else:
            self._link_donors_by_loss(chosen, groups, self.losses)
        total = 0
        for group in groups.values():
            if group.lacking <= 0:
                total += self._settle(group, chosen)
        return total

    def _spare(self, part: int, *, vanish: bool) -> int:
        """Return how many records of ``part`` its class can spare: a safe class stays safe, any other keeps ``need``.

        Who waits is free. A part that is all of its class may go as a whole where the class may ``vanish``.
        """
        node, spare = int(self.places.node[part]), int(self.places.records[part])
        if node > 0:
            size = int(self.nodes.size[node])
            if spare < size or not vanish:
                spare = min(spare, size - (self.safe if size >= self.safe else self.need))
        return spare

    def _groups(self, chosen: int) -> dict[int, _Group]:
        """Return the groups of the rows that would become cheaper under ``chosen``, in the order of their first rows."""
        differs = len(self.sets.cell_cost) > 1
        gainers = len(self.dear) if differs else int(np.searchsorted(-self.dear, -self.sets.cost[chosen], side="left"))
        masked = fold(self.row_key[:, :gainers], self.sets.kept[:, chosen])
        parts = self.movable[:gainers]
        losses = costs_under(parts, chosen, self.classes, self.sets, self.places) - self.places.cost[parts]
        self.losses = losses if differs else None
        gaining = np.flatnonzero((masked != 0) & (losses < 0))
        groups: dict[int, _Group] = {}
        rows = zip(parts[gaining].tolist(), masked[gaining].tolist(), losses[gaining].tolist(), strict=True)
        for part, key, loss in rows:
            spare = self._spare(part, vanish=True)
            if spare <= 0:
                continue
            group = groups.get(key)
            if group is None:
                groups[key] = group = _Group(key, self.need)
            group.hope -= spare * loss
            group.lacking -= spare
            group.rows.append((part, loss))
        return groups

    def _set_bars(self, groups: dict[int, _Group]) -> int:
        """Set the most that one donor may cost each group; return the largest."""
        for group in groups.values():
            if group.lacking > 0 and group.key in self.there:
                group.lacking -= int(self.nodes.size[self.there[group.key]])
            if group.lacking > 0:
                group.set_bar()
        return max(group.bar for group in groups.values())

    def _levels(self, chosen: int) -> Iterator[tuple[int, int, int]]:
        """Yield the rows that may be donors in runs of equal cost to a group: dearness, first row, last row and one."""
        first = int(np.searchsorted(-self.dear, -self.sets.cost[chosen], side="left"))
        ends = [*(np.flatnonzero(np.diff(self.dear[first:])) + first + 1).tolist(), len(self.dear)]
        for end in ends:
            if first < end:
                yield int(self.sets.cost[chosen] - self.dear[first]), first, end
                first = end

    def _link_donors(self, chosen: int, groups: dict[int, _Group]) -> None:
        """Link rows that the groups may take as donors, by rising cost to the group."""
        limit = self._set_bars(groups)
        known = np.array(sorted(groups), np.uint64)
        marked_for, renewals = -1, 0
        for dearness, first, end in self._levels(chosen):
            if dearness > limit:
                return
            if marked_for < 0 or (dearness > marked_for and (renewals < _RENEWALS or dearness >= 2 * marked_for)):
                marked_for = dearness
                renewals += 1
                limit = max(group.bar for group in groups.values())
                if dearness > limit:
                    return
            masked = fold(self.row_key[:, first:end], self.sets.kept[:, chosen])
            matching = np.flatnonzero(known[np.minimum(np.searchsorted(known, masked), len(known) - 1)] == masked)
            for row, key in zip((matching + first).tolist(), masked[matching].tolist(), strict=True):
                group = groups[key]
                if group.bar >= dearness:
                    self._link_donor(int(self.movable[row]), group, chosen)

    def _link_donors_by_loss(self, chosen: int, groups: dict[int, _Group], losses: Counts) -> None:
        """Link donors where classes cost differently: those whose groups can bear them, by rising loss."""
        if self._set_bars(groups) < 0:
            return
        known = np.array(sorted(groups), np.uint64)
        bars = np.array([groups[key].bar for key in known.tolist()], np.int64)
        masked = fold(self.row_key, self.sets.kept[:, chosen])
        place = np.minimum(np.searchsorted(known, masked), len(known) - 1)
        rows = np.flatnonzero((known[place] == masked) & (losses >= 0) & (bars[place] >= losses))
        rows = rows[np.argsort(losses[rows], kind="stable")]
        for row, key in zip(rows.tolist(), masked[rows].tolist(), strict=True):
            group = groups[key]
            if group.bar >= losses[row]:
                self._link_donor(int(self.movable[row]), group, chosen)

    def _link_donor(self, part: int, group: _Group, chosen: int) -> None:
        """Link a part to the group it may give records to, and lower what that group still lacks and can bear."""
        node, spare = int(self.places.node[part]), self._spare(part, vanish=False)
        if spare <= 0 or self.places.set[part] == chosen or (node > 0 and int(self.nodes.key[node]) == group.key):
            return
        cost = costs_under(np.array([part]), chosen, self.classes, self.sets, self.places)
        loss = int(cost[0] - self.places.cost[part])
        group.rows.append((part, loss))
        # Twice as many as the group lacks are linked: another group may take some first.
        group.hope -= max(loss, 0) * max(0, min(spare, group.lacking))
        group.lacking -= spare
        if group.lacking > 0:
            group.set_bar()
        elif group.lacking <= -self.need:
            group.bar = -1

    def _settle(self, group: _Group, chosen: int) -> int:
        """Move a group's rows where that is allowed and saves something; return what it saves."""
        target = self.there.get(group.key, -1)
        done = self._take(group, target)
        places, nodes = self.places, self.nodes
        # Room for every move of this group, and for the nodes that greedy may still open.
        room = nodes.used[0] + len(done.took) <= len(places.item) and nodes.used[1] + nodes.used[2] < len(nodes.key)
        affordable = done.more <= max(self.budget[0], 0) and done.exposed <= max(self.budget[1], 0)
        if not (done.size >= self.need and done.gained > 0 and room and affordable):
            for part, _, moved in done.took:
                places.records[part] += moved
                if places.node[part] > 0:
                    nodes.size[places.node[part]] += moved
            return 0
        self.budget -= (done.more, done.exposed)
        if target < 0:
            target = int(nodes.used[1])
            nodes.used[1] += 1
            nodes.key[target] = group.key
            self.there[group.key] = target
        nodes.size[target] = done.size
        gives = {part: (loss, moved) for part, loss, moved in done.took}
        for part in [part for part, _ in reversed(group.rows) if part in gives]:
            self._put(part, *gives[part], chosen, target)
        return done.gained

    def _put(self, part: int, loss: int, moved: int, chosen: int, target: int) -> None:
        places, into = self.places, part
        if places.records[part] > 0:
            into = int(self.nodes.used[0])
            self.nodes.used[0] += 1
            places.item[into] = places.item[part]
        places.records[into], places.set[into], places.node[into] = moved, chosen, target
        places.cost[into] = places.cost[part] + loss

    def _take(self, group: _Group, target: int) -> _Outcome:
        """Take a group's rows out of their classes: all that become cheaper, then donors from the least dear on until it counts ``need``."""
        places, nodes = self.places, self.nodes
        size = 0 if target < 0 else int(nodes.size[target])
        more = 0 if size > 0 else 1
        gained = -self.price * more
        exposed = -size if size < self.safe else 0
        took: list[tuple[int, int, int]] = []
        # Of one loss, the row linked last comes first.
        latest_first = group.rows[::-1]
        latest_first.sort(key=itemgetter(1))
        for level, rows in groupby(latest_first, key=itemgetter(1)):
            if level >= 0 and (size >= self.need or gained <= level * (self.need - size)):
                break
            for part, _ in rows:
                node = int(places.node[part])
                if node == target:
                    continue
                spare = self._spare(part, vanish=level < 0)
                if level >= 0:
                    spare = min(spare, self.need - size)
                if spare <= 0:
                    continue
                took.append((part, level, spare))
                size += spare
                gained -= level * spare
                places.records[part] -= spare
                if node > 0:
                    before = int(nodes.size[node])
                    nodes.size[node] = before - spare
                    exposed -= spare if before < self.safe else 0
                    more, gained = (more - 1, gained + self.price) if before == spare else (more, gained)
        return _Outcome(size, gained, more, exposed + (size if size < self.safe else 0), took)


def complete_groups(
    movable: Counts,
    chosen: Counts,
    need: int,
    safe: int,
    price: int,
    budget: Counts,
    classes: Classes,
    sets: Sets,
    places: Places,
    nodes: Nodes,
) -> int:
    """Complete groups with donors: return the cost saved.

    For each set of ``chosen`` and each group of parts that agree on what it keeps: parts that would become cheaper move there
    if their class can spare them, and, where the group does not count ``need`` yet, the least dear other records that their
    classes can spare join them; done where the whole saves more than ``price`` (the price of one more class). ``movable``: parts
    that wait (node 0) or whose class has more than it must keep (``need``, or ``safe`` where it has that many), dearest first;
    they are a hint and checked again. ``budget``: how many more classes and how many more exposed records there may be, counted down.
    """
    dear = places.cost[movable]
    row_key = np.ascontiguousarray(classes.key[:, places.item[movable]])
    state = _Completion(movable, need, safe, price, budget, classes, sets, places, nodes, dear, row_key, nodes_by_key(nodes))
    return sum(state.complete(which) for which in chosen.tolist())
