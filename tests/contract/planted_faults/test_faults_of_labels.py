"""Faults of columns that are written coarser: each wrong label is caught by the check that names it."""

from __future__ import annotations

import csv
import random
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privrelease import api
from privrelease.audit.microdata.audit import audit_microdata
from privrelease.audit.microdata.target import AuditTarget
from privrelease.engine.duckdb.engine import DuckDBEngine
from privrelease.engine.protocol.base import EngineSettings
from privrelease.execute.common.scope import release_name
from privrelease.execute.microdata.run import run_microdata
from privrelease.pipeline.steps import makers_of, verifiers_of
from privrelease.release.store import ReleaseStore
from tests.contract.planted_faults.parked_release import SECRETS, Parked

POLICY = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: made-up
version: 1.0.0
title: A made-up policy
datasets:
  people:
    source: people.csv
    unit: rows
    columns:
      age: {role: quasi, type: integer, domain: [0, 120], hierarchy: {widths: [10, 20], top: 90}}
      seen: {role: quasi, type: date, hierarchy: {date: [month, year]}}
      town: {role: quasi, type: category, hierarchy: {csv: towns.csv}}
      zip: {role: insensitive, type: string, links: none, hierarchy: {prefix: [3, 2], fill: "*"}}
      pay: {role: sensitive, type: integer}
      days: {role: sensitive, type: integer, links: none}
threats:
  T: {dataset: people, knows: [age, seen, town], highest_risk: 0.34}
releases:
  - id: rows
    kind: microdata
    from: people
    protect: [T]
    transform:
      - {generalise: [age, zip]}
      - {generalise: seen, level: year, write: low}
      - {generalise: town}
      - {code: pay, top: 5000, write: low}
      - {round: days, to: 5}
      - {suppress: cells}
    output: [out/people.parquet, out/people.csv]
"""
TOWNS = "Ahlen;north;*\nBeck;north;*\nCarl;south;*\nDorf;south;*\n"


class Labelled(Parked):
    """Of whole numbers that are whole numbers in the source's rows too."""

    def source(self):
        text = Path(self.plan.source.path).read_text(encoding="utf-8").splitlines()
        return [{key: value or None for key, value in row.items()} for row in csv.DictReader(text)]

    def audit(self):
        return audit_microdata(
            self.plan,
            self.policy,
            self.target,
            engine=self.engine,
            audited_at="2026-01-02T03:04:05Z",
            versions={"privrelease": "0"},
            verifiers=verifiers_of(),
        )


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    folder = tmp_path_factory.mktemp("labels")
    rng = random.Random(5)
    lines = ["age,seen,town,zip,pay,days"]
    for number in range(240):
        age = "" if number % 40 == 0 else rng.choice([rng.randint(20, 59), 90 + rng.randint(0, 9)])
        seen = f"{rng.choice([2024, 2025])}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"
        town = rng.choice(["Ahlen", "Beck", "Carl", "Dorf"])
        lines.append(
            f"{age},{seen},{town},{rng.choice(['01', '02'])}{rng.randint(100, 999)},{rng.randint(1, 9)}000,{rng.randint(0, 99)}"
        )
    (folder / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "towns.csv").write_text(TOWNS, encoding="utf-8")
    (folder / "policy.yaml").write_text(POLICY, encoding="utf-8")
    (folder / "out").mkdir()
    planned = api.load(folder / "policy.yaml").planned
    (plan,) = planned.releases
    store = ReleaseStore(folder / ".privrelease")
    with (
        store.start(release_name(plan, planned), plan.sinks) as run,
        DuckDBEngine(EngineSettings(readable=(folder,), writable=(run.path,), threads=1)) as engine,
    ):
        done = run_microdata(plan, planned, engine=engine, store=store, run=run, environment=SECRETS, makers=makers_of())
        assert done.source.n_rows == 240
        yield Labelled(plan, planned, engine, AuditTarget.of_run(run, plan, None))


def source_of(release, row):
    return release.source()[row["_source"]]


def one(release, rows, **holds):
    """The first released row whose source and label are as asked."""
    return next(row for row in rows if all(test(row, source_of(release, row)) for test in holds.values()))


def test_the_release_is_sound_as_it_is_made(release):
    assert release.failing() == set()
    found = {check.id: check for check in release.audit().checks}
    assert found["AUDIT-LEVEL"].outcome.value == "pass"
    assert "represents it as the policy says" in found["AUDIT-CHANGED"].message


def test_rows_put_back_as_they_are_stay_sound(release):
    release.put(release.rows())
    assert release.failing() == set()


@pytest.mark.parametrize(
    ("column", "value"),
    [("age", "[30, 40)"), ("zip", "991*"), ("town", "south"), ("seen", date(2024, 1, 1)), ("pay", 4000), ("days", 55)],
)
def test_a_value_one_bin_off(release, column, value):
    rows = release.rows()
    row = next(
        row for row in rows if row[column] is not None and row[column] != value and not (column == "age" and "9" in row[column])
    )
    row[column] = value
    release.put(rows)
    failing = release.failing()
    assert "AUDIT-CHANGED" in failing
    assert "AUDIT-LEVEL" not in failing


def test_a_value_at_the_top_as_an_interval(release):
    rows = release.rows()
    one(release, rows, top=lambda row, source: row["age"] == "90+" and source["age"] == "90")["age"] = "[80, 90)"
    release.put(rows)
    assert {"AUDIT-CHANGED"} <= release.failing()


@pytest.mark.parametrize(("column", "label"), [("age", "[20, 29)"), ("town", "west"), ("zip", "0*"), ("age", "20-29")])
def test_a_label_that_the_hierarchy_lacks(release, column, label):
    rows = release.rows()
    next(row for row in rows if row[column] is not None)[column] = label
    release.put(rows)
    assert {"AUDIT-CHANGED", "AUDIT-LEVEL"} <= release.failing()


def test_two_rows_exchanged_across_labels(release):
    """Every class and every column's values are as before."""
    rows = release.rows()
    first = next(row for row in rows if row["town"] == "north")
    second = next(row for row in rows if row["town"] == "south" and row["age"] == first["age"] and row["seen"] == first["seen"])
    first["town"], second["town"] = second["town"], first["town"]
    release.put(rows)
    assert release.failing() == {"AUDIT-CHANGED"}


@pytest.mark.parametrize("column", ["age", "town", "zip"])
def test_a_leaf_beside_labels(release, column):
    rows = release.rows()
    row = next(row for row in rows if row[column] is not None and "+" not in row[column])
    row[column] = source_of(release, row)[column]
    release.put(rows)
    failing = release.failing()
    assert "AUDIT-LEVEL" in failing
    assert "AUDIT-CHANGED" not in failing


def test_a_label_of_another_level(release):
    rows = release.rows()
    for row in rows:
        row["age"] = {"[20, 30)": "[20, 40)", "[30, 40)": "[20, 40)"}.get(row["age"], row["age"])
    release.put(rows)
    assert release.failing() == {"AUDIT-LEVEL"}
    (found,) = [check for check in release.audit().checks if check.id == "AUDIT-LEVEL"]
    assert found.message.startswith("cells hold a value that is not of the planned level: ")
    assert found.message.endswith(" in age")


def test_a_missing_value_given_a_label(release):
    rows = release.rows()
    one(release, rows, none=lambda row, source: row["age"] is None and source["age"] is None)["age"] = "[20, 30)"
    release.put(rows)
    assert "AUDIT-INVENTED" in release.failing()


def test_rows_sorted_by_the_values_of_the_source(release):
    rows = sorted(release.rows(), key=lambda row: int(source_of(release, row)["age"] or 999))
    release.put(rows, ordered=False)
    assert release.failing() == {"AUDIT-ORDER"}


def test_a_leaf_left_in_a_dictionary(release):
    table = pq.read_table(release.parquet)
    codes = table.column("town").combine_chunks().dictionary_encode()
    with_more = pa.DictionaryArray.from_arrays(codes.indices, pa.concat_arrays([codes.dictionary, pa.array(["Ahlen"])]))
    pq.write_table(table.set_column(table.schema.get_field_index("town"), "town", with_more), release.parquet)
    release.agree()
    assert release.failing() == {"AUDIT-LEFTOVER"}


def test_a_column_of_labels_with_the_type_of_the_source(release):
    table = pq.read_table(release.parquet)
    place = table.schema.get_field_index("age")
    ages = pa.array([None if age is None else int("".join(filter(str.isdigit, age[:3]))) for age in table["age"].to_pylist()])
    pq.write_table(table.set_column(place, "age", ages), release.parquet, store_schema=False)
    release.agree()
    assert "AUDIT-TYPES" in release.failing()
