"""Measures columns of a released file that bring rows of several persons together, on the parked file by queries of the auditor's own.

A column is a household's by the policy's word (`links: household`), no one's by its word (`links: none`), or suspected: at least half of its values
belong to 2 to 20 persons.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from privrelease.audit.checks.codes import kind_of
from privrelease.audit.checks.findings import per_cent, place
from privrelease.audit.document.model import FindingRecord
from privrelease.audit.document.sentences import coded
from privrelease.disclosure.classes.class_sizes import ClassSizes
from privrelease.disclosure.classes.households import Compositions, linked_values
from privrelease.engine.protocol.base import PersonsFrom
from privrelease.plan.microdata.links import household_columns, known_of_members, possible_links, seldom_links
from privrelease.relational.schema import ColumnType
from privrelease.texts.sentences import say, share_of
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from privrelease.audit.microdata.evidence import Evidence
    from privrelease.engine.protocol.audit import HouseholdCounts, MeasuringEngine
    from privrelease.engine.protocol.base import ReleasedFile
    from privrelease.plan.model import ThreatPlan
    from privrelease.texts.sentences import Said

__all__ = ["HouseholdRisk", "Links", "household_findings", "with_links"]

#: Where the person of a released row is found: every row is one, in the file's own column, or in the source.
Whose: TypeAlias = Literal["row", "file", "source"]


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


def with_links(evidence: Evidence, engine: MeasuringEngine) -> Evidence:
    """Add what columns of the file link; nothing where the persons of its rows cannot be determined."""
    plan, main = evidence.plan, evidence.main
    whose = _whose(evidence)
    if main is None or whose is None:
        return evidence
    declared, possible = (_there(evidence, names) for names in (household_columns(plan), possible_links(plan)))
    found = [one for name in declared for one in _households(evidence, main, name, whose, engine)]
    return replace(evidence, links=Links(tuple(found), tuple(_suspected(evidence, main, whose, possible, engine))))


def _there(evidence: Evidence, names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that the file has as planned; of the others `AUDIT-COLUMNS` and `AUDIT-TYPES` tell."""
    return tuple(name for name in names if evidence.measurable((name,)))


def _suspected(
    evidence: Evidence, main: ReleasedFile, whose: Whose, possible: Sequence[str], engine: MeasuringEngine
) -> Iterator[tuple[str, int]]:
    if not possible:
        return
    unit, persons = _persons(evidence, whose)
    sizes = engine.value_sizes(main, possible, unit=unit, persons_from=persons)
    kinds = dict(main.columns)
    for name, found in zip(possible, sizes, strict=True):
        numbers, plainly = kinds[name] in {ColumnType.INTEGER, ColumnType.NUMBER}, seldom_links(evidence.plan, name)
        linked = linked_values(found.sizes, found.classes, numbers=numbers, plainly=plainly)
        if linked:
            yield name, linked


def _persons(evidence: Evidence, whose: Whose) -> tuple[str | None, PersonsFrom | None]:
    """Return the column of the file that names persons, and where else they are found; neither where each row is one."""
    unit, source, row_map = evidence.plan.unit, evidence.source, evidence.target.row_map
    if unit is None or whose == "row":
        return None, None
    if whose == "source" and source is not None and row_map is not None:
        return None, PersonsFrom(source, row_map, unit.column)
    return unit.column, None


def _households(
    evidence: Evidence, main: ReleasedFile, name: str, whose: Whose, engine: MeasuringEngine
) -> Iterator[HouseholdRisk]:
    """Yield the households of one column under each threat whose columns the file has."""
    unit, persons = _persons(evidence, whose)
    for threat, columns in zip(evidence.plan.threats, known_of_members(evidence.plan, name), strict=True):
        if all(evidence.measurable((column,)) for column in columns):
            found = engine.household_counts(main, name, columns, unit=unit, persons_from=persons, knows_rows=threat.knows_rows)
            yield HouseholdRisk(name, threat, _compositions(found))


def _compositions(found: HouseholdCounts) -> Compositions:
    """Return the sizes of the compositions, and the risk of the household at most risk."""
    if not found.largest:
        return Compositions(ClassSizes.from_counts([]), 0, 0.0)
    with np.errstate(divide="ignore"):
        hidden = np.bincount(found.kind, found.members * np.log1p(-1.0 / found.crowd))
    sizes = ClassSizes.from_arrays(found.sizes, found.classes)
    alone = ClassSizes.from_arrays(found.alone_sizes, found.alone_classes)
    return Compositions(sizes, found.largest, float(-np.expm1(hidden.min())), alone)


def household_findings(evidence: Evidence) -> tuple[FindingRecord, ...]:
    """Return as information, for the internal edition, what each threat sees of the households of each column.

    Next to 1/f, which is judged, the household risk of sdcMicro: that of finding one member at least, members taken for independent.
    """
    kind = kind_of("A300")
    return tuple(
        FindingRecord(
            code=kind.code,
            message=(message := _facts_said(one)),
            message_coded=coded(message),
            severity="info",
            subject=f"households.{one.column}.{one.threat.name}",
            **place(evidence.plan.location),
        )
        for one in (() if evidence.links is None else evidence.links.households)
        if one.found.sizes.n_records
    )


def _facts_said(one: HouseholdRisk) -> Said:
    return say(
        "household_facts",
        column=one.column,
        threat=one.threat.name,
        households=say("n_households", n=one.found.sizes.n_records),
        members=say("n_members", n=one.found.largest),
        smallest=one.found.sizes.smallest or 0,
        risk=share_of(per_cent(Fraction(one.found.member_risk))),
    )


def _whose(evidence: Evidence) -> Whose | None:
    """Say where the person of a released row is found; None where that cannot be determined."""
    unit = evidence.plan.unit
    if unit is None or evidence.one_each or (evidence.source is None and unit.max_rows == 1):
        return "row"
    if evidence.measurable((unit.column,)):
        return "file"
    return "source" if evidence.source is not None and evidence.target.row_map is not None and evidence.sound_map else None
