"""zCDP accountant: rhos add, exactly, and convert to (epsilon, delta) by the formula of :mod:`privrelease.dp.conversion`.

Gaussian noise of sigma squared s2 on a vector of squared L2 sensitivity D2 is (D2 / (2 s2))-zCDP; an epsilon-DP mechanism is
(epsilon^2/2)-zCDP (Bun and Steinke 2016), an epsilon-bounded-range one (epsilon^2/8)-zCDP (Cesar and Rogers 2021).
An (epsilon, delta)-DP mechanism is, but for a failure of probability delta, epsilon-DP (Murtagh and Vadhan 2016): failures add to delta.
"""

from __future__ import annotations

from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Self

from privrelease.dp.accountants.events import Approximate, BoundedRange, Charged, GaussianNoise, LaplaceNoise, Parallel, Pure
from privrelease.dp.accountants.protocol import Accountant
from privrelease.dp.conversion import delta_of_rho, epsilon_of_rho
from privrelease.units import Delta, Epsilon, Rho
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from privrelease.dp.accountants.events import Event

__all__ = ["ZcdpAccountant"]


@dataclass(frozen=True, slots=True)
class ZcdpAccountant(Accountant):
    """Exact total rho and total failure probability.

    >>> from privrelease.dp.sensitivity import Sensitivity
    >>> ZcdpAccountant().compose(GaussianNoise(Fraction(50), Sensitivity.of_one_number(1)), 2).rho == Rho("0.02")
    True
    """

    name: ClassVar[str] = "zcdp"

    rho: Rho = field(default_factory=lambda: Rho(0))
    failure: Delta = field(default_factory=lambda: Delta(0))

    @classmethod
    def supports(cls, event: Event) -> bool:  # noqa: ARG003 - there is a bound for every event
        """Return True: every event has a bound."""
        return True

    def _composed(self, event: Event, times: int) -> Self:
        rho, failure = _cost(event)
        return type(self)(Rho(self.rho.value + times * rho), Delta(min(Fraction(1), self.failure.value + times * failure)))

    def epsilon(self, delta: Delta) -> Epsilon | None:
        """Return the converted epsilon at what failures leave of ``delta``."""
        left = delta.value - self.failure.value
        if self.rho.value == 0 and left >= 0:
            return Epsilon(0)
        return Epsilon(epsilon_of_rho(self.rho.value, left)) if left > 0 else None

    def delta(self, epsilon: Epsilon) -> Delta:
        """Return the converted delta plus the failures."""
        return Delta(min(Fraction(1), delta_of_rho(self.rho.value, epsilon.value) + self.failure.value))


def _cost(event: Event) -> tuple[Fraction, Fraction]:
    """Return (rho, failure)."""
    if isinstance(event, GaussianNoise):
        return Fraction(event.sensitivity.l2_squared) / (2 * event.scale), Fraction(0)
    if isinstance(event, LaplaceNoise):
        return (Fraction(event.sensitivity.l1) / event.scale) ** 2 / 2, Fraction(0)
    if isinstance(event, Pure | BoundedRange):
        return event.epsilon**2 / (8 if isinstance(event, BoundedRange) else 2), Fraction(0)
    if isinstance(event, Approximate):
        return event.epsilon**2 / 2, event.delta
    if isinstance(event, Charged):
        return _cost(event.event)
    costs = [_cost(inner) for inner in event.events]
    counted = event.parts if isinstance(event, Parallel) else len(costs)
    rhos = sorted((rho for rho, _ in costs), reverse=True)[:counted]
    failures = sorted((failure for _, failure in costs), reverse=True)[:counted]
    return sum(rhos, Fraction(0)), sum(failures, Fraction(0))
