"""Whatever is in a policy file, loading it ends in findings with places, never in a fault of ours."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from privrelease.findings import Severity
from privrelease.policy.loader import check_policy
from tests.depth import depth

if TYPE_CHECKING:
    from privrelease.findings import Finding

SOUND = """\
apiVersion: privrelease/v1
kind: ReleasePolicy
id: registry
version: 2.1.0
title: A registry
datasets:
  patients:
    source: data/patients.csv
    format: {decimal: ",", missing: ["", NA]}
    unit: {column: patient_id, max_rows: 1}
    columns:
      patient_id: {role: direct, type: string}
      age: {role: quasi, type: integer, domain: [18, 85]}
      sex: {role: quasi, type: category, domain: [F, M]}
      seen: {role: insensitive, type: date, domain: [2020-01-01, 2026-12-31], outside: drop}
threats:
  external:
    dataset: patients
    knows: [age, sex]
    highest_risk: 0.2
    records_at_risk: {above: 0.1, share: 0.5}
    also: {subsets: {up_to: 2, k: 3}}
releases:
  - id: microdata
    kind: microdata
    from: patients
    protect: [external]
    transform:
      - {pseudonymise: [patient_id], key: KEY}
      - {suppress: cells, limit: 0.05, weights: {age: 2}}
    output: {path: out/patients.parquet}
checks:
  - {id: UTIL-001, release: microdata, expect: suppressed_cells, max: 0.05}
legal: {profile: gdpr, retention: {source: P10Y}}
environments:
  ci: {datasets: {patients: {source: synthetic.csv}}, threats: {external: {highest_risk: 0.1}}}
"""
TOKENS = [
    *"{}[]:,-#?|>&*!%@`'\"\\\n\t ~=<",
    "- ", ": ", "null", "[]", "{}", "''", "*a", "&a ", "!!str ", "<<: ", "---\n", "%YAML 1.1\n", "\x00", "\x85", "\u2028", "\ufeff", "é",
    "\U0001f600", "20", "0.2", "-1", ".inf", ".nan", "1e999", "010", "9" * 80, "true", "NO", "id", "age", "..", "/", "out/", "*.csv", "$(x)",
]  # fmt: skip


def judged(content: bytes) -> tuple[Finding, ...]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "p.yaml"
        path.write_bytes(content)
        loaded, findings = check_policy(path)
        again, _ = check_policy(path, env="ci")
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    assert (loaded is None) == bool(errors)
    assert again is None or again.environment == "ci"
    for finding in findings:
        assert finding.location is not None
        assert finding.location.file.endswith("p.yaml")
        assert len(finding.message) < 800
        assert "\n" not in finding.message
        for leak in ("pydantic", "Input should", "input_value", "valid dictionary", "wrong type", "ruamel", "Traceback"):
            assert leak not in str(finding)
    assert list(findings) == sorted(findings, key=lambda finding: finding.location)
    return findings


@st.composite
def mutations(draw: st.DrawFn) -> str:
    text = SOUND
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        length = draw(st.integers(0, 12))
        token = draw(st.sampled_from(TOKENS))
        text = text[:start] + token + text[start + length :]
    return text


@given(mutations())
@settings(max_examples=depth(80, 250), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_mutated_policy_is_judged_at_its_places(text: str) -> None:
    judged(text.encode())


@given(st.text(st.one_of(st.sampled_from("{}[]:,-#?|>&*!'\"\n\t ab10.~"), st.characters()), max_size=60))
@example("? ? ? a")
@example("&a [*a]")
@example('"\\UFFFFFFFF"')
@example("a: |99\n x")
@example("- - - -\n -\n")
@settings(max_examples=depth(80, 250), deadline=None)
def test_any_text_is_judged(text: str) -> None:
    assert judged(text.encode("utf-8", "surrogatepass"))


@given(st.binary(max_size=60))
@settings(max_examples=depth(30, 100), deadline=None)
def test_any_bytes_are_judged(content: bytes) -> None:
    assert judged(content)


LINES = SOUND.splitlines(keepends=True)


@given(
    st.lists(st.sampled_from(range(len(LINES))), min_size=1, max_size=3), st.sampled_from(["drop", "double", "indent", "swap"])
)
@settings(max_examples=depth(50, 150), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_policy_with_lines_lost_doubled_or_moved_is_judged(numbers: list[int], action: str) -> None:
    lines = list(LINES)
    for number in sorted(set(numbers), reverse=True):
        match action:
            case "drop":
                del lines[number]
            case "double":
                lines.insert(number, lines[number])
            case "indent":
                lines[number] = "  " + lines[number]
            case _:
                lines.insert(0, lines.pop(number))
    judged("".join(lines).encode())
