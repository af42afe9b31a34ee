"""Bounds that are bought and edges that are dates, from the policy to the audit, and faults planted in the file and the manifest."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from decimal import Decimal

import pyarrow.parquet as pq
import pytest

from privrelease import api
from privrelease.audit.synthetic.audit import audit_synthetic
from privrelease.audit.synthetic.evidence import SyntheticTarget
from privrelease.dp import randomness
from privrelease.engine.open import open_engine
from privrelease.engine.protocol.base import EngineSettings
from privrelease.release.digests import sha256_of
from privrelease.release.manifest import Manifest
from tests.contract.test_synthetic import start

TEXT = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: bounds
version: 1.0.0
title: Made-up
datasets:
  people:
    source: people.csv
    unit: rows
    population: people
    snapshot: one
    columns:
      glucose: {role: sensitive, type: number, grid: 0.1}
      seen: {role: quasi, type: date, format: {date: "%d.%m.%Y"}}
      day: {role: quasi, type: date, domain: [2019-01-01, 2023-12-31]}
      sex: {role: quasi, type: category, domain: [F, M]}
releases:
  - id: syn
    kind: synthetic
    from: people
    method: histogram
    columns: [glucose, seen, day, sex]
    rows: 500
    bins: {day: {edges: [2019-01-01, 2020-02-29, 2020-03-01, 2024-01-01]}}
    discover: {glucose: {epsilon: 0.4, at_most: 8}, seen: {epsilon: 0.4}}
    impossible: ["day >= '2020-03-01' AND sex = 'M'", "glucose IS NULL"]
    budget: {epsilon: 6, delta: 1e-6}
    output: [out/syn.csv, out/syn.parquet]
ledger: {url: "sqlite:///ledger.db", cap: {epsilon: 6, delta: 1e-5}}
"""
ROWS = 2_000


class Repeated:
    """The same bytes in every run, taken for random ones."""

    private = True

    def __init__(self):
        self._made = randomness.TestRandomness(1)

    def draw(self, size):
        return self._made.draw(size)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bounds")
    lines = ["glucose,seen,day,sex"]
    for i in range(ROWS):
        sex = "F" if i % 2 else "M"
        day = f"2020-02-{1 + i % 29:02d}" if i % 2 == 0 else f"20{20 + i % 3}-05-{1 + i % 28:02d}"
        lines.append(f"{60 + i % 280}.{i % 10},{1 + i % 28:02d}.{1 + i % 12:02d}.{2015 + i % 6},{day},{sex}")
    (folder / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    policy = folder / "p.yaml"
    policy.write_text(TEXT, encoding="utf-8")
    start(policy)
    loaded = api.load(policy)
    with pytest.MonkeyPatch.context() as patch:
        # Noise alone widens the bounds in a few runs of a hundred, as `noisy_bounds` says: what is tested here is one run, always the same.
        patch.setattr(randomness, "SystemRandomness", Repeated)
        (one,) = api.run(loaded).releases
    assert one.became == "published", (one.error, one.audit and one.audit.findings)
    return policy, loaded, one


def test_the_plan_says_what_bounds_cost_before_any_row_is_read(made):
    _, loaded, _ = made
    lines = "\n".join(api.plan(loaded).as_lines())
    assert "glucose: at most 8 bins between bounds read from the data (within 2^40 steps of 0.1 from 0), and missing" in lines
    assert "bounds of glucose: 2 times, rho 0.04" in lines
    assert "seen: at most 20 bins" in lines


def test_rows_lie_between_bounds_near_those_of_the_data_and_dates_in_the_bins_of_their_edges(made):
    policy, _, one = made
    rows = pq.read_table(policy.parent / "out" / "syn.parquet").to_pylist()
    assert len(rows) == 500
    glucose = [row["glucose"] for row in rows]
    assert Decimal(40) <= min(glucose) <= Decimal(80)
    assert Decimal(300) <= max(glucose) <= Decimal(360)
    assert len(set(glucose)) > 100, "not one value a bin"
    seen = [row["seen"] for row in rows if row["seen"] is not None]
    assert date(2014, 1, 1) <= min(seen)
    assert max(seen) <= date(2022, 12, 31)
    days = [row["day"] for row in rows if row["sex"] == "M" and row["day"] is not None]
    assert days
    assert max(days) <= date(2020, 2, 29), "the last day of the second bin: the rule is about whole cells"
    first = (policy.parent / "out" / "syn.csv").read_text().splitlines()[1]
    assert first.split(",")[1].count(".") == 2, "as the source writes it"
    facts = {column.name: column for column in one.audit.synthetic.columns}
    assert facts["glucose"].bounded
    assert facts["glucose"].cells <= 9
    assert facts["day"].cells == 4
    assert "bounds 1 of glucose" in api.report(one)
    assert "between bounds that were read from the data" in api.report(one, edition="recipient")


def test_another_run_is_served_the_bounds_again_and_pays_nothing(made):
    policy, loaded, one = made
    (again,) = api.run(policy).releases
    assert again.became == "published", "the cap leaves nothing to pay with"
    assert [c.domain for c in again.audit.synthetic.columns] == [c.domain for c in one.audit.synthetic.columns]
    assert again.audit.synthetic.source is not None, "the cells are known to the comparison with the source"
    del loaded


def failed(made, manifest, file=None):
    policy, loaded, _ = made
    plan = loaded.planned
    release = plan.releases[0]
    path = policy.parent / "out" / "syn.csv" if file is None else file
    target = SyntheticTarget((replace(release.sinks[0], path=path),), manifest, "run")
    with open_engine(EngineSettings(readable=(policy.parent,))) as engine:
        found = audit_synthetic(release, plan, target, engine, audited_at="2024-01-01T00:00:00Z", versions={})
    return {one.id for one in found.checks if one.outcome.value == "fail"}


def stated(made):
    return json.loads((made[0].parent / "out" / "syn.manifest.json").read_bytes())


def test_a_value_beyond_the_bounds_and_bounds_that_no_draw_found_are_each_found(made):
    policy = made[0]
    manifest = stated(made)
    assert failed(made, Manifest.model_validate(manifest)) == set()
    lines = (policy.parent / "out" / "syn.csv").read_text().splitlines()
    file = policy.parent / "changed.csv"
    cells = lines[-1].split(",")
    file.write_text("\n".join([*lines[:-1], ",".join(["4000.0", *cells[1:]])]) + "\n")
    changed = json.loads(json.dumps(manifest))
    for output in changed["outputs"]:
        if output["label"].endswith(".csv"):
            output["sha256"] = sha256_of(file)
    assert "AUDIT-SYN-DOMAIN" in failed(made, Manifest.model_validate(changed), file)
    without = json.loads(json.dumps(manifest))
    (query,) = without["privacy"]["queries"]
    query["draws"] = [draw for draw in query["draws"] if "bounds 2 of seen" not in json.dumps(draw)]
    assert "AUDIT-SYN-BUDGET" in failed(made, Manifest.model_validate(without))
