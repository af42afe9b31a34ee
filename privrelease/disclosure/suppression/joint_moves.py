"""Several requirements at once: give back cells that turned out not to be needed, and let groups of records lose fewer.

Settling one requirement after another takes more than needed: a cell that was taken for the first may no longer matter once the
second has taken others. Two moves repair that, and neither undoes what holds.

*Restoring*: records are looked at one part after the other; those that can join, with fewer cells missing, a class
that is open in every requirement that sees the difference, do so, if the classes they leave stay large enough or vanish. Joining never
adds a class and never exposes a record, so whatever held before holds after.

*Regrouping*: under every set of the columns of one requirement, and then of all, records fall into groups. A group whose records together
lose fewer cells under the set moves, with donors where its class would be too small, as groups are completed in a search for one requirement.
Here a class may open, in requirements that limit the highest risk alone. What loses no fewer cells is put back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from privrelease.disclosure.suppression.arrays import Joint, View, kept_bits, pack
from privrelease.disclosure.suppression.candidate_sets import candidate_sets
from privrelease.disclosure.suppression.record_search import MOST_COLUMNS, hide_rare_values
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from privrelease.disclosure.suppression.arrays import Counts, Keys
    from privrelease.disclosure.suppression.cell_costs import CellCosts
    from privrelease.disclosure.suppression.partition import Parts
    from privrelease.disclosure.suppression.problem import Requirement
    from privrelease.disclosure.suppression.target import Target

__all__ = ["regroup_jointly", "restore_jointly"]

_ROUNDS = 3
_WORTH = 100  # another round of regrouping follows one that gained at least one in so many of all lost cells
_MOST_SLOTS = 1 << 23  # 128 MiB of counts; beyond, what was taken stays taken


def restore_jointly(
    parts: Parts, requirements: Sequence[Requirement], targets: Sequence[Target], costs: CellCosts, *, drops: bool
) -> bool:
    """Give cells of ``parts`` back where all ``requirements`` stay met; return whether any came back.

    All must hold beforehand, count plain records, and have the prosecutor as attacker. ``drops``: a residual group must not become
    smaller than the class size. Tables whose keys do not fit 64 bits, or whose
    counts would not fit 128 MiB, are left as they are.
    """
    work = _Work.of(parts, requirements, targets, costs, drops=drops)
    if work is None:
        return False
    from privrelease.disclosure.suppression.kernels import restore_cells

    taken = work.hidden[: work.used].copy()
    for _ in range(_ROUNDS):
        before = work.hidden[: work.used].copy()
        work.used = restore_cells(work.key, work.hidden, work.records, work.origin, work.used, work.joint)
        if np.array_equal(before, work.hidden[: len(before)]):
            break
    if np.array_equal(taken, work.hidden[: len(taken)]):
        return False
    work.write_back()
    return True


def regroup_jointly(
    parts: Parts, requirements: Sequence[Requirement], targets: Sequence[Target], costs: CellCosts, *, drops: bool
) -> bool:
    """Let groups of records of ``parts`` lose fewer cells where all ``requirements`` stay met; return whether any do.

    As for :func:`restore_jointly`; what is lost then costs less than before.
    """
    work = _Work.of(parts, requirements, targets, costs, drops=drops)
    if work is None:
        return False
    from privrelease.disclosure.suppression.kernels import regroup_cells

    tally = np.zeros(len(requirements) + 2, np.int64)
    total = int((work.dear(work.seen) * work.records).sum())
    views = [work.view(columns, requirements, targets) for columns in _views(requirements)]
    for _ in range(_ROUNDS):
        gained = int(tally[-1])
        for columns, view in views:
            dear = work.dear(columns)
            # A cell that the source lacks, or that is too rare, is in no set's cost for its record.
            reach = (dear + work.dear(columns, absent=True))[: work.used]
            line = np.argsort(-reach, kind="stable")
            work.used = regroup_cells(
                work.key, work.hidden, work.records, work.origin, dear, work.used, line, reach[line], view, tally, work.joint
            )
        if (int(tally[-1]) - gained) * _WORTH < total:
            break
    if not tally[-1]:
        return False
    work.write_back()
    return True


def _views(requirements: Sequence[Requirement]) -> list[tuple[int, ...]]:
    """Return the columns of each requirement, and then those of all; each once, sorted."""
    own = [tuple(sorted(one.columns)) for one in requirements]
    return list(dict.fromkeys([*own, tuple(sorted({column for columns in own for column in columns}))]))


@dataclass(slots=True)
class _Work:
    """Parts that are not dropped, as the loops take them, with room for as many more: packed source ``key``, the columns ``hidden`` that they
    lose (bits, by place among ``seen``), ``records``, ``origin`` among ``live``; ``used`` of them.
    """

    parts: Parts
    seen: NDArray[np.int64]
    codes: NDArray[np.integer[Any]]
    live: NDArray[np.int64]
    key: Keys
    hidden: Counts
    records: Counts
    origin: Counts
    used: int
    joint: Joint

    @classmethod
    def of(
        cls, parts: Parts, requirements: Sequence[Requirement], targets: Sequence[Target], costs: CellCosts, *, drops: bool
    ) -> _Work | None:
        """Pack ``parts``; None where they do not fit."""
        seen = np.array(sorted({column for requirement in requirements for column in requirement.columns}), np.int64)
        live = np.flatnonzero(~parts.dropped)
        codes = np.column_stack([_showable(parts, int(column), requirements, targets) for column in seen])
        packed, field = pack(codes)
        slots = 1 << max(4, (2 * len(live)).bit_length())
        if len(packed) > 1 or len(seen) > MOST_COLUMNS or not len(live) or slots * len(requirements) > _MOST_SLOTS:
            return None
        room, used = 2 * len(live), len(live)
        key, hidden, records, origin = np.zeros(room, np.uint64), *(np.zeros(room, np.int64) for _ in range(3))
        key[:used] = packed[0][parts.class_index[live]]
        # A value too rare to be shown stays hidden: its field is 0, and so it is no cell that could come back.
        for place, column in enumerate(seen):
            returnable = parts.suppressed[live, column] & (codes[parts.class_index[live], place] > 0)
            hidden[:used] |= returnable.astype(np.int64) << place
        records[:used] = parts.records[live]
        origin[:used] = np.arange(used)
        cell_cost = costs.of_classes(parts.table, tuple(seen.tolist()), parts.class_index[live])
        joint = _joint(requirements, targets, seen, field[0], cell_cost, slots, drops=drops)
        return cls(parts, seen, codes, live, key, hidden, records, origin, used, joint)

    def dear(self, columns: Sequence[int] | NDArray[np.int64], *, absent: bool = False) -> Counts:
        """Return what a record of each part loses of ``columns``, (room,); ``absent``: what it would lose with those that it cannot show."""
        cost, total = self.joint.cell_cost, np.zeros(len(self.hidden), np.int64)
        for place in np.searchsorted(self.seen, np.array(columns)).tolist():
            counted = self.key & self.joint.field[place] == 0 if absent else self.hidden >> place & 1
            total += counted * (cost[0, place] if len(cost) == 1 else cost[self.origin, place])
        return total

    def view(
        self, columns: tuple[int, ...], requirements: Sequence[Requirement], targets: Sequence[Target]
    ) -> tuple[tuple[int, ...], View]:
        """Return ``columns`` and how they are seen: their sets, cheapest first, but the one of all of them."""
        places = np.searchsorted(self.seen, np.array(columns))
        mean = self.joint.cell_cost.mean(axis=0)[places].astype(np.int64).tolist()
        shown = self.codes[self.parts.class_index[self.live]][:, places]
        sets, nominal = candidate_sets(shown, tuple(mean))
        bit = np.int64(1) << places.astype(np.int64)
        opens = [target.average is None and target.share is None for target in targets]
        return columns, View(
            int(bit.sum()),
            np.bitwise_or.reduce(self.joint.field[places], keepdims=True),
            kept_bits(self.joint.field[None, places], sets[:-1])[0],
            (sets[:-1] * bit).sum(axis=1).astype(np.int64),
            nominal[:-1],
            np.array(
                [own and set(one.columns) <= set(columns) for own, one in zip(opens, requirements, strict=True)], np.int64
            ),
        )

    def write_back(self) -> None:
        """Let the parts lose what they lose here."""
        parts, origin = self.parts, self.live[self.origin[: self.used]]
        suppressed = parts.suppressed.take(origin, axis=0)
        for place, column in enumerate(self.seen):
            suppressed[:, column] &= self.codes[parts.class_index[origin], place] == 0
            suppressed[:, column] |= (self.hidden[: self.used] >> place & 1) > 0
        stay = np.flatnonzero(parts.dropped)
        parts.set(
            np.concatenate([parts.class_index[stay], parts.class_index[origin]]),
            np.concatenate([parts.records[stay], self.records[: self.used]]),
            np.concatenate([parts.suppressed[stay], suppressed]),
            np.concatenate([parts.dropped[stay], parts.dropped[origin]]),
        )


def _showable(
    parts: Parts, column: int, requirements: Sequence[Requirement], targets: Sequence[Target]
) -> NDArray[np.integer[Any]]:
    """Return a column's codes with values that are too rare for a requirement that sees it set to 0: they are shown nowhere."""
    need = max(target.need for one, target in zip(requirements, targets, strict=True) if column in one.columns)
    return hide_rare_values(parts.table.codes[:, [column]], parts.table.counts, need)[:, 0]


def _joint(
    requirements: Sequence[Requirement],
    targets: Sequence[Target],
    seen: NDArray[np.int64],
    field: NDArray[np.uint64],
    cell_cost: NDArray[np.int64],
    slots: int,
    *,
    drops: bool,
) -> Joint:
    own = [field[np.searchsorted(seen, np.array(one.columns))] for one in requirements]
    size = (len(requirements), slots)
    return Joint(
        fields=np.array([np.bitwise_or.reduce(fields) for fields in own], np.uint64),
        table=np.zeros(size, np.uint64),
        totals=np.zeros(size, np.int64),
        need=np.array([target.need for target in targets], np.int64),
        safe=np.array([target.need if target.share is None else max(target.need, target.safe) for target in targets], np.int64),
        residual_least=np.array([target.need if drops else 0 for target in targets], np.int64),
        residual=np.zeros(len(requirements), np.int64),
        field=field,
        cell_cost=cell_cost,
    )
