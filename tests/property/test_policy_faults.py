"""All errors of a file at once: a fault hides none in another element, and brings none that only follows from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from privrelease.policy.loader import check_policy
from privrelease.policy.text.nodes import Mapping, Scalar, leaves
from privrelease.policy.text.yaml import parse_yaml
from tests.depth import depth

if TYPE_CHECKING:
    from pathlib import Path

POLICY = """\
apiVersion: privrelease/v1
kind: ReleasePolicy
id: registry
version: 1.0.0
title: A registry
datasets:
  patients:
    source: data/patients.csv
    population: patients
    unit: {column: patient_id, max_rows: 1}
    columns:
      patient_id: {role: direct, type: string}
      age: {role: quasi, type: integer, domain: [18, 85]}
      sex: {role: quasi, type: category, domain: [F, M]}
      months: {role: quasi, type: integer, domain: [0, 600]}
      diagnosis: {role: sensitive, type: category, domain: [no, yes], category: special}
threats:
  external:
    dataset: patients
    knows: [age, sex]
    highest_risk: 0.2
  insider:
    dataset: patients
    knows: [months, diagnosis]
    records_at_risk: {above: 0.1, share: 0.5}
releases:
  - id: microdata
    kind: microdata
    from: patients
    protect: [external, insider]
    transform:
      - {suppress: cells, limit: 0.05}
    output: {path: out/patients.parquet}
    frontier: [2, 3]
  - id: statistics
    kind: statistics
    from: patients
    budget: {epsilon: 1.0, delta: 1e-6}
    queries:
      - {id: positives, count: {where: "diagnosis = 'yes'"}, epsilon: 0.5}
      - {id: ages, histogram: age, bins: {width: 10}, epsilon: 0.5, mechanism: gaussian}
    output: [{path: out/statistics.csv}]
  - id: admissions
    kind: table
    from: patients
    by: [sex]
    where: "diagnosis = 'yes' AND age >= 80"
    measures: [{count: true}]
    margins: true
    protect: {secondary: true}
    output: {path: out/admissions.csv}
ledger:
  cap: {epsilon: 4.0, delta: 1e-5}
  url: "sqlite:///ledger.db"
  datasets: {patients: {epsilon: 3, delta: 1e-5}}
  retention: P5Y
attacks:
  releases: [microdata]
  control: data/control.csv
  sample: 600
  confidence: 0.95
  singling_out: {combine: 2}
  linkability: {columns: [[age, sex], [months, diagnosis]], max_risk: 0.05}
  inference: {target: [diagnosis, months], knows: [age, sex], max_advantage: 0.05}
  record_linkage: {knows: [age, sex], max_risk: 0.06}
  membership: {knows: [age, sex], max_advantage: 0.05}
checks:
  - {id: UTIL-001, release: microdata, expect: suppressed_cells, max: 0.02}
  - {id: UTIL-002, release: microdata, expect: distribution_shift, column: age, max: 0.005}
waivers:
  - {check: UTIL-001, release: microdata, reason: known, owner: steward, approved_by: dpo, expires: 2026-12-31}
  - {check: UTIL-002, release: microdata, reason: known, owner: steward, approved_by: dpo, expires: 2026-12-31}
approvals: {required: [dpo, owner], keys: approvers.yaml}
tables: {min_count: 10, p_percent: 0.1}
legal:
  controller: {name: A registry, contact: steward}
  purposes: [{id: research, text: research}]
  retention: {source: P10Y, release: P5Y}
context: {release_model: controlled, population: {size: 8500, source: made}}
report: {editions: [internal, recipient]}
review: {next: 2027-01-15}
"""
LINES = POLICY.split("\n")
_TREE = parse_yaml(POLICY, "p.yaml")[0]
assert _TREE is not None

#: Names that the policy gives: another name is no fault of its own, but leaves those who use it dangling. And keys one letter from another.
NAMES = {("datasets", "patients"), ("threats", "external"), ("threats", "insider"), ("ledger", "datasets", "patients")}
OTHERS = {("releases", 0, "transform", 0, "suppress")}

Told = frozenset[tuple[str, int, str]]


@dataclass(frozen=True)
class Fault:
    """A text that stands for another one: at a line and column."""

    section: str
    name: str
    line: int
    column: int
    old: str
    new: str

    @property
    def where(self) -> str:
        return self.name.split()[0]

    def put(self, lines: list[str]) -> list[str]:
        line, at = lines[self.line - 1], self.column - 1
        assert line[at:].startswith(self.old)
        return [*lines[: self.line - 1], line[:at] + self.new + line[at + len(self.old) :], *lines[self.line :]]


@dataclass(frozen=True)
class Planted:
    """An error of meaning or reference: the text that it changes; sections and elements without which it cannot be told."""

    code: str
    old: str
    new: str
    about: frozenset[str]

    def put(self, lines: list[str]) -> list[str]:
        text = "\n".join(lines)
        assert text.count(self.old) == 1, self.old
        return text.replace(self.old, self.new).split("\n")


def _faults() -> list[Fault]:
    """Every key misspelt, and every value a mapping of unknown keys."""
    found = []
    for path, node in leaves(_TREE):
        section = str(path[0]) if path else ""
        for entry in node.entries.values() if isinstance(node, Mapping) else ():
            inside = (*path, entry.key)
            if inside in NAMES | OTHERS or (len(inside) == 4 and inside[2] == "columns"):
                continue
            wrong = entry.key[:-1] if len(entry.key) > 4 and entry.key != "columns" else entry.key + entry.key[-1]
            place = entry.location
            name = ".".join(map(str, inside))
            found.append(Fault(str(inside[0]), f"{name} misspelt", place.line, place.column, entry.key, wrong))
        if isinstance(node, Scalar):
            place = node.location
            old = node.text if LINES[place.line - 1][place.column - 1] != '"' else f'"{node.text}"'
            name = ".".join(map(str, path))
            found.append(Fault(section, f"{name} of a wrong shape", place.line, place.column, old, "{zz: [[]]}"))
    return found


FAULTS = _faults()
SECTIONS = sorted({fault.section for fault in FAULTS})

PLANTED = [
    Planted("P302", "target: [diagnosis, months]", "target: [diagnosiss, months]", frozenset({"attacks.inference", "attacks.releases", "datasets", "releases"})),
    Planted("P460", "knows: [age, sex], max_advantage: 0.05}\n  record", "knows: [months], max_advantage: 0.05}\n  record", frozenset({"attacks.inference"})),
    Planted("P403", "control: data/control.csv", "control: ../control.csv", frozenset({"attacks.control"})),
    Planted("P408", "check: UTIL-002", "check: UTIL-001", frozenset({"waivers", "checks"})),
    Planted("P305", "check: UTIL-002", "check: UTIL-003", frozenset({"waivers.1", "checks"})),
    Planted("P304", "check: UTIL-002, release: microdata", "check: UTIL-002, release: macrodata", frozenset({"waivers.1", "checks", "releases"})),
    Planted("P408", "required: [dpo, owner]", "required: [dpo, dpo]", frozenset({"approvals"})),
    Planted("P403", "keys: approvers.yaml", "keys: ../approvers.yaml", frozenset({"approvals"})),
    Planted("P104", "cap: {epsilon: 4.0, delta: 1e-5}", "cap: {epsilon: 4.0, delta: 1}", frozenset({"ledger"})),
    Planted("P430", "datasets: {patients: {epsilon: 3,", "datasets: {patients: {epsilon: 0.3,", frozenset({"ledger", "releases"})),
    Planted("P440", "min_count: 10", "min_count: 2", frozenset({"tables.min_count"})),
    Planted("P408", "knows: [months, diagnosis]\n    rec", "knows: [months, months]\n    rec", frozenset({"threats", "datasets"})),
    Planted("P303", "protect: [external, insider]", "protect: [external, outsider]", frozenset({"releases", "threats"})),
    Planted("P408", "frontier: [2, 3]", "frontier: [2, 2]", frozenset({"releases", "datasets"})),
    Planted("P403", "path: out/admissions.csv", "path: ../admissions.csv", frozenset({"releases"})),
    Planted("P418", "expect: suppressed_cells, max: 0.02", "expect: suppressed_cells", frozenset({"checks.0"})),
    Planted("P305", "expect: suppressed_cells", "expect: supressed_cells", frozenset({"checks.0"})),
    Planted("P302", "unit: {column: patient_id,", "unit: {column: person_id,", frozenset({"datasets"})),
]  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("policies")


def _told(place: Path, lines: list[str]) -> Told:
    """Code, line and message of every error."""
    (place / "p.yaml").write_text("\n".join(lines), encoding="utf-8")
    _, findings = check_policy(place / "p.yaml")
    return frozenset((f.code, f.location.line if f.location else 0, f.message) for f in findings if f.severity.value == "error")


def test_the_policy_has_no_fault_and_every_planted_error_is_one(place: Path) -> None:
    assert not _told(place, LINES)
    for planted in PLANTED:
        told = _told(place, planted.put(LINES))
        assert {code for code, _, _ in told} == {planted.code}, planted


@pytest.mark.parametrize("section", SECTIONS)
def test_a_fault_is_told_where_it_is_and_brings_no_other(place: Path, section: str) -> None:
    for fault in FAULTS:
        if fault.section == section:
            told = _told(place, fault.put(LINES))
            assert {line for _, line, _ in told} == {fault.line}, (fault.name, told)


@settings(
    max_examples=depth(30, 100), deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(fault=st.sampled_from(FAULTS), planted=st.sampled_from(PLANTED))
def test_a_fault_hides_no_error_of_another_element_and_adds_none(place: Path, fault: Fault, planted: Planted) -> None:
    if any(f"{fault.where}.".startswith(f"{part}.") or part.startswith(f"{fault.where}.") for part in planted.about):
        return
    alone = _told(place, fault.put(LINES)) | _told(place, planted.put(LINES))
    assert _told(place, planted.put(fault.put(LINES))) == alone
