"""Section 10: the claim of differential privacy, what each query cost and gave, and what is left of the budget."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from privrelease.report.charts.intervals import ErrorBars, Steps, error_bars, steps
from privrelease.report.sections.earlier import EarlierBody, earlier_body
from privrelease.report.view import numbers
from privrelease.report.view.page import Absent, Fact, exact
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from privrelease.audit.document.privacy import (
        ApartFacts,
        BudgetFacts,
        ChargeFacts,
        DrawFacts,
        GroupFacts,
        PrivacyFacts,
        QueryFacts,
    )
    from privrelease.report.view.page import Context, Sentence
    from privrelease.texts.catalogue import Catalogue

__all__ = [
    "BudgetBody",
    "DrawRow",
    "PrivacyBody",
    "QueryBody",
    "QueryRow",
    "budget_chart",
    "budget_texts",
    "build",
    "interval_chart",
]

#: More groups than this are in the table only.
_MOST_BARS = 30


@dataclass(frozen=True, slots=True)
class QueryRow:
    """A query in the overview."""

    id: str
    asks: str
    domain: str
    mechanism: str
    cost: str
    error: str


@dataclass(frozen=True, slots=True)
class DrawRow:
    """A draw of noise."""

    query: str
    figure: str
    mechanism: str
    numbers: str
    scale: str
    grid: str
    deviation: str
    error: str
    cost: str


@dataclass(frozen=True, slots=True)
class QueryBody:
    """The results of a query: a row (group, value, interval) each, and the chart."""

    id: str
    said: tuple[Sentence, ...]
    rows: tuple[tuple[str, str, str], ...]
    chart: ErrorBars | None


@dataclass(frozen=True, slots=True)
class BudgetBody:
    """The population's budget: facts, the reservations (entry, when, release, cost, left), and the chart."""

    facts: tuple[Fact, ...]
    history: tuple[tuple[str, str, str, str, str], ...]
    chart: Steps | None


@dataclass(frozen=True, slots=True)
class PrivacyBody:
    """The claim."""

    warning: Sentence | None
    facts: tuple[Fact, ...]
    unprotected: tuple[str, ...]
    overview: tuple[QueryRow, ...]
    draws: tuple[DrawRow, ...]
    queries: tuple[QueryBody, ...]
    budget: BudgetBody | None
    earlier: EarlierBody | None


def build(context: Context) -> PrivacyBody | Absent:
    """Show the claim; say that there is none where there is none: epsilon does not cover microdata (DESIGN, semantics 11)."""
    texts = context.catalogue
    facts = context.audit.statistics
    if facts is None:
        return Absent(texts.of_kind("dp.absent", context.audit.kind))
    return PrivacyBody(
        warning=None if facts.noise == "secret" else (f"dp.noise.{facts.noise}", {}),
        facts=tuple(_claim(facts, texts)),
        unprotected=tuple(texts.text(f"dp.unprotected.{name}") for name in facts.unprotected),
        overview=tuple(_overview(query, texts) for query in facts.queries),
        draws=tuple(_draw(query.id, draw, texts) for query in facts.queries for draw in query.draws),
        queries=tuple(_query(place, query, facts, texts) for place, query in enumerate(facts.queries, 1)),
        budget=None if facts.budget is None else _budget(facts.budget, texts),
        earlier=earlier_body(context),
    )


def budget_texts(budget: BudgetFacts, texts: Catalogue) -> tuple[str, str] | None:
    """Return what is left of the population's epsilon, and a remark with the cap; None where there is no cap."""
    if budget.cap_epsilon is None:
        return None
    left = Fraction(budget.cap_epsilon) - Fraction(budget.after_epsilon)
    return numbers.number(left), texts.plain("dp.of_cap", cap=_plain(budget.cap_epsilon))


# ----------------------------------------------------------------------------------------------------------------------- claim


def _claim(facts: PrivacyFacts, texts: Catalogue) -> list[Fact]:
    unit = texts.text("dp.unit_rows") if facts.unit is None else texts.text("dp.unit_said", column=facts.unit)
    one = facts.max_rows == 1
    most = texts.text("dp.one_row") if one else texts.plain("dp.at_most_rows", n=numbers.count(facts.max_rows))
    if facts.max_groups is not None:
        most += texts.plain("dp.at_most_groups", n=numbers.count(facts.max_groups))
    stated = [
        ("epsilon", _plain(facts.epsilon)),
        ("delta", _plain(facts.delta)),
        ("allowed", _cost(facts.allowed_epsilon, facts.allowed_delta, texts)),
        ("unit", unit),
        ("most", most),
        ("neighbours", texts.text(f"dp.neighbours.{facts.neighbours}")),
        ("composition", texts.text(f"dp.composition.{facts.composition}")),
        *(
            (("added", _cost(facts.added_epsilon, facts.added_delta, texts)),)
            if facts.added_epsilon and facts.added_delta
            else ()
        ),
        *(("apart", _apart(one, texts)) for one in facts.apart),
        ("library", facts.library),
        ("randomness", texts.text(f"dp.randomness.{facts.noise}")),
        ("confidence", numbers.percent(Fraction(facts.confidence))),
    ]
    if facts.min_count is not None:
        stated.append(("min_count", texts.text("dp.masked_below", n=numbers.count(facts.min_count))))
    return [Fact(texts.text(f"dp.{name}"), (value,)) for name, value in stated]


def _apart(one: ApartFacts, texts: Catalogue) -> str:
    parts = [texts.plain("dp.apart_part", queries=", ".join(queries)) for queries in one.parts]
    return texts.text("dp.apart_said", parts=", ".join(parts), n=numbers.count(one.at_most))


def _overview(query: QueryFacts, texts: Catalogue) -> QueryRow:
    asks = query.figure if query.column is None else texts.plain("dp.of_column", figure=query.figure, column=query.column)
    if query.by:
        asks = texts.plain(f"dp.asks.{query.keys}", asks=asks, by=", ".join(query.by))
    if query.filtered:
        asks = texts.plain("dp.asks.filtered", asks=asks)
    mechanisms = dict.fromkeys(texts.text(f"dp.mechanism.{draw.mechanism}") for draw in query.draws)
    errors = [f"± {_measured(draw.error)}" for draw in query.draws if draw.error is not None]
    single = len(query.draws) == 1 and errors
    return QueryRow(
        id=query.id,
        asks=asks,
        domain=texts.values(query.domain) if query.domain else texts.text("word.none"),
        mechanism=", ".join(mechanisms),
        cost=_cost(query.epsilon, query.delta, texts),
        error=errors[0] if single else texts.text("dp.see_draws" if errors else "dp.no_error"),
    )


def _draw(query: str, draw: DrawFacts, texts: Catalogue) -> DrawRow:
    figure = texts.text(f"dp.figure.{draw.figure}")
    if draw.threshold is not None:
        figure = texts.text("dp.selects", figure=figure, n=numbers.count(draw.threshold))
    return DrawRow(
        query=query,
        figure=figure,
        mechanism=texts.text(f"dp.mechanism.{draw.mechanism}"),
        numbers=texts.text("dp.each_key") if draw.numbers is None else numbers.count(draw.numbers),
        scale=_measured(draw.scale),
        grid=numbers.marked(draw.grid),
        deviation=_measured(draw.deviation),
        error="" if draw.error is None else f"± {_measured(draw.error)}",
        cost=_cost(draw.epsilon, draw.delta, texts),
    )


# --------------------------------------------------------------------------------------------------------------------- figures


def _query(place: int, query: QueryFacts, facts: PrivacyFacts, texts: Catalogue) -> QueryBody:
    said: list[Sentence] = []
    released = exact(query.released)
    if released is None:
        said.append(("dp.not_shown", {}))
    elif released > len(query.groups):
        said.append(("dp.first_rows", {"shown": numbers.count(len(query.groups)), "total": numbers.number(released)}))
    if query.served_again:
        said.append(("dp.again", {}))
    said += [("dp.post", {"steps": ", ".join(query.post)})] if query.post else []
    if query.printed != "always" and any(exact(group.low) is not None for group in query.groups):
        said.append((f"dp.printed.{query.printed}", {}))
    said += [(f"dp.bias.{name}", _bounds(query, facts, texts)) for name in query.bias]
    rows = [(_label(group, texts), *_written(group, texts)) for group in query.groups]
    return QueryBody(query.id, tuple(said), tuple(rows), interval_chart(place, query, texts))


def _bounds(query: QueryFacts, facts: PrivacyFacts, texts: Catalogue) -> dict[str, str]:
    """Return the terms that texts on bounding may use: rows and groups of a person, the declared domain."""
    groups = "" if facts.max_groups is None else numbers.count(facts.max_groups)
    bounds, closed, _ = (query.domain or "").partition("]")
    return {"rows": numbers.count(facts.max_rows), "groups": groups, "domain": texts.values(bounds + closed)}


def _label(group: GroupFacts, texts: Catalogue) -> str:
    if not group.keys:
        return texts.text("dp.all_rows")
    if len(group.keys) == 1:
        return next(iter(group.keys.values()))
    return ", ".join(f"{name} {value}" for name, value in group.keys.items())


def _written(group: GroupFacts, texts: Catalogue) -> tuple[str, str]:
    value, low, high = exact(group.value), exact(group.low), exact(group.high)
    written = texts.text("dp.masked") if value is None else numbers.number(value)
    if low is None or high is None:
        return written, texts.text("dp.no_interval")
    return written, texts.plain("dp.interval_said", low=numbers.number(low), high=numbers.number(high))


def interval_chart(place: int, query: QueryFacts, texts: Catalogue) -> ErrorBars | None:
    """Draw the figures of a query with their intervals; None where no figure has an interval, nor where there are too many to be read."""
    if len(query.groups) > _MOST_BARS:
        return None
    rows = []
    for group in query.groups:
        value, low, high = exact(group.value), exact(group.low), exact(group.high)
        if value is not None and low is not None and high is not None:
            rows.append((_label(group, texts), numbers.number(value), value, low, high))
    if not rows:
        return None
    title = texts.text("chart.intervals", query=query.id)
    least, most = min(rows, key=lambda row: row[2]), max(rows, key=lambda row: row[2])
    key = "chart.intervals_one" if len(rows) == 1 else "chart.intervals_desc"
    described = texts.text(
        key,
        n=numbers.count(len(rows)),
        least=f"{least[0]} {least[1]}",
        most=f"{most[0]} {most[1]}",
        low=numbers.number(least[3]),
        high=numbers.number(least[4]),
    )
    return error_bars(f"dp-{place}", title, described, rows)


# ---------------------------------------------------------------------------------------------------------------------- budget


def _budget(budget: BudgetFacts, texts: Catalogue) -> BudgetBody:
    pairs = {
        "cap": (budget.cap_epsilon, budget.cap_delta),
        "before": (budget.before_epsilon, budget.before_delta),
        "charged": (budget.charged_epsilon, budget.charged_delta),
        "after": (budget.after_epsilon, budget.after_delta),
        "left": (_left(budget.cap_epsilon, budget.after_epsilon), _left(budget.cap_delta, budget.after_delta)),
    }
    facts = [Fact(texts.text("dp.population"), (budget.population,))]
    for name, (epsilon, delta) in pairs.items():
        written = texts.text("dp.no_cap") if epsilon is None or delta is None else _cost(epsilon, delta, texts)
        facts.append(Fact(texts.text(f"dp.budget.{name}"), (written,), gap=epsilon is None))
    return BudgetBody(
        facts=tuple(facts),
        history=tuple(_charge(one, budget.cap_epsilon, texts) for one in reversed(budget.history)),
        chart=budget_chart(budget, texts),
    )


def _charge(one: ChargeFacts, cap: str | None, texts: Catalogue) -> tuple[str, str, str, str, str]:
    left = _left(cap, one.spent_epsilon)
    written = texts.text("dp.no_cap") if left is None else _plain(left)
    return str(one.sequence), one.at, one.release, _cost(one.epsilon, one.delta, texts), written


def budget_chart(budget: BudgetFacts, texts: Catalogue) -> Steps | None:
    """Draw what is left after each charge; where other releases are not shown, what they spent is one level."""
    if budget.cap_epsilon is None:
        return None
    cap = Fraction(budget.cap_epsilon)
    spent = [Fraction(one.spent_epsilon) for one in budget.history]
    first = spent[0] - Fraction(budget.history[0].epsilon) if spent else Fraction(budget.before_epsilon)
    levels = [cap - one for one in (first, *(spent or [Fraction(budget.after_epsilon)]))]
    if Fraction(budget.charged_epsilon) == 0 and spent:
        levels.append(levels[-1])
    left = numbers.number(levels[-1])
    ends = texts.text("chart.budget_this")
    start = texts.plain("chart.budget_entry", n=str(budget.history[0].sequence)) if len(levels) > 2 else ends
    described = texts.text(
        "chart.budget_desc",
        cap=_plain(budget.cap_epsilon),
        before=_plain(budget.before_epsilon),
        charged=_plain(budget.charged_epsilon),
        left=left,
    )
    return steps(
        "dp-budget",
        texts.text("chart.budget"),
        described,
        levels,
        labels=(start, ends),
        axis_label=texts.text("chart.budget_axis"),
        end=texts.plain("chart.budget_left", left=left),
    )


def _left(cap: str | None, spent: str) -> str | None:
    return None if cap is None else str(Fraction(cap) - Fraction(spent))


# ----------------------------------------------------------------------------------------------------------------------- texts


def _cost(epsilon: str, delta: str, texts: Catalogue) -> str:
    if Fraction(delta) == 0:
        return texts.plain("dp.cost", epsilon=_plain(epsilon))
    return texts.plain("dp.cost_delta", epsilon=_plain(epsilon), delta=_plain(delta))


def _plain(exact_text: str) -> str:
    """A budget as it is read: exact where short, a small delta by its power of ten.

    >>> _plain("0.1"), _plain("0.000001"), _plain("3/4"), _plain("1/3")
    ('0.1', '1e-6', '0.75', '0.333333')
    """
    return numbers.marked(f"{float(Fraction(exact_text)):.6g}".replace("e-0", "e-"))


def _measured(value: float | None) -> str:
    return "" if value is None else numbers.number(Fraction(f"{value:.6g}"))
