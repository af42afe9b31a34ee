"""The plan of a table: its cells, figures and rules, before any row is read."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Literal

from privrelease.disclosure.tables.layout import Layout
from privrelease.disclosure.tables.linked import TooManyCellsError, TooManyNestedError, linked
from privrelease.disclosure.tables.published_table import PrintedSum, PrintedTable
from privrelease.disclosure.tables.rules import CellRules
from privrelease.errors import InputError
from privrelease.plan.model import UnitPlan, naming_columns, releases_of
from privrelease.policy.kind_table import figure_name
from privrelease.policy.rules.table_keys import keys_of
from privrelease.relational.filter_truth import cells_where
from privrelease.relational.filters import columns_of, parse_filter
from privrelease.relational.schema import ListFile, Role
from privrelease.relational.tables import TableQuery
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from privrelease.disclosure.tables.linked import Linked
    from privrelease.findings import Location
    from privrelease.plan.model import CheckPlan, Plan
    from privrelease.policy.language.datasets import Dataset
    from privrelease.policy.language.tables import TableMeasure, TableRelease, TableRules
    from privrelease.policy.validation.paths import Roots
    from privrelease.relational.filters import Filter
    from privrelease.relational.schema import Sink, TableSource
    from privrelease.relational.tables import TableCells

__all__ = ["MeasurePlan", "TablePlan", "joined", "joint_source", "public_columns", "table_plan", "tables_of_same_rows"]


@dataclass(frozen=True, slots=True)
class MeasurePlan:
    """A figure of every cell. ``name``: its column in the output. ``low``, ``high``: of one row, in steps of ``grid``; of no plain count.

    Dominance and p-percent are about sums: a weight is no contribution.
    """

    kind: Literal["count", "weighted_count", "sum", "mean"]
    name: str
    column: str | None = None
    grid: Fraction = Fraction(1)
    low: int = 0
    high: int | None = None

    @property
    def two_values(self) -> tuple[Decimal, Decimal] | None:
        """The values of a column that can have two only: its domain is two steps of its grid. None where it can have more.

        >>> MeasurePlan("mean", "mean_smokes", "smokes", low=0, high=1).two_values
        (Decimal('0'), Decimal('1'))
        """
        if self.high is None or self.high - self.low != 1:
            return None
        low, high = (Decimal(step) * self.grid.numerator / self.grid.denominator for step in (self.low, self.high))
        return low, high

    @property
    def unit(self) -> Fraction:
        """Return the unit of which printed figures are multiples: a mean is rounded to a thousandth of a step."""
        return self.grid / 1000 if self.kind == "mean" else self.grid


@dataclass(frozen=True, slots=True)
class TablePlan:
    """One table. ``keys``: of each column of ``by``, in their order. ``secondary``: cells may be suppressed to protect others. ``where``: the
    rows that it is made of; ``impossible``: cells that are empty by nature; ``lists``: the files that keys were read from.
    """

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
    rows_are_persons: bool = False
    """True where the policy says so itself (`unit: rows`)."""
    snapshot: str | None = None
    population_id: str | None = None
    recipients: tuple[str, ...] | None = None
    recipients_hold_previous: bool = True
    checks: tuple[CheckPlan, ...] = ()
    location: Location | None = None
    where: Filter | None = None
    impossible: Filter | None = None
    lists: tuple[ListFile, ...] = ()
    class_disclosure: bool | None = None
    """As the policy says, None where it says nothing."""
    prefer: Literal["persons", "cells"] = "persons"
    """The cost of a suppressed cell: its persons, or one."""

    @property
    def class_check(self) -> Literal["repaired", "checked", "declined", "needless"]:
        """Return the treatment of groups that share one key; by default they are looked for if a group column is sensitive."""
        if self.class_disclosure is not None:
            return "repaired" if self.class_disclosure else "declined"
        roles = {column.name: column.role for column in self.source.declared}
        return "checked" if any(roles.get(name) is Role.SENSITIVE for name in self.by) else "needless"

    kind: ClassVar[str] = "table"

    @property
    def sources(self) -> tuple[TableSource, ...]:
        """Every source that the release and its audit read."""
        return (self.source,)

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
        """Return the query for an engine: every column that is added up, once."""
        sums = tuple(dict.fromkeys(measure.column for measure in self.added if measure.column is not None))
        unit = None if self.unit is None else self.unit.column
        return TableQuery(self.by, self.keys, sums, unit, self.margins, self.rules.largest, self.where)

    @property
    def impossible_cells(self) -> NDArray[np.bool_] | None:
        """Cells of its box that are empty by nature, (n,) bool; no totals."""
        if self.impossible is None:
            return None
        types = {column.name: column.type for column in self.source.columns}
        sides = [(*keys, None) if self.margins else keys for keys in self.keys]
        return cells_where(self.impossible, self.by, [types[name] for name in self.by], sides)

    @property
    def printed(self) -> PrintedTable:
        """Return the printed table, as an attacker sees it."""
        return PrintedTable(
            self.by,
            self.keys,
            self.margins,
            self.where,
            counted=any(one.kind == "count" for one in self.measures),
            round_up=self.round_up,
            sums=tuple(
                PrintedSum(
                    one.column,
                    one.low,
                    one.high,
                    one.kind == "weighted_count",
                    one.kind == "mean",
                    values=one.two_values,
                    step=one.grid,
                )
                for one in self.added
                if one.column is not None
            ),
            impossible=self.impossible_cells,
        )

    @property
    def columns(self) -> tuple[tuple[str, str], ...]:
        """Columns of the output and their types: the keys, which of them are summed over, the figures, and whether they are shown."""
        figures = ((one.name, "integer" if one.unit == 1 else "number") for one in self.measures)
        return (*((name, "string") for name in self.by), ("total_over", "string"), *figures, ("status", "string"))


def table_plan(
    release: TableRelease,
    dataset: Dataset,
    common: TableRules | None,
    source: TableSource,
    sinks: tuple[Sink, ...],
    location: Location | None,
    roots: Roots,
    checks: tuple[CheckPlan, ...] = (),
) -> TablePlan:
    """Return the plan of a table of a policy without faults."""
    keys = tuple(keys_of(release, name, dataset.columns[name], roots) or () for name in release.by)
    types = {name: column.type for name, column in dataset.columns.items()}
    where = None if release.where is None else parse_filter(release.where, types)
    measures = tuple(_measure(one, dataset) for one in release.measures)
    unit = None if dataset.person is None else UnitPlan(dataset.person.column, dataset.person.max_rows)
    needed = {*release.by, *(one.column for one in measures), None if unit is None else unit.column}
    needed |= set() if where is None else columns_of(where)
    needed |= naming_columns(source) if dataset.undeclared else set()
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
        rows_are_persons=dataset.unit == "rows",
        snapshot=dataset.snapshot,
        population_id=dataset.population,
        recipients=release.recipients,
        recipients_hold_previous=release.recipients_hold_previous,
        checks=checks,
        location=location,
        where=where,
        class_disclosure=release.protect.class_disclosure,
        prefer=release.protect.prefer,
        impossible=None if release.impossible is None else parse_filter(release.impossible, types),
        lists=tuple(ListFile(roots.inside(written, roots.folder), written) for written in dict.fromkeys(release.keys.values())),
    )


def tables_of_same_rows(plan: TablePlan, policy: Plan) -> tuple[TablePlan, ...]:
    """Return the tables of a policy that are of the same dataset, this one too, in the policy's order."""
    return tuple(one for one in releases_of(policy.releases, TablePlan) if one.source.dataset == plan.source.dataset)


def joined(tables: Sequence[TablePlan], *, most: float, fetch: Callable[[TableQuery], TableCells]) -> Linked:
    """Return tables of the same rows together. ``most``: rows of one person; ``fetch`` gives the cells of a query.

    Raises InputError: D632 where they are linked in a ring over too many columns, D640 where columns that determine others have too many keys.
    """
    unit = None if tables[0].unit is None else tables[0].unit.column
    try:
        return linked([one.printed for one in tables], tables[0].rules, unit, most, fetch, public_columns(tables))
    except TooManyNestedError as error:
        raise InputError(
            code="D640",
            message=f"columns and filters of the tables of {tables[0].source.dataset} decide about one another: {error}",
            hint="group by fewer or coarser keys, or leave out a table",
        ) from None
    except TooManyCellsError as error:
        raise InputError(
            code="D632",
            message=f"the tables of {tables[0].source.dataset} are linked in a ring: {error}",
            hint="group by fewer or coarser keys, or leave out a table",
        ) from None


def public_columns(tables: Sequence[TablePlan]) -> frozenset[str]:
    """Return the columns of which it may be known that another determines them: those that are not sensitive."""
    every = {column.name: column.role for one in tables for column in one.source.declared}
    return frozenset(name for name, role in every.items() if role is not Role.SENSITIVE)


def joint_source(tables: tuple[TablePlan, ...]) -> TableSource:
    """Return their source with the columns that any of them needs."""
    first = tables[0].source
    needed = {column.name for table in tables for column in table.source.columns}
    every = (*first.columns, *first.unread)
    return replace(
        first,
        columns=tuple(column for column in first.declared if column.name in needed),
        unread=tuple(column for column in every if column.name not in needed),
    )


def _measure(one: TableMeasure, dataset: Dataset) -> MeasurePlan:
    if one.column is None:
        return MeasurePlan("count", "count")
    spec = dataset.columns[one.column]
    grid = Fraction(1) if spec.grid is None else Fraction(spec.grid)
    assert spec.domain is not None
    assert spec.domain.range is not None
    low, high = (Fraction(text) / grid for text in spec.domain.range)
    kind: Literal["weighted_count", "sum", "mean"] = (
        "sum" if one.sum is not None else "mean" if one.mean is not None else "weighted_count"
    )
    return MeasurePlan(kind, figure_name(one), one.column, grid, int(low), int(high))


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
        class_disclosure=own.class_disclosure is True,
    )
