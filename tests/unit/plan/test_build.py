from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from privrelease.disclosure.risk.thresholds import RecordsAtRisk, Thresholds
from privrelease.plan.build import build_plan
from privrelease.plan.model import CheckPlan, PopulationPlan, ReleasedColumn, SubsetLimit, UnitPlan
from privrelease.policy.loader import load_policy
from privrelease.relational.schema import ColumnFormat, ColumnType, Domain, FileFormat, Role, SinkKind, SourceKind
from privrelease.relational.treatments import Pseudonym

if TYPE_CHECKING:
    from pathlib import Path

    from privrelease.plan.model import MicrodataPlan, Plan

POLICY = """\
apiVersion: privrelease/v1
kind: ReleasePolicy
id: registry
version: 2.1.0
title: A registry
datasets:
  patients:
    source: data/*.csv
    format: {delimiter: ";", decimal: ",", date: "%d.%m.%Y", datetime: "%d.%m.%Y %H:%M", missing: [NA], encoding: latin-1}
    snapshot: 2026-Q3
    population: diabetes-patients
    unit: {column: patient_id, max_rows: 3}
    unlisted_columns: drop
    columns:
      patient_id: {role: direct, type: string}
      name: {role: direct, type: string}
      age: {role: quasi, type: integer, domain: [18, 085], outside: drop}
      sex: {role: quasi, type: category, domain: [NO, 010], format: {missing: ["", "-"], aliases: {w: f}, normalise: [nfc, trim]}}
      birth: {role: quasi, type: date}
      seen: {role: insensitive, type: datetime, format: {datetime: "%Y%m%d"}}
      glucose: {role: sensitive, type: number, domain: [50, 400], grid: 0.1, format: {decimal: ".", thousands: ","}}
      w: {role: insensitive, type: number}
  census:
    source: {duckdb: data/census.duckdb, table: persons}
    columns:
      age: {role: quasi, type: integer}
      sex: {role: quasi, type: category}
      other: {role: quasi, type: category}
threats:
  external: {dataset: patients, knows: [age, sex, birth], highest_risk: 0.33, average_risk: 0.05, knows_rows: true,
             records_at_risk: {above: 0.1, share: 0.5}, missing: wildcard, also: {subsets: {up_to: 2, k: 3}}}
  reporter: {dataset: patients, knows: [age, sex], attacker: journalist, highest_risk: 0.2, population: {table: census}}
  weighted: {dataset: patients, knows: [age], attacker: journalist, highest_risk: 0.2, population: {weight: w}}
  guessed: {dataset: patients, knows: [age], attacker: marketer, average_risk: 0.2, population: {size: 1000, estimator: snb}}
releases:
  - id: microdata
    kind: microdata
    from: patients
    protect: [external, reporter, weighted, guessed]
    columns: [sex, patient_id, age, glucose]
    transform:
      - {pseudonymise: [patient_id], key: PSEUDONYM_KEY}
      - {suppress: cells, limit: 0.05, weights: {age: 2.5, birth: 3}, residual: keep}
    order: source
    output: [out/a.parquet, {path: out/b, format: csv}, {path: out/c.duckdb, table: rows}]
  - id: whole
    kind: microdata
    from: patients
    protect: [external]
    transform: [{drop: [w]}]
    output: whole.csv
checks:
  - {id: A, release: microdata, expect: suppressed_cells, max: 0.05, column: age, severity: warn}
  - {id: B, release: whole, expect: k, min: 4, threat: external}
legal: {profile: gdpr}
"""


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    (tmp_path / "p.yaml").write_text(POLICY.replace("085", "85"))
    return build_plan(load_policy(tmp_path / "p.yaml"), commit="abc")


@pytest.fixture
def release(plan: Plan) -> MicrodataPlan:
    return plan.releases[0]


def test_a_plan_names_its_policy(plan: Plan, tmp_path: Path) -> None:
    assert (plan.policy_id, plan.policy_version, plan.title, plan.commit) == ("registry", "2.1.0", "A registry", "abc")
    assert plan.policy_path == tmp_path / "p.yaml"
    assert len(plan.policy_sha256) == 64
    assert "controller.name" in plan.missing_legal
    assert [release.id for release in plan.releases] == ["microdata", "whole"]


def test_a_source_says_where_and_how_to_read(release: MicrodataPlan, tmp_path: Path) -> None:
    source = release.source
    assert (source.dataset, source.kind, source.label) == ("patients", SourceKind.CSV, "data/*.csv")
    assert source.path == str(tmp_path / "data" / "*.csv")
    assert source.format == FileFormat(";", '"', "latin-1")
    assert source.unlisted_columns == "drop"
    assert [column.name for column in source.columns] == ["patient_id", "name", "age", "sex", "birth", "seen", "glucose", "w"]


def test_a_column_has_its_own_format_over_that_of_the_dataset(release: MicrodataPlan) -> None:
    column = release.source.column
    common = {"missing": ("NA",), "decimal": ","}
    assert column("age").format == ColumnFormat(**common)
    assert column("sex").format == ColumnFormat(("", "-"), aliases=(("w", "f"),), normalise=("nfc", "trim"), decimal=",")
    assert column("birth").format == ColumnFormat(date="%d.%m.%Y", **common)
    assert column("seen").format == ColumnFormat(date="%Y%m%d", **common)
    assert column("glucose").format == ColumnFormat(("NA",), decimal=".", thousands=",")


@pytest.mark.parametrize(
    ("source", "given", "own", "expected"),
    [
        ("a.csv", "", "", ("",)),
        ("a.parquet", "", "", ()),
        ("{duckdb: a.db, table: t}", "", "", ()),
        ("{sqlite: a.db, table: t}", '    format: {decimal: ","}\n', "", ()),
        ("a.parquet", '    format: {missing: [""]}\n', "", ("",)),
        ("a.parquet", "", ', format: {missing: ["", NA]}', ("", "NA")),
    ],
)
def test_an_empty_text_is_missing_by_default_in_csv_only(tmp_path: Path, source: str, given: str, own: str, expected) -> None:
    (tmp_path / "p.yaml").write_text(
        "apiVersion: privrelease/v1\nkind: ReleasePolicy\nid: p\nversion: 1.0.0\ntitle: t\n"
        f"datasets:\n  d:\n    source: {source}\n{given}    columns:\n      a: {{role: quasi, type: string{own}}}\n"
        "threats:\n  t: {dataset: d, knows: [a], highest_risk: 0.5}\n"
        "releases:\n  - {id: r, kind: microdata, from: d, protect: [t], output: out/r.csv}\n"
    )
    (release,) = build_plan(load_policy(tmp_path / "p.yaml")).releases
    assert release.source.column("a").format.missing == expected


def test_domains_stay_texts_and_grids_exact(release: MicrodataPlan) -> None:
    column = release.source.column
    assert column("age").domain == Domain(low="18", high="85", outside="drop")
    assert column("sex").domain == Domain(("NO", "010"))
    assert column("glucose").grid == Decimal("0.1")


def test_columns_leave_in_the_order_of_the_policy_and_direct_ones_only_as_pseudonyms(plan: Plan) -> None:
    selected, whole = plan.releases
    assert selected.columns == (
        ReleasedColumn("sex", ColumnType.CATEGORY, Role.QUASI),
        ReleasedColumn("patient_id", ColumnType.STRING, Role.DIRECT, Pseudonym("PSEUDONYM_KEY")),
        ReleasedColumn("age", ColumnType.INTEGER, Role.QUASI),
        ReleasedColumn("glucose", ColumnType.NUMBER, Role.SENSITIVE),
    )
    assert [column.name for column in whole.columns] == ["age", "sex", "birth", "seen", "glucose"]
    assert selected.quasi_identifiers == ("sex", "age")
    assert whole.quasi_identifiers == ("age", "sex", "birth")


def test_a_threat_is_measured_on_the_known_columns_that_leave(plan: Plan) -> None:
    selected, whole = plan.releases
    assert (selected.threats[0].columns, selected.threats[0].absent) == (("age", "sex"), ("birth",))
    assert (whole.threats[0].columns, whole.threats[0].absent) == (("age", "sex", "birth"), ())


def test_thresholds_are_exact_fractions(release: MicrodataPlan) -> None:
    threat = release.threats[0]
    assert threat.thresholds == Thresholds(
        Fraction(33, 100), Fraction(1, 20), RecordsAtRisk(above=Fraction(1, 10), share=Fraction(1, 2))
    )
    assert threat.thresholds.k == 4
    assert (threat.missing, threat.knows_rows, threat.attacker) == ("wildcard", True, "prosecutor")
    assert threat.subsets == SubsetLimit(2, 3)


def test_a_population_is_a_table_or_weights_or_an_estimate(release: MicrodataPlan) -> None:
    _, reporter, weighted, guessed = release.threats
    assert reporter.population is not None
    table = reporter.population.table
    assert table is not None
    assert (table.kind, table.table, table.dataset, table.unlisted_columns) == (SourceKind.DUCKDB, "persons", "census", "drop")
    assert [column.name for column in table.columns] == ["age", "sex"]
    assert weighted.population == PopulationPlan(weight="w")
    assert guessed.population == PopulationPlan(size=1000, estimator="snb")


def test_suppression_carries_exact_weights_of_what_leaves(plan: Plan) -> None:
    selected, whole = plan.releases
    assert selected.suppress is not None
    assert (selected.suppress.limit, selected.suppress.residual) == (Fraction(1, 20), "keep")
    assert selected.suppress.weights == (("age", Fraction(5, 2)),)
    assert whole.suppress is None


def test_sinks_units_checks_and_labels_are_carried(plan: Plan, tmp_path: Path) -> None:
    selected, whole = plan.releases
    assert [(sink.kind, sink.path, sink.label, sink.table) for sink in selected.sinks] == [
        (SinkKind.PARQUET, tmp_path / "out" / "a.parquet", "out/a.parquet", "data"),
        (SinkKind.CSV, tmp_path / "out" / "b", "out/b", "data"),
        (SinkKind.DUCKDB, tmp_path / "out" / "c.duckdb", "out/c.duckdb", "rows"),
    ]
    assert selected.unit == UnitPlan("patient_id", 3)
    assert (selected.order, whole.order) == ("source", "values")
    assert (selected.snapshot, selected.population_id) == ("2026-Q3", "diabetes-patients")
    (check,) = selected.checks
    assert check == CheckPlan(
        "A", "suppressed_cells", maximum=Fraction(1, 20), severity="warn", options=(("column", "age"),), location=check.location
    )
    assert whole.checks[0].options == (("threat", "external"),)
    assert whole.checks[0].minimum == 4


def test_places_of_the_policy_are_carried(plan: Plan) -> None:
    release = plan.releases[0]
    lines = POLICY.splitlines()
    assert release.location is not None
    assert "id: microdata" in lines[release.location.line - 1]
    assert release.threats[1].location is not None
    assert lines[release.threats[1].location.line - 1].startswith("  reporter:")
    assert release.suppress is not None
    assert release.suppress.location is not None
    assert "suppress: cells" in lines[release.suppress.location.line - 1]


def test_a_plan_is_the_same_each_time(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(POLICY.replace("085", "85"))
    assert build_plan(load_policy(tmp_path / "p.yaml")) == build_plan(load_policy(tmp_path / "p.yaml"))
