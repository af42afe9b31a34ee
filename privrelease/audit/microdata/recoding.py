"""Columns whose values a transform step replaced: every released value must stand for its source's as the policy says.

Each distinct pair of a source cell and its released cell is judged by a question of the audit's own, apart from what made it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from privrelease.engine.protocol.base import ColumnChange
from privrelease.errors import InternalError
from privrelease.relational.treatments import CellRelation, declaration_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from privrelease.engine.protocol.audit import MeasuringEngine, ValuePairs
    from privrelease.engine.protocol.base import ReleasedFile, Staged
    from privrelease.plan.model import ReleasedColumn

__all__ = ["VERIFIERS", "Verifiers", "recoded_changes", "recoded_columns"]

#: What verifies released values: by the class of a map, from the map and Arrow arrays of values of the source and released ones, none missing;
#: an Arrow array of truth values, true where the second stands for the first.
Verifiers: TypeAlias = "tuple[tuple[type[Any], Callable[[Any, Any, Any], Any]], ...]"

#: The verifiers of the steps of this package: none of them changes values but by keyed pseudonyms, which have a check of their own.
VERIFIERS: Verifiers = ()


def recoded_columns(columns: Iterable[ReleasedColumn]) -> tuple[str, ...]:
    """Return the names of the columns whose released values stand for others."""
    return tuple(column.name for column in columns if column.treatment.relation is CellRelation.MAPPED)


def recoded_changes(
    columns: Sequence[ReleasedColumn],
    source: Staged,
    released: ReleasedFile,
    row_map: Path,
    engine: MeasuringEngine,
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
    verify = next((one for kind, one in verifiers if type(declared) is kind), None)
    if verify is None:
        raise InternalError(code="R197", message=f"no transform step verifies the released values of {column.name}")
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
