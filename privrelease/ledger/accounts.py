"""Accounts of a ledger: what a population, or a dataset, may spend and has spent."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from privrelease.dp.budget import Budget
from privrelease.units import Epsilon
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from datetime import datetime

    from privrelease.ledger.protocol import Claim

__all__ = ["Account", "Spent", "unit_of", "unit_words"]


@dataclass(frozen=True, slots=True)
class Spent:
    """A reservation. ``unit``: whose epsilon it is (None: the entry does not say, and no manifest that can be seen does)."""

    sequence: int
    at: datetime
    claim: Claim
    unit: str | None = None


@dataclass(slots=True)
class Account:
    """The cap and the spending of a population, or of a dataset. ``entry``: hash of the entry that set the cap."""

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
    def unit(self) -> str | None:
        """Whose epsilon the account is about: the unit of its first reservation that has one. What is spent under another is no part of its sum."""
        return next((one.unit for one in self.spent if one.unit is not None), None)

    @property
    def units(self) -> tuple[tuple[str | None, Budget], ...]:
        """Return what was spent by unit, the account's own first; reservations of which the unit is not known count as of its
        own.
        """
        own = self.unit
        found: dict[str | None, Budget] = {}
        for one in self.spent:
            unit = own if one.unit is None else one.unit
            found[unit] = found[unit] + one.claim.cost if unit in found else one.claim.cost
        return tuple(sorted(found.items(), key=lambda item: (item[0] != own, item[0] or "")))

    def of_unit(self) -> list[Spent]:
        """Return the reservations of the account's own unit, oldest first."""
        own = self.unit
        return [one for one in self.spent if one.unit in {None, own}]

    @property
    def spenders(self) -> tuple[tuple[str, Budget], ...]:
        """Releases and what each spent, oldest first."""
        return tuple((one.claim.release, one.claim.cost) for one in self.spent)


def unit_of(column: str | None) -> str:
    """Return whose epsilon is spent, in the words of claims: persons by the column that tells them apart, or rows where there is none.

    >>> unit_of("patient_id"), unit_of(None)
    ('persons by patient_id', 'rows')
    """
    return "rows" if column is None else f"persons by {column}"


def unit_words(unit: str | None) -> str:
    """Return a claim's unit in words.

    >>> unit_words("rows"), unit_words(None)
    ('rows', 'a unit that is not recorded')
    """
    return "a unit that is not recorded" if unit is None else unit
