"""Files that others made store numbers and moments in other widths than ours: classes are formed over their values."""

from __future__ import annotations

from decimal import Decimal

import duckdb
import pytest

from privrelease.relational.schema import Column, ColumnType, Role, Sink, SinkKind, SourceKind, TableSource


@pytest.mark.parametrize(
    ("theirs", "ours", "type_", "grid"),
    [
        ("INTEGER", "BIGINT", ColumnType.INTEGER, None),
        ("UTINYINT", "BIGINT", ColumnType.INTEGER, None),
        ("FLOAT", "DOUBLE", ColumnType.NUMBER, None),
        ("DOUBLE", "DECIMAL(9, 1)", ColumnType.NUMBER, Decimal("0.5")),
        ("DECIMAL(4, 1)", "DOUBLE", ColumnType.NUMBER, Decimal("0.5")),
        ("DECIMAL(4, 1)", "DOUBLE", ColumnType.NUMBER, None),
    ],
)
def test_equal_values_are_one_class_whatever_their_width(bench, theirs, ours, type_, grid):
    for name, kind in (("source", ours), ("theirs", theirs)):
        duckdb.sql(f"SELECT (i % 3)::{kind} AS x FROM range(9) t(i)").write_parquet(str(bench.folder / f"{name}.parquet"))
    column = Column("x", type_, Role.QUASI, grid=grid)
    path = bench.folder / "theirs.parquet"
    source = bench.engine.stage(
        TableSource("d", SourceKind.PARQUET, str(bench.folder / "source.parquet"), "source.parquet", (column,))
    )
    released = bench.engine.open_release(Sink(SinkKind.PARQUET, path, path.name), [column])
    before, after = bench.engine.class_tables((source, released), ["x"])
    assert before.codes.tolist() == after.codes.tolist() == [[1], [2], [3]]
    assert before.counts.tolist() == after.counts.tolist() == [3, 3, 3]
