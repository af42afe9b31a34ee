"""Several requirements at once: groups of records that change together what they lose of some columns, so that they lose less."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from privrelease.disclosure.suppression.plain.joint_classes import JointRequirement, count_jointly, joint_requirements, movable
from privrelease.disclosure.suppression.plain.keys import cell_cost, cell_costs, costs_of
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from privrelease.disclosure.suppression.arrays import Counts, Joint, Keys, View

__all__ = ["regroup_cells"]

_MANY = 8  # donors are linked until they are so many times what a class needs beyond what its group lacks
_FAR = 1 << 62


@dataclass(slots=True)
class _Group:
    """Rows of one key and what each would lose more, in the order they were linked; what its gainers gain, and how many records it lacks."""

    rows: list[int]
    losses: list[int]
    hope: int
    lacking: int


@dataclass(slots=True)
class _Move:
    """Records of a part that moved, and the part that they became; what the part lost before, and what its records cost."""

    part: int
    into: int
    count: int
    hidden: int
    dear: int
    before: int
    after: int


@dataclass(slots=True)
class _Work:
    """Parts, those in use row by row, and the requirements."""

    key: Keys
    hidden: Counts
    records: Counts
    origin: Counts
    dear: Counts
    parts: int
    line: Counts
    view: View
    joint: Joint
    requirements: list[JointRequirement]
    row_key: Keys
    reach: Counts
    present: Counts

    def lacking(self, key: int) -> int:
        """Return how many records the class of ``key`` lacks in the requirements that a group settles, at most."""
        lacking = 0
        for one in self.requirements:
            if one.settled:
                own = key & one.field
                lacking = max(lacking, one.need - one.totals.get(own, 0) if own else _FAR)
        return lacking

    def groups(self, chosen: int) -> dict[int, _Group]:
        """Return the groups under a set of columns that are to be moved, in the order of their first row."""
        differs = len(self.joint.cell_cost) > 1
        cost, bits = int(self.view.cost[chosen]), int(self.view.bits[chosen])
        gainers = len(self.line) if differs else int(np.searchsorted(-self.reach, -cost, side="left"))
        loss = cell_costs(self.present & bits, costs_of(self.origin[self.line], self.joint.cell_cost)) - self.dear[self.line]
        masked = self.row_key & self.view.kept[chosen]
        many = self.records[self.line]
        groups: dict[int, _Group] = {}
        for row in np.flatnonzero((masked[:gainers] != 0) & (loss[:gainers] < 0)).tolist():
            group = groups.setdefault(int(masked[row]), _Group([], [], 0, 0))
            group.rows.append(row)
            group.losses.append(int(loss[row]))
            group.hope -= int(loss[row] * many[row])
            group.lacking -= int(many[row])
        bars: dict[int, int] = {}
        for key, group in groups.items():
            group.lacking += self.lacking(key)
            if 0 < group.lacking < _FAR // 2:
                bars[key] = (group.hope - 1) // group.lacking
        if bars:
            rows = np.arange(0 if differs else gainers, len(self.line))
            rows = rows if differs else rows[cost - self.reach[rows] <= max(bars.values())]
            rows = rows[np.isin(masked[rows], np.array(list(bars), np.uint64)) & (loss[rows] >= 0)]
            self._link_donors(groups, bars, rows, masked, loss)
        return {key: group for key, group in groups.items() if group.lacking <= 0}

    def _link_donors(self, groups: dict[int, _Group], bars: dict[int, int], rows: Counts, masked: Keys, loss: Counts) -> None:
        most = max(one.need for one in self.requirements)
        for row in rows.tolist():
            key = int(masked[row])
            if loss[row] > bars[key]:
                continue
            group = groups[key]
            group.lacking -= int(self.records[self.line[row]])
            if group.lacking <= -_MANY * most:
                bars[key] = -1
            group.rows.append(row)
            group.losses.append(int(loss[row]))

    def regroup(self, group: _Group, key: int, bits: int) -> int:
        """Move a group's rows, and put them back where that does not gain; return what it gains."""
        room, slots = len(self.key), self.joint.table.shape[1] // 4 * 3
        keys = max(len(one.totals) for one in self.requirements)
        if self.parts + len(group.rows) > room or keys + len(group.rows) > slots:
            return 0
        fields, gained = self.joint.field.tolist(), 0
        moves: list[_Move] = []
        for place in sorted(
            range(len(group.rows) - 1, -1, -1), key=group.losses.__getitem__
        ):  # of equal losses the last linked first
            row, loss = group.rows[place], group.losses[place]
            part = int(self.line[row])
            count, hidden = int(self.records[part]), int(self.hidden[part])
            if loss >= 0:
                lacking = self.lacking(key)
                if lacking == 0 or gained <= loss * lacking:
                    break
                count = min(count, lacking)
            before = int(self.key[part]) & ~cell_cost(hidden, fields)
            after = before & ~int(self.view.fields[0]) | key
            count = 0 if before == after else movable(before, after, count, self.requirements)
            if count:
                moves.append(_Move(part, part, count, hidden, int(self.dear[part]), before, after))
                self._move(moves[-1], hidden & ~self.view.columns | int(self.present[row]) & bits, loss)
                gained -= loss * count
        if gained > 0 and self.lacking(key) == 0:
            return gained
        for move in reversed(moves):
            self._move_back(move)
        return 0

    def _move(self, move: _Move, hidden: int, loss: int) -> None:
        if move.count < self.records[move.part]:
            move.into = self.parts
            self.parts += 1
            self.key[move.into], self.origin[move.into] = self.key[move.part], self.origin[move.part]
            self.records[move.into] = move.count
            self.records[move.part] -= move.count
        self.hidden[move.into] = hidden
        self.dear[move.into] = move.dear + loss
        for one in self.requirements:
            one.move(move.before, move.after, move.count)

    def _move_back(self, move: _Move) -> None:
        for one in self.requirements:
            one.move(move.after, move.before, move.count)
        if move.into != move.part:
            self.records[move.part] += move.count
            self.parts -= 1
        else:
            self.hidden[move.part], self.dear[move.part] = move.hidden, move.dear


def _counted(
    key: Keys, hidden: Counts, records: Counts, parts: int, settled: list[int], tally: Counts, joint: Joint
) -> list[JointRequirement]:
    """Return the requirements with their classes: counted, or as the last call left them in the tables."""
    requirements = joint_requirements(joint)
    if not tally[-2]:
        count_jointly(key, hidden, records, parts, joint, requirements)
    for which, one in enumerate(requirements):
        if tally[-2]:
            known = int(tally[which])
            one.residual = int(joint.residual[which])
            one.totals = dict(zip(joint.table[which, :known].tolist(), joint.totals[which, :known].tolist(), strict=True))
        one.settled = settled[which] > 0
    return requirements


def regroup_cells(
    key: Keys,
    hidden: Counts,
    records: Counts,
    origin: Counts,
    dear: Counts,
    parts: int,
    line: Counts,
    reach: Counts,
    view: View,
    tally: Counts,
    joint: Joint,
) -> int:
    """Move groups of records, set of columns by set, where they lose fewer cells and every requirement stays met. Returns the parts then.

    Parts as for :func:`restore_cells`; ``dear``: what a record of each loses of the view's columns; ``line``: the parts in use, by
    falling ``reach``: no record gains under a set that costs as much. ``tally`` (r + 2,): the number of keys of each requirement, whether they are counted yet, and what was gained so far. The tables
    of ``joint`` hold the counts between two calls.
    """
    requirements = _counted(key, hidden, records, parts, view.settled.tolist(), tally, joint)
    present = np.zeros(len(line), np.int64)
    for column, field in enumerate(joint.field.tolist()):
        present |= ((key[line] & np.uint64(field)) != 0).astype(np.int64) << column
    work = _Work(key, hidden, records, origin, dear, parts, line, view, joint, requirements, key[line], reach, present)
    for chosen, bits in enumerate(view.bits.tolist()):
        for shown, group in work.groups(chosen).items():
            tally[-1] += work.regroup(group, shown, bits)
    tally[-2] = 1
    for which, one in enumerate(requirements):
        known = len(one.totals)
        tally[which], joint.residual[which] = known, one.residual
        joint.table[which, :known] = list(one.totals)
        joint.totals[which, :known] = list(one.totals.values())
    return work.parts
