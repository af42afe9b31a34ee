"""A ledger in a database: one writer at a time, every entry durable before the call returns.

A write is one transaction: lock, replay what others wrote meanwhile, check, append, commit. Two runs that ask at once are served one
after the other, so together they never spend what only one of them could.
"""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from sqlalchemy import delete, insert, select

from privrelease.errors import BudgetError
from privrelease.ledger.caps import before
from privrelease.ledger.entries import Entry, budget_record, claim_record, commit_record
from privrelease.ledger.locations import db_errors
from privrelease.ledger.protocol import Reservation
from privrelease.ledger.publications import AppendingTexts, stored_texts
from privrelease.ledger.state import Book
from privrelease.ledger.tables import ANSWERS, ENTRIES, FORMAT, LEDGER, METADATA, check_readable, found_format, migrate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from sqlalchemy.engine import Connection

    from privrelease.dp.budget import Budget
    from privrelease.dp.envelope_records import EnvelopeDraw
    from privrelease.ledger.caps import Verifier
    from privrelease.ledger.locations import Place
    from privrelease.ledger.protocol import Balance, Claim, Head

__all__ = ["DatabaseLedger", "utc_now", "write_first"]


def utc_now() -> datetime:
    """Return the present moment."""
    return datetime.now(UTC)


class DatabaseLedger:
    """A ledger in SQLite or PostgreSQL. ``cap``, ``dataset_caps``: the policy's own, the stricter of each and the ledger's holds.

    Raises BudgetError (exit 4) from every method where the ledger cannot be used; nothing is spent then.
    """

    def __init__(
        self,
        place: Place,
        *,
        cap: Budget | None = None,
        dataset_caps: Mapping[str, Budget] | None = None,
        verifier: Verifier | None = None,
        clock: Callable[[], datetime] | None = None,
        patience: float = 60.0,
    ) -> None:
        place.check_there()
        self.place = place
        self.cap = cap
        self.dataset_caps = dict(dataset_caps or {})
        self._clock = clock
        self._book = Book(verifier)
        self._engine = place.engine(patience=patience)

    # ------------------------------------------------------------------------------------------------------------------ protocol

    def reserve(self, claim: Claim) -> Reservation:
        """Spend the claim: when this returns, the entry is on disk. Raises BudgetError where it does not fit."""
        self._book.check_cost(claim)
        with self._writing() as connection:
            self._book.check_name(claim)
            self._book.check_unit(claim)
            self._book.admit(claim, self.cap, self.dataset_caps.get(claim.dataset))
            entry = self._append(connection, "reserve", {"claim": claim_record(claim)})
        self._book.apply(entry)
        return Reservation(str(entry.sequence), claim, self._book.head)

    def commit(
        self, reservation: Reservation, answers: Mapping[str, bytes], draws: tuple[EnvelopeDraw, ...] | None = None
    ) -> None:
        """Store the answers, all or none, once."""
        number = int(reservation.id)
        with self._writing() as connection:
            self._book.check_answers(number, reservation.claim, set(answers))
            self._book.check_drawn(reservation.claim.envelope, draws)
            entry = self._append(connection, "commit", commit_record(number, answers, draws))
            for key, answer in answers.items():
                connection.execute(delete(ANSWERS).where(ANSWERS.c.query == key))
                connection.execute(insert(ANSWERS).values(query=key, answer=answer))
        self._book.apply(entry)

    def answer(self, query: str) -> bytes | None:
        """Return a stored answer. Raises BudgetError (L110) where it is not the one that was stored."""
        with self._reading() as connection:
            found = connection.execute(select(ANSWERS.c.answer).where(ANSWERS.c.query == query)).scalar_one_or_none()
        if found is None:
            return None
        if self._book.answers.get(query) != _digest(found):
            raise BudgetError(
                code="L110", message="a stored answer of the ledger was altered", hint="see `privrelease ledger verify`"
            )
        return bytes(found)

    def forget(self, policy: str, retention: str) -> int:
        """Delete old answers of a policy. Where none is old nothing is written; that some were deleted is an entry."""
        with self._reading() as connection:
            if not self._book.expired(policy, before(self._now(connection), retention)):
                return 0
        with self._writing() as connection:
            keys = self._book.expired(policy, before(self._now(connection), retention))
            entry = self._append(connection, "forget", {"policy": policy, "retention": retention, "answers": list(keys)})
            for key in keys:
                connection.execute(delete(ANSWERS).where(ANSWERS.c.query == key))
        self._book.apply(entry)
        return len(keys)

    def balance(self, population: str) -> Balance:
        """Return what is spent, and the stricter of the ledger's cap and the policy's."""
        with self._reading():
            return self._book.balance(population, self.cap)

    def head(self) -> Head:
        """Return the last entry."""
        with self._reading():
            return self._book.head

    # ------------------------------------------------------------------------------------------------------------ administration

    def book(self) -> Book:
        """Return what the entries mean, as of now."""
        with self._reading():
            return self._book

    def note_units(self, known: Iterable[tuple[int, str, str]]) -> None:
        """Take the units of old reservations from manifests (:meth:`~privrelease.ledger.state.Book.note_units`)."""
        self._book.note_units(known)

    def add_population(self, name: str, cap: Budget, *, envelope: str | None = None) -> None:
        """Give a population its cap, once. Raises BudgetError (L124) where the ledger has owners and none of them signed it."""
        body = {"population": name, "cap": budget_record(cap), **({} if envelope is None else {"envelope": envelope})}
        self._add("population", body)

    def add_dataset(self, name: str, population: str, cap: Budget | None = None) -> None:
        """Say to which population a dataset belongs, once."""
        self._add("dataset", {"dataset": name, "population": population, "cap": None if cap is None else budget_record(cap)})

    def set_cap(self, name: str, cap: Budget, envelope: str, *, of: Literal["population", "dataset"] = "population") -> None:
        """Set the cap of a population or dataset again by a statement that an owner signed
        (:func:`~privrelease.ledger.caps.cap_statement`).
        """
        self._add("cap", {of: name, "cap": budget_record(cap), "envelope": envelope})

    def dataset_balance(self, dataset: str) -> Balance:
        """Return what a dataset has spent, and the stricter of the ledger's cap for it and the policy's."""
        with self._reading():
            return self._book.dataset_balance(dataset, self.dataset_caps.get(dataset))

    def texts(self) -> list[tuple[int, str, str]]:
        """Return every entry as it is stored: number, hash, text; unchecked."""
        with db_errors(self.place), self._engine.connect().execution_options(reading=True) as connection:
            found = connection.execute(select(ENTRIES.c.sequence, ENTRIES.c.hash, ENTRIES.c.entry).order_by(ENTRIES.c.sequence))
            return [(row[0] if isinstance(row[0], int) else -1, str(row[1]), str(row[2])) for row in found]

    def stored_answers(self) -> dict[str, str]:
        """Return the digests of the answers that are stored, by query."""
        with db_errors(self.place), self._engine.connect().execution_options(reading=True) as connection:
            # one after the other: that of an envelope may have millions of cells
            return {str(key): _digest(answer) for key, answer in connection.execute(select(ANSWERS))}

    def publications(self) -> tuple[str, ...]:
        """Return the lines of the log of publications that this ledger keeps; unchecked."""
        with db_errors(self.place), self._engine.connect().execution_options(reading=True) as connection:
            return stored_texts(connection)

    @contextmanager
    def publishing(self) -> Iterator[AppendingTexts]:
        """Lock the log of publications that this ledger keeps; what is appended is durable when the block has ended."""
        with self._writing() as connection:
            yield AppendingTexts(connection)

    def _add(self, kind: str, body: Mapping[str, Any]) -> None:
        with self._writing() as connection:
            entry = self._append(connection, kind, body)
            try:
                self._book.apply(entry)
            except ValueError as error:
                raise BudgetError(
                    code="L124",
                    message=f"the ledger refuses an entry that {error}",
                    hint="caps are set once, and raised by a signature only",
                ) from None

    # -------------------------------------------------------------------------------------------------------------- transactions

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        """Open the one writing transaction, with the book up to date; commit where the block ends well."""
        known = len(self._book.entries)
        try:
            with db_errors(self.place), self._engine.begin() as connection:
                locked = connection.execute(select(LEDGER.c.format).with_for_update()).all()
                del locked
                migrate(connection, found_format(connection))
                self._catch_up(connection)
                yield connection
        except BaseException:
            self._start_over(known)
            raise

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        options: dict[str, Any] = {"reading": True}
        if not self.place.is_sqlite:
            options["isolation_level"] = "REPEATABLE READ"
        with db_errors(self.place), self._engine.connect().execution_options(**options) as connection:
            check_readable(found_format(connection))
            self._catch_up(connection)
            yield connection

    def _start_over(self, length: int) -> None:
        """Replay from the beginning next time: what was applied may not have been committed."""
        if len(self._book.entries) != length:
            self._book = self._book.empty()

    def _catch_up(self, connection: Connection) -> None:
        known = len(self._book.entries)
        if known:
            last = connection.execute(select(ENTRIES.c.hash).where(ENTRIES.c.sequence == known - 1)).scalar_one_or_none()
            if last != self._book.hashes[-1]:
                raise BudgetError(
                    code="L110",
                    message=f"entry {known - 1} of the ledger was altered or removed",
                    hint="see `privrelease ledger verify`",
                )
        rows = connection.execute(
            select(ENTRIES.c.sequence, ENTRIES.c.hash, ENTRIES.c.entry)
            .where(ENTRIES.c.sequence >= known)
            .order_by(ENTRIES.c.sequence)
        )
        for number, digest, found in rows:
            text = str(found)  # a file has loose types, and anything may have been put there
            try:
                entry = Entry.read(text, hashed=True)
                if number != entry.sequence or digest != hashlib.sha256(text.encode()).hexdigest():
                    msg = "is not what its hash says"
                    raise ValueError(msg)  # noqa: TRY301 -- told below with all others
                self._book.apply(entry, digest)
            except ValueError as error:
                raise BudgetError(
                    code="L110",
                    message=f"entry {number} of the ledger {error}",
                    hint="see `privrelease ledger verify`; restore the last backup",
                ) from None
        if self._book.entries and connection.execute(select(LEDGER.c.ledger)).scalar_one() != self._book.identity:
            raise BudgetError(
                code="L110", message="the ledger's first entry is of another ledger", hint="see `privrelease ledger verify`"
            )
        _ = self._book.head

    def _append(self, connection: Connection, kind: str, body: Mapping[str, Any]) -> Entry:
        entry = self._book.next(self._now(connection), kind, body)
        connection.execute(insert(ENTRIES).values(sequence=entry.sequence, hash=entry.hash, entry=entry.text))
        return entry

    def _now(self, connection: Connection) -> datetime:
        """The time: of the database's server where there is one, since the clocks of a team's machines differ."""
        if self.place.is_sqlite or self._clock is not None:
            return (self._clock or utc_now)()
        found: datetime
        found, synced = connection.exec_driver_sql("SELECT clock_timestamp(), current_setting('fsync')").one()
        if synced != "on":
            raise BudgetError(
                code="L128",
                message=f"the server of {self.place.shown} does not keep what is committed (fsync is {synced})",
                hint="a ledger needs a server that survives a power cut; nothing was spent",
            )
        return found.astimezone(UTC)


def _digest(answer: object) -> str:
    """Return the digest of a stored answer; of what is none, which a file's loose types allow, a text that is no digest."""
    return hashlib.sha256(answer).hexdigest() if isinstance(answer, bytes | memoryview) else "no answer"


def write_first(connection: Connection, entry: Entry) -> None:
    """Make the tables and write the first entry, in the caller's transaction."""
    METADATA.create_all(connection, checkfirst=False)
    connection.execute(insert(LEDGER).values(one=1, format=FORMAT, ledger=entry.body["ledger"]))
    connection.execute(insert(ENTRIES).values(sequence=entry.sequence, hash=entry.hash, entry=entry.text))
