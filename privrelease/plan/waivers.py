"""Waivers as the audit applies them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import date

    from privrelease.findings import Location

__all__ = ["WaiverPlan"]


@dataclass(frozen=True, slots=True)
class WaiverPlan:
    """A failed check of one release that is let pass up to and including the day ``expires`` (UTC).

    ``self_approved``: owner and approver are the same, so that it does not count.
    """

    check: str
    release: str
    reason: str
    owner: str
    approved_by: str
    expires: date
    self_approved: bool
    location: Location | None = None
