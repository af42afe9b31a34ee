"""What leaves: exactly the rows that may, in the order of what they say, and nothing of what they no longer say."""

from __future__ import annotations

import csv
import hashlib
import hmac
import os
from contextlib import ExitStack
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privrelease.engine.protocol.base import EngineSettings, OutputColumn, OutputTable
from privrelease.errors import InputError
from privrelease.relational.schema import Column, ColumnFormat, ColumnType, Role, Sink, SinkKind, SourceKind, TableSource
from tests.contract.engine.treatments import row_by_row

S, C = ColumnType.STRING, ColumnType.CATEGORY


@pytest.fixture
def write(engine, tmp_path):
    """Write a staged source; return the paths of the sinks."""

    def run(staged, *kinds, masked=(), masks=None, dropped=None, keys=(), columns=None, name="out", **more):
        names = columns or [column.name for column in staged.columns]
        types = {column.name: column.type for column in staged.columns}
        keys = dict(keys)
        table = OutputTable(
            tuple(OutputColumn(one, types[one], keys.get(one)) for one in names),
            row_by_row(engine, staged, masked, masks, dropped),
            tuple(Sink(kind, tmp_path / f"{name}.{kind.value}", name) for kind in kinds or [SinkKind.PARQUET]),
            tmp_path / f"{name}-map.parquet",
            **more,
        )
        return engine.write(staged, table).paths

    return run


def rows_of(path):
    return [tuple(row.values()) for row in pq.read_table(path).to_pylist()]


def test_rows_are_in_the_order_of_what_they_say_with_nulls_last(engine, csv_source, write):
    staged = engine.stage(csv_source("a,b\nz,2\n,1\na,\na,10\nb,x\na,9\n", "a", "b"))
    (path,) = write(staged)
    assert rows_of(path) == [("a", "10"), ("a", "9"), ("a", None), ("b", "x"), ("z", "2"), (None, "1")]
    (path,) = write(staged, order="source", name="source")
    assert [row[1] for row in rows_of(path)] == ["2", "1", None, "10", "x", "9"]


def test_the_order_is_that_of_the_output_columns_of_every_type(engine, tmp_path, write, monkeypatch):
    import privrelease.engine.duckdb.reading.enumerations as enumerations

    n = 4000
    rng = np.random.default_rng(5)
    table = pa.table(
        {
            "name": [f"n{v}" for v in rng.permutation(n)],
            "whole": pa.array(rng.integers(-5, 5, n), mask=rng.random(n) < 0.1),
            "real": rng.integers(0, 9, n) / 2,
            "day": pa.array(rng.integers(0, 50, n).astype("datetime64[D]")),
            "yes": rng.random(n) < 0.5,
            "sex": pa.array(rng.choice(["F", "M"], n), mask=rng.random(n) < 0.1),
        }
    )
    pq.write_table(table, tmp_path / "in.parquet")
    types = {
        "name": S,
        "whole": ColumnType.INTEGER,
        "real": ColumnType.NUMBER,
        "day": ColumnType.DATE,
        "yes": ColumnType.BOOLEAN,
        "sex": C,
    }
    columns = tuple(Column(name, type_, Role.INSENSITIVE) for name, type_ in types.items())
    source = TableSource("d", SourceKind.PARQUET, str(tmp_path / "in.parquet"), "in.parquet", columns)
    masks = rng.integers(0, 4, (n, 1))
    dropped = rng.random(n) < 0.05
    expected = [
        tuple(
            None if masks[i, 0] >> bit & 1 and name in ("sex", "whole") else row[name]
            for bit, name in ((1, "whole"), (0, "sex"), (9, "yes"), (9, "real"), (9, "day"), (9, "name"))
        )
        for i, row in enumerate(table.to_pylist())
        if not dropped[i]
    ]
    expected.sort(key=lambda row: tuple((cell is None, 0 if cell is None else cell) for cell in row))
    for many, name in ((30_000, "held"), (100, "mixed"), (0, "streamed")):
        monkeypatch.setattr(enumerations, "_SAMPLES", ((122_880, many),))
        (path,) = write(
            engine.stage(source),
            masked=("sex", "whole"),
            masks=masks,
            dropped=dropped,
            columns=["whole", "sex", "yes", "real", "day", "name"],
            name=name,
        )
        assert rows_of(path) == expected


def test_nothing_is_left_of_values_that_no_cell_holds(engine, csv_source, write):
    staged = engine.stage(csv_source("a,b\nsecretA,1\nkept,2\nsecretB,3\n", "a", "b"))
    for path in write(staged, *SinkKind, masked=("a",), masks=[[1], [0], [0]], dropped=[0, 0, 1]):
        assert b"secret" not in path.read_bytes()
    (path,) = write(staged, name="again", columns=["b"])
    assert b"secret" not in path.read_bytes()


def test_a_parquet_file_carries_no_metadata_of_its_making(engine, csv_source, write):
    (path,) = write(engine.stage(csv_source("a,b\nx,1\n", "a", "b")))
    metadata = pq.read_metadata(path)
    assert metadata.metadata is None
    assert metadata.row_group(0).column(0).compression == "ZSTD"
    assert [field.logical_type.type for field in metadata.schema] == ["STRING", "STRING"]


def test_types_stay_where_everything_is_null(engine, csv_source, write):
    def column(name, type_, grid=None):
        return Column(name, type_, Role.QUASI, grid=grid)

    columns = [
        column("s", S),
        column("i", ColumnType.INTEGER),
        column("n", ColumnType.NUMBER),
        column("g", ColumnType.NUMBER, Decimal("0.1")),
    ]
    columns += [column("d", ColumnType.DATE), column("t", ColumnType.DATETIME), column("b", ColumnType.BOOLEAN)]
    types = ["string", "int64", "double", "decimal128(18, 1)", "date32[day]", "timestamp[us]", "bool"]
    data = "s,i,n,g,d,t,b\nx,1,1.5,0.1,2021-04-03,2021-04-03T10:00:00,true\n"
    for name, text, masks in (("masked", data, [[127]]), ("empty", data[:14], np.zeros((0, 1)))):
        staged = engine.stage(csv_source(text, *columns, name=f"{name}.csv"))
        (path,) = write(staged, masked=[one.name for one in columns], masks=masks, name=name)
        found = pq.read_table(path)
        assert [str(one) for one in found.schema.types] == types
        assert all(cell is None for row in found.to_pylist() for cell in row.values())


def test_csv_is_rfc_4180_and_tells_empty_text_from_missing(engine, csv_source, write):
    columns = [Column(name, S, Role.QUASI, format=ColumnFormat(missing=("NA",))) for name in ("a", 'x, "y"')]
    cells = [("", "1"), ("NA", "2"), ('say "hi"', "3"), ("two\nlines", "4"), ("a,b", "5"), (" pad ", "6"), ("é😀", "7")]
    lines = ['a,"x, ""y"""'] + ['"{}",{}'.format(a.replace('"', '""'), b) for a, b in cells]
    (path,) = write(engine.stage(csv_source("\n".join(lines) + "\n", *columns)), SinkKind.CSV, order="source")
    text = path.read_text(encoding="utf-8")
    assert text.startswith('a,"x, ""y"""\n"",1\n,2\n')
    with path.open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file, strict=True))[1:] == [
            ("" if a == "NA" else a, b) == () or ["" if a == "NA" else a, b] for a, b in cells
        ]
    released = engine.open_release(Sink(SinkKind.CSV, path, "out"), columns)
    tables = engine.class_tables(
        [engine.stage(csv_source("\n".join(lines) + "\n", *columns, name="b.csv")), released], ["a", 'x, "y"']
    )
    np.testing.assert_array_equal(tables[0].codes, tables[1].codes)


def test_csv_cells_of_every_type_are_read_back(engine, csv_source, write):
    columns = [
        Column("n", ColumnType.NUMBER, Role.QUASI),
        Column("g", ColumnType.NUMBER, Role.QUASI, grid=Decimal("0.01")),
        Column("d", ColumnType.DATE, Role.QUASI),
        Column("t", ColumnType.DATETIME, Role.QUASI),
        Column("b", ColumnType.BOOLEAN, Role.QUASI),
    ]
    data = "n,g,d,t,b\n1e-7,0.10,2021-04-03,2021-04-03T10:11:12.5,true\n1e300,12,,2021-04-03T00:00,false\n,,2021-04-03,,\n"
    staged = engine.stage(csv_source(data, *columns))
    (path,) = write(staged, SinkKind.CSV)
    released = engine.open_release(Sink(SinkKind.CSV, path, "out"), columns)
    assert released.columns == tuple((column.name, column.type) for column in columns)
    tables = engine.class_tables([staged, released], [column.name for column in columns])
    np.testing.assert_array_equal(tables[0].codes, tables[1].codes)


@pytest.fixture(scope="module")
def by_threads(tmp_path_factory):
    """Engines of one thread and of four over the same 130,000 rows, with the parts of the release that they write."""
    from privrelease.engine.duckdb import DuckDBEngine

    n, folder = 130_000, tmp_path_factory.mktemp("threads")
    rng = np.random.default_rng(3)
    columns = {"sex": rng.choice(["F", "M"], n), "id": [f"p{v}" for v in rng.permutation(n)], "x": rng.random(n).round(9)}
    pq.write_table(pa.table(columns), folder / "in.parquet", row_group_size=40_000)
    declared = (Column("sex", C, Role.QUASI), Column("id", S, Role.DIRECT), Column("x", ColumnType.NUMBER, Role.QUASI))
    source = TableSource("d", SourceKind.PARQUET, str(folder / "in.parquet"), "in", declared)
    masks = rng.integers(0, 2, (n, 1)).astype(np.uint64)
    out = tuple(OutputColumn(one.name, one.type, b"k" if one.name == "id" else None) for one in declared)
    with ExitStack() as stack:
        made = []
        for threads in (1, 4):
            settings = EngineSettings(readable=(folder,), writable=(folder,), threads=threads)
            engine = stack.enter_context(DuckDBEngine(settings))
            staged = engine.stage(source)
            made.append((engine, staged, row_by_row(engine, staged, ("sex",), masks)))
        yield folder, out, made


@pytest.mark.parametrize("kind", list(SinkKind))
def test_bytes_do_not_depend_on_threads(by_threads, kind):
    folder, out, made = by_threads
    found = []
    for number, (engine, staged, parts) in enumerate(made):
        path, row_map = folder / f"{number}.{kind.value}", folder / f"{number}.{kind.value}.map"
        engine.write(staged, OutputTable(out, parts, (Sink(kind, path, "o"),), row_map))
        found.append((hashlib.sha256(path.read_bytes()).hexdigest(), hashlib.sha256(row_map.read_bytes()).hexdigest()))
    assert len(set(found)) == 1


def test_rows_stay_together_over_many_blocks(engine, tmp_path, write):
    """Masks, pseudonyms and plain columns of 300,000 rows come from different tables; every released row is one source row's."""
    n = 300_000
    rng = np.random.default_rng(8)
    table = pa.table(
        {
            "id": [f"p{v:06}" for v in rng.permutation(n)],
            "copy": np.zeros(n),
            "sex": rng.choice(["F", "M"], n),
            "x": rng.permutation(n),
        }
    )
    table = table.set_column(1, "copy", table["id"])
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=50_000)
    types = {"id": S, "copy": S, "sex": C, "x": ColumnType.INTEGER}
    columns = tuple(Column(name, type_, Role.INSENSITIVE) for name, type_ in types.items())
    staged = engine.stage(TableSource("d", SourceKind.PARQUET, str(tmp_path / "in.parquet"), "in.parquet", columns))
    masks = rng.integers(0, 4, (n, 1)).astype(np.uint64)
    dropped = rng.random(n) < 0.1
    (path,) = write(
        staged, masked=("sex", "x"), masks=masks, dropped=dropped, keys={"id": b"key"}, columns=["sex", "x", "id", "copy"]
    )
    released = pq.read_table(path)
    row_map = pq.read_table(tmp_path / "out-map.parquet")
    order = np.empty(len(released), np.int64)
    order[np.asarray(row_map["output_row"])] = np.asarray(row_map["source_row"])
    assert len(released) == n - int(dropped.sum())
    source = table.take(pa.array(order))
    assert released["copy"].equals(source["copy"])
    for bit, name in enumerate(("sex", "x")):
        gone = (masks[order, 0] >> np.uint64(bit) & np.uint64(1)) == 1
        assert (
            released[name]
            .combine_chunks()
            .equals(pa.array(source[name].to_pylist(), source[name].type).filter(pa.array(~gone)).take(_nth(gone)))
        )
    some = rng.integers(0, len(released), 500)
    tokens, ids = released["id"].take(pa.array(some)).to_pylist(), source["id"].take(pa.array(some)).to_pylist()
    assert tokens == [hmac.new(b"key", one.encode(), "sha256").hexdigest()[:32] for one in ids]


def _nth(gone):
    """For every cell its place among those that stay; missing where it is gone."""
    return pa.array(np.cumsum(~gone) - 1, mask=gone)


# pseudonyms
@pytest.mark.parametrize("key", [b"k", b"a key of some bytes", bytes(range(64)), bytes(range(200))], ids=len)
def test_a_pseudonym_is_hmac_sha256(engine, csv_source, write, key, monkeypatch):
    import privrelease.engine.duckdb.reading.enumerations as enumerations

    people = ["anna@example.org", "ben", "é", "x" * 300, 'q"uote']
    lines = "\n".join('"{}",{}'.format(one.replace('"', '""'), i) for i, one in enumerate(people))
    expected = [hmac.new(key, one.encode(), "sha256").hexdigest()[:32] for one in people]
    for few in (30_000, 0):
        monkeypatch.setattr(enumerations, "_SAMPLES", ((122_880, few),))
        staged = engine.stage(csv_source(f"who,i\n{lines}\n", "who", "i"))
        (path,) = write(staged, keys={"who": key}, order="source", name=f"out{few}")
        assert [row[0] for row in rows_of(path)] == expected
        (path,) = write(staged, keys={"who": key}, name=f"sorted{few}")
        assert [row[0] for row in rows_of(path)] == sorted(expected)


def test_pseudonyms_agree_across_columns_and_keep_missing_missing(engine, csv_source, write):
    data = "mail,other,n\nanna,ben,1\nben,anna,2\nanna,,1\n"
    staged = engine.stage(csv_source(data, "mail", "other", Column("n", ColumnType.INTEGER, Role.DIRECT)))
    (path,) = write(staged, keys=dict.fromkeys(("mail", "other", "n"), b"K1"), order="source")
    rows = rows_of(path)
    assert rows[0][0] == rows[2][0] == rows[1][1] != rows[0][1]
    assert rows[0][1] == rows[1][0]
    assert rows[2][1] is None
    assert rows[0][2] == rows[2][2] == hmac.new(b"K1", b"1", "sha256").hexdigest()[:32]
    (path,) = write(staged, keys=dict.fromkeys(("mail", "other", "n"), b"K2"), order="source", name="other")
    assert not {cell for row in rows_of(path) for cell in row} & {cell for row in rows for cell in row} - {None}


def test_a_key_is_in_no_error_and_no_representation(engine, csv_source, write, monkeypatch):
    key = b"very secret key"
    assert "secret" not in repr(OutputColumn("a", S, key))
    staged = engine.stage(csv_source("a,b\nx,1\n", "a", "b"))
    monkeypatch.setattr("privrelease.engine.duckdb.writing.pseudonyms._DIGEST", "no_such_function")
    with pytest.raises(Exception) as caught:
        write(staged, keys={"a": key})
    assert "secret" not in repr(caught.value)
    assert caught.value.__cause__ is None


# places
def test_an_output_outside_the_folders_or_over_a_file_is_refused(engine, csv_source, tmp_path, tmp_path_factory):
    staged = engine.stage(csv_source("a\nx\n", "a"))
    link = tmp_path / "link"
    link.symlink_to("/usr")
    (tmp_path / "old.csv").write_text("old")
    for path, code in (
        ("/usr/x.csv", "D131"),
        (str(link / "x.csv"), "D131"),
        (str(tmp_path / "../../../../usr/x.csv"), "D131"),
        (str(tmp_path / "old.csv"), "D132"),
        (str(tmp_path / "no/folder.csv"), "D130"),
    ):
        sink = Sink(SinkKind.CSV, tmp_path.__class__(path), "x.csv")
        table = OutputTable((OutputColumn("a", S),), row_by_row(engine, staged), (sink,), tmp_path / "map.parquet")
        with pytest.raises(InputError) as caught:
            engine.write(staged, table)
        assert caught.value.code == code
        assert not (tmp_path / "map.parquet").exists()
    assert (tmp_path / "old.csv").read_text() == "old"


@pytest.mark.parametrize("kind", list(SinkKind))
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is full")  # noqa: PTH110 - at import
def test_a_full_disk_leaves_no_file(engine, csv_source, tmp_path, write, kind, monkeypatch):
    """RLIMIT_FSIZE stands in for a full disk: writes beyond it fail as on one."""
    import resource
    import signal

    staged = engine.stage(csv_source("a\n" + "".join(f"{hashlib.sha256(b'%d' % i).hexdigest()}\n" for i in range(20_000)), "a"))
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))
    try:
        with pytest.raises(InputError) as caught:
            write(staged, kind)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
    assert caught.value.code == "D130"
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]
    (path,) = write(staged, kind)  # and the engine works on
    assert path.stat().st_size > 200_000
