"""Places of released rows, counted by their part: both forms of the loop against a walk over the rows, and the faults that they find."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privrelease.engine.duckdb.writing import placed_rows
from privrelease.engine.duckdb.writing.placed_rows import PlacedRows, key_table, place_rows
from privrelease.engine.protocol.base import OutputColumn, OutputTable, Parts
from privrelease.errors import InternalError
from privrelease.loops import compiled
from privrelease.relational.schema import Column, ColumnType, Role, Sink, SinkKind

FORMS = {"plain": place_rows, "compiled": compiled.place_rows}
LARGEST = 2**64 - 2


def walked(rows, parts, records, tuples):
    """The places of rows, one row after the other: ``rows`` their classes, ``parts`` the parts of each class, a tuple of -1 is not released."""
    left = list(records)
    totals = [0] * (max(tuples, default=0) + 1)
    for amount, one in zip(records, tuples, strict=True):
        if one >= 0:
            totals[one] += amount
    following = [sum(totals[:one]) for one in range(len(totals))]
    places = []
    for row in rows:
        part = next(one for one in parts[row] if left[one])
        left[part] -= 1
        places.append(-1 if tuples[part] < 0 else following[tuples[part]])
        if tuples[part] >= 0:
            following[tuples[part]] += 1
    return places


def placed(form, keys, rows, parts, records, tuples, blocks):
    table = key_table(keys, np.array([some[0] for some in parts]))
    state = np.stack((np.array(tuples), np.array(records)), axis=1).astype(np.int64)
    totals = np.zeros(max(tuples) + 1 if max(tuples) >= 0 else 1, np.int64)
    for amount, one in zip(records, tuples, strict=True):
        totals[one] += amount if one >= 0 else 0
    following = np.cumsum(totals) - totals
    found = []
    for block in np.array_split(keys[np.array(rows, np.int64)], blocks):
        into = np.empty(len(block), np.int64)
        assert FORMS[form](block, table, state, following, into)
        found += into.tolist()
    return found, table.tolist(), state.tolist(), following.tolist()


def test_rows_of_one_tuple_are_neighbours_in_source_order():
    """Class 5 gives its first row to tuple 1 and its second to tuple 0; class 8 loses its first row and gives the other to tuple 1."""
    keys = np.array([5, 8], np.uint64)
    found, _, state, following = placed("plain", keys, [1, 0, 0, 1], [[0, 1], [2, 3]], [1, 1, 1, 1], [1, 0, -1, 1], 1)
    assert found == [-1, 1, 0, 2]
    assert ([left for _, left in state], following) == ([0, 0, 0, 0], [1, 3])


@st.composite
def treatments(draw):
    classes = draw(st.integers(1, 9))
    keys = draw(st.lists(st.integers(0, 20) | st.integers(0, LARGEST), min_size=classes, max_size=classes, unique=True))
    parts, records, tuples, rows = [], [], [], []
    for one in range(classes):
        own = draw(st.lists(st.integers(0, 4), min_size=1, max_size=3))
        parts.append(list(range(len(records), len(records) + len(own))))
        records += own
        tuples += draw(st.lists(st.integers(-1, 3), min_size=len(own), max_size=len(own)))
        rows += [one] * sum(own)
    return np.array(keys, np.uint64), draw(st.permutations(rows)), parts, records, tuples, draw(st.integers(1, 4))


@settings(max_examples=150, deadline=None)
@given(treatments())
def test_both_loops_place_rows_as_a_walk_over_them_does(given_):
    keys, rows, parts, records, tuples, blocks = given_
    plain = placed("plain", keys, rows, parts, records, tuples, blocks)
    assert plain == placed("compiled", keys, rows, parts, records, tuples, blocks)
    assert plain[0] == walked(rows, parts, records, tuples)


@pytest.mark.parametrize("form", FORMS)
def test_many_classes_collide_in_the_table_and_are_told_apart(form):
    drawn = np.random.default_rng(4)
    keys = np.unique(drawn.integers(0, 1 << 40, 5_000).astype(np.uint64))
    rows = drawn.permutation(np.repeat(np.arange(len(keys)), 3)).tolist()
    parts = [[2 * one, 2 * one + 1] for one in range(len(keys))]
    records, tuples = [1, 2] * len(keys), [one % 700 - 1 for one in range(2 * len(keys))]
    found, *_ = placed(form, keys, rows, parts, records, tuples, 7)
    assert found == walked(rows, parts, records, tuples)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("row", "left"), [(6, 1), (5, 0)], ids=["unknown key", "no row left"])
def test_rows_that_no_part_awaits_are_refused(form, row, left):
    table = key_table(np.array([5], np.uint64), np.array([0]))
    state, following = np.array([[0, left]], np.int64), np.zeros(1, np.int64)
    assert not FORMS[form](np.array([row], np.uint64), table, state, following, np.empty(1, np.int64))


def test_the_compiled_loop_refuses_tables_of_other_shapes():
    keys, into = np.array([5], np.uint64), np.empty(1, np.int64)
    state, following = np.array([[0, 1]], np.int64), np.zeros(1, np.int64)
    for table in (np.zeros((3, 2), np.uint64), np.zeros((4, 3), np.uint64), np.zeros((1, 2), np.uint64)):
        with pytest.raises(TypeError, match="another shape"):
            compiled.place_rows(keys, table, state, following, into)
    with pytest.raises(TypeError, match="another shape"):
        compiled.place_rows(keys, key_table(keys, np.array([0])), state, following, np.empty(2, np.int64))


COLUMNS = ("a", "b", "c")


@pytest.fixture
def treated(engine, csv_source):
    """9,000 rows of 60 classes, a third of them split over parts, some parts dropped or without rows."""
    drawn = np.random.default_rng(6)
    lines = [f"{a},{'' if b == 3 else b},{c}" for a, b, c in drawn.integers(0, (5, 4, 3), (9_000, 3)).tolist()]
    declared = [Column(name, ColumnType.CATEGORY, Role.QUASI) for name in COLUMNS]
    staged = engine.stage(csv_source("\n".join([",".join(COLUMNS), *lines]) + "\n", *declared))
    found = engine.classes(staged, COLUMNS)
    class_index, records = [], []
    for place, count in enumerate(found.table.counts.tolist()):
        some = [count] if place % 3 else [count // 4, 0, count - count // 4]
        class_index += [place] * len(some)
        records += some
    levels = np.where(drawn.random((len(records), 3)) < 0.3, 255, 0).astype(np.uint8)
    dropped = drawn.random(len(records)) < 0.1
    return staged, Parts(found.handle, np.array(class_index, np.uint32), np.array(records, np.int64), COLUMNS, levels, dropped)


@pytest.fixture
def write(engine, tmp_path, monkeypatch):
    """Write a release; returns the bytes of the file and of the row map."""
    monkeypatch.setattr(placed_rows, "BLOCK_ROWS", 1_000)

    def written(staged, parts, name):
        sink, row_map = tmp_path / f"{name}.parquet", tmp_path / f"{name}-map.parquet"
        columns = tuple(OutputColumn(one, ColumnType.CATEGORY) for one in COLUMNS)
        engine.write(staged, OutputTable(columns, parts, (Sink(SinkKind.PARQUET, sink, name),), row_map))
        return sink.read_bytes(), row_map.read_bytes()

    return written


def test_placed_rows_are_written_as_sorted_ones_byte_by_byte(treated, write, monkeypatch):
    monkeypatch.setattr("privrelease.engine.duckdb.writing.released_rows.BLOCK_ROWS", 1_000)
    monkeypatch.setattr("privrelease.engine.duckdb.writing.blocks.BLOCK_ROWS", 1_000)
    of_compiled = write(*treated, "compiled")
    monkeypatch.setattr(placed_rows, "_placing", lambda: place_rows)
    assert write(*treated, "plain") == of_compiled
    monkeypatch.setattr(PlacedRows, "serves", lambda *_: False)
    assert write(*treated, "sorted") == of_compiled


def test_rows_that_do_not_fit_their_parts_leave_no_file(treated, write, monkeypatch, tmp_path):
    """A loop that places a row twice, and one that passes over rows: what it leaves behind does not add up."""

    def once_more(keys, table, state, following, into):
        return place_rows(keys, table, state, following, into) and bool(np.add.at(following, [0], 1) or True)

    def none(keys, table, state, following, into):
        into[:] = -1
        return True

    for fault in (once_more, none):
        monkeypatch.setattr(placed_rows, "_placing", lambda fault=fault: fault)
        with pytest.raises(InternalError) as caught:
            write(*treated, fault.__name__)
        assert caught.value.code == "R201"
    assert not list(tmp_path.glob("*.parquet"))
