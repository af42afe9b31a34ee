"""Effect of noise on the figures of a release, seen on synthetic data many times over. No row is read and no budget is needed:
no one is in the data.

Each query gets one group of synthetic rows, drawn evenly over the declared domain. Its figure is then released again and again
through the door that every release goes through, for several budgets and both laws.
"""

from __future__ import annotations

from dataclasses import replace
from math import exp, sqrt
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from privrelease.dp import continuous
from privrelease.dp.budget import Budget
from privrelease.dp.calibration import draws
from privrelease.dp.draws import charge_then_draw
from privrelease.dp.mechanisms import DiscreteGaussian, DiscreteLaplace
from privrelease.dp.queries import Histogram, Mean, Mode, PrivateKeys, Quantile
from privrelease.execute.statistics.figures import value_of
from privrelease.plan.statistics.forecast import forecast_of
from privrelease.plan.statistics.plan import StatisticPlan
from privrelease.plan.statistics.simulated import CellSpread, ErrorBin, Simulated
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from privrelease.dp.draws import Draw
    from privrelease.dp.queries import Query, Setting
    from privrelease.dp.randomness import Randomness
    from privrelease.plan.statistics.plan import StatisticsPlan
    from privrelease.units import Delta, Epsilon

__all__ = ["Made", "Simulated", "repeated", "simulate"]

#: The synthetic rows are the same each time; the noise is not.
_SEED: Final = 20260101
#: Bins of a distribution of errors, at most; they reach so many standard deviations.
_BINS: Final = 41
_REACH: Final = 4.0


@dataclass(frozen=True, slots=True)
class Made:
    """A query and the exact figures of its draws over synthetic rows, by name: one for each bin of a histogram, else one."""

    query: Query
    exact: Mapping[str, tuple[int, ...]]


def simulate(
    plan: StatisticsPlan,
    epsilons: Sequence[Epsilon],
    *,
    repetitions: int,
    rows: int,
    randomness: Randomness,
    delta: Delta | None = None,
) -> tuple[Simulated, ...]:
    """Simulate every query of a release but choices (quantiles) and private keys, whose error depends on the data.

    ``rows``: synthetic rows of a group. ``delta``: in place of the release's. A Gaussian is left out where there is none.
    """
    found: list[Simulated] = []
    delta = plan.budget.delta if delta is None else delta
    for query in plan.queries:
        if isinstance(query.query, Quantile | Mode) or isinstance(query.keys, PrivateKeys):
            continue
        exact = {str(draw.target.figure): (_made(draw, rows),) for draw in query.draws}
        found += repeated(Made(query.query, exact), plan.setting, epsilons, delta, repetitions, randomness)
    return tuple(found)


def repeated(
    made: Made, setting: Setting, epsilons: Sequence[Epsilon], delta: Delta, repetitions: int, randomness: Randomness
) -> tuple[Simulated, ...]:
    """Release one query of synthetic rows again and again, by both laws and every epsilon."""
    found = []
    laws: tuple[Literal["laplace", "gaussian"], ...] = ("laplace", "gaussian") if delta.value else ("laplace",)
    for noise in laws:
        for epsilon in epsilons:
            budget = Budget(epsilon, delta)
            drawn = draws(made.query, setting, budget, noise)
            query = StatisticPlan(made.query.id, type(made.query).__name__.lower(), made.query, None, budget, drawn, noise)
            found.append(_simulated(query, made, repetitions, randomness))
    return tuple(found)


def _simulated(query: StatisticPlan, made: Made, repetitions: int, randomness: Randomness) -> Simulated:
    names = [str(draw.target.figure) for draw in query.draws]
    cells = len(made.exact[names[0]])
    work = [
        (replace(draw, size=repetitions * cells), [figure for figure in made.exact[name] for _ in range(repetitions)])
        for draw, name in zip(query.draws, names, strict=True)
    ]
    noisy = charge_then_draw(work, lambda _: None, randomness)  # no one is in synthetic rows, so nothing is charged
    released = np.array(
        [
            float(value_of(query, {name: int(number or 0) for name, number in zip(names, numbers, strict=True)}))
            for numbers in zip(*(one.values for one in noisy), strict=True)
        ]
    ).reshape(cells, repetitions)
    truths = np.array([float(value_of(query, {name: made.exact[name][cell] for name in names})) for cell in range(cells)])
    errors = (released - truths[:, None]).ravel()
    low, high = np.quantile(errors, (0.025, 0.975))
    observed = float(released.std(axis=1).mean()) if cells == 1 else float(np.sqrt(released.var(axis=1).mean()))
    theory = _theory(query, {name: made.exact[name][0] for name in names})
    single = query.draws[0] if len(query.draws) == 1 else None
    return Simulated(
        query=query.id,
        figure=query.figure,
        mechanism=query.noise,
        epsilon=str(query.budget.epsilon),
        delta=str(query.budget.delta) if query.noise == "gaussian" else "0",
        counts=names in (["rows"], ["persons"]) and not isinstance(query.query, Histogram),
        truth=float(truths.mean()),
        observed=observed,
        sampling=_sampling(errors, single, theory),
        theory=theory,
        continuous=None if single is None else _continuous(single),
        classic=None if single is None or query.noise == "laplace" else _classic(single),
        exact_delta=None if single is None else _exact_delta(single),
        low=float(low),
        high=float(high),
        repetitions=repetitions,
        errors=_distribution(errors, theory or observed, single),
        cells=_cells(query, released, truths) if cells > 1 else (),
    )


def _made(draw: Draw, rows: int) -> int:
    """The exact figure of synthetic rows, drawn evenly over the domain, the same for every draw of a query."""
    target = draw.target
    if target.figure in {"rows", "persons"}:
        return rows
    steps = np.random.default_rng(_SEED).integers(target.low, target.high, rows, endpoint=True).astype(object) - target.centre
    return int(steps.sum()) if target.figure == "sum" else int((steps * steps - target.offset).sum())


# ------------------------------------------------------------------------------------------------------------------------ theory


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


def _continuous(draw: Draw) -> float | None:
    epsilon, grid = float(draw.epsilon.value), float(draw.grid)
    if isinstance(draw.noise, DiscreteLaplace):
        return continuous.laplace(draw.sensitivity.l1, epsilon) * grid
    if isinstance(draw.noise, DiscreteGaussian):
        return continuous.analytic_gaussian(sqrt(draw.sensitivity.l2_squared), epsilon, float(draw.delta.value)) * grid
    return None


def _classic(draw: Draw) -> float | None:
    if not isinstance(draw.noise, DiscreteGaussian):
        return None
    found = continuous.classic_gaussian(sqrt(draw.sensitivity.l2_squared), float(draw.epsilon.value), float(draw.delta.value))
    return found * float(draw.grid)


def _exact_delta(draw: Draw) -> float | None:
    if not isinstance(draw.noise, DiscreteGaussian) or draw.sensitivity.coordinates != 1:
        return None
    return draw.noise.delta(draw.sensitivity.largest, draw.epsilon.value)


# ------------------------------------------------------------------------------------------------------------------ distributions


def _sampling(errors: NDArray[np.float64], single: Draw | None, theory: float | None) -> float:
    """The standard deviation of a sample's standard deviation s: s^2 (kurtosis - 1)/(4 size), squared and to first order.

    By the moments of the law where it is known, since a sample that misses its tail underestimates both; else by the sample's own.
    """
    centred = errors - errors.mean()
    variance = float((centred**2).mean())
    kurtosis = float((centred**4).mean()) / variance**2 if variance else 1.0
    if single is not None and theory:
        variance, kurtosis = theory**2, _kurtosis(single)
    return sqrt(max(kurtosis - 1, 0.0) * variance / (4 * errors.size))


def _kurtosis(draw: Draw) -> float:
    """Discrete Laplace: (1 + 10 a + a^2)/(2 a), a = exp(-1/b). Discrete Gaussian: 3 from sigma 2 on, its sums below."""
    if isinstance(draw.noise, DiscreteGaussian):
        if draw.scale >= 4:
            return 3.0
        fourth = 2 * sum(y**4 * draw.noise.probability(y) for y in range(1, 40))
        return float(fourth / draw.noise.standard_deviation() ** 4)
    a = exp(-1 / float(draw.scale))
    return (1 + 10 * a + a * a) / (2 * a) if a else float("inf")


def _distribution(errors: NDArray[np.float64], deviation: float, single: Draw | None) -> tuple[ErrorBin, ...]:
    """Shares of the errors by bins of whole grid steps around 0, and what the law says of each; what lies beyond is in no bin."""
    grid = float(single.grid) if single is not None else 0.0
    width = 2 * _REACH * deviation / _BINS
    steps = 1
    if grid:
        steps = max(1, round(width / grid))
        steps += 1 - steps % 2  # odd: a bin is centred on 0
        width = steps * grid
    if not width:
        return ()
    half = max(1, min(_BINS // 2, round(_REACH * deviation / width)))
    edges = (np.arange(-half, half + 2) - 0.5) * width
    counts = np.histogram(errors, edges)[0] / errors.size
    noise = None if single is None else single.noise
    bins = []
    for place, share in enumerate(counts.tolist()):
        expected = None
        if noise is not None:
            first = (place - half) * steps - steps // 2
            expected = float(sum(noise.probability(first + k) for k in range(steps)))
        bins.append(ErrorBin(float(edges[place]), float(edges[place + 1]), share, expected))
    return tuple(bins)


def _cells(query: StatisticPlan, released: NDArray[np.float64], truths: NDArray[np.float64]) -> tuple[CellSpread, ...]:
    assert isinstance(query.query, Histogram)
    ends = np.quantile(released, (0.025, 0.975), axis=1)
    return tuple(
        CellSpread(label, float(truth), float(low), float(high))
        for label, truth, low, high in zip(query.query.bins.labels, truths, *ends, strict=True)
    )
