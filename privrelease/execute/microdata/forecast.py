"""``plan --data``: what a run would find and take, computed on the source by the same solver. Writes nothing.

The figures are those that the run then shows, as long as the source stays the same; they are internal, like the source.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from privrelease.disclosure.classes.class_sizes import ClassSizes, SizeHistogram
from privrelease.disclosure.classes.person_matches import person_match_sizes
from privrelease.disclosure.classes.persons import linkable_class_sizes, person_class_sizes
from privrelease.disclosure.classes.subsets import smallest_classes
from privrelease.disclosure.classes.wildcard import match_sizes
from privrelease.disclosure.population.class_sizes import sizes_from_weights
from privrelease.disclosure.risk.journalist import journalist_risk
from privrelease.disclosure.risk.marketer import marketer_risk
from privrelease.disclosure.risk.prosecutor import prosecutor_risk
from privrelease.disclosure.risk.verdict import judge
from privrelease.execute.common.progress import silent
from privrelease.execute.microdata.households import link_findings
from privrelease.execute.microdata.protection import protect
from privrelease.execute.microdata.recoding import MAKERS
from privrelease.execute.microdata.suppression import limit_exceeded, nulled_cells
from privrelease.plan.microdata.cell_bound import bound_of_release
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from fractions import Fraction

    from privrelease.disclosure.classes.equivalence_classes import ClassTable
    from privrelease.disclosure.risk.verdict import RiskMeasures
    from privrelease.engine.protocol.base import Engine
    from privrelease.execute.common.progress import Progress
    from privrelease.execute.microdata.recoding import Makers
    from privrelease.findings import Finding
    from privrelease.plan.microdata.cell_bound import CellBound
    from privrelease.plan.model import MicrodataPlan, ThreatPlan

__all__ = [
    "ColumnForecast",
    "Counted",
    "Forecast",
    "ThreatForecast",
    "forecast",
    "leaving",
    "separating_column",
    "threat_sizes",
]

Counted = Literal["records", "persons", "person_sets"]
Residual = Literal["lost", "class"]


@dataclass(frozen=True, slots=True)
class ThreatForecast:
    """Risk of the source for one threat before anything is suppressed.

    ``highest`` and ``average`` are of the threat's own ``attacker``; where they cannot be measured before a run they are None, and
    ``not_assessed`` is the reason. Class sizes are those of the source.

    ``k``: what the threshold demands; ``smallest``: size of the smallest class (None: no record). ``counted``: what a class
    counts; where rows stay linkable, persons with the same set of rows. ``below_k``: records (or persons of a class) in classes smaller than ``k``.
    """

    name: str
    columns: tuple[str, ...]
    counted: Counted
    reading: Literal["category", "wildcard"]
    k: int
    smallest: int | None
    classes: int | None
    uniques: int
    below_k: int
    highest: Fraction | None
    average: Fraction | None
    attacker: Literal["prosecutor", "journalist", "marketer"] = "prosecutor"
    not_assessed: str | None = None


@dataclass(frozen=True, slots=True)
class ColumnForecast:
    """Cells of one column that would become missing, and those that would be removed with dropped rows."""

    column: str
    suppressed: int
    in_dropped_rows: int

    @property
    def lost(self) -> int:
        """Cells that would be lost in either way."""
        return self.suppressed + self.in_dropped_rows


@dataclass(frozen=True, slots=True)
class Forecast:
    """Result of a run in advance: what it would find and suppress. ``findings``: warnings, and the limit if exceeded.

    ``feasible``: suppression can meet every threshold. ``unmet``: threats of a release without a suppress step that the source as it
    is does not hold against; threats of attackers other than the prosecutor are left to the audit.
    """

    release: str
    source_rows: int
    source_persons: int | None
    classes: int
    threats: tuple[ThreatForecast, ...]
    columns: tuple[ColumnForecast, ...]
    rows_dropped: int
    cells_total: int
    feasible: bool
    unmet: tuple[str, ...]
    findings: tuple[Finding, ...]
    bound: CellBound | None = None
    """The fewest cells that would do; None where no step suppresses cells."""

    @property
    def cells_lost(self) -> int:
        """Cells that would be lost, dropped rows included."""
        return sum(column.lost for column in self.columns)


def forecast(plan: MicrodataPlan, engine: Engine, progress: Progress = silent, makers: Makers = MAKERS) -> Forecast:
    """Forecast one microdata release. Needs no pseudonym key. ``makers``: of the values that transform steps replace. Raises InputError where the source is not as declared."""
    protected = protect(plan, engine, progress, makers)
    table, solution = protected.rows.table, protected.solution
    nulled = nulled_cells(solution)
    names = table.columns
    lost = dict(zip(names, solution.lost_cells.tolist(), strict=True))
    total = protected.source.n_rows * len(names)
    over = limit_exceeded(plan, lost, total, partial(separating_column, plan, table, protected.persons.linkable))
    residual = _residual(plan)
    linkable = protected.persons.linkable
    unmet = (
        () if plan.suppress is not None else tuple(one.name for one in plan.threats if _unmet(one, table, linkable, residual))
    )
    return Forecast(
        release=plan.id,
        source_rows=protected.source.n_rows,
        source_persons=protected.persons.number,
        classes=table.n_classes,
        threats=tuple(_before(threat, table, linkable, residual) for threat in plan.threats),
        columns=tuple(
            ColumnForecast(name, cells, lost[name] - cells) for name, cells in zip(names, nulled.tolist(), strict=True)
        ),
        rows_dropped=int(solution.records[solution.dropped].sum()),
        cells_total=total,
        feasible=solution.feasible,
        unmet=unmet,
        bound=bound_of_release(plan, table, linkable=linkable),
        findings=(*protected.source.warnings, *(() if over is None else (over,)), *link_findings(plan, protected, engine)),
    )


def _residual(plan: MicrodataPlan) -> Residual:
    """Say what a source record without any known value is: a class, unless the source marks suppressed cells (the audit's rule)."""
    known = set(plan.quasi_identifiers)
    marked = any(column.format.suppression_mark is not None for column in plan.source.columns if column.name in known)
    return "lost" if marked else "class"


def leaving(threat: ThreatPlan, table: ClassTable) -> tuple[str, ...]:
    """Return the columns of a threat that are released: any other cannot be matched."""
    return tuple(column for column in dict.fromkeys(threat.columns) if column in table.columns)


def threat_sizes(threat: ThreatPlan, table: ClassTable, linkable: bool, residual: Residual) -> tuple[Counted, SizeHistogram]:
    """Return class sizes as a threat reads them, and what they count: records, persons, or persons with the same set of rows."""
    columns = leaving(threat, table)
    if table.pairs_class is not None and linkable:
        return "person_sets", linkable_class_sizes(table, columns, residual=residual)
    if table.pairs_class is not None and threat.missing == "wildcard":
        return "persons", person_match_sizes(table, columns, residual=residual)
    if table.pairs_class is not None:
        return "persons", person_class_sizes(table, columns, residual=residual)
    if threat.missing == "wildcard":
        return "records", match_sizes(table, columns, residual=residual)
    return "records", ClassSizes.from_table(table, columns, residual=residual)


def separating_column(plan: MicrodataPlan, table: ClassTable, linkable: bool) -> str | None:
    """Return the column without which fewest records (persons, where these are counted) are in classes below k, summed over the threats of
    prosecutors; of several the first. None where no column alone makes them fewer. A missing value is a category here, whatever the threat's reading.
    """
    residual = _residual(plan)
    threats = [(one, leaving(one, table)) for one in plan.threats if one.attacker == "prosecutor"]

    def below(left_out: str | None) -> int:
        kept = ((one, tuple(name for name in columns if name != left_out)) for one, columns in threats)
        sized = (
            (threat_sizes(replace(one, columns=names, missing="category"), table, linkable, residual)[1], one.thresholds.k)
            for one, names in kept
            if names
        )
        return sum(sizes.records_below(k) for sizes, k in sized)

    known = dict.fromkeys(name for _, columns in threats for name in columns)
    found = {name: below(name) for name in known}
    first = min(found, key=lambda name: found[name], default=None)
    return first if first is not None and found[first] < below(None) else None


def _unmet(threat: ThreatPlan, table: ClassTable, linkable: bool, residual: Residual) -> bool:
    """Return True if the source as it is misses a threshold of ``threat``."""
    columns = leaving(threat, table)
    if threat.attacker != "prosecutor" or not columns:
        return False
    _, sizes = threat_sizes(threat, table, linkable, residual)
    at_risk = threat.thresholds.at_risk
    risk = prosecutor_risk(sizes, above=None if at_risk is None else at_risk.above)
    if risk.n_records == 0 or not all(one.holds for one in judge(risk, threat.thresholds).judgements):
        return True
    limit, persons = threat.subsets, table.pairs_class is not None
    return limit is not None and bool(
        smallest_classes(table, limit.up_to, limit.k, list(columns), persons=persons, residual=residual).failing
    )


def _before(threat: ThreatPlan, table: ClassTable, linkable: bool, residual: Residual) -> ThreatForecast:
    counted, sizes = threat_sizes(threat, table, linkable, residual)
    why, risk = _attackers_risk(threat, table, counted, sizes, residual)
    k = threat.thresholds.k
    return ThreatForecast(
        attacker=threat.attacker,
        not_assessed=why,
        name=threat.name,
        columns=leaving(threat, table),
        counted=counted,
        reading="category" if isinstance(sizes, ClassSizes) else "wildcard",
        k=k,
        smallest=sizes.smallest,
        classes=sizes.n_classes if isinstance(sizes, ClassSizes) else None,
        uniques=sizes.uniques,
        below_k=sizes.records_below(k),
        highest=None if risk is None else risk.highest,
        average=None if risk is None else risk.average,
    )


def _attackers_risk(
    threat: ThreatPlan, table: ClassTable, counted: Counted, sizes: SizeHistogram, residual: Residual
) -> tuple[str | None, RiskMeasures | None]:
    """Measure the threat's own attacker on the source; a reason where the population that it needs is measured by the audit alone."""
    if threat.attacker == "prosecutor":
        return None, prosecutor_risk(sizes)
    population = threat.population
    if counted in {"person_sets", "person_multisets"}:
        return "the population's persons are not known by their sets of rows", None
    if population is not None and population.table is not None:
        return "the audit of a run compares the classes with the population's table", None
    if table.weights is None or population is None or population.weight is None:
        return "class sizes in the population are not known", None
    if counted == "persons":
        return "the audit of a run adds up the weights of persons", None
    found = sizes_from_weights(table, leaving(threat, table), missing=threat.missing, residual=residual)
    return None, marketer_risk(found) if threat.attacker == "marketer" else journalist_risk(found)
