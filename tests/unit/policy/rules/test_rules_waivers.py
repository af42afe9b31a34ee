"""Rules of who answers: approvers, roles, waivers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.policy.rules.rule_table import Rule, named

if TYPE_CHECKING:
    from collections.abc import Callable

RULES = [
    Rule(
        "approvers' keys outside the policy's folder",
        (("checks:", "approvals: {required: [dpo], keys: ../approvers.yaml}\nchecks:"),),
        [
            "p.yaml:28:36: P403 ../approvers.yaml is outside the policy's folder\nhint: move it below, or name its folder with --data-root",
        ],
        (("checks:", "approvals: {required: [dpo], keys: approvers.yaml}\nchecks:"),),
    ),
    Rule(
        "a role that is required twice",
        (("checks:", "approvals: {required: [dpo, dpo], keys: approvers.yaml}\nchecks:"),),
        [
            "p.yaml:28:29: P408 role dpo is required twice\nhint: keep one",
        ],
        (("checks:", "approvals: {required: [dpo, steward], keys: approvers.yaml}\nchecks:"),),
    ),
    Rule(
        "a waiver of a check that does not exist",
        (
            (
                "checks:",
                "waivers: [{check: UTIL-002, release: microdata, reason: known, owner: steward, approved_by: dpo, expires: 2026-12-31}]\nchecks:",
            ),
        ),
        [
            "p.yaml:28:19: P305 check UTIL-002 does not exist\nhint: did you mean UTIL-001?",
        ],
        (
            (
                "checks:",
                "waivers: [{check: UTIL-001, release: microdata, reason: known, owner: steward, approved_by: dpo, expires: 2026-12-31}]\nchecks:",
            ),
        ),
    ),
    Rule(
        "a waiver of a threshold",
        (
            (
                "checks:",
                "waivers: [{check: external, release: microdata, reason: known, owner: steward, approved_by: dpo, expires: 2026-12-31}]\nchecks:",
            ),
        ),
        [
            "p.yaml:28:19: P419 external cannot be waived: only a check of this policy can\nhint: a threshold is changed in its threat; what guards the release itself always counts",
        ],
        (
            (
                "checks:",
                "waivers: [{check: UTIL-001, release: microdata, reason: known, owner: steward, approved_by: dpo, expires: 2026-12-31}]\nchecks:",
            ),
        ),
    ),
    Rule(
        "a waiver of what guards the release",
        (
            (
                "checks:",
                "waivers: [{check: AUDIT-CELLS, release: microdata, reason: known, owner: steward, approved_by: dpo, expires: 2026-12-31}]\nchecks:",
            ),
        ),
        [
            "p.yaml:28:19: P419 AUDIT-CELLS cannot be waived: only a check of this policy can\nhint: a threshold is changed in its threat; what guards the release itself always counts",
        ],
        (
            (
                "checks:",
                "waivers: [{check: UTIL-001, release: microdata, reason: known, owner: steward, approved_by: dpo, expires: 2026-12-31}]\nchecks:",
            ),
        ),
    ),
    Rule(
        "a waiver for a release that does not exist",
        (
            (
                "checks:",
                "waivers: [{check: UTIL-001, release: other, reason: known, owner: steward, approved_by: dpo, expires: 2026-12-31}]\nchecks:",
            ),
        ),
        [
            "p.yaml:28:38: P304 release other does not exist\nhint: there is: microdata",
        ],
        (
            (
                "checks:",
                "waivers: [{check: UTIL-001, release: microdata, reason: known, owner: steward, approved_by: dpo, expires: 2026-12-31}]\nchecks:",
            ),
        ),
    ),
    Rule(
        "a waiver that its owner approved",
        (
            (
                "checks:",
                "waivers: [{check: UTIL-001, release: microdata, reason: known, owner: role:DPO, approved_by: role:dpo, expires: 2026-12-31}]\nchecks:",
            ),
        ),
        [
            "p.yaml:28:94: P611 warn: the waiver of UTIL-001 is approved by its owner and does not count\nhint: let somebody else approve it",
        ],
        (
            (
                "checks:",
                "waivers: [{check: UTIL-001, release: microdata, reason: known, owner: steward, approved_by: dpo, expires: 2026-12-31}]\nchecks:",
            ),
        ),
    ),
    Rule(
        "a waiver without an end",
        (
            (
                "checks:",
                "waivers: [{check: UTIL-001, release: microdata, reason: known, owner: steward, approved_by: dpo}]\nchecks:",
            ),
        ),
        [
            "p.yaml:28:11: P201 expires is missing in item 1 of waivers",
        ],
        (
            (
                "checks:",
                "waivers: [{check: UTIL-001, release: microdata, reason: known, owner: steward, approved_by: dpo, expires: 2026-12-31}]\nchecks:",
            ),
        ),
    ),
    Rule(
        "two waivers of one check",
        (
            (
                "checks:",
                "waivers: [{check: UTIL-001, release: microdata, reason: known, owner: steward, approved_by: dpo, expires: 2026-12-31}, {check: UTIL-001, release: microdata, reason: again, owner: a, approved_by: b, expires: 2027-12-31}]\nchecks:",
            ),
        ),
        [
            "p.yaml:28:128: P408 two waivers are about check UTIL-001 of release microdata\nhint: keep one of them",
        ],
        (
            (
                "checks:",
                "waivers: [{check: UTIL-001, release: microdata, reason: known, owner: steward, approved_by: dpo, expires: 2026-12-31}]\nchecks:",
            ),
        ),
    ),
]


@pytest.mark.parametrize("rule", RULES, ids=named)
def test_a_broken_rule_is_told_at_its_place_and_a_kept_one_is_not(rule: Rule, tried: Callable[[Rule], None]) -> None:
    tried(rule)
