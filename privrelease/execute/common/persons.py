"""Persons: what the policy says of the unit, checked against the rows. Messages count persons and name none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from privrelease.errors import InputError
from privrelease.findings import Finding, pluralise
from privrelease.relational.schema import Role
from privrelease.relational.treatments import CellRelation
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from privrelease.engine.protocol.base import Engine, Staged
    from privrelease.plan.model import MicrodataPlan, ReleasedColumn, ReleasePlan, UnitPlan
    from privrelease.relational.schema import TableSource

__all__ = ["Persons", "check_persons", "check_unit", "person_sizes"]


@dataclass(frozen=True, slots=True)
class Persons:
    """Facts about the persons.

    ``number``: distinct persons, None without a unit. ``repeat``: some person has several rows. ``linkable``: and those rows can
    still be brought together in the output, by the unit's column or by a pseudonym that repeats within the rows of one person.
    """

    number: int | None = None
    repeat: bool = False
    linkable: bool = False


def check_persons(plan: MicrodataPlan, engine: Engine, staged: Staged) -> Persons:
    """Count persons and the rows of each, and say whether the rows of one stay linkable.

    Raises InputError as :func:`person_sizes` does, and D603 where no unit is declared and a column that is released names persons several
    times: its rows are linkable, and protecting them one by one would protect no one (DESIGN semantics 2); D250 as :func:`check_unit`.
    """
    unit = plan.unit
    naming = tuple(column for column in plan.columns if _names_persons(column))
    if unit is None:
        _refuse_repeats(plan, tuple(column for column in naming if not _linking(plan, column)), engine, staged)
        check_unit(plan, plan.source, engine, staged)
        return Persons()
    number, most = person_sizes(unit, plan.source, engine, staged)
    if most <= 1:
        return Persons(number)
    leaves = any(column.name == unit.column for column in plan.columns)
    linkable = leaves or any(_repeats_within(column.name, unit, engine, staged) for column in naming)
    return Persons(number, repeat=True, linkable=linkable)


def _names_persons(column: ReleasedColumn) -> bool:
    return column.treatment.relation is CellRelation.KEYED_TOKEN or column.role is Role.DIRECT


def _linking(plan: MicrodataPlan, column: ReleasedColumn) -> bool:
    """Return True if the policy says that every row is a person, and that the column brings different persons together."""
    return plan.rows_are_persons and plan.source.column(column.name).links == "household"


def _refuse_repeats(plan: MicrodataPlan, naming: tuple[ReleasedColumn, ...], engine: Engine, staged: Staged) -> None:
    faults = []
    for column in naming:
        found = engine.size_histogram(staged, (column.name,), residual=True)
        repeated = int(np.sum(found.classes[found.sizes > 1]))
        if repeated:
            message = (
                f"{repeated} values of {column.name} occur in several rows, which their pseudonyms bring together in the output; "
                "no unit is declared, so every row would be protected as a person of its own"
            )
            hint = f"declare `unit: {{column: …}}` in the dataset (the column that names the person), or drop {column.name}"
            faults.append(Finding("D603", message, location=plan.source.location, hint=hint, subject=f"releases.{plan.id}"))
    if faults:
        first = faults[0]
        raise InputError(first.code, first.message, hint=first.hint, location=first.location, findings=tuple(faults))


def check_unit(plan: ReleasePlan, source: TableSource, engine: Engine, staged: Staged) -> None:
    """Check rows against what the policy says of persons, for a release of any kind.

    Raises InputError as :func:`person_sizes` does, and D250 where the policy says neither who the person is nor that rows are persons, and a
    direct identifier occurs in several rows: missing values are no repeats.
    """
    if plan.unit is not None:
        person_sizes(plan.unit, source, engine, staged)
        return
    if plan.rows_are_persons:
        return
    faults = []
    for column in source.columns:
        found = engine.size_histogram(staged, (column.name,), residual=True) if column.role is Role.DIRECT else None
        repeated = 0 if found is None else int(np.sum(found.classes[found.sizes > 1]))
        if repeated:
            message = (
                f"{pluralise(repeated, 'value')} of the direct identifier {column.name} {'occurs' if repeated == 1 else 'occur'} in several "
                "rows, and no unit is declared: rows would be counted as persons"
            )
            hint = (
                f"declare the person in the dataset (`unit: {{column: {column.name}}}`, or the column that names it), or say that every row "
                "is a person of its own (`unit: rows`)"
            )
            faults.append(Finding("D250", message, location=source.location, hint=hint, subject=f"releases.{plan.id}"))
    if faults:
        first = faults[0]
        raise InputError(first.code, first.message, hint=first.hint, location=first.location, findings=tuple(faults))


def _repeats_within(column: str, unit: UnitPlan, engine: Engine, staged: Staged) -> bool:
    """Return True if a value appears in several rows of one person: there are fewer (value, person) pairs than rows with it."""
    pairs, rows = (engine.size_histogram(staged, (column,), unit=person, residual=True) for person in (unit.column, None))
    return int(pairs.sizes @ pairs.classes) < int(rows.sizes @ rows.classes)


def person_sizes(unit: UnitPlan, source: TableSource, engine: Engine, staged: Staged) -> tuple[int, int]:
    """Return the number of persons and the most rows of one.

    Raises InputError (D601 rows without a person, D602 persons with more rows than ``max_rows``).
    """
    sizes = engine.size_histogram(staged, (unit.column,), residual=True)
    if sizes.residual:
        raise InputError(
            code="D601",
            message=f"{pluralise(sizes.residual, 'row has', 'rows have')} no value in the unit column {unit.column}",
            hint="give every row its person, or leave those rows out of the source",
            location=source.location,
        )
    number = int(np.sum(sizes.classes))
    most = int(sizes.sizes[-1]) if len(sizes.sizes) else 0
    if unit.max_rows is not None and most > unit.max_rows:
        over = int(np.sum(sizes.classes[sizes.sizes > unit.max_rows]))
        raise InputError(
            code="D602",
            message=f"{over} of {pluralise(number, 'person')} {'has' if over == 1 else 'have'} more than max_rows = {pluralise(unit.max_rows, 'row')} (the most is {most})",
            hint="raise `max_rows` in `unit`, or bring each person's rows down to it in the source. It bounds statistics, while rows and tables refuse "
            "persons with more rows: for a lower bound in statistics alone, declare a second dataset over the same file",
            location=source.location,
        )
    return number, most
