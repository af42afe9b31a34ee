"""Codes, packed keys and the class table: rows cross from the database as one narrow array per column.

A column's codes are 0 for missing and 1..v for its distinct values in ascending order. Codes of several columns are packed into one
64-bit key, the first column highest, so that keys sort as tuples do; where 64 bits do not suffice, the keys so far are replaced by
their ranks and packing goes on (any number of columns).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from sqlglot import exp

from privrelease.disclosure.classes.equivalence_classes import ClassTable
from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.errors import refusal
from privrelease.engine.protocol.base import RowClasses
from privrelease.findings import pluralise

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.duckdb.reading.staging import StagedTable

__all__ = ["Codes", "classes", "codes_of", "group", "person_codes"]

_KEY_BITS = 64


class Packable(Protocol):
    """Codes or ranks of a column, 0..size."""

    @property
    def values(self) -> NDArray[Any]:
        """(n,) unsigned."""
        ...

    @property
    def bits(self) -> int:
        """Bits that hold every code."""
        ...


class Codes:
    """Codes of a column: ``values`` (n,) unsigned, 0 = missing, 1..v ascending; ``size``: v; ``dictionary``: the v values as an Arrow
    array, None where they are many.
    """

    def __init__(self, values: NDArray[Any], size: int, dictionary: pa.Array | None) -> None:
        self._values = values
        self.dictionary = dictionary
        self.size = size

    @property
    def values(self) -> NDArray[Any]:
        """(n,) unsigned codes, in source order."""
        return self._values

    @property
    def bits(self) -> int:
        """Bits that hold every code."""
        return max(1, self.size.bit_length())


def _narrow(size: int) -> str:
    return "UTINYINT" if size < 256 else "USMALLINT" if size < 65_536 else "UINTEGER"


def codes_of(connection: Connection, staged: StagedTable, ordinal: int) -> Codes:
    """Return the codes of a column, in source order."""
    name = sql.column(f"c{ordinal}")
    coded = staged.coded[ordinal]
    if coded is None and staged.few[ordinal]:
        return _by_dictionary(connection, staged, name)
    if coded is None:
        return _by_rank(connection, staged, name)
    texts = sql.cast(sql.call("unnest", sql.call("enum_range", _null_of(coded))), "VARCHAR")
    dictionary = connection.arrow(exp.select(sql.aliased(texts, "v"))).column(0).combine_chunks()
    code: exp.Expr = exp.Add(this=sql.cast(sql.call("enum_code", name), "UINTEGER"), expression=sql.integer(1))
    code = sql.cast(sql.call("coalesce", code, sql.integer(0)), _narrow(len(dictionary)))
    block = connection.arrays(exp.select(sql.aliased(code, "c")).from_(sql.table(staged.table)))
    return Codes(np.asarray(block["c"]), len(dictionary), dictionary)


def _by_rank(connection: Connection, staged: StagedTable, name: exp.Expr) -> Codes:
    """Codes of a column of many values: ranked by the database, which spills, and put back by row number."""
    present = exp.Not(this=exp.Is(this=name, expression=exp.null()))
    value = exp.Add(this=name.copy(), expression=sql.integer(0)) if staged.floating(name.name) else name.copy()
    rank = exp.Window(this=sql.call("dense_rank"), order=exp.Order(expressions=[exp.Ordered(this=value)]))
    query = exp.select(
        sql.aliased(sql.cast(sql.column("rowid"), "UINTEGER"), "r"), sql.aliased(sql.cast(rank, "UINTEGER"), "c")
    )
    block = connection.arrays(query.from_(sql.table(staged.table)).where(present))
    codes = np.zeros(staged.n_rows, np.uint32)
    codes[np.asarray(block["r"])] = np.asarray(block["c"])
    return Codes(codes, int(codes.max(initial=0)), None)


def _null_of(coded: str) -> exp.Expr:
    return exp.Cast(this=exp.null(), to=exp.DataType.build(coded, dialect="duckdb", udt=True))


def _by_dictionary(connection: Connection, staged: StagedTable, name: exp.Expr) -> Codes:
    """Codes of a column stored as it is: encoded by Arrow, the dictionary put into ascending order afterwards."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = connection.arrow(exp.select(sql.aliased(name, "c")).from_(sql.table(staged.table))).column(0)
    if pa.types.is_floating(column.type):
        column = pc.add(column, 0.0)  # -0.0 and 0.0 are one value
    encoded = column.dictionary_encode().unify_dictionaries()
    if not encoded.num_chunks:
        return Codes(np.zeros(0, np.uint8), 0, pa.array([], column.type))
    values = encoded.chunk(0).dictionary
    order = np.asarray(pc.array_sort_indices(values.cast(pa.uint8()) if pa.types.is_boolean(values.type) else values))
    rank = np.zeros(len(values) + 1, np.uint32)
    rank[order] = np.arange(1, len(values) + 1, dtype=np.uint32)
    rank = rank.astype(np.uint8 if len(values) < 256 else np.uint16 if len(values) < 65_536 else np.uint32)
    parts = [rank[np.asarray(chunk.indices.fill_null(len(values)))] for chunk in encoded.chunks]
    return Codes(np.concatenate(parts), len(values), values.take(pa.array(order)))


def pack(columns: Sequence[Packable], n_rows: int) -> tuple[NDArray[np.uint64], int]:
    """Return one key per row and the bits in use; keys compare as the tuples of codes do."""
    keys = np.zeros(n_rows, np.uint64)
    used = 0
    for codes in columns:
        if used + codes.bits > _KEY_BITS:
            keys, distinct = ranks(keys)
            used = max(1, (distinct - 1).bit_length())
        keys <<= np.uint64(codes.bits)
        keys |= codes.values
        used += codes.bits
    return keys, used


def ranks(keys: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], int]:
    """Replace keys by their dense ranks; also return the number of distinct keys."""
    grouped, _, first = group(keys)
    return grouped.astype(np.uint64), len(first)


def group(keys: NDArray[np.uint64]) -> tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.int64]]:
    """Return for every key the rank of its group (n,), the groups' sizes (J,), and a row of each group (J,), keys ascending."""
    n = len(keys)
    if not n:
        return np.zeros(0, np.uint32), np.zeros(0, np.int64), np.zeros(0, np.int64)
    order = np.argsort(keys)
    ordered = keys[order]
    starts = np.empty(n, np.bool_)
    starts[0] = True
    np.not_equal(ordered[1:], ordered[:-1], out=starts[1:])
    del ordered
    first = np.flatnonzero(starts)
    rank = np.cumsum(starts, dtype=np.uint32)
    rank -= np.uint32(1)
    groups = np.empty(n, np.uint32)
    groups[order] = rank
    return groups, np.diff(first, append=n).astype(np.int64), order[first].astype(np.int64)


def classes(
    connection: Connection,
    staged: StagedTable,
    columns: Sequence[str],
    *,
    unit: str | None,
    weight: str | None,
    cache: dict[int, Codes],
) -> RowClasses:
    """Collapse rows to classes; see :class:`privrelease.engine.protocol.base.Engine`."""
    coded = [cached(connection, staged, staged.ordinal(name), cache) for name in columns]
    keys, _ = pack(coded, staged.n_rows)
    row_class, counts, row = group(keys)
    del keys
    codes = np.empty((len(counts), len(columns)), np.int32)
    for place, one in enumerate(coded):
        codes[:, place] = one.values[row]
    weights = None if weight is None else _weights(connection, staged, weight, row_class, len(counts))
    pairs_class = pairs_person = None
    if unit is not None:
        pairs_class, pairs_person = _pairs(row_class, person_codes(connection, staged, unit, cache))
    return RowClasses(ClassTable(tuple(columns), codes, counts, weights, pairs_class, pairs_person), row_class)


def cached(connection: Connection, staged: StagedTable, ordinal: int, cache: dict[int, Codes]) -> Codes:
    """Return the codes of a column, kept for the next question about the same staged source."""
    if ordinal not in cache:
        cache[ordinal] = codes_of(connection, staged, ordinal)
    return cache[ordinal]


def _pairs(row_class: NDArray[np.uint32], persons: NDArray[np.uint32]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    pairs = row_class.astype(np.uint64)
    pairs <<= np.uint64(32)
    pairs |= persons
    pairs.sort()
    if len(pairs):
        pairs = pairs[np.concatenate(([True], pairs[1:] != pairs[:-1]))]
    return (pairs >> np.uint64(32)).astype(np.uint32), pairs.astype(np.uint32)


def person_codes(connection: Connection, staged: StagedTable, unit: str, cache: dict[int, Codes]) -> NDArray[np.uint32]:
    """Return the person of every row, 0..m-1. Raises InputError D211 where a row has none."""
    codes = cached(connection, staged, staged.ordinal(unit), cache)
    missing = int(np.count_nonzero(codes.values == 0))
    if missing:
        message = f"{pluralise(missing, 'row has', 'rows have')} no value in the unit column {unit}"
        raise refusal(message, "D211", hint="every row needs its person: complete the source, or leave such rows out of it")
    return codes.values.astype(np.uint32) - np.uint32(1)


def _weights(
    connection: Connection, staged: StagedTable, weight: str, row_class: NDArray[np.uint32], n_classes: int
) -> NDArray[np.float64]:
    name = sql.cast(sql.column(f"c{staged.ordinal(weight)}"), "DOUBLE")
    block = connection.arrays(
        exp.select(sql.aliased(sql.call("coalesce", name, sql.cast(sql.text("nan"), "DOUBLE")), "w")).from_(
            sql.table(staged.table)
        )
    )
    weights = np.asarray(block["w"], np.float64)
    unfit = int(np.count_nonzero(~(weights > 0)))
    if unfit:
        message = f"{pluralise(unfit, 'row has', 'rows have')} no positive value in the weight column {weight}"
        raise refusal(
            message, "D212", hint="a sampling weight is the number of persons a row stands for: complete or correct it"
        )
    return np.bincount(row_class, weights=weights, minlength=n_classes).astype(np.float64)
