"""Field ``signoff`` of ``audit.json``: which approvals a release needs, and those it has.

The audit is what is signed, so it can only say what is needed. Approvals are kept next to it (``signoff.json`` in the run's
folder) and laid over it where a report is rendered.

Field ``waivers`` of ``audit.json``: the waivers of a release, those that count and those that do not.
"""

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from privrelease.documents import Document

if TYPE_CHECKING:
    from privrelease.audit.document.model import AuditResult

__all__ = ["SignoffFacts", "SignoffRecord", "WaiverFacts", "WaiverRecord", "with_signoff"]


class SignoffRecord(Document):
    """An approval that counts: by whom, in which role, when, with which key, over which digests."""

    role: str
    approver: str
    signed_at: str
    key: str
    manifest_sha256: str
    audit_sha256: str


class SignoffFacts(Document):
    """Required roles and the approvals there are."""

    required: tuple[str, ...]
    approvals: tuple[SignoffRecord, ...] = ()

    @property
    def missing(self) -> tuple[str, ...]:
        """Required roles that no one signed for."""
        signed = {one.role for one in self.approvals}
        return tuple(role for role in self.required if role not in signed)


def with_signoff(audit: "AuditResult", facts: SignoffFacts | None) -> "AuditResult":
    """Return the audit with its approvals."""
    return audit if facts is None else audit.model_copy(update={"signoff": facts})


class WaiverRecord(Document):
    """A waiver as the policy states it, and what became of it.

    ``state``: ``open`` lets the failed check pass; ``unused`` the check did not fail; ``expired`` and ``self_approved`` do not count.
    """

    check: str
    reason: str
    owner: str
    approved_by: str
    expires: str
    state: Literal["open", "unused", "expired", "self_approved"]
    file: str | None = None
    line: int = 0
    column: int = Field(default=0, exclude_if=lambda column: not column)

    @property
    def counts(self) -> bool:
        """Return True if it lets a failed check pass."""
        return self.state == "open"


class WaiverFacts(Document):
    """All waivers of one release, in the policy's order."""

    waivers: tuple[WaiverRecord, ...]
