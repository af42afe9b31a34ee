"""Measuring what is about to leave: aggregates straight over the released file, and a comparison with its source row by row.

Nothing here is shared with coding and writing: groups are formed by GROUP BY, classes are coded from its result, and rows meet their
source through the row map, whatever their order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sqlglot import exp

from privrelease.disclosure.classes.equivalence_classes import ClassTable
from privrelease.disclosure.classes.grouping import packed_words, row_order
from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.auditing.alike_cells import alike_cells, paired_cells
from privrelease.engine.duckdb.auditing.row_map import opened_map
from privrelease.engine.duckdb.errors import fault
from privrelease.engine.duckdb.measuring.dictionaries import encoded, in_one_coding
from privrelease.engine.duckdb.reading.parquet_source import scan_parquet
from privrelease.engine.protocol.audit import ValuePairs, ValueRows
from privrelease.engine.protocol.base import ColumnChange, RowMapFaults, SizeHistogram
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa
    from numpy.typing import NDArray

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.duckdb.measuring.opening import Opened

__all__ = [
    "Persons",
    "changes",
    "class_table",
    "class_tables",
    "joined",
    "row_map_faults",
    "size_histogram",
    "unsorted_rows",
    "value_pairs",
    "value_rows",
    "value_sizes",
    "with_persons",
]

Expr = exp.Expr

#: Columns that one query compares: the memory of a query grows with the square of its figures.
_AT_ONCE = 64
#: Cells whose values one query groups, where it groups several columns.
_CELLS_AT_ONCE = 500_000
#: Pairs of a block.
_PAIRS = 1 << 17
#: Columns whose cells are led together in one table.
_PAIRED = 16
#: Pairs of codes that are counted in place.
_MOST_CODED_PAIRS = 1 << 20


@dataclass(frozen=True, slots=True)
class Persons:
    """The place where the person of a released row is found when the unit column was not released: in the source, through the row map."""

    source: Opened
    row_map: Path
    unit: str


# class sizes
def with_persons(of: Opened, persons: Persons | None) -> tuple[exp.Select, Expr | None]:
    """``FROM`` the rows, joined with the person of each where it is in the source; also the person's column."""
    if persons is None:
        return exp.Select().from_(of.rows("t", False), copy=False), None
    return joined(of, persons.row_map, persons.source), persons.source.cell(persons.unit, "s")


def joined(released: Opened, row_map: Path, source: Opened) -> exp.Select:
    """Every released row ``t`` next to its source row ``s``."""
    rows = exp.Select().from_(released.rows("t", True), copy=False)
    on_output = exp.EQ(this=sql.column(released.row_number, "t"), expression=sql.column("output_row", "m"))
    on_source = exp.EQ(this=sql.column(source.row_number, "s"), expression=sql.column("source_row", "m"))
    rows = rows.join(scan_parquet([row_map], alias="m"), on=on_output, join_type="inner")
    return rows.join(source.rows("s", True), on=on_source, join_type="inner")


def size_histogram(
    connection: Connection, of: Opened, columns: Sequence[str], *, unit: str | None, residual: bool, persons: Persons | None
) -> SizeHistogram:
    """Return the class-size histogram by one aggregate; see :class:`privrelease.engine.protocol.base.Engine`."""
    if unit is not None and persons is not None:
        msg = "the unit is a column of the file or of the source, not both"
        raise ValueError(msg)
    base, person = with_persons(of, persons)
    person = of.key(unit, "t") if unit is not None else person
    keys = [of.key(name, "t") for name in columns]
    if person is not None:
        named = [sql.aliased(key, f"g{place}") for place, key in enumerate(keys)]
        base = base.select(*named, sql.aliased(person, "person")).distinct()
        base = exp.Select().from_(base.subquery("pairs"), copy=False)
        keys = [sql.column(f"g{place}", "pairs") for place in range(len(columns))]
    all_missing = sql.all_of([exp.Is(this=key.copy(), expression=exp.null()) for key in keys])
    sizes = base.select(
        sql.aliased(sql.count_all(), "n"), sql.aliased(all_missing if residual and keys else exp.false(), "apart")
    )
    if keys:
        sizes = sizes.group_by(*keys)
    counts = (
        exp.select(sql.column("apart"), sql.column("n"), sql.aliased(sql.count_all(), "j"))
        .from_(sizes.subquery("classes"), copy=False)
        .group_by(sql.column("apart"), sql.column("n"), copy=False)
        .order_by(sql.column("apart"), sql.column("n"), copy=False)
    )
    block = connection.arrays(counts)
    apart = np.asarray(block["apart"], np.bool_)
    n = np.asarray(block["n"], np.int64)
    left_out = (
        int(n[apart].sum()) if not persons and unit is None else _residual_rows(connection, of, columns) if apart.any() else 0
    )
    there = ~apart & (n > 0)
    return SizeHistogram(n[there], np.asarray(block["j"], np.int64)[there], left_out)


def value_sizes(
    connection: Connection,
    of: Opened,
    columns: Sequence[str],
    *,
    unit: str | None,
    persons: Persons | None,
    numbers: frozenset[str],
) -> tuple[SizeHistogram, ...]:
    """Return the histogram of each column alone, many columns of few rows by one query, ``numbers`` among them; see :class:`privrelease.engine.protocol.base.Engine`."""
    at_once = max(_CELLS_AT_ONCE // max(of.n_rows, 1), 1)
    found: list[SizeHistogram] = []
    for low in range(0, len(columns), at_once):
        some = columns[low : low + at_once]
        if len(some) == 1:
            found.append(size_histogram(connection, of, some, unit=unit, residual=True, persons=persons))
        else:
            found += _value_sizes(connection, of, some, unit, persons, numbers)
    return tuple(found)


def _value_sizes(
    connection: Connection,
    of: Opened,
    columns: Sequence[str],
    unit: str | None,
    persons: Persons | None,
    numbers: frozenset[str],
) -> list[SizeHistogram]:
    base, person = with_persons(of, persons)
    person = of.key(unit, "t") if unit is not None else person
    places = sql.call("list_value", *map(sql.integer, range(len(columns))))
    keys_of = (
        exp.paren(exp.Add(this=of.key(name, "t"), expression=sql.integer(0))) if name in numbers else of.key(name, "t")
        for name in columns
    )  # as texts, -0.0 and 0.0 would be two values
    cells = sql.call("list_value", *(sql.cast(one, "VARCHAR") for one in keys_of))
    named = [sql.aliased(sql.call("unnest", places), "place"), sql.aliased(sql.call("unnest", cells), "cell")]
    rows = base.select(*named, *([] if person is None else [sql.aliased(person, "person")]))
    keys = [sql.column("place"), sql.column("cell")]
    if person is not None:
        rows = (
            exp.select(*(key.copy() for key in keys), sql.column("person"))
            .distinct(copy=False)
            .from_(rows.subquery("cells"), copy=False)
        )
    there = exp.Not(this=exp.Is(this=sql.column("cell"), expression=exp.null()))
    sizes = (
        exp.select(sql.column("place"), sql.aliased(sql.count_all(), "n"))
        .from_(rows.subquery("pairs"), copy=False)
        .where(there, copy=False)
    )
    by = [sql.column("place"), sql.column("n")]
    counts = exp.select(*by, sql.aliased(sql.count_all(), "j")).from_(sizes.group_by(*keys).subquery("classes"), copy=False)
    block = connection.arrays(counts.group_by(*(one.copy() for one in by)).order_by(*(one.copy() for one in by)))
    place, n, j = (np.asarray(block[name], np.int64) for name in ("place", "n", "j"))
    return [SizeHistogram(n[place == one], j[place == one]) for one in range(len(columns))]


def _residual_rows(connection: Connection, of: Opened, columns: Sequence[str]) -> int:
    missing = sql.all_of([exp.Is(this=of.key(name, "t"), expression=exp.null()) for name in columns])
    return int(connection.row(exp.select(sql.count_all(where=missing)).from_(of.rows("t", False), copy=False))[0])


# class tables
def class_table(connection: Connection, of: Opened, columns: Sequence[str]) -> ClassTable:
    """Return the class table."""
    (table,) = class_tables(connection, (of,), columns)
    return table


def _groups(connection: Connection, of: Opened, columns: Sequence[str]) -> Any:  # noqa: ANN401 - Arrow has no types
    """Groups by the stored keys; enumerations stay dictionaries."""
    keys = [of.key(name, "t") for name in columns]
    named = [sql.aliased(key, f"g{place}") for place, key in enumerate(keys)]
    groups = exp.select(*named, sql.aliased(sql.count_all(), "n")).from_(of.rows("t", False), copy=False)
    return connection.arrow(groups.group_by(*(key.copy() for key in keys)) if keys else groups)


def _codes(columns: Sequence[Sequence[Any]]) -> list[NDArray[Any]]:
    """Codes of columns given in parts, one coding over the parts: a matrix (rows, columns) for each part, as narrow as the codes are."""
    coded = [in_one_coding([encoded(piece) for piece in pieces])[0] for pieces in columns]
    if not coded:
        return [np.zeros((1, 0), np.uint8)]
    return [np.stack(part, axis=1) for part in zip(*coded, strict=True)]


def class_tables(connection: Connection, of: Sequence[Opened], columns: Sequence[str]) -> tuple[ClassTable, ...]:
    """Return one class table each, in one common coding. Classes may be millions: what a table no longer needs is let go before the next is made."""
    blocks = [_groups(connection, one, columns) for one in of]
    matrices = _codes([[block.column(place) for block in blocks] for place in range(len(columns))])
    counts = [np.array(block.column("n"), np.int64) for block in blocks]
    del blocks
    tables = []
    while counts:
        codes, records = matrices.pop(0), counts.pop(0)
        order = row_order(packed_words(codes))
        tables.append(ClassTable(tuple(columns), codes[order].astype(np.int32), records[order]))
    return tuple(tables)


# rows against their source
def changes(
    connection: Connection, source: Opened, released: Opened, row_map: Path, columns: Sequence[str]
) -> tuple[ColumnChange, ...]:
    """Compare every released row with its source row, column by column."""
    alike = [name for name in columns if name in source.enums and source.enums[name] == released.enums.get(name)]
    rest = [name for name in columns if name not in alike]
    found: dict[str, ColumnChange] = {}
    if alike:  # one enumeration, so that a code means the same in both
        sizes = {name: _values_of(connection, source.enums[name]) for name in alike}
        with opened_map(connection, row_map, stored=False) as mapped:
            alike_found = alike_cells(connection, source, released, mapped, sizes)
        found = {name: _change(name, *of) for name, of in alike_found.items()}
    for low in range(0, len(rest), _AT_ONCE):
        some = rest[low : low + _AT_ONCE]
        figures: list[Expr] = [sql.count_all()]
        for name in some:
            before_cell, after_cell = source.cell(name, "s"), released.cell(name, "t")
            same = exp.EQ(this=before_cell.copy(), expression=after_cell.copy())  # NULL where either is missing
            figures += [exp.Count(this=part) for part in (before_cell, after_cell, same)]
            figures.append(sql.count_all(where=same.copy()))
        n_rows, *cells = map(int, connection.row(joined(released, row_map, source).select(*figures)))
        found |= {name: _change(name, n_rows, *cells[4 * i : 4 * i + 4]) for i, name in enumerate(some)}
    return tuple(found[name] for name in columns)


def value_pairs(
    connection: Connection, source: Opened, released: Opened, row_map: Path, columns: Sequence[str]
) -> Iterator[ValuePairs]:
    """Yield the distinct (source cell, released cell) pairs of each column with the rows of each; rows are led together once for several.

    Columns of few texts on both sides are paired by their codes, any other in the database.
    """
    values = {
        name: tuple(
            of.counts[name][0] if name in of.counts else _enumerated(connection, of.enums[name]) for of in (source, released)
        )
        for name in columns
        if name in source.enums and name in released.enums
    }
    sizes = {name: (len(ours), len(theirs)) for name, (ours, theirs) in values.items()}
    coded = {name: both for name, both in sizes.items() if (both[0] + 1) * (both[1] + 1) <= _MOST_CODED_PAIRS}
    if coded:
        with opened_map(connection, row_map, stored=False) as mapped:
            for name, rows in paired_cells(connection, source, released, mapped, coded):
                yield _pairs_of_codes(name, rows, values[name])
    rest = [name for name in columns if name not in coded]
    for low in range(0, len(rest), _PAIRED):
        some = rest[low : low + _PAIRED]
        cells = [
            sql.aliased(of.key(name, alias), f"{alias}{place}")
            for place, name in enumerate(some)
            for of, alias in ((source, "s"), (released, "t"))
        ]
        both = connection.fresh("pairs")
        connection.run(sql.create_table(both, joined(released, row_map, source).select(*cells)))
        for place, name in enumerate(some):
            keys = [sql.column(f"{alias}{place}", "p") for alias in "st"]
            counted = (
                exp.select(*keys, sql.aliased(sql.count_all(), "n"))
                .from_(sql.table(both, alias="p"), copy=False)
                .group_by(*keys, copy=False)
            )
            shown = [
                sql.cast(sql.column(f"{alias}{place}"), "VARCHAR") if name in of.texts else sql.column(f"{alias}{place}")
                for of, alias in ((source, "s"), (released, "t"))
            ]
            for block in connection.side_blocks(
                exp.select(*shown, sql.column("n")).from_(counted.subquery("c"), copy=False), _PAIRS
            ):
                yield ValuePairs(name, block.column(0), block.column(1), np.asarray(block.column(2), np.int64))
        connection.drop("TABLE", both)


def _enumerated(connection: Connection, enum: str) -> pa.Array:
    """Return the values of an enumeration."""
    import pyarrow as pa

    null = exp.Cast(this=exp.null(), to=exp.DataType.build(enum, dialect="duckdb", udt=True))
    texts = sql.cast(sql.call("unnest", sql.call("enum_range", null)), "VARCHAR")
    values = connection.arrow(exp.select(sql.aliased(texts, "v"))).column(0).chunks
    return pa.concat_arrays(values) if values else pa.array([], pa.string())  # none: every cell of the column is missing


def _pairs_of_codes(name: str, rows: NDArray[np.int64], values: Sequence[pa.Array]) -> ValuePairs:
    import pyarrow as pa

    there = np.nonzero(rows)
    cells = [of.take(pa.array(np.maximum(codes - 1, 0), mask=codes == 0)) for codes, of in zip(there, values, strict=True)]
    return ValuePairs(name, cells[0], cells[1], rows[there])


def value_rows(connection: Connection, of: Opened, column: str) -> Iterator[ValueRows]:
    """Yield the distinct values of a column with the rows of each."""
    if column in of.counts:
        yield ValueRows(*of.counts[column])
        return
    cell = of.key(column, "t")
    counted = exp.select(sql.aliased(cell, "v"), sql.aliased(sql.count_all(), "n")).from_(of.rows("t", False), copy=False)
    known = counted.where(exp.Not(this=exp.Is(this=cell.copy(), expression=exp.null()))).group_by(cell.copy())
    value = sql.cast(sql.column("v"), "VARCHAR") if column in of.texts else sql.column("v")
    for block in connection.side_blocks(exp.select(value, sql.column("n")).from_(known.subquery("c"), copy=False), _PAIRS):
        yield ValueRows(block.column(0), np.asarray(block.column(1), np.int64))


def _values_of(connection: Connection, enum: str) -> int:
    null = exp.Cast(this=exp.null(), to=exp.DataType.build(enum, dialect="duckdb", udt=True))
    return int(connection.row(exp.select(sql.call("len", sql.call("enum_range", null))))[0])


def _change(name: str, n_rows: int, before: int, after: int, both: int, same: int) -> ColumnChange:
    """From rows, cells with a value before, after and in both, and cells with the same value."""
    neither = n_rows - before - after + both
    return ColumnChange(name, same + neither, before - both, both - same, after - both)


def row_map_faults(connection: Connection, source: Opened, released: Opened, row_map: Path) -> RowMapFaults:
    """Check that every output row comes from exactly one source row and no source row leaves twice."""
    beyond, counts = 0, []
    sides: tuple[tuple[Literal["s", "o"], int], ...] = (("s", source.n_rows), ("o", released.n_rows))
    with opened_map(connection, row_map) as mapped:
        for side, size in sides:
            beyond += mapped.beyond(side, size)
            twice = none = 0
            for _, times in mapped.times(side, size):
                twice += int(np.count_nonzero(times > 1))
                none += int(np.count_nonzero(times == 0))
            counts.append((twice, none))
    (twice_source, absent), (twice_output, unmapped) = counts
    return RowMapFaults(beyond, twice_source, twice_output, unmapped, absent)


def unsorted_rows(connection: Connection, released: Opened) -> int:
    """Return the number of rows that come before a row they should follow (column by column, NULLs last)."""
    keys: list[Expr] = []
    for name in released.names:
        keys += [released.key(name, "t"), sql.text("ASC NULLS LAST")]
    row = sql.column(released.row_number, "t")
    ordered = exp.select(sql.aliased(sql.call("create_sort_key", *keys), "k"), sql.aliased(row, "r")).from_(
        released.rows("t", True), copy=False
    )
    before = [
        sql.aliased(exp.Window(this=sql.call("lag", sql.column(name))), f"{name}0") for name in ("k", "r")
    ]  # over the rows as they are scanned, without a sort
    pairs = exp.select(sql.column("k"), sql.column("r"), *before).from_(ordered.subquery("ordered"), copy=False)
    behind = exp.LT(this=sql.column("k"), expression=sql.column("k0"))
    apart = exp.NEQ(this=sql.column("r"), expression=exp.Add(this=sql.column("r0"), expression=sql.integer(1)))
    unsorted, strayed = connection.row(
        exp.select(sql.count_all(where=behind), sql.count_all(where=apart)).from_(pairs.subquery("pairs"), copy=False)
    )
    if strayed:
        message = "the engine did not scan a file in the order of its rows"
        raise fault(message)
    return int(unsorted)
