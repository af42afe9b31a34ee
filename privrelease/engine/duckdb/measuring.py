"""Measuring what is about to leave: aggregates straight over the released file, and a comparison with its source row by row.

Nothing here is shared with coding and writing: groups are formed by GROUP BY, classes are coded from its result, and rows meet their
source through the row map, whatever their order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlglot import exp

from privrelease.disclosure.classes import ClassTable
from privrelease.disclosure.grouping import packed_words, row_order
from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.read_parquet import scan_parquet
from privrelease.engine.duckdb.refusals import fault
from privrelease.engine.protocol import ColumnChange, RowMapFaults, SizeHistogram

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.duckdb.opening import Opened

__all__ = [
    "Persons",
    "changes",
    "class_table",
    "class_tables",
    "joined",
    "row_map_faults",
    "size_histogram",
    "unsorted_rows",
]

Expr = exp.Expr


@dataclass(frozen=True, slots=True)
class Persons:
    """Where the person of a released row is found when the unit column did not leave: in the source, through the row map."""

    source: Opened
    row_map: Path
    unit: str


# class sizes
def _with_persons(of: Opened, persons: Persons | None) -> tuple[exp.Select, Expr | None]:
    """``FROM`` the rows, joined with the person of each where it is in the source; also the person's column."""
    if persons is None:
        return exp.Select().from_(of.rows("t", False)), None
    return joined(of, persons.row_map, persons.source), persons.source.cell(persons.unit, "s")


def joined(released: Opened, row_map: Path, source: Opened) -> exp.Select:
    """Every released row ``t`` beside its source row ``s``."""
    rows = exp.Select().from_(released.rows("t", True))
    on_output = exp.EQ(this=sql.column(released.row_number, "t"), expression=sql.column("output_row", "m"))
    on_source = exp.EQ(this=sql.column(source.row_number, "s"), expression=sql.column("source_row", "m"))
    rows = rows.join(scan_parquet([row_map], alias="m"), on=on_output, join_type="inner")
    return rows.join(source.rows("s", True), on=on_source, join_type="inner")


def size_histogram(
    connection: Connection, of: Opened, columns: Sequence[str], *, unit: str | None, residual: bool, persons: Persons | None
) -> SizeHistogram:
    """Return the class-size histogram by one aggregate; see :class:`privrelease.engine.protocol.Engine`."""
    if unit is not None and persons is not None:
        msg = "the unit is a column of the file or of the source, not both"
        raise ValueError(msg)
    base, person = _with_persons(of, persons)
    person = of.key(unit, "t") if unit is not None else person
    keys = [of.key(name, "t") for name in columns]
    if person is not None:
        named = [sql.aliased(key, f"g{place}") for place, key in enumerate(keys)]
        base = base.select(*named, sql.aliased(person, "person")).distinct()
        base = exp.Select().from_(base.subquery("pairs"))
        keys = [sql.column(f"g{place}", "pairs") for place in range(len(columns))]
    all_missing = sql.all_of([exp.Is(this=key.copy(), expression=exp.null()) for key in keys])
    sizes = base.select(
        sql.aliased(sql.count_all(), "n"), sql.aliased(all_missing if residual and keys else exp.false(), "apart")
    )
    if keys:
        sizes = sizes.group_by(*keys)
    counts = (
        exp.select(sql.column("apart"), sql.column("n"), sql.aliased(sql.count_all(), "j"))
        .from_(sizes.subquery("classes"))
        .group_by(sql.column("apart"), sql.column("n"))
        .order_by(sql.column("apart"), sql.column("n"))
    )
    block = connection.arrays(counts)
    apart = np.asarray(block["apart"], np.bool_)
    n = np.asarray(block["n"], np.int64)
    left_out = (
        int(n[apart].sum()) if not persons and unit is None else _residual_rows(connection, of, columns) if apart.any() else 0
    )
    there = ~apart & (n > 0)
    return SizeHistogram(n[there], np.asarray(block["j"], np.int64)[there], left_out)


def _residual_rows(connection: Connection, of: Opened, columns: Sequence[str]) -> int:
    missing = sql.all_of([exp.Is(this=of.key(name, "t"), expression=exp.null()) for name in columns])
    return int(connection.row(exp.select(sql.count_all(where=missing)).from_(of.rows("t", False)))[0])


# class tables
def class_table(
    connection: Connection, of: Opened, columns: Sequence[str], *, unit: str | None = None, persons: Persons | None = None
) -> ClassTable:
    """Return the class table; with a unit also the distinct (class, person) pairs."""
    base, person = _with_persons(of, persons)
    person = of.cell(unit, "t") if unit is not None else person
    block = _groups(connection, base, of, columns, person)
    codes = _codes([[block.column(place)] for place in range(len(columns))])[0]
    counts = np.asarray(block.column("n"), np.int64)
    if person is None:
        order = row_order(packed_words(codes))
        return ClassTable(tuple(columns), np.ascontiguousarray(codes[order]), counts[order])
    return _by_person(tuple(columns), codes, counts, _codes([[block.column("person")]])[0][:, 0])


def _groups(connection: Connection, base: exp.Select, of: Opened, columns: Sequence[str], person: Expr | None) -> Any:  # noqa: ANN401 - Arrow has no types
    """Groups by the stored keys; only the groups' enumerations become the texts they are."""
    keys = [of.key(name, "t") for name in columns]
    named = [sql.aliased(key, f"g{place}") for place, key in enumerate(keys)]
    if person is not None:
        keys = [*keys, person]
        named.append(sql.aliased(person.copy(), "person"))
    groups = base.select(*named, sql.aliased(sql.count_all(), "n"))
    if keys:
        groups = groups.group_by(*(key.copy() for key in keys))
    shown = [
        sql.aliased(sql.cast(sql.column(f"g{place}"), "VARCHAR") if name in of.texts else sql.column(f"g{place}"), f"g{place}")
        for place, name in enumerate(columns)
    ]
    if person is not None:
        shown.append(sql.column("person"))
    return connection.arrow(exp.select(*shown, sql.column("n")).from_(groups.subquery("groups")))


def _codes(columns: Sequence[Sequence[Any]]) -> list[NDArray[np.int32]]:
    """Codes of columns given in parts, one coding over the parts: a matrix (rows, columns) for each part."""
    import pyarrow as pa
    import pyarrow.compute as pc

    parts = len(columns[0]) if columns else 1
    coded: list[list[NDArray[np.int32]]] = [[] for _ in range(parts)]
    for pieces in columns:
        lengths = [len(piece) for piece in pieces]
        whole = _whole(pieces)
        values = pc.unique(whole).drop_null()
        values = values.take(pc.sort_indices(values.cast(pa.int8()) if pa.types.is_boolean(values.type) else values))
        found = pc.index_in(whole, value_set=values).fill_null(-1)
        codes = np.asarray(found, np.int32) + np.int32(1)
        ends = np.cumsum(lengths)
        for part, end in enumerate(ends):
            coded[part].append(codes[end - lengths[part] : end])
    return [np.stack(one, axis=1) if one else np.zeros((1, 0), np.int32) for one in coded]


def _whole(pieces: Sequence[Any]) -> Any:  # noqa: ANN401 - Arrow has no types
    """One column of all parts. A file that others made may store the same kind of value in another width: the wider one holds both."""
    import pyarrow as pa

    types = {piece.type for piece in pieces}
    if len(types) > 1 and any(map(pa.types.is_floating, types)):
        pieces = [piece.cast(pa.float64()) for piece in pieces]
    elif len(types) > 1:
        return pa.concat_tables([pa.table({"c": piece}) for piece in pieces], promote_options="permissive").column("c")
    return pa.chunked_array([chunk for piece in pieces for chunk in piece.chunks], pieces[0].type)


def _by_person(
    columns: tuple[str, ...], codes: NDArray[np.int32], counts: NDArray[np.int64], person: NDArray[np.int32]
) -> ClassTable:
    order = np.lexsort((person, *codes.T[::-1]))
    codes, counts, person = codes[order], counts[order], person[order]
    new = np.ones(len(counts), np.bool_)
    new[1:] = (codes[1:] != codes[:-1]).any(axis=1)
    starts = np.flatnonzero(new)
    class_ = (np.cumsum(new) - 1).astype(np.uint32)
    totals = np.add.reduceat(counts, starts) if len(starts) else counts
    known = person > 0
    return ClassTable(
        columns, np.ascontiguousarray(codes[starts]), totals, None, class_[known], (person[known] - 1).astype(np.uint32)
    )


def class_tables(connection: Connection, of: Sequence[Opened], columns: Sequence[str]) -> tuple[ClassTable, ...]:
    """Return one class table each, in one common coding."""
    blocks = [_groups(connection, _with_persons(one, None)[0], one, columns, None) for one in of]
    matrices = _codes([[block.column(place) for block in blocks] for place in range(len(columns))])
    tables = []
    for codes, block in zip(matrices, blocks, strict=True):
        order = row_order(packed_words(codes))
        tables.append(
            ClassTable(tuple(columns), np.ascontiguousarray(codes[order]), np.asarray(block.column("n"), np.int64)[order])
        )
    return tuple(tables)


# rows against their source
def changes(
    connection: Connection, source: Opened, released: Opened, row_map: Path, columns: Sequence[str]
) -> tuple[ColumnChange, ...]:
    """Compare every released row with its source row, column by column."""
    if not columns:
        return ()
    figures: list[Expr] = [sql.count_all()]
    for name in columns:
        alike = name in source.enums and source.enums[name] == released.enums.get(name)
        before = source.key(name, "s") if alike else source.cell(name, "s")
        after = released.key(name, "t") if alike else released.cell(name, "t")
        same = exp.EQ(this=before.copy(), expression=after.copy())  # NULL where either is missing
        figures += [exp.Count(this=part) for part in (before, after, same)]
        figures.append(sql.count_all(where=same.copy()))
    n_rows, *found = map(int, connection.row(joined(released, row_map, source).select(*figures)))
    return tuple(_change(name, n_rows, *found[4 * i : 4 * i + 4]) for i, name in enumerate(columns))


def _change(name: str, n_rows: int, before: int, after: int, both: int, same: int) -> ColumnChange:
    """From rows, cells with a value before, after and in both, and cells with the same value."""
    neither = n_rows - before - after + both
    return ColumnChange(name, same + neither, before - both, both - same, after - both)


def row_map_faults(connection: Connection, source: Opened, released: Opened, row_map: Path) -> RowMapFaults:
    """Check that every output row comes from exactly one source row and no source row leaves twice."""
    query = exp.select(sql.column("source_row"), sql.column("output_row")).from_(scan_parquet([row_map]))
    block = connection.arrays(query)
    sides = []
    for name, size in (("source_row", source.n_rows), ("output_row", released.n_rows)):
        rows = np.ma.filled(block[name].astype(np.int64), -1) if len(block[name]) else np.zeros(0, np.int64)
        inside = rows[(rows >= 0) & (rows < size)]
        times = np.bincount(inside, minlength=size)
        sides.append((len(rows) - len(inside), int(np.count_nonzero(times > 1)), int(np.count_nonzero(times == 0))))
    (beyond_source, twice_source, absent), (beyond_output, twice_output, unmapped) = sides
    return RowMapFaults(beyond_source + beyond_output, twice_source, twice_output, unmapped, absent)


def unsorted_rows(connection: Connection, released: Opened) -> int:
    """Return the number of rows that come before a row they should follow (column by column, NULLs last)."""
    keys: list[Expr] = []
    for name in released.names:
        keys += [released.key(name, "t"), sql.text("ASC NULLS LAST")]
    row = sql.column(released.row_number, "t")
    ordered = exp.select(sql.aliased(sql.call("create_sort_key", *keys), "k"), sql.aliased(row, "r")).from_(
        released.rows("t", True)
    )
    before = [
        sql.aliased(exp.Window(this=sql.call("lag", sql.column(name))), f"{name}0") for name in ("k", "r")
    ]  # over the rows as they are scanned, without a sort
    pairs = exp.select(sql.column("k"), sql.column("r"), *before).from_(ordered.subquery("ordered"))
    behind = exp.LT(this=sql.column("k"), expression=sql.column("k0"))
    apart = exp.NEQ(this=sql.column("r"), expression=exp.Add(this=sql.column("r0"), expression=sql.integer(1)))
    unsorted, strayed = connection.row(
        exp.select(sql.count_all(where=behind), sql.count_all(where=apart)).from_(pairs.subquery("pairs"))
    )
    if strayed:
        message = "the engine did not scan a file in the order of its rows"
        raise fault(message)
    return int(unsorted)
