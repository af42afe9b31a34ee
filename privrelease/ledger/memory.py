"""A ledger that forgets: for tests and for ``--test-noise``, whose output is never published."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from privrelease.errors import BudgetError
from privrelease.ledger.protocol import Balance, Head, Reservation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from privrelease.dp.budget import Budget
    from privrelease.ledger.protocol import Claim

__all__ = ["MemoryLedger"]


class MemoryLedger:
    """Keeps claims and answers in this process. ``cap`` None: no limit."""

    def __init__(self, cap: Budget | None = None, *, identity: str = "memory") -> None:
        self._cap = cap
        self._claims: list[Claim] = []
        self._answers: dict[str, bytes] = {}
        self._open: set[str] = set()
        self._head = Head(identity, 0, hashlib.sha256(identity.encode()).hexdigest())

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Everything that was reserved."""
        return tuple(self._claims)

    def reserve(self, claim: Claim) -> Reservation:
        """Spend the claim, or raise BudgetError."""
        balance = self.balance(claim.population)
        if self._cap is not None and not (balance.spent + claim.cost).fits(self._cap):
            raise BudgetError(
                code="L120", message="the budget that is left does not cover this release", hint="lower its epsilon or delta"
            )
        for other in self._claims:
            same = (other.dataset, other.snapshot) == (claim.dataset, claim.snapshot) and claim.snapshot is not None
            if same and other.content != claim.content:
                message = f"the snapshot of {claim.dataset} has another content than when it was first used"
                raise BudgetError(code="L121", message=message, hint="give new data a new `snapshot` label")
        self._claims.append(claim)
        entry = json.dumps([self._head.hash, [draw.record() for draw in claim.draws]], sort_keys=True)
        self._head = Head(self._head.ledger, self._head.sequence + 1, hashlib.sha256(entry.encode()).hexdigest())
        reservation = Reservation(str(self._head.sequence), claim, self._head)
        self._open.add(reservation.id)
        return reservation

    def commit(self, reservation: Reservation, answers: Mapping[str, bytes]) -> None:
        """Store the answers."""
        self._open.remove(reservation.id)
        self._answers.update(answers)

    def answer(self, query: str) -> bytes | None:
        """Return a stored answer."""
        return self._answers.get(query)

    def balance(self, population: str) -> Balance:
        """Return what is spent."""
        spent = tuple((claim.release, claim.cost) for claim in self._claims if claim.population == population)
        return Balance.of(population, self._cap, spent)

    def head(self) -> Head:
        """Return the last entry."""
        return self._head
