"""The plan of a release of statistics: every draw with its law and scale, before any row is read.

Every command asks of a release whether it is this kind; what computes with a plan imports the mechanisms where it does, so that those who
only ask load none.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Final, Literal

from privrelease.policy.kind_statistics import STATISTICS_COLUMNS
from privrelease.relational.schema import ColumnType
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Collection

    from privrelease.dp.budget import Budget
    from privrelease.dp.composition import Accounting, Apart, Composed
    from privrelease.dp.draws import Draw
    from privrelease.dp.queries import Noise, PrivateKeys, PublicKeys, Query, Setting
    from privrelease.findings import Location
    from privrelease.plan.model import CheckPlan, UnitPlan
    from privrelease.relational.filters import Filter
    from privrelease.relational.schema import ListFile, Sink, TableSource

__all__ = [
    "CONFIDENCE",
    "DEFAULT_POPULATION",
    "StatisticPlan",
    "StatisticsPlan",
    "cells_of",
]

#: Released intervals cover the figure without noise with this probability.
CONFIDENCE: Final = Fraction(95, 100)

#: Datasets that name no population share this one, so that their budgets add up.
DEFAULT_POPULATION: Final = "unnamed"


@dataclass(frozen=True, slots=True)
class StatisticPlan:
    """One query: what it asks, of which rows, every draw it takes, what is done to the noisy figures.

    ``figure``: the policy's word for it. ``fresh``: drawn again although an answer is stored. ``agrees``: counts of one
    name are adjusted to agree.
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
        """Return the charge of its draws, each by itself: at most its part of the budget."""
        from privrelease.dp.budget import Budget, total

        return total(Budget(draw.epsilon, draw.delta) for draw in self.draws)

    @property
    def shown(self) -> Draw:
        """The draw whose law a row of the file states: the figure's own, not that of the persons who select private keys, where both are drawn."""
        return next((draw for draw in self.draws if draw.threshold is None), self.draws[0])

    @property
    def keys(self) -> PublicKeys | PrivateKeys | None:
        """Its group keys."""
        return self.query.by

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of its groups, without bins."""
        return () if self.query.by is None else self.query.by.columns

    def printed(self, min_count: int | None) -> Literal["always", "own", "other"]:
        """Return whose noise decides if a row is printed: none, the count's that it is or is part of, or another figure's
        alone.
        """
        from privrelease.dp.queries import PrivateKeys, Quantile, Sum

        counts = {draw.target.figure: draw for draw in self.draws if draw.target.figure in {"rows", "persons"}}
        own = counts.get("rows", counts.get("persons"))
        if own is None or (min_count is None and not isinstance(self.keys, PrivateKeys)):
            return "always"
        if isinstance(self.query, Sum | Quantile) or (min_count is None and own.threshold is None):
            return "other"
        return "own"

    def afterwards(self, min_count: int | None) -> tuple[str, ...]:
        """Return the steps that are applied to its noisy figures, in this order; ``min_count``: of the release, which masks
        what has a noisy count.
        """
        counted = any(draw.target.figure in {"rows", "persons"} for draw in self.draws)
        masked = (f"masked below {min_count}",) if min_count is not None and counted else ()
        return (*(() if self.agrees is None else ("consistent",)), *self.post, *masked)


@dataclass(frozen=True, slots=True)
class StatisticsPlan:
    """One release of statistics. ``source``: without domains, since values outside are clamped, not refused.

    ``rows_are_persons``: the policy says so itself (`unit: rows`). ``checks``: they look at the source and warn; ``checked``: the source as they read it.
    """

    id: str
    source: TableSource
    queries: tuple[StatisticPlan, ...]
    budget: Budget
    setting: Setting
    sinks: tuple[Sink, ...]
    unit: UnitPlan | None = None
    rows_are_persons: bool = False
    snapshot: str | None = None
    population_id: str | None = None
    min_count: int | None = None
    rule: Accounting = "approximate"
    apart: tuple[Apart, ...] = ()
    checks: tuple[CheckPlan, ...] = ()
    checked: TableSource | None = None
    location: Location | None = None
    columns: tuple[str, ...] = tuple(STATISTICS_COLUMNS)
    """Of its files: ``group`` is one text for all keys of a figure; where it is not there, every key has a column."""

    kind: ClassVar[str] = "statistics"
    lists: ClassVar[tuple[ListFile, ...]] = ()
    #: The ledger adds up whatever was published, so that it is always counted as held.
    recipients_hold_previous: ClassVar[bool] = True
    recipients: ClassVar[tuple[str, ...] | None] = None

    @property
    def sources(self) -> tuple[TableSource, ...]:
        """Every source that the release reads."""
        return (self.source,)

    @property
    def column_types(self) -> dict[str, ColumnType]:
        """The columns of its files with their types: keys are texts."""
        return {name: STATISTICS_COLUMNS.get(name, ColumnType.STRING) for name in self.columns}

    @property
    def draws(self) -> tuple[Draw, ...]:
        """Every draw of the release, hidden ones included."""
        return tuple(draw for query in self.queries for draw in query.draws)

    @property
    def composed(self) -> Composed:
        """Return the cost of all draws together, and the rule that gives it."""
        from privrelease.dp.composition import composed

        return composed(self.draws, self.rule, self.budget, self.apart)

    def composed_of(self, queries: Collection[str]) -> tuple[Composed, tuple[Apart, ...]]:
        """Return what some of the queries cost together, and which of them are apart."""
        from privrelease.dp.composition import composed

        apart = tuple(left for one in self.apart if (left := one.of(queries)) is not None)
        drawn = tuple(draw for draw in self.draws if draw.query in queries)
        return composed(drawn, self.rule, self.budget, apart), apart

    @property
    def cost(self) -> Budget:
        """Return the cost of all draws together."""
        return self.composed.cost

    @property
    def population(self) -> str:
        """The population whose budget is spent."""
        return self.population_id or DEFAULT_POPULATION


def cells_of(query: StatisticPlan) -> int | None:
    """Return how many rows of the output a query has; None where private keys decide."""
    from privrelease.dp.queries import Histogram, PrivateKeys, PublicKeys

    if isinstance(query.query.by, PrivateKeys):
        return None
    cells = query.query.by.size if isinstance(query.query.by, PublicKeys) else 1
    return cells * (query.query.bins.size if isinstance(query.query, Histogram) else 1)
