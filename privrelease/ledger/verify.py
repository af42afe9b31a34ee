"""Verification that a ledger is what was written: every entry's hash, the chain, what each entry may say after those before it,
the answers.

A chain cannot tell that its last entries were cut off. Manifests outside can: :attr:`Verification.anchored` is the last entry that one
names, and what follows it is vouched for by nothing outside the ledger.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from privrelease.errors import BudgetError
from privrelease.findings import Finding, Severity
from privrelease.ledger.entries import NOTHING, Entry, read_claim
from privrelease.ledger.open import check_anchors
from privrelease.ledger.state import Book
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from privrelease.ledger.caps import Verifier
    from privrelease.ledger.database import DatabaseLedger
    from privrelease.ledger.open import Anchor

__all__ = ["Verification", "verify"]


@dataclass(frozen=True, slots=True)
class Verification:
    """``problems``: what was found, none where all is well. ``anchored``: the last entry that a manifest names, ``after`` how many follow.
    ``uncommitted``: envelopes that were reserved and never committed (L137); their runs ended before, or still run.
    """

    ledger: str
    entries: int
    head: str
    problems: tuple[Finding, ...]
    anchored: Anchor | None
    after: int
    uncommitted: tuple[Finding, ...] = ()


def verify(ledger: DatabaseLedger, anchors: Iterable[Anchor] = (), verifier: Verifier | None = None) -> Verification:
    """Read everything again and return what is wrong. Raises BudgetError where the ledger cannot be read at all."""
    texts = ledger.texts()
    known = tuple(anchors)
    problems = [*_chain(texts)]
    book, said = _replayed(texts, verifier)
    if said is not None and not problems:
        problems.append(said)
    if not problems:
        problems += _draws(book)
        problems += _answers(book, ledger.stored_answers())
        for anchor in known:
            try:
                check_anchors(book, (anchor,), ledger.place.shown)
            except BudgetError as error:
                problems.append(Finding(error.code, error.message, hint=error.hint))
    ours = [anchor for anchor in known if anchor.head.ledger == book.identity and _holds(texts, anchor)]
    last = max(ours, key=lambda anchor: anchor.head.sequence, default=None)
    after = len(texts) if last is None else texts[-1][0] - last.head.sequence
    return Verification(
        book.identity, len(texts), texts[-1][1] if texts else NOTHING, tuple(problems), last, after, tuple(_uncommitted(book))
    )


def _chain(texts: Sequence[tuple[int, str, str]]) -> Iterator[Finding]:
    """Every entry by itself and in its place, so that all altered ones are found, not only the first."""
    if not texts:
        yield _problem("the ledger has no entries")
    previous, expected = NOTHING, 0
    for number, digest, text in texts:
        if number != expected:
            yield _problem(
                f"entry {expected} is missing" if number == expected + 1 else f"entries {expected} to {number - 1} are missing"
            )
        if hashlib.sha256(text.encode()).hexdigest() != digest:
            yield _problem(f"entry {number} was altered: it is not what its hash says")
        try:
            entry = Entry.read(text)
        except ValueError:
            yield _problem(f"entry {number} is not an entry")
        else:
            if entry.sequence != number:
                yield _problem(f"entry {number} was moved: it was written as entry {entry.sequence}")
            elif number == expected and entry.previous != previous:
                yield _problem(f"entry {number} does not follow the one before it: one of them was altered or replaced")
        previous, expected = digest, number + 1


def _replayed(texts: Sequence[tuple[int, str, str]], verifier: Verifier | None) -> tuple[Book, Finding | None]:
    book = Book(verifier)
    for number, _, text in texts:
        try:
            book.apply(Entry.read(text))
        except (ValueError, BudgetError) as error:
            return book, _problem(f"entry {number} {error}")
    return book, None


def _draws(book: Book) -> Iterator[Finding]:
    """Build every draw again, which recomputes its cost, and weigh it against what was charged."""
    for entry in book.entries:
        if entry.kind == "reserve":
            try:
                claim = read_claim(entry.body["claim"])
                book.check_cost(claim)
            except ValueError:
                yield _problem(f"entry {entry.sequence} charges less than its draws cost")


def _uncommitted(book: Book) -> Iterator[Finding]:
    for sequence, claim in sorted(book.waiting.items()):
        if "envelope" in claim:
            yield Finding(
                "L137",
                f"entry {sequence} reserved an envelope for release {claim['release']} (run {claim['run']}) that was never committed",
                Severity.INFO,
                hint="what it spent stays spent, and none of its answers is stored; a run that is still going commits it at its end",
            )


def _answers(book: Book, stored: Mapping[str, str]) -> Iterator[Finding]:
    for query in sorted(stored):
        if book.answers.get(query) != stored[query]:
            yield _problem(f"the stored answer to query {query[:12]} is not the one that was paid for")


def _holds(texts: Sequence[tuple[int, str, str]], anchor: Anchor) -> bool:
    return any(number == anchor.head.sequence and digest == anchor.head.hash for number, digest, _ in texts)


def _problem(message: str) -> Finding:
    return Finding("L110", message, hint="restore the last backup that verifies, and charge again what it lacks")
