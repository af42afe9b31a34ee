"""Persons: what the policy says of the unit, checked against the rows. Messages count persons and name none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from privrelease.errors import InputError

if TYPE_CHECKING:
    from privrelease.engine.protocol import Engine, Staged
    from privrelease.plan.model import MicrodataPlan, UnitPlan
    from privrelease.relational.schema import TableSource

__all__ = ["Persons", "check_persons", "person_sizes"]


@dataclass(frozen=True, slots=True)
class Persons:
    """What is known of the persons.

    ``number``: distinct persons, None without a unit. ``repeat``: some person has several rows. ``linkable``: and those rows can
    still be brought together in the output, by the unit's column or by a pseudonym.
    """

    number: int | None = None
    repeat: bool = False
    linkable: bool = False


def check_persons(plan: MicrodataPlan, engine: Engine, staged: Staged) -> Persons:
    """Count persons and the rows of each. Raises InputError as :func:`person_sizes` does."""
    unit = plan.unit
    if unit is None:
        return Persons()
    number, most = person_sizes(unit, plan.source, engine, staged)
    tied = any(column.name == unit.column or column.treatment == "pseudonym" for column in plan.columns)
    return Persons(number, repeat=most > 1, linkable=most > 1 and tied)


def person_sizes(unit: UnitPlan, source: TableSource, engine: Engine, staged: Staged) -> tuple[int, int]:
    """Return the number of persons and the most rows of one.

    Raises InputError (D601 rows without a person, D602 persons with more rows than ``max_rows``).
    """
    sizes = engine.size_histogram(staged, (unit.column,), residual=True)
    if sizes.residual:
        raise InputError(
            code="D601",
            message=f"{sizes.residual} rows have no value in the unit column {unit.column}",
            hint="give every row its person, or leave those rows out of the source",
            location=source.location,
        )
    number = int(np.sum(sizes.classes))
    most = int(sizes.sizes[-1]) if len(sizes.sizes) else 0
    if unit.max_rows is not None and most > unit.max_rows:
        over = int(np.sum(sizes.classes[sizes.sizes > unit.max_rows]))
        raise InputError(
            code="D602",
            message=f"{over} of {number} persons have more than max_rows = {unit.max_rows} rows (the most is {most})",
            hint="raise `max_rows` in `unit`, or bring each person's rows down to it in the source",
            location=source.location,
        )
    return number, most
