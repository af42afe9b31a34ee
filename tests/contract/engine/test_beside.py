"""A released file beside its source: rows with the same values are counted, whatever width the values are stored in."""

from __future__ import annotations

from decimal import Decimal

import duckdb
import pytest

from privrelease.engine.protocol.source_comparison import ExcessRows, Pattern
from privrelease.relational.schema import ColumnType, Sink, SinkKind

from .conftest import column

WIDTHS = [
    (ColumnType.INTEGER, None, "BIGINT", "UTINYINT", ("1", "2", "3")),
    (ColumnType.INTEGER, None, "BIGINT", "UBIGINT", ("1", "2", "9223372036854775807")),
    (ColumnType.NUMBER, Decimal("0.1"), "DOUBLE", "DOUBLE", ("0.1", "2.5", "-0.3")),
    (ColumnType.NUMBER, Decimal("0.1"), "DOUBLE", "DECIMAL(30, 12)", ("0.1", "2.5", "-0.3")),
    (ColumnType.NUMBER, None, "DOUBLE", "FLOAT", ("0.5", "2.5", "-0.25")),
    (ColumnType.DATE, None, "DATE", "DATE", ("0001-01-01", "2020-02-29", "9999-12-31")),
    (ColumnType.DATETIME, None, "TIMESTAMP", "TIMESTAMP_NS", ("2020-01-01 00:00:00", "2020-01-01 00:00:00.5", "1999-12-31 23:59:59.123456")),
    (ColumnType.DATETIME, None, "TIMESTAMP", "TIMESTAMP_S", ("2020-01-01 00:00:00", "1500-01-01 00:00:00", "9999-12-31 23:59:59")),
    (ColumnType.BOOLEAN, None, "BOOLEAN", "BOOLEAN", ("true", "false", None)),
    (ColumnType.STRING, None, "VARCHAR", "VARCHAR", ("a", "A", "ä ")),
]  # fmt: skip


def sides(bench, type_, grid, ours, theirs, values, released):
    for name, kind, cells in (("ours", ours, values), ("theirs", theirs, released)):
        rows = ", ".join("(NULL)" if cell is None else f"('{cell}')" for cell in cells)
        duckdb.sql(f"SELECT x::{kind} AS x FROM (VALUES {rows}) t(x)").write_parquet(str(bench.folder / f"{name}.parquet"))
    columns = [column("x", type_, grid=grid)]
    source = bench.engine.stage(bench.parquet(duckdb.sql(f"FROM '{bench.folder}/ours.parquet'").to_arrow_table(), columns))
    file = bench.engine.open_release(
        Sink(SinkKind.PARQUET, bench.folder / "theirs.parquet", "theirs.parquet"), columns, marked=True
    )
    return bench.engine.beside_source(source, bench.engine.hold(file, source), ["x"])


@pytest.mark.parametrize(("type_", "grid", "ours", "theirs", "values"), WIDTHS, ids=[f"{one[2]}-{one[3]}" for one in WIDTHS])
def test_equal_values_are_one_in_every_width(bench, type_, grid, ours, theirs, values):
    a, b, c = values
    beside = sides(bench, type_, grid, ours, theirs, (a, a, b, c), (a, b, b))
    assert bench.engine.beyond_source(beside, ["x"], []) == ExcessRows(1, 0, 0)
    assert bench.engine.beyond_source(beside, [], ["x"]) == ExcessRows(1, 0, 0)
    assert bench.engine.patterns(beside, ["x"]) == (Pattern(("x",), 3),)


def test_moments_that_no_width_of_the_file_holds_are_no_fault(bench):
    values = ("0001-01-01 00:00:00", "9999-12-31 23:59:59.999999", "2020-01-01 00:00:00")
    beside = sides(bench, ColumnType.DATETIME, None, "TIMESTAMP", "TIMESTAMP_NS", values, values[2:])
    assert bench.engine.beyond_source(beside, [], ["x"]) == ExcessRows(0, 0, 0)
    finer = ("2020-01-01 00:00:00.000000001",)
    beside = sides(bench, ColumnType.DATETIME, None, "TIMESTAMP", "TIMESTAMP_NS", values, finer)
    assert bench.engine.beyond_source(beside, [], ["x"]) == ExcessRows(1, 1, 0)


def test_missing_cells_equal_missing_ones_where_they_are_compared(bench):
    beside = sides(bench, ColumnType.INTEGER, None, "BIGINT", "BIGINT", ("1", None), (None, None, "2"))
    assert bench.engine.beyond_source(beside, ["x"], []) == ExcessRows(2, 1, 0)
    assert bench.engine.beyond_source(beside, [], ["x"]) == ExcessRows(1, 1, 0)
    assert bench.engine.beyond_source(beside, [], []) == ExcessRows(1, 0, 0)
    assert bench.engine.patterns(beside, ["x"]) == (Pattern((), 2), Pattern(("x",), 1))


def test_zero_has_no_sign_and_what_is_no_number_equals_itself(bench):
    beside = sides(bench, ColumnType.NUMBER, None, "DOUBLE", "DOUBLE", ("0", "1"), ("-0.0",))
    assert bench.engine.beyond_source(beside, ["x"], []) == ExcessRows(0, 0, 0)
    beside = sides(bench, ColumnType.NUMBER, None, "DOUBLE", "DOUBLE", ("0", "1"), ("nan", "nan", "inf"))
    assert bench.engine.beyond_source(beside, ["x"], []) == ExcessRows(3, 3, 0)
