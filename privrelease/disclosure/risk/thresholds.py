"""Thresholds of re-identification risk, exact: ``risk <= threshold`` passes, compared as fractions.

Source: DESIGN semantics 3; prosecutor model as in El Emam, Guide to the De-Identification of Personal Health Information
(2013), chapters 16-18, and Prasser et al., Flexible data anonymization using ARX (2020).
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from fractions import Fraction

__all__ = ["RecordsAtRisk", "Thresholds", "smallest_class_for"]


def smallest_class_for(risk: Fraction) -> int:
    """Return the smallest class size k with 1/k <= ``risk``; ``risk`` in (0, 1].

    >>> from fractions import Fraction
    >>> [smallest_class_for(Fraction(r)) for r in ("0.2", "0.09", "0.33", "1")]
    [5, 12, 4, 1]
    """
    if not 0 < risk <= 1:
        msg = "a risk threshold is in (0, 1]"
        raise ValueError(msg)
    return ceil(1 / risk)


@dataclass(frozen=True, slots=True)
class RecordsAtRisk:
    """At most ``share`` of the records may have a risk above ``above``; a level of its own, independent of the highest risk.

    A record of a class of size f is at risk iff 1/f > above, that is f < 1/above.
    """

    above: Fraction
    share: Fraction


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The limits that one threat tolerates; ``None`` where it sets no limit. All exact fractions.

    >>> from fractions import Fraction
    >>> Thresholds(highest=Fraction("0.2")).k
    5
    """

    highest: Fraction | None = None
    average: Fraction | None = None
    at_risk: RecordsAtRisk | None = None

    @property
    def k(self) -> int:
        """The smallest class that ``highest`` allows; 1 where there is no limit."""
        return 1 if self.highest is None else smallest_class_for(self.highest)
