"""The words of a ledger that refuses: what is left, who spent it, what would fit.

Codes of what a ledger refuses; append-only. They end a command with exit code 4, since nothing may be spent.

What only asks for something that cannot be done ends with 2: L101, L125, and L124 where the ledger has no owners at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.errors import BudgetError
from privrelease.units import Delta, Epsilon

if TYPE_CHECKING:
    from collections.abc import Iterable

    from privrelease.dp.budget import Budget

__all__ = ["budget_words", "left_of", "too_much"]


_NAMED = 5


def budget_words(budget: Budget) -> str:
    """Return a budget in words.

    >>> from privrelease.dp.budget import Budget
    >>> budget_words(Budget(Epsilon("0.4"), Delta("1e-5"))), budget_words(Budget(Epsilon("0.4")))
    ('epsilon 0.4 and delta 0.00001', 'epsilon 0.4')
    """
    return f"epsilon {budget.epsilon}" + (f" and delta {budget.delta}" if budget.delta.value else "")


def left_of(cap: Budget, spent: Budget) -> Budget:
    """Return what is left, never below 0.

    >>> from privrelease.dp.budget import Budget
    >>> left_of(Budget(Epsilon(1), Delta("1e-5")), Budget(Epsilon("0.6"))).epsilon
    Epsilon(value=Fraction(2, 5))
    """
    return type(cap)(
        Epsilon(max(cap.epsilon.value - spent.epsilon.value, cap.epsilon.value * 0)),
        Delta(max(cap.delta.value - spent.delta.value, cap.delta.value * 0)),
    )


def too_much(
    *,
    whose: str,
    asked: Budget,
    release: str,
    cap: Budget,
    spent: Budget,
    spenders: Iterable[tuple[str, Budget]],
    stricter: str,
) -> BudgetError:
    """Return the refusal of a claim that does not fit. ``stricter``: whose cap it is that stops it."""
    left = left_of(cap, spent)
    by: dict[str, Budget] = {}
    for name, budget in spenders:
        by[name] = by[name] + budget if name in by else budget
    most = sorted(by.items(), key=lambda item: (-item[1].epsilon.value, item[0]))
    who = "; ".join(f"{name} {budget_words(budget)}" for name, budget in most[:_NAMED])
    more = f"; and {len(most) - _NAMED} more" if len(most) > _NAMED else ""
    fits = f"at most epsilon {left.epsilon} and delta {left.delta}" if left.epsilon.value else "nothing: no epsilon is left"
    return BudgetError(
        code="L120",
        message=f"the privacy budget of {whose} does not cover release {release}: it asks for {budget_words(asked)}; of {stricter} cap, "
        f"{budget_words(cap)}, there are epsilon {left.epsilon} and delta {left.delta} left",
        hint=f"spent by: {who or 'no one yet'}{more}. What would fit: {fits}. Where the dataset names a `snapshot`, answers already stored for it and the same policy stay free",
    )
