from __future__ import annotations

import pytest

from privrelease.engine.protocol.base import EngineSettings
from privrelease.errors import InputError
from privrelease.relational.schema import Column, ColumnType, Role, SourceKind, TableSource


@pytest.fixture(scope="session")
def engine(tmp_path_factory):
    from privrelease.engine.duckdb import DuckDBEngine

    folder = tmp_path_factory.getbasetemp()
    with DuckDBEngine(EngineSettings(readable=(folder,), writable=(folder,), threads=2)) as engine:
        yield engine


@pytest.fixture
def values(engine):
    """The stored cells of a staged source, row by row, as Python values (tests only; an engine never does this)."""

    def read(staged):
        table = engine._staged[staged.handle]
        names = ", ".join(f"c{i}" for i in range(len(table.columns)))
        return engine._connection._connection.execute(f"SELECT {names} FROM {table.table}").fetchall()

    return read


@pytest.fixture
def csv_source(tmp_path):
    def make(data, *columns, name="in.csv", **source):
        path = tmp_path / name
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        declared = tuple(Column(one, ColumnType.STRING, Role.INSENSITIVE) if isinstance(one, str) else one for one in columns)
        return TableSource("d", SourceKind.CSV, str(path), name, declared, **source)

    return make


@pytest.fixture
def refused(engine):
    """The findings of a source that must be refused."""

    def stage(source):
        with pytest.raises(InputError) as caught:
            engine.stage(source)
        error = caught.value
        assert error.__cause__ is None
        return error.findings or (error,)

    return stage
