"""Approvals as publication needs them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["ApprovalsPlan"]


@dataclass(frozen=True, slots=True)
class ApprovalsPlan:
    """Roles that must each sign, and the file of approvers' keys (``label``: as the policy writes it)."""

    required: tuple[str, ...]
    keys: Path
    label: str
