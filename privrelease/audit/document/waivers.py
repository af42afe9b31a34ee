"""Section 14 of ``audit.json``: the waivers of a release, those that count and those that do not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from privrelease.documents import Document

if TYPE_CHECKING:
    from privrelease.audit.document.model import AuditResult

__all__ = ["SECTION", "WaiverFacts", "WaiverRecord", "waiver_facts"]

SECTION = "14"


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
        """Whether it lets a failed check pass."""
        return self.state == "open"


class WaiverFacts(Document):
    """All waivers of one release, in the policy's order."""

    waivers: tuple[WaiverRecord, ...]


def waiver_facts(audit: AuditResult) -> WaiverFacts | None:
    """Return section 14 of an audit, also of one that was read from a file; None where it has none."""
    section = audit.sections.get(SECTION)
    return None if section is None else WaiverFacts.model_validate(section)
