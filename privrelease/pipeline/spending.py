"""Budget that a run of statistics would spend now, and the rest: from the ledger, which is only read."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from privrelease.findings import pluralise

if TYPE_CHECKING:
    from collections.abc import Iterable

    from privrelease.dp.budget import Budget
    from privrelease.ledger.database import DatabaseLedger
    from privrelease.pipeline.settings import Settings
    from privrelease.plan.model import Plan, ReleasePlan

__all__ = ["Spending", "spendings"]


@dataclass(frozen=True, slots=True)
class Spending:
    """A release against its ledger. ``reason``: why nothing can be said, or why a run would be refused."""

    release: str
    population: str
    spends: str | None = None
    stored: int = 0
    left: str | None = None
    left_after: str | None = None
    fits: bool = False
    reason: str | None = None

    def as_data(self) -> dict[str, object]:
        """Return it for JSON."""
        return asdict(self)

    def as_lines(self) -> tuple[str, ...]:
        """Return it as lines of text."""
        head = f"budget of population {self.population}, release {self.release}"
        if self.left is None:
            return (f"{head}: not known ({self.reason})",)
        again = f", {pluralise(self.stored, 'query', 'queries')} served again" if self.stored else ""
        lines = [f"{head}: {self.left} left; a run now spends {self.spends}{again}"]
        lines.append(f"  left after it: {self.left_after}" if self.fits else f"  a run would be refused: {self.reason}")
        return tuple(lines)


def spendings(policy: Plan, releases: Iterable[ReleasePlan], settings: Settings) -> tuple[Spending, ...]:
    """Return what each release of statistics would spend, one after the other. Writes nothing, reads no row."""
    from privrelease.dp.budget import Budget
    from privrelease.errors import BudgetError, UsageError
    from privrelease.execute.answers import stored_answers
    from privrelease.ledger.refusals import budget_words, left_of
    from privrelease.plan.model import releases_of
    from privrelease.plan.statistics.plan import StatisticsPlan
    from privrelease.units import Epsilon

    found: list[Spending] = []
    planned: dict[str, Budget] = {}
    charged: dict[str, Budget] = {}
    for plan in releases_of(releases, StatisticsPlan):
        try:
            from privrelease.pipeline.ledger import opened

            ledger = opened(policy, settings.store(policy))
            balance = ledger.balance(plan.population)
            of_dataset = _left_of_dataset(ledger, plan.source.dataset)
            stored = frozenset(stored_answers(plan, policy, ledger, None))
        except (BudgetError, UsageError) as error:
            found.append(Spending(plan.id, plan.population, reason=f"{error.code} {error.message}"))
            continue
        now = plan.composed_of(frozenset(query.id for query in plan.queries) - stored)[0].cost
        before = balance.spent + planned[plan.population] if plan.population in planned else balance.spent
        spent = before + now
        planned[plan.population] = planned[plan.population] + now if plan.population in planned else now
        asked = charged[plan.source.dataset] = charged.get(plan.source.dataset, Budget(Epsilon(0))) + now
        short = of_dataset is not None and not asked.fits(of_dataset)
        if balance.cap is None:
            found.append(Spending(plan.id, plan.population, budget_words(now), len(stored), "no cap:", "no cap", fits=True))
            continue
        fits = spent.fits(balance.cap) and not short
        reason = "it would spend more than is left"
        if short and of_dataset is not None:
            left = f"epsilon {of_dataset.epsilon} and delta {of_dataset.delta}"
            reason = f"dataset {plan.source.dataset} has {left} left"
        found.append(
            Spending(
                plan.id,
                plan.population,
                budget_words(now),
                len(stored),
                budget_words(left_of(balance.cap, before)),
                budget_words(left_of(balance.cap, spent)),
                fits,
                None if fits else reason,
            )
        )
    return tuple(found)


def _left_of_dataset(ledger: DatabaseLedger, dataset: str) -> Budget | None:
    """Return what is left of a dataset's own cap; None where it has none, or the ledger does not know it."""
    from privrelease.ledger.refusals import left_of

    if dataset not in ledger.book().datasets:
        return None
    balance = ledger.dataset_balance(dataset)
    return None if balance.cap is None else left_of(balance.cap, balance.spent)
