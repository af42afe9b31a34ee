"""A transform step that only this test knows goes all the way: validate, plan, run, audit, diff, publish and report.

It rounds integers down to a multiple, so that what is released is not what the source holds: the audit must verify that every released value stands
for its source's, by a question of its own. The package knows nothing of it. `docs/add-a-transform.md` tells how a step is added, and is
kept true here.
"""

from __future__ import annotations

import csv
import json
import re
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, ClassVar

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pydantic import Field
from typer.testing import CliRunner

from privrelease import api
from privrelease.audit.document.schema import audit_of
from privrelease.cli.commands import plan as plan_command
from privrelease.cli.main import app
from privrelease.errors import PolicyError
from privrelease.findings import Severity
from privrelease.pipeline import steps as pipeline_steps
from privrelease.pipeline.kinds import KINDS, with_steps
from privrelease.pipeline.settings import Settings
from privrelease.pipeline.steps import STEPS, TransformStep
from privrelease.policy.language.keys import DeclaredColumn, Judged, Stricter
from privrelease.policy.language.number_values import Count
from privrelease.policy.language.releases import Step
from privrelease.relational.schema import ColumnType
from privrelease.relational.treatments import Recoded

ROOT = Path(__file__).resolve().parents[2]

# --------------------------------------------------------------------------------------------------------- what is declared, once


@dataclass(frozen=True, slots=True)
class Multiples:
    """The next multiple of ``of`` from below."""

    of: int

    def released_type(self, source):
        return source


# ------------------------------------------------------------------------------------------------------------------------ policy


def coarser(change):
    """A multiple of what it was: stricter; a divisor: weaker; anything else puts values together that were apart."""
    old, new = int(change.old), int(change.new)
    return "stricter" if new % old == 0 else "weaker" if old % new == 0 else "breaking"


class RoundDown(Step):
    named: ClassVar[str] = "round_down"
    takes: ClassVar[frozenset[ColumnType]] = frozenset({ColumnType.INTEGER})

    round_down: Annotated[DeclaredColumn, Stricter.ADDED]
    to: Annotated[Count, Judged(coarser)] = Field(default=10)

    def treatment(self, column):
        return Recoded(Multiples(int(self.to)))

    def faults(self, reading, path, columns):
        if int(self.to) < 2:
            yield reading.error("P564", "to must be at least 2, else nothing is rounded", *path, "to", hint="write `to: 10`")


# ------------------------------------------------------------------------------------------------------------- plan, make, verify


def words(column, declared):
    return f"round {column} down to multiples of {declared.of}"


def make(declared, values):
    whole = pc.cast(pc.floor(pc.divide(pc.cast(values, pa.float64()), float(declared.of))), pa.int64())
    return pc.multiply(whole, declared.of)


def verify(declared, source, released):
    """The released value is a multiple, and the source's is less than one multiple above it."""
    above = pc.subtract(source, released)
    inside = pc.and_(pc.greater_equal(above, 0), pc.less(above, declared.of))
    whole = pc.equal(pc.multiply(pc.divide(released, declared.of), declared.of), released)
    return pc.and_(inside, whole)


ROUND_DOWN = TransformStep(RoundDown, Multiples, words, make, verify)
TOYS = with_steps((*STEPS, ROUND_DOWN))

# ------------------------------------------------------------------------------------------------------------------------- tests

TEXT = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: made
version: 1.0.0
title: Made-up
datasets:
  people:
    source: people.csv
    unit: rows
    columns:
      age: {role: quasi, type: integer, domain: [-20, 120]}
      town: {role: quasi, type: category, domain: [A, B, C]}
      note: {role: insensitive, type: integer, domain: [0, 9]}
threats:
  T: {dataset: people, knows: [age, town], highest_risk: 0.5}
releases:
  - id: rows
    kind: microdata
    from: people
    protect: [T]
    transform:
      - {round_down: age, to: 10}
      - {suppress: cells}
    output: out/rows.csv
"""
PEOPLE = [(34, "A"), (31, "A"), (39, "A"), (30, "B"), (47, "B"), (40, "B"), ("", "B"), ("", "B"), (-3, "A"), (-10, "A"), (58, "C")]
#: Source ages, then those that are released for them: floor(age / 10) * 10, worked by hand.
ROUNDED = {"34": "30", "31": "30", "39": "30", "30": "30", "47": "40", "40": "40", "": "", "-3": "-10", "-10": "-10", "58": "50"}


def written(people):
    return "age,town,note\n" + "".join(f"{age},{town},{place % 10}\n" for place, (age, town) in enumerate(people))


@pytest.fixture
def policy(tmp_path):
    (tmp_path / "people.csv").write_text(written(PEOPLE))
    path = tmp_path / "p.yaml"
    path.write_text(TEXT)
    return path


def errors(policy):
    with pytest.raises(PolicyError) as caught:
        api.load(policy, kinds=TOYS)
    return [(one.code, one.location.line) for one in caught.value.findings if one.severity is Severity.ERROR]


def edited(policy, *pairs):
    text = TEXT
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    policy.write_text(text)
    return policy


def test_it_is_validated(policy):
    assert api.load(policy, kinds=TOYS).releases == ("rows",)
    with pytest.raises(PolicyError) as caught:
        api.load(policy)
    (unknown,) = [one for one in caught.value.findings if one.severity is Severity.ERROR]
    assert (unknown.code, unknown.hint) == ("P202", "steps: drop, pseudonymise, suppress")


@pytest.mark.parametrize(
    ("pairs", "found"),
    [
        ([("to: 10", "to: 1")], [("P564", 20)]),
        ([("round_down: age", "round_down: town")], [("P563", 20)]),
        ([("round_down: age", "round_down: height")], [("P401", 20)]),
        ([("to: 10", "to: 10, by: 3")], [("P200", 20)]),
        ([("unit: rows", "unit: {column: age, max_rows: 1}")], [("P560", 20)]),
        ([("highest_risk: 0.5", "highest_risk: 0.5, population: {weight: age}")], [("P560", 20)]),
        ([("      - {suppress", "      - {drop: [age]}\n      - {suppress")], [("P408", 21)]),
        ([("      - {suppress", "      - {round_down: age, to: 5}\n      - {suppress")], [("P408", 21)]),
        ([("      - {suppress: cells}\n", ""), ("      - {round_down", "      - {suppress: cells}\n      - {round_down")], [("P411", 21)]),
        ([("threats:", "attacks: {}\nthreats:")], [("P561", 21)]),
    ],
)
def test_what_is_wrong_with_it_is_told_at_its_place(policy, pairs, found):
    assert errors(edited(policy, *pairs)) == found


def test_it_is_planned_and_a_forecast_counts_what_would_be_released(policy):
    loaded = api.load(policy, kinds=TOYS)
    assert "round age down to multiples of 10" in str(api.plan(loaded))
    assert "round" not in str(api.plan(api.load(edited(policy, ("      - {round_down: age, to: 10}\n", "")))))


def test_it_is_run_audited_and_reported_in_every_form(policy):
    loaded = api.load(policy, kinds=TOYS)
    result = api.run(loaded)
    (one,) = result.releases
    assert (one.became, one.audit.decision.outcome.value) == ("published", "pass"), one.audit and one.audit.checks
    rows = list(csv.DictReader((policy.parent / "out" / "rows.csv").open()))
    assert len(rows) == len(PEOPLE) - 1 + 1
    kept = sorted(row["age"] for row in rows if row["age"] and row["town"])
    assert kept == sorted(ROUNDED[str(age)] for age, town in PEOPLE if age != "" and age != 58)
    again = api.audit(loaded, policy.parent / "out" / "rows.csv")
    assert again.decision.outcome.value == "pass"
    (changed,) = [check for check in again.checks if check.id == "AUDIT-CHANGED"]
    assert "stands for it as the policy says" in changed.message
    (facts,) = [column for column in again.data.columns if column.name == "age"]
    assert (facts.treated, facts.type) == ("recoded", "integer")
    manifest = json.loads((policy.parent / "out" / "rows.manifest.json").read_text())
    assert [one["treatment"] for one in manifest["outputs"][0]["columns"]] == ["recoded", "as_is", "as_is"]
    assert audit_of(Path(one.files["audit"]).read_bytes()) == one.audit
    for form in ("html", "json", "sarif", "junit", "github", "text", "markdown", "in-toto", "dpv"):
        for edition in ("internal", "recipient"):
            assert api.report(result, form=form, edition=edition) or form == "github"
    assert "recoded" in api.report(result)
