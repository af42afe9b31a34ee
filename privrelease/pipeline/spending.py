"""Budget that a run would spend now, and the rest: from the ledger, which is only read; and the account that a run draws on.

The noise of each figure for several budgets, both mechanisms side by side: computed from plans, without a row.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

from privrelease.errors import PrivreleaseError
from privrelease.findings import pluralise
from privrelease.plan.model import named
from privrelease.texts.sentences import say
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from privrelease.audit.statistics.audit import StatisticsTarget
    from privrelease.audit.synthetic.evidence import SyntheticTarget
    from privrelease.dp.budget import Budget
    from privrelease.dp.randomness import Randomness
    from privrelease.ledger.database import DatabaseLedger
    from privrelease.ledger.protocol import Ledger
    from privrelease.pipeline.settings import Settings
    from privrelease.pipeline.world import World
    from privrelease.plan.model import Plan, ReleasePlan
    from privrelease.plan.statistics.plan import StatisticsPlan
    from privrelease.plan.synthetic.plan import SyntheticPlan
    from privrelease.release.store import ReleaseStore
    from privrelease.units import Epsilon

    #: What is audited of a release that was charged for.
    Charged = TypeVar("Charged", StatisticsTarget, SyntheticTarget)

__all__ = ["UNBELIEVABLE", "NoiseSource", "Spending", "Swept", "noise_source", "spendings", "sweep", "with_charges"]

#: A ledger that is damaged, altered, an older copy, or another one.
UNBELIEVABLE: Final = frozenset({"L103", "L110", "L111", "L112"})


@dataclass(frozen=True, slots=True)
class NoiseSource:
    """Source of the noise and account that it is charged to."""

    randomness: Randomness
    ledger: Ledger


def noise_source(policy: Plan, world: World, store: ReleaseStore) -> NoiseSource:
    """Open what a run draws on; with ``--test-noise`` a seed, and a ledger that nothing is written to."""
    from privrelease.dp.randomness import TestRandomness
    from privrelease.ledger.memory import MemoryLedger

    if world.settings.test_noise is not None:
        return NoiseSource(TestRandomness(world.settings.test_noise), MemoryLedger(identity="test"))
    return NoiseSource(world.randomness(), _ledger(policy, world, store))


def with_charges(target: Charged, plan: Plan, world: World) -> Charged:
    """Add what the ledger says of the release. If it is not available, that is reported; if altered, the release is faulty."""
    from privrelease.audit.checks.charges import charges_of

    if target.manifest is None:
        return target
    try:
        book = world.open_ledger(plan, world.settings.store(plan)).book()
    except PrivreleaseError as error:
        if error.code in UNBELIEVABLE:
            return replace(target, ledger_fault=say("ledger_unbelieved", code=error.code, message=error.message))
        world.log(f"the ledger is not available: {error}")
        return target
    return replace(target, charges=charges_of(book, target.manifest))


def _ledger(policy: Plan, world: World, store: ReleaseStore) -> Ledger:
    """Open the ledger that the policy names. None is never made on the way: a fresh one would forget what was spent."""
    ledger = world.open_ledger(policy, store)
    if policy.ledger is not None and policy.ledger.retention is not None:
        ledger.forget(policy.policy_id, policy.ledger.retention)
    return ledger


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
    """Return what each release with differential privacy would spend, one after the other. Writes nothing, reads no row."""
    from privrelease.dp.budget import Budget
    from privrelease.errors import BudgetError, UsageError
    from privrelease.ledger.refusals import budget_words, left_of
    from privrelease.units import Epsilon

    found: list[Spending] = []
    planned: dict[str, Budget] = {}
    charged: dict[str, Budget] = {}
    known = [name for name, _ in _PRICES]
    spending: list[Any] = [one for one in releases if one.kind in known]
    for plan in spending:
        try:
            from privrelease.pipeline.ledger import opened

            ledger = opened(policy, settings.store(policy))
            balance = ledger.balance(plan.population)
            of_dataset = _left_of_dataset(ledger, plan.source.dataset)
            stored, now = named(plan.kind, _PRICES)(plan, policy, ledger, settings)
        except (BudgetError, UsageError) as error:
            found.append(Spending(plan.id, plan.population, reason=f"{error.code} {error.message}"))
            continue
        before = balance.spent + planned[plan.population] if plan.population in planned else balance.spent
        spent = before + now
        planned[plan.population] = planned[plan.population] + now if plan.population in planned else now
        asked = charged[plan.source.dataset] = charged.get(plan.source.dataset, Budget(Epsilon(0))) + now
        short = of_dataset is not None and not asked.fits(of_dataset)
        if balance.cap is None:
            found.append(Spending(plan.id, plan.population, budget_words(now), stored, "no cap:", "no cap", fits=True))
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
                stored,
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


def _of_statistics(plan: StatisticsPlan, policy: Plan, ledger: DatabaseLedger, settings: Settings) -> tuple[int, Budget]:
    """The queries that are served again, and the price of the others."""
    del settings
    from privrelease.execute.answers import stored_answers

    stored = frozenset(stored_answers(plan, policy, ledger, None))
    return len(stored), plan.composed_of(frozenset(query.id for query in plan.queries) - stored)[0].cost


def _of_synthetic(plan: SyntheticPlan, policy: Plan, ledger: DatabaseLedger, settings: Settings) -> tuple[int, Budget]:
    """True where the whole run is served again, and the price where it is not; the key in use decides who is held out."""
    from privrelease.dp.budget import Budget
    from privrelease.execute.synthetic.asking import stored_already
    from privrelease.pipeline.digest_keys import key_in_use
    from privrelease.units import Epsilon

    key = None if plan.holdout is None else key_in_use(settings.store(policy))
    stored = stored_already(plan, policy, ledger, None if key is None else key.id)
    return (1, Budget(Epsilon(0))) if stored else (0, plan.budget)


#: What a release of each kind would spend now, next to what is stored.
_PRICES: Final[tuple[tuple[str, Callable[[Any, Plan, DatabaseLedger, Settings], tuple[int, Budget]]], ...]] = (
    ("statistics", _of_statistics),
    ("synthetic", _of_synthetic),
)


# ------------------------------------------------------------------------------------------------------------- several budgets


@dataclass(frozen=True, slots=True)
class Swept:
    """Standard deviations of one draw of a query, by epsilon of the query; None where the mechanism cannot be had."""

    release: str
    query: str
    figure: str
    mechanism: str
    epsilons: tuple[str, ...]
    deviations: tuple[float | None, ...]

    def as_data(self) -> dict[str, object]:
        """Return it for JSON."""
        return asdict(self)


def sweep(releases: Iterable[ReleasePlan], epsilons: Sequence[Epsilon]) -> tuple[Swept, ...]:
    """Return how noisy every draw of every query would be if the query had each epsilon. Reads no row."""
    from privrelease.dp.budget import Budget
    from privrelease.dp.calibration import draws
    from privrelease.dp.queries import PrivateKeys, Quantile
    from privrelease.plan.model import releases_of
    from privrelease.plan.statistics.explain import figure_name
    from privrelease.plan.statistics.forecast import forecast_of
    from privrelease.plan.statistics.plan import StatisticsPlan

    found: list[Swept] = []
    for plan in releases_of(releases, StatisticsPlan):
        for query in plan.queries:
            if isinstance(query.query, Quantile):  # a choice: neither mechanism adds noise to it
                continue
            delta = plan.budget.delta
            for place in range(len(query.draws)):
                for noise in ("laplace", "gaussian"):
                    lacking = delta.value == 0 and (noise == "gaussian" or isinstance(query.keys, PrivateKeys))
                    deviations: list[float | None] = []
                    for epsilon in epsilons:
                        if lacking:
                            deviations.append(None)
                            continue
                        drawn = draws(query.query, plan.setting, Budget(epsilon, delta), noise)
                        deviations.append(forecast_of(drawn[place]).deviation)
                    figure = figure_name(query.draws[place].target.figure)
                    names = tuple(str(epsilon) for epsilon in epsilons)
                    found.append(Swept(plan.id, query.id, figure, noise, names, tuple(deviations)))
    return tuple(found)
