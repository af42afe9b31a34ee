"""The row map in blocks, against counts by hand."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privrelease.engine.duckdb.auditing import alike_cells
from privrelease.engine.duckdb.auditing import row_map as module
from privrelease.engine.duckdb.auditing.row_map import opened_map, times_named
from privrelease.engine.protocol.base import ColumnChange
from privrelease.relational.schema import Column, ColumnType, Role, Sink, SinkKind


@pytest.mark.parametrize("seed", range(5))
def test_rows_named_twice_in_one_block_or_in_two_are_counted(seed):
    rng = np.random.default_rng(seed)
    size = 40
    blocks = [rng.integers(0, size, int(rng.integers(0, 30))) for _ in range(4)]
    by_hand = Counter(int(row) for block in blocks for row in block)
    assert times_named(iter(blocks), size).tolist() == [min(by_hand[row], 2) for row in range(size)]


@pytest.mark.parametrize("window", [1, 7, 1000])
@pytest.mark.parametrize("size", [0, 1, 30])
def test_rows_are_counted_in_windows_as_in_one(engine, csv_source, tmp_path, monkeypatch, size, window):
    monkeypatch.setattr(module, "_WINDOW_ROWS", window)
    rng = np.random.default_rng(size)
    named = [None if row < 0 else int(row) for row in rng.integers(-3, size + 4, 50)]
    path = tmp_path / "map.parquet"
    pq.write_table(pa.table({"source_row": pa.array(named, pa.int64()), "output_row": pa.array(named[::-1], pa.int64())}), path)
    by_hand = Counter(named)
    with opened_map(engine._connection, path) as mapped:
        for side in ("s", "o"):
            found = list(mapped.times(side, size))
            assert [first for first, _ in found] == list(range(0, size, window))
            assert [int(one) for _, times in found for one in times] == [min(by_hand[row], 2) for row in range(size)]
            assert mapped.beyond(side, size) == sum(n for row, n in by_hand.items() if row is None or row >= size)
    staged = engine.stage(csv_source("a,b\n" + "x,\n" * size, "a", "b"))
    left = engine.left_rows(staged, path, ["a", "b"], "a")
    absent = sum(row not in by_hand for row in range(size))
    assert (left.rows, left.persons, left.cells) == (absent, min(absent, 1), (("a", absent), ("b", 0)))


def test_what_is_no_row_number_is_out_of_range(engine, tmp_path):
    path = tmp_path / "map.parquet"
    pq.write_table(
        pa.table({"source_row": pa.array([0, None, -5, 2**40], pa.int64()), "output_row": ["1", "x", "2", None]}), path
    )
    with opened_map(engine._connection, path) as mapped:
        (block,) = mapped.blocks()
        assert [side.tolist() for side in block] == [[0, -1, -1, -1], [1, -1, 2, -1]]
        assert [[side.tolist() for side in one] for one in mapped.inside(1, 2)] == [[[0], [1]]]


@pytest.mark.parametrize("bits", [64, 2])
@pytest.mark.parametrize(("rows", "window", "whole"), [(1 << 18, 1 << 25, 1 << 27), (2, 8, 1 << 27), (3, 8, 0), (2, 16, 0)])
def test_changes_are_the_same_however_many_rows_and_columns_are_held(
    engine, csv_source, tmp_path, monkeypatch, rows, window, whole, bits
):
    for name, value in {"_BLOCK_ROWS": rows, "_WINDOW_BYTES": window, "_WHOLE_BYTES": whole, "_WORD_BITS": bits}.items():
        monkeypatch.setattr(alike_cells, name, value)
    columns = [Column(name, ColumnType.CATEGORY, Role.QUASI) for name in "ab"]
    staged = engine.stage(csv_source("a,b\nx,1\ny,\n,3\nx,2\ny,1\n", *columns))
    (tmp_path / "out.csv").write_text("a,b\ny,1\n,1\nx,3\nx,\n")
    pq.write_table(pa.table({"source_row": [0, 1, 2, 3, 9], "output_row": [1, 0, 2, 3, 0]}), tmp_path / "map.parquet")
    released = engine.hold(engine.open_release(Sink(SinkKind.CSV, tmp_path / "out.csv", "out"), columns), staged)
    found = engine.changes(staged, released, tmp_path / "map.parquet", ["a", "b"])
    # a: x-missing, y-y, missing-x, x-x; b: 1-1, missing-1, 3-3, 2-missing
    assert found == (ColumnChange("a", 2, 1, 0, 1), ColumnChange("b", 2, 1, 0, 1))
