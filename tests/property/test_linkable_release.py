"""Whole runs where rows of one person stay linkable: counted in the released file, at least k persons show each set of rows."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from privrelease.audit.document.model import Outcome
from privrelease.audit.microdata.audit import audit_microdata
from privrelease.audit.microdata.target import AuditTarget
from privrelease.disclosure.risk.thresholds import Thresholds
from privrelease.engine.duckdb.engine import DuckDBEngine
from privrelease.execute.common.scope import engine_settings, release_name
from privrelease.execute.microdata.run import run_microdata
from privrelease.plan.model import MicrodataPlan, Plan, ReleasedColumn, SuppressStep, ThreatPlan, UnitPlan
from privrelease.relational.schema import Column, ColumnType, Role, Sink, SinkKind, SourceKind, TableSource
from privrelease.relational.treatments import Pseudonym
from privrelease.release.store import ReleaseStore
from tests.depth import depth

QUASI = ("a", "b", "c")
NAMES = ("person", "phone")
SECRETS = {"KEY": "a made-up key of thirty-two bytes"}

values = st.none() | st.sampled_from(["x", "y", "z"])
#: A telephone of a person's own (in all rows, or in some), one of the visit alone, or none.
phones = st.sampled_from(["own", "none", "visit", "shared"])
visits = st.lists(
    st.tuples(st.integers(0, 7), st.tuples(values, values, values), phones),
    min_size=1,
    max_size=24,
)
threats = st.lists(
    st.tuples(st.lists(st.sampled_from(QUASI), min_size=1, max_size=3, unique=True), st.integers(1, 3), st.booleans()),
    min_size=1,
    max_size=2,
)


def rows_of(drawn):
    kinds = {
        "own": lambda person, _: f"t{person}",
        "visit": lambda _, number: f"v{number}",
        "shared": lambda *_: "s",
        "none": lambda *_: None,
    }
    return [
        {"person": f"p{person}", "phone": kinds[kind](person, number), **dict(zip(QUASI, cells, strict=True))}
        for number, (person, cells, kind) in enumerate(drawn)
    ]


def released(folder, rows, specified, leaving, residual):
    schema = pa.schema([(name, pa.string()) for name in (*NAMES, *QUASI)])
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), folder / "data.parquet")
    columns = (
        *(Column(name, ColumnType.STRING, Role.DIRECT) for name in NAMES),
        *(Column(name, ColumnType.CATEGORY, Role.QUASI) for name in QUASI),
    )
    plan = MicrodataPlan(
        "microdata",
        TableSource("data", SourceKind.PARQUET, str(folder / "data.parquet"), "data.parquet", columns),
        (
            *(ReleasedColumn(name, ColumnType.STRING, Role.DIRECT, Pseudonym("KEY")) for name in leaving),
            *(ReleasedColumn(name, ColumnType.CATEGORY, Role.QUASI) for name in QUASI),
        ),
        tuple(
            ThreatPlan(f"t{number}", tuple(known), Thresholds(highest=Fraction(1, k)), knows_rows=knows_rows)
            for number, (known, k, knows_rows) in enumerate(specified)
        ),
        (Sink(SinkKind.PARQUET, folder / "out.parquet", "out.parquet"),),
        unit=UnitPlan("person"),
        suppress=SuppressStep(residual=residual),
    )
    policy = Plan("p", "1", folder / "p.yaml", "0" * 64, "P", (plan,))
    store = ReleaseStore(folder / ".privrelease")
    with (
        store.start(release_name(plan, policy), plan.sinks) as run,
        DuckDBEngine(engine_settings(plan, run, threads=1)) as engine,
    ):
        parked = run_microdata(plan, policy, engine=engine, store=store, run=run, environment=SECRETS)
        target = AuditTarget.of_run(run, plan, parked.source)
        audit = audit_microdata(plan, policy, target, engine=engine, audited_at="t", versions={})
        store.decide(run.id, "pass")
    mapping = {row["output_row"]: row["source_row"] for row in pq.read_table(run.row_map).to_pylist()}
    out = [row | {"person": rows[mapping[n]]["person"]} for n, row in enumerate(pq.read_table(run.data[0]).to_pylist())]
    return parked.internal.claims, audit, out, plan


def persons_alike(out, threat):
    """For every person of whom something shows: persons with the same set (multiset) of rows."""
    shown: dict[str, Counter] = {}
    for row in out:
        shown.setdefault(row["person"], Counter())[tuple(row[column] for column in threat.columns)] += 1
    kept = [
        frozenset(held.items()) if threat.knows_rows else frozenset(held)
        for held in shown.values()
        if any(any(cell is not None for cell in cells) for cells in held)
    ]
    return list(Counter(kept).values()), len(shown) - len(kept)


def persons_a_class(out, threat):
    held: dict[tuple, set] = {}
    for row in out:
        held.setdefault(tuple(row[column] for column in threat.columns), set()).add(row["person"])
    return [len(persons) for cells, persons in held.items() if any(cell is not None for cell in cells)]


def brought_together(rows, leaving):
    """Whether some name that leaves stands in two rows of one person."""
    pairs = Counter((row["person"], name, row[name]) for row in rows for name in leaving if row[name] is not None)
    return any(amount > 1 for amount in pairs.values())


@settings(max_examples=depth(8, 40), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(visits, threats, st.sampled_from([("person",), ("phone",), NAMES]), st.sampled_from(["drop", "keep"]))
def test_at_least_k_persons_show_each_set_of_rows_where_rows_are_brought_together(drawn, specified, leaving, residual):
    rows = rows_of(drawn)
    folder = Path(tempfile.mkdtemp())
    try:
        claims, audit, out, plan = released(folder, rows, specified, leaving, residual)
    finally:
        shutil.rmtree(folder)
    linkable = brought_together(rows, leaving)
    assert claims.linkable is linkable
    several = len({row["person"] for row in rows}) < len(rows)
    for threat, found in zip(plan.threats, audit.threats, strict=True):
        sets, lost = persons_alike(out, threat)
        counted = sets if linkable else persons_a_class(out, threat)
        assert all(size >= threat.thresholds.k for size in counted)
        assert found.after.k.value == min(counted, default=None)
        kind = "person_multisets" if threat.knows_rows else "person_sets"
        assert found.after.counted == (kind if linkable else "persons")
        if residual == "drop" and linkable:
            assert lost == 0 or lost >= threat.thresholds.k
        if counted:
            assert found.holds
    outcomes = {check.id: check.outcome for check in audit.checks}
    failing = {name for name, outcome in outcomes.items() if outcome in {Outcome.FAIL, Outcome.NOT_EVALUATED}}
    assert failing <= {"AUDIT-RECORDS", *(["AUDIT-RESIDUAL"] if residual == "keep" else [])}
    if several:
        assert outcomes["AUDIT-PERSONS"] is Outcome.PASS
