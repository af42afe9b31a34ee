"""Section 15: which approvals the release needs, and who gave them over which digests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.report.view.edition import Edition
from privrelease.report.view.page import Absent, Fact
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from privrelease.report.view.page import Context, Status

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
    """Required roles first, in the policy's order, then further approvals; the officer's advice where the policy states it."""

    rows: tuple[SignoffRow, ...]
    advice: tuple[Fact, ...]


def build(context: Context) -> SignoffBody | Absent:
    """Show who signed what; recipients are informed that this stays with the controller."""
    texts = context.catalogue
    if context.edition is Edition.RECIPIENT:
        return Absent(texts.text("signoff.recipient"))
    facts, advice = context.audit.signoff, _advice(context)
    if facts is None:
        return SignoffBody((), advice) if advice else Absent(texts.text("signoff.absent"))
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
    rows = sorted((*given, *missing), key=lambda row: (order.get(row.role, len(order)), row.role, row.key))
    return SignoffBody(tuple(rows), advice)


def _advice(context: Context) -> tuple[Fact, ...]:
    stated, texts = context.audit.legal.stated, context.catalogue
    found = ((name, stated.get(f"dpia.dpo_advice.{name}")) for name in ("text", "author", "date", "followed"))
    return tuple(Fact(texts.text(f"signoff.advice_{name}"), (value,)) for name, value in found if isinstance(value, str))
