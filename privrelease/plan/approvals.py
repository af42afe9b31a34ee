"""Approvals as publication needs them.

Waivers as the audit applies them.

The ledger in a plan: where it is and what the policy would spend of it at most.

The log of publications in a plan.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from datetime import date
    from pathlib import Path

    from privrelease.dp.budget import Budget
    from privrelease.findings import Location

__all__ = ["ApprovalsPlan", "LedgerPlan", "PublicationsPlan", "WaiverPlan"]


@dataclass(frozen=True, slots=True)
class ApprovalsPlan:
    """Roles that must each sign, and the file of approvers' keys (``label``: as the policy writes it)."""

    required: tuple[str, ...]
    keys: Path
    label: str


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


@dataclass(frozen=True, slots=True)
class LedgerPlan:
    """``url``: as the policy writes it, a file relative to the policy; ``cap``: the policy's, for each population it draws from.

    ``dataset_caps``: of single datasets. ``retention``: how long stored answers are kept (ISO 8601; None: as long as the ledger).
    """

    url: str
    cap: Budget
    location: Location | None = None
    dataset_caps: tuple[tuple[str, Budget], ...] = ()
    retention: str | None = None


@dataclass(frozen=True, slots=True)
class PublicationsPlan:
    """The place where every publication is recorded: a file (``label``: as the policy writes it), or the ledger (``path`` None)."""

    path: Path | None
    label: str
