"""Measures columns of a released file that bring rows of several persons together, on the parked file by queries of the auditor's own.

A column is a household's by the policy's word (`links: household`), nobody's by its word (`links: none`), or suspected: at least half of its values
belong to 2 to 20 persons.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from privrelease.disclosure.classes.households import Compositions, compositions, joint_codes, linked_values, persons_by_value
from privrelease.plan.microdata.links import household_columns, known_of_members, possible_links
from privrelease.relational.schema import ColumnType

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from privrelease.audit.microdata.evidence import Evidence
    from privrelease.engine.protocol.audit import AuditEngine
    from privrelease.plan.model import ThreatPlan

__all__ = ["HouseholdRisk", "Links", "with_links"]

@dataclass(frozen=True, eq=False, slots=True)
class HouseholdRisk:
    """Households of one column by what one threat knows of their members."""

    column: str
    threat: ThreatPlan
    found: Compositions


@dataclass(frozen=True, slots=True)
class Links:
    """Households of every declared column and threat; and each suspected column with its values that belong to few persons."""

    households: tuple[HouseholdRisk, ...] = ()
    suspected: tuple[tuple[str, int], ...] = ()


def with_links(evidence: Evidence, engine: AuditEngine) -> Evidence:
    """Add what columns of the file link; nothing where the persons of its rows cannot be told."""
    plan, main = evidence.plan, evidence.main
    declared, possible = household_columns(plan), possible_links(plan)
    if main is None or not (declared or possible):
        return evidence
    told, persons = _persons(evidence, engine)
    if not told or not evidence.measurable((*declared, *possible)):
        return evidence
    known = _codes(evidence, engine, plan.quasi_identifiers if declared else ())
    codes = _codes(evidence, engine, (*declared, *possible))
    kinds = dict(main.columns)
    suspected = (
        (name, linked_values(persons_by_value(codes[name], persons), numbers=kinds[name] is ColumnType.INTEGER))
        for name in possible
    )
    return replace(
        evidence,
        links=Links(
            tuple(one for name in declared for one in _households(evidence, name, codes[name], persons, known)),
            tuple((name, linked) for name, linked in suspected if linked),
        ),
    )


def _households(
    evidence: Evidence,
    name: str,
    households: NDArray[np.integer],
    persons: NDArray[np.integer] | None,
    known: dict[str, NDArray[np.integer]],
) -> Iterator[HouseholdRisk]:
    """Yield the households of one column under each threat whose columns the file has."""
    for threat, columns in zip(evidence.plan.threats, known_of_members(evidence.plan, name), strict=True):
        if known.keys() >= set(columns):
            tuples = joint_codes((known[column] for column in columns), len(households))
            yield HouseholdRisk(name, threat, compositions(households, persons, tuples, knows_rows=threat.knows_rows))


def _codes(evidence: Evidence, engine: AuditEngine, columns: Sequence[str]) -> dict[str, NDArray[np.integer]]:
    if evidence.main is None:
        return {}
    usable = [name for name in columns if evidence.measurable((name,))]
    return {coded.name: coded.codes[0] for coded in engine.coded_columns((evidence.main,), usable)}


def _persons(evidence: Evidence, engine: AuditEngine) -> tuple[bool, NDArray[np.integer] | None]:
    """Return whether the person of every released row can be told, and the code of each; None where every row is a person."""
    unit, main, source, row_map = evidence.plan.unit, evidence.main, evidence.source, evidence.target.row_map
    if unit is None or evidence.one_each or (source is None and unit.max_rows == 1):
        return True, None
    if main is not None and evidence.measurable((unit.column,)):
        return True, _codes(evidence, engine, (unit.column,))[unit.column]
    if main is None or source is None or row_map is None or not evidence.sound_map:
        return False, None
    codes = next(iter(engine.coded_columns((source,), (unit.column,)))).codes[0]
    of_source, of_output = engine.mapped_rows(row_map)
    persons = np.zeros(main.n_rows, np.int64)
    persons[of_output] = codes[of_source]
    return True, persons
