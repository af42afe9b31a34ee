"""Very many numbers are put on even steps: the number of steps is the engine's own."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privrelease.engine.duckdb.measuring.numbers import number_counts, number_distances
from privrelease.relational.schema import Column, ColumnType, Role, Sink, SinkKind, SourceKind, TableSource

NUMBER = Column("x", ColumnType.NUMBER, Role.INSENSITIVE)


@pytest.fixture
def numbered(engine, tmp_path):
    """Stage a column of numbers."""

    def stage(numbers):
        path = tmp_path / "in.parquet"
        pq.write_table(pa.table({"x": numbers}), path)
        return engine._opened(engine.stage(TableSource("d", SourceKind.PARQUET, str(path), "in.parquet", (NUMBER,))))

    return stage


def test_more_values_than_fit_are_put_on_even_steps_and_none_is_lost(engine, numbered):
    numbers = [float(n) for n in range(101)] * 2
    values, counts = number_counts(engine._connection, numbered(numbers), "x", 11)
    assert values.tolist() == [10.0 * n for n in range(11)]
    nearest = Counter(min(range(11), key=lambda step: (abs(n - 10 * step), -step)) for n in numbers)
    assert counts.tolist() == [nearest[step] for step in range(11)]
    assert sum(counts.tolist()) == 202


def test_the_largest_doubles_are_put_on_steps_without_overflow(engine, numbered):
    values, counts = number_counts(engine._connection, numbered([-1.7e308, 1.7e308, 0.0, 1.0, 2.0]), "x", 3)
    assert (values.tolist(), counts.tolist()) == ([-1.7e308, 0.0, 1.7e308], [1, 3, 1])


def test_distances_too_are_put_on_steps(engine, numbered, tmp_path):
    source = numbered([0.0] * 5)
    sink, row_map = Sink(SinkKind.PARQUET, tmp_path / "out.parquet", "out.parquet"), tmp_path / "map.parquet"
    pq.write_table(pa.table({"x": [1.0, 2.0, 3.0, 4.0, 9.0]}), sink.path)
    pq.write_table(pa.table({"source_row": list(range(5)), "output_row": list(range(5))}), row_map)
    released = engine._opened(engine.open_release(sink, [NUMBER]))
    values, counts = number_distances(engine._connection, source, released, row_map, "x", 3)
    assert (values.dtype, counts.dtype) == (np.float64, np.int64)
    assert (values.tolist(), counts.tolist()) == ([1.0, 5.0, 9.0], [2, 2, 1])
