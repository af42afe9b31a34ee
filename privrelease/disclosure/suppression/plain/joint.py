"""Several requirements at once: cells given back where records can join classes that are open in all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.disclosure.suppression.plain.joint_classes import count_jointly, joint_requirements, movable
from privrelease.disclosure.suppression.plain.keys import cell_cost

if TYPE_CHECKING:
    from privrelease.disclosure.suppression.arrays import Counts, Joint, Keys

__all__ = ["restore_cells"]

_MOST_TRIES = 512


def _subsets(mask: int) -> list[int]:
    """Return the first 512 proper subsets of ``mask``, falling."""
    found: list[int] = []
    left = mask
    while left and len(found) < _MOST_TRIES:
        left = (left - 1) & mask
        found.append(left)
    return found


def restore_cells(key: Keys, hidden: Counts, records: Counts, origin: Counts, parts: int, joint: Joint) -> int:
    """Give cells back where every requirement stays met: records join classes that are open in all of them. Returns the parts then.

    Part p has ``records[p]`` with packed source ``key[p]`` and loses the columns ``hidden[p]``; where only some of its records can
    move they become a part of their own, with the same ``origin``. The arrays have room for more.
    """
    fields, costs = joint.field.tolist(), joint.cell_cost.tolist()
    requirements = joint_requirements(joint)
    shown = count_jointly(key, hidden, records, parts, joint, requirements)
    for part in range(parts):
        mask, count = int(hidden[part]), int(records[part])
        whole, before = int(key[part]), shown[part]
        best, most = mask, 0
        for left in _subsets(mask):
            saved = cell_cost(mask & ~left, costs[int(origin[part]) if len(costs) > 1 else 0])
            if saved > most and movable(before, whole & ~cell_cost(left, fields), count, requirements) > 0:
                best, most = left, saved
        if most == 0:
            continue
        after = whole & ~cell_cost(best, fields)
        moved = movable(before, after, count, requirements)
        if moved < count:
            if parts == len(key):
                continue
            key[parts], hidden[parts], origin[parts], records[parts] = key[part], mask, origin[part], count - moved
            parts += 1
        records[part], hidden[part] = moved, best
        for one in requirements:
            one.move(before, after, moved)
    joint.residual[:] = [one.residual for one in requirements]
    return parts
