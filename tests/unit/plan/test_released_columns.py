"""What a check on a table's file may look at is what the file has: the policy's reading and the plan's agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.plan.build import build_plan
from privrelease.policy.language.kinds import KINDS
from privrelease.policy.loader import load_policy
from privrelease.policy.release_kind import kind_of

if TYPE_CHECKING:
    from pathlib import Path

POLICY = """\
apiVersion: privrelease/v1
kind: ReleasePolicy
id: made
version: 1.0.0
title: Made-up
datasets:
  d:
    source: data.csv
    columns:
      area: {role: quasi, type: category, domain: [north, south]}
      year: {role: quasi, type: integer, domain: [2020, 2021]}
      pay: {role: sensitive, type: integer, domain: [0, 9]}
      dose: {role: sensitive, type: number, domain: [0, 9], grid: 0.1}
      whole: {role: sensitive, type: number, domain: [0, 9], grid: 1}
releases:
  - id: t
    kind: table
    from: d
    by: [area, year]
    measures: [{count: true}, {count: true, weight: dose}, {sum: pay}, {mean: pay}, {sum: dose}, {mean: dose}, {sum: whole}]
    protect: {min_count: 3}
    output: out/t.csv
"""


def test_the_columns_of_a_table_are_those_of_its_plan(tmp_path: Path) -> None:
    file = tmp_path / "p.yaml"
    (tmp_path / "years.csv").write_text("year\n2020\n2021\n", encoding="utf-8")
    file.write_text(POLICY.replace("    measures", "    keys: {year: years.csv}\n    measures"), encoding="utf-8")
    loaded = load_policy(file)
    (plan,) = build_plan(loaded).releases
    (release,) = loaded.policy.releases
    seen = kind_of(release, KINDS).columns(release, loaded.policy.datasets["d"])
    assert [(name, kind.value) for name, kind in seen.items()] == list(plan.columns)
    assert {seen["sum_whole"].value, seen["mean_pay"].value, seen["weighted_count_dose"].value} == {"integer", "number"}
