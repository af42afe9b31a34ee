"""Numeric columns by value, and distances from the source: counted by an engine as by hand."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privrelease.relational.schema import Column, ColumnType, Role, SinkKind

NUMBER = Column("x", ColumnType.NUMBER, Role.INSENSITIVE)
BEFORE = [0.5, 0.5, 2.0, None, -1.0, 4.0]
#: rows 3, 0, 2, 4, 5 of the source leave: one changed up, one down, one made missing, one made up
AFTER, MAP = [9.0, 0.5, 3.5, -2.5, None], [3, 0, 2, 4, 5]


@pytest.fixture
def changed(bench):
    staged = bench.engine.stage(bench.parquet({"x": pa.array(BEFORE)}, [NUMBER]))
    sink = bench.sink(SinkKind.PARQUET)
    pq.write_table(pa.table({"x": pa.array(AFTER)}), sink.path)
    row_map = bench.folder / "map.parquet"
    pq.write_table(pa.table({"source_row": MAP, "output_row": list(range(5))}), row_map)
    return staged, bench.engine.open_release(sink, [NUMBER]), row_map


def as_pairs(found):
    values, counts = found
    assert (values.dtype, counts.dtype) == (np.float64, np.int64)
    return list(zip(values.tolist(), counts.tolist(), strict=True))


def test_known_values_are_counted_in_ascending_order(bench, changed):
    staged, released, _ = changed
    assert as_pairs(bench.engine.number_counts(staged, "x")) == [(-1.0, 1), (0.5, 2), (2.0, 1), (4.0, 1)]
    assert as_pairs(bench.engine.number_counts(released, "x")) == [(-2.5, 1), (0.5, 1), (3.5, 1), (9.0, 1)]


def test_distances_are_of_cells_known_on_both_sides_that_differ(bench, changed):
    assert as_pairs(bench.engine.number_distances(*changed, "x")) == [(1.5, 2)]


def test_whole_numbers_and_decimals_on_a_grid_are_numbers(bench):
    columns = [Column("i", ColumnType.INTEGER, Role.QUASI), Column("d", ColumnType.NUMBER, Role.QUASI)]
    staged = bench.engine.stage(bench.csv("i,d\n-3,0.1\n,0.1\n7,1e3\n", columns))
    assert as_pairs(bench.engine.number_counts(staged, "i")) == [(-3.0, 1), (7.0, 1)]
    assert as_pairs(bench.engine.number_counts(staged, "d")) == [(0.1, 2), (1000.0, 1)]


def test_a_column_without_a_value_has_no_counts(bench):
    staged = bench.engine.stage(bench.csv("x,y\n,a\n,b\n", [NUMBER, Column("y", ColumnType.STRING, Role.QUASI)]))
    assert as_pairs(bench.engine.number_counts(staged, "x")) == []


def test_infinite_cells_of_a_foreign_file_are_not_counted(bench):
    sink = bench.sink(SinkKind.PARQUET)
    pq.write_table(pa.table({"x": [float("inf"), float("nan"), 1.0, -float("inf")]}), sink.path)
    assert as_pairs(bench.engine.number_counts(bench.engine.open_release(sink, [NUMBER]), "x")) == [(1.0, 1)]
