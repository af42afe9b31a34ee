"""Columns whose values a transform step replaces: every cell as a map of plain Python says, rows and other columns as they were."""

from __future__ import annotations

from datetime import date

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import privrelease.engine.duckdb.reading.enumerations as enumerations
import privrelease.engine.duckdb.writing.recoding as recoding
from privrelease.engine.duckdb.measuring.dictionaries import encoded, in_one_coding
from privrelease.engine.protocol.base import OutputColumn, OutputTable, Parts, Recode
from privrelease.errors import InputError, InternalError
from privrelease.relational.schema import (
    Column,
    ColumnFormat,
    ColumnType,
    Domain,
    Role,
    Sink,
    SinkKind,
    SourceKind,
    TableSource,
)

N = 5_000
TYPES = {
    "id": ColumnType.INTEGER,
    "age": ColumnType.INTEGER,
    "town": ColumnType.CATEGORY,
    "day": ColumnType.DATE,
    "pay": ColumnType.NUMBER,
}


@pytest.fixture
def source(tmp_path):
    """Rows with missing cells in every column but the first, which has a value of its own in each."""
    chance = np.random.default_rng(7)
    gone = [chance.random(N) < 0.1 for _ in range(4)]
    columns = {
        "id": pa.array(chance.permutation(N) * 3),
        "age": pa.array(chance.integers(-40, 90, N), mask=gone[0]),
        "town": pa.array(chance.choice(["Ae", "Be", "Ce", "De"], N), mask=gone[1]),
        "day": pa.array(chance.integers(0, 9_000, N).astype("datetime64[D]"), mask=gone[2]),
        "pay": pa.array(chance.normal(size=N), mask=gone[3]),
    }
    pq.write_table(pa.table(columns), tmp_path / "s.parquet")
    declared = tuple(Column(name, kind, Role.QUASI, format=ColumnFormat(missing=())) for name, kind in TYPES.items())
    return TableSource("d", SourceKind.PARQUET, str(tmp_path / "s.parquet"), "s.parquet", declared), pa.table(
        columns
    ).to_pylist()


def tens(values):
    return pc.multiply(pc.cast(pc.floor(pc.divide(pc.cast(values, pa.float64()), 10.0)), pa.int64()), 10)


def labels(values):
    return pc.binary_join_element_wise(pc.cast(tens(values), pa.string()), pa.scalar("to the next"), " ")


def years(values):
    return pc.floor_temporal(values, unit="year")


def of(name, values, kind=None):
    return Recode(Column(name, kind or TYPES[name], Role.QUASI), values)


def written(engine, staged, folder, order="source"):
    classes = engine.classes(staged, ())
    n = classes.table.n_classes
    levels, dropped = np.zeros((n, 0), np.uint8), np.zeros(n, np.bool_)
    parts = Parts(classes.handle, np.arange(n, dtype=np.uint32), classes.table.counts.astype(np.int64), (), levels, dropped)
    columns = tuple(OutputColumn(one.name, one.type) for one in staged.columns)
    sink = Sink(SinkKind.PARQUET, folder / f"{staged.handle}.parquet", "out")
    map_ = folder / f"{staged.handle}-map.parquet"
    engine.write(staged, OutputTable(columns, parts, (sink,), map_, order=order))
    return pq.read_table(sink.path).to_pylist()


def by_hand(row):
    age, town, day = row["age"], row["town"], row["day"]
    return row | {
        "id": f"{row['id'] // 10 * 10} to the next",
        "age": None if age is None else age // 10 * 10,
        "town": None if town is None else town[0],
        "day": None if day is None else date(day.year, 1, 1),
    }


ALL = (
    of("id", labels, ColumnType.CATEGORY),
    of("age", tens),
    of("town", lambda values: pc.utf8_slice_codeunits(values, 0, 1)),
    of("day", years),
)


@pytest.mark.parametrize(("coded", "few"), [(65_535, 30_000), (3, 30_000), (65_535, 0), (3, 0)])
def test_cells_are_those_of_the_map_and_all_others_stay(engine, source, tmp_path, monkeypatch, coded, few):
    monkeypatch.setattr(enumerations, "_SAMPLES", ((122_880, few),))  # held as codes, or asked block by block
    monkeypatch.setattr(recoding, "MOST_CODED", coded)  # also as texts and numbers that are not held as codes
    monkeypatch.setattr(recoding, "_BLOCK_ROWS", 512)
    staged = engine.stage(source[0])
    made = engine.recode(staged, ALL)
    assert (made.n_rows, [one.type.value for one in made.columns]) == (N, ["category", "integer", "category", "date", "number"])
    assert written(engine, made, tmp_path) == [by_hand(row) for row in source[1]]
    assert written(engine, staged, tmp_path) == source[1]  # the source itself is as it was


def test_classes_and_order_are_over_what_is_released(engine, source, tmp_path):
    made = engine.recode(engine.stage(source[0]), ALL)
    names = ["age", "town"]
    table = engine.classes(made, names).table
    expected = {}
    for row in map(by_hand, source[1]):
        expected[row["age"], row["town"]] = expected.get((row["age"], row["town"]), 0) + 1
    assert sorted(table.counts.tolist()) == sorted(expected.values())
    found = [row["id"] for row in written(engine, made, tmp_path, order="values")]
    assert found == sorted(found)


def test_no_value_of_the_source_is_left_in_a_dictionary(engine, source, tmp_path):
    made = engine.recode(engine.stage(source[0]), ALL)
    written(engine, made, tmp_path, order="values")
    file = pq.ParquetFile(tmp_path / f"{made.handle}.parquet", read_dictionary=["town"])
    chunks = [chunk for group in range(file.num_row_groups) for chunk in file.read_row_group(group)["town"].chunks]
    assert {value for chunk in chunks for value in chunk.dictionary.to_pylist()} == {"A", "B", "C", "D"}


def test_a_file_of_no_rows_or_of_missing_cells_alone_stays_one(engine, tmp_path):
    declared = (Column("age", ColumnType.INTEGER, Role.QUASI, format=ColumnFormat(missing=())),)
    for n in (0, 3):
        path = tmp_path / f"{n}.parquet"
        pq.write_table(pa.table({"age": pa.array([None] * n, pa.int64())}), path)
        staged = engine.stage(TableSource("d", SourceKind.PARQUET, str(path), path.name, declared))
        made = engine.recode(staged, (of("age", labels, ColumnType.CATEGORY),))
        assert written(engine, made, tmp_path) == [{"age": None}] * n


def test_a_map_that_does_not_give_one_value_for_each_is_a_fault_of_ours(engine, source):
    with pytest.raises(InternalError) as caught:
        engine.recode(engine.stage(source[0]), (of("age", lambda some: some[1:]),))
    assert "-" not in caught.value.message


@pytest.mark.parametrize("few", [True, False])
def test_values_without_a_released_one_are_told_by_column_and_row_all_at_once_and_never_themselves(
    engine, source, monkeypatch, few
):
    monkeypatch.setattr(enumerations, "MOST_CODED", 10**6 if few else 0)
    staged = engine.stage(source[0])

    def but_77(some):
        return pc.if_else(pc.equal(some, 77), pa.scalar(None, pa.int64()), some)

    def no_c(some):
        return pc.if_else(pc.equal(some, "Ce"), pa.scalar(None, pa.string()), some)

    with pytest.raises(InputError) as caught:
        engine.recode(staged, (of("age", but_77), of("town", no_c), of("day", years)))
    of_77 = [row for row, one in enumerate(source[1], 1) if one["age"] == 77]
    of_c = [row for row, one in enumerate(source[1], 1) if one["town"] == "Ce"]
    assert len(of_77) > 6
    told = [(one.code, one.subject, one.message.split(" (rows ")[1]) for one in caught.value.findings]
    assert told == [
        ("D256", name, f"{', '.join(map(str, where[:6]))} and {len(where) - 6} more)")
        for name, where in (("age", of_77), ("town", of_c))
    ]
    assert "77 " not in str(caught.value).replace("".join(map(str, of_77)), "")
    assert "Ce" not in str(caught.value)


def test_the_pairs_of_source_and_released_cells_are_counted_through_the_row_map(engine, source, tmp_path):
    staged = engine.stage(source[0])
    made = engine.recode(staged, (of("age", tens),))
    written(engine, made, tmp_path, order="values")
    sink = Sink(SinkKind.PARQUET, tmp_path / f"{made.handle}.parquet", "out")
    released = engine.open_release(sink, made.columns)
    expected = {}
    for row in source[1]:
        pair = row["age"], by_hand(row)["age"]
        expected[pair] = expected.get(pair, 0) + 1
    found = {}
    for block in engine.value_pairs(staged, released, tmp_path / f"{made.handle}-map.parquet", ["age"]):
        found |= dict(
            zip(zip(block.source.to_pylist(), block.released.to_pylist(), strict=True), block.rows.tolist(), strict=True)
        )
    assert found == expected


#: A column's values as every type holds them, and what a release may have in their place: the values, or labels of them.
HELD = {
    "integer": pa.array([5, 15]),
    "number": pa.array([0.25, 1.5]),
    "grid": pa.array(["0.25", "1.50"]).cast(pa.decimal128(19, 2)),
    "string": pa.array(["ab", "ba"]),
    "date": pa.array([0, 9_000], pa.date32()),
    "datetime": pa.array([0, 9_000_000], pa.timestamp("us")),
    "boolean": pa.array([False, True]),
}
RELEASED = {
    "as it is": lambda held: held,
    "labels": lambda _: pa.array(["[0, 1)", "x"]),
    "values as texts": lambda held: held.cast(pa.string()),
}


@pytest.mark.parametrize("form", RELEASED)
@pytest.mark.parametrize("kind", HELD)
def test_values_of_every_type_are_told_from_and_matched_with_every_form_that_they_are_written_in(kind, form):
    held, released = HELD[kind], RELEASED[form](HELD[kind])
    for sides in ((held, released), (released, held)):
        (left, right), distinct = in_one_coding([encoded(pa.chunked_array([side])) for side in sides])
        same = [[a == b for b in right] for a in left]
        assert same == ([[False, False], [False, False]] if form == "labels" else [[True, False], [False, True]])
        assert len(distinct) == (4 if form == "labels" else 2)


def test_texts_of_numbers_are_the_numbers_however_they_are_written_beside_doubles():
    codes, _ = in_one_coding([encoded(pa.chunked_array([one])) for one in (pa.array([1.0, 2.5]), pa.array(["2.50", "1"]))])
    assert [one.tolist() for one in codes] == [[1, 2], [2, 1]]


def test_values_of_rows_that_were_left_out_are_asked_for_no_label(engine, tmp_path):
    pq.write_table(pa.table({"town": pa.array(["Ae", "Be", "Zz", None, "Be"])}), tmp_path / "left.parquet")
    inside = Domain(values=("Ae", "Be"), outside="drop")
    declared = Column("town", ColumnType.CATEGORY, Role.QUASI, domain=inside, format=ColumnFormat(missing=()))
    staged = engine.stage(TableSource("d", SourceKind.PARQUET, str(tmp_path / "left.parquet"), "left.parquet", (declared,)))
    asked = []

    def first_letter(values):
        asked.extend(values.to_pylist())
        return pc.utf8_slice_codeunits(values, 0, 1)

    made = engine.recode(staged, (of("town", first_letter),))
    assert sorted(asked) == ["Ae", "Be"]
    assert written(engine, made, tmp_path) == [{"town": "A"}, {"town": "B"}, {"town": None}, {"town": "B"}]
