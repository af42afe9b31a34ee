"""Great Expectations loads only where it is needed, keeps silent, and leaves no trace."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import warnings

from privrelease.engine.duckdb import DuckDBEngine
from privrelease.engine.protocol.base import EngineSettings
from privrelease.lean_imports import silence
from privrelease.relational.expectations import Expectation
from privrelease.relational.schema import Column, ColumnType, Role, SourceKind, TableSource

CELL = "odd value 4410"
PROGRAM = """
import sys
from pathlib import Path
from privrelease.engine.duckdb import DuckDBEngine
from privrelease.engine.protocol.base import EngineSettings
from privrelease.relational.expectations import Expectation
from privrelease.relational.schema import Column, ColumnType, Role, SourceKind, TableSource

folder = Path(sys.argv[1])
columns = (Column("mail", ColumnType.STRING, Role.INSENSITIVE),)
with DuckDBEngine(EngineSettings(readable=(folder,))) as engine:
    of = engine.stage(TableSource("d", SourceKind.CSV, str(folder / "in.csv"), "in.csv", columns))
    regex = Expectation("expect_column_values_to_match_regex", (("column", "mail"), ("regex", "@")))
    assert engine.count_expectation(of, regex).failing == 1
    assert "great_expectations" not in sys.modules
    mean = Expectation("expect_column_mean_to_be_between", (("column", "mail"), ("min_value", 0)))
    assert engine.great_expectations(of, [(regex, 1.0), (mean, 1.0)]) == (None, None)
    assert "great_expectations" in sys.modules
"""


def test_it_loads_at_its_first_question_prints_nothing_writes_nothing_and_asks_nobody(tmp_path):
    data, work, home = tmp_path / "data", tmp_path / "work", tmp_path / "home"
    for folder in (data, work, home):
        folder.mkdir()
    (data / "in.csv").write_text(f"mail\n{CELL}\na@b\n", encoding="utf-8")
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GX_")}
    environment |= {
        "HOME": str(home),
        "TMPDIR": str(home),
        "http_proxy": "http://127.0.0.1:9",
        "https_proxy": "http://127.0.0.1:9",
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(data)], cwd=work, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert [path for path in (*work.rglob("*"), *home.rglob("*")) if path.is_file()] == []


def test_what_it_would_log_or_warn_of_goes_nowhere_and_logging_is_as_before(capfd):
    before = logging.root.manager.disable
    with silence():
        logging.getLogger("great_expectations").error(CELL)
        warnings.warn(CELL, DeprecationWarning, stacklevel=1)
        assert os.environ["GX_ANALYTICS_ENABLED"] == "false"
    assert logging.root.manager.disable == before
    assert capfd.readouterr() == ("", "")


def test_a_name_that_is_sql_is_a_name(tmp_path):
    name = 'x"; DROP TABLE s1; --%s'
    (tmp_path / "in.csv").write_text('"' + name.replace('"', '""') + '"\n1\n2\n', encoding="utf-8")
    columns = (Column(name, ColumnType.INTEGER, Role.INSENSITIVE),)
    with DuckDBEngine(EngineSettings(readable=(tmp_path,))) as engine:
        of = engine.stage(TableSource("d", SourceKind.CSV, str(tmp_path / "in.csv"), "in.csv", columns))
        unique = Expectation("expect_column_values_to_be_unique", (("column", name),))
        inside = Expectation("expect_column_values_to_be_in_set", (("column", name), ("value_set", (1,))))
        for _ in range(2):
            assert engine.great_expectations(of, [(unique, 1.0), (inside, 1.0), (inside, 0.5)]) == (True, False, True)


def test_a_batch_that_cannot_be_opened_leaves_everything_unsaid_and_the_engine_usable(tmp_path, monkeypatch):
    from contextlib import contextmanager

    with silence():
        from privrelease.engine.duckdb.auditing import great_expectations_source as source

    @contextmanager
    def refused(*_):
        raise source.REFUSALS[0](CELL)
        yield

    monkeypatch.setattr(source, "batch_of", refused)
    (tmp_path / "in.csv").write_text("a\n1\n", encoding="utf-8")
    columns = (Column("a", ColumnType.INTEGER, Role.INSENSITIVE),)
    with DuckDBEngine(EngineSettings(readable=(tmp_path,))) as engine:
        of = engine.stage(TableSource("d", SourceKind.CSV, str(tmp_path / "in.csv"), "in.csv", columns))
        unique = Expectation("expect_column_values_to_be_unique", (("column", "a"),))
        assert engine.great_expectations(of, [(unique, 1.0)]) == (None,)
        assert engine.count_expectation(of, unique).failing == 0
