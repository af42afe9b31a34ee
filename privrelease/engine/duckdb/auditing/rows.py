"""Rows as they stand: columns of several tables as narrow codes in one coding, one column at a time, and the row map.

A column crosses as an Arrow dictionary; only its distinct values are compared between tables, so that text is never held per row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.measuring.dictionaries import encoded, in_one_coding
from privrelease.engine.duckdb.reading.parquet_source import scan_parquet
from privrelease.engine.protocol.audit import CodedColumn
from privrelease.engine.protocol.identifiers import LinkedRows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.duckdb.measuring.opening import Opened

__all__ = ["coded_columns", "encoded_cells", "kept_links", "linked_rows", "mapped_rows"]


def coded_columns(connection: Connection, of: Sequence[Opened], columns: Sequence[str]) -> Iterator[CodedColumn]:
    """Yield each column coded over all tables."""
    for name in columns:
        codes, distinct = in_one_coding([encoded_cells(connection, one, name) for one in of])
        yield CodedColumn(name, tuple(codes), len(distinct), _numbers(distinct))


def kept_links(connection: Connection, links: NDArray[np.int64]) -> str:
    """Keep pairs of a source row and a released row, (m, 2), in the database; return the name of their table."""
    given, name = connection.fresh("given"), connection.fresh("links")
    connection.register(given, {"s": np.ascontiguousarray(links[:, 0]), "o": np.ascontiguousarray(links[:, 1])})
    connection.run(sql.create_table(name, exp.select(exp.Star()).from_(sql.table(given))))
    connection.unregister(given)
    return name


def linked_rows(
    connection: Connection, source: Opened, released: Opened, links: str, columns: Sequence[str], *, shuffles: int, seed: int
) -> LinkedRows:
    """Count links whose released row agrees with the source row, as they are and with the source rows in random orders."""
    kept = connection.arrays(exp.select(exp.Star()).from_(sql.table(links)))
    of_source, of_output = np.asarray(kept["s"], np.int64), np.asarray(kept["o"], np.int64)
    randomness = np.random.default_rng(seed)
    orders = [randomness.permutation(len(of_source)) for _ in range(shuffles)]
    agree = np.ones(len(of_source), np.bool_)
    shuffled = np.ones((shuffles, len(of_source)), np.bool_)
    for column in coded_columns(connection, (source, released), columns):
        ours, theirs = column.codes[0][of_source], column.codes[1][of_output]
        agree &= _agreeing(ours, theirs)
        for place, order in enumerate(orders):
            shuffled[place] &= _agreeing(ours[order], theirs)
    return LinkedRows(len(of_source), int(agree.sum()), float(shuffled.sum()) / shuffles)


def _agreeing(ours: NDArray[np.unsignedinteger], theirs: NDArray[np.unsignedinteger]) -> NDArray[np.bool_]:
    agreeing: NDArray[np.bool_] = (theirs == 0) | (ours == theirs)
    return agreeing


def mapped_rows(connection: Connection, row_map: Path) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the two sides of a row map, (m,) each; -1 where a row is missing."""
    query = exp.select(sql.column("source_row"), sql.column("output_row")).from_(scan_parquet([row_map]))
    block = connection.arrays(query)
    source, output = (np.ma.filled(block[side].astype(np.int64), -1) for side in ("source_row", "output_row"))
    return source, output


def encoded_cells(connection: Connection, of: Opened, name: str) -> tuple[NDArray[Any], Any]:
    """Return (codes, dictionary) of one column in the order of its rows; see :func:`privrelease.engine.duckdb.measuring.dictionaries.encoded`."""
    return encoded(connection.arrow(exp.select(sql.aliased(of.key(name, "t"), "c")).from_(of.rows("t", False))).column(0))


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
