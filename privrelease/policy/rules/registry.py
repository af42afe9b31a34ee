"""Meaning: rules between the parts of a policy that is well formed. One function, one idea; all findings are returned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.policy.rules.approvals import approval_rules
from privrelease.policy.rules.attacks import attack_rules
from privrelease.policy.rules.checks import check_rules
from privrelease.policy.rules.datasets import dataset_rules
from privrelease.policy.rules.expectations import expectation_rules
from privrelease.policy.rules.frontier import frontier_rules
from privrelease.policy.rules.ledger import ledger_rules
from privrelease.policy.rules.releases import release_rules
from privrelease.policy.rules.statistics import statistics_rules
from privrelease.policy.rules.table_cycles import ring_rules
from privrelease.policy.rules.tables import table_rules
from privrelease.policy.rules.threats import threat_rules
from privrelease.policy.rules.waivers import waiver_rules

if TYPE_CHECKING:
    from privrelease.findings import Finding
    from privrelease.policy.rules.rule_context import RuleContext

__all__ = ["check_meaning"]

#: Every group of rules, each a function of a reading.
RULES = (
    dataset_rules,
    threat_rules,
    release_rules,
    frontier_rules,
    statistics_rules,
    table_rules,
    ring_rules,
    attack_rules,
    ledger_rules,
    check_rules,
    expectation_rules,
    waiver_rules,
    approval_rules,
)


def check_meaning(reading: RuleContext) -> tuple[Finding, ...]:
    """Return what all rules find."""
    return tuple(finding for rule in RULES for finding in rule(reading))
