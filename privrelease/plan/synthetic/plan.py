"""The plan of a synthetic release: coded columns, rules, budget and method, before any row is read."""

from __future__ import annotations

from dataclasses import field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Final

from privrelease.plan.model import UnitPlan
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from privrelease.dp.budget import Budget
    from privrelease.dp.envelope_records import Reserved
    from privrelease.dp.queries import Setting
    from privrelease.findings import Location
    from privrelease.plan.attacks import AttacksPlan
    from privrelease.plan.model import CheckPlan
    from privrelease.policy.language.datasets import Dataset
    from privrelease.policy.language.synthetic import SyntheticRelease
    from privrelease.policy.synthetic.columns import MadeColumn
    from privrelease.policy.synthetic.resolve import Discovery
    from privrelease.relational.coded_columns import CellsOf
    from privrelease.relational.filters import Filter
    from privrelease.relational.schema import Column, ListFile, Sink, TableSource
    from privrelease.synthesis.domain import CodedDomain
    from privrelease.synthesis.method import Held, MethodForecast, Settings

__all__ = ["DEFAULT_POPULATION", "SyntheticPlan", "synthetic_plan"]

#: Datasets that name no population share this one, so that their budgets add up.
DEFAULT_POPULATION: Final = "unnamed"


@dataclass(frozen=True, slots=True)
class SyntheticPlan:
    """One synthetic release. ``source``: without domains, since values outside count in a cell, and are not refused.

    ``modelled``: coded columns, in the order of their names; ``columns``: released ones, in the order of the output. ``rows``: None, the noisy
    number. ``checked``: the source as checks of the policy read it.
    """

    id: str
    source: TableSource
    method: str
    columns: tuple[Column, ...]
    modelled: tuple[CellsOf, ...]
    made: tuple[MadeColumn, ...]
    impossible: tuple[Filter, ...]
    rules: tuple[str, ...]
    domain: CodedDomain = field(compare=False)
    discoveries: tuple[Discovery, ...]
    rows: int | None
    holdout: Fraction | None
    setting: Setting
    budget: Budget
    reserved: Reserved
    held: Held
    settings: Settings
    forecast: MethodForecast
    sinks: tuple[Sink, ...]
    unit: UnitPlan | None = None
    rows_are_persons: bool = False
    snapshot: str | None = None
    population_id: str | None = None
    fresh: bool = False
    checks: tuple[CheckPlan, ...] = ()
    checked: TableSource | None = None
    attacks: AttacksPlan | None = None
    location: Location | None = None

    kind: ClassVar[str] = "synthetic"
    lists: ClassVar[tuple[ListFile, ...]] = ()
    #: The ledger adds up whatever was published, so that it is always counted as held.
    recipients_hold_previous: ClassVar[bool] = True
    recipients: ClassVar[tuple[str, ...] | None] = None

    @property
    def sources(self) -> tuple[TableSource, ...]:
        """Every source that the release and its audit read: its own, and the files of attacks."""
        return (self.source, *(() if self.attacks is None else self.attacks.sources))

    @property
    def population(self) -> str:
        """The population whose budget is spent."""
        return self.population_id or DEFAULT_POPULATION


def synthetic_plan(
    release: SyntheticRelease,
    dataset: Dataset,
    source: TableSource,
    read: TableSource,
    sinks: tuple[Sink, ...],
    location: Location | None,
    checks: tuple[CheckPlan, ...],
    checked: TableSource | None,
    attacks: AttacksPlan | None = None,
) -> SyntheticPlan:
    """Return the plan of a release. ``source``: with every column; ``read``: as the release reads it."""
    from privrelease.policy.kind_synthetic import SYNTHETIC
    from privrelease.policy.synthetic.resolve import resolve

    found, _ = resolve(release, release.from_, dataset)
    assert found is not None  # a policy with faults is not loaded
    types = SYNTHETIC.columns(release, dataset)
    return SyntheticPlan(
        id=release.id,
        source=read,
        method=release.method,
        columns=tuple(replace(source.column(name), type=kind) for name, kind in types.items()),
        modelled=found.columns,
        made=found.made,
        impossible=found.impossible,
        rules=release.impossible,
        domain=found.domain,
        discoveries=found.discoveries,
        rows=release.rows if isinstance(release.rows, int) else None,
        holdout=None if release.holdout is None else Fraction(release.holdout),
        setting=found.setting,
        budget=found.budget,
        reserved=found.reserved,
        held=found.held,
        settings=found.settings,
        forecast=found.forecast,
        sinks=sinks,
        unit=None if dataset.person is None else UnitPlan(dataset.person.column, dataset.person.max_rows),
        rows_are_persons=dataset.unit == "rows",
        snapshot=dataset.snapshot,
        population_id=dataset.population,
        fresh=release.fresh,
        checks=checks,
        checked=checked,
        attacks=attacks,
        location=location,
    )
