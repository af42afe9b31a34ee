"""The plan of a release of statistics: every draw with its law and scale, before any row is read."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING, Final

from privrelease.dp.budget import Budget, total
from privrelease.dp.composition import composed
from privrelease.dp.quantiles import rank_error
from privrelease.dp.queries import Histogram, Mean, PrivateKeys, PublicKeys
from privrelease.policy.released_columns import STATISTICS_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Collection

    from privrelease.dp.composition import Accounting, Apart, Composed
    from privrelease.dp.draws import Draw
    from privrelease.dp.queries import Noise, Query, Setting
    from privrelease.findings import Location
    from privrelease.plan.model import CheckPlan, UnitPlan
    from privrelease.relational.filters import Filter
    from privrelease.relational.schema import Sink, TableSource

__all__ = [
    "CONFIDENCE",
    "DEFAULT_POPULATION",
    "DrawForecast",
    "MeanForecast",
    "StatisticPlan",
    "StatisticsPlan",
    "cells_of",
    "forecast_of",
    "mean_forecast_of",
]

#: Released intervals cover the figure without noise with this probability.
CONFIDENCE: Final = Fraction(95, 100)

#: Datasets that name no population share this one, so that their budgets add up.
DEFAULT_POPULATION: Final = "unnamed"


@dataclass(frozen=True, slots=True)
class StatisticPlan:
    """One query: what it asks, of which rows, every draw it takes, what is done to the noisy figures.

    ``figure``: the policy's word for it. ``fresh``: drawn anew although an answer is stored. ``agrees``: counts of the same name are made to
    agree.
    """

    id: str
    figure: str
    query: Query
    where: Filter | None
    budget: Budget
    draws: tuple[Draw, ...]
    noise: Noise = "laplace"
    post: tuple[str, ...] = ()
    fresh: bool = False
    agrees: str | None = None
    expected_rows: int | None = None
    location: Location | None = None

    @property
    def cost(self) -> Budget:
        """What its draws are charged, each by itself: at most its part of the budget."""
        return total(Budget(draw.epsilon, draw.delta) for draw in self.draws)

    @property
    def keys(self) -> PublicKeys | PrivateKeys | None:
        """Its group keys."""
        return self.query.by

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of its groups, without bins."""
        return () if self.query.by is None else self.query.by.columns

    def afterwards(self, min_count: int | None) -> tuple[str, ...]:
        """What is done to its noisy figures, in this order; ``min_count``: of the release, which masks what has a noisy count."""
        counted = any(draw.target.figure in {"rows", "persons"} for draw in self.draws)
        masked = (f"masked below {min_count}",) if min_count is not None and counted else ()
        return (*(() if self.agrees is None else ("consistent",)), *self.post, *masked)


@dataclass(frozen=True, slots=True)
class StatisticsPlan:
    """One release of statistics. ``source``: without domains, since values outside are clamped, not refused.

    ``checks``: they look at the source and warn; ``checked``: the source as they read it.
    """

    id: str
    source: TableSource
    queries: tuple[StatisticPlan, ...]
    budget: Budget
    setting: Setting
    sinks: tuple[Sink, ...]
    unit: UnitPlan | None = None
    snapshot: str | None = None
    population_id: str | None = None
    min_count: int | None = None
    rule: Accounting = "approximate"
    apart: tuple[Apart, ...] = ()
    checks: tuple[CheckPlan, ...] = ()
    checked: TableSource | None = None
    location: Location | None = None
    columns: tuple[str, ...] = tuple(STATISTICS_COLUMNS)

    @property
    def draws(self) -> tuple[Draw, ...]:
        """Every draw of the release, hidden ones included."""
        return tuple(draw for query in self.queries for draw in query.draws)

    @property
    def composed(self) -> Composed:
        """What all draws cost together, and by which rule."""
        return composed(self.draws, self.rule, self.budget, self.apart)

    def composed_of(self, queries: Collection[str]) -> tuple[Composed, tuple[Apart, ...]]:
        """Return what some of the queries cost together, and which of them are apart."""
        apart = tuple(left for one in self.apart if (left := one.of(queries)) is not None)
        drawn = tuple(draw for draw in self.draws if draw.query in queries)
        return composed(drawn, self.rule, self.budget, apart), apart

    @property
    def cost(self) -> Budget:
        """What all draws cost together."""
        return self.composed.cost

    @property
    def population(self) -> str:
        """The population whose budget is spent."""
        return self.population_id or DEFAULT_POPULATION


@dataclass(frozen=True, slots=True)
class DrawForecast:
    """A draw before it is drawn, in the unit of its figure: scale (b of Laplace, sigma of Gaussian), standard deviation, half of the
    95 % interval. A choice has neither; a public figure has none. ``rank``: of a quantile, within how many rows of the rank that was asked
    for the chosen value lies with 95 %.
    """

    draw: Draw
    numbers: str
    scale: float | None
    deviation: float | None
    half_width: Fraction | None
    rank: float | None = None


def forecast_of(draw: Draw) -> DrawForecast:
    """Return what is known of a draw beforehand; no row is needed for it."""
    numbers = "one for each private key" if draw.size is None else str(draw.size)
    noise = draw.noise
    if noise is None:
        return DrawForecast(draw, numbers, None if draw.mechanism == "public" else float(draw.scale), None, None, _rank(draw))
    scale = sqrt(draw.scale) if draw.mechanism == "discrete_gaussian" else float(draw.scale)
    unit = float(draw.grid)
    return DrawForecast(
        draw, numbers, scale * unit, noise.standard_deviation() * unit, noise.half_width(CONFIDENCE) * draw.grid
    )


def _rank(draw: Draw) -> float | None:
    target = draw.target
    if target.figure != "quantile" or target.quantile is None:
        return None
    return rank_error(draw.scale, target.high - target.low + 1, target.quantile.denominator, 1 - CONFIDENCE)


@dataclass(frozen=True, slots=True)
class MeanForecast:
    """A mean of about ``rows`` rows: its standard deviation where the values lie at the centre of the domain, and where they lie at its end
    (there the noise of the count moves it most); half of the widest 95 % interval.
    """

    rows: int
    least: float
    most: float
    half_width: float


def mean_forecast_of(query: StatisticPlan) -> MeanForecast | None:
    """Return what is known of a mean beforehand, given the rows that the policy expects. None where it says nothing, or for other figures."""
    if query.expected_rows is None or not isinstance(query.query, Mean):
        return None
    draws = {str(draw.target.figure): draw for draw in query.draws}
    total, count = draws["sum"], draws.get("rows", draws.get("persons"))
    assert total.noise is not None
    assert count is not None
    rows, domain = query.expected_rows, query.query.domain
    unit, reach = float(domain.grid), float(domain.reach * domain.grid)
    of_sum = total.noise.standard_deviation() * unit
    of_count = 0.0 if count.noise is None else count.noise.standard_deviation()
    each = 1 - (1 - CONFIDENCE) / 2
    widths = float(total.noise.half_width(each)) * unit, 0.0 if count.noise is None else float(count.noise.half_width(each))
    left = max(1.0, rows - widths[1])
    span = float(domain.high - domain.low)
    return MeanForecast(
        rows, of_sum / rows, sqrt(of_sum**2 + (reach * of_count) ** 2) / rows, min(span, (widths[0] + reach * widths[1]) / left)
    )


def cells_of(query: StatisticPlan) -> int | None:
    """Return how many rows of the output a query has; None where private keys decide."""
    if isinstance(query.query.by, PrivateKeys):
        return None
    cells = query.query.by.size if isinstance(query.query.by, PublicKeys) else 1
    return cells * (query.query.bins.size if isinstance(query.query, Histogram) else 1)
