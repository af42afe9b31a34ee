"""Rules of approvals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.policy.rules.rule_context import duplicates
from privrelease.policy.text.messages import shown
from privrelease.policy.validation.paths import PathFault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from privrelease.findings import Finding
    from privrelease.policy.rules.rule_context import RuleContext

__all__ = ["approval_rules"]


def approval_rules(reading: RuleContext) -> Iterator[Finding]:
    """Yield what is wrong with the approvals that a policy requires. The file of keys itself is read when it is used."""
    approvals = reading.policy.approvals
    if approvals is None:
        return
    for number, role in duplicates(approvals.required):
        yield reading.error("P408", f"role {shown(role)} is required twice", "approvals", "required", number, hint="keep one")
    try:
        reading.roots.inside(approvals.keys, reading.roots.folder)
    except PathFault as fault:
        yield reading.error(fault.code or "P403", fault.message, "approvals", "keys", hint=fault.hint)
