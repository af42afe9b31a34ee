"""The plan of a table: its cells, figures and rules, before any row is read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from privrelease.disclosure.tables.layout import Layout
from privrelease.disclosure.tables.rules import CellRules
from privrelease.plan.model import UnitPlan
from privrelease.policy.meaning_tables import table_keys
from privrelease.relational.tables import TableQuery

if TYPE_CHECKING:
    from privrelease.findings import Location
    from privrelease.plan.model import CheckPlan
    from privrelease.policy.datasets import Dataset
    from privrelease.policy.tables import TableMeasure, TableRelease, TableRules
    from privrelease.relational.schema import Sink, TableSource

__all__ = ["MeasurePlan", "TablePlan", "table_plan"]


@dataclass(frozen=True, slots=True)
class MeasurePlan:
    """A figure of every cell. ``name``: its column in the output. ``low``, ``high``: of one row, in steps of ``grid``; both of a sum only.

    Dominance and p-percent are about sums: a weight is no contribution.
    """

    kind: Literal["count", "weighted_count", "sum"]
    name: str
    column: str | None = None
    grid: Fraction = Fraction(1)
    low: int = 0
    high: int | None = None


@dataclass(frozen=True, slots=True)
class TablePlan:
    """One table. ``keys``: of each column of ``by``, in their order. ``secondary``: cells may be suppressed to protect others."""

    id: str
    source: TableSource
    by: tuple[str, ...]
    keys: tuple[tuple[str, ...], ...]
    measures: tuple[MeasurePlan, ...]
    margins: bool
    rules: CellRules
    secondary: bool
    round_up: int
    sinks: tuple[Sink, ...]
    unit: UnitPlan | None = None
    snapshot: str | None = None
    population_id: str | None = None
    recipients_hold_previous: bool = True
    checks: tuple[CheckPlan, ...] = ()
    location: Location | None = None

    @property
    def layout(self) -> Layout:
        """Its cells and the relations between them."""
        return Layout(tuple(map(len, self.keys)), self.margins)

    @property
    def added(self) -> tuple[MeasurePlan, ...]:
        """The figures that add up a column."""
        return tuple(measure for measure in self.measures if measure.column is not None)

    @property
    def query(self) -> TableQuery:
        """What an engine is asked."""
        sums = tuple(measure.column for measure in self.added if measure.column is not None)
        unit = None if self.unit is None else self.unit.column
        return TableQuery(self.by, self.keys, sums, unit, self.margins, self.rules.largest)

    @property
    def columns(self) -> tuple[tuple[str, str], ...]:
        """Columns of the output and their types: the keys, which of them are summed over, the figures, and whether they are shown."""
        figures = ((one.name, "integer" if one.grid == 1 else "number") for one in self.measures)
        return (*((name, "string") for name in self.by), ("total_over", "string"), *figures, ("status", "string"))


def table_plan(
    release: TableRelease,
    dataset: Dataset,
    common: TableRules | None,
    source: TableSource,
    sinks: tuple[Sink, ...],
    location: Location | None,
) -> TablePlan:
    """Return the plan of a table of a policy without faults."""
    keys = tuple(table_keys(dataset.columns[name]) or () for name in release.by)
    measures = tuple(_measure(one, dataset) for one in release.measures)
    unit = None if dataset.unit is None else UnitPlan(dataset.unit.column, dataset.unit.max_rows)
    needed = {*release.by, *(one.column for one in measures), None if unit is None else unit.column}
    dropping = {column.name for column in source.columns if column.domain is not None and column.domain.outside == "drop"}
    read = tuple(column for column in source.columns if column.name in needed | dropping)
    unread = tuple(column for column in source.columns if column not in read)
    return TablePlan(
        id=release.id,
        source=replace(source, columns=read, unread=unread),
        by=release.by,
        keys=keys,
        measures=measures,
        margins=release.margins,
        rules=_rules(release, common),
        secondary=release.protect.secondary,
        round_up=release.round_up or 1,
        sinks=sinks,
        unit=unit,
        snapshot=dataset.snapshot,
        population_id=dataset.population,
        recipients_hold_previous=release.recipients_hold_previous,
        location=location,
    )


def _measure(one: TableMeasure, dataset: Dataset) -> MeasurePlan:
    if one.column is None:
        return MeasurePlan("count", "count")
    spec = dataset.columns[one.column]
    grid = Fraction(1) if spec.grid is None else Fraction(spec.grid)
    assert spec.domain is not None
    assert spec.domain.range is not None
    low, high = (Fraction(text) / grid for text in spec.domain.range)
    kind: Literal["weighted_count", "sum"] = "sum" if one.sum is not None else "weighted_count"
    return MeasurePlan(kind, f"{kind}_{one.column}", one.column, grid, int(low), int(high))


def _rules(release: TableRelease, common: TableRules | None) -> CellRules:
    own = release.protect
    found = {
        name: own_value if own_value is not None or common is None else getattr(common, name)
        for name in ("min_count", "dominance", "p_percent")
        for own_value in (getattr(own, name),)
    }
    dominance, p_percent = found["dominance"], found["p_percent"]
    return CellRules(
        min_count=found["min_count"],
        dominance=None if dominance is None else (dominance[0], Fraction(dominance[1])),
        p_percent=None if p_percent is None else Fraction(p_percent),
        interval=Fraction(own.interval or 0),
        zeros_shown=own.zeros == "show",
        class_disclosure=own.class_disclosure,
    )
