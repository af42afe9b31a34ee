"""A synthetic release goes all the way, and each fault that is planted in its file, manifest or ledger is found by the check named for it."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privrelease import api
from privrelease.audit.checks.charges import charges_of
from privrelease.audit.synthetic.audit import audit_synthetic
from privrelease.audit.synthetic.evidence import SyntheticTarget
from privrelease.cli.main import main
from privrelease.engine.open import open_engine
from privrelease.engine.protocol.base import EngineSettings
from privrelease.pipeline.ledger import opened
from privrelease.pipeline.settings import Settings
from privrelease.release.digests import sha256_of
from privrelease.release.manifest import Manifest
from tests.words import assert_said_in_every_language

TEXT = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: made
version: 1.0.0
title: Made-up
datasets:
  people:
    source: people.csv
    unit: {column: id, max_rows: 1}
    population: people
    snapshot: one
    columns:
      id: {role: direct, type: string}
      age: {role: quasi, type: integer, domain: [0, 99]}
      glucose: {role: sensitive, type: number, domain: [50, 400], grid: 0.1}
      day: {role: quasi, type: date, domain: [2019-01-01, 2023-12-31], format: {date: "%Y%m%d"}}
      sex: {role: quasi, type: category, domain: [F, M]}
      region: {role: quasi, type: string}
      note: {role: sensitive, type: string}
releases:
  - id: syn
    kind: synthetic
    from: people
    method: histogram
    columns: [id, age, day, glucose, sex, region]
    rows: 400
    bins: {age: {width: 25}, glucose: {edges: [50, 140, 400]}, day: {width: 700}}
    make: {id: {pattern: "P[0-9]{4}", unique: true}}
    discover: {region: {epsilon: 0.4, delta: 1e-7, at_most: 3}}
    impossible: ["sex = 'M' AND glucose >= 140"]
    holdout: 0.25
    budget: {epsilon: 4, delta: 1e-6}
    output: [out/syn.csv, out/syn.parquet]
ledger: {url: "sqlite:///ledger.db", cap: {epsilon: 10, delta: 1e-5}}
"""
ROWS = 600


def people(path: Path) -> None:
    lines = ["id,age,glucose,day,sex,region,note"]
    for i in range(ROWS):
        glucose = "" if i % 9 == 0 else f"{50 + (i * 7 % 3500) / 10:.1f}"
        sex = "F" if i % 3 else "M"
        region = "north" if i % 2 else "south"
        lines.append(f"x{i},{i % 100},{glucose},{2019 + i % 5}{1 + i % 12:02d}{1 + i % 28:02d},{sex},{region},QX7note{i}")
    lines.append("x9999,40,60.0,20200101,F,Onlyville,QX7note")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


@dataclass(frozen=True)
class Made:
    """A run: its policy, the loaded plan, the result, and the ledger's book."""

    policy: Path
    loaded: Any
    result: Any
    charges: Any

    @property
    def plan(self) -> Any:
        return self.loaded.planned.releases[0]

    @property
    def manifest(self) -> Manifest:
        return Manifest.model_validate_json((self.policy.parent / "out" / "syn.manifest.json").read_bytes())


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("synthetic")
    people(folder / "people.csv")
    policy = folder / "p.yaml"
    policy.write_text(TEXT, encoding="utf-8")
    start(policy)
    loaded = api.load(policy)
    (one,) = api.run(loaded).releases
    assert one.became == "published", (one.error, one.audit and one.audit.findings)
    return Made(policy, loaded, one, charges(loaded))


def start(policy: Path) -> None:
    """Make the ledger that the policy names."""
    assert main(["ledger", "init", str(policy)]) == 0


def charges(loaded: Any) -> Any:
    plan = loaded.planned
    manifest = Manifest.model_validate_json((plan.policy_path.parent / "out" / "syn.manifest.json").read_bytes())
    return charges_of(opened(plan, Settings().store(plan)).book(), manifest)


def rows_of(made: Made) -> list[dict[str, str]]:
    with (made.policy.parent / "out" / "syn.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# ---------------------------------------------------------------------------------------------------------------------- the file


def test_rows_are_of_the_declared_domains_types_and_forms(made):
    rows = rows_of(made)
    assert len(rows) == 400
    assert list(rows[0]) == ["id", "age", "day", "glucose", "sex", "region"]
    assert len({row["id"] for row in rows}) == 400
    assert all(re.fullmatch(r"P[0-9]{4}", row["id"]) for row in rows)
    assert {row["sex"] for row in rows} <= {"F", "M", ""}
    assert {row["region"] for row in rows} <= {"north", "south", ""}
    for row in rows:
        assert row["age"] == "" or (re.fullmatch(r"\d+", row["age"]) and 0 <= int(row["age"]) <= 99)
        assert row["glucose"] == "" or 50 <= Decimal(row["glucose"]) <= 400
        if row["day"]:
            assert re.fullmatch(r"\d{8}", row["day"])
            assert date(2019, 1, 1) <= datetime.strptime(row["day"], "%Y%m%d").date() <= date(2023, 12, 31)  # noqa: DTZ007
        assert not (row["sex"] == "M" and row["glucose"] and Decimal(row["glucose"]) >= 140)
    assert any(row["glucose"] == "" for row in rows)


def test_both_files_hold_the_same_and_the_types_are_those_of_the_source(made):
    table = pq.read_table(made.policy.parent / "out" / "syn.parquet")
    assert [str(field.type) for field in table.schema] == [
        "string",
        "int64",
        "date32[day]",
        "decimal128(18, 1)",
        "string",
        "string",
    ]
    assert table.num_rows == 400
    rows = rows_of(made)
    assert [row["id"] for row in rows] == table.column("id").to_pylist()
    assert [row["glucose"] for row in rows] == ["" if one is None else str(one) for one in table.column("glucose").to_pylist()]


def test_nothing_of_a_person_is_in_any_artefact_that_leaves(made):
    for path in (made.policy.parent / "out").iterdir():
        content = path.read_bytes()
        assert b"QX7note" not in content
        assert b"Onlyville" not in content, "a value of one person was bought"
        # in the bytes of a Parquet file such a short name is found by chance; its cells and its metadata are looked at instead
        if path.suffix == ".parquet":
            content = f"{pq.read_table(path).to_pylist()} {pq.read_metadata(path).metadata}".encode()
        assert not re.search(rb"\bx\d+\b", content)


def test_every_check_holds_and_the_claim_is_the_plan(made):
    audit = made.result.audit
    assert {one.outcome.value for one in audit.checks} == {"pass"}
    assert audit.decision.outcome.value == "pass"
    facts = audit.synthetic
    assert (facts.method, facts.measure, facts.draws) == ("histogram", "rho", 2)
    assert [one.figure for one in facts.spent] == ["keys", "cells"]
    assert sum(one.share for one in facts.spent) <= 1
    claim = made.manifest.synthetic
    assert claim.holdout == "1/4"
    assert [one.values for one in claim.columns if one.name == "region"] == [("north", "south")]
    assert made.manifest.privacy.epsilon == "4"


# -------------------------------------------------------------------------------------------------------------------------- faults


def judged(made: Made, tmp_path: Path, **changes: Any) -> list[str]:
    """Return the checks that fail where the rows are others, and the manifest's digests are those of the changed files."""
    rows = changes.get("rows", rows_of(made))
    names = ["id", "age", "day", "glucose", "sex", "region"]
    first, second = tmp_path / "syn.csv", tmp_path / "syn.parquet"
    with first.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    types = {"age": int, "glucose": Decimal, "day": lambda text: datetime.strptime(text, "%Y%m%d").date()}  # noqa: DTZ007
    values = {name: [None if row[name] == "" else types.get(name, str)(row[name]) for row in rows] for name in names}
    schema = changes.get("schema", pq.read_schema(made.policy.parent / "out" / "syn.parquet"))
    pq.write_table(pa.table(values, schema=schema), second)
    files = tuple(replace(sink, path=path) for sink, path in zip(made.plan.sinks, (first, second), strict=True))
    manifest = made.manifest
    outputs = tuple(
        one.model_copy(update={"sha256": sha256_of(path)}) for one, path in zip(manifest.outputs, (first, second), strict=True)
    )
    claim = manifest.synthetic.model_copy(update=changes.get("claim", {}))
    privacy = manifest.privacy.model_copy(update=changes.get("privacy", {}))
    manifest = manifest.model_copy(
        update={"outputs": outputs, "synthetic": claim, "privacy": privacy} | changes.get("manifest", {})
    )
    target = SyntheticTarget(files, manifest, "run", changes.get("charges", made.charges))
    with open_engine(EngineSettings(readable=(tmp_path, made.policy.parent))) as engine:
        audit = audit_synthetic(made.plan, made.loaded.planned, target, engine, audited_at="2026-01-01T00:00:00Z", versions={})
    assert_said_in_every_language(audit)
    failed = [one.id for one in audit.checks if one.outcome.value == "fail"]
    assert (audit.decision.outcome.value == "fail") == bool(failed)
    return failed


def changed(made: Made, **cells: str) -> list[dict[str, str]]:
    """The rows with other cells in one of them that has a value there, of a woman."""
    rows = rows_of(made)
    at = next(i for i, row in enumerate(rows) if row["sex"] == "F" and all(row[name] for name in cells))
    return [row | cells if i == at else row for i, row in enumerate(rows)]


def test_the_rows_as_they_are_pass(made, tmp_path):
    assert judged(made, tmp_path) == []


@pytest.mark.parametrize(
    "cells",
    [{"age": "100"}, {"age": "-1"}, {"glucose": "400.1"}, {"day": "20240101"}, {"sex": "X"}, {"region": "Onlyville"}],
    ids=str,
)
def test_a_value_outside_its_domain_is_found(made, tmp_path, cells):
    assert judged(made, tmp_path, rows=changed(made, **cells)) == ["AUDIT-SYN-DOMAIN"]


def test_a_row_that_is_impossible_is_found(made, tmp_path):
    assert judged(made, tmp_path, rows=changed(made, sex="M", glucose="140.0")) == ["AUDIT-SYN-ZEROS"]
    assert judged(made, tmp_path, rows=changed(made, sex="M", glucose="139.9")) == []


@pytest.mark.parametrize("text", ["repeated", "P12", "Q0000", ""])
def test_a_made_text_that_repeats_or_is_of_another_form_is_found(made, tmp_path, text):
    rows = rows_of(made)
    rows[0]["id"] = rows[1]["id"] if text == "repeated" else text
    assert judged(made, tmp_path, rows=rows) == ["AUDIT-SYN-MADE"]


def test_a_row_too_many_and_one_too_few_are_found(made, tmp_path):
    rows = rows_of(made)
    assert judged(made, tmp_path, rows=[*rows, rows[-1] | {"id": "P0000"}])[0:1] in (["AUDIT-SYN-ROWS"], ["AUDIT-SYN-MADE"])
    assert judged(made, tmp_path, rows=rows[1:]) == ["AUDIT-SYN-ROWS"]


def test_another_type_is_found(made, tmp_path):
    schema = pq.read_schema(made.policy.parent / "out" / "syn.parquet")
    other = schema.set(1, pa.field("age", pa.float64()))
    assert judged(made, tmp_path, schema=other) == ["AUDIT-SYN-FILES"]


def test_a_file_that_is_not_the_manifests_and_two_that_differ_are_found(made, tmp_path):
    outputs = made.manifest.outputs
    other = tuple(one.model_copy(update={"sha256": "0" * 64}) for one in outputs)
    assert judged(made, tmp_path, manifest={"outputs": other}) == ["AUDIT-SYN-SAME"]


@pytest.mark.parametrize(
    "changes",
    [
        {"privacy": {"epsilon": "1"}},
        {"privacy": {"delta": "0"}},
        {"privacy": {"neighbours": "replace"}},
        {"privacy": {"unit": "row"}},
        {"privacy": {"accountant": "pure"}},
        {"claim": {"method": "other"}},
        {"claim": {"holdout": None}},
    ],
    ids=str,
)
def test_an_altered_claim_is_found(made, tmp_path, changes):
    assert "AUDIT-SYN-BUDGET" in judged(made, tmp_path, **changes)


def draws(made: Made) -> list[dict[str, Any]]:
    return [dict(draw) for draw in made.manifest.privacy.queries[0].draws]


def with_draws(made: Made, stated: list[dict[str, Any]]) -> dict[str, Any]:
    (query,) = made.manifest.privacy.queries
    return {"queries": (query.model_copy(update={"draws": tuple(stated)}),)}


def test_draws_outside_the_envelope_of_another_sensitivity_or_that_the_ledger_lacks_are_found(made, tmp_path):
    halved = draws(made)
    halved[1]["scale"] = str(Fraction(halved[1]["scale"]) / 4)
    assert judged(made, tmp_path, privacy=with_draws(made, halved)) == ["AUDIT-SYN-BUDGET", "AUDIT-SYN-LEDGER"]
    twice = [*draws(made), draws(made)[1]]
    assert judged(made, tmp_path, privacy=with_draws(made, twice)) == ["AUDIT-SYN-BUDGET", "AUDIT-SYN-LEDGER"]
    louder = draws(made)
    louder[1]["scale"] = "1000"
    assert judged(made, tmp_path, privacy=with_draws(made, louder)) == ["AUDIT-SYN-LEDGER"]
    none = replace(made.charges, entry=None)
    assert judged(made, tmp_path, charges=none) == ["AUDIT-SYN-LEDGER"]


def test_noise_from_a_seed_is_found(made, tmp_path):
    assert "AUDIT-SYN-NOISE" in judged(made, tmp_path, privacy={"private": False})


# ---------------------------------------------------------------------------------------------------------------- as every kind


def test_it_is_reported_compared_and_withdrawn_like_any_other(made):
    page = api.report(made.result)
    assert "No row is a person" in page
    for form in ("json", "sarif", "junit", "github", "text", "markdown", "in-toto", "dpv"):
        for edition in ("internal", "recipient"):
            assert api.report(made.result, form=form, edition=edition) or form == "github"
    registry = api.report(made.result, form="dpv")
    assert "SyntheticData" in registry
    recipients = api.report(made.result, edition="recipient")
    assert "Onlyville" not in page + recipients
    stated = json.loads((made.policy.parent / "out" / "syn.manifest.json").read_text())
    assert stated["kind"] == "synthetic"
    again = api.audit(made.loaded, [made.policy.parent / "out" / "syn.csv", made.policy.parent / "out" / "syn.parquet"])
    assert again.decision.outcome.value == "pass"
    assert {one.effect for one in api.diff(made.loaded, made.loaded)} == set()


def test_figures_of_the_source_stay_inside_and_held_out_rows_are_their_control(made):
    found = made.result.audit.synthetic.source
    assert found.fitted.value + found.held_out.value == ROWS + 1
    assert 0.1 < found.held_out.value / ROWS < 0.4
    assert 0 <= found.fitted_present.value <= 1
    assert [one.ways for one in found.marginal_errors] == [1, 2]
    assert 0 < found.marginal_errors[0].synthetic.value < 0.5
    assert 'id="syn-measured"' in api.report(made.result)
    assert "held out: " in api.report(made.result)
    for form in ("html", "json", "sarif", "text", "markdown", "in-toto", "dpv"):
        assert "held out: " not in api.report(made.result, form=form, edition="recipient")
        assert "held_out_present" not in api.report(made.result, form=form, edition="recipient")
