"""Fills section 10: the claim from the plan, the figures from the file, the budget from the ledger. Nothing is taken from the executor's word
but where its randomness came from and which answers it served again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from privrelease.audit.checks.charges import budget_facts
from privrelease.audit.document.model import Figure, Visibility
from privrelease.audit.document.privacy import (
    ApartFacts,
    DrawFacts,
    GroupFacts,
    PrivacyFacts,
    QueryFacts,
    Unprotected,
)
from privrelease.dp.budget import total
from privrelease.dp.queries import Count, CountPersons, Histogram, Mean, Mode, PrivateKeys, Quantile, Sum, Variance
from privrelease.plan.statistics.forecast import forecast_of
from privrelease.plan.statistics.plan import CONFIDENCE, cells_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from privrelease.audit.checks.charges import Charges
    from privrelease.audit.document.privacy import Bias
    from privrelease.dp.draws import Draw
    from privrelease.plan.model import Plan
    from privrelease.plan.statistics.plan import StatisticPlan, StatisticsPlan
    from privrelease.release.manifest import Manifest

__all__ = ["MOST_GROUPS", "ReleasedRow", "privacy_section"]

#: Rows of a query that the section repeats at most: the file holds all.
MOST_GROUPS: Final = 200

#: Keys of a row; value, low and high of its interval (None: there is none).
ReleasedRow = tuple["Mapping[str, str]", "tuple[float | None, float | None, float | None]"]


def privacy_section(
    plan: StatisticsPlan,
    policy: Plan,
    rows: Mapping[str, Sequence[ReleasedRow]] | None,
    *,
    manifest: Manifest | None,
    charges: Charges | None,
    version: str | None,
) -> PrivacyFacts:
    """Return the section. ``rows``: the file's, by query (None: the file is not as it should be, and nothing of it is repeated)."""
    claim = None if manifest is None else manifest.privacy
    again = frozenset(query.id for query in claim.queries if query.served_again) if claim is not None else frozenset()
    cost, contribution = plan.cost, plan.setting.contribution
    added = total(query.cost for query in plan.queries)
    return PrivacyFacts(
        noise="unknown" if claim is None else "secret" if claim.private else "test",
        unit=None if plan.unit is None else plan.unit.column,
        max_rows=contribution.max_rows,
        max_groups=contribution.max_groups,
        neighbours=plan.setting.neighbours.value,
        epsilon=str(cost.epsilon),
        delta=str(cost.delta),
        composition=plan.composed.accountant,
        added_epsilon=None if added == cost else str(added.epsilon),
        added_delta=None if added == cost else str(added.delta),
        apart=tuple(ApartFacts(parts=tuple(part.queries for part in one.parts), at_most=one.most) for one in plan.apart),
        allowed_epsilon=str(plan.budget.epsilon),
        allowed_delta=str(plan.budget.delta),
        library=f"privrelease {version}" if version else "privrelease",
        confidence=f"{float(CONFIDENCE):g}",
        min_count=plan.min_count,
        unprotected=_unprotected(plan),
        queries=tuple(
            _query(plan, query, None if rows is None else rows.get(query.id, ()), again=query.id in again)
            for query in plan.queries
        ),
        budget=None if charges is None else budget_facts(policy, manifest, charges),
    )


def _unprotected(plan: StatisticsPlan) -> tuple[Unprotected, ...]:
    found: list[Unprotected] = ["other_releases", "declared"]
    if plan.setting.neighbours.value == "replace":
        found.append("persons")
    found.append("rows" if plan.unit is None else "identifiers")
    return (*found, "course")


def _query(plan: StatisticsPlan, query: StatisticPlan, rows: Sequence[ReleasedRow] | None, *, again: bool) -> QueryFacts:
    cost, min_count = query.cost, plan.min_count
    return QueryFacts(
        id=query.id,
        figure=query.figure,
        column=query.query.column,
        by=query.columns,
        keys="none" if query.keys is None else "private" if isinstance(query.keys, PrivateKeys) else "declared",
        filtered=query.where is not None,
        domain=_domain(query),
        epsilon=str(cost.epsilon),
        delta=str(cost.delta),
        post=query.afterwards(min_count),
        served_again=again,
        draws=tuple(_draw(draw) for draw in query.draws),
        printed=query.printed(min_count),
        bias=tuple(_bias(plan, query)),
        groups=() if rows is None else tuple(_group(row) for row in rows[:MOST_GROUPS]),
        released=Figure.of(None if rows is None else len(rows), "count", Visibility.RECIPIENT),
    )


def _bias(plan: StatisticsPlan, query: StatisticPlan) -> Iterator[Bias]:
    """Yield how bounding may move the figure before any noise is added: the interval is about the bounded figure."""
    asked, contribution = query.query, plan.setting.contribution
    if plan.unit is not None:
        if isinstance(asked, CountPersons):
            if query.where is not None or query.columns or asked.column is not None:
                yield "rows_of_persons"
        elif isinstance(asked, Count | Histogram):
            yield "rows_of_count"
        else:
            yield "rows_of_sum" if isinstance(asked, Sum) else "rows_of_average"
        if contribution.max_groups is not None and contribution.max_groups < contribution.max_rows and query.columns:
            yield "groups"
    if isinstance(asked, Sum | Mean | Variance):
        yield "clamped"
    elif isinstance(asked, Quantile):
        yield "clamped_quantile"
    elif isinstance(asked, Histogram) and not asked.bins.outside:
        yield "clamped_bins"


def _domain(query: StatisticPlan) -> str | None:
    asked = query.query
    if isinstance(asked, Histogram):
        return f"{asked.bins.size} bins, {asked.bins.labels[0]} to {asked.bins.labels[-1]}"
    if isinstance(asked, Mode):
        return f"{asked.domain.size} values"
    domain = getattr(asked, "domain", None)
    if domain is not None:
        low, high, grid = (f"{float(number):.15g}" for number in (domain.low, domain.high, domain.grid))
        fill = getattr(asked, "fill", None)
        return f"[{low}, {high}], grid {grid}" + ("" if fill is None else f", missing values as {float(fill):.15g}")
    cells = cells_of(query)
    return None if not query.columns or cells is None else f"{cells} groups"


def _draw(draw: Draw) -> DrawFacts:
    known = forecast_of(draw)
    return DrawFacts(
        figure=draw.target.figure,
        mechanism=draw.mechanism,
        numbers=draw.size,
        scale=known.scale,
        grid=f"{float(draw.grid):.15g}",
        deviation=known.deviation,
        error=None if known.half_width is None else float(known.half_width),
        epsilon=str(draw.epsilon),
        delta=str(draw.delta),
        threshold=draw.threshold,
    )


def _group(row: ReleasedRow) -> GroupFacts:
    keys, (value, low, high) = row

    def released(number: float | None) -> Figure:
        whole = int(number) if number is not None and number.is_integer() and abs(number) < 2**53 else number
        return Figure.of(whole, "number", Visibility.RECIPIENT)

    return GroupFacts(keys=dict(keys), value=released(value), low=released(low), high=released(high))
