"""Pure accountant: epsilons add, exactly.

Sequential composition adds; in parallel, the sum of the ``parts`` largest (Dwork and others 2006; McSherry 2009).
"""

from __future__ import annotations

from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Self

from privrelease.dp.accountants.events import (
    Approximate,
    BoundedRange,
    Charged,
    GaussianNoise,
    LaplaceNoise,
    Parallel,
    Pure,
    Together,
)
from privrelease.dp.accountants.protocol import Accountant
from privrelease.units import Delta, Epsilon
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from privrelease.dp.accountants.events import Event

__all__ = ["PureAccountant"]


@dataclass(frozen=True, slots=True)
class PureAccountant(Accountant):
    """Exact total epsilon; no delta anywhere.

    >>> tenth = Pure(Fraction("0.1"))
    >>> PureAccountant().compose(tenth, 10).spent == Epsilon(1)
    True
    """

    name: ClassVar[str] = "pure"

    spent: Epsilon = field(default_factory=lambda: Epsilon(0))

    @classmethod
    def supports(cls, event: Event) -> bool:
        """No Gaussian noise and no delta inside."""
        if isinstance(event, Together | Parallel):
            return all(cls.supports(inner) for inner in event.events)
        if isinstance(event, Charged | Approximate):
            return event.delta == 0
        return not isinstance(event, GaussianNoise)

    def _composed(self, event: Event, times: int) -> Self:
        return type(self)(Epsilon(self.spent.value + times * _cost(event)))

    def epsilon(self, delta: Delta) -> Epsilon:  # noqa: ARG002 - the same at every delta
        """Return the total."""
        return self.spent

    def delta(self, epsilon: Epsilon) -> Delta:
        """Return 0 from the total on, 1 below."""
        return Delta(0 if epsilon.value >= self.spent.value else 1)


def _cost(event: Event) -> Fraction:
    if isinstance(event, Pure | Approximate | BoundedRange | Charged):
        return event.epsilon
    if isinstance(event, LaplaceNoise):
        return Fraction(event.sensitivity.l1) / event.scale
    if isinstance(event, Together):
        return sum((_cost(inner) for inner in event.events), Fraction(0))
    if isinstance(event, Parallel):
        return sum(sorted((_cost(inner) for inner in event.events), reverse=True)[: event.parts], Fraction(0))
    raise AssertionError  # supports() has refused it
