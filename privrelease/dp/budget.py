"""Budgets and their exact split between the queries of a release.

``epsilon`` on a query is what that query gets; the others share what is left by their ``share`` (1 where none is written). Fractions
throughout: the parts add up to at most the budget, never to a rounding above it, and thirds of 1 are exactly 1 together.
"""

from __future__ import annotations

from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING

from privrelease.dp.rules import check_delta, check_epsilon, refuse, refuse_any
from privrelease.units import Delta, Epsilon
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Budget", "Request", "split", "total"]


@dataclass(frozen=True, slots=True)
class Budget:
    """The epsilon and delta that may be, or were, spent.

    >>> Budget(Epsilon("0.1")) + Budget(Epsilon("0.2"), Delta("1e-6")) == Budget(Epsilon("0.3"), Delta("1e-6"))
    True
    """

    epsilon: Epsilon
    delta: Delta = field(default_factory=lambda: Delta(0))

    def __add__(self, other: Budget) -> Budget:
        return Budget(self.epsilon + other.epsilon, Delta(min(Fraction(1), self.delta.value + other.delta.value)))

    def fits(self, cap: Budget) -> bool:
        """Return True if both numbers are at most those of the cap."""
        return self.epsilon.value <= cap.epsilon.value and self.delta.value <= cap.delta.value

    def divided(self, parts: int) -> Budget:
        """Return one of ``parts`` equal parts."""
        return Budget(Epsilon(self.epsilon.value / parts), Delta(self.delta.value / parts))


@dataclass(frozen=True, slots=True)
class Request:
    """The request of a query to the budget: ``epsilon``, else a ``share``; ``needs_delta``: Gaussian noise or private keys."""

    query: str
    epsilon: Epsilon | None = None
    share: Fraction | None = None
    needs_delta: bool = False
    delta: Delta | None = None


def total(budgets: Iterable[Budget]) -> Budget:
    """Return the sum."""
    result = Budget(Epsilon(0))
    for budget in budgets:
        result = result + budget
    return result


def split(whole: Budget, requests: Sequence[Request], unit: Fraction | None = None) -> tuple[Budget, ...]:
    """Return the budget of each query; raises PolicyError where the parts cannot fit the whole.

    ``unit``: the epsilon of a share of 1, for whoever adds the parts up by another rule than by their sum; whether they fit is theirs to see.

    >>> parts = split(Budget(Epsilon(1)), [Request("a", Epsilon("0.4")), Request("b"), Request("c", share=Fraction(2))])
    >>> [str(part.epsilon) for part in parts]
    ['0.4', '0.2', '0.4']
    """
    refuse_any(check_epsilon(whole.epsilon, subject="budget.epsilon"))
    for request in requests:
        if request.epsilon is not None and request.share is not None:
            refuse(
                "DP106", f"query {request.query} has an epsilon and a share", hint="write one of them", subject=request.query
            )
        if request.share is not None and request.share <= 0:
            refuse(
                "DP106",
                f"the share of query {request.query} must be above 0",
                hint="write e.g. share: 2",
                subject=request.query,
            )
    fixed = [request.epsilon.value if request.epsilon is not None else None for request in requests]
    shares = [request.share or Fraction(1) for request in requests]
    epsilons = (
        _divide(whole.epsilon.value, fixed, shares, "epsilon")
        if unit is None
        else [unit * share if part is None else part for part, share in zip(fixed, shares, strict=True)]
    )
    asking = [request for request in requests if request.needs_delta]
    if asking:
        refuse_any(check_delta(whole.delta, needed_by="gaussian", subject="budget.delta"))
    deltas = iter(
        _divide(
            whole.delta.value,
            [request.delta.value if request.delta is not None else None for request in asking],
            [request.share or Fraction(1) for request in asking],
            "delta",
        )
    )
    budgets = tuple(
        Budget(Epsilon(epsilon), Delta(next(deltas) if request.needs_delta else 0))
        for request, epsilon in zip(requests, epsilons, strict=True)
    )
    for request, budget in zip(requests, budgets, strict=True):
        refuse_any(check_epsilon(budget.epsilon, subject=request.query))
        if request.needs_delta:
            refuse_any(check_delta(budget.delta, needed_by="gaussian", subject=request.query))
    return budgets


def _divide(whole: Fraction, fixed: list[Fraction | None], shares: list[Fraction], unit: str) -> list[Fraction]:
    """Return the fixed parts, and of the rest each one's share."""
    left = whole - sum((part for part in fixed if part is not None), Fraction(0))
    weight = sum((share for part, share in zip(fixed, shares, strict=True) if part is None), Fraction(0))
    if left < 0 or (weight and left == 0):
        message = f"the queries ask for more {unit} than the release's budget holds"
        refuse("DP105", message, hint=f"raise the budget's {unit}, or lower that of a query", subject=f"budget.{unit}")
    return [part if part is not None else left * share / weight for part, share in zip(fixed, shares, strict=True)]
