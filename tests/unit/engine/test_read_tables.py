"""Parquet, DuckDB and SQLite sources: their types become the declared ones without loss, or the source is refused."""

from __future__ import annotations

import sqlite3
from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privrelease.errors import InternalError
from privrelease.relational.schema import Column, ColumnFormat, ColumnType, Role, SourceKind, TableSource

NAN = float("nan")
I, N, D, T, B, S, C = (  # noqa: E741 - one letter a type keeps the table readable
    ColumnType.INTEGER,
    ColumnType.NUMBER,
    ColumnType.DATE,
    ColumnType.DATETIME,
    ColumnType.BOOLEAN,
    ColumnType.STRING,
    ColumnType.CATEGORY,
)


def col(name, type_, grid=None, **form):
    return Column(name, type_, Role.INSENSITIVE, grid=Decimal(grid) if grid else None, format=ColumnFormat(**form))


@pytest.fixture
def parquet(tmp_path):
    def make(columns, *declared, name="in.parquet", **source):
        path = tmp_path / name
        pq.write_table(pa.table(columns), path)
        return TableSource("d", SourceKind.PARQUET, str(path), name, declared, **source)

    return make


STAMP = datetime(2021, 4, 3, 10, 11, 12, 5)  # noqa: DTZ001 - no zone is the claim


@pytest.mark.parametrize(
    ("declared", "array", "stored"),
    [
        (col("x", S), pa.array(["007", "", None]), ["007", None, None]),
        (col("x", S, missing=()), pa.array(["007", "", None]), ["007", "", None]),
        (col("x", C), pa.array(["b", "a", None]).dictionary_encode(), ["b", "a", None]),
        (col("x", S), pa.array([7, -5, None], pa.int32()), ["7", "-5", None]),
        (col("x", S), pa.array([2**64 - 1], pa.uint64()), ["18446744073709551615"]),
        (col("x", I), pa.array([1, None], pa.uint32()), [1, None]),
        (col("x", I), pa.array([2**63 - 1], pa.uint64()), [2**63 - 1]),
        (col("x", I), pa.array(["12", None, ""]), [12, None, None]),
        (col("x", I, missing=("-9",)), pa.array([3, -9], pa.int16()), [3, None]),
        (col("x", N), pa.array([1.5, NAN, float("inf"), None]), [1.5, None, None, None]),
        (col("x", N), pa.array([0.1 + 0.2]), [0.1 + 0.2]),
        (col("x", N, missing=("-99",)), pa.array([1.5, -99.0]), [1.5, None]),
        (col("x", N), pa.array([2**53]), [2.0**53]),
        (col("x", N), pa.array([Decimal("1.25")]), [1.25]),
        (col("x", N, "0.1"), pa.array([0.3, 1.0]), [Decimal("0.3"), Decimal("1.0")]),
        (col("x", N, "0.1"), pa.array([0.5, 0.1], pa.float32()), [Decimal("0.5"), Decimal("0.1")]),
        (col("x", N, "0.5"), pa.array([Decimal("1.500")]), [Decimal("1.5")]),
        (col("x", N, "5"), pa.array([15]), [Decimal(15)]),
        (col("x", D), pa.array([date(2021, 4, 3), None]), [date(2021, 4, 3), None]),
        (col("x", D), pa.array(["2021-04-03"]), [date(2021, 4, 3)]),
        (col("x", T), pa.array([STAMP], pa.timestamp("us")), [STAMP]),
        (col("x", T), pa.array([STAMP], pa.timestamp("ns")), [STAMP]),
        (col("x", B), pa.array([True, None]), [True, None]),
        (col("x", B, aliases=(("1", "true"), ("0", "false"))), pa.array([1, 0], pa.int8()), [True, False]),
    ],
)
def test_a_physical_type_becomes_the_declared_type_without_loss(engine, parquet, values, declared, array, stored):
    assert [row[0] for row in values(engine.stage(parquet({"x": array}, declared)))] == stored


@pytest.mark.parametrize(
    ("declared", "array", "code", "hint"),
    [
        (col("x", I), pa.array([1.0]), "D115", "type: number"),
        (col("x", S), pa.array([1.5]), "D115", "type: number"),
        (col("x", S), pa.array([True]), "D115", "type: boolean"),
        (col("x", S), pa.array([date(2021, 4, 3)]), "D115", "type: date"),
        (col("x", D), pa.array([STAMP], pa.timestamp("us")), "D115", "type: datetime"),
        (col("x", T), pa.array([STAMP], pa.timestamp("us", "UTC")), "D115", "UTC without a zone"),
        (col("x", S), pa.array([[1]]), "D115", "unlisted_columns"),
        (col("x", S), pa.array([{"a": 1}]), "D115", "unlisted_columns"),
        (col("x", B), pa.array([1]), "D115", "type: integer"),
        (col("x", D, missing=("?",)), pa.array([date(2021, 4, 3)]), "D115", "marks"),
        (col("x", I), pa.array([2**63], pa.uint64()), "D202", "type: string"),
        (col("x", I), pa.array(["1.0"]), "D201", "digits"),
        (col("x", N), pa.array([2**53 + 1]), "D204", "integer"),
        (col("x", N), pa.array([Decimal("12345678901234567.5")]), "D204", "grid"),
        (col("x", N, "0.1"), pa.array([0.15]), "D205", "grid"),
        (col("x", T), pa.array([1], pa.timestamp("ns")), "D207", "microseconds"),
        (col("x", T), pa.array(["2021-04-03"]), "D207", "datetime: "),
        (col("x", D), pa.array(["03.04.2021"]), "D206", "{date: "),
        (col("x", D), pa.array([-800_000], pa.date32()), "D206", "no other years"),
        (col("x", D), pa.array([3_000_000], pa.date32()), "D206", "no other years"),
        (col("x", T), pa.array([-(2**56)], pa.timestamp("us")), "D207", "no other years"),
        (col("x", D), pa.array(["0000-01-01"]), "D206", "ISO"),
        (col("x", T), pa.array(["0000-01-01T00:00"]), "D207", "ISO"),
    ],
)
def test_a_physical_type_that_would_lose_something_is_refused(parquet, refused, declared, array, code, hint):
    (found,) = refused(parquet({"x": array}, declared))
    assert found.code == code
    assert hint in found.hint
    assert "column x" in found.message


@pytest.mark.parametrize("type_", list(ColumnType))
def test_a_column_without_a_type_is_missing_throughout(engine, parquet, values, type_):
    source = parquet({"x": pa.nulls(2), "y": [1, 2]}, col("x", type_), col("y", I))
    assert values(engine.stage(source)) == [(None, 1), (None, 2)]


@pytest.mark.parametrize("rows", [4, 70_000], ids=["coded", "as text"])
def test_a_nul_in_a_text_is_refused_with_its_row(parquet, refused, rows):
    texts = ["x", "y", "Q9\0z", *(f"w{n}" for n in range(rows - 3))]
    (found,) = refused(parquet({"x": texts, "y": ["a\\0b"] * rows}, col("x", S), col("y", C)))
    assert (found.code, found.subject) == ("D113", "x")
    assert "(row 3): a cell holds a NUL" in found.message
    assert "Q9" not in str(found)


def test_damage_inside_a_parquet_file_is_refused(engine, parquet, refused, tmp_path):
    source = parquet({"x": [f"v{n * n % 9973}" for n in range(4000)], "n": list(range(4000))}, col("x", S), col("n", I))
    path = tmp_path / "in.parquet"
    whole = path.read_bytes()
    assert engine.stage(source).n_rows == 4000
    path.write_bytes(whole[:4] + bytes(byte ^ 0xA5 for byte in whole[4:68]) + whole[68:])
    assert [(one.code, bool(one.hint)) for one in refused(source)] == [("D103", True)]
    path.write_bytes(whole)
    assert engine.stage(source).n_rows == 4000


def test_damage_inside_a_duckdb_file_is_refused(refused, tmp_path):
    import duckdb

    path = tmp_path / "in.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute("CREATE TABLE t AS SELECT i AS n, md5(i::VARCHAR) AS x FROM range(60000) r(i)")
    source = TableSource("d", SourceKind.DUCKDB, str(path), "in.duckdb", (col("n", I), col("x", S)), table="t")
    whole = path.read_bytes()
    start = 12_288 + 2 * 262_144 + 100  # inside a block, which has a checksum
    path.write_bytes(whole[:start] + bytes(64) + whole[start + 64 :])
    assert [(one.code, bool(one.hint)) for one in refused(source)] == [("D103", True)]


def test_a_view_that_reads_outside_its_file_is_refused(engine, refused, values, tmp_path):
    import duckdb

    outside = tmp_path.parent.parent / "outside.csv"
    outside.write_text("n\n1\n", encoding="utf-8")
    path = tmp_path / "in.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute(f"CREATE VIEW outside AS SELECT 1 AS n FROM read_text('{outside}')")
        con.execute("CREATE TABLE t AS SELECT 5 AS n")
        con.execute("CREATE VIEW inside AS SELECT n FROM t")
    outside.unlink()
    there = TableSource("d", SourceKind.DUCKDB, str(path), "in.duckdb", (col("n", I),), table="inside")
    assert values(engine.stage(there)) == [(5,)]
    (found,) = refused(TableSource("d", SourceKind.DUCKDB, str(path), "in.duckdb", (col("n", I),), table="outside"))
    assert (found.code, found.message) == ("D118", "the view outside of in.duckdb reads outside its file")
    with duckdb.connect(str(path)) as con:
        con.execute("DROP TABLE t")
    (found,) = refused(there)
    assert (found.code, found.message) == ("D118", "the view inside of in.duckdb reads what is not there")


def test_a_misfit_in_parquet_is_placed_by_its_row_and_file(parquet, refused, tmp_path):
    parquet({"x": ["1", "2"]}, name="part1.parquet")
    source = parquet({"x": ["3", "x4"]}, col("x", I), name="part2.parquet")
    glob = TableSource("d", SourceKind.PARQUET, str(tmp_path / "part*.parquet"), "data/part*.parquet", source.columns)
    (found,) = refused(glob)
    assert found.location.file == "data/part2.parquet"
    assert "(row 2)" in found.message


def test_files_of_a_glob_must_be_alike(parquet, refused, tmp_path):
    parquet({"x": ["1"]}, name="part1.parquet")
    source = parquet({"x": [3]}, col("x", S), name="part2.parquet")
    glob = TableSource("d", SourceKind.PARQUET, str(tmp_path / "part*.parquet"), "part*.parquet", source.columns)
    assert [one.code for one in refused(glob)] == ["D114"]


def test_files_of_a_glob_may_order_their_columns_differently(engine, parquet, values, tmp_path):
    parquet({"x": ["1"], "y": ["a"]}, name="part1.parquet")
    source = parquet({"y": ["b"], "x": ["2"]}, col("x", S), col("y", S), name="part2.parquet")
    glob = TableSource("d", SourceKind.PARQUET, str(tmp_path / "part*.parquet"), "part*.parquet", source.columns)
    assert values(engine.stage(glob)) == [("1", "a"), ("2", "b")]


def test_parquet_headers_are_checked_as_the_file_writes_them(parquet, refused):
    assert [one.code for one in refused(parquet({"Age": [1], "AGE": [2]}, col("Age", I), unlisted_columns="drop"))] == ["D106"]
    assert [one.code for one in refused(parquet({"a": [1], "b": [2]}, col("a", I), name="two.parquet"))] == ["D108"]
    assert [one.code for one in refused(parquet({"A": [1]}, col("a", I), name="three.parquet"))] == ["D107", "D108"]


@pytest.mark.parametrize("kind", [SourceKind.PARQUET, SourceKind.DUCKDB, SourceKind.SQLITE])
@pytest.mark.parametrize("data", [b"", b"a,b\n1,2\n", b"PAR1" + b"\0" * 100 + b"PAR1"])
def test_a_file_of_another_kind_is_refused(tmp_path, refused, kind, data):
    path = tmp_path / "in.file"
    path.write_bytes(data)
    (found,) = refused(TableSource("d", kind, str(path), "in.file", (col("a", S),), table="t"))
    assert found.code in {"D103", "D116"}
    assert "SQL" not in found.message.replace("SQLite", "")


def test_a_duckdb_table_is_read_by_its_exact_names(engine, values, refused, tmp_path):
    import duckdb

    path = tmp_path / "in.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute('CREATE TABLE "my table" AS SELECT * FROM (VALUES (\'007\', 5), (NULL, 6)) t("a ""b", n)')
    source = TableSource("d", SourceKind.DUCKDB, str(path), "in.duckdb", (col('a "b', S), col("n", I)), table="my table")
    assert values(engine.stage(source)) == [("007", 5), (None, 6)]
    other = TableSource("d", SourceKind.DUCKDB, str(path), "in.duckdb", source.columns, table="no table")
    assert [one.code for one in refused(other)] == ["D116"]
    with duckdb.connect(str(path)) as con:  # the engine holds it no longer
        con.execute('DROP TABLE "my table"')


def test_a_sqlite_table_is_read_by_the_types_of_its_cells(engine, values, refused, tmp_path):
    path = tmp_path / "in.sqlite"
    with sqlite3.connect(path) as con:
        con.execute('CREATE TABLE "my ""table" (zip, n INTEGER, r REAL, mixed, day TEXT)')
        con.executemany(
            'INSERT INTO "my ""table" VALUES (?, ?, ?, ?, ?)',
            [("007", 5, 0.1 + 0.2, "x", "2021-04-03"), (None, 2**62, 2, 12, None)],
        )
    columns = (col("zip", S), col("n", I), col("r", N), col("mixed", S), col("day", D))
    source = TableSource("d", SourceKind.SQLITE, str(path), "in.sqlite", columns, table='my "table')
    assert values(engine.stage(source)) == [("007", 5, 0.1 + 0.2, "x", date(2021, 4, 3)), (None, 2**62, 2.0, "12", None)]
    wrong = TableSource(
        "d", SourceKind.SQLITE, str(path), "in.sqlite", (col("r", I),), table='my "table', unlisted_columns="drop"
    )
    assert [one.code for one in refused(wrong)] == ["D115"]
    none = TableSource("d", SourceKind.SQLITE, str(path), "in.sqlite", columns, table="other")
    assert [one.code for one in refused(none)] == ["D116"]
    with sqlite3.connect(path) as con:
        con.execute("CREATE TABLE b (x)")
        con.execute("INSERT INTO b VALUES (x'00ff')")
    blob = TableSource("d", SourceKind.SQLITE, str(path), "in.sqlite", (col("x", S),), table="b")
    assert [one.code for one in refused(blob)] == ["D115"]
    with sqlite3.connect(path) as con:
        con.execute("CREATE TABLE bad AS SELECT CAST(x'ff41' AS TEXT) AS x")
        con.execute("CREATE TABLE empty (x)")
    bad = TableSource("d", SourceKind.SQLITE, str(path), "in.sqlite", (col("x", S),), table="bad")
    (found,) = refused(bad)
    assert found.code == "D103"
    empty = TableSource("d", SourceKind.SQLITE, str(path), "in.sqlite", (col("x", D),), table="empty")
    assert engine.stage(empty).n_rows == 0


def test_a_text_without_a_code_is_a_fault_and_no_missing_value(engine, parquet, monkeypatch):
    from privrelease.engine.duckdb import sql

    create_enum = sql.create_enum
    source = parquet({"x": ["a", "b", None, "b"]}, col("x", S, missing=()))
    assert engine.stage(source).n_rows == 4
    monkeypatch.setattr(sql, "create_enum", lambda name, values: create_enum(name, values.limit(1)))
    with pytest.raises(InternalError, match="D199") as caught:
        engine.stage(source)
    assert "text of the source has no code" in str(caught.value)
