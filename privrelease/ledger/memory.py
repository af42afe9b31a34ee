"""A ledger that forgets: for tests and for ``--test-noise``, whose output is never published."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from privrelease.ledger.accounts import Account
from privrelease.ledger.caps import before
from privrelease.ledger.entries import claim_record, commit_record, read_claim
from privrelease.ledger.protocol import Reservation
from privrelease.ledger.state import Book

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from privrelease.dp.budget import Budget
    from privrelease.dp.envelope_records import EnvelopeDraw
    from privrelease.ledger.protocol import Balance, Claim, Head

__all__ = ["MemoryLedger"]

#: Without a clock it is always the same moment, so that what is made for tests repeats.
_ALWAYS: Final = datetime(1970, 1, 1, tzinfo=UTC)


class MemoryLedger:
    """Keeps the same entries as any ledger, in this process. Every population has ``cap`` (None: no limit) and need not be named before.

    >>> MemoryLedger().head().sequence
    0
    """

    def __init__(
        self, cap: Budget | None = None, *, identity: str = "memory", clock: Callable[[], datetime] = lambda: _ALWAYS
    ) -> None:
        self._cap = cap
        self._clock = clock
        self._book = Book()
        self._stored: dict[str, bytes] = {}
        self._append("ledger", {"ledger": identity, "owners": [], "populations": {}, "datasets": {}})

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Everything that was reserved."""
        return tuple(read_claim(entry.body["claim"]) for entry in self._book.entries if entry.kind == "reserve")

    def reserve(self, claim: Claim) -> Reservation:
        """Spend the claim, or raise BudgetError."""
        self._know(claim.population)
        self._book.check_name(claim)
        self._book.check_unit(claim)
        if claim.dataset not in self._book.population_of:
            self._book.population_of[claim.dataset] = claim.population
            self._book.datasets[claim.dataset] = Account(claim.dataset, None, "")
        self._book.check_cost(claim)
        self._book.admit(claim)
        self._append("reserve", {"claim": claim_record(claim)})
        return Reservation(str(self._book.head.sequence), claim, self._book.head)

    def commit(
        self, reservation: Reservation, answers: Mapping[str, bytes], draws: tuple[EnvelopeDraw, ...] | None = None
    ) -> None:
        """Store the answers."""
        number = int(reservation.id)
        self._book.check_answers(number, reservation.claim, set(answers))
        self._book.check_drawn(reservation.claim.envelope, draws)
        self._append("commit", commit_record(number, answers, draws))
        self._stored.update(answers)

    def answer(self, query: str) -> bytes | None:
        """Return a stored answer."""
        return self._stored.get(query)

    def forget(self, policy: str, retention: str) -> int:
        """Delete old answers of a policy."""
        keys = self._book.expired(policy, before(self._clock(), retention))
        if keys:
            self._append("forget", {"policy": policy, "retention": retention, "answers": list(keys)})
            for key in keys:
                self._stored.pop(key, None)
        return len(keys)

    def balance(self, population: str) -> Balance:
        """Return what is spent."""
        self._know(population)
        return self._book.balance(population)

    def head(self) -> Head:
        """Return the last entry."""
        return self._book.head

    def book(self) -> Book:
        """Return what the entries mean."""
        return self._book

    def _know(self, population: str) -> None:
        if population not in self._book.populations:
            self._book.populations[population] = Account(population, self._cap, "")

    def _append(self, kind: str, body: Mapping[str, Any]) -> None:
        self._book.apply(self._book.next(self._clock(), kind, body))
