"""Whole runs on random tables: every released row is its source row but for missing cells, and every threat is met by brute force."""

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

from privrelease.disclosure.risk.thresholds import Thresholds
from privrelease.engine.duckdb.engine import DuckDBEngine
from privrelease.execute.common.scope import engine_settings, release_name
from privrelease.execute.microdata.run import run_microdata
from privrelease.plan.model import MicrodataPlan, Plan, ReleasedColumn, SuppressStep, ThreatPlan, UnitPlan
from privrelease.relational.schema import Column, ColumnType, Role, Sink, SinkKind, SourceKind, TableSource
from privrelease.release.store import ReleaseStore
from tests.depth import depth

KINDS = {
    "person": (pa.string(), ColumnType.STRING, Role.DIRECT),
    "age": (pa.int64(), ColumnType.INTEGER, Role.QUASI),
    "sex": (pa.string(), ColumnType.CATEGORY, Role.QUASI),
    "zone": (pa.string(), ColumnType.STRING, Role.QUASI),
    "vip": (pa.bool_(), ColumnType.BOOLEAN, Role.QUASI),
    "born": (pa.date32(), ColumnType.DATE, Role.QUASI),
    "x": (pa.float64(), ColumnType.NUMBER, Role.SENSITIVE),
}
QUASI = ("age", "sex", "zone", "vip", "born")
LEAVES = (*QUASI, "x")

rows = st.lists(
    st.fixed_dictionaries(
        {
            "person": st.sampled_from([f"p{number}" for number in range(12)]),
            "age": st.none() | st.sampled_from([-1, 0, 40, 2**62]),
            "sex": st.none() | st.sampled_from(["f", "m"]),
            "zone": st.none() | st.sampled_from(["01", "1", "é", "NA", "a,b\n"]),
            "vip": st.none() | st.booleans(),
            "born": st.none() | st.dates(),
            "x": st.none() | st.floats(allow_nan=False, allow_infinity=False),
        }
    ),
    max_size=40,
)
threats = st.lists(
    st.tuples(st.sets(st.sampled_from(QUASI), min_size=1), st.integers(1, 5), st.booleans()), min_size=1, max_size=3
)


def released(folder, data, specified, *, unit, residual, order):
    schema = pa.schema([(name, kind) for name, (kind, _, _) in KINDS.items()])
    pq.write_table(pa.Table.from_pylist(data, schema=schema), folder / "data.parquet")
    columns = tuple(Column(name, kind, role) for name, (_, kind, role) in KINDS.items())
    source = TableSource("data", SourceKind.PARQUET, str(folder / "data.parquet"), "data.parquet", columns)
    made = tuple(
        ThreatPlan(
            f"t{number}",
            tuple(sorted(known)),
            Thresholds(highest=Fraction(1, k), average=Fraction(1, k + 1) if average else None),
        )
        for number, (known, k, average) in enumerate(specified)
    )
    plan = MicrodataPlan(
        "microdata",
        source,
        tuple(ReleasedColumn(name, KINDS[name][1], KINDS[name][2]) for name in LEAVES),
        made,
        (Sink(SinkKind.PARQUET, folder / "out.parquet", "out.parquet"),),
        unit=UnitPlan("person") if unit else None,
        rows_are_persons=not unit,
        suppress=SuppressStep(residual=residual),
        order=order,
    )
    policy = Plan("p", "1", folder / "p.yaml", "0" * 64, "P", (plan,))
    store = ReleaseStore(folder / ".privrelease")
    with (
        store.start(release_name(plan, policy), plan.sinks) as run,
        DuckDBEngine(engine_settings(plan, run, threads=1)) as engine,
    ):
        parked = run_microdata(plan, policy, engine=engine, store=store, run=run, environment={})
        store.decide(run.id, "pass")
    mapping = {row["output_row"]: row["source_row"] for row in pq.read_table(run.row_map).to_pylist()}
    return parked, pq.read_table(run.data[0]), mapping, plan


def group_sizes(plan, table, mapping, data, columns):
    """Persons (rows without a unit) of each class, by a dictionary; residual rows apart."""
    groups: dict[tuple, list] = {}
    for number, row in enumerate(table):
        key = tuple(row[column] for column in columns)
        if any(value is not None for value in key):
            groups.setdefault(key, []).append(data[mapping[number]]["person"] if plan.unit else number)
    return [len(set(members)) for members in groups.values()]


@settings(max_examples=depth(12, 40), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(rows, threats, st.booleans(), st.sampled_from(["drop", "keep"]), st.sampled_from(["values", "source"]))
def test_a_released_row_is_its_source_row_with_cells_missing_and_every_threat_is_met(data, specified, unit, residual, order):
    folder = Path(tempfile.mkdtemp())
    try:
        parked, table, mapping, plan = released(folder, data, specified, unit=unit, residual=residual, order=order)
    finally:
        shutil.rmtree(folder)
    assert [(field.name, field.type) for field in table.schema] == [(name, KINDS[name][0]) for name in LEAVES]
    out = table.to_pylist()
    known = set(plan.quasi_identifiers)
    assert sorted(mapping) == list(range(len(out)))
    assert len(set(mapping.values())) == len(out)
    for number, row in enumerate(out):
        source = data[mapping[number]]
        for name in LEAVES:
            assert row[name] == source[name] or (row[name] is None and name in known)
    claims = parked.internal.claims
    assert (claims.released_rows, claims.dropped_rows) == (len(out), len(data) - len(out))
    assert claims.suppressed == {
        name: sum(row[name] is None and data[mapping[number]][name] is not None for number, row in enumerate(out))
        for name in plan.quasi_identifiers
    }
    gone = set(range(len(data))) - set(mapping.values())
    assert claims.lost == {
        name: claims.suppressed[name] + sum(data[number][name] is not None for number in gone)
        for name in plan.quasi_identifiers
    }
    if order == "source":
        assert [mapping[number] for number in range(len(out))] == sorted(mapping.values())
    for threat in plan.threats:
        sizes = group_sizes(plan, out, mapping, data, threat.columns)
        assert all(size >= threat.thresholds.k for size in sizes)
        if threat.thresholds.average is not None and sizes and not unit:
            assert Fraction(len(sizes), sum(sizes)) <= threat.thresholds.average
        left = len(
            {
                data[mapping[n]]["person"] if unit else n
                for n, row in enumerate(out)
                if all(row[c] is None for c in threat.columns)
            }
        )
        if residual == "drop":
            assert left == 0 or left >= threat.thresholds.k
    assert Counter(row["x"] for row in out) <= Counter(row["x"] for row in data)
