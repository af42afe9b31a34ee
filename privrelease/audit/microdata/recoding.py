"""Columns whose values a transform step replaced: every released value must represent its source's as the policy says.

Each distinct pair of a source cell and its released cell is judged by a question of the audit's own, apart from what made it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from privrelease.engine.protocol.base import ColumnChange, Recode
from privrelease.errors import InternalError
from privrelease.relational.treatments import CellRelation, declaration_of
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from privrelease.audit.attacks.cover import Cover
    from privrelease.engine.protocol.audit import MeasuringEngine, ValuePairs, ValueRows
    from privrelease.engine.protocol.base import ReleasedFile, Staged
    from privrelease.plan.model import ReleasedColumn

__all__ = [
    "VERIFIERS",
    "Counted",
    "OffLevel",
    "Pairs",
    "Verifier",
    "Verifiers",
    "beyond",
    "counted",
    "distinct_labels",
    "in_released_values",
    "off_level",
    "recoded_changes",
    "recoded_columns",
    "verifier_of",
]


#: Distinct pairs, or values, of a column that are kept for measures of utility; more are counted again, or not measured.
MOST_PAIRS = 1_000_000


class Verifier(NamedTuple):
    """The check of the released values of a map."""

    declares: type[Any]
    """The class of the map."""
    stands: Callable[[Any, Any, Any], Any]
    """From the map and Arrow arrays of values of the source and released ones, none missing: true where the second represents the first."""
    level: Callable[[Any, Any], Any] | None = None
    """From the map and an Arrow array of released values: true where one is of the planned level."""
    under: Callable[[Any, Any, Any], Any] | None = None
    """From the map, values of the source and distinct released ones: for each of the first the one of the second that represents it, or null."""
    covers: Callable[..., tuple[Cover, NDArray[np.int64]]] | None = None
    """From the map, distinct values, distinct labels and the declared domain: their cover, see :mod:`.generalised.covers`; None: not known."""
    words: Callable[[str, Any], str] | None = None
    """From the name of a column and the map: what is done, in words."""


#: Verifiers of the maps that there are.
Verifiers: TypeAlias = "tuple[Verifier, ...]"

#: The verifiers of the steps of this package: none of them changes values but by keyed pseudonyms, which have a check of their own.
VERIFIERS: Verifiers = ()


def recoded_columns(columns: Iterable[ReleasedColumn]) -> tuple[str, ...]:
    """Return the names of the columns whose released values represent others."""
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


#: Distinct values, Arrow, and the rows of each.
Counted: TypeAlias = "tuple[Any, NDArray[np.int64]]"


def off_level(
    columns: Sequence[ReleasedColumn],
    released: ReleasedFile,
    engine: MeasuringEngine,
    verifiers: Verifiers,
    keep: dict[str, Counted] | None = None,
) -> tuple[OffLevel, ...]:
    """Ask of the distinct released values of each column with levels whether they are of the planned one.

    ``keep``: takes the distinct values of each column with the rows of each, where they are not too many.
    """
    found = []
    for column in columns:
        if column.treatment.relation is not CellRelation.MAPPED:
            continue
        level, declared = verifier_of(column, verifiers).level, declaration_of(column.treatment)
        if level is None:
            continue
        rows = values = 0
        blocks: list[ValueRows] = []
        for block in engine.value_rows(released, column.name):
            if sum(len(one.rows) for one in blocks) <= MOST_PAIRS:
                blocks.append(block)
            wrong = ~np.asarray(level(declared, block.values).fill_null(False))
            rows, values = rows + int(block.rows[wrong].sum()), values + int(wrong.sum())
        found.append(OffLevel(column.name, rows, values))
        if keep is not None and sum(len(one.rows) for one in blocks) <= MOST_PAIRS:
            keep[column.name] = counted(blocks)
    return tuple(found)


def counted(blocks: Sequence[ValueRows]) -> Counted:
    """Return distinct values in ascending order, and the rows of each."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not blocks:
        return pa.array([], pa.string()), np.zeros(0, np.int64)
    values, rows = pa.concat_arrays([one.values for one in blocks]), np.concatenate([one.rows for one in blocks])
    order = pc.sort_indices(values)
    return values.take(order), rows[np.asarray(order)]


def in_released_values(
    columns: Sequence[ReleasedColumn], source: Staged, released: ReleasedFile, engine: MeasuringEngine, verifiers: Verifiers
) -> tuple[Staged, tuple[str, ...]]:
    """Return the source with each value replaced by the released one that represents it, and the names of the columns of which that is known.

    A value that no released one represents becomes one that the file does not hold, the same for all of these.
    """
    recodes = []
    for column in columns:
        if column.treatment.relation is CellRelation.MAPPED and (under := verifier_of(column, verifiers).under) is not None:
            found = distinct_labels(engine, released, column.name)
            if not len(found):
                continue
            declared = next(one for one in source.columns if one.name == column.name)
            stored = replace(declared, type=column.type, domain=None)
            recodes.append(Recode(stored, partial(_under, under, declaration_of(column.treatment), found)))
    return (engine.recode(source, recodes) if recodes else source), tuple(one.column.name for one in recodes)


def distinct_labels(engine: MeasuringEngine, released: ReleasedFile, column: str) -> Any:  # noqa: ANN401  Arrow has no types
    """Return the distinct values of a column in one array."""
    import pyarrow as pa

    blocks = [block.values for block in engine.value_rows(released, column)]
    return pa.concat_arrays(blocks) if blocks else pa.array([], pa.string())


def _under(under: Callable[..., Any], declared: object, released: Any, values: Any) -> Any:  # noqa: ANN401  Arrow has no types
    found = under(declared, values, released)
    return found.fill_null(beyond(released)) if found.null_count else found


def beyond(released: Any) -> Any:  # noqa: ANN401  Arrow has no types
    """Return a value of the column's type that is none of the released ones: a longer text, or what follows the largest."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = released.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return pa.scalar(max(released.to_pylist(), key=len) + "+", kind)
    most = pc.max(released)
    if pa.types.is_date(kind):
        return pc.add(most.cast(pa.date32()).cast(pa.int32()), 1).cast(pa.date32()).cast(kind)
    if pa.types.is_timestamp(kind):
        return pc.add(most.cast(pa.int64()), 1).cast(kind)
    return pc.add(most, pa.scalar(1).cast(kind)).cast(kind)


@dataclass(frozen=True, eq=False, slots=True)
class Pairs:
    """Distinct pairs of a value of the source and the released one, Arrow arrays with null for missing, and the rows of each: (m,) int64."""

    source: Any
    released: Any
    rows: NDArray[np.int64]


def recoded_changes(
    columns: Sequence[ReleasedColumn],
    source: Staged,
    released: ReleasedFile,
    row_map: Path,
    engine: MeasuringEngine,
    verifiers: Verifiers = VERIFIERS,
    keep: dict[str, Pairs] | None = None,
) -> tuple[ColumnChange, ...]:
    """Compare every released row with its source row in the recoded ones of ``columns``; changed: the value does not represent its source's.

    ``keep``: takes the distinct pairs of each column, where they are not too many.
    """
    planned = {column.name: column for column in columns if column.treatment.relation is CellRelation.MAPPED}
    totals = {name: np.zeros(4, np.int64) for name in planned}
    stands = {name: partial(verifier_of(one, verifiers).stands, declaration_of(one.treatment)) for name, one in planned.items()}
    blocks: dict[str, list[ValuePairs]] = {}
    for block in engine.value_pairs(source, released, row_map, tuple(planned)) if planned else ():
        totals[block.column] += _judged(block, stands[block.column])
        if keep is not None and sum(len(one.rows) for one in blocks.get(block.column, ())) <= MOST_PAIRS:
            blocks.setdefault(block.column, []).append(block)
    for name, found in blocks.items():
        if keep is not None and (one := _together(found)) is not None:
            keep[name] = one
    return tuple(ColumnChange(name, *map(int, total)) for name, total in totals.items())


def _together(blocks: Sequence[ValuePairs]) -> Pairs | None:
    import pyarrow as pa

    if sum(len(one.rows) for one in blocks) > MOST_PAIRS:
        return None
    if not blocks:
        return Pairs(pa.array([], pa.string()), pa.array([], pa.string()), np.zeros(0, np.int64))
    source, released = (pa.concat_arrays([getattr(one, side) for one in blocks]) for side in ("source", "released"))
    return Pairs(source, released, np.concatenate([one.rows for one in blocks]))


def _judged(block: ValuePairs, verify: Callable[[Any, Any], Any]) -> NDArray[np.int64]:
    """Count the rows of pairs that stand, whose released cell is missing, that do not stand, and that were made up."""
    before, after = np.asarray(block.source.is_valid()), np.asarray(block.released.is_valid())
    both = before & after
    stands = np.zeros(len(both), np.bool_)
    stands[both] = np.asarray(verify(block.source.filter(both), block.released.filter(both)).fill_null(False))
    parts = (stands | ~(before | after), before & ~after, both & ~stands, after & ~before)
    return np.array([int(block.rows[part].sum()) for part in parts], np.int64)
