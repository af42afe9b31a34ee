"""What noise does to the figures of a release, seen on made data many times over. No row is read, no budget is needed: nobody is in the data.

Each query gets one group of made rows, drawn evenly over the declared domain. Its figure is then released again and again through the door
that every release goes through, for several budgets and both laws.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from privrelease.dp.budget import Budget
from privrelease.dp.draws import charge_then_draw
from privrelease.dp.queries import Mean, Mode, PrivateKeys, Quantile, draws
from privrelease.execute.statistic_figures import value_of
from privrelease.plan.statistics import forecast_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privrelease.dp.draws import Draw
    from privrelease.dp.randomness import Randomness
    from privrelease.plan.statistics import StatisticPlan, StatisticsPlan
    from privrelease.units import Epsilon

__all__ = ["Simulated", "simulate"]

#: The made rows are the same each time; the noise is not.
_SEED: Final = 20260101


@dataclass(frozen=True, slots=True)
class Simulated:
    """A figure of one query under one law and epsilon, in ``repetitions`` releases: the figure of the made rows without noise, the standard
    deviation of what was released, and that of theory (None: no closed form); the middle 95 % of the errors. ``counts``: a plain count.
    """

    query: str
    mechanism: Literal["laplace", "gaussian"]
    epsilon: str
    counts: bool
    truth: float
    observed: float
    theory: float | None
    low: float
    high: float
    repetitions: int


def simulate(
    plan: StatisticsPlan, epsilons: Sequence[Epsilon], *, repetitions: int, rows: int, randomness: Randomness
) -> tuple[Simulated, ...]:
    """Simulate every query of a release but choices (quantiles) and private keys, whose error depends on the data.

    ``rows``: made rows of a group. A Gaussian is left out where the release has no delta.
    """
    found: list[Simulated] = []
    for query in plan.queries:
        if isinstance(query.query, Quantile | Mode) or isinstance(query.keys, PrivateKeys):
            continue
        for noise in ("laplace", "gaussian"):
            if noise == "gaussian" and plan.budget.delta.value == 0:
                continue
            for epsilon in epsilons:
                drawn = draws(query.query, plan.setting, Budget(epsilon, plan.budget.delta), noise)
                again = replace(query, draws=drawn, noise=noise, budget=Budget(epsilon, plan.budget.delta))
                found.append(_simulated(again, str(epsilon), repetitions, rows, randomness))
    return tuple(found)


def _simulated(query: StatisticPlan, epsilon: str, repetitions: int, rows: int, randomness: Randomness) -> Simulated:
    exact = {str(draw.target.figure): _made(draw, rows) for draw in query.draws}
    work = [(replace(draw, size=repetitions), [exact[str(draw.target.figure)]] * repetitions) for draw in query.draws]
    noisy = charge_then_draw(work, lambda _: None, randomness)  # nobody is in made rows, so nothing is charged
    names = [str(draw.target.figure) for draw in query.draws]
    released = np.array(
        [
            float(value_of(query, {name: int(number or 0) for name, number in zip(names, numbers, strict=True)}))
            for numbers in zip(*(one.values for one in noisy), strict=True)
        ]
    )
    truth = float(value_of(query, exact))
    low, high = np.quantile(released - truth, (0.025, 0.975))
    return Simulated(
        query=query.id,
        mechanism=query.noise,
        epsilon=epsilon,
        counts=names in (["rows"], ["persons"]),
        truth=truth,
        observed=float(released.std()),
        theory=_theory(query, exact),
        low=float(low),
        high=float(high),
        repetitions=repetitions,
    )


def _made(draw: Draw, rows: int) -> int:
    """The exact figure of made rows, drawn evenly over the domain, the same for every draw of a query."""
    target = draw.target
    if target.figure in {"rows", "persons"}:
        return rows
    steps = np.random.default_rng(_SEED).integers(target.low, target.high, rows, endpoint=True).astype(object) - target.centre
    return int(steps.sum()) if target.figure == "sum" else int((steps * steps - target.offset).sum())


def _theory(query: StatisticPlan, exact: dict[str, int]) -> float | None:
    """One draw: its own. A mean: sum and count vary independently, to first order. A variance: none."""
    known = {str(draw.target.figure): forecast_of(draw).deviation or 0.0 for draw in query.draws}
    if len(query.draws) == 1:
        return next(iter(known.values()))
    if not isinstance(query.query, Mean):
        return None
    counted = "rows" if "rows" in exact else "persons"
    distance = exact["sum"] * float(query.query.domain.grid) / exact[counted]
    return sqrt(known["sum"] ** 2 + (distance * known[counted]) ** 2) / exact[counted]
