"""The English texts of sections 14 to 16: waivers, sign-off, review."""

from __future__ import annotations

from typing import Final

__all__ = ["ENGLISH_APPROVAL"]

ENGLISH_APPROVAL: Final[dict[str, str]] = {
    "waivers.heading": "Waivers",
    "waivers.basis": "policy",
    "waivers.state.open": "open: lets the failed check pass",
    "waivers.state.unused": "not needed: the check did not fail",
    "waivers.state.expired": "expired: does not count",
    "waivers.state.self_approved": "approved by its owner: does not count",
    "waivers.caption": "A waiver lets one failed check pass for a time; it changes nothing that was measured.",
    "waivers.reason": "Reason",
    "waivers.owner": "Owner",
    "waivers.approved_by": "Approved by",
    "waivers.expires": "Until",
    "waivers.recipient": "Waivers let these failed checks pass: {checks}. Their reasons stay with the controller.",
    "waivers.absent": "No waiver is recorded: every failed check counts.",
    "waivers.elsewhere": "Waivers, where the policy has any, are on record with the controller.",
    "signoff.heading": "Sign-off",
    "signoff.basis": "ICO step 7",
    "signoff.absent": "The policy requires no approval; none is recorded.",
    "signoff.recipient": "Approvals, where the policy requires any, are on record with the controller.",
    "signoff.caption": "Approvals are signatures over the digests of policy, files and audit.",
    "signoff.advice": "Advice of the data-protection officer (Art. 35(2) GDPR)",
    "signoff.advice_text": "Advice",
    "signoff.advice_followed": "Followed",
    "signoff.role": "Role",
    "signoff.approver": "Approved by",
    "signoff.signed_at": "Signed at",
    "signoff.digests": "Over",
    "signoff.key": "key",
    "signoff.manifest": "manifest",
    "signoff.audit": "audit",
    "signoff.given": "approved",
    "signoff.missing": "not approved yet",
    "review.heading": "Review",
    "review.basis": "ICO",
    "review.next": "Next review",
    "review.triggers": "Triggers",
    "review.caption": "When this release is to be looked at again.",
}
