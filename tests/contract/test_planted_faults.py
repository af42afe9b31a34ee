"""Faults planted into a real parked release, as a solver or executor at fault would leave them: each is caught by the check that names it.

Whoever plants a fault also brings digests and, where noted, claims and row map into agreement, so that the deeper check has to see it.
"""

from __future__ import annotations

import hashlib
import random
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privrelease.audit.microdata import audit_microdata
from privrelease.audit.model import Outcome
from privrelease.audit.target import AuditTarget
from privrelease.disclosure.thresholds import Thresholds
from privrelease.engine.duckdb.engine import DuckDBEngine
from privrelease.engine.protocol import EngineSettings
from privrelease.execute.microdata import release_name, run_microdata
from privrelease.plan.model import MicrodataPlan, Plan, ReleasedColumn, SuppressStep, ThreatPlan
from privrelease.relational.schema import Column, ColumnType, Role, Sink, SinkKind, SourceKind, TableSource
from privrelease.release.store import ReleaseStore

if TYPE_CHECKING:
    from pathlib import Path

K = 5
SECRETS = {"MADE_UP_KEY": "a made-up key of thirty-two bytes", "PRIVRELEASE_DIGEST_KEY": "another made-up key of bytes"}


def write_source(path: Path) -> None:
    """Sixty made-up persons; three of them alone in what is known of them, some cells missing."""
    rng = random.Random(7)
    rows = []
    for number in range(60):
        sex, region = rng.choice("FM"), rng.choice(["north", "south"])
        age = rng.choice(["20-29", "30-39"]) if number > 2 else f"{50 + number}"
        note = "" if number % 10 == 0 else rng.choice(["a", "b"])
        rows.append(f"P{number:03d},{age},{sex},{region},{rng.randint(1, 40)},{note}")
    path.write_text("id,age,sex,region,score,note\n" + "\n".join(rows) + "\n", encoding="utf-8")


def plan_for(folder: Path) -> MicrodataPlan:
    category = ColumnType.CATEGORY
    columns = (
        Column("id", ColumnType.STRING, Role.DIRECT),
        Column("age", category, Role.QUASI),
        Column("sex", category, Role.QUASI),
        Column("region", category, Role.QUASI),
        Column("score", ColumnType.INTEGER, Role.SENSITIVE),
        Column("note", category, Role.INSENSITIVE),
    )
    released = (
        ReleasedColumn("id", ColumnType.STRING, Role.DIRECT, "pseudonym", "MADE_UP_KEY"),
        *(ReleasedColumn(column.name, column.type, column.role) for column in columns[1:]),
    )
    threats = (
        ThreatPlan("outsider", ("age", "sex", "region"), Thresholds(highest=Fraction(1, K))),
        ThreatPlan("neighbour", ("region", "age"), Thresholds(average=Fraction(1, 2))),
    )
    sinks = (
        Sink(SinkKind.PARQUET, folder / "out" / "people.parquet", "out/people.parquet"),
        Sink(SinkKind.CSV, folder / "out" / "people.csv", "out/people.csv"),
    )
    source = TableSource("people", SourceKind.CSV, str(folder / "people.csv"), "people.csv", columns)
    return MicrodataPlan("extract", source, released, threats, sinks, suppress=SuppressStep(limit=Fraction(1, 2)))


def policy_for(plan: MicrodataPlan, folder: Path) -> Plan:
    return Plan("made-up", "1.0.0", folder / "policy.yaml", "0" * 64, "A made-up policy", (plan,))


@dataclass
class Parked:
    """A parked release, with hands to spoil it."""

    plan: MicrodataPlan
    policy: Plan
    engine: DuckDBEngine
    target: AuditTarget

    @property
    def parquet(self) -> Path:
        return self.target.files[0].path

    @property
    def csv(self) -> Path:
        return self.target.files[1].path

    def rows(self) -> list[dict[str, object]]:
        return pq.read_table(self.parquet).to_pylist()

    def put(self, rows: list[dict[str, object]], *, schema: pa.Schema | None = None) -> None:
        """Write both files anew from ``rows`` and make the manifest agree."""
        schema = schema or pq.read_schema(self.parquet)
        pq.write_table(pa.Table.from_pylist(rows, schema=schema), self.parquet)
        with duckdb.connect() as connection:
            connection.execute(f"COPY (FROM read_parquet('{self.parquet}')) TO '{self.csv}' (HEADER, NULL '')")
        self.agree()

    def agree(self, **claims: object) -> None:
        """Bring digests, and the claims given, into agreement with the files."""
        manifest, internal = self.target.manifest, self.target.internal
        digests = [hashlib.sha256(file.path.read_bytes()).hexdigest() for file in self.target.files]
        outputs = tuple(
            output.model_copy(update={"sha256": digest}) for output, digest in zip(manifest.outputs, digests, strict=True)
        )
        row_map = internal.row_map.model_copy(update={"sha256": hashlib.sha256(self.target.row_map.read_bytes()).hexdigest()})
        internal = internal.model_copy(update={"row_map": row_map, "claims": internal.claims.model_copy(update=claims)})
        self.target = replace(self.target, manifest=manifest.model_copy(update={"outputs": outputs}), internal=internal)

    def row_map(self) -> list[tuple[int, int]]:
        """(source row, output row) by output row."""
        table = pq.read_table(self.target.row_map).to_pydict()
        return sorted(zip(table["source_row"], table["output_row"], strict=True), key=lambda pair: pair[1])

    def put_row_map(self, pairs: list[tuple[int, int]]) -> None:
        schema = pq.read_schema(self.target.row_map)
        table = pa.table({"source_row": [a for a, _ in pairs], "output_row": [b for _, b in pairs]}).select(schema.names)
        pq.write_table(table.cast(schema), self.target.row_map)
        self.agree()

    def audit(self):
        return audit_microdata(
            self.plan,
            self.policy,
            self.target,
            engine=self.engine,
            audited_at="2026-01-02T03:04:05Z",
            versions={"privrelease": "0"},
        )

    def failing(self) -> set[str]:
        """Ids of the checks and names of the threats that do not hold; every failure fails the release and has a finding."""
        result = self.audit()
        bad = {check.id for check in result.checks if check.outcome in {Outcome.FAIL, Outcome.NOT_EVALUATED}}
        bad |= {f"threat {threat.name}" for threat in result.threats if not threat.holds}
        assert (result.decision.outcome is Outcome.FAIL) == bool(bad)
        told = " ".join(finding.message for finding in result.findings if finding.severity == "error")
        assert all(name in told for name in bad)
        assert all(str(row["id"]) not in told for row in self.rows())
        return bad


@contextmanager
def parked(folder: Path):
    write_source(folder / "people.csv")
    (folder / "out").mkdir()
    plan = plan_for(folder)
    policy = policy_for(plan, folder)
    store = ReleaseStore(folder / ".privrelease")
    with store.start(release_name(plan, policy), plan.sinks) as run:
        settings = EngineSettings(readable=(folder,), writable=(run.path,), threads=1)
        with DuckDBEngine(settings) as engine:
            done = run_microdata(plan, policy, engine=engine, store=store, run=run, environment=SECRETS)
            yield Parked(plan, policy, engine, AuditTarget.of_run(run, plan, done.source))


@pytest.fixture
def release(tmp_path: Path):
    with parked(tmp_path) as one:
        yield one


def swap(rows, first, second, columns):
    for column in columns:
        rows[first][column], rows[second][column] = rows[second][column], rows[first][column]


def test_the_release_without_a_fault_passes(release):
    assert release.failing() == set()
    result = release.audit()
    assert result.decision.outcome is Outcome.PASS
    assert result.utility.cells_lost.value > 0
    assert result.threats[0].after.k.value >= K > result.threats[0].before.k.value


def test_the_audit_reads_the_source_afresh_where_it_is_not_handed_over(release):
    handed = release.audit()
    release.target = replace(release.target, source=None)
    assert release.audit() == handed


def test_what_was_written_again_without_a_fault_passes(release):
    release.put(release.rows())
    assert release.failing() == set()
