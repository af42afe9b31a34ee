"""The plan: a policy with every reference resolved and every threshold exact. Frozen; what execute and audit work from."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias, TypeVar, cast

from privrelease.relational.schema import Role
from privrelease.relational.treatments import AS_IS, CellRelation, Suppressed
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable
    from fractions import Fraction
    from pathlib import Path

    from privrelease.disclosure.risk.thresholds import Thresholds
    from privrelease.findings import Location
    from privrelease.plan.approvals import ApprovalsPlan, LedgerPlan, PublicationsPlan, WaiverPlan
    from privrelease.plan.attacks import AttacksPlan
    from privrelease.plan.statistics.plan import StatisticsPlan
    from privrelease.plan.synthetic.plan import SyntheticPlan
    from privrelease.plan.tables.plan import TablePlan
    from privrelease.relational.expectations import Expectation
    from privrelease.relational.schema import ColumnType, ListFile, Sink, TableSource
    from privrelease.relational.treatments import Treatment

__all__ = [
    "CheckPlan",
    "MicrodataPlan",
    "Plan",
    "PopulationPlan",
    "ReleasePlan",
    "ReleasedColumn",
    "SubsetLimit",
    "SuppressStep",
    "ThreatPlan",
    "UnitPlan",
    "named",
    "releases_of",
]


@dataclass(frozen=True, slots=True)
class UnitPlan:
    """The person: the column that names them, and the most rows each may have (None: any number)."""

    column: str
    max_rows: int | None = None


def naming_columns(source: TableSource) -> set[str]:
    """Return the direct identifiers that a source declares: where no person is, a value that repeats says that rows are not persons."""
    return {column.name for column in source.declared if column.role is Role.DIRECT}


@dataclass(frozen=True, slots=True)
class SubsetLimit:
    """Every combination of at most ``up_to`` of the threat's columns must have classes of at least ``k``."""

    up_to: int
    k: int


@dataclass(frozen=True, slots=True)
class PopulationPlan:
    """Source of F, the class size in the population: exactly one of a table, a weight column, or a size with an estimator."""

    table: TableSource | None = None
    weight: str | None = None
    size: int | None = None
    estimator: Literal["pitman", "zayatz", "snb", "dankar"] | None = None


@dataclass(frozen=True, slots=True)
class ThreatPlan:
    """An attacker: what they know (``columns``: those released), what is tolerated, how a missing value is read.

    ``absent``: known columns that are not in this release.
    """

    name: str
    columns: tuple[str, ...]
    thresholds: Thresholds
    attacker: Literal["prosecutor", "journalist", "marketer"] = "prosecutor"
    missing: Literal["category", "wildcard"] = "category"
    population: PopulationPlan | None = None
    subsets: SubsetLimit | None = None
    knows_rows: bool = False
    location: Location | None = None
    absent: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReleasedColumn:
    """A column that is released, with the type it has then, and its treatment."""

    name: str
    type: ColumnType
    role: Role
    treatment: Treatment = AS_IS


@dataclass(frozen=True, slots=True)
class SuppressStep:
    """Cell suppression: the largest share of QI cells that may be suppressed, the cost of a cell per column, what happens to
    residual rows, and what is to be lost as little as possible: cells or the information they hold.
    """

    limit: Fraction | None = None
    weights: tuple[tuple[str, Fraction], ...] = ()
    residual: Literal["drop", "keep"] = "drop"
    location: Location | None = None
    prefer: Literal["cells", "balanced", "information"] = "cells"


@dataclass(frozen=True, slots=True)
class CheckPlan:
    """A check of the policy on a release; ``maximum``/``minimum`` exact where the check has a limit, the rest in ``options``.

    ``expectation``: where it has a name of Great Expectations, with ``mostly``, the share that must meet it, and ``on``, where it looks.
    """

    id: str
    expect: str
    maximum: Fraction | None = None
    minimum: Fraction | None = None
    severity: Literal["error", "warn"] = "error"
    options: tuple[tuple[str, object], ...] = ()
    expectation: Expectation | None = None
    mostly: Fraction | None = None
    on: Literal["release", "source"] = "release"
    location: Location | None = None


@dataclass(frozen=True, slots=True)
class MicrodataPlan:
    """One microdata release.

    ``columns``: what is released, in output order. ``threats``: those the release protects against, all of which must hold.
    ``rows_are_persons``: the policy says so itself (`unit: rows`).
    ``suppress``: None where nothing may be suppressed (the release then only measures, and fails where a threat does not hold).
    ``frontier``: class sizes at which the internal report shows what the first threat would cost. ``lists``: files of hierarchies.
    """

    id: str
    source: TableSource
    columns: tuple[ReleasedColumn, ...]
    threats: tuple[ThreatPlan, ...]
    sinks: tuple[Sink, ...]
    unit: UnitPlan | None = None
    rows_are_persons: bool = False
    suppress: SuppressStep | None = None
    order: Literal["values", "source"] = "values"
    recipients: tuple[str, ...] | None = None
    recipients_hold_previous: bool = True
    frontier: tuple[int, ...] = ()
    checks: tuple[CheckPlan, ...] = ()
    attacks: AttacksPlan | None = None
    snapshot: str | None = None
    population_id: str | None = None
    lists: tuple[ListFile, ...] = ()
    location: Location | None = None

    kind: ClassVar[str] = "microdata"

    @property
    def sources(self) -> tuple[TableSource, ...]:
        """Every source that the release and its audit read: its own, the population tables of its threats, the files of attacks."""
        tables = (threat.population.table for threat in self.threats if threat.population is not None)
        attacks = () if self.attacks is None else self.attacks.sources
        return (self.source, *(table for table in tables if table is not None), *attacks)

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The union of the protected threats' columns, in the order of the output."""
        known = {column for threat in self.threats for column in threat.columns}
        return tuple(column.name for column in self.columns if column.name in known)

    @property
    def lossy(self) -> frozenset[str]:
        """The columns of which single cells may be suppressed."""
        return frozenset(self.quasi_identifiers if self.suppress is not None else ())

    @property
    def may_lack(self) -> frozenset[str]:
        """The columns of which a released cell may be missing where that of the source is not: by suppression, or by their treatment."""
        return self.lossy | {column.name for column in self.columns if column.treatment.relation.may_lack}

    def treatment_of(self, column: ReleasedColumn) -> Treatment:
        """Return the treatment of a column in this release: its own, or suppression of cells where those may be suppressed."""
        equal = column.treatment.relation is CellRelation.EQUAL
        return Suppressed() if equal and column.name in self.lossy else column.treatment


#: One release of any kind.
ReleasePlan: TypeAlias = "MicrodataPlan | StatisticsPlan | TablePlan | SyntheticPlan"

_Plan = TypeVar("_Plan", bound="ReleasePlan")
_Entry = TypeVar("_Entry")


def releases_of(releases: Iterable[ReleasePlan], plans: type[_Plan]) -> tuple[_Plan, ...]:
    """Return the releases of one kind, in their order."""
    return tuple(cast("_Plan", one) for one in releases if one.kind == plans.kind)


def named(kind: str, entries: Iterable[tuple[str, _Entry]]) -> _Entry:
    """Return the entry of a tuple by kind of release. Raises KeyError where the tuple lacks the kind.

    >>> named("table", (("microdata", 1), ("table", 2)))
    2
    """
    for name, entry in entries:
        if name == kind:
            return entry
    raise KeyError(kind)


@dataclass(frozen=True, slots=True)
class Plan:
    """Every release of a policy, and which policy: id, version, absolute path, SHA-256 of its resolved form."""

    policy_id: str
    policy_version: str
    policy_path: Path
    policy_sha256: str
    title: str
    releases: tuple[ReleasePlan, ...]
    environment: str | None = None
    commit: str | None = None
    language: Literal["en", "de", "fr"] | None = field(default=None, compare=False)
    """The language of the report; None: English."""
    legal: object | None = field(default=None, compare=False)
    missing_legal: tuple[str, ...] = ()
    """Legal fields that the policy's profile requires and the policy does not state: they turn a pass into a review."""
    context: object | None = field(default=None, compare=False)
    review: object | None = field(default=None, compare=False)
    ledger: LedgerPlan | None = None
    waivers: tuple[WaiverPlan, ...] = ()
    approvals: ApprovalsPlan | None = None
    publications: PublicationsPlan | None = None
    """None: of a plan that no policy file was loaded for; nothing is recorded."""
