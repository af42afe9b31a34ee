"""Households in a forecast: columns that would bring rows of several persons together, and compositions that too few households would share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from privrelease.disclosure.classes.households import compositions, joint_codes, linked_values
from privrelease.disclosure.classes.persons import pair_times
from privrelease.findings import Finding, Severity, pluralise
from privrelease.plan.microdata.links import (
    LESS_OF_HOUSEHOLDS,
    SAY_WHOM,
    household_columns,
    known_of_members,
    possible_links,
    seldom_links,
)
from privrelease.relational.schema import ColumnType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from privrelease.disclosure.classes.households import Compositions
    from privrelease.engine.protocol.base import Engine
    from privrelease.execute.microdata.protection import Protected
    from privrelease.plan.model import MicrodataPlan, ThreatPlan

__all__ = ["link_findings"]


def link_findings(plan: MicrodataPlan, protected: Protected, engine: Engine) -> tuple[Finding, ...]:
    """Return D254 for a column that looks like the number of a household and is not declared, and D255 for households that a run would not
    hide: an error where it would release the source's rows and cells as they are; a warning where it would suppress or drop any, since
    compositions are measured before that, and the audit measures what is released.
    """
    unit = plan.unit.column if plan.unit is not None and protected.persons.repeat else None
    return (*_suspected(plan, protected, engine, unit), *_exposed(plan, protected, engine, unit))


def _suspected(plan: MicrodataPlan, protected: Protected, engine: Engine, unit: str | None) -> Iterator[Finding]:
    possible = possible_links(plan)
    kinds = {column.name: column.type for column in plan.columns}
    for name, found in zip(possible, engine.value_sizes(protected.source, possible, unit=unit), strict=True):
        numbers, plainly = kinds[name] in {ColumnType.INTEGER, ColumnType.NUMBER}, seldom_links(plan, name)
        linked = linked_values(found.sizes, found.classes, numbers=numbers, plainly=plainly)
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
    whole = not protected.solution.suppressed.any() and not protected.solution.dropped.any()
    for household in households:
        for threat, known in zip(plan.threats, known_of_members(plan, household), strict=True):
            if threat.thresholds.highest is None:
                continue
            codes, persons = _members(engine, protected, (*known, household), unit)
            tuples = joint_codes((codes[:, place] for place in range(len(known))), len(codes))
            found = compositions(codes[:, -1], persons, tuples, knows_rows=threat.knows_rows)
            for message in _found(found, household, threat):
                yield Finding(
                    "D255",
                    f"{message}{'' if whole else '; cells that a run suppresses are counted as they are in the source'}",
                    Severity.ERROR if whole else Severity.WARN,
                    location=plan.location,
                    hint=LESS_OF_HOUSEHOLDS,
                    subject=f"releases.{plan.id}",
                )


def _found(found: Compositions, household: str, threat: ThreatPlan) -> Iterator[str]:
    """Say which households, and which persons without a number, a threat would find."""
    sizes, alone, k = found.sizes, found.unnumbered, threat.thresholds.k
    if sizes.smallest is not None and sizes.smallest < k:
        yield (
            f"threat {threat.name} would find {pluralise(sizes.records_below(k), 'household')} of {sizes.n_records} in {household} by the "
            f"values of their members, which fewer than {k} households would share"
        )
    if alone.smallest is not None and alone.smallest < k:
        yield (
            f"threat {threat.name} would find {pluralise(alone.records_below(k), 'person')} of {alone.n_records} without a number in {household}: "
            f"fewer than {k} of these would share their values"
        )


def _members(
    engine: Engine, protected: Protected, columns: tuple[str, ...], unit: str | None
) -> tuple[NDArray[np.integer[Any]], NDArray[np.int64] | None]:
    """Return the codes of ``columns`` of every row of the source, in the order of classes, and its person; None where each row is one."""
    rows = engine.classes(protected.source, columns, unit=unit)
    table = rows.table
    if table.pairs_class is None or table.pairs_person is None or rows.pair_rows is None:
        return np.repeat(table.codes, table.counts, axis=0), None
    times = np.ones(int(table.pairs_person.max(initial=0)) + 1, np.int64) if table.alike is None else table.alike
    each = pair_times(table)
    pair = np.repeat(np.arange(len(each)), each)  # once for each person that is alike
    first = (np.cumsum(times) - times)[table.pairs_person]
    person = first[pair] + np.arange(len(pair)) - np.repeat(np.cumsum(each) - each, each)
    rows_of = rows.pair_rows[pair]
    return table.codes[np.repeat(table.pairs_class[pair], rows_of)], np.repeat(person, rows_of)
