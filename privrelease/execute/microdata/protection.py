"""From a source to classes, and from classes to suppressed cells: read once, solved as often as thresholds are tried."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from privrelease.disclosure.suppression.cell_suppression import suppress_cells
from privrelease.execute.common.persons import Persons, check_persons
from privrelease.execute.common.progress import silent
from privrelease.execute.microdata.populations import check_weights, stage_populations
from privrelease.execute.microdata.recoding import MAKERS, recoded
from privrelease.execute.microdata.suppression import (
    nothing_suppressed,
    population_classes,
    suppression_problem,
    weight_column,
)
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from privrelease.disclosure.classes.equivalence_classes import ClassTable
    from privrelease.disclosure.suppression.problem import Solution
    from privrelease.engine.protocol.base import Engine, RowClasses, Staged
    from privrelease.execute.common.progress import Progress
    from privrelease.execute.microdata.recoding import Makers
    from privrelease.plan.model import MicrodataPlan

__all__ = ["Prepared", "Protected", "prepare", "protect", "solve"]


@dataclass(frozen=True, eq=False, slots=True)
class Prepared:
    """A source, its persons and classes, before anything is suppressed. ``populations``: by threat."""

    source: Staged
    persons: Persons
    rows: RowClasses
    populations: Mapping[str, ClassTable] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, slots=True)
class Protected:
    """A source, its persons and classes, and the solution that protects it."""

    source: Staged
    persons: Persons
    rows: RowClasses
    solution: Solution


def prepare(plan: MicrodataPlan, engine: Engine, progress: Progress = silent, makers: Makers = MAKERS) -> Prepared:
    """Read the source, check persons, and collapse to classes: once, however often the release is then protected. Writes nothing.

    ``makers``: of the values that transform steps replace. Raises InputError where the data is not as declared.
    """
    progress("read", None)
    staged = engine.stage(plan.source)
    persons = check_persons(plan, engine, staged)
    tables = stage_populations(plan, engine, staged.n_rows if persons.number is None else persons.number)
    progress("classes", None)
    staged = recoded(plan, staged, engine, makers)
    unit = plan.unit.column if plan.unit is not None and persons.repeat else None
    if not plan.quasi_identifiers:
        return Prepared(staged, persons, engine.classes(staged, ()))
    rows = engine.classes(staged, plan.quasi_identifiers, unit=unit, weight=weight_column(plan))
    check_weights(plan, rows.table)
    if plan.suppress is None:
        return Prepared(staged, persons, rows)
    populations = population_classes(plan, engine, staged, rows.table, tables)
    return Prepared(staged, persons, rows, populations)


def solve(plan: MicrodataPlan, prepared: Prepared, progress: Progress = silent) -> Solution:
    """Choose the cells to suppress so that every threat of ``plan`` holds; none where it has no such step or no quasi-identifier.

    ``plan``: that of ``prepared``, or one that differs in the thresholds of its threats alone.
    """
    table = prepared.rows.table
    if plan.suppress is None or not table.columns:
        return nothing_suppressed(table)
    progress("suppress", None)
    problem = suppression_problem(
        plan,
        plan.suppress,
        table,
        prepared.populations,
        linkable=prepared.persons.linkable,
        pair_rows=prepared.rows.pair_rows if prepared.persons.linkable else None,
    )
    return suppress_cells(problem, progress=progress)


def protect(plan: MicrodataPlan, engine: Engine, progress: Progress = silent, makers: Makers = MAKERS) -> Protected:
    """Read the source, check persons, collapse to classes, and solve. Writes nothing. Raises InputError where the data is not as declared."""
    prepared = prepare(plan, engine, progress, makers)
    return Protected(prepared.source, prepared.persons, prepared.rows, solve(plan, prepared, progress))
