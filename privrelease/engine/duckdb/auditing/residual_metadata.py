"""Contents of a released file besides its rows: metadata, other tables, dictionary values that no row uses (DESIGN semantics 7).

A value that was made missing in every row may still stand in a Parquet dictionary, where any reader finds it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.errors import refusal
from privrelease.engine.duckdb.reading.table_source import attach
from privrelease.findings import Location
from privrelease.relational.schema import SinkKind

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.relational.schema import Sink

__all__ = ["leftovers"]


def leftovers(connection: Connection, sink: Sink) -> tuple[str, ...]:
    """Say in words what a file holds besides its rows; names of columns and tables at most, never a value. Raises InputError D103."""
    if sink.kind is SinkKind.PARQUET:
        import pyarrow as pa

        try:
            return _of_parquet(sink.path)
        except (pa.ArrowException, OSError):
            message, hint = f"{sink.label} cannot be read as parquet", "the file is damaged: write it again"
            raise refusal(message, "D103", hint=hint, location=Location(sink.label)) from None
    return _of_database(connection, sink) if sink.kind is SinkKind.DUCKDB else ()


def _of_parquet(path: Path) -> tuple[str, ...]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = pq.read_schema(path).names
    file = pq.ParquetFile(path, read_dictionary=names)
    keys = {*(file.metadata.metadata or {}), *(file.schema_arrow.metadata or {})} - {b"ARROW:schema"}
    for field in file.schema_arrow:
        keys |= {*(field.metadata or {})} - {b"PARQUET:field_id"}
    found = [f"metadata {key.decode(errors='replace')}" for key in sorted(keys)]
    dictionaries = {name: _Dictionary() for name in names}
    for group in range(file.num_row_groups):
        rows = file.read_row_group(group, use_threads=False)
        for name, column in zip(names, rows.columns, strict=True):
            for chunk in column.chunks:
                if isinstance(chunk, pa.DictionaryArray):
                    dictionaries[name].add(chunk)
    unused = {name: dictionary.unused() for name, dictionary in dictionaries.items()}
    found += [f"{amount} values that no row uses in the dictionary of {name}" for name, amount in unused.items() if amount]
    return tuple(found)


class _Dictionary:
    """Values of a column's dictionaries, one dictionary a row group, that the rows of their group use, and those that they do not."""

    def __init__(self) -> None:
        self._used: list[Any] = []
        self._unused: list[Any] = []

    def add(self, chunk: Any) -> None:  # noqa: ANN401 - Arrow has no types
        used = _used(chunk.indices, len(chunk.dictionary))
        self._used.append(chunk.dictionary.filter(used))
        self._unused.append(chunk.dictionary.filter(~used))

    def unused(self) -> int:
        """Count distinct values that no row of the file uses."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if not any(len(part) for part in self._unused):
            return 0
        candidates = pc.unique(pa.chunked_array(self._unused))
        known = pc.is_in(candidates, value_set=pc.unique(pa.chunked_array(self._used)))
        return len(candidates) - int(pc.sum(known).as_py() or 0)


def _used(indices: Any, values: int) -> NDArray[np.bool_]:  # noqa: ANN401 - Arrow has no types
    """(values,) which places of a dictionary occur; no row is looked at after the one that completes them."""
    used = np.zeros(values + 1, np.bool_)
    start, rows = 0, 4096
    while start < len(indices) and not used[:values].all():
        part = np.asarray(indices.slice(start, rows).fill_null(values))
        used[part[:1]] = True
        used[part[1:][part[1:] != part[:-1]]] = True  # rows are sorted: most have the value of the one before
        start, rows = start + rows, 2 * rows
    return used[:values]


def _of_database(connection: Connection, sink: Sink) -> tuple[str, ...]:
    catalogue = attach(connection, sink.path)
    if catalogue is None:
        return ()
    found: list[str] = []
    try:
        for kind, function, name in (("table", "duckdb_tables", "table_name"), ("view", "duckdb_views", "view_name")):
            inside = exp.EQ(this=sql.column("database_name"), expression=sql.text(catalogue))
            others = (
                exp.select(sql.column("schema_name"), sql.column(name))
                .from_(sql.scan(function, []), copy=False)
                .where(inside, copy=False)
            )
            if kind == "view":
                others = others.where(exp.Not(this=sql.column("internal")))
            found += [
                f"the {kind} {schema}.{other}"
                for schema, other in sorted(connection.rows(others))
                if (kind, schema, other) != ("table", "main", sink.table)
            ]
    finally:
        connection.run(exp.Detach(this=sql.table(catalogue)))
    return tuple(found)
