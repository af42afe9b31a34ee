from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privrelease.disclosure.risk.thresholds import Thresholds
from privrelease.engine.duckdb.engine import DuckDBEngine
from privrelease.execute.common.scope import engine_settings, release_name
from privrelease.execute.microdata.run import ParkedRelease, run_microdata
from privrelease.plan.model import MicrodataPlan, Plan, ReleasedColumn, SuppressStep, ThreatPlan
from privrelease.relational.schema import Column, ColumnType, Role, Sink, SinkKind, SourceKind, TableSource
from privrelease.release.store import ReleaseStore

if TYPE_CHECKING:
    from pathlib import Path

TYPES = {"string": pa.string(), "category": pa.string(), "integer": pa.int64(), "number": pa.float64(), "boolean": pa.bool_()}


PLAIN = SuppressStep()


@dataclass
class Desk:
    """A project folder with one source and one release, executed the way the command line does."""

    folder: Path
    columns: tuple[tuple[str, str, str], ...] = ()
    environment: dict[str, str] | None = None

    def __post_init__(self):
        self.store = ReleaseStore(self.folder / ".privrelease")
        self.steps = []

    def source(self, data, columns, *, name="data.parquet"):
        """`data`: column to values; `columns`: (name, type, role) each."""
        schema = pa.schema([(column, TYPES[kind]) for column, kind, _ in columns])
        pq.write_table(pa.table({column: data[column] for column, _, _ in columns}, schema=schema), self.folder / name)
        declared = tuple(Column(column, ColumnType(kind), Role(role)) for column, kind, role in columns)
        return TableSource("data", SourceKind.PARQUET, str(self.folder / name), name, declared)

    def plan(self, source, *, threats, released=None, suppress=PLAIN, sinks=("out/data.parquet",), **rest):
        """`threats`: name to (columns, k); `released`: names, or ReleasedColumns; default all but direct."""
        if released is None:
            released = [column.name for column in source.columns if column.role is not Role.DIRECT]
        columns = tuple(
            ReleasedColumn(item, source.column(item).type, source.column(item).role) if isinstance(item, str) else item
            for item in released
        )
        made = tuple(
            item
            if isinstance(item, ThreatPlan)
            else ThreatPlan(item[0], tuple(item[1]), Thresholds(highest=Fraction(1, item[2])))
            for item in threats
        )
        outputs = tuple(Sink(SinkKind(sink.rsplit(".", 1)[1]), self.folder / sink, sink) for sink in sinks)
        return MicrodataPlan("microdata", source, columns, made, outputs, suppress=suppress, **rest)

    def policy(self, plan):
        return Plan("registry", "1.0.0", self.folder / "policy.yaml", "0" * 64, "Registry", (plan,))

    def progress(self, step, fraction):
        self.steps.append((step, fraction))

    def run(self, plan, *, outcome="pass", environment=None) -> ParkedRelease:
        policy = self.policy(plan)
        with (
            self.store.start(release_name(plan, policy), plan.sinks) as run,
            DuckDBEngine(replace(engine_settings(plan, run), threads=1)) as engine,
        ):
            parked = run_microdata(
                plan, policy, engine=engine, store=self.store, run=run, progress=self.progress, environment=environment or {}
            )
            self.store.decide(run.id, outcome)
        return parked

    def publish(self, plan, **rest) -> ParkedRelease:
        parked = self.run(plan, **rest)
        self.store.publish(parked.run.id)
        return parked

    def rows(self, path="out/data.parquet"):
        return pq.read_table(self.folder / path).to_pylist()


@pytest.fixture
def desk(tmp_path):
    return Desk(tmp_path)
