"""Several requirements at once: cells given back where records can join classes that are open in all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.disclosure.suppression.plain.keys import cell_cost
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from privrelease.disclosure.suppression.arrays import Counts, Joint, Keys

__all__ = ["restore_cells"]

_MOST_TRIES = 512


@dataclass(slots=True)
class _Requirement:
    """One requirement: its key bits, class sizes, and the sizes that a class and the residual group may not fall below."""

    field: int
    need: int
    safe: int
    residual_least: int
    residual: int
    totals: dict[int, int]

    def lets_go(self, before: int, after: int, count: int) -> int:
        """Return how many of ``count`` records may change their key, as far as this requirement goes."""
        old, new = before & self.field, after & self.field
        if old == new:
            return count
        if self.totals.get(new, 0) < self.safe:
            return 0
        size, least = self.residual, self.residual_least
        if old:
            size = self.totals[old]
            least = self.safe if size >= self.safe else self.need
        return count if count == size else min(count, size - least)

    def move(self, before: int, after: int, count: int) -> None:
        """Count ``count`` records under their new key."""
        old, new = before & self.field, after & self.field
        if old != new:
            self.totals[new] += count
            self.add(old, -count)

    def add(self, key: int, count: int) -> None:
        """Count records of ``key``, masked already."""
        if key:
            self.totals[key] = self.totals.get(key, 0) + count
        else:
            self.residual += count


def _movable(before: int, after: int, count: int, requirements: list[_Requirement]) -> int:
    """Return how many of ``count`` records may change their key so that every requirement that held still holds.

    Where one lets fewer go, the others are asked again, since they may have counted on theirs being emptied.
    """
    while count > 0:
        allowed = max(0, min(one.lets_go(before, after, count) for one in requirements))
        if allowed == count:
            return count
        count = allowed
    return 0


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
    sizes = zip(joint.fields.tolist(), joint.need.tolist(), joint.safe.tolist(), joint.residual_least.tolist(), strict=True)
    requirements = [_Requirement(field, need, safe, least, 0, {}) for field, need, safe, least in sizes]
    fields, costs = joint.field.tolist(), joint.cell_cost.tolist()
    # Fields of different columns share no bit, so their sum is their union.
    shown = [own & ~cell_cost(mask, fields) for own, mask in zip(key[:parts].tolist(), hidden[:parts].tolist(), strict=True)]
    for before, count in zip(shown, records[:parts].tolist(), strict=True):
        for one in requirements:
            one.add(before & one.field, count)
    for part in range(parts):
        mask, count = int(hidden[part]), int(records[part])
        whole, before = int(key[part]), shown[part]
        best, most = mask, 0
        for left in _subsets(mask):
            saved = cell_cost(mask & ~left, costs[int(origin[part]) if len(costs) > 1 else 0])
            if saved > most and _movable(before, whole & ~cell_cost(left, fields), count, requirements) > 0:
                best, most = left, saved
        if most == 0:
            continue
        after = whole & ~cell_cost(best, fields)
        moved = _movable(before, after, count, requirements)
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
