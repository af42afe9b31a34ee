"""Several requirements at once: give back cells that turned out not to be needed.

Settling one requirement after another takes more than needed: a cell that was taken for the first may no longer matter once the
second has taken others. Records are looked at one part after the other; those that can join, with fewer cells missing, a class that
is open in every requirement that sees the difference, do so, if the classes they leave stay large enough or vanish. Joining never
adds a class and never exposes a record, so whatever held before holds after.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from privrelease.disclosure.suppression.arrays import pack
from privrelease.disclosure.suppression.record_search import MOST_COLUMNS, hide_rare_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from privrelease.disclosure.suppression.arrays import Joint
    from privrelease.disclosure.suppression.cell_costs import CellCosts
    from privrelease.disclosure.suppression.partition import Parts
    from privrelease.disclosure.suppression.problem import Requirement
    from privrelease.disclosure.suppression.target import Target

__all__ = ["restore_jointly"]

_ROUNDS = 3
_MOST_SLOTS = 1 << 23  # 128 MiB of counts; beyond, what was taken stays taken


def restore_jointly(
    parts: Parts, requirements: Sequence[Requirement], targets: Sequence[Target], costs: CellCosts, *, drops: bool
) -> bool:
    """Give cells of ``parts`` back where all ``requirements`` stay met; return whether any came back.

    All must hold beforehand, count plain records, and have the prosecutor as attacker. ``drops``: a residual group must not become
    smaller than the class size. Tables whose keys do not fit 64 bits, or whose
    counts would not fit 128 MiB, are left as they are.
    """
    seen = np.array(sorted({column for requirement in requirements for column in requirement.columns}), np.int64)
    live = np.flatnonzero(~parts.dropped)
    codes = np.column_stack([_showable(parts, int(column), requirements, targets) for column in seen])
    packed, field = pack(codes)
    slots = 1 << max(4, (2 * len(live)).bit_length())
    if len(packed) > 1 or len(seen) > MOST_COLUMNS or not len(live) or slots * len(requirements) > _MOST_SLOTS:
        return False
    from privrelease.disclosure.suppression.kernels import restore_cells

    room = 2 * len(live)
    key, hidden, records, origin = np.zeros(room, np.uint64), *(np.zeros(room, np.int64) for _ in range(3))
    key[: len(live)] = packed[0][parts.class_index[live]]
    # A value too rare to be shown stays hidden: its field is 0, and so it is no cell that could come back.
    for place, column in enumerate(seen):
        returnable = parts.suppressed[live, column] & (codes[parts.class_index[live], place] > 0)
        hidden[: len(live)] |= returnable.astype(np.int64) << place
    records[: len(live)] = parts.records[live]
    origin[: len(live)] = np.arange(len(live))
    cell_cost = costs.of_classes(parts.table, tuple(seen.tolist()), parts.class_index[live])
    joint = _joint(requirements, targets, seen, field[0], cell_cost, slots, drops=drops)
    used = len(live)
    taken = hidden[:used].copy()
    for _ in range(_ROUNDS):
        before = hidden[:used].copy()
        used = restore_cells(key, hidden, records, origin, used, joint)
        if np.array_equal(before, hidden[: len(before)]):
            break
    if np.array_equal(taken, hidden[: len(taken)]):
        return False
    given = np.zeros((used, parts.suppressed.shape[1]), np.bool_)
    back = taken[origin[:used]] & ~hidden[:used]
    origin = live[origin[:used]]
    for place, column in enumerate(seen):
        given[:, column] = (back >> place & 1) > 0
    stay = np.flatnonzero(parts.dropped)
    parts.set(
        np.concatenate([parts.class_index[stay], parts.class_index[origin]]),
        np.concatenate([parts.records[stay], records[:used]]),
        np.concatenate([parts.suppressed[stay], parts.suppressed.take(origin, axis=0) & ~given]),
        np.concatenate([parts.dropped[stay], parts.dropped[origin]]),
    )
    return True


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
    from privrelease.disclosure.suppression.arrays import Joint

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
