"""The log of publications in a plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["PublicationsPlan"]


@dataclass(frozen=True, slots=True)
class PublicationsPlan:
    """Where every publication is recorded: a file (``label``: as the policy writes it), or the ledger (``path`` None)."""

    path: Path | None
    label: str
