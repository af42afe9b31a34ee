"""A release of statistics in words: for every figure the mechanism, its scale, standard deviation and 95 % interval, and the price."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from privrelease.dp.budget import total
from privrelease.dp.queries import PrivateKeys
from privrelease.findings import pluralise
from privrelease.plan.checks import check_words
from privrelease.plan.statistics.forecast import forecast_of, mean_forecast_of
from privrelease.plan.statistics.plan import cells_of
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from fractions import Fraction

    from privrelease.dp.draws import Draw
    from privrelease.plan.statistics.forecast import DrawForecast
    from privrelease.plan.statistics.plan import StatisticPlan, StatisticsPlan

__all__ = ["DrawExplanation", "QueryExplanation", "StatisticsExplanation", "explain_statistics", "figure_name"]


@dataclass(frozen=True, slots=True)
class DrawExplanation:
    """One draw; numbers in the unit of the figure, to six digits. ``interval``: half of the 95 % interval."""

    figure: str
    mechanism: str
    numbers: str
    sensitivity: str
    scale: str
    deviation: str
    interval: str
    epsilon: str
    delta: str
    threshold: int | None
    rank: str | None = None
    """Of a quantile: within how many rows of the rank the chosen value lies."""


@dataclass(frozen=True, slots=True)
class QueryExplanation:
    """One query: what it gives and every draw it takes."""

    id: str
    figure: str
    rows: str
    epsilon: str
    delta: str
    draws: tuple[DrawExplanation, ...]
    mean: str | None = None
    """Return the expected noise of a mean with the rows that the policy expects."""


@dataclass(frozen=True, slots=True)
class StatisticsExplanation:
    """A release of statistics before it is run."""

    id: str
    kind: str
    source: str
    population: str
    snapshot: str | None
    unit: str
    neighbours: str
    budget: str
    spends: str
    queries: tuple[QueryExplanation, ...]
    outputs: tuple[str, ...]
    composition: tuple[str, ...] = ()
    """Why what it spends is not the sum of what the queries would cost alone, where it is not."""
    checks: tuple[str, ...] = ()

    def as_data(self) -> dict[str, object]:
        """Return it as dictionaries, tuples, texts and numbers, for JSON."""
        return asdict(self)

    def as_lines(self) -> tuple[str, ...]:
        """Return it as lines of text."""
        snapshot = "" if self.snapshot is None else f", snapshot {self.snapshot}"
        again = "in every run: no snapshot is declared" if self.snapshot is None else "once per snapshot"
        lines = [
            f"release {self.id}",
            f"  source  {self.source}{snapshot}",
            f"  unit    {self.unit}; neighbours {self.neighbours}; population {self.population}",
            f"  budget  {self.budget}",
            f"  spends  {self.spends}, {again}",
            *(f"          {line}" for line in self.composition),
        ]
        for query in self.queries:
            lines.append(f"  query   {query.id}: {query.figure}, {query.rows}, {_cost(query.epsilon, query.delta)}")
            lines += [f"          {line}" for draw in query.draws for line in _draw_lines(draw)]
            lines += [] if query.mean is None else [f"          {query.mean}"]
        lines += [f"  check   {check}" for check in self.checks]
        lines += [f"  output  {output}" for output in self.outputs]
        return tuple(lines)

    def in_short(self) -> tuple[str, ...]:
        """Return what it spends of which population, in one line."""
        return (
            f"release {self.id}: spends {self.spends} of {self.population}, {pluralise(len(self.queries), 'query', 'queries')}",
        )


def _draw_lines(draw: DrawExplanation) -> tuple[str, ...]:
    if draw.mechanism == "public":
        return (f"{draw.figure}: public, no noise",)
    head = (
        f"{draw.figure} ({draw.numbers}): {draw.mechanism}, sensitivity {draw.sensitivity}, {_cost(draw.epsilon, draw.delta)}"
    )
    if draw.deviation == "-":
        return (head,) if draw.rank is None else (head, f"  95 % within ± {draw.rank} rows of the rank that is asked for")
    tail = f"  scale {draw.scale}, standard deviation {draw.deviation}, 95 % within ± {draw.interval}"
    more = "" if draw.threshold is None else f"; a key is published from a noisy count of {draw.threshold} persons on"
    return (head, tail + more)


def _cost(epsilon: str, delta: str) -> str:
    return f"epsilon {epsilon}" + ("" if delta == "0" else f", delta {delta}")


def figure_name(figure: str) -> str:
    """Return the words for what a draw is about.

    >>> figure_name("rows"), figure_name("squares")
    ('number of rows', 'sum of squares')
    """
    names = {"rows": "number of rows", "persons": "number of persons", "squares": "sum of squares"}
    return (names | {"lower": "lower end of the interval", "upper": "upper end of the interval"}).get(figure, figure)


def explain_statistics(plan: StatisticsPlan) -> StatisticsExplanation:
    """Return what the release will draw and spend. Reads no row."""
    kind = plan.source.kind.value
    cost = plan.cost
    return StatisticsExplanation(
        id=plan.id,
        kind=plan.kind,
        source=f"{plan.source.dataset}: {plan.source.label} ({kind})",
        population=plan.population,
        snapshot=plan.snapshot,
        unit=_unit(plan),
        neighbours=plan.setting.neighbours.value.replace("_", " or "),
        budget=_cost(str(plan.budget.epsilon), _decimal(plan.budget.delta.value)),
        spends=_cost(str(cost.epsilon), _decimal(cost.delta.value)),
        queries=tuple(_query(query) for query in plan.queries),
        outputs=tuple(sink.words for sink in plan.sinks),
        composition=_composition(plan),
        checks=tuple(map(check_words, plan.checks)),
    )


_RULES: Final = {
    "pure": "adding up epsilons",
    "approximate": "adding up epsilons and deltas",
    "zcdp": "zCDP",
    "pld": "privacy loss distributions",
}


def _composition(plan: StatisticsPlan) -> tuple[str, ...]:
    alone, found = total(query.cost for query in plan.queries), plan.composed
    if alone == found.cost:
        return ()
    summed = _cost(str(alone.epsilon), _decimal(alone.delta.value))
    lines = [f"composed by {_RULES[found.accountant]}; the queries alone would add up to {summed}"]
    for one in plan.apart:
        parts = " | ".join(", ".join(part.queries) for part in one.parts)
        lines.append(f"in parallel, at most {pluralise(one.most, 'part')} a person: {parts}")
    return tuple(lines)


def _unit(plan: StatisticsPlan) -> str:
    if plan.unit is None:
        return "every row is a person of its own"
    most = plan.setting.contribution
    rows = f"at most {most.max_rows} row{'s' if most.max_rows > 1 else ''}"
    groups = f" in at most {most.groups} groups" if most.max_groups is not None else ""
    return f"persons by {plan.unit.column}, {rows}{groups} each"


def _query(query: StatisticPlan) -> QueryExplanation:
    cells = cells_of(query)
    rows = "a row for each published key" if isinstance(query.keys, PrivateKeys) else f"{cells} row{'s' if cells != 1 else ''}"
    column = f" of {query.query.column}" if query.query.column is not None else ""
    by = f" by {', '.join(query.columns)}" if query.columns else ""
    fill = getattr(query.query, "fill", None)
    filled = "" if fill is None else f", missing values as {float(fill):g}"
    cost = query.cost
    return QueryExplanation(
        id=query.id,
        figure=f"{query.figure}{column}{by}{filled}",
        rows=rows,
        epsilon=str(cost.epsilon),
        delta=_decimal(cost.delta.value),
        draws=tuple(_draw(draw, forecast_of(draw)) for draw in query.draws),
        mean=_mean(query),
    )


def _mean(query: StatisticPlan) -> str | None:
    found = mean_forecast_of(query)
    if found is None:
        return None
    spread = f"{found.least:.3g} to {found.most:.3g}"
    return f"the mean, with {found.rows} rows: standard deviation {spread}, 95 % within ± {found.half_width:.3g}"


def _draw(draw: Draw, forecast: DrawForecast) -> DrawExplanation:
    return DrawExplanation(
        figure=figure_name(draw.target.figure),
        mechanism=draw.mechanism,
        numbers=forecast.numbers,
        sensitivity=f"{float(draw.sensitivity.l1 * (1 if draw.noise is None else draw.grid)):.6g}",
        scale="-" if forecast.scale is None else f"{forecast.scale:.6g}",
        deviation="-" if forecast.deviation is None else f"{forecast.deviation:.6g}",
        interval="-" if forecast.half_width is None else f"{float(forecast.half_width):.6g}",
        epsilon=str(draw.epsilon),
        delta=_decimal(draw.delta.value),
        threshold=draw.threshold,
        rank=None if forecast.rank is None else f"{forecast.rank:.3g}",
    )


def _decimal(value: Fraction) -> str:
    return "0" if value == 0 else f"{float(value):.6g}"
