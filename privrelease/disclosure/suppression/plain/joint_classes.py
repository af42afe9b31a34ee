"""Several requirements at once: how many records agree in each, and which of them may change what they show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.disclosure.suppression.plain.keys import cell_cost
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from privrelease.disclosure.suppression.arrays import Counts, Joint, Keys

__all__ = ["JointRequirement", "count_jointly", "joint_requirements", "movable"]


@dataclass(slots=True)
class JointRequirement:
    """One requirement: its key bits, class sizes, and the sizes that a class and the residual group may not fall below."""

    field: int
    need: int
    safe: int
    residual_least: int
    residual: int
    totals: dict[int, int]
    #: Whether the class that records join may still be too small.
    settled: bool = False

    def lets_go(self, before: int, after: int, count: int) -> int:
        """Return how many of ``count`` records may change their key, as far as this requirement goes."""
        old, new = before & self.field, after & self.field
        if old == new:
            return count
        if new == 0 or (not self.settled and self.totals.get(new, 0) < self.safe):
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
            self.add(new, count)
            self.add(old, -count)

    def add(self, key: int, count: int) -> None:
        """Count records of ``key``, masked already."""
        if key:
            self.totals[key] = self.totals.get(key, 0) + count
        else:
            self.residual += count


def movable(before: int, after: int, count: int, requirements: list[JointRequirement]) -> int:
    """Return how many of ``count`` records may change their key so that every requirement that held still holds.

    Where one lets fewer go, the others are asked again, since they may have counted on theirs being emptied.
    """
    while count > 0:
        allowed = max(0, min(one.lets_go(before, after, count) for one in requirements))
        if allowed == count:
            return count
        count = allowed
    return 0


def joint_requirements(joint: Joint) -> list[JointRequirement]:
    """Return the requirements, nothing counted."""
    sizes = zip(joint.fields.tolist(), joint.need.tolist(), joint.safe.tolist(), joint.residual_least.tolist(), strict=True)
    return [JointRequirement(field, need, safe, least, 0, {}) for field, need, safe, least in sizes]


def count_jointly(
    key: Keys, hidden: Counts, records: Counts, parts: int, joint: Joint, requirements: list[JointRequirement]
) -> list[int]:
    """Count the classes of every requirement; return the key that each part shows."""
    fields = joint.field.tolist()
    # Fields of different columns share no bit, so their sum is their union.
    shown = [own & ~cell_cost(mask, fields) for own, mask in zip(key[:parts].tolist(), hidden[:parts].tolist(), strict=True)]
    for before, count in zip(shown, records[:parts].tolist(), strict=True):
        for one in requirements:
            one.add(before & one.field, count)
    return shown
