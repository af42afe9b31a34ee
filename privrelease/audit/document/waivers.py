"""Field ``waivers`` of ``audit.json``: the waivers of a release, those that count and those that do not."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from privrelease.documents import Document

__all__ = ["WaiverFacts", "WaiverRecord"]


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
