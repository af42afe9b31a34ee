"""Visibility of figures to readers.

A recipient holds the released file and can count in it; the source, and what was removed between the two, they do not hold. So
figures of the source are internal. A figure of the released file is for recipients where no count behind it is small: every
count is 0 or at least ``minimum`` (the class size that the threat demands, else the largest that any threat of the policy
does), and so is its complement.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.audit.figure_model import Figure, Visibility
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable
    from fractions import Fraction

    from privrelease.plan.model import ThreatPlan

__all__ = ["DEFAULT_MINIMUM", "Audience", "count", "minimum_of"]

#: The smallest count shown to recipients where no threat demands a class size.
DEFAULT_MINIMUM = 10


def minimum_of(threats: Iterable[ThreatPlan]) -> int:
    """Return the smallest count that a recipient may see: the largest k of the threats, 10 where none demands one above 1.

    >>> minimum_of(())
    10
    """
    largest = max((threat.thresholds.k for threat in threats), default=1)
    return largest if largest > 1 else DEFAULT_MINIMUM


def count(amount: int, visibility: Visibility = Visibility.INTERNAL) -> Figure:
    """Make a count; internal unless said otherwise.

    >>> count(3).visibility.value
    'internal'
    """
    return Figure.of(amount, "count", visibility)


@dataclass(frozen=True, slots=True)
class Audience:
    """Decides visibility by counts. ``minimum`` None: everything is internal (figures of the source).

    >>> [Audience(5).of(amount, 20).value for amount in (0, 3, 5, 18, 20)]
    ['recipient', 'internal', 'recipient', 'internal', 'recipient']
    >>> Audience(None).of(0).value
    'internal'
    """

    minimum: int | None

    def of(self, amount: int, total: int | None = None) -> Visibility:
        """Give the visibility of a count, and of its complement in ``total``."""
        if self.minimum is None:
            return Visibility.INTERNAL
        rest = 0 if total is None else total - amount
        small = any(0 < part < self.minimum for part in (amount, rest))
        return Visibility.INTERNAL if small else Visibility.RECIPIENT

    def all_of(self, amounts: Iterable[int], total: int | None = None) -> Visibility:
        """Give one visibility to several counts that sum up: one that is hidden alone could be worked out from the others."""
        hidden = self.minimum is None or any(self.of(amount, total) is Visibility.INTERNAL for amount in amounts)
        return Visibility.INTERNAL if hidden else Visibility.RECIPIENT

    def count(self, amount: int, total: int | None = None) -> Figure:
        """Make a count that is shown as its size allows."""
        return Figure.of(amount, "count", self.of(amount, total))

    def share(self, amount: int, total: int, value: Fraction | None) -> Figure:
        """Make a share ``value`` of ``total`` that is shown as the count behind it allows."""
        return Figure.of(value, "share", self.of(amount, total))
