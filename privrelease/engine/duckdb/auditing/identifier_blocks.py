"""Cells of a source or of a released file in blocks of columns, each with one Arrow dictionary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.engine.identifier_forms import hexadecimal
from privrelease.engine.identifier_runs import runs_of
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.duckdb.measuring.opening import Opened
    from privrelease.engine.identifier_runs import Runs

__all__ = ["Block", "CellFacts", "blocks_of", "cell_facts", "cells_of", "rows_holding", "runs_by_slice"]

#: Cells that are read at once, and bytes of the texts that are folded at once.
_CELLS = 1 << 18
_BYTES = 1 << 19


@dataclass(frozen=True, eq=False, slots=True)
class Block:
    """Cells of some rows: ``codes``: (columns, rows) places among the distinct ``texts``, -1 missing; ``first``: the first row."""

    first: int
    codes: NDArray[np.int64]
    texts: Any

    @property
    def rows(self) -> slice:
        """The rows of the table."""
        return slice(self.first, self.first + self.codes.shape[1])


def cells_of(of: Opened, names: Sequence[str], step: int) -> exp.Select:
    """Select columns as texts, enumerations as they are, of every ``step``-th row."""
    cells = [of.key(name, "t") if name in of.texts else sql.cast(of.key(name, "t"), "VARCHAR") for name in names]
    rows = exp.select(*(sql.aliased(cell, f"k{place}") for place, cell in enumerate(cells))).from_(
        of.rows("t", step > 1), copy=False
    )
    place = exp.Mod(this=sql.column(of.row_number, "t"), expression=sql.integer(step))
    return rows if step == 1 else rows.where(exp.EQ(this=place, expression=sql.integer(0)))


def blocks_of(connection: Connection, of: Opened, names: Sequence[str], step: int = 1) -> Iterator[Block]:
    """Read the cells of columns, blocks of rows in their order."""
    import pyarrow as pa

    if not names:
        return
    first = 0
    for batch in connection.side_blocks(cells_of(of, names, step), max(1, _CELLS // len(names))):
        columns = [one.dictionary_decode() if pa.types.is_dictionary(one.type) else one for one in batch.columns]
        coded = pa.concat_arrays([one.cast(pa.string()) for one in columns]).dictionary_encode()
        codes = np.asarray(coded.indices.fill_null(-1), np.int64).reshape(len(names), batch.num_rows)
        yield Block(first, codes, coded.dictionary)
        first += batch.num_rows


def runs_by_slice(texts: Any) -> Iterator[tuple[int, Runs]]:  # noqa: ANN401 - Arrow has no types
    """Find the runs of texts, some of them at a time; also the place of the first."""
    import pyarrow.compute as pc

    sizes = np.cumsum(np.asarray(pc.binary_length(texts), np.int64))
    low = 0
    while low < len(texts):
        before = int(sizes[low - 1]) if low else 0
        high = max(low + 1, int(np.searchsorted(sizes, before + _BYTES)))
        yield low, runs_of(texts.slice(low, high - low))
        low = high


def rows_holding(block: Block, texts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (column, row) of the cells with one of the texts."""
    some = np.zeros(len(block.texts) + 1, np.bool_)
    some[texts] = True
    columns, rows = np.nonzero(some[block.codes])
    return columns, rows


@dataclass(frozen=True, eq=False, slots=True)
class CellFacts:
    """Distinct cells of a column: all as they are, folded, with a digit, that look like a hash; the numbers that are cells, or in them."""

    plain: int
    folded: int
    digits: int
    hashed: int
    numbers: NDArray[np.int64]
    inside: NDArray[np.int64]

    def of(self, form: str) -> tuple[int, NDArray[np.int64]]:
        """Return the distinct cells that could hold a key of a form, and the numbers that could be one."""
        cells = {"plain": self.plain, "digits": self.digits, "hashed": self.hashed}.get(form, self.folded)
        return cells, self.inside if form in {"digits", "part"} else self.numbers


def cell_facts(connection: Connection, released: Opened, name: str) -> CellFacts:
    """Return how many distinct cells of a released column could hold a key of each form, and the numbers in them."""
    (plain,) = connection.row(
        exp.select(exp.Count(this=exp.Distinct(expressions=[released.key(name, "t")]))).from_(
            released.rows("t", False), copy=False
        )
    )
    kinds = [_Distinct(np.uint64) for _ in range(3)]
    numbers = [_Distinct(np.int64) for _ in range(2)]
    for block in blocks_of(connection, released, [name]):
        for _, runs in runs_by_slice(block.texts):
            numerals = np.zeros(len(runs.texts), np.bool_)
            numerals[runs.text_at(runs.numbers[0])] = True
            for known, which in zip(
                kinds, (~runs.empty, numerals & ~runs.empty, np.asarray(hexadecimal(runs.texts))), strict=True
            ):
                known.add(runs.whole[which])
            for known, whole in zip(numbers, (True, False), strict=True):
                known.add(runs.values(whole=whole)[1])
    folded, digits, hashed = (len(known.values()) for known in kinds)
    return CellFacts(int(plain), folded, digits, hashed, numbers[0].values(), numbers[1].values())


class _Distinct:
    """Distinct values that come in parts: put in order only when as many are new as known, so that all cost one sort or two."""

    def __init__(self, kind: Any) -> None:  # noqa: ANN401 - a type of numpy
        self._known: NDArray[Any] = np.zeros(0, kind)
        self._new: list[NDArray[Any]] = []
        self._waiting = 0

    def add(self, values: NDArray[Any]) -> None:
        """Add values."""
        self._new.append(values)
        self._waiting += len(values)
        if self._waiting > max(len(self._known), _CELLS):
            self.values()

    def values(self) -> NDArray[Any]:
        """Return the distinct values, ascending."""
        self._known = np.unique(np.concatenate([self._known, *self._new]))
        self._new, self._waiting = [], 0
        return self._known
