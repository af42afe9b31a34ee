"""The aim of a search: thresholds turned into class sizes, exactly."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING

from privrelease.disclosure.risk.thresholds import smallest_class_for
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from privrelease.disclosure.risk.thresholds import Thresholds

__all__ = ["Target"]


@dataclass(frozen=True, slots=True)
class Target:
    """``need``: no class may be smaller. ``average``: J/n at most. ``safe``: records of smaller classes are at risk, ``share``: at most
    that share of them; None where there is no limit.

    >>> from privrelease.disclosure.risk.thresholds import RecordsAtRisk, Thresholds
    >>> Target.of(Thresholds(highest=Fraction("0.5"), at_risk=RecordsAtRisk(Fraction("0.2"), Fraction("0.05"))))
    Target(need=2, average=None, safe=5, share=Fraction(1, 20))
    """

    need: int
    average: Fraction | None = None
    safe: int = 1
    share: Fraction | None = None

    @classmethod
    def of(cls, thresholds: Thresholds) -> Target:
        """Read thresholds. A limit of 1 or more limits nothing; a level or average of 0 asks for more than any class can give."""
        average = thresholds.average
        at_risk = thresholds.at_risk
        return cls(
            need=thresholds.k,
            average=None if average is None or average >= 1 else average,
            safe=1 if at_risk is None else _size_for(at_risk.above),
            share=None if at_risk is None or at_risk.share >= 1 or at_risk.above >= 1 else at_risk.share,
        )

    @property
    def highest_need(self) -> int:
        """The class size that implies every limit: J classes of at least 1/average records are at most average of them all."""
        average = 1 if self.average is None else _size_for(self.average)
        return max(self.need, average, self.safe if self.share is not None else 1)

    def sufficient(self) -> Target:
        """Return a target with one class size for all that implies this one."""
        return Target(need=self.highest_need)

    def excess(self, classes: int, records: int, exposed: int) -> tuple[int, int]:
        """Return how many classes and how many exposed records are too many; not above 0 where the limit holds."""
        return (
            0 if self.average is None else classes - floor(self.average * records),
            0 if self.share is None else exposed - floor(self.share * records),
        )

    def slack(self, classes: int, records: int, exposed: int) -> tuple[int, int]:
        """Return how many more classes and exposed records the limits leave room for; 2^62 where there is no limit."""
        too_many = self.excess(classes, records, exposed)
        return _room(self.average, too_many[0]), _room(self.share, too_many[1])

    def met(self, classes: int, records: int, exposed: int) -> bool:
        """Return whether ``classes`` of ``records`` records, ``exposed`` of them in classes below ``safe``, are within the limits."""
        return max(self.excess(classes, records, exposed)) <= 0


def _room(limit: Fraction | None, too_many: int) -> int:
    return 1 << 62 if limit is None else -too_many


def _size_for(risk: Fraction) -> int:
    return 1 << 40 if risk <= 0 else smallest_class_for(min(risk, Fraction(1)))
