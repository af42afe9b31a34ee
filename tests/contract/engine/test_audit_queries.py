"""What an auditor asks of an engine, on made-up tables of at most eight rows."""

from __future__ import annotations

import hashlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privrelease.engine.protocol.base import ColumnChange, Offer, OutputColumn
from privrelease.relational.schema import Column, ColumnType, Role, SinkKind

TEXT = "id,sex,score,w\np1,F,1,10\np1,M,2,20\np2,F,3,\np3,,4,0.5\n"
DECLARED = [
    Column("id", ColumnType.STRING, Role.DIRECT),
    Column("sex", ColumnType.CATEGORY, Role.QUASI),
    Column("score", ColumnType.INTEGER, Role.SENSITIVE),
    Column("w", ColumnType.NUMBER, Role.INSENSITIVE),
]


@pytest.fixture
def released(bench):
    """Three of four rows leave, id as pseudonym; one cell of sex is missing on top."""
    staged = bench.engine.stage(bench.csv(TEXT, DECLARED))
    columns = (
        OutputColumn("id", ColumnType.STRING, b"a made-up key of bytes"),
        *(OutputColumn(c.name, c.type) for c in DECLARED[1:3]),
    )
    sinks = (bench.sink(), bench.sink(SinkKind.CSV))
    _, row_map = bench.write(
        staged, *sinks, masked=("sex",), masks=[[1], [0], [0], [0]], dropped=[False, False, True, False], columns=columns
    )
    files = [bench.engine.open_release(sink, DECLARED) for sink in sinks]
    return staged, files, row_map


def test_rows_that_left_are_counted_with_their_cells_and_persons(bench, released):
    staged, _, row_map = released
    left = bench.engine.left_rows(staged, row_map, ["sex", "score", "w"], "id")
    assert (left.rows, left.persons, left.cells) == (1, 1, (("sex", 1), ("score", 1), ("w", 0)))
    assert bench.engine.left_rows(staged, row_map, [], None).persons is None


def test_two_files_of_one_release_hold_the_same_rows(bench, released):
    _, (parquet, csv), _ = released
    names = [name for name, _ in parquet.columns]
    assert bench.engine.unequal_rows(parquet, csv, names) == 0


def test_one_cell_or_one_row_more_makes_files_unequal(bench):
    first, second, third = (bench.sink(name=name) for name in ("a", "b", "c"))
    pq.write_table(pa.table({"x": ["1", None, "3"]}), first.path)
    pq.write_table(pa.table({"x": ["1", "2", "3"]}), second.path)
    pq.write_table(pa.table({"x": ["1", None, "3", "4"]}), third.path)
    opened = [bench.engine.open_release(sink, [Column("x", ColumnType.STRING, Role.QUASI)]) for sink in (first, second, third)]
    assert [bench.engine.unequal_rows(opened[0], other, ["x"]) for other in opened] == [0, 1, 1]


def test_cells_that_repeat_an_identifier_are_counted_where_both_are_there(bench, released):
    staged, (parquet, _), row_map = released
    same = bench.engine.same_cells(staged, parquet, row_map, [("score", "score"), ("id", "score"), ("sex", "sex")])
    assert [(pair.compared, pair.same) for pair in same] == [(3, 3), (3, 0), (1, 1)]
    assert bench.engine.same_cells(staged, parquet, row_map, []) == ()


def test_keyed_tokens_stand_for_one_value_each(bench, released):
    staged, (parquet, _), row_map = released
    facts = bench.engine.token_facts(staged, parquet, row_map, "id")
    assert (facts.values, facts.tokens, facts.pairs) == (2, 2, 2)
    assert (facts.missing_differs, facts.plain, facts.unkeyed) == (0, 0, 0)


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        (["p1", "x", "p2", "p3"], (3, 4, 4, 0, 3, 0)),
        ([hashlib.sha256(b"p1").hexdigest()[:32].upper(), "x", None, hashlib.md5(b"p3").hexdigest()], (2, 3, 3, 1, 0, 2)),
        (["same", "same", "same", "other"], (3, 2, 3, 0, 0, 0)),
    ],
)
def test_tokens_that_are_values_plain_hashes_or_shared_are_counted(bench, tokens, expected):
    staged = bench.engine.stage(bench.csv(TEXT, DECLARED))
    sink = bench.sink()
    pq.write_table(pa.table({"id": pa.array(tokens, pa.string())}), sink.path)
    row_map = bench.folder / "map.parquet"
    pq.write_table(pa.table({"source_row": np.arange(4), "output_row": np.arange(4)}), row_map)
    facts = bench.engine.token_facts(staged, bench.engine.open_release(sink, DECLARED[:1]), row_map, "id")
    assert (facts.values, facts.tokens, facts.pairs, facts.missing_differs, facts.plain, facts.unkeyed) == expected


def test_persons_are_counted_with_the_most_rows_of_one(bench):
    facts = bench.engine.unit_facts(bench.engine.stage(bench.csv(TEXT, DECLARED)), "id")
    assert (facts.rows, facts.persons, facts.missing, facts.most_rows) == (4, 3, 0, 2)
    some = bench.engine.unit_facts(
        bench.engine.stage(bench.csv("u\n\n\na\n", [Column("u", ColumnType.STRING, Role.DIRECT)])), "u"
    )
    assert (some.rows, some.persons, some.missing, some.most_rows) == (3, 1, 2, 1)


def test_classes_by_persons_of_source_and_release(bench, released):
    """Source: missing 1, F 2 persons, M 1. Released: missing p1 and p3, M p1."""
    staged, (parquet, _), row_map = released
    before = bench.engine.person_classes(staged, None, None, ["sex"], "id")
    assert before.table.counts.tolist() == [1, 2, 1]
    assert np.bincount(before.table.pairs_class).tolist() == [1, 2, 1]
    after = bench.engine.person_classes(staged, parquet, row_map, ["sex"], "id")
    assert (after.table.codes.tolist(), after.table.counts.tolist()) == ([[0], [1]], [2, 1])
    assert (np.bincount(after.table.pairs_class).tolist(), after.pair_rows.tolist()) == ([2, 1], [1, 1, 1])
    by_token = bench.engine.person_classes(None, parquet, None, ["sex"], "id")
    assert by_token.table.counts.tolist() == after.table.counts.tolist()
    assert np.bincount(by_token.table.pairs_class).tolist() == [2, 1]


def test_rows_without_a_person_count_as_one_person(bench):
    declared = [Column("u", ColumnType.STRING, Role.DIRECT), Column("a", ColumnType.CATEGORY, Role.QUASI)]
    staged = bench.engine.stage(bench.csv("u,a\n,x\n,x\np,x\n", declared))
    found = bench.engine.person_classes(staged, None, None, ["a"], "u")
    assert (found.table.counts.tolist(), sorted(found.pair_rows.tolist())) == ([3], [1, 2])
    assert found.table.alike.tolist() == [1, 1]


def test_weights_are_added_by_released_classes(bench, released):
    staged, (parquet, _), row_map = released
    before = bench.engine.weighted_classes(staged, None, None, ["sex"], "w")
    assert before.weights.tolist() == [0.5, 10.0, 20.0]
    after = bench.engine.weighted_classes(staged, parquet, row_map, ["sex"], "w")
    assert (after.counts.tolist(), after.weights.tolist()) == ([2, 1], [10.5, 20.0])


def test_a_file_held_in_memory_is_the_file(bench, released):
    staged, (parquet, csv), row_map = released
    for file in (parquet, csv):
        held = bench.engine.hold(file, staged)
        assert held.columns == file.columns
        assert bench.engine.unequal_rows(file, held, [name for name, _ in file.columns]) == 0
        assert bench.engine.unsorted_rows(held) == 0
        assert bench.engine.changes(staged, held, row_map, ["sex", "score"]) == (
            ColumnChange("sex", 2, 1, 0, 0),
            ColumnChange("score", 3, 0, 0, 0),
        )


def test_a_text_that_the_source_lacks_is_not_lost_by_holding(bench):
    staged = bench.engine.stage(bench.csv(TEXT, DECLARED))
    sink = bench.sink()
    pq.write_table(pa.table({"sex": ["F", "new", None, None]}), sink.path)
    row_map = bench.folder / "map.parquet"
    pq.write_table(pa.table({"source_row": np.arange(4), "output_row": np.arange(4)}), row_map)
    held = bench.engine.hold(bench.engine.open_release(sink, DECLARED), staged)
    assert bench.engine.changes(staged, held, row_map, ["sex"]) == (ColumnChange("sex", 2, 1, 1, 0),)
    assert bench.engine.size_histogram(held, ["sex"]).classes.tolist() == [2, 1]


def test_other_tables_of_a_database_file_are_told(bench, released):
    import duckdb

    bench.needs(Offer.DATABASES)

    staged, _, _ = released
    sink = bench.sink(SinkKind.DUCKDB)
    bench.write(staged, sink, map_name="other")
    assert bench.engine.leftovers(sink) == ()
    with duckdb.connect(str(sink.path)) as connection:
        connection.execute("CREATE TABLE notes AS SELECT 1 AS a; CREATE VIEW seen AS FROM notes")
    assert bench.engine.leftovers(sink) == ("the table main.notes", "the view main.seen")


def test_files_as_written_hold_nothing_else(bench, released):
    for kind, name in ((SinkKind.PARQUET, "out"), (SinkKind.CSV, "out")):
        assert bench.engine.leftovers(bench.sink(kind, name)) == ()


@pytest.mark.parametrize("last", [0, 4_095, 4_096, 30_000, 49_999])
def test_a_value_that_no_row_uses_is_told_and_one_that_a_late_row_uses_is_not(bench, last):
    sink = bench.sink(name="theirs")
    rows = np.zeros(50_000, np.int32)
    rows[last] = 1
    rows[1:last:7] = -1
    codes = pa.array(rows, mask=rows < 0)
    table = pa.table({"sex": pa.DictionaryArray.from_arrays(codes, ["F", "M", "X"])})
    for group in (50_000, 10_000):
        pq.write_table(table, sink.path, row_group_size=group)
        assert bench.engine.leftovers(sink) == ("1 values that no row uses in the dictionary of sex",)
    pq.write_table(pa.table({"sex": table.column("sex").cast(pa.string())}), sink.path, row_group_size=10_000)
    assert bench.engine.leftovers(sink) == ()
