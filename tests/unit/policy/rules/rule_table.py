"""A line of the tables of rules, and the texts that several tables change."""

from __future__ import annotations

from dataclasses import dataclass

RISK = "highest_risk: 0.2"
STEP = "      - {suppress: cells, limit: 0.05, weights: {age: 2}}"
SOURCE = "data/patients.csv"
TABLE = """\
  - id: admissions
    kind: table
    from: patients
    by: [sex]
    measures: [{count: true}, {sum: glucose}]
    margins: true
    protect: {min_count: 10}
    output: out/admissions.csv
"""

Changes = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Rule:
    """A policy that breaks a rule, the findings word for word, and a policy close to it that keeps the rule."""

    name: str
    breaks: Changes
    says: list[str]
    keeps: Changes


def named(rule: Rule) -> str:
    """The name as a test's id."""
    return rule.name.replace(" ", "-")
