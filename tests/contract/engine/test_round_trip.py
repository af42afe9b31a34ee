from __future__ import annotations

import numpy as np
import pyarrow.parquet as pq

from privrelease.engine.protocol.base import ColumnChange
from privrelease.relational.schema import Column, ColumnFormat, ColumnType, Role

SEX = Column("sex", ColumnType.CATEGORY, Role.QUASI)
AGE = Column("age", ColumnType.INTEGER, Role.QUASI)
TEXT = "sex,age\nM,40\nF,30\n,30\nM,\nF,30\n"


def test_codes_are_zero_for_missing_and_ascend_by_value(bench):
    found = bench.engine.classes(bench.engine.stage(bench.csv(TEXT, [SEX, AGE])), ["sex", "age"])
    assert found.table.codes.tolist() == [[0, 1], [1, 1], [2, 0], [2, 2]]
    assert found.table.counts.tolist() == [1, 2, 1, 1]


def test_masked_cells_leave_as_null_and_rows_in_the_order_of_what_they_say(bench):
    staged = bench.engine.stage(bench.csv(TEXT, [SEX, AGE]))
    written, row_map = bench.write(
        staged, bench.sink(), masked=("age",), masks=[[1], [0], [0], [0], [0]], dropped=[0, 0, 0, 1, 0]
    )
    assert written.rows == 4
    assert pq.read_table(written.paths[0]).to_pylist() == [
        {"sex": "F", "age": 30},
        {"sex": "F", "age": 30},
        {"sex": "M", "age": None},
        {"sex": None, "age": 30},
    ]
    assert pq.read_table(row_map).to_pydict() == {"source_row": [0, 1, 2, 4], "output_row": [2, 0, 3, 1]}


def test_changes_are_counted_through_the_row_map(bench):
    staged = bench.engine.stage(bench.csv(TEXT, [SEX, AGE]))
    written, row_map = bench.write(staged, bench.sink(), masked=("age",), masks=[[1], [0], [0], [0], [0]])
    released = bench.engine.open_release(bench.sink(), [SEX, AGE])
    assert released.n_rows == written.rows == 5
    assert bench.engine.changes(staged, released, row_map, ["sex", "age"]) == (
        ColumnChange("sex", 5, 0, 0, 0),
        ColumnChange("age", 4, 1, 0, 0),
    )
    sizes = bench.engine.size_histogram(released, ["sex", "age"])
    assert (sizes.sizes.tolist(), sizes.classes.tolist()) == ([1, 2], [1, 2])


def test_every_sink_holds_the_same_rows(bench):
    staged = bench.engine.stage(bench.csv(TEXT, [SEX, AGE]))
    sinks = [bench.sink(kind) for kind in bench.writes]
    bench.write(staged, *sinks)
    opened = [bench.engine.open_release(sink, [SEX, AGE]) for sink in sinks]
    tables = bench.engine.class_tables([staged, *opened], ["sex", "age"])
    for table in tables[1:]:
        np.testing.assert_array_equal(table.codes, tables[0].codes)
        np.testing.assert_array_equal(table.counts, tables[0].counts)


def test_an_empty_text_is_no_missing_value_in_any_output(bench):
    note = Column("note", ColumnType.STRING, Role.QUASI, format=ColumnFormat(missing=()))
    staged = bench.engine.stage(bench.parquet({"note": ["", "", None, "x", ""]}, [note]))
    sinks = [bench.sink(kind) for kind in bench.writes]
    _, row_map = bench.write(staged, *sinks, masked=("note",), masks=[[0], [0], [0], [0], [1]])
    for sink in sinks:
        released = bench.engine.open_release(sink, [note])
        assert bench.engine.changes(staged, released, row_map, ["note"]) == (ColumnChange("note", 4, 1, 0, 0),)
        assert bench.engine.unsorted_rows(released) == 0
    assert (bench.folder / "out.csv").read_bytes().startswith(b'note\n""\n""\nx\n')
