"""Columns whose values a transform step replaced: every released value must stand for its source's as the policy says.

Each distinct pair of a source cell and its released cell is judged by a question of the audit's own, apart from what made it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from privrelease.engine.protocol.base import ColumnChange
from privrelease.errors import InternalError
from privrelease.relational.treatments import CellRelation, declaration_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from privrelease.engine.protocol.audit import AuditEngine, ValuePairs
    from privrelease.engine.protocol.base import ReleasedFile, Staged
    from privrelease.plan.model import ReleasedColumn

__all__ = ["VERIFIERS", "OffLevel", "Verifier", "Verifiers", "off_level", "recoded_changes", "recoded_columns", "verifier_of"]


class Verifier(NamedTuple):
    """What verifies the released values of a map."""

    declares: type[Any]
    """The class of the map."""
    stands: Callable[[Any, Any, Any], Any]
    """From the map and Arrow arrays of values of the source and released ones, none missing: true where the second stands for the first."""
    level: Callable[[Any, Any], Any] | None = None
    """From the map and an Arrow array of released values: true where one is of the planned level."""
    under: Callable[[Any, Any, Any], Any] | None = None
    """From the map, values of the source and distinct released ones: for each of the first the one of the second that stands for it, or null."""


#: Verifiers of the maps that there are.
Verifiers: TypeAlias = "tuple[Verifier, ...]"

#: The verifiers of the steps of this package: none of them changes values but by keyed pseudonyms, which have a check of their own.
VERIFIERS: Verifiers = ()


def recoded_columns(columns: Iterable[ReleasedColumn]) -> tuple[str, ...]:
    """Return the names of the columns whose released values stand for others."""
    return tuple(column.name for column in columns if column.treatment.relation is CellRelation.MAPPED)


def verifier_of(column: ReleasedColumn, verifiers: Verifiers) -> Verifier:
    """Return what verifies the released values of a recoded column. Raises InternalError R197 where nothing does."""
    declared = declaration_of(column.treatment)
    found = next((one for one in verifiers if type(declared) is one[0]), None)
    if found is None:
        raise InternalError(code="R197", message=f"no transform step verifies the released values of {column.name}")
    return Verifier(*found)


@dataclass(frozen=True, slots=True)
class OffLevel:
    """Rows of a column whose released values are not of the planned level, and how many distinct values they hold."""

    column: str
    rows: int
    values: int


def off_level(
    columns: Sequence[ReleasedColumn], released: ReleasedFile, engine: AuditEngine, verifiers: Verifiers
) -> tuple[OffLevel, ...]:
    """Ask of the distinct released values of each column with levels whether they are of the planned one."""
    found = []
    for column in columns:
        if column.treatment.relation is not CellRelation.MAPPED:
            continue
        level, declared = verifier_of(column, verifiers).level, declaration_of(column.treatment)
        if level is None:
            continue
        rows = values = 0
        for block in engine.value_rows(released, column.name):
            wrong = ~np.asarray(level(declared, block.values).fill_null(False))
            rows, values = rows + int(block.rows[wrong].sum()), values + int(wrong.sum())
        found.append(OffLevel(column.name, rows, values))
    return tuple(found)


def recoded_changes(
    columns: Sequence[ReleasedColumn],
    source: Staged,
    released: ReleasedFile,
    row_map: Path,
    engine: AuditEngine,
    verifiers: Verifiers = VERIFIERS,
) -> tuple[ColumnChange, ...]:
    """Compare every released row with its source row in the recoded ones of ``columns``; changed: the value does not stand for its source's."""
    return tuple(
        _change(column, engine.value_pairs(source, released, row_map, column.name), verifiers)
        for column in columns
        if column.treatment.relation is CellRelation.MAPPED
    )


def _change(column: ReleasedColumn, blocks: Iterable[ValuePairs], verifiers: Verifiers) -> ColumnChange:
    declared = declaration_of(column.treatment)
    verify = verifier_of(column, verifiers).stands
    total = np.zeros(4, np.int64)
    for block in blocks:
        before, after = np.asarray(block.source.is_valid()), np.asarray(block.released.is_valid())
        both = before & after
        stands = np.zeros(len(both), np.bool_)
        stands[both] = np.asarray(verify(declared, block.source.filter(both), block.released.filter(both)).fill_null(False))
        parts = (stands | ~(before | after), before & ~after, both & ~stands, after & ~before)
        total += [int(block.rows[part].sum()) for part in parts]
    equal, nulled, changed, invented = map(int, total)
    return ColumnChange(column.name, equal, nulled, changed, invented)
