"""Envelopes on an engine and a ledger: the only place where exact counts live between the one and a method.

A method receives an :class:`~privrelease.dp.envelope.Envelope` and public values: names of queries and their shapes. Under add or remove the
number of rows, exact counts and exact scores are private; none of them is returned from here but through the envelope.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from privrelease.dp.envelope import MOST_CELLS, Envelope, Marginal, Reserved
from privrelease.dp.rules import refuse
from privrelease.errors import InternalError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from privrelease.dp.queries import Setting
    from privrelease.dp.randomness import Randomness
    from privrelease.engine.protocol.base import Engine, Staged
    from privrelease.ledger.protocol import Claim, Ledger, Reservation
    from privrelease.relational.aggregates import Aggregate, Bounding

__all__ = ["EngineCounts", "OpenEnvelope", "marginal", "open_envelope"]


def marginal(name: str, asked: Aggregate) -> Marginal:
    """Return the public side of an aggregate: its name and how many cells each of its keys has.

    Raises PolicyError DP123 where it has more cells than can be measured.
    """
    shape = Marginal(name, tuple(key.size for key in asked.keys))
    if shape.size > MOST_CELLS:
        message = f"a query has {shape.size} cells, and at most {MOST_CELLS} can be measured"
        refuse("DP123", message, hint="ask for fewer columns, or coarser ones", subject=name)
    return shape


@dataclass(frozen=True, eq=False, slots=True)
class EngineCounts:
    """Exact counts of an engine, by the names of ``asked``; each is asked for when the envelope needs it, and kept for the next time."""

    engine: Engine = field(repr=False)
    staged: Staged = field(repr=False)
    bounding: Bounding = field(repr=False)
    asked: Mapping[str, Aggregate]
    _known: dict[str, NDArray[np.int64]] = field(default_factory=dict, repr=False)

    def rows(self, query: Marginal) -> NDArray[np.int64]:
        """Return the number of rows by cell."""
        if query.name not in self._known:
            (found,) = self.engine.aggregates(self.staged, self.bounding, (self._aggregate(query.name, private=False),))
            self._known[query.name] = found.figures[0].astype(np.int64)
        return self._known[query.name]

    def persons(self, query: str) -> tuple[tuple[tuple[str, ...], ...], NDArray[np.int64]]:
        """Return the keys in the data and the persons of each."""
        (found,) = self.engine.aggregates(self.staged, self.bounding, (self._aggregate(query, private=True),))
        return found.keys, found.figures[0].astype(np.int64)

    def _aggregate(self, name: str, *, private: bool) -> Aggregate:
        asked = self.asked.get(name)
        if (
            asked is None
            or asked.private is not private
            or [one.kind for one in asked.measures] != ["persons" if private else "rows"]
        ):
            code, message = "R212", "an envelope was asked for what was not declared"
            raise InternalError(code, message)
        return asked


@dataclass(slots=True)
class OpenEnvelope:
    """An envelope whose reservation is durable; ``answers``: what is stored with its draws when it is committed."""

    envelope: Envelope
    reservation: Reservation
    answers: dict[str, bytes] = field(default_factory=dict)


@contextmanager
def open_envelope(
    claim: Claim, reserved: Reserved, setting: Setting, counts: EngineCounts, ledger: Ledger, randomness: Randomness
) -> Iterator[OpenEnvelope]:
    """Reserve an envelope as a whole, lend it, and commit its draws and answers where the block ends well.

    Raises BudgetError (L120) where it does not fit the caps: nothing is reserved then. Where the block raises, the reservation stays
    spent and no answer is stored.
    """
    made: list[Reservation] = []
    envelope = Envelope(
        reserved,
        setting,
        counts,
        lambda held: made.append(ledger.reserve(replace(claim, envelope=held, accountant="zcdp"))),
        randomness,
    )
    lent = OpenEnvelope(envelope, made[0])
    try:
        yield lent
    finally:
        draws = envelope.close()
    ledger.commit(lent.reservation, lent.answers, draws)
