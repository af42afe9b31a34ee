"""Text stays text through every format, and a CSV file means what RFC 4180 says or is refused."""

from __future__ import annotations

import csv
import io
import itertools

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from privrelease.engine.protocol.base import EngineSettings, OutputColumn, OutputTable
from privrelease.errors import InputError
from privrelease.relational.schema import Column, ColumnFormat, ColumnType, Role, Sink, SinkKind, SourceKind, TableSource
from tests.contract.engine.treatments import row_by_row
from tests.depth import depth

NUMBER = itertools.count()
KEEP = ColumnFormat(missing=())
TEXTS = st.one_of(
    st.none(),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12),
    st.sampled_from(
        [
            "",
            " ",
            "007",
            "1e3",
            "NULL",
            "nan",
            "a,b",
            'say "hi"',
            '"',
            "two\nlines",
            "\r\n",
            "é",
            "e\u0301",
            "😀",
            "=1+1",
            "'",
            "\\",
            "\ufeff",
        ]
    ),
)


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    from privrelease.engine.duckdb import DuckDBEngine

    folder = tmp_path_factory.mktemp("engine")
    with DuckDBEngine(EngineSettings(readable=(folder,), writable=(folder,), threads=2)) as engine:
        yield engine, folder


def columns_of(width):
    return tuple(Column(f"c{i}", ColumnType.STRING, Role.INSENSITIVE, format=KEEP) for i in range(width))


@settings(max_examples=depth(20, 60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.integers(1, 3).flatmap(lambda width: st.lists(st.tuples(*[TEXTS] * width), min_size=1, max_size=8)),
    kind=st.sampled_from(list(SinkKind)),
)
def test_text_survives_the_trip_through_every_sink(engine, rows, kind):
    engine, folder = engine
    n, width = next(NUMBER), len(rows[0])
    columns = columns_of(width)
    path = folder / f"in{n}.parquet"
    pq.write_table(pa.table({one.name: pa.array([row[i] for row in rows], pa.string()) for i, one in enumerate(columns)}), path)
    staged = engine.stage(TableSource("d", SourceKind.PARQUET, str(path), "in", columns))
    sink = Sink(kind, folder / f"out{n}", "out")
    plan = OutputTable(
        tuple(OutputColumn(one.name, one.type) for one in columns),
        row_by_row(engine, staged),
        (sink,),
        folder / f"map{n}.parquet",
    )
    engine.write(staged, plan)
    released = engine.open_release(sink, columns)
    assert released.n_rows == len(rows)
    for change in engine.changes(staged, released, plan.row_map, [one.name for one in columns]):
        assert (change.equal, change.nulled, change.changed, change.invented) == (len(rows), 0, 0, 0)
    assert engine.unsorted_rows(released) == 0
    if kind is SinkKind.PARQUET:
        order = [
            tuple((cell is None, (cell or "").encode()) for cell in row.values())
            for row in pq.read_table(sink.path).to_pylist()
        ]
        assert order == sorted(order)
    if kind is SinkKind.CSV and width > 1:
        with sink.path.open(encoding="utf-8", newline="") as file:
            found = list(csv.reader(file, strict=True))[1:]
        assert sorted(map(tuple, found)) == sorted(tuple(cell or "" for cell in row) for row in rows)


def by_the_standard(text, width):
    """Rows of a CSV text as Python's strict reader has them; None where it refuses or rows differ in length."""
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
    except csv.Error:
        return None
    return rows[1:] if all(len(row) == width for row in rows) else None


@settings(max_examples=depth(130, 400), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=st.text(st.sampled_from('ab,,,""\n\n "x'), max_size=24), crlf=st.booleans())
def test_a_csv_file_means_what_the_standard_says_or_is_refused(engine, body, crlf):
    engine, folder = engine
    text = f"h,k\n{body}"
    text = text.replace("\n", "\r\n") if crlf else text
    path = folder / "fuzz.csv"
    path.write_bytes(text.encode())
    columns = tuple(Column(name, ColumnType.STRING, Role.INSENSITIVE, format=KEEP) for name in "hk")
    expected = by_the_standard(text, 2)
    source = TableSource("d", SourceKind.CSV, str(path), "fuzz.csv", columns)
    try:
        staged = engine.stage(source)
    except InputError as error:
        refused = error.code
    else:
        refused = None
    if refused is not None:
        assert refused in {"D111", "D112"}
        assert expected is None or any(cell.startswith(" ") and '"' in cell for row in expected for cell in row)
        return
    table = engine._staged[staged.handle]
    found = engine._connection._connection.execute(f"SELECT c0, c1 FROM {table.table}").fetchall()
    assert [list(row) for row in found] == expected
