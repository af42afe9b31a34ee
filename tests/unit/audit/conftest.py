"""A made-up release of six rows, sound in every respect; tests spoil one thing each."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from privrelease.audit.microdata.evidence import Evidence, FileEvidence
from privrelease.audit.microdata.households import Links
from privrelease.audit.microdata.linkage import Repeats
from privrelease.audit.microdata.target import AuditTarget
from privrelease.disclosure.classes.equivalence_classes import ClassTable
from privrelease.disclosure.risk.thresholds import Thresholds
from privrelease.engine.protocol.audit import LeftRows, SameCells, TokenFacts
from privrelease.engine.protocol.base import ColumnChange, ReleasedFile, RowMapFaults, Staged
from privrelease.plan.model import MicrodataPlan, Plan, ReleasedColumn, SuppressStep, ThreatPlan
from privrelease.relational.schema import Column, ColumnFormat, ColumnType, Role, Sink, SinkKind, SourceKind, TableSource
from privrelease.relational.treatments import Pseudonym
from privrelease.release.manifest import (
    Claims,
    InputDigest,
    InternalManifest,
    Manifest,
    ManifestOutput,
    PolicyReference,
    RowMapDigest,
)

DIGEST = "ab" * 32
VERSIONS = {"privrelease": "0"}


def source_of(mark: str | None = None) -> TableSource:
    text = ColumnFormat(suppression_mark=mark)
    return TableSource(
        "people",
        SourceKind.CSV,
        "/nowhere/people.csv",
        "people.csv",
        (
            Column("id", ColumnType.STRING, Role.DIRECT),
            Column("sex", ColumnType.CATEGORY, Role.QUASI, format=text),
            Column("region", ColumnType.CATEGORY, Role.QUASI, format=text),
            Column("score", ColumnType.INTEGER, Role.SENSITIVE),
        ),
    )


def plan_of(*threats: ThreatPlan, **changes: object) -> MicrodataPlan:
    columns = (
        ReleasedColumn("id", ColumnType.STRING, Role.DIRECT, Pseudonym("KEY")),
        ReleasedColumn("sex", ColumnType.CATEGORY, Role.QUASI),
        ReleasedColumn("region", ColumnType.CATEGORY, Role.QUASI),
        ReleasedColumn("score", ColumnType.INTEGER, Role.SENSITIVE),
    )
    sinks = (
        Sink(SinkKind.PARQUET, Path("/nowhere/out.parquet"), "out.parquet"),
        Sink(SinkKind.CSV, Path("/nowhere/out.csv"), "out.csv"),
    )
    default = (ThreatPlan("outsider", ("sex", "region"), Thresholds(highest=Fraction(1, 2))),)
    plan = MicrodataPlan(
        "extract", source_of(), columns, threats or default, sinks, suppress=SuppressStep(limit=Fraction(1, 4))
    )
    return replace(plan, **changes)


def policy_of(plan: MicrodataPlan, legal: object | None = None) -> Plan:
    return Plan("made-up", "1.0.0", Path("/nowhere/policy.yaml"), DIGEST, "A made-up policy", (plan,), legal=legal)


def table(codes: list[list[int]], counts: list[int], columns: tuple[str, ...] = ("sex", "region")) -> ClassTable:
    return ClassTable(columns, np.array(codes, np.int32).reshape(len(counts), len(columns)), np.array(counts, np.int64))


def manifests() -> tuple[Manifest, InternalManifest]:
    outputs = tuple(
        ManifestOutput(label=name, kind=kind, file=name, sha256=DIGEST, bytes=9, rows=5, columns=())
        for name, kind in (("out.parquet", "parquet"), ("out.csv", "csv"))
    )
    reference = PolicyReference(id="made-up", version="1.0.0", title="A made-up policy", sha256=DIGEST)
    manifest = Manifest(
        run="r1",
        release="extract",
        policy=reference,
        created_at="2026-01-02T03:04:05Z",
        outputs=outputs,
        order="values",
        versions=VERSIONS,
    )
    claims = Claims(
        source_rows=6,
        classes=4,
        released_rows=5,
        dropped_rows=1,
        cells_total=12,
        suppressed={"region": 1},
        lost={"sex": 1, "region": 2},
    )
    internal = InternalManifest(
        run="r1",
        manifest_sha256=DIGEST,
        inputs=(InputDigest(label="people.csv", file="people.csv", bytes=9, hmac_sha256=DIGEST, key_id="k"),),
        row_map=RowMapDigest(file="row_map.parquet", sha256=DIGEST, bytes=9),
        claims=claims,
    )
    return manifest, internal


def evidence_of(plan: MicrodataPlan | None = None, **changes: object) -> Evidence:
    """Six source rows; one was residual and dropped, one cell of region went; classes 3 and 2 leave."""
    plan = plan or plan_of()
    names = tuple((column.name, column.type) for column in plan.columns)
    parquet, csv = ReleasedFile("p", names, 5), ReleasedFile("c", names, 5)
    manifest, internal = manifests()
    target = AuditTarget(plan.sinks, Path("/nowhere/row_map.parquet"), manifest=manifest, internal=internal, run="r1")
    evidence = Evidence(
        plan=plan,
        target=target,
        files=(
            FileEvidence(plan.sinks[0], DIGEST, 9, parquet),
            FileEvidence(plan.sinks[1], DIGEST, 9, csv, differs=0),
        ),
        main=parquet,
        usable=plan.columns,
        source=Staged("s", plan.source.columns, 6),
        row_map=RowMapFaults(0, 0, 0, 0, 1),
        row_map_sha256=DIGEST,
        left=LeftRows(1, None, (("sex", 1), ("region", 1))),
        changes=(
            ColumnChange("sex", 5, 0, 0, 0),
            ColumnChange("region", 4, 1, 0, 0),
            ColumnChange("score", 5, 0, 0, 0),
        ),
        tokens=(TokenFacts("id", 5, 5, 5, 0, 0, 0),),
        same=(SameCells("id", "sex", 5, 0),),
        repeats=(Repeats("id", direct=True, repeated=0),),
        links=Links(),
        order_breaks=0,
        before=table([[1, 1], [1, 2], [2, 1], [2, 2]], [3, 1, 1, 1]),
        after=table([[1, 1], [2, 0]], [3, 2]),
    )
    return replace(evidence, **changes)


@pytest.fixture
def made() -> SimpleNamespace:
    """Builders of made-up values: ``evidence``, ``plan``, ``policy``, ``source``, ``table``, ``manifests``."""
    return SimpleNamespace(
        evidence=evidence_of, plan=plan_of, policy=policy_of, source=source_of, table=table, manifests=manifests, digest=DIGEST
    )
