"""Rows as codes, in one coding over tables of several kinds."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privrelease.relational.schema import Column, ColumnType, Role, SinkKind

DECLARED = [
    Column("id", ColumnType.STRING, Role.DIRECT),
    Column("sex", ColumnType.CATEGORY, Role.QUASI),
    Column("age", ColumnType.INTEGER, Role.QUASI),
    Column("pay", ColumnType.NUMBER, Role.SENSITIVE),
    Column("born", ColumnType.DATE, Role.SENSITIVE),
    Column("alive", ColumnType.BOOLEAN, Role.SENSITIVE),
]
NAMES = [column.name for column in DECLARED]
FIRST = "id,sex,age,pay,born,alive\nb,M,40,1.5,2001-01-02,true\na,,9,,2001-01-01,false\nb,F,,-0.0,,\n"
SECOND = "id,sex,age,pay,born,alive\nc,X,10,0.0,2000-12-31,true\n"


@pytest.fixture
def coded(bench):
    tables = [bench.engine.stage(bench.csv(text, DECLARED)) for text in (FIRST, SECOND)]
    return {column.name: column for column in bench.engine.coded_columns(tables, NAMES)}


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        ("id", [2, 1, 2], [3]),
        ("sex", [2, 0, 1], [3]),
        ("age", [3, 1, 0], [2]),
        ("pay", [2, 0, 1], [1]),
        ("born", [3, 2, 0], [1]),
        ("alive", [2, 1, 0], [2]),
    ],
)
def test_codes_ascend_over_all_tables_and_missing_is_none(coded, name, first, second):
    assert [codes.tolist() for codes in coded[name].codes] == [first, second]
    assert coded[name].size == max(first + second)


def test_numbers_and_dates_have_the_values_of_their_codes(coded):
    assert coded["sex"].values is None
    assert coded["alive"].values is None
    assert np.isnan(coded["age"].values[0])
    assert coded["age"].values[1:].tolist() == [9, 10, 40]
    assert coded["pay"].values[1:].tolist() == [0, 1.5]
    assert np.diff(coded["born"].values[1:]).tolist() == [1, 1]


def test_a_released_file_is_coded_with_its_source_whatever_its_width(bench):
    staged = bench.engine.stage(bench.csv(FIRST, DECLARED))
    sink = bench.sink(name="theirs")
    pq.write_table(pa.table({"age": pa.array([40.0, None, 10.0]), "sex": pa.array(["F", "Q", None])}), sink.path)
    released = bench.engine.open_release(sink, DECLARED)
    sex, age = bench.engine.coded_columns([staged, released], ["sex", "age"])
    assert [codes.tolist() for codes in sex.codes] == [[2, 0, 1], [1, 3, 0]]
    assert [codes.tolist() for codes in age.codes] == [[3, 1, 0], [3, 0, 2]]


def test_a_csv_file_of_one_column_and_a_table_without_a_row_are_coded(bench):
    staged = bench.engine.stage(bench.csv("id,sex,age,pay,born,alive\n", DECLARED))
    sink = bench.sink(SinkKind.CSV)
    sink.path.write_text("age\n7\n", encoding="utf-8")
    released = bench.engine.open_release(sink, DECLARED)
    (age,) = bench.engine.coded_columns([staged, released], ["age"])
    assert [codes.tolist() for codes in age.codes] == [[], [1]]


def test_rows_stand_in_the_order_of_the_file_however_many(bench):
    n = 300_000
    ages = (np.arange(n) * 7919) % 1013
    sink = bench.sink(name="many")
    pq.write_table(pa.table({"age": ages}), sink.path, row_group_size=10_000)
    released = bench.engine.open_release(sink, DECLARED)
    (age,) = bench.engine.coded_columns([released], ["age"])
    assert age.codes[0].dtype == np.uint16
    assert np.array_equal(age.values[age.codes[0]], ages)


def test_a_row_map_is_given_in_pairs(bench):
    staged = bench.engine.stage(bench.csv(FIRST, DECLARED))
    _, row_map = bench.write(staged, bench.sink(), dropped=[False, True, False])
    source, output = bench.engine.mapped_rows(row_map)
    assert sorted(source.tolist()) == [0, 2]
    assert sorted(output.tolist()) == [0, 1]
