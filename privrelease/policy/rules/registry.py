"""Meaning: rules between the parts of a policy that is well formed. One function, one idea; all findings are returned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.policy.hierarchies.step_rules import hierarchy_rules
from privrelease.policy.rules.approvals import approval_rules, waiver_rules
from privrelease.policy.rules.attacks import attack_rules
from privrelease.policy.rules.checks import check_rules
from privrelease.policy.rules.datasets import dataset_rules
from privrelease.policy.rules.expectations import expectation_rules
from privrelease.policy.rules.impact_assessment import impact_rules
from privrelease.policy.rules.ledger import ledger_rules
from privrelease.policy.rules.outputs import output_rules
from privrelease.policy.rules.publications import publication_rules
from privrelease.policy.rules.recipients import recipient_id_rules
from privrelease.policy.rules.threats import threat_rules

if TYPE_CHECKING:
    from privrelease.findings import Finding
    from privrelease.policy.rules.rule_context import RuleContext

__all__ = ["check_meaning"]

#: Every group of rules that all kinds of release share, each a function of a reading; those of one kind stand in ``kinds.KINDS``.
RULES = (
    dataset_rules,
    hierarchy_rules,
    threat_rules,
    output_rules,
    attack_rules,
    ledger_rules,
    check_rules,
    expectation_rules,
    waiver_rules,
    approval_rules,
    publication_rules,
    recipient_id_rules,
    impact_rules,
)


def check_meaning(reading: RuleContext) -> tuple[Finding, ...]:
    """Return what all rules find."""
    common = [finding for rule in RULES for finding in rule(reading)]
    own = [finding for kind in reading.kinds for rule in kind.rules for finding in rule(reading, reading.releases(kind))]
    return (*common, *own)
