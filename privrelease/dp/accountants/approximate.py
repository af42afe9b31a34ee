"""Approximate accountant: basic composition, epsilons add and deltas add, exactly. What a ledger adds up across releases.

A Gaussian counts with the (epsilon, delta) that was charged for it (:class:`~privrelease.dp.accountants.events.Charged`); without a
charge it has no single one, and is refused. In parallel: the sums of the ``parts`` largest epsilons and of the ``parts`` largest deltas.
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

__all__ = ["ApproximateAccountant"]


@dataclass(frozen=True, slots=True)
class ApproximateAccountant(Accountant):
    """Exact total epsilon and total delta (which stays 1 once it gets there).

    >>> total = ApproximateAccountant().compose(Approximate(Fraction("0.1"), Fraction("1e-7")), 10)
    >>> str(total.spent_epsilon), str(total.spent_delta)
    ('1', '0.000001')
    """

    name: ClassVar[str] = "approximate"

    spent_epsilon: Epsilon = field(default_factory=lambda: Epsilon(0))
    spent_delta: Delta = field(default_factory=lambda: Delta(0))

    @classmethod
    def supports(cls, event: Event) -> bool:
        """No Gaussian noise without a charge."""
        if isinstance(event, Together | Parallel):
            return all(cls.supports(inner) for inner in event.events)
        return not isinstance(event, GaussianNoise)

    def _composed(self, event: Event, times: int) -> Self:
        epsilon, delta = _cost(event)
        return type(self)(
            Epsilon(self.spent_epsilon.value + times * epsilon),
            Delta(min(Fraction(1), self.spent_delta.value + times * delta)),
        )

    def epsilon(self, delta: Delta) -> Epsilon | None:
        """Return the total epsilon where ``delta`` covers the total delta."""
        return self.spent_epsilon if delta.value >= self.spent_delta.value else None

    def delta(self, epsilon: Epsilon) -> Delta:
        """Return the total delta from the total epsilon on, 1 below."""
        return self.spent_delta if epsilon.value >= self.spent_epsilon.value else Delta(1)


def _cost(event: Event) -> tuple[Fraction, Fraction]:
    if isinstance(event, Charged | Approximate):
        return event.epsilon, event.delta
    if isinstance(event, Pure | BoundedRange):
        return event.epsilon, Fraction(0)
    if isinstance(event, LaplaceNoise):
        return Fraction(event.sensitivity.l1) / event.scale, Fraction(0)
    if isinstance(event, Together | Parallel):
        costs = [_cost(inner) for inner in event.events]
        counted = event.parts if isinstance(event, Parallel) else len(costs)
        epsilons = sorted((epsilon for epsilon, _ in costs), reverse=True)[:counted]
        deltas = sorted((delta for _, delta in costs), reverse=True)[:counted]
        return sum(epsilons, Fraction(0)), sum(deltas, Fraction(0))
    raise AssertionError  # supports() has refused it
