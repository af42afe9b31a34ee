"""Households in a forecast: columns that would bring rows of several persons together, and compositions that too few households would share."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from privrelease.disclosure.classes.households import compositions, joint_codes, linked_values
from privrelease.execute.microdata.suppression import row_masks
from privrelease.findings import Finding, Severity, pluralise
from privrelease.plan.microdata.links import LESS_OF_HOUSEHOLDS, SAY_WHOM, household_columns, known_of_members, possible_links
from privrelease.relational.schema import ColumnType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from privrelease.engine.protocol.base import Engine
    from privrelease.execute.microdata.protection import Protected
    from privrelease.plan.model import MicrodataPlan

__all__ = ["link_findings"]


def link_findings(plan: MicrodataPlan, protected: Protected, engine: Engine) -> tuple[Finding, ...]:
    """Return D254 for a column that looks like the number of a household and is not declared, and D255 (error) for households that a run
    would not hide: measured on the rows and cells that it would release.
    """
    unit = plan.unit.column if plan.unit is not None and protected.persons.repeat else None
    return (*_suspected(plan, protected, engine, unit), *_exposed(plan, protected, engine, unit))


def _codes(engine: Engine, protected: Protected, column: str) -> NDArray[np.int32]:
    rows = engine.classes(protected.source, (column,))
    return np.asarray(rows.table.codes[rows.row_class, 0], np.int32)


def _suspected(plan: MicrodataPlan, protected: Protected, engine: Engine, unit: str | None) -> Iterator[Finding]:
    possible = possible_links(plan)
    kinds = {column.name: column.type for column in plan.columns}
    for name, found in zip(possible, engine.value_sizes(protected.source, possible, unit=unit), strict=True):
        linked = linked_values(found.sizes, found.classes, numbers=kinds[name] is ColumnType.INTEGER)
        if linked:
            message = (
                f"most values of {name} belong to 2 to 20 persons each ({pluralise(linked, 'value')}), as numbers of households do: "
                "a run would leave the release to a person"
            )
            yield Finding("D254", message, Severity.WARN, location=plan.location, hint=SAY_WHOM, subject=f"releases.{plan.id}")


def _exposed(plan: MicrodataPlan, protected: Protected, engine: Engine, unit: str | None) -> Iterator[Finding]:
    households = household_columns(plan)
    if not households:
        return
    masks, dropped = row_masks(protected.solution, protected.rows, protected.row_pair)
    kept = ~dropped
    persons = None if unit is None else engine.persons(protected.source, unit)[kept]
    table, of_row = protected.rows.table, protected.rows.row_class

    def cells(name: str) -> NDArray[np.int32]:
        place = table.columns.index(name)
        lost = (masks[:, place // 64] >> np.uint64(place % 64)) & np.uint64(1)
        return np.where(lost == 0, table.codes[of_row, place], 0)[kept]

    for household in households:
        codes = _codes(engine, protected, household)[kept]
        for threat, known in zip(plan.threats, known_of_members(plan, household), strict=True):
            if threat.thresholds.highest is None:
                continue
            tuples = joint_codes((cells(name) for name in known), len(codes))
            sizes = compositions(codes, persons, tuples, knows_rows=threat.knows_rows).sizes
            if sizes.smallest is not None and Fraction(1, sizes.smallest) > threat.thresholds.highest:
                k = threat.thresholds.k
                message = (
                    f"threat {threat.name} would find {pluralise(sizes.records_below(k), 'household')} of {sizes.n_records} in {household} by the "
                    f"values of their members, which fewer than {k} households would share"
                )
                yield Finding("D255", message, location=plan.location, hint=LESS_OF_HOUSEHOLDS, subject=f"releases.{plan.id}")
