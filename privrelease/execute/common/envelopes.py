"""Envelopes on an engine and a ledger: the only place where exact counts live between the one and a method.

A method receives an :class:`~privrelease.dp.envelope.Envelope` and public values: names of queries and their shapes. Under add or remove the
number of rows, exact counts and exact scores are private; none of them is returned from here but through the envelope.

Serving again: :mod:`privrelease.execute.common.asking`.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import field, replace
from math import prod
from typing import TYPE_CHECKING, Final

import numpy as np

from privrelease.dp.envelope import MOST_CELLS, Envelope, Marginal
from privrelease.dp.envelope_records import Transcript
from privrelease.dp.rules import refuse
from privrelease.errors import InternalError
from privrelease.execute.common.questions import answer_key, check_same, content_first, is_of
from privrelease.interruption import heed
from privrelease.relational.aggregates import BinKey
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from privrelease.dp.envelope_records import Reserved
    from privrelease.dp.randomness import Randomness
    from privrelease.engine.protocol.base import Engine, Staged
    from privrelease.execute.common.asking import Asking
    from privrelease.ledger.protocol import Claim, Ledger, Reservation
    from privrelease.relational.aggregates import Aggregate, Bounding, CodedRows, ColumnKey

__all__ = ["CodedCounts", "EngineCounts", "OpenEnvelope", "Served", "marginal", "open_envelope", "stored_transcript"]


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


#: Cells of a marginal that is kept for the next question: a method that chooses asks for each candidate in every round.
_KEPT: Final = 1 << 16


@dataclass(frozen=True, eq=False, slots=True)
class CodedCounts(EngineCounts):
    """Exact counts from one scan, however many marginals are asked for: rows are read once, as distinct tuples of cells with their numbers, and
    every marginal is a sum over them.

    ``asked``: marginals over declared cells, those of a column the same in all of them. ``discovered``: the values of columns that were bought,
    by name, or their bins between bounds that were, filled in before anything with them is asked. ``apart``: counts of one column that find its
    bounds, by name; each is filled in before it is asked, and read by itself.
    """

    discovered: dict[str, tuple[str, ...] | BinKey] = field(default_factory=dict)
    apart: dict[str, Aggregate] = field(default_factory=dict)
    _coded: list[tuple[tuple[str, ...], tuple[int, ...], CodedRows]] = field(default_factory=list, repr=False)

    def rows(self, query: Marginal) -> NDArray[np.int64]:
        """Return the number of rows by cell."""
        if query.name in self.apart:
            (only,) = self.engine.aggregates(self.staged, self.bounding, (self.apart[query.name],))
            return only.figures[0].astype(np.int64)
        asked = self._aggregate(query.name, private=False)
        if query.name in self._known:
            return self._known[query.name]
        if not self._coded:
            self._coded.append(self._scan())
        names, sizes, coded = self._coded[0]
        places = [names.index(key.column) for key in asked.keys]
        shape = tuple(sizes[place] for place in places)
        cells = np.ravel_multi_index(tuple(coded.codes[:, place] for place in places), shape)
        # every number of rows is exact in a double
        found = np.bincount(cells, weights=coded.rows, minlength=prod(shape)).astype(np.int64)
        if found.size <= _KEPT:
            self._known[query.name] = found
        return found

    def _scan(self) -> tuple[tuple[str, ...], tuple[int, ...], CodedRows]:
        every = [one for one in self.asked.values() if not one.private]
        found = {key.column: key for one in every for key in one.keys}
        if any(found[key.column] != key for one in every for key in one.keys) or any(
            one.where is not None or one.complete or one.max_groups is not None for one in every
        ):
            code, message = "R213", "the marginals of an envelope are not over the same cells of the same rows"
            raise InternalError(code, message)
        keys = tuple(self._known_key(found[name]) for name in sorted(found))
        coded = self.engine.coded_rows(self.staged, self.bounding, keys)
        return tuple(sorted(found)), tuple(key.size for key in keys), coded

    def _known_key(self, key: ColumnKey | BinKey) -> ColumnKey | BinKey:
        """The key with the values, or the bins, that were discovered for it."""
        if isinstance(key, BinKey) or not key.discovered:
            return key
        found = self.discovered[key.column]
        return found if isinstance(found, BinKey) else replace(key, values=found, discovered=False)


# ------------------------------------------------------------------------------------------------------------------ lending


@dataclass(frozen=True, eq=False, slots=True)
class Served:
    """A transcript that is served again. ``compared``: whether its data could be compared with today's; else the snapshot's label decided."""

    transcript: Transcript
    compared: bool


def stored_transcript(asking: Asking, claim: Claim, ledger: Ledger) -> Served | None:
    """Return the transcript that the ledger keeps for the claim's data; None where there is none, or the data has no snapshot.

    ``claim.content`` None: the data was not read, and the snapshot's label alone decides. Raises BudgetError (L131) where the data under
    the label is another than it was.
    """
    if claim.snapshot is None:
        return None
    question = asking.question(claim.population, claim.snapshot)
    keys = (key for key in ledger.book().answers if key.partition(".")[0] == question)
    for key in content_first(keys, claim.content):
        found = ledger.answer(key)
        transcript = None if found is None else Transcript.from_bytes(found)
        if transcript is None or not (is_of(key, claim.content) or transcript.dataset == claim.dataset):
            continue  # of another version, or of another table of the population under the same label
        if not is_of(key, claim.content):
            check_same(claim.snapshot, f"method {asking.method.name}", transcript.content, claim.content)
        return Served(transcript, is_of(key, claim.content))
    return None


@dataclass(frozen=True, eq=False, slots=True)
class OpenEnvelope:
    """An envelope to ask. ``reservation``: what is durably spent for it; None where it is ``served`` again, at no cost."""

    envelope: Envelope
    reservation: Reservation | None
    served: Served | None


@contextmanager
def open_envelope(
    claim: Claim, asking: Asking, counts: EngineCounts, ledger: Ledger, randomness: Randomness, *, fresh: bool = False
) -> Iterator[OpenEnvelope]:
    """Lend an envelope: one that is served from the ledger where it holds the answers, else one that is reserved as a whole now and
    committed with its draws and its transcript where the block ends well.

    ``fresh``: draw and pay, whatever is stored. Raises BudgetError (L120) where the envelope does not fit the caps: nothing is reserved
    then; L131 where the data of the snapshot is not what it was; L138 where the block asks otherwise than the transcript answers. Where the
    block raises, the reservation stays spent and no answer is stored.
    """
    bound = (counts.bounding.unit, counts.bounding.max_rows)
    if dict(counts.asked) != dict(asking.asked) or bound != (asking.unit, asking.setting.contribution.max_rows):
        code, message = "R215", "the counts of an envelope are not those that its description names"
        raise InternalError(code, message)
    known = claim.snapshot is not None and claim.content is not None
    served = stored_transcript(asking, claim, ledger) if known and not fresh else None
    key = answer_key(asking.question(claim.population, claim.snapshot), claim.content) if known else None
    whole = replace(claim, queries=() if key is None else (key,), accountant=asking.reserved.accountant)
    made: list[Reservation] = []

    def reserve(held: Reserved) -> None:
        heed()
        made.append(ledger.reserve(replace(whole, envelope=held)))

    envelope = Envelope(
        asking.reserved,
        asking.setting,
        counts,
        reserve,
        randomness,
        stored=None if served is None else served.transcript.answers,
    )
    reservation = None if served is not None else made[0]
    try:
        yield OpenEnvelope(envelope, reservation, served)
    finally:
        draws = envelope.close()
    answers = envelope.answers
    if reservation is None:
        if answers is None:
            code, message = "R210", "a method went on after a stored answer was refused"
            raise InternalError(code, message)
        return
    kept = {}
    if key is not None and answers is not None:
        number = int(reservation.id)
        kept[key] = Transcript(claim.dataset, claim.content or "", claim.run, number, answers).to_bytes()
    ledger.commit(reservation, kept, draws)
