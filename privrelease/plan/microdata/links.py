"""Columns that bring rows of several persons together: those of households by the policy's word, and those of which it says nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from privrelease.relational.schema import ColumnType, Role
from privrelease.relational.treatments import CellRelation

if TYPE_CHECKING:
    from privrelease.plan.model import MicrodataPlan, ReleasedColumn

__all__ = [
    "LESS_OF_HOUSEHOLDS",
    "SAY_WHOM",
    "declared_households",
    "household_columns",
    "known_of_members",
    "possible_links",
    "seldom_links",
]

#: Remedy for a column of which the policy does not say whom it links, before a run and after it.
SAY_WHOM: Final = (
    "declare `links: household` on the column, and its households are judged; drop it; or declare `links: none` where persons who share a value do "
    "not belong together"
)
#: Remedy for households that are found by their members.
LESS_OF_HOUSEHOLDS: Final = (
    "drop the column that links the household, or release less of its members: coarser values in the source, fewer columns; suppression of single "
    "cells works on persons and does not repair this"
)
_TEXTS = {ColumnType.STRING, ColumnType.CATEGORY}
_CODES = _TEXTS | {ColumnType.INTEGER}


def declared_households(plan: MicrodataPlan) -> tuple[str, ...]:
    """Return the columns of the dataset that the policy says link the persons of a household, released or not."""
    return tuple(column.name for column in plan.source.declared if column.links == "household")


def household_columns(plan: MicrodataPlan) -> tuple[str, ...]:
    """Return the released columns that the policy says link the persons of a household."""
    declared = declared_households(plan)
    return tuple(column.name for column in plan.columns if column.name in declared)


def known_of_members(plan: MicrodataPlan, household: str) -> tuple[tuple[str, ...], ...]:
    """Return the released columns by which the attacker of each threat knows the members of a household, in the order of the threats.

    Not the household's own column: of an attacker who knows that one, the threat's own classes tell.
    """
    return tuple(tuple(column for column in threat.columns if column != household) for threat in plan.threats)


def possible_links(plan: MicrodataPlan) -> tuple[str, ...]:
    """Return the released columns that may link persons, and of which the policy says nothing: pseudonyms, insensitive columns of texts, codes or
    numbers, and sensitive texts.
    """
    unit = None if plan.unit is None else plan.unit.column
    return tuple(column.name for column in plan.columns if column.name != unit and _possible(plan, column))


def seldom_links(plan: MicrodataPlan, name: str) -> bool:
    """Return True for a column that is something else in most policies: one whose values the policy lists is mostly a classification, a sensitive
    text a finding about a person, a number a measurement. These are suspected only where they look plainly like the number of a household.
    """
    declared = plan.source.column(name)
    listed = declared.domain is not None and declared.domain.values is not None
    return listed or declared.role is Role.SENSITIVE or declared.type is ColumnType.NUMBER


def _possible(plan: MicrodataPlan, column: ReleasedColumn) -> bool:
    declared = plan.source.column(column.name)
    if declared.links is not None:
        return False
    kinds = {Role.INSENSITIVE: _CODES | {ColumnType.NUMBER}, Role.SENSITIVE: _TEXTS}.get(column.role, set())
    return declared.type in kinds or column.treatment.relation is CellRelation.KEYED_TOKEN
