"""A real parked release, and hands to spoil it as a solver or executor at fault would leave it.

Whoever plants a fault also brings digests and, where noted, claims and row map into agreement, so that the deeper check has to see it.
"""

from __future__ import annotations

import csv
import hashlib
import random
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from privrelease.audit.document.model import Outcome
from privrelease.audit.microdata.audit import audit_microdata
from privrelease.audit.microdata.target import AuditTarget
from privrelease.disclosure.risk.thresholds import Thresholds
from privrelease.engine.duckdb.engine import DuckDBEngine
from privrelease.engine.protocol.base import EngineSettings
from privrelease.execute.common.scope import release_name
from privrelease.execute.microdata.run import run_microdata
from privrelease.plan.model import MicrodataPlan, Plan, ReleasedColumn, SuppressStep, ThreatPlan
from privrelease.relational.schema import Column, ColumnType, Role, Sink, SinkKind, SourceKind, TableSource
from privrelease.relational.treatments import Pseudonym
from privrelease.release.store import ReleaseStore
from tests.words import assert_said_in_every_language

K = 5
SECRETS = {"MADE_UP_KEY": "a made-up key of thirty-two bytes", "PRIVRELEASE_DIGEST_KEY": "another made-up key of bytes"}


def write_source(path: Path, *, twice: bool) -> None:
    """Sixty made-up persons; three of them alone in what is known of them, some cells missing. ``twice``: the note repeats the identifier."""
    rng = random.Random(7)
    rows = []
    for number in range(60):
        sex, region = rng.choice("FM"), rng.choice(["north", "south"])
        age = rng.choice(["20-29", "30-39"]) if number > 2 else f"{50 + number}"
        note = "" if number % 10 == 0 else rng.choice(["a", "b"])
        note = f"P{number:03d}" if twice else note
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
        ReleasedColumn("id", ColumnType.STRING, Role.DIRECT, Pseudonym("MADE_UP_KEY")),
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
        """The released rows, each with the number of its source row."""
        pairs = self.row_map()
        return [row | {"_source": pair[0]} for row, pair in zip(pq.read_table(self.parquet).to_pylist(), pairs, strict=True)]

    def source(self) -> list[dict[str, object]]:
        text = Path(self.plan.source.path).read_text(encoding="utf-8").splitlines()
        rows = [{key: value or None for key, value in row.items()} for row in csv.DictReader(text)]
        return [row | {"score": int(str(row["score"]))} for row in rows]

    def put(
        self, rows: list[dict[str, object]], *, schema: pa.Schema | None = None, ordered: bool = True, cover: bool = True
    ) -> None:
        """Write both files and the row map anew from ``rows``; ``cover``: claim the counts that an honest run would state."""
        names = [column.name for column in self.plan.columns]
        if ordered:
            rows = sorted(
                rows, key=lambda row: [(row[name] is None, row[name]) if row[name] is not None else (True,) for name in names]
            )
        schema = schema or pq.read_schema(self.parquet)
        pq.write_table(pa.Table.from_pylist(rows, schema=schema), self.parquet, store_schema=False)
        self.csv.unlink()
        duckdb.execute(f"COPY (FROM read_parquet('{self.parquet}')) TO '{self.csv}' (HEADER, NULL '')")
        self.put_row_map([(int(str(row["_source"])), place) for place, row in enumerate(rows)])
        source, kept = self.source(), {int(str(row["_source"])) for row in rows}
        suppressed = {
            name: sum(row[name] is None and source[int(str(row["_source"]))][name] is not None for row in rows)
            for name in self.plan.quasi_identifiers
        }
        if cover:
            self.agree(released_rows=len(rows), dropped_rows=len(source) - len(kept), suppressed=suppressed)

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
        table = pa.table({"source_row": [one for one, _ in pairs], "output_row": [two for _, two in pairs]}).select(
            schema.names
        )
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
        assert_said_in_every_language(result)
        bad = {check.id for check in result.checks if check.outcome in {Outcome.FAIL, Outcome.NOT_EVALUATED}}
        bad |= {f"threat {threat.name}" for threat in result.threats if not threat.holds}
        assert (result.decision.outcome is Outcome.FAIL) == bool(bad)
        told = " ".join(finding.message for finding in result.findings if finding.severity == "error")
        # where no record leaves, that is said once, and not again by every threat
        assert all(name in told for name in bad if "AUDIT-RECORDS" not in bad or not name.startswith("threat "))
        assert not any(f"P{number:03d}" in told for number in range(60))
        return bad


@contextmanager
def parked(folder: Path, *, twice: bool = False, kind: SinkKind | None = None):
    write_source(folder / "people.csv", twice=twice)
    (folder / "out").mkdir()
    plan = plan_for(folder)
    if kind is not None:
        label = f"out/people.{kind.value}"
        plan = replace(plan, sinks=(Sink(kind, folder / label, label),))
    policy = policy_for(plan, folder)
    store = ReleaseStore(folder / ".privrelease")
    with store.start(release_name(plan, policy), plan.sinks) as run:
        settings = EngineSettings(readable=(folder,), writable=(run.path,), threads=1)
        with DuckDBEngine(settings) as engine:
            done = run_microdata(plan, policy, engine=engine, store=store, run=run, environment=SECRETS)
            yield Parked(plan, policy, engine, AuditTarget.of_run(run, plan, done.source))


def in_class(rows, columns=("age", "sex", "region")):
    """Rows by what is known of them."""
    found: dict[tuple[object, ...], list[dict[str, object]]] = {}
    for row in rows:
        found.setdefault(tuple(row[column] for column in columns), []).append(row)
    return found


def whole_class(rows, at_least):
    """The rows of one class without a missing cell, of at least so many."""
    return next(members for key, members in in_class(rows).items() if None not in key and len(members) >= at_least)
