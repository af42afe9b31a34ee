"""From noisy integers to released figures with their intervals: post-processing, which sees no exact figure and costs nothing.

A figure that is printed because its noisy count passed a threshold (private keys, ``min_count``) has the interval of the law given that it passed
(:mod:`privrelease.dp.selected_intervals`). Where another draw decided, its noise is independent of the figure's own, which so keeps its law;
a mean is bounded by the interval of its sum and that of its count given that it passed, together.

Counts that agree add up, so that one that is left blank could be subtracted from the others: under ``min_count`` counts agree only where all of
them are printed, before and after. Elsewhere each keeps its own noise. So a count is printed if and only if its own noisy one passes,
and its interval is of that one, whichever of the two is printed.
"""

from __future__ import annotations

import json
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import ceil, floor, inf, log10
from typing import TYPE_CHECKING, Final

from privrelease.dp import estimates
from privrelease.dp.consistency import NoisyTable, agree
from privrelease.dp.noise_sums import Part, half_width
from privrelease.dp.queries import Count, CountPersons, Histogram, Mean, PrivateKeys, PublicKeys, Quantile, Variance
from privrelease.dp.selected_intervals import selected_interval
from privrelease.plan.statistics.forecast import forecast_of
from privrelease.plan.statistics.plan import CONFIDENCE
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from privrelease.dp.consistency import Agreed
    from privrelease.dp.draws import Draw
    from privrelease.dp.mechanisms import DiscreteGaussian, DiscreteLaplace
    from privrelease.plan.statistics.plan import StatisticPlan

__all__ = ["Agreement", "Noisy", "ReleasedFigure", "agreed", "figures_of", "group_text", "rounded", "value_of"]

#: What is added for agreed figures being written with six decimals.
_ROUNDED: Final = Fraction(1, 10**6)


@dataclass(frozen=True, slots=True)
class Noisy:
    """Results of a query's draws: for each its numbers by cell (None: a key that is not published); private keys in order."""

    values: tuple[tuple[int | None, ...], ...]
    keys: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class ReleasedFigure:
    """A row of the output. ``value`` None: left blank, since too few were counted; ``low``, ``high`` None: no interval is known."""

    query: str
    group: str
    value: Fraction | None
    low: Fraction | None
    high: Fraction | None
    mechanism: str
    scale: float
    epsilon: float
    delta: float


def group_text(names: Sequence[str], keys: Sequence[str]) -> str:
    """Return the group of a row as JSON with sorted names.

    >>> group_text(("sex", "bin"), ("F", "[20, 30)"))
    '{"bin": "[20, 30)", "sex": "F"}'
    """
    return json.dumps(dict(zip(names, keys, strict=True)), sort_keys=True, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Agreement:
    """A table's counts after agreement with others, and half of the 95 % interval of each."""

    agreed: Agreed
    half_width: Fraction


def agreed(
    plans: Sequence[StatisticPlan], answers: Mapping[str, Noisy], *, min_count: int | None = None
) -> dict[str, Agreement]:
    """Return, by query, counts that agree across the margins of their tables, from their noisy ones alone.

    ``min_count``: tables of which a count would be left blank, before or after, are left as they are.
    """
    groups: dict[str, list[StatisticPlan]] = {}
    for plan in plans:
        if plan.agrees is not None:
            groups.setdefault(plan.agrees, []).append(plan)
    found: dict[str, Agreement] = {}
    for members in groups.values():
        if min_count is not None and any(_masked(plan, answers[plan.id], min_count) for plan in members):
            continue
        noises = [plan.draws[0].noise for plan in members]
        tables = agree([_table(plan, answers[plan.id]) for plan in members])
        if min_count is not None and any(
            _post(plan, _written(value), None, None)[0] < min_count
            for plan, one in zip(members, tables, strict=True)
            for value in one.values
        ):
            continue
        for plan, one in zip(members, tables, strict=True):
            parts = tuple(Part(noise, w, count) for at, w, count in one.weights if (noise := noises[at]) is not None)
            width = half_width(parts, CONFIDENCE)
            found[plan.id] = Agreement(one, Fraction(ceil(width * 10**6), 10**6) + _ROUNDED)
    return found


def _masked(plan: StatisticPlan, noisy: Noisy, min_count: int) -> bool:
    """Return True if a count of a table would be left blank by its own noise."""
    return any(_post(plan, Fraction(value), None, None)[0] < min_count for value in noisy.values[0] if value is not None)


def _table(plan: StatisticPlan, noisy: Noisy) -> NoisyTable:
    (draw,) = plan.draws
    assert draw.noise is not None
    # keys of one name have the same values in every table; with a key for the rest they are others, and agree in what both add up to
    keys = {f"key {column} {values}": len(values) for column, values in zip(plan.columns, _key_texts(plan), strict=False)}
    if isinstance(plan.query, Histogram):
        keys[f"bins of {plan.query.column} {plan.query.bins.labels}"] = plan.query.bins.size
    values = tuple(value for value in noisy.values[0] if value is not None)
    return NoisyTable(tuple(keys), tuple(keys.values()), values, draw.noise.standard_deviation() ** 2)


def figures_of(
    plan: StatisticPlan, noisy: Noisy, *, min_count: int | None = None, agreement: Agreement | None = None
) -> tuple[ReleasedFigure, ...]:
    """Return the rows of a query in the order of its keys. ``agreement``: counts that agree with other tables, in place of its own."""
    first = forecast_of(plan.shown)
    cost = plan.cost
    names = (*plan.columns, *(("bin",) if isinstance(plan.query, Histogram) else ()))
    rows = []
    for cell, keys in enumerate(_cells(plan, noisy)):
        drawn = [values[cell] for values in noisy.values]
        if any(value is None for value in drawn):
            continue
        numbers = {str(draw.target.figure): value for draw, value in zip(plan.draws, drawn, strict=True) if value is not None}
        value, low, high = None, None, None
        if min_count is None or _counted(plan, numbers) >= min_count:
            estimate = _estimate(plan, numbers, min_count)
            if agreement is not None:
                estimate = _agreeing(agreement, cell, None if min_count is None else estimate[1:])
            value, low, high = _post(plan, *estimate)
        if "rounded" in plan.post and value is not None:
            value, low, high = rounded(value, low, high)
        rows.append(
            ReleasedFigure(
                query=plan.id,
                group=group_text(names, keys),
                value=value,
                low=low,
                high=high,
                mechanism=plan.shown.mechanism,
                scale=first.scale or 0.0,
                epsilon=float(cost.epsilon.value),
                delta=float(cost.delta.value),
            )
        )
    return tuple(rows)


def rounded(value: Fraction, low: Fraction | None, high: Fraction | None) -> tuple[Fraction, Fraction | None, Fraction | None]:
    """Return a figure to the digits that its noise leaves: two significant ones of half its interval (GUM, 7.2.6), its ends outwards.

    Of halves the even multiple is taken; a figure without an interval, or with one of no width, stays as it is.

    >>> [str(one) for one in rounded(Fraction("1234.5678"), Fraction("1200.01"), Fraction("1270.02"))]
    ['1235', '1200', '1271']
    """
    if low is None or high is None or low == high:
        return value, low, high
    step = Fraction(10) ** (floor(log10((high - low) / 2)) - 1)
    return round(value / step) * step, floor(low / step) * step, ceil(high / step) * step


def _counting(plan: StatisticPlan) -> Draw | None:
    """The draw that says how many a figure is of: a count's own, else the count with it; a sum or a quantile alone has none."""
    if isinstance(plan.query, Count | CountPersons | Histogram):
        return plan.shown
    draws = {str(draw.target.figure): draw for draw in plan.draws}
    return draws.get("rows", draws.get("persons"))


def _counted(plan: StatisticPlan, numbers: Mapping[str, int]) -> Fraction | float:
    """Return how many a figure is of, as far as it is known: a count as it would be published, else the noisy count with it.
    A figure without a count is never masked.
    """
    draw = _counting(plan)
    if draw is None:
        return inf
    count = Fraction(numbers[str(draw.target.figure)])
    return _post(plan, count, None, None)[0] if isinstance(plan.query, Count | CountPersons | Histogram) else count


def _passed(plan: StatisticPlan, draw: Draw, min_count: int | None) -> int | None:
    """The least noisy number of a draw with which its row is printed; None where this draw decides nothing."""
    least = [] if draw.threshold is None else [draw.threshold]
    if min_count is not None and draw is _counting(plan):
        least.append(min_count)
    return max(least, default=None)


def _ends(plan: StatisticPlan, draw: Draw, noisy: int, parts: int, min_count: int | None) -> tuple[int, int]:
    """The interval of one of ``parts`` draws, all of which are covered together, given that the row is printed."""
    threshold = _passed(plan, draw, min_count)
    if draw.noise is None or threshold is None:
        width = _half_width(draw, parts)
        return noisy - width, noisy + width
    return selected_interval(
        draw.noise,
        threshold=threshold,
        noisy=noisy,
        least=1 if isinstance(plan.keys, PrivateKeys) else 0,
        confidence=1 - (1 - CONFIDENCE) / parts,
    )


def _cells(plan: StatisticPlan, noisy: Noisy) -> list[tuple[str, ...]]:
    if isinstance(plan.keys, PrivateKeys):
        return list(noisy.keys)
    return list(product(*_key_texts(plan)))


def _key_texts(plan: StatisticPlan) -> list[tuple[str, ...]]:
    """The declared keys of each column, then the bins."""
    parts: list[tuple[str, ...]] = []
    if isinstance(plan.keys, PublicKeys):
        parts = [domain.labels for domain in plan.keys.domains]
    if isinstance(plan.query, Histogram):
        parts.append(plan.query.bins.labels)
    return parts


def value_of(plan: StatisticPlan, numbers: Mapping[str, int]) -> Fraction:
    """Return the figure that the numbers of a query's draws make, by name, before anything is done to it afterwards."""
    query = plan.query
    if isinstance(query, Quantile):
        return _quantile(query, numbers)[0]
    if not isinstance(query, Mean | Variance):
        return Fraction(numbers[plan.shown.target.figure]) * plan.shown.grid
    count, total = numbers["rows" if "rows" in numbers else "persons"], numbers["sum"]
    if isinstance(query, Mean):
        return estimates.mean(query.domain, noisy_sum=total, noisy_count=count)
    squared, offset = numbers["squares"], next(draw.target.offset for draw in plan.draws if draw.target.figure == "squares")
    value = estimates.variance(query.domain, noisy_sum=total, noisy_squares=squared, offset=offset, noisy_count=count)
    return estimates.standard_deviation(value) if query.root else value


def _estimate(
    plan: StatisticPlan, numbers: Mapping[str, int], min_count: int | None
) -> tuple[Fraction, Fraction | None, Fraction | None]:
    query = plan.query
    if isinstance(query, Quantile):
        return _quantile(query, numbers)
    if isinstance(query, Mean | Variance):
        return _ratio(plan, query, numbers, min_count)
    draw = plan.shown
    low, high = _ends(plan, draw, numbers[draw.target.figure], 1, min_count)
    return value_of(plan, numbers), low * draw.grid, high * draw.grid


def _quantile(query: Quantile, numbers: Mapping[str, int]) -> tuple[Fraction, Fraction | None, Fraction | None]:
    """The chosen candidate; where its ends were drawn, widened to hold it: a wider interval covers no less."""
    first = query.domain.steps[0]
    value = query.domain.value(first + numbers["quantile"])
    if not query.interval:
        return value, None, None
    low, high = (query.domain.value(first + numbers[end]) for end in ("lower", "upper"))
    return value, min(low, value), max(high, value)


def _agreeing(
    agreement: Agreement, cell: int, own: tuple[Fraction | None, Fraction | None] | None
) -> tuple[Fraction, Fraction, Fraction]:
    """A count after agreement, to six decimals, with the interval of its own sum of noises.

    ``own``: where counts are printed because they are large, the interval of the count before agreement, which is widened to hold the value.
    """
    value = _written(agreement.agreed.values[cell])
    if own is None or own[0] is None or own[1] is None:
        return value, value - agreement.half_width, value + agreement.half_width
    return value, min(own[0], value), max(own[1], value)


def _written(value: float) -> Fraction:
    """An agreed count as it is written, with six decimals."""
    return Fraction(round(float(value), 6)).limit_denominator(10**6)


def _half_width(draw: Draw, parts: int) -> int:
    """Half of the interval of one of ``parts`` draws, so that all of them are covered together."""
    return 0 if draw.noise is None else _width(draw.noise, 1 - (1 - CONFIDENCE) / parts)


@lru_cache(maxsize=1024)
def _width(noise: DiscreteLaplace | DiscreteGaussian, confidence: Fraction) -> int:
    """The same for every cell of a draw."""
    return noise.half_width(confidence)


def _ratio(
    plan: StatisticPlan, query: Mean | Variance, numbers: Mapping[str, int], min_count: int | None
) -> tuple[Fraction, Fraction, Fraction]:
    """A figure of several draws: its interval holds what the figure could be for any true values that the noise allows."""
    widths = {str(draw.target.figure): _half_width(draw, len(plan.draws)) for draw in plan.draws}
    counted = "rows" if "rows" in numbers else "persons"
    count, total = numbers[counted], numbers["sum"]
    draw = next(draw for draw in plan.draws if draw.target.figure == counted)
    counts = [max(1, end) for end in _ends(plan, draw, count, len(plan.draws), min_count)]
    sums = [total - widths["sum"], total + widths["sum"]]
    means = [Fraction(one, n) for one in sums for n in counts]
    domain, value = query.domain, value_of(plan, numbers)
    if isinstance(query, Mean):
        ends = [min(max(domain.value(domain.centre + mean), domain.low), domain.high) for mean in means]
        return value, min(ends), max(ends)
    offset = next(draw.target.offset for draw in plan.draws if draw.target.figure == "squares")
    squared = numbers["squares"]
    squares = [Fraction(squared + sign * widths["squares"], n) for sign in (-1, 1) for n in counts]
    least = Fraction(0) if min(means) <= 0 <= max(means) else min(mean * mean for mean in means)
    most = max(mean * mean for mean in means)
    largest = ((domain.high - domain.low) / 2) ** 2
    unit = domain.grid**2
    low = min(max((offset + min(squares) - most) * unit, Fraction(0)), largest)
    high = min(max((offset + max(squares) - least) * unit, Fraction(0)), largest)
    if not query.root:
        return value, low, high
    root = estimates.standard_deviation
    return value, root(low), root(high)


def _post(
    plan: StatisticPlan, value: Fraction, low: Fraction | None, high: Fraction | None
) -> tuple[Fraction, Fraction | None, Fraction | None]:
    """Non-negative and integer figures; the interval is widened, never narrowed past what the noise allows."""
    if "non_negative" in plan.post:
        zero = Fraction(0)
        value = max(value, zero)
        low, high = (None if end is None else max(end, zero) for end in (low, high))
    if "integer" in plan.post:
        value = Fraction(floor(value + Fraction(1, 2)))
        low = None if low is None else Fraction(floor(low))
        high = None if high is None else Fraction(ceil(high))
    return value, low, high
