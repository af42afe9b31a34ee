"""Rows for attacks: columns of several tables as narrow codes in one coding, one column at a time.

A column crosses as an Arrow dictionary; only its distinct values are compared between tables, so that text is never held per row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sqlglot import exp

from privrelease.engine.audit_protocol import CodedColumn
from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.read_parquet import scan_parquet

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.duckdb.opening import Opened

__all__ = ["coded_columns", "mapped_rows"]


def coded_columns(connection: Connection, of: Sequence[Opened], columns: Sequence[str]) -> Iterator[CodedColumn]:
    """Yield each column coded over all tables."""
    for name in columns:
        yield _coded(name, [_encoded(connection, one, name) for one in of])


def mapped_rows(connection: Connection, row_map: Path) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the two sides of a row map."""
    query = exp.select(sql.column("source_row"), sql.column("output_row")).from_(scan_parquet([row_map]))
    block = connection.arrays(query)
    return np.asarray(block["source_row"], np.int64), np.asarray(block["output_row"], np.int64)


def _encoded(connection: Connection, of: Opened, name: str) -> Any:  # noqa: ANN401 - Arrow has no types
    """Return (indices with -1 for missing, distinct values) of one column in the order of its rows."""
    import pyarrow as pa
    import pyarrow.compute as pc

    query = exp.select(sql.aliased(of.key(name, "t"), "c")).from_(of.rows("t", False))
    column = connection.arrow(query).column(0)
    if pa.types.is_floating(column.type):
        column = pc.add(column, 0.0)  # -0.0 and 0.0 are one value
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    column = column.unify_dictionaries()
    if not column.num_chunks:
        return np.zeros(0, np.int64), pa.array([], column.type.value_type)
    indices = np.concatenate([np.asarray(chunk.indices.cast(pa.int64()).fill_null(-1)) for chunk in column.chunks])
    return indices, column.chunk(0).dictionary


def _coded(name: str, parts: Sequence[tuple[NDArray[np.int64], Any]]) -> CodedColumn:
    import pyarrow as pa
    import pyarrow.compute as pc

    dictionaries = [values for _, values in parts]
    if len({values.type for values in dictionaries}) > 1:
        dictionaries = _alike(dictionaries)
    distinct = pc.unique(pa.chunked_array(dictionaries)).drop_null()
    distinct = distinct.take(pc.sort_indices(distinct.cast(pa.int8()) if pa.types.is_boolean(distinct.type) else distinct))
    size = len(distinct)
    narrow = np.uint8 if size < 256 else np.uint16 if size < 65_536 else np.uint32
    codes: list[NDArray[Any]] = []
    for (indices, _), values in zip(parts, dictionaries, strict=True):
        found = np.asarray(pc.index_in(values, value_set=distinct).fill_null(-1), np.int64) + 1
        codes.append(np.append(found, 0)[indices].astype(narrow))  # the last one is what -1 leads to: missing
    return CodedColumn(name, tuple(codes), size, _numbers(distinct))


def _alike(dictionaries: Sequence[Any]) -> list[Any]:
    """Values of the same kind in several widths: the wider one holds all; texts and numbers meet as texts."""
    import pyarrow as pa

    types = [values.type for values in dictionaries]
    if any(map(pa.types.is_floating, types)):
        return [values.cast(pa.float64()) for values in dictionaries]
    if any(map(_is_text, types)):
        return [values.cast(pa.string()) for values in dictionaries]
    whole = pa.concat_tables([pa.table({"c": values}) for values in dictionaries], promote_options="permissive")
    wide = whole.column("c").type
    return [values.cast(wide) for values in dictionaries]


def _is_text(of: Any) -> bool:  # noqa: ANN401 - Arrow has no types
    import pyarrow as pa

    return bool(pa.types.is_string(of) or pa.types.is_large_string(of))


def _numbers(values: Any) -> NDArray[np.float64] | None:  # noqa: ANN401 - Arrow has no types
    """Return the numbers that values stand for, code 0 as nan; None where they are names."""
    import pyarrow as pa

    kind = values.type
    if pa.types.is_date(kind):
        values = values.cast(pa.date32()).cast(pa.int32())
    elif pa.types.is_timestamp(kind):
        values = values.cast(pa.timestamp("us")).cast(pa.int64())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        return None
    return np.concatenate(([np.nan], np.asarray(values.cast(pa.float64(), safe=False), np.float64)))
