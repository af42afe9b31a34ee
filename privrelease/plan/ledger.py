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
    """``url``: as the policy writes it, a file relative to the policy; ``cap``: the policy's, for each population it draws from.

    ``dataset_caps``: of single datasets. ``retention``: how long stored answers are kept (ISO 8601; None: as long as the ledger).
    """

    url: str
    cap: Budget
    location: Location | None = None
    dataset_caps: tuple[tuple[str, Budget], ...] = ()
    retention: str | None = None
