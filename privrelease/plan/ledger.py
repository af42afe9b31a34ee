"""The ledger in a plan: where it is and what the policy would spend of it at most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from privrelease.dp.budget import Budget
    from privrelease.findings import Location

__all__ = ["LedgerPlan"]


@dataclass(frozen=True, slots=True)
class LedgerPlan:
    """``url``: as the policy writes it, a file relative to the policy; ``cap``: the policy's, for each population it draws from."""

    url: str
    cap: Budget
    location: Location | None = None
