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
from fractions import Fraction
from pathlib import Path
from typing import Annotated, ClassVar

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pydantic import Field

from privrelease import api
from privrelease.audit.comparison.combine import EARLIER_CHECKS
from privrelease.audit.document.schema import audit_of
from privrelease.audit.microdata.integrity.checks import MICRODATA_CHECKS
from privrelease.cli.commands import audit as audit_command
from privrelease.cli.console import Console, FailOn
from privrelease.errors import PolicyError
from privrelease.findings import Severity
from privrelease.pipeline.kinds import kind_of, with_steps
from privrelease.pipeline.microdata import sweep
from privrelease.pipeline.settings import Settings
from privrelease.pipeline.steps import STEPS, TransformStep
from privrelease.pipeline.world import World
from privrelease.policy.language.keys import DeclaredColumn, Judged, Stricter
from privrelease.policy.language.number_values import Count
from privrelease.policy.language.releases import Step
from privrelease.relational.schema import ColumnType
from privrelease.relational.treatments import Recoded
from privrelease.texts.codes import every_code

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
    to: Annotated[Count, Stricter.HIGHER, Judged(coarser)] = Field(default=10)

    def treatment(self, column, spec):
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
#: Age and town; with ages rounded down to tens every pair appears twice at least, so that no cell need be suppressed.
PEOPLE = [
    (34, "A"),
    (31, "A"),
    (39, "A"),
    (30, "B"),
    (36, "B"),
    (47, "B"),
    (40, "B"),
    ("", "B"),
    ("", "B"),
    (-3, "A"),
    (-10, "A"),
]
#: Source ages, and those that are released for them: worked by hand.
ROUNDED = {
    "34": "30",
    "31": "30",
    "39": "30",
    "30": "30",
    "36": "30",
    "47": "40",
    "40": "40",
    "": "",
    "-3": "-10",
    "-10": "-10",
}


def written(people):
    return "age,town,note\n" + "".join(f"{age},{town},{place % 10}\n" for place, (age, town) in enumerate(people))


@pytest.fixture
def policy(tmp_path):
    (tmp_path / "people.csv").write_text(written(PEOPLE))
    path = tmp_path / "p.yaml"
    path.write_text(TEXT)
    return path


def released(policy):
    head, *rows = csv.reader((policy.parent / "out" / "rows.csv").read_text().splitlines())
    assert head == ["age", "town", "note"]
    return [tuple(row) for row in rows]


def failing(audit):
    return {check.id for check in audit.checks if check.outcome.value == "fail"}


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
    assert (unknown.code, unknown.hint) == ("P202", "did you mean round?")


@pytest.mark.parametrize(
    ("pairs", "found"),
    [
        ([("to: 10", "to: 1")], [("P564", 22)]),
        ([("round_down: age", "round_down: town")], [("P563", 22)]),
        ([("round_down: age", "round_down: height")], [("P302", 22)]),
        ([("to: 10", "to: 10, by: 3")], [("P200", 22)]),
        ([("unit: rows", "unit: {column: note, max_rows: 1}"), ("round_down: age", "round_down: note")], [("P560", 22)]),
        (
            [("highest_risk: 0.5", "highest_risk: 0.5, population: {weight: note}"), ("round_down: age", "round_down: note")],
            [("P560", 22)],
        ),
        ([("      - {suppress", "      - {drop: [age]}\n      - {suppress")], [("P408", 23)]),
        ([("      - {suppress", "      - {round_down: age, to: 5}\n      - {suppress")], [("P408", 23)]),
        (
            [("      - {suppress: cells}\n", ""), ("      - {round_down", "      - {suppress: cells}\n      - {round_down")],
            [("P411", 23)],
        ),
        ([("threats:", "attacks: {singling_out: {}}\nthreats:")], [("P460", 14), ("P561", 23)]),
    ],
)
def test_what_is_wrong_with_it_is_told_at_its_place(policy, pairs, found):
    assert errors(edited(policy, *pairs)) == found


def test_it_is_planned(policy):
    loaded = api.load(policy, kinds=TOYS)
    assert "round age down to multiples of 10" in str(api.plan(loaded))
    assert "round" not in str(api.plan(api.load(edited(policy, ("      - {round_down: age, to: 10}\n", "")))))


def test_it_is_run_audited_and_reported_in_every_form(policy):
    loaded = api.load(policy, kinds=TOYS)
    result = api.run(loaded)
    (one,) = result.releases
    assert (one.became, one.audit.decision.outcome.value) == ("published", "pass"), one.audit and one.audit.checks
    assert sorted(released(policy)) == sorted(
        (ROUNDED[str(age)], town, str(place % 10)) for place, (age, town) in enumerate(PEOPLE)
    )
    numbers = [int(age) for age, *_ in released(policy) if age]
    assert numbers == sorted(numbers)  # rows are in the order of what is released
    again = api.audit(loaded, policy.parent / "out" / "rows.csv")
    assert again.decision.outcome.value == "pass"
    (changed,) = [check for check in again.checks if check.id == "AUDIT-CHANGED"]
    assert "represents it as the policy says" in changed.message
    (facts,) = [column for column in again.data.columns if column.name == "age"]
    assert (facts.treated, facts.type) == ("recoded", "integer")
    manifest = json.loads((policy.parent / "out" / "rows.manifest.json").read_text())
    assert [one["treatment"] for one in manifest["outputs"][0]["columns"]] == ["recoded", "as_is", "as_is"]
    assert audit_of(Path(one.files["audit"]).read_bytes()) == one.audit
    for form in ("html", "json", "sarif", "junit", "github", "text", "markdown", "in-toto", "dpv"):
        for edition in ("internal", "recipient"):
            assert api.report(result, form=form, edition=edition) or form == "github"
    assert "recoded" in api.report(result)


@pytest.mark.parametrize("form", ["csv", "parquet", "duckdb"])
def test_cells_are_suppressed_where_rounding_leaves_somebody_alone_and_a_forecast_counts_them(policy, form):
    (policy.parent / "people.csv").write_text(written([*PEOPLE, (58, "A"), (62, "A"), (49, "A")]))
    edited(policy, ("out/rows.csv", f"out/rows.{form}"))
    loaded = api.load(policy, kinds=TOYS)
    world = World(Settings(), kinds=TOYS)
    (release,) = loaded.planned.releases
    foreseen = kind_of(release, TOYS).forecast(release, loaded.planned, world)
    assert (foreseen.classes, foreseen.source_rows) == (8, 14)  # five that are there already, and 50, 60 and 40 in A
    (one,) = api.run(loaded).releases
    assert (one.became, one.audit.decision.outcome.value) == ("published", "pass"), one.error
    internal = json.loads((Path(one.files["audit"]).parent / "manifest.json").read_text())
    assert (
        sum(internal["claims"]["lost"].values()) == sum(one.suppressed + one.in_dropped_rows for one in foreseen.columns) >= 2
    )
    assert api.audit(loaded, policy.parent / "out" / f"rows.{form}").decision.outcome.value == "pass"


def test_its_frontier_is_over_what_would_be_released(policy):
    loaded = api.load(policy, kinds=TOYS)
    (release,) = loaded.planned.releases
    found = sweep(release, release.threats[0], [Fraction(1, 2)], World(Settings(), kinds=TOYS))
    assert [(point.k, point.cells_lost) for point in found.points] == [(2, 0)]


def test_a_cell_that_is_edited_fails_the_audit(policy):
    loaded = api.load(policy, kinds=TOYS)
    api.run(loaded)
    file = policy.parent / "out" / "rows.csv"
    text = file.read_text()
    assert text.startswith("age,town,note\n-10,A,0\n-10,A,9\n30,A,0\n30,A,1\n")
    run = file.resolve()
    for value in ("20", "40", "31"):  # of another bin from below and above, and no multiple
        run.chmod(0o600)
        run.write_text(text.replace("30,A,1", f"{value},A,1", 1))
        found = api.audit(loaded, file)
        assert found.decision.outcome.value == "fail"
        assert "AUDIT-CHANGED" in failing(found)
        asked = audit_command.Audited("rows", (file,), True, None, None)
        assert audit_command.audit(policy, Settings(), asked, FailOn.ERROR, Console(), kinds=TOYS).code == 1
    run.write_text(text.replace("30,A,1", ",A,1", 1))
    assert "AUDIT-DIGEST" in failing(api.audit(loaded, file))


def test_a_file_from_elsewhere_is_not_passed_since_nothing_leads_to_its_source(policy):
    api.run(api.load(policy, kinds=TOYS))
    other = policy.parent / "elsewhere" / "other.csv"
    other.parent.mkdir()
    text = (policy.parent / "out" / "rows.csv").read_text()
    other.write_text(text.replace("\n-10,", "\n-20,"))  # which no source age of the two stands for
    found = api.audit(api.load(policy, kinds=TOYS), other, release="rows")
    (explained,) = [check for check in found.checks if check.id == "AUDIT-EXPLAINED"]
    assert (explained.outcome.value, found.decision.outcome.value) == ("not_evaluated", "review")


def test_another_run_is_not_compared_with_it_and_is_left_to_a_person(policy):
    loaded = api.load(policy, kinds=TOYS)
    assert api.run(loaded).releases[0].became == "published"
    same = api.run(loaded).releases[0]
    assert same.became == "published"  # of the same content, which tells nothing more
    (policy.parent / "people.csv").write_text(written([*PEOPLE, (32, "A"), (41, "B")]))
    (one,) = api.run(loaded).releases
    assert (one.became, one.audit.decision.outcome.value) == ("parked", "review")
    assert "recoded values (age)" in " ".join(one.audit.decision.assessment_remaining)


@pytest.mark.parametrize(
    ("pairs", "found"),
    [
        ([("to: 10", "to: 20")], [("stricter", "releases.rows.round_down.age.to")]),
        ([("to: 10", "to: 5")], [("weaker", "releases.rows.round_down.age.to")]),
        ([("to: 10", "to: 15")], [("breaking", "releases.rows.round_down.age.to")]),
        ([("      - {round_down: age, to: 10}\n", "")], [("weaker", "releases.rows.round_down.age")]),
        (
            [("      - {suppress", "      - {round_down: note, to: 3}\n      - {suppress")],
            [("stricter", "releases.rows.round_down.note")],
        ),
    ],
)
def test_two_policies_are_compared_by_the_columns_that_it_is_about(policy, pairs, found):
    old = api.load(policy, kinds=TOYS)
    new = policy.with_name("q.yaml")
    edited(new, *pairs)
    assert [(one.effect, one.subject) for one in api.diff(old, api.load(new, kinds=TOYS))] == found


def test_an_environment_may_make_it_coarser_only(policy):
    overlay = (
        "environments:\n  test:\n    releases:\n      - {{id: rows, kind: microdata, from: people, protect: [T], output: out/rows.csv, "
        "transform: [{{round_down: age, to: {}}}, {{suppress: cells}}]}}\n"
    )
    policy.write_text(TEXT + overlay.format(20))
    assert api.load(policy, env="test", kinds=TOYS).releases == ("rows",)
    policy.write_text(TEXT + overlay.format(5))
    with pytest.raises(PolicyError) as caught:
        api.load(policy, env="test", kinds=TOYS)
    assert "P504" in {one.code for one in caught.value.findings}


def test_no_file_of_the_package_knows_it():
    found = [path for path in (ROOT / "privrelease").rglob("*") if path.suffix in {".py", ".toml", ".j2"}]
    assert len(found) > 300
    assert [
        path.name for path in found if re.search(r"\b(round_down|RoundDown|Multiples)\b", path.read_text(encoding="utf-8"))
    ] == []


# --------------------------------------------------------------------------------------------------------------------- the page


def page():
    return (ROOT / "docs" / "add-a-transform.md").read_text(encoding="utf-8")


def test_every_file_and_name_of_the_page_exists():
    rows = [row.strip("| ").split(" | ") for row in re.findall(r"^\| \d+ \|.*$", page(), re.MULTILINE)]
    steps = [
        (path, name)
        for _, files, names, _ in rows
        for path in re.findall(r"`([^`]+)`", files)
        for name in re.findall(r"`([^`]+)`", names)
    ]
    assert len(steps) >= 10
    missing = [
        (path, name) for path, name in steps if not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", (ROOT / path).read_text())
    ]
    assert missing == []


def test_the_page_lists_whatever_a_step_has_and_says_no_more():
    own = {name for name in vars(Step) if not name.startswith(("_", "model_"))} | {"named"}
    told = set(re.findall(r"^- `(\w+)`", page(), re.MULTILINE))
    assert told == own | {one.name for one in fields(TransformStep)}


def test_every_rule_of_the_page_is_one():
    codes = set(re.findall(r"`([PA]\d{3}|AUDIT-[A-Z-]+)`", page()))
    assert len(codes) >= 8
    known = {code.name for code in every_code()} | {check.id for check in (*MICRODATA_CHECKS, *EARLIER_CHECKS)}
    assert codes - known == set()


def test_the_code_of_the_page_runs(policy):
    (block,) = re.findall(r"^```python\n(.*?)^```$", page(), re.MULTILINE | re.DOTALL)
    space = {"ROUND_DOWN": ROUND_DOWN}
    exec(compile(block, "add-a-transform.md", "exec"), space)
    assert space["load"](policy).releases == ("rows",)


def test_a_threat_that_reads_missing_values_as_anything_refuses_a_step_that_does_not_say_what_it_holds(policy, monkeypatch):
    """Released records would have to be compared with true values, and nothing says which of them a rounded one may be."""
    wild = ("knows: [age, town],", "knows: [age, town], missing: wildcard,")
    assert errors(edited(policy, wild)) == [("P580", 22)]
    monkeypatch.setattr(RoundDown, "contains", True)
    assert api.load(policy, kinds=TOYS).releases == ("rows",)
    monkeypatch.undo()
    edited(policy, ("knows: [age, town],", "knows: [town], missing: wildcard,"))
    assert api.load(policy, kinds=TOYS).releases == ("rows",)
