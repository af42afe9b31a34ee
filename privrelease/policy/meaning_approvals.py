"""Rules of approvals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.policy.context import twice
from privrelease.policy.paths import PathFault
from privrelease.policy.wording import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from privrelease.findings import Finding
    from privrelease.policy.context import Reading

__all__ = ["approval_rules"]


def approval_rules(reading: Reading) -> Iterator[Finding]:
    """Yield what is wrong with the approvals that a policy requires. The file of keys itself is read when it is used."""
    approvals = reading.policy.approvals
    if approvals is None:
        return
    for number, role in twice(approvals.required):
        yield reading.error("P408", f"role {shown(role)} is required twice", "approvals", "required", number, hint="keep one")
    try:
        reading.roots.inside(approvals.keys, reading.roots.folder)
    except PathFault as fault:
        yield reading.error(fault.code or "P403", fault.message, "approvals", "keys", hint=fault.hint)
