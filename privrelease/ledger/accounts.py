"""Accounts of a ledger: what a population, or a dataset, may spend and has spent."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from privrelease.dp.budget import Budget
from privrelease.units import Epsilon

if TYPE_CHECKING:
    from datetime import datetime

    from privrelease.ledger.protocol import Claim

__all__ = ["Account", "Spent"]


@dataclass(frozen=True, slots=True)
class Spent:
    """A reservation."""

    sequence: int
    at: datetime
    claim: Claim


@dataclass(slots=True)
class Account:
    """What a population, or a dataset, may spend and has spent. ``entry``: hash of the entry that set the cap."""

    name: str
    cap: Budget | None
    entry: str
    spent: list[Spent] = field(default_factory=list)
    total: Budget = field(default_factory=lambda: Budget(Epsilon(0)))

    def add(self, spent: Spent) -> None:
        """Count a reservation."""
        self.spent.append(spent)
        self.total = self.total + spent.claim.cost

    @property
    def spenders(self) -> tuple[tuple[str, Budget], ...]:
        """Releases and what each spent, oldest first."""
        return tuple((one.claim.release, one.claim.cost) for one in self.spent)
