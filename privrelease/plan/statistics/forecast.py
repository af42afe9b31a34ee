"""Facts about a release of statistics before it is drawn: the noise of each draw, the error of a mean. They need no row."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

from privrelease.dp.quantiles import rank_error
from privrelease.dp.queries import Mean
from privrelease.plan.statistics.plan import CONFIDENCE
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from fractions import Fraction

    from privrelease.dp.draws import Draw
    from privrelease.plan.statistics.plan import StatisticPlan

__all__ = ["DrawForecast", "MeanForecast", "forecast_of", "mean_forecast_of"]


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
