"""The key `prefer` from the policy to the released file: counted again from the file, with Python's own dictionaries."""

from __future__ import annotations

import csv
import random
from collections import Counter

import pytest

POLICY = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: made
version: 1.0.0
title: Made-up
datasets:
  people:
    source: data.csv
    unit: rows
    columns:
      area: {role: quasi, type: category}
      job: {role: quasi, type: category}
      age: {role: quasi, type: integer}
      ill: {role: quasi, type: category}
threats:
  neighbour: {dataset: people, knows: [area, job, age], attacker: prosecutor, highest_risk: 0.25}
  colleague: {dataset: people, knows: [job, age, ill], attacker: prosecutor, highest_risk: 0.34}
releases:
  - id: rows
    kind: microdata
    from: people
    protect: [neighbour, colleague]
    transform: [{suppress: cells, limit: 0.6PREFER}]
    output: {path: out/rows.csv}
"""
THREATS = {("area", "job", "age"): 4, ("job", "age", "ill"): 3}


def people():
    """300 rows whose values are of unequal shares, some of them missing."""
    dice = random.Random(20)
    choices = {"area": "aaaabbc", "job": "pppqqrst", "age": [20, 20, 20, 30, 30, 40, 50, 60, 70], "ill": "xxxxxxyz"}
    rows = [[dice.choice(values) if dice.random() > 0.03 else "" for values in choices.values()] for _ in range(300)]
    return "\n".join(["area,job,age,ill", *(",".join(map(str, row)) for row in rows)]) + "\n"


def released(desk, prefer):
    desk.data(people())
    desk.policy(POLICY.replace("PREFER", prefer))
    ran = desk.run()
    assert ran.code == 0, ran.err
    text = (desk.folder / "out" / "rows.csv").read_text(encoding="utf-8")
    return text, list(csv.DictReader(text.splitlines()))


@pytest.mark.parametrize("prefer", ["cells", "balanced", "information"])
def test_every_threat_holds_on_the_released_file(desk, prefer):
    _, rows = released(desk, f", prefer: {prefer}")
    for known, k in THREATS.items():
        sizes = Counter(tuple(row[name] for name in known) for row in rows)
        assert min(sizes.values()) >= k, known
    cells = sum(value == "" for row in rows for value in row.values()) + 4 * (300 - len(rows))
    assert cells <= 0.6 * 4 * 300


def test_a_policy_that_says_nothing_prefers_cells(desk):
    assert released(desk, "")[0] == released(desk, ", prefer: cells")[0]


def test_another_preference_than_an_earlier_release_is_judged_with_it(desk):
    """Each file alone holds; who has both can single out records, which the audit refuses as it does for other changes of rules."""
    released(desk, ", prefer: cells")
    desk.policy(POLICY.replace("PREFER", ", prefer: information"))
    ran = desk.run()
    assert ran.code == 1
    assert "AUDIT-EARLIER-INTERSECT" in ran.err


def test_diff_calls_a_change_neutral_and_says_what_it_means_for_earlier_releases(desk):
    desk.policy(POLICY.replace("PREFER", ""))
    (desk.folder / "new.yaml").write_text(POLICY.replace("PREFER", ", prefer: information"), encoding="utf-8")
    said = desk("diff", "policy.yaml", "new.yaml")
    (line,) = [one for one in said.out.splitlines() if "prefer" in one]
    assert "neutral: " in line
    assert "cells becomes information; together with an earlier release of the same records" in line
    assert "single records out" in line
    assert "AUDIT-EARLIER-INTERSECT refuses" in line
    assert said.code == 0
