from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from privrelease.policy.loader import check_policy

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from privrelease.findings import Finding
    from privrelease.policy.loader import LoadedPolicy
    from tests.unit.policy.rules.rule_table import Rule

#: A policy without a fault or warning; tests change one thing in it.
SOUND = """\
apiVersion: privrelease/v1
kind: ReleasePolicy
id: registry
version: 2.1.0
title: A registry
datasets:
  patients:
    source: data/patients.csv
    unit: {column: patient_id, max_rows: 1}
    columns:
      patient_id: {role: direct, type: string}
      age: {role: quasi, type: integer, domain: [18, 85]}
      sex: {role: quasi, type: category, domain: [F, M]}
      glucose: {role: sensitive, type: number, domain: [50, 400], grid: 0.1}
threats:
  external:
    dataset: patients
    knows: [age, sex]
    highest_risk: 0.2
releases:
  - id: microdata
    kind: microdata
    from: patients
    protect: [external]
    transform:
      - {suppress: cells, limit: 0.05, weights: {age: 2}}
    output: out/patients.parquet
checks:
  - {id: UTIL-001, release: microdata, expect: suppressed_cells, max: 0.05}
"""


def changed(*changes: tuple[str, str], base: str = SOUND) -> str:
    """The sound policy with texts replaced; each must occur once."""
    for old, new in changes:
        assert base.count(old) == 1, f"{old!r} occurs {base.count(old)} times"
        base = base.replace(old, new)
    return base


@dataclass
class Folder:
    """A folder of policies; `check` writes the texts and returns the findings of p.yaml as text, places without the folder."""

    path: Path

    def load(
        self, text: str | bytes, *, env: str | None = None, data_root: Path | None = None, **others: str
    ) -> tuple[LoadedPolicy | None, tuple[Finding, ...]]:
        for name, content in {"p": text, **others}.items():
            data = content if isinstance(content, bytes) else content.encode()
            (self.path / f"{name}.yaml").write_bytes(data)
        return check_policy(self.path / "p.yaml", env=env, data_root=data_root)

    def check(self, text: str | bytes, **options: object) -> list[str]:
        _, findings = self.load(text, **options)  # type: ignore[arg-type]
        return [str(finding).replace(f"{self.path}/", "") for finding in findings]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


@pytest.fixture
def sound() -> str:
    return SOUND


@pytest.fixture
def change() -> object:
    return changed


def codes(findings: list[str]) -> set[str]:
    return {finding.split()[1] for finding in findings}


@pytest.fixture
def tried(folder: Folder) -> Callable[[Rule], None]:
    """Try a rule: what breaks it is told word for word, and what keeps it gives at most warnings of other rules."""

    def of(rule: Rule) -> None:
        assert folder.check(changed(*rule.breaks)) == rule.says
        kept = folder.check(changed(*rule.keeps))
        assert not codes(kept) & codes(rule.says)
        assert all(": P6" in finding or " P6" in finding for finding in kept), kept

    return of
