"""Engines under one suite: a new engine adds one entry to ENGINES."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import pytest

from privrelease.engine.protocol.base import Engine, EngineSettings, Offer, OutputColumn, OutputTable, Staged
from privrelease.relational.schema import Column, ColumnType, FileFormat, Role, Sink, SinkKind, SourceKind, TableSource
from tests.contract.engine.treatments import row_by_row

if TYPE_CHECKING:
    from pathlib import Path


def _duckdb(settings: EngineSettings) -> Engine:
    from privrelease.engine.duckdb import DuckDBEngine

    return DuckDBEngine(settings)


def _plain(settings: EngineSettings) -> Engine:
    from tests.contract.engine.plain import PlainEngine

    return PlainEngine(settings)


ENGINES = {"duckdb": _duckdb, "plain": _plain}


@dataclass
class Bench:
    """An engine over one folder, with short ways to make sources and outputs."""

    engine: Engine
    folder: Path

    @property
    def writes(self) -> tuple[SinkKind, ...]:
        """The kinds of file that the engine writes."""
        return tuple(kind for kind in SinkKind if kind is not SinkKind.DUCKDB or Offer.DATABASES in self.engine.offers)

    def needs(self, offer: Offer) -> None:
        """Skip a test of an optional part that the engine does not offer, by its name."""
        if offer not in self.engine.offers:
            pytest.skip(f"the engine does not offer {offer.value}")

    def csv(self, text: str | bytes, columns: list[Column], *, name: str = "in.csv", **source) -> TableSource:
        path = self.folder / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return TableSource("d", SourceKind.CSV, str(path), name, tuple(columns), **source)

    def parquet(self, table, columns: list[Column], *, name: str = "in.parquet", **source) -> TableSource:
        import pyarrow as pa
        import pyarrow.parquet as pq

        path = self.folder / name
        pq.write_table(table if isinstance(table, pa.Table) else pa.table(table), path)
        return TableSource("d", SourceKind.PARQUET, str(path), name, tuple(columns), **source)

    def sink(self, kind: SinkKind = SinkKind.PARQUET, name: str = "out") -> Sink:
        return Sink(kind, self.folder / f"{name}.{kind.value}", f"{name}.{kind.value}")

    def write(self, staged: Staged, *sinks: Sink, masked=(), masks=None, dropped=None, columns=None, map_name="map", **kw):
        columns = columns or tuple(OutputColumn(column.name, column.type) for column in staged.columns)
        parts = row_by_row(self.engine, staged, masked, masks, dropped)
        row_map = self.folder / f"{map_name}.parquet"
        written = self.engine.write(staged, OutputTable(columns, parts, sinks, row_map, **kw))
        return written, row_map


@pytest.fixture(scope="session")
def engine_of(tmp_path_factory):
    """Return an engine by its name: one for all tests where opening it costs more than most of them. Each test has a folder of its own below."""
    root = tmp_path_factory.getbasetemp()
    settings = EngineSettings(readable=(root,), writable=(root,), threads=2)
    with ExitStack() as stack:
        shared = cache(lambda name: stack.enter_context(ENGINES[name](settings)))
        yield lambda name: _plain(settings) if name == "plain" else shared(name)


@pytest.fixture(params=sorted(ENGINES))
def bench(request, engine_of, tmp_path):
    return Bench(engine_of(request.param), tmp_path)


@pytest.fixture(params=[name for name in sorted(ENGINES) if name != "plain"])
def both(request, engine_of):
    return engine_of(request.param), engine_of("plain")


def column(name: str, type_: ColumnType = ColumnType.CATEGORY, role: Role = Role.QUASI, **more) -> Column:
    return Column(name, type_, role, **more)


__all__ = ["Bench", "FileFormat", "column"]
