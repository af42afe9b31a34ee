"""The noise of each figure for several budgets, both mechanisms side by side: computed from plans, without a row."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from privrelease.plan.model import ReleasePlan
    from privrelease.units import Epsilon

__all__ = ["Swept", "sweep"]


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
