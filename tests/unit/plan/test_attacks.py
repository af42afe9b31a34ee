"""Attacks of a policy as the audit tries them."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from privrelease.plan.build import build_plan
from privrelease.plan.explain import explain
from privrelease.policy.loader import load_policy

if TYPE_CHECKING:
    from pathlib import Path

POLICY = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: made
version: 1.0.0
title: Made-up
datasets:
  d:
    source: d.csv
    format: {{delimiter: ";"}}
    unit: {{column: id, max_rows: 1}}
    columns:
      id: {{role: direct, type: string}}
      age: {{role: quasi, type: integer}}
      sex: {{role: quasi, type: category}}
      card: {{role: insensitive, type: string}}
      ill: {{role: sensitive, type: category}}
threats:
  t: {{dataset: d, knows: [age, sex], highest_risk: 0.2}}
releases:
  - id: r
    kind: microdata
    from: d
    protect: [t]
    transform: [{{pseudonymise: [card], key: KEY}}]
    output: out/r.csv
attacks: {{{attacks}}}
"""


@pytest.fixture
def planned(tmp_path: Path):
    def plan(attacks: str, changes: tuple[tuple[str, str], ...] = ()):
        text = POLICY.format(attacks=attacks)
        for old, new in changes:
            text = text.replace(old, new)
        (tmp_path / "p.yaml").write_text(text, encoding="utf-8")
        return build_plan(load_policy(tmp_path / "p.yaml"))

    return plan


def test_columns_that_are_not_named_are_those_that_leave_as_they_are(planned):
    (release,) = planned("singling_out: {}, linkability: {}, inference: {target: sex}, record_linkage: {}").releases
    attacks = release.attacks
    assert attacks.columns == ("age", "sex", "ill")
    assert attacks.singling_out.columns == ("age", "sex", "ill")
    assert (attacks.linkability.first, attacks.linkability.second) == (("age", "sex"), ("ill",))
    assert [(guess.target, guess.knows) for guess in attacks.inference] == [("sex", ("age",))]
    assert attacks.record_linkage.knows == ("age", "sex")
    assert attacks.membership is None


def test_files_of_attacks_are_read_like_the_data_and_only_what_is_needed(planned):
    (release,) = planned("control: h.csv, linkability: {auxiliary: aux.parquet}, membership: {}").releases
    control, listed = release.attacks.sources
    assert [column.name for column in control.columns] == ["id", "age", "sex", "ill"]
    assert [column.name for column in listed.columns] == ["id", "age", "sex"]
    assert (control.format.delimiter, control.unlisted_columns, listed.kind.value) == (";", "drop", "parquet")


def test_limits_are_exact_and_stand_at_their_line(planned):
    (release,) = planned(
        "confidence: 0.99, singling_out: {max_risk: 0.1}, inference: {target: [ill], max_advantage: 0.05}"
    ).releases
    assert release.attacks.confidence == Fraction(99, 100)
    assert release.attacks.singling_out.limits.max_risk == Fraction(1, 10)
    assert release.attacks.inference[0].limits.max_advantage == Fraction(1, 20)
    assert release.attacks.singling_out.limits.location.line == 26


def test_releases_that_are_not_named_are_not_attacked(planned):
    other = "  - {id: other, kind: microdata, from: d, protect: [t], columns: [age, sex], output: out/other.csv}\nattacks:"
    plan = planned("releases: [r], record_linkage: {}", (("attacks:", other),))
    assert [release.attacks is None for release in plan.releases] == [False, True]


def test_a_plan_says_its_attacks_and_limits(planned):
    said = explain(planned("singling_out: {max_risk: 0.1}, inference: {target: ill}, record_linkage: {max_advantage: 0.2}"))
    assert said.releases[0].attacks == (
        "singling out by one column and by 3 of age, sex, ill: risk at most 0.1",
        "guessing ill from age, sex: no limit, for information",
        "finding a person's record by age, sex: advantage at most 0.2",
    )
    assert "  attack  guessing ill from age, sex: no limit, for information" in said.as_lines()
