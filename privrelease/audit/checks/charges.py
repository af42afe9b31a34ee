"""Record of the ledger about a release with differential privacy: which draws the entry that its manifest names was charged for, and the
population's budget before and after it.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Final

from privrelease.audit.document.privacy import BudgetFacts, ChargeFacts
from privrelease.dp.budget import Budget
from privrelease.errors import BudgetError
from privrelease.ledger.accounts import unit_of
from privrelease.ledger.caps import stricter
from privrelease.ledger.entries import read_claim
from privrelease.texts.sentences import say
from privrelease.units import Epsilon
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from privrelease.dp.composition import Apart
    from privrelease.ledger.accounts import Spent
    from privrelease.ledger.state import Book
    from privrelease.plan.model import Plan
    from privrelease.release.manifest import Manifest
    from privrelease.release.privacy import ApartClaim, PrivacyClaim
    from privrelease.texts.sentences import Said

__all__ = ["MOST_CHARGES", "Charges", "budget_facts", "charges_of", "ledger_faults", "ledger_mismatches"]

#: Reservations of a population that a report repeats at most: the ledger holds all.
MOST_CHARGES: Final = 50


@dataclass(frozen=True, slots=True)
class Charges:
    """``entry``: the draws of the reservation that the manifest names (None: the ledger has no such entry); ``earlier``: those of every
    reservation of the population, without their queries' names and prices. Records of draws, as in the manifest.
    ``cap``: the ledger's for the population (None: it sets none); ``spent``: the population's reservations for the unit of the release, oldest first.
    """

    entry: tuple[frozenset[tuple[str, object]], ...] | None
    earlier: frozenset[frozenset[tuple[str, object]]]
    cap: Budget | None = None
    spent: tuple[Spent, ...] = field(default=())
    short: bool = False
    """True if the entry charges less than its draws cost, composed again from mechanism, sensitivity, scale and grid."""


def charges_of(book: Book, manifest: Manifest) -> Charges:
    """Read the charges of a release from the ledger's entries."""
    claim = manifest.privacy
    anchor = None if claim is None else claim.anchor
    account = None if claim is None else book.populations.get(claim.population)
    spent = [] if account is None else account.spent
    records = {one.sequence: _records(book, one.sequence) for one in spent}
    every = {sequence: tuple(map(_key, draws)) for sequence, draws in records.items()}
    known = (
        anchor is not None
        and anchor.ledger == book.identity
        and anchor.sequence < len(book.hashes)
        and book.hashes[anchor.sequence] == anchor.hash
    )
    entry = every.get(anchor.sequence, ()) if known and anchor is not None else None
    earlier = frozenset(_drawn(draw) for draws in records.values() for draw in draws)
    short = claim is not None and anchor is not None and bool(entry) and _short(book, anchor.sequence, claim)
    # epsilon of rows and of persons is no sum: only what was spent for this release's unit counts with it
    own = None if claim is None else unit_of(None if claim.unit == "row" else claim.unit)
    counted = tuple(one for one in spent if one.unit in {None, own})
    return Charges(entry, earlier, None if account is None else account.cap, counted, short)


def _records(book: Book, sequence: int) -> list[Mapping[str, object]]:
    """Return the records of a reservation's draws: those of its claim, or those that were drawn from its envelope."""
    drawn = book.from_envelope.get(sequence, ())
    return [*book.entries[sequence].body["claim"]["draws"], *(draw.record() for draw in drawn)]


def _short(book: Book, sequence: int, stated: PrivacyClaim) -> bool:
    """Return True if an entry charges less than its draws cost, or counts queries in parallel that the manifest does not."""
    try:
        claim = read_claim(book.entries[sequence].body["claim"])
        book.check_cost(claim)
        if claim.envelope is not None:  # the third time, after the door itself and the commit
            book.check_drawn(claim.envelope, book.from_envelope.get(sequence, ()))
    except (ValueError, BudgetError):
        return True
    return not all(any(_within(one, family) for family in stated.apart) for one in claim.apart)


def _within(charged: Apart, stated: ApartClaim) -> bool:
    """Return True if charged parts are parts of the manifest, each inside another one, with as many that one person changes."""
    homes = [{place for place, part in enumerate(stated.parts) if set(one.queries) <= set(part)} for one in charged.parts]
    return charged.most == stated.at_most and all(homes) and len(set().union(*homes)) == len(charged.parts)


def ledger_faults(manifest: Manifest | None, charges: Charges | None, unbelieved: Said | None) -> Said | None:
    """Return what is wrong with a ledger's record of a release; None where nothing is, or nothing is known. ``unbelieved``: why the ledger
    itself cannot be believed.
    """
    if unbelieved is not None:
        return unbelieved
    return None if manifest is None or charges is None else ledger_mismatches(manifest, charges)


def ledger_mismatches(manifest: Manifest, charges: Charges) -> Said | None:
    """Say which draws of the manifest the ledger does not hold; None where it holds all: new ones in the entry that the manifest names and
    no other there, those of stored answers in any.
    """
    claim = manifest.privacy
    if claim is None:
        return say("no_claim")
    if charges.entry is None:
        return say("ledger_no_entry")
    drawn = tuple(_key(draw) for query in claim.queries if not query.served_again for draw in query.draws)
    if drawn and drawn != charges.entry:
        return say("ledger_other_draws")
    if charges.short:
        return say("ledger_short")
    for query in claim.queries:
        if query.served_again and not charges.earlier.issuperset(map(_drawn, query.draws)):
            return say("never_charged", query=query.id)
    return None


def _key(record: Mapping[str, object]) -> frozenset[tuple[str, object]]:
    return frozenset(record.items())


def _drawn(record: Mapping[str, object]) -> frozenset[tuple[str, object]]:
    """A draw without its query's name and its price: what a stored answer is of, whichever release first asked for it."""
    return frozenset((name, value) for name, value in record.items() if name not in {"query", "epsilon", "delta"})


# ---------------------------------------------------------------------------------------------------------------------- budget


def budget_facts(policy: Plan, manifest: Manifest | None, charges: Charges) -> BudgetFacts | None:
    """Return the population's budget before and after the manifest's entry: later charges are no part of this release."""
    claim = None if manifest is None else manifest.privacy
    if claim is None or claim.anchor is None or charges.entry is None:
        return None
    last = claim.anchor.sequence
    cap = stricter(charges.cap, None if policy.ledger is None else policy.ledger.cap)
    before, after = Budget(Epsilon(0)), Budget(Epsilon(0))
    history: list[ChargeFacts] = []
    for spent in charges.spent:
        if spent.sequence <= last:
            before = after if spent.sequence == last else before + spent.claim.cost
            after = after + spent.claim.cost
            history.append(_charge(spent, after))
    charged = next((spent.claim.cost for spent in charges.spent if spent.sequence == last), Budget(Epsilon(0)))
    return BudgetFacts(
        population=claim.population,
        cap_epsilon=None if cap is None else str(cap.epsilon),
        cap_delta=None if cap is None else str(cap.delta),
        before_epsilon=str(before.epsilon),
        before_delta=str(before.delta),
        charged_epsilon=str(charged.epsilon),
        charged_delta=str(charged.delta),
        after_epsilon=str(after.epsilon),
        after_delta=str(after.delta),
        history=tuple(history[-MOST_CHARGES:]),
    )


def _charge(spent: Spent, after: Budget) -> ChargeFacts:
    cost = spent.claim.cost
    return ChargeFacts(
        sequence=spent.sequence,
        at=f"{spent.at:%Y-%m-%d %H:%M}",
        release=spent.claim.release,
        epsilon=str(cost.epsilon),
        delta=str(cost.delta),
        spent_epsilon=str(after.epsilon),
        spent_delta=str(after.delta),
    )
