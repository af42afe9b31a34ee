"""What an engine says of a released file, with planted faults that it must see."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privrelease.engine.protocol.base import ColumnChange, OutputColumn, PersonsFrom
from privrelease.errors import InputError
from privrelease.relational.schema import Column, ColumnType, Role, Sink, SinkKind

WHO = Column("who", ColumnType.STRING, Role.DIRECT)
SEX = Column("sex", ColumnType.CATEGORY, Role.QUASI)
AGE = Column("age", ColumnType.INTEGER, Role.QUASI)
AGE_X = Column("x", ColumnType.INTEGER, Role.QUASI)
TEXT = "who,sex,age\np1,M,40\np2,F,30\np3,,30\np1,M,40\np4,F,30\np5,M,40\n"
OUT = (OutputColumn("sex", ColumnType.CATEGORY), OutputColumn("age", ColumnType.INTEGER))


@pytest.fixture
def released(bench):
    """A source of six rows, one cell masked, one row dropped: (staged, row map, sink)."""
    staged = bench.engine.stage(bench.csv(TEXT, [WHO, SEX, AGE]))
    masks = [[0], [0], [0], [0], [2], [0]]
    dropped = [0, 0, 1, 0, 0, 0]
    _, row_map = bench.write(staged, bench.sink(), masked=("sex", "age"), masks=masks, dropped=dropped, columns=OUT)
    return staged, row_map, bench.sink()


def rewritten(sink, change):
    """The release after ``change`` of its table, as a file of its own."""
    table = change(pq.read_table(sink.path))
    path = sink.path.with_name("changed.parquet")
    pq.write_table(table, path)
    return replace(sink, path=path)


def test_a_faithful_release_shows_its_masked_cell_only(bench, released):
    staged, row_map, sink = released
    found = bench.engine.open_release(sink, [SEX, AGE])
    assert found.columns == (("sex", ColumnType.CATEGORY), ("age", ColumnType.INTEGER))
    assert bench.engine.changes(staged, found, row_map, ["sex", "age"]) == (
        ColumnChange("sex", 5, 0, 0, 0),
        ColumnChange("age", 4, 1, 0, 0),
    )
    faults = bench.engine.row_map_faults(staged, found, row_map)
    assert (
        faults.out_of_range,
        faults.sources_twice,
        faults.outputs_twice,
        faults.outputs_unmapped,
        faults.sources_absent,
    ) == (0, 0, 0, 0, 1)
    assert bench.engine.unsorted_rows(found) == 0


def test_swapped_rows_are_seen_though_every_count_stays(bench, released):
    staged, row_map, sink = released
    swapped = rewritten(sink, lambda table: table.take(pa.array([4, 1, 2, 3, 0])))
    found = bench.engine.open_release(swapped, [SEX, AGE])
    before, after = (
        bench.engine.size_histogram(bench.engine.open_release(one, [SEX, AGE]), ["sex", "age"]) for one in (sink, swapped)
    )
    np.testing.assert_array_equal(before.classes, after.classes)
    changes = {one.column: one for one in bench.engine.changes(staged, found, row_map, ["sex", "age"])}
    assert changes["sex"].changed == 2
    assert bench.engine.unsorted_rows(found) > 0


def test_a_changed_and_an_invented_cell_are_told_apart(bench, released):
    staged, row_map, sink = released
    staged2 = bench.engine.stage(bench.csv(TEXT.replace("p5,M,40", "p5,M,"), [WHO, SEX, AGE], name="other.csv"))
    found = bench.engine.open_release(sink, [SEX, AGE])
    assert bench.engine.changes(staged2, found, row_map, ["age"])[0] == ColumnChange("age", 3, 1, 0, 1)

    def change(table):
        return table.set_column(0, "sex", pa.array(["F", "M", "M", "M", "M"]))

    found = bench.engine.open_release(rewritten(sink, change), [SEX, AGE])
    assert bench.engine.changes(staged, found, row_map, ["sex"])[0] == ColumnChange("sex", 4, 0, 1, 0)


@pytest.mark.parametrize("values", [1, 254, 255, 256, 257])
def test_changes_of_codes_and_of_cells_are_the_same_at_every_width(bench, values):
    names = [f"v{i:03}" for i in range(values)]
    cells = [*names, "", *names[::-1], names[-1], ""]
    staged = bench.engine.stage(bench.csv("x,sex\n" + "".join(f"1,{cell}\n" for cell in cells), [AGE_X, SEX]))
    n = len(cells)
    order = np.random.default_rng(1).permutation(n)
    theirs = [cells[i] or None for i in order]
    theirs[0], theirs[1], theirs[2] = None, names[0], names[-1]
    sink, row_map = bench.sink(), bench.folder / "map.parquet"
    pq.write_table(pa.table({"sex": pa.array(theirs, pa.string())}), sink.path)
    pq.write_table(pa.table({"source_row": order.astype(np.uint32), "output_row": np.arange(n, dtype=np.uint32)}), row_map)
    pairs = [(cells[i] or None, theirs[place]) for place, i in enumerate(order)]
    expected = ColumnChange(
        "sex",
        sum(one == other for one, other in pairs),
        sum(one is not None and other is None for one, other in pairs),
        sum(None not in (one, other) and one != other for one, other in pairs),
        sum(one is None and other is not None for one, other in pairs),
    )
    found = bench.engine.open_release(sink, [SEX])
    assert bench.engine.changes(staged, found, row_map, ["sex"]) == (expected,)
    assert bench.engine.changes(staged, bench.engine.hold(found, staged), row_map, ["sex"]) == (expected,)


def test_changes_of_codes_look_at_the_rows_that_the_map_names(bench, released):
    staged, row_map, sink = released
    found = bench.engine.open_release(sink, [SEX, AGE])
    held = bench.engine.hold(found, staged)
    for source_rows, output_rows in (([0, 1, 3, 9], [2, 0, 3, 1]), ([0, 1, 3, 3], [2, 0, 9, 1]), ([], [])):
        sides = {"source_row": pa.array(source_rows, pa.uint32()), "output_row": pa.array(output_rows, pa.uint32())}
        pq.write_table(pa.table(sides), row_map)
        assert bench.engine.changes(staged, held, row_map, ["sex"]) == bench.engine.changes(staged, found, row_map, ["sex"])


@pytest.mark.parametrize(
    ("source_rows", "output_rows", "faults"),
    [
        ([0, 1, 3, 4, 5], [2, 0, 3, 1, 4], (0, 0, 0, 0, 1)),
        ([0, 1, 3, 3, 5], [2, 0, 3, 1, 4], (0, 1, 0, 0, 2)),
        ([0, 1, 3, 4, 5], [2, 0, 3, 3, 4], (0, 0, 1, 1, 1)),
        ([0, 1, 3, 4], [2, 0, 3, 1], (0, 0, 0, 1, 2)),
        ([0, 1, 3, 4, 6], [2, 0, 3, 1, 4], (1, 0, 0, 0, 2)),
        ([0, 1, 3, 4, 5], [2, 0, 3, 1, 9], (1, 0, 0, 1, 1)),
        ([], [], (0, 0, 0, 5, 6)),
    ],
)
def test_faults_of_a_row_map_are_counted(bench, released, source_rows, output_rows, faults):
    staged, row_map, sink = released
    pq.write_table(
        pa.table({"source_row": pa.array(source_rows, pa.uint32()), "output_row": pa.array(output_rows, pa.uint32())}), row_map
    )
    found = bench.engine.row_map_faults(staged, bench.engine.open_release(sink, [SEX, AGE]), row_map)
    assert (
        found.out_of_range,
        found.sources_twice,
        found.outputs_twice,
        found.outputs_unmapped,
        found.sources_absent,
    ) == faults


def test_persons_are_found_through_the_row_map_when_their_column_did_not_leave(bench, released):
    staged, row_map, sink = released
    found = bench.engine.open_release(sink, [SEX, AGE])
    persons = PersonsFrom(staged, row_map, "who")
    rows = bench.engine.size_histogram(found, ["sex", "age"])
    assert (rows.sizes.tolist(), rows.classes.tolist()) == ([1, 3], [2, 1])
    by_person = bench.engine.size_histogram(found, ["sex", "age"], persons_from=persons)
    assert (by_person.sizes.tolist(), by_person.classes.tolist()) == ([1, 2], [2, 1])
    sexes, ages = bench.engine.value_sizes(found, ["sex", "age"], persons_from=persons)
    for each, name in ((sexes, "sex"), (ages, "age")):
        alone = bench.engine.size_histogram(found, [name], persons_from=persons, residual=True)
        assert (each.sizes.tolist(), each.classes.tolist()) == (alone.sizes.tolist(), alone.classes.tolist())
    table = bench.engine.person_classes(staged, found, row_map, ["sex", "age"], "who").table
    assert table.counts.tolist() == [1, 1, 3]
    assert np.bincount(table.pairs_class, table.alike[table.pairs_person]).tolist() == [1, 1, 2]


def test_class_tables_share_one_coding(bench, released):
    staged, _, sink = released
    before, after = bench.engine.class_tables([staged, bench.engine.open_release(sink, [SEX, AGE])], ["sex", "age"])
    assert before.codes.tolist() == [[0, 1], [1, 1], [2, 2]]
    assert after.codes.tolist() == [[1, 0], [1, 1], [2, 2]]
    assert (before.counts.tolist(), after.counts.tolist()) == ([1, 2, 3], [1, 1, 3])


def test_extra_and_lacking_columns_and_other_types_are_returned_as_found(bench, released):
    _, _, sink = released

    def change(table):
        return table.drop_columns(["sex"]).append_column("note", pa.array(["x"] * 5)).set_column(0, "age", pa.array([1.5] * 5))

    found = bench.engine.open_release(rewritten(sink, change), [SEX, AGE])
    assert found.columns == (("age", ColumnType.NUMBER), ("note", ColumnType.STRING))


@pytest.mark.parametrize("kind", list(SinkKind))
def test_a_release_that_is_not_there_or_damaged_is_refused(bench, kind):
    sink = Sink(kind, bench.folder / "none", "none")
    with pytest.raises(InputError) as caught:
        bench.engine.open_release(sink, [SEX])
    assert caught.value.code == "D101"
    sink.path.write_bytes(b"" if kind is SinkKind.CSV else b"no such file kind" * 1000)
    with pytest.raises(InputError) as caught:
        bench.engine.open_release(sink, [SEX])
    assert caught.value.code in {"D103", "D104"}


def test_a_released_csv_cell_that_does_not_fit_its_type_is_refused(bench):
    path = bench.folder / "out.csv"
    path.write_text("sex,age\nF,30\nM,forty\n")
    with pytest.raises(InputError) as caught:
        bench.engine.open_release(Sink(SinkKind.CSV, path, "out.csv"), [SEX, AGE])
    assert caught.value.code == "D201"
    assert str(caught.value).startswith("out.csv:3:2: ")
    assert "forty" not in str(caught.value)


def test_a_released_csv_file_whose_first_line_may_be_data_is_refused_and_not_told(bench):
    for text in ("M,Q9\nF,30\n", "Q9,Q9\nF,30\n"):
        sink = bench.sink(SinkKind.CSV)
        sink.path.write_text(text)
        with pytest.raises(InputError) as caught:
            bench.engine.open_release(sink, [SEX, AGE])
        assert "Q9" not in str(caught.value)
        assert "has the file a header line?" in str(caught.value)


@pytest.mark.parametrize("missing", [1, 2, 5])
def test_residual_rows_are_those_without_any_value_where_persons_are_counted(bench, released, missing):
    """Some of five rows lost all cells: they are set apart by their number, and in no class of persons."""
    staged, row_map, sink = released

    def lose(table):
        lost = [[None] * missing + table[name].to_pylist()[missing:] for name in ("sex", "age")]
        return pa.table(
            [pa.array(cells, table[name].type) for name, cells in zip(("sex", "age"), lost, strict=True)], ["sex", "age"]
        )

    found = bench.engine.open_release(rewritten(sink, lose), [SEX, AGE])
    for persons in (None, PersonsFrom(staged, row_map, "who")):
        sizes = bench.engine.size_histogram(found, ["sex", "age"], persons_from=persons, residual=True)
        assert sizes.residual == missing
        assert (sizes.sizes @ sizes.classes) <= 5 - missing
