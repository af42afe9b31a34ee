"""``plan --data``: what a run would find and take, computed on the source by the same solver. Writes nothing.

The figures are those that the run then shows, as long as the source stays the same; they are internal, like the source.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from privrelease.disclosure.class_sizes import ClassSizes, SizeHistogram
from privrelease.disclosure.persons import linkable_class_sizes, person_class_sizes
from privrelease.disclosure.prosecutor import prosecutor_risk
from privrelease.disclosure.wildcard import match_sizes
from privrelease.execute.limit import limit_exceeded
from privrelease.execute.microdata import protect
from privrelease.execute.progress import silent
from privrelease.execute.suppression import nulled_cells

if TYPE_CHECKING:
    from fractions import Fraction

    from privrelease.disclosure.classes import ClassTable
    from privrelease.engine.protocol import Engine
    from privrelease.execute.progress import Progress
    from privrelease.findings import Finding
    from privrelease.plan.model import MicrodataPlan, ThreatPlan

__all__ = ["ColumnForecast", "Forecast", "ThreatForecast", "forecast"]


@dataclass(frozen=True, slots=True)
class ThreatForecast:
    """Risk of the source for one threat, as a prosecutor meets it, before anything is suppressed.

    ``k``: what the threshold demands; ``smallest``: size of the smallest class (None: no record). ``counted``: what a class
    counts; where rows stay linkable, persons with the same set of rows. ``below_k``: records (or persons of a class) in classes smaller than ``k``.
    """

    name: str
    columns: tuple[str, ...]
    counted: Literal["records", "persons", "person_sets"]
    reading: Literal["category", "wildcard"]
    k: int
    smallest: int | None
    classes: int | None
    uniques: int
    below_k: int
    highest: Fraction | None
    average: Fraction | None


@dataclass(frozen=True, slots=True)
class ColumnForecast:
    """Cells of one column that would become missing, and those that would go with dropped rows."""

    column: str
    suppressed: int
    in_dropped_rows: int


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a run would find and take. ``feasible``: every threshold can be met. ``findings``: warnings, and the limit if exceeded."""

    release: str
    source_rows: int
    source_persons: int | None
    classes: int
    threats: tuple[ThreatForecast, ...]
    columns: tuple[ColumnForecast, ...]
    rows_dropped: int
    cells_total: int
    feasible: bool
    findings: tuple[Finding, ...]

    @property
    def cells_lost(self) -> int:
        """Cells that would be lost, dropped rows included."""
        return sum(column.suppressed + column.in_dropped_rows for column in self.columns)


def forecast(plan: MicrodataPlan, engine: Engine, progress: Progress = silent) -> Forecast:
    """Forecast one microdata release. Needs no pseudonym key. Raises InputError where the source is not as declared."""
    protected = protect(plan, engine, progress)
    table, solution = protected.rows.table, protected.solution
    nulled = nulled_cells(solution)
    names = table.columns
    lost = dict(zip(names, solution.lost_cells.tolist(), strict=True))
    total = protected.source.n_rows * len(names)
    over = limit_exceeded(plan, lost, total)
    return Forecast(
        release=plan.id,
        source_rows=protected.source.n_rows,
        source_persons=protected.persons.number,
        classes=table.n_classes,
        threats=tuple(_before(threat, table, linkable=protected.persons.linkable) for threat in plan.threats),
        columns=tuple(
            ColumnForecast(name, cells, lost[name] - cells) for name, cells in zip(names, nulled.tolist(), strict=True)
        ),
        rows_dropped=int(solution.records[solution.dropped].sum()),
        cells_total=total,
        feasible=solution.feasible,
        findings=(*protected.source.warnings, *(() if over is None else (over,))),
    )


def _before(threat: ThreatPlan, table: ClassTable, *, linkable: bool) -> ThreatForecast:
    columns = tuple(column for column in dict.fromkeys(threat.columns) if column in table.columns)
    sizes: SizeHistogram
    counted: Literal["records", "persons", "person_sets"] = "records"
    if table.pairs_class is not None and linkable:
        counted = "person_sets"
        sizes = linkable_class_sizes(table, columns)
    elif table.pairs_class is not None:
        counted = "persons"
        sizes = person_class_sizes(table, columns)
    elif threat.missing == "wildcard":
        sizes = match_sizes(table, columns)
    else:
        sizes = ClassSizes.from_table(table, columns)
    risk = prosecutor_risk(sizes)
    k = threat.thresholds.k
    return ThreatForecast(
        name=threat.name,
        columns=columns,
        counted=counted,
        reading="category" if isinstance(sizes, ClassSizes) else "wildcard",
        k=k,
        smallest=sizes.smallest,
        classes=sizes.n_classes if isinstance(sizes, ClassSizes) else None,
        uniques=sizes.uniques,
        below_k=sizes.records_below(k),
        highest=risk.highest,
        average=risk.average,
    )
