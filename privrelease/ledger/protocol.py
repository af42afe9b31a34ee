"""The protocol of a privacy-budget ledger, whatever it is stored in: reserve, then draw, then commit the answers.

A reservation is spent from the moment it is durable. A run that dies between ``reserve`` and ``commit`` gives nothing back, because
no one can tell what it had drawn.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Protocol

from privrelease.dp.budget import Budget, total
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from privrelease.dp.composition import Apart
    from privrelease.dp.draws import Draw
    from privrelease.dp.envelope_records import EnvelopeDraw, Reserved
    from privrelease.ledger.state import Book

__all__ = ["Balance", "Claim", "Head", "Ledger", "Reservation"]


@dataclass(frozen=True, slots=True)
class Claim:
    """The draws that a run is about to make, and what they cost; refused as a whole where it does not fit.

    ``cost``: at least what the accountant makes of the draws, ``apart`` those of them that no person can be in together. ``content``: the
    keyed digest of the source; the same ``snapshot`` label of a dataset with another content is an error. ``queries``: the keys under which
    answers will be stored. ``unit``: whose epsilon it is, as :func:`~privrelease.ledger.accounts.unit_of` says it (None: written before claims said so).
    ``envelope``: what is reserved as a whole for draws that are not known yet; the commit lists them.
    """

    population: str
    dataset: str
    release: str
    policy_sha256: str
    draws: tuple[Draw, ...]
    cost: Budget
    snapshot: str | None = None
    content: str | None = None
    accountant: str = "approximate"
    run: str | None = None
    queries: tuple[str, ...] = ()
    apart: tuple[Apart, ...] = ()
    unit: str | None = None
    envelope: Reserved | None = None


@dataclass(frozen=True, slots=True)
class Head:
    """The last entry: which ledger, its number, its hash."""

    ledger: str
    sequence: int
    hash: str


@dataclass(frozen=True, slots=True)
class Reservation:
    """A claim that is durably spent; ``head``: its entry."""

    id: str
    claim: Claim
    head: Head


@dataclass(frozen=True, slots=True)
class Balance:
    """The spending of a population and what it may spend. ``cap`` None: the ledger sets none."""

    population: str
    cap: Budget | None
    spent: Budget
    spenders: tuple[tuple[str, Budget], ...] = field(default=())

    @classmethod
    def of(cls, population: str, cap: Budget | None, spenders: tuple[tuple[str, Budget], ...]) -> Balance:
        """Return the balance of what each release (by its name) spent."""
        return cls(population, cap, total(spent for _, spent in spenders), spenders)


class Ledger(Protocol):
    """A ledger. Raises BudgetError (exit 4) where a claim does not fit, or where the ledger cannot be used."""

    def reserve(self, claim: Claim) -> Reservation:
        """Spend the claim's cost durably, before anything is drawn; all of it or nothing."""
        ...

    def commit(
        self, reservation: Reservation, answers: Mapping[str, bytes], draws: tuple[EnvelopeDraw, ...] | None = None
    ) -> None:
        """Store the answers by query key, and of an envelope the ``draws`` that were made from it. Once per reservation.

        Raises BudgetError (L136) where they cost more than the envelope, composed from their records; nothing is stored then.
        """
        ...

    def answer(self, query: str) -> bytes | None:
        """Return the stored answer to a query, which costs nothing to serve again; None where there is none."""
        ...

    def forget(self, policy: str, retention: str) -> int:
        """Delete the answers of a policy's releases that have been stored for longer than a duration (ISO 8601); return how many."""
        ...

    def balance(self, population: str) -> Balance:
        """Return what is spent and allowed."""
        ...

    def head(self) -> Head:
        """Return the last entry, for manifests to anchor."""
        ...

    def book(self) -> Book:
        """Return what the entries mean, as of now; only to be read."""
        ...
