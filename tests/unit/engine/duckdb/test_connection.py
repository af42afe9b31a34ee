"""The lockdown: nothing outside the named folders is read or written, and nothing of the lock can be undone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import duckdb
import pytest

from privrelease.engine.duckdb.connection import Connection
from privrelease.engine.protocol.base import EngineSettings
from privrelease.errors import InputError, InternalError
from privrelease.relational.schema import Column, ColumnType, Role, SourceKind, TableSource


@pytest.fixture
def locked(tmp_path):
    inside, outside = tmp_path / "in side's", tmp_path / "outside"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / "a.csv").write_text("a\nx\n")
    (inside / "link.csv").symlink_to(outside / "a.csv")
    (inside / "folder").symlink_to(outside)
    with duckdb.connect(str(outside / "other.duckdb")) as con:
        con.execute("CREATE TABLE t AS SELECT 1 AS a")
    connection = Connection(EngineSettings(readable=(inside,), writable=(inside,), threads=1))
    yield connection, inside, outside
    connection.close()
    assert not connection.temp.exists()


def test_what_lies_inside_is_read_and_written(locked):
    connection, inside, _ = locked
    run = connection._connection.execute
    path = str(inside).replace("'", "''")
    assert run(f"SELECT * FROM read_csv('{path}/a.csv')").fetchall() == [("x",)]
    run(f"COPY (SELECT 1 AS a) TO '{path}/new.parquet'")
    run(f"ATTACH '{path}/new.duckdb' AS d")


ESCAPES = [
    "SELECT * FROM read_csv('{outside}/a.csv')",
    "SELECT * FROM '{outside}/a.csv'",
    "SELECT * FROM read_csv('{inside}/../outside/a.csv')",
    "SELECT * FROM read_csv('{inside}/link.csv')",
    "SELECT * FROM read_csv('{inside}/folder/a.csv')",
    "SELECT * FROM glob('{outside}/*')",
    "SELECT * FROM read_csv('{outside}/*.csv')",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM read_blob('{outside}/a.csv')",
    "SELECT * FROM read_csv('https://example.org/a.csv')",
    "ATTACH '{outside}/other.duckdb' AS d",
    "ATTACH '{outside}/new.duckdb' AS d",
    "COPY (SELECT 1) TO '{outside}/b.csv'",
    "COPY (SELECT 1) TO '{inside}/folder/b.csv'",
    "COPY (SELECT 1) TO '{inside}/../outside/b.csv'",
    "EXPORT DATABASE '{outside}/export'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "INSTALL sqlite",
    "LOAD '{outside}/a.csv'",
    "SET enable_external_access = true",
    "SET lock_configuration = false",
    "SET allowed_directories = ['/']",
    "SET memory_limit = '100GB'",
    "SET threads = 64",
    "SET temp_directory = '{outside}'",
    "PRAGMA enable_external_access = true",
    "RESET lock_configuration",
    "SELECT * FROM secret_of_the_caller",
    "CREATE SECRET s (TYPE s3, KEY_ID 'a', SECRET 'b')",
]


@pytest.mark.parametrize("statement", ESCAPES)
def test_the_lock_holds(locked, statement):
    connection, inside, outside = locked
    secret_of_the_caller = [1]  # a variable that a replacement scan would find
    before = sorted(outside.iterdir())
    names = {"inside": str(inside).replace("'", "''"), "outside": outside}
    with pytest.raises(duckdb.Error):
        connection._connection.execute(statement.format(**names)).fetchall()
    assert sorted(outside.iterdir()) == before
    assert secret_of_the_caller


def test_a_source_outside_or_behind_a_link_is_refused(locked):
    from privrelease.engine.duckdb import DuckDBEngine

    _, inside, outside = locked
    column = (Column("a", ColumnType.STRING, Role.INSENSITIVE),)
    with DuckDBEngine(EngineSettings(readable=(inside,))) as engine:
        for path in (
            outside / "a.csv",
            inside / "link.csv",
            inside / "folder" / "a.csv",
            inside / ".." / "outside" / "a.csv",
            inside / "*" / "a.csv",
        ):
            with pytest.raises(InputError) as caught:
                engine.stage(TableSource("d", SourceKind.CSV, str(path), "label", column))
            assert caught.value.code == "D102"
        assert engine.stage(TableSource("d", SourceKind.CSV, str(inside / "a.csv"), "a.csv", column)).n_rows == 1


def test_an_error_of_the_database_tells_nothing_of_the_data(locked):
    import sqlglot

    from privrelease.engine.duckdb import sql

    connection, _, _ = locked
    with pytest.raises(InternalError) as caught:
        connection.run(sqlglot.exp.select(sql.cast(sql.text("private cell"), "BIGINT")))
    assert "private" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


FAILING = {
    "SELECT CASE WHEN i = 400000 THEN error('private cell') ELSE i END AS x FROM range(500000) AS t(i)": (
        InternalError,
        "D199",
    ),
    "SELECT i, hash(i) AS h FROM range(20000000) AS t(i) ORDER BY h": (InputError, "D120"),
}


@pytest.mark.parametrize("query", FAILING)
def test_an_error_while_blocks_are_read_is_ours_and_tells_nothing_of_the_data(tmp_path, query):
    import sqlglot

    kind, code = FAILING[query]
    connection = Connection(EngineSettings(temp_folder=tmp_path, memory_limit="30MB", max_temp_size="1MB", threads=1))
    try:
        with pytest.raises(kind) as caught:
            list(connection.blocks(sqlglot.parse_one(query, dialect="duckdb"), 100_000))
        assert caught.value.code == code
        assert "private" not in str(caught.value)
        assert caught.value.__suppress_context__
        assert sum(block.num_rows for block in connection.blocks(sqlglot.parse_one("SELECT 1 AS a"), 10)) == 1
    finally:
        connection.close()


@pytest.mark.parametrize(("field", "value"), [("memory_limit", "much"), ("threads", 0), ("max_temp_size", "apples")])
def test_a_setting_that_is_not_accepted_is_an_error_of_the_environment(tmp_path, field, value):
    with pytest.raises(InputError) as caught:
        Connection(EngineSettings(temp_folder=tmp_path, **{field: value}))
    assert caught.value.code == "D122"
    assert list(tmp_path.iterdir()) == []


def test_a_temporary_folder_that_cannot_be_used_is_an_error_of_the_environment(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError) as caught:
        Connection(EngineSettings(temp_folder=tmp_path / "file"))
    assert caught.value.code == "D121"


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(
    ("query", "limit", "said"),
    [
        ("SELECT i, hash(i) AS h FROM range(20000000) AS t(i) ORDER BY h", "30MB", "the engine's temporary folder is full"),
        ("SELECT list(i) AS a FROM range(20000000) AS t(i)", "20MB", "the engine ran out of memory"),
    ],
)
def test_it_is_told_whether_memory_or_the_temporary_folder_is_full(tmp_path, query, limit, said, streamed):
    import sqlglot

    connection = Connection(EngineSettings(temp_folder=tmp_path, memory_limit=limit, max_temp_size="1MB", threads=1))
    tree = sqlglot.parse_one(query if streamed else f"CREATE TABLE u AS {query}", dialect="duckdb")
    try:
        with pytest.raises(InputError) as caught:
            list(connection.blocks(tree, 100_000)) if streamed else connection.run(tree)
        assert (caught.value.code, caught.value.message) == ("D120", said)
        assert caught.value.exit_code == 3
    finally:
        connection.close()


@pytest.fixture
def interruptible():
    """Ctrl-C raises KeyboardInterrupt, as in a terminal: workers that run tests side by side ignore the signal."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_stops_a_query_and_the_connection_lives_on(locked):
    import sqlglot

    connection, _, _ = locked
    slow = sqlglot.parse_one("SELECT sum(hash(i + j) % 7) FROM range(150000) a(i), range(150000) b(j)", dialect="duckdb")
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        connection.row(slow)
    timer.join()
    assert connection.row(sqlglot.parse_one("SELECT 1")) == (1,)


def test_the_temporary_folder_is_private_and_goes_with_the_engine(tmp_path):
    connection = Connection(EngineSettings(temp_folder=tmp_path / "new"))
    (folder,) = (tmp_path / "new").iterdir()
    assert folder == connection.temp
    assert folder.stat().st_mode & 0o077 == 0
    connection.close()
    assert list((tmp_path / "new").iterdir()) == []
    assert Path(folder) == connection.temp


ABANDONED = """
import os, signal, sys
from pathlib import Path
from privrelease.engine.duckdb.connection import Connection
from privrelease.engine.protocol.base import EngineSettings
connection = Connection(EngineSettings(temp_folder=Path(sys.argv[1]), memory_limit="30MB", threads=1))
connection._connection.execute("CREATE TABLE t AS SELECT range AS a, hash(range) AS b FROM range(5000000)")
print(sum(file.stat().st_size for file in connection.temp.iterdir()), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_process_spilled_is_removed_by_the_next_and_what_a_living_one_has_is_not(tmp_path):
    killed = subprocess.run([sys.executable, "-c", ABANDONED, str(tmp_path)], capture_output=True, text=True, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert int(killed.stdout) > 1_000_000
    (left,) = tmp_path.iterdir()
    other = tmp_path / "privrelease-engine-mine"
    other.mkdir()
    (other / "spilled.tmp").write_bytes(b"x")  # nothing says whose it is
    settings = EngineSettings(temp_folder=tmp_path, threads=1)
    first = Connection(settings)
    assert sorted(tmp_path.iterdir()) == sorted([other, first.temp])
    assert not left.exists()
    second = Connection(settings)
    assert first.temp.exists()
    second.close()
    first.close()
    assert [*tmp_path.iterdir()] == [other]
