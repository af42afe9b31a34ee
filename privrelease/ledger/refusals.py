"""The words of a ledger that refuses: what is left, who spent it, what would fit.

Codes of what a ledger refuses; append-only. They end a command with exit code 4, since nothing may be spent.

What only asks for something that cannot be done ends with 2: L101, L125, and L124 where the ledger has no owners at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.errors import BudgetError
from privrelease.ledger.accounts import unit_words
from privrelease.units import Delta, Epsilon

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from privrelease.dp.budget import Budget
    from privrelease.ledger.entries import Entry

__all__ = [
    "another_content",
    "another_dataset",
    "another_population",
    "budget_words",
    "clock_behind",
    "left_of",
    "no_entries",
    "not_waiting",
    "other_population",
    "other_unit",
    "overdrawn",
    "too_much",
    "unknown_dataset",
    "unknown_population",
]


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


def unknown_population(population: str, known: Iterable[str]) -> BudgetError:
    """Return the refusal of a population that the ledger does not have; ``known``: those that it has."""
    return BudgetError(
        code="L114",
        message=f"the ledger has no budget for population {population}",
        hint=f"it has: {', '.join(sorted(known)) or 'none'}. `privrelease ledger init POLICY` adds a population once; another name does not "
        "give a fresh budget",
    )


def unknown_dataset(dataset: str, population: str) -> BudgetError:
    """Return the refusal of a dataset that the ledger does not have."""
    return BudgetError(
        code="L114",
        message=f"the ledger does not know dataset {dataset}",
        hint=f"`privrelease ledger init POLICY` adds it once; it then spends the budget of population {population}",
    )


def other_population(dataset: str, at_home: str, asked: str) -> BudgetError:
    """Return the refusal of a dataset under another population than that which it was added to."""
    return BudgetError(
        code="L115",
        message=f"dataset {dataset} belongs to population {at_home}, and the policy says {asked}",
        hint=f"write `population: {at_home}`: another name does not give a fresh budget",
    )


def other_unit(population: str, release: str, spent: str | None, asked: str) -> BudgetError:
    """Return the refusal of a claim under another unit than that which the population is charged for."""
    return BudgetError(
        code="L133",
        message=f"population {population} spends its budget for {unit_words(spent)}, and release {release} asks for "
        f"{unit_words(asked)}: what protects one does not add up with what protects the other",
        hint="one population has one unit: declare the same `unit` for every dataset of it, or name another `population`; nothing was spent",
    )


def another_content(dataset: str, snapshot: str) -> BudgetError:
    """Return the refusal of other data under the label of a snapshot."""
    return BudgetError(
        code="L121",
        message=f"snapshot {snapshot} of {dataset} has another content than when it was first used",
        hint="give new data a new `snapshot` label",
    )


def another_population(dataset: str, at_home: str | None) -> BudgetError:
    """Return the refusal of data that was charged before as another population."""
    return BudgetError(
        code="L122",
        message=f"the data of dataset {dataset} has been used before, as population {at_home}",
        hint=f"write `population: {at_home}`: the same persons under another name have no fresh budget",
    )


def another_dataset(dataset: str, known: str, population: str) -> BudgetError:
    """Return the refusal of data that was charged before as another dataset of its population."""
    return BudgetError(
        code="L129",
        message=f"the data of dataset {dataset} has been used before, as dataset {known} of population {population}",
        hint=f"name the dataset {known} in the policy: the same data under another name has no fresh budget; nothing was spent",
    )


def not_waiting(reservation: int) -> BudgetError:
    """Return the refusal of answers for a reservation of another claim, or one that has them."""
    return BudgetError(
        code="L123",
        message=f"reservation {reservation} does not wait for answers",
        hint="answers are stored once, by the run that drew them",
    )


def clock_behind(last: Entry, at: datetime) -> BudgetError:
    """Return the refusal of an entry at a moment before the ``last`` one."""
    return BudgetError(
        code="L113",
        message=f"the clock went backwards: entry {last.sequence} was written at {last.at:%Y-%m-%d %H:%M:%S} UTC, and now it is "
        f"{at:%Y-%m-%d %H:%M:%S} UTC",
        hint="set the clock right; nothing was spent",
    )


def overdrawn() -> BudgetError:
    """Return the refusal of draws from an envelope that cost more than it holds."""
    return BudgetError(
        code="L136",
        message="the draws from an envelope cost more than was reserved for it",
        hint="no answer is stored; what was reserved stays spent",
    )


def no_entries() -> BudgetError:
    """Return the error of a ledger that lost its first entry."""
    return BudgetError(code="L103", message="the ledger has no entries", hint="restore it from its last backup: it was damaged")
