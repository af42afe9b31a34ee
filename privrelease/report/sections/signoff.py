"""Section 15: which approvals the release needs, and who gave them over which digests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from privrelease.audit.signoff_model import signoff_facts
from privrelease.report.edition import Edition
from privrelease.report.view import Absent

if TYPE_CHECKING:
    from privrelease.report.view import Context, Status

__all__ = ["SignoffBody", "SignoffRow", "build"]


@dataclass(frozen=True, slots=True)
class SignoffRow:
    """A required role, and its approval where there is one."""

    role: str
    status: Status
    state: str
    approver: str
    signed_at: str
    key: str
    manifest: str
    audit: str


@dataclass(frozen=True, slots=True)
class SignoffBody:
    """Required roles first, in the policy's order, then further approvals."""

    rows: tuple[SignoffRow, ...]


def build(context: Context) -> SignoffBody | Absent:
    """Show who signed what; recipients are told that this stays with the controller."""
    texts = context.catalogue
    if context.edition is Edition.RECIPIENT:
        return Absent(texts.text("signoff.recipient"))
    facts = signoff_facts(context.audit)
    if facts is None:
        return Absent(texts.text("signoff.absent"))
    given = [
        SignoffRow(
            one.role,
            "pass",
            texts.text("signoff.given"),
            one.approver,
            one.signed_at,
            one.key,
            one.manifest_sha256,
            one.audit_sha256,
        )
        for one in facts.approvals
    ]
    missing = [SignoffRow(role, "review", texts.text("signoff.missing"), "", "", "", "", "") for role in facts.missing]
    order = {role: number for number, role in enumerate(facts.required)}
    return SignoffBody(tuple(sorted((*given, *missing), key=lambda row: (order.get(row.role, len(order)), row.role, row.key))))
