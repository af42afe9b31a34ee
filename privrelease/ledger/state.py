"""The meaning of a ledger's entries: caps, what is spent, snapshots, answers. Pure; every store replays its entries into this.

Nothing is derived twice: a balance is the sum over the entries, so no second tally can drift from them.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, Literal

from privrelease.dp.composition import covers, rho_of
from privrelease.errors import BudgetError
from privrelease.ledger import refusals
from privrelease.ledger.accounts import Account, Spent
from privrelease.ledger.caps import cap_statement, stricter
from privrelease.ledger.entries import (
    NOTHING,
    Entry,
    claim_record,
    differ,
    digests_of,
    read_budget,
    read_claim,
    read_envelope_draws,
)
from privrelease.ledger.protocol import Balance, Head

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime

    from privrelease.dp.budget import Budget
    from privrelease.dp.envelope_records import EnvelopeDraw, Reserved
    from privrelease.ledger.caps import Verifier
    from privrelease.ledger.protocol import Claim

__all__ = ["Book"]


#: Clocks of a team's machines differ by this much at most; more is a clock that went backwards.
_SKEW: Final = timedelta(seconds=5)


class Book:
    """The state after some entries. ``verifier``: needed where a cap was raised, which only a signature can do."""

    def __init__(self, verifier: Verifier | None = None) -> None:
        self.verifier = verifier
        self.identity = ""
        self.owners: tuple[str, ...] = ()
        self.entries: list[Entry] = []
        self.hashes: list[str] = []
        self.populations: dict[str, Account] = {}
        self.datasets: dict[str, Account] = {}
        self.population_of: dict[str, str] = {}
        self.waiting: dict[int, Mapping[str, Any]] = {}
        self.from_envelope: dict[int, tuple[EnvelopeDraw, ...]] = {}
        self.answers: dict[str, str] = {}
        self._kept: dict[str, tuple[str, datetime]] = {}
        self._rhos: dict[int, tuple[Fraction, Fraction]] = {}
        self._snapshots: dict[tuple[str, str], list[str]] = {}
        self._first_named: dict[tuple[str, ...], str] = {}
        self._committed: dict[str, int] = {}
        self._units: dict[int, tuple[str, str]] = {}

    def empty(self) -> Book:
        """Return a book without entries that knows the same keys and manifests."""
        book = Book(self.verifier)
        book._units = dict(self._units)
        return book

    # ------------------------------------------------------------------------------------------------------------------ reading

    @property
    def head(self) -> Head:
        """The last entry."""
        if not self.entries:
            raise refusals.no_entries()
        return Head(self.identity, self.entries[-1].sequence, self.hashes[-1])

    def account(self, population: str) -> Account:
        """Return a population's account. Raises BudgetError (L114) where the ledger does not know it."""
        if population not in self.populations:
            raise refusals.unknown_population(population, self.populations)
        return self.populations[population]

    def balance(self, population: str, cap: Budget | None = None) -> Balance:
        """Return what a population has spent, and the stricter of its cap and ``cap``."""
        account = self.account(population)
        return Balance.of(population, stricter(account.cap, cap), account.spenders)

    def dataset_balance(self, dataset: str, cap: Budget | None = None) -> Balance:
        """Return the same of a dataset that the ledger knows; its cap is next to that of its population."""
        account = self.datasets[dataset]
        return Balance.of(dataset, stricter(account.cap, cap), account.spenders)

    def expired(self, policy: str, before: datetime) -> tuple[str, ...]:
        """Return the keys of the stored answers of a policy's releases that were stored before a moment, all of a run together."""
        own = (key for key, (release, at) in self._kept.items() if release.startswith(f"{policy}/") and at < before)
        return tuple(sorted(own))

    def concentrated(self, population: str) -> tuple[Fraction, Fraction]:
        """Return what a population has spent in rho under its own unit, and the probability of a failure outside it: from every draw, composed by zCDP.

        A view for whoever plans: caps are about the sums of epsilon and delta. An envelope counts as a whole. Raises ValueError where a draw is not one.
        """
        rhos = [self._rho(spent.sequence) for spent in self.account(population).of_unit()]
        return sum((rho for rho, _ in rhos), Fraction(0)), sum((failure for _, failure in rhos), Fraction(0))

    def _rho(self, sequence: int) -> tuple[Fraction, Fraction]:
        if sequence not in self._rhos:
            claim = read_claim(self.entries[sequence].body["claim"])
            held = claim.envelope
            self._rhos[sequence] = rho_of(claim.draws, claim.apart) if held is None else held.concentrated
        return self._rhos[sequence]

    def lost(self, release: str) -> tuple[Spent, ...]:
        """Return the reservations of a release that stored no answers, newer than its last one that did: their runs ended before, or still run.

        What they spent stays spent, and nothing that was drawn under them is ever shown.
        """
        since = self._committed.get(release, -1)
        every = (one for account in self.populations.values() for one in account.spent)
        return tuple(
            one for one in every if one.sequence in self.waiting and one.sequence > since and one.claim.release == release
        )

    def next(self, at: datetime, kind: str, body: Mapping[str, Any]) -> Entry:
        """Return the entry that would follow. Raises BudgetError (L113) where the clock went backwards."""
        if not self.entries:
            return Entry(0, NOTHING, at, kind, body)
        last = self.entries[-1]
        if at + _SKEW < last.at:
            raise refusals.clock_behind(last, at)
        return Entry(last.sequence + 1, self.hashes[-1], max(at, last.at), kind, body)

    # --------------------------------------------------------------------------------------------------------------- permission

    def admit(self, claim: Claim, cap: Budget | None = None, dataset_cap: Budget | None = None) -> None:
        """Raise BudgetError unless the claim may be spent under the ledger's caps and the policy's: ``cap``, and that of the dataset.

        That it costs what it says is :meth:`check_cost`'s: whoever reserves asks before, whoever verifies asks again. So is
        :meth:`check_name`, of reserving alone.
        """
        account = self.account(claim.population)
        self._check_dataset(claim)
        self._check_content(claim)
        self._check_cap(claim, f"population {claim.population}", account, cap)
        self._check_cap(claim, f"dataset {claim.dataset}", self.datasets[claim.dataset], dataset_cap)

    @staticmethod
    def check_cost(claim: Claim) -> None:
        """Raise ValueError where a claim costs less than its draws do together, composed again by the accountant that it names;
        or less than its envelope holds.

        Raises InputError (D301) where that is PLD and dp-accounting is missing.
        """
        if claim.envelope is not None:
            held = claim.envelope
            if claim.draws or claim.apart or claim.accountant != held.accountant or not held.within(claim.cost):
                msg = "a claim of an envelope has no other draws and costs at least what the envelope holds"
                raise ValueError(msg)
        elif not covers(claim.cost, claim.draws, claim.accountant, claim.apart):
            msg = "a claim cannot cost less than its draws"
            raise ValueError(msg)

    def check_name(self, claim: Claim) -> None:
        """Raise BudgetError (L129) where some of the claim's data was charged before as another dataset of its population.

        Whoever reserves asks before; replaying does not, since ledgers were written before this was asked.
        """
        for part in digests_of(claim.content):
            known = self._first_named.get(part, claim.dataset)
            if known != claim.dataset and self.population_of[known] == claim.population:
                raise refusals.another_dataset(claim.dataset, known, claim.population)

    def check_unit(self, claim: Claim) -> None:
        """Raise BudgetError (L133) where the population was charged under another unit: epsilon of rows and of persons are no sum.

        Whoever reserves asks before; replaying does not, since ledgers were written before this was asked.
        """
        account = self.account(claim.population)
        if claim.unit is None or account.unit in {None, claim.unit}:
            return
        raise refusals.other_unit(claim.population, claim.release, account.unit, claim.unit)

    def note_units(self, known: Iterable[tuple[int, str, str]]) -> None:
        """Take from manifests what old entries do not say: (sequence, run, unit) of reservations written before claims named their unit."""
        self._units |= {sequence: (run, unit) for sequence, run, unit in known}
        for account in (*self.populations.values(), *self.datasets.values()):
            account.spent[:] = [replace(one, unit=self._unit(one.sequence, one.claim)) for one in account.spent]

    def _unit(self, sequence: int, claim: Claim) -> str | None:
        """The claim's unit, else that of the manifest of its own run."""
        run, unit = self._units.get(sequence, (None, None))
        return claim.unit if claim.unit is not None or run is None or run != claim.run else unit

    def _check_dataset(self, claim: Claim) -> None:
        at_home = self.population_of.get(claim.dataset)
        if at_home is None:
            raise refusals.unknown_dataset(claim.dataset, claim.population)
        if at_home != claim.population:
            raise refusals.other_population(claim.dataset, at_home, claim.population)

    def _check_content(self, claim: Claim) -> None:
        if claim.snapshot is not None:
            for before in self._snapshots.get((claim.dataset, claim.snapshot), ()):
                if differ(before, claim.content):
                    raise refusals.another_content(claim.dataset, claim.snapshot)
        for part in digests_of(claim.content):
            at_home = self.population_of.get(self._first_named.get(part, claim.dataset))
            if at_home != claim.population:
                raise refusals.another_population(claim.dataset, at_home)

    def _check_cap(self, claim: Claim, whose: str, account: Account, policy: Budget | None) -> None:
        cap = stricter(account.cap, policy)
        if cap is None or (account.total + claim.cost).fits(cap):
            return
        said = "the ledger's" if cap == account.cap else "the policy's" if cap == policy else "the stricter"
        raise refusals.too_much(
            whose=whose,
            asked=claim.cost,
            release=claim.release,
            cap=cap,
            spent=account.total,
            spenders=account.spenders,
            stricter=said,
        )

    def check_answers(self, reservation: int, claim: Claim, keys: set[str]) -> None:
        """Raise BudgetError (L123) unless the reservation is of this claim and waits for its answers."""
        if self.waiting.get(reservation) != claim_record(claim):
            raise refusals.not_waiting(reservation)
        if not keys <= set(claim.queries):
            msg = "answers to queries that were not claimed"
            raise ValueError(msg)

    @staticmethod
    def check_drawn(envelope: Reserved | None, draws: tuple[EnvelopeDraw, ...] | None) -> None:
        """Raise BudgetError (L136) where what was drawn from an envelope, composed again from its records, costs more than it holds.

        Raises ValueError where draws are listed without an envelope, or not listed with one.
        """
        if (envelope is None) != (draws is None):
            msg = "lists the draws of an envelope, and those only"
            raise ValueError(msg)
        if envelope is not None and draws is not None and not envelope.covers(draws):
            raise refusals.overdrawn()

    # --------------------------------------------------------------------------------------------------------------- replaying

    def apply(self, entry: Entry, digest: str | None = None) -> None:
        """Take in the next entry (``digest``: its hash, where it is known).

        Raises ValueError where it does not follow, or does not make sense after those before it.
        """
        expected = (len(self.entries), self.hashes[-1] if self.hashes else NOTHING)
        if (entry.sequence, entry.previous) != expected:
            msg = "does not follow the entry before it"
            raise ValueError(msg)
        if (entry.kind == "ledger") != (entry.sequence == 0):
            msg = "is not a first entry" if entry.sequence == 0 else "is a second first entry"
            raise ValueError(msg)
        if self.entries and entry.at < self.entries[-1].at:
            msg = "is older than the entry before it"
            raise ValueError(msg)
        digest = entry.hash if digest is None else digest
        try:
            _KINDS[entry.kind](self, entry, digest)
        except (KeyError, TypeError, AttributeError) as error:
            msg = "has not the parts of an entry of its kind"
            raise ValueError(msg) from error
        self.entries.append(entry)
        self.hashes.append(digest)

    def take_ledger(self, entry: Entry, digest: str) -> None:
        """Begin: identity, owners, first caps."""
        body = entry.body
        self.identity, self.owners = body["ledger"], tuple(body["owners"])
        for name, cap in body["populations"].items():
            self.populations[name] = Account(name, _cap(cap), digest)
        for name, one in body["datasets"].items():
            self._add_dataset(name, one["population"], one["cap"], digest)

    def take_population(self, entry: Entry, digest: str) -> None:
        """Give a population its cap, once."""
        name = entry.body["population"]
        if name in self.populations:
            msg = "gives a population a second budget"
            raise ValueError(msg)
        if self.owners:
            self._signed(entry, name, NOTHING)
        self.populations[name] = Account(name, _cap(entry.body["cap"]), digest)

    def take_dataset(self, entry: Entry, digest: str) -> None:
        """Say where a dataset belongs, once."""
        self._add_dataset(entry.body["dataset"], entry.body["population"], entry.body["cap"], digest)

    def _add_dataset(self, name: str, population: str, cap: Mapping[str, str] | None, digest: str) -> None:
        if name in self.population_of or population not in self.populations:
            msg = "gives a dataset a second population, or one without budget"
            raise ValueError(msg)
        self.population_of[name] = population
        self.datasets[name] = Account(name, _cap(cap), digest)

    def take_raised(self, entry: Entry, digest: str) -> None:
        """Set a cap again, by a signature."""
        if "dataset" in entry.body:
            account = self.datasets[entry.body["dataset"]]
            self._signed(entry, account.name, account.entry, "dataset")
        else:
            account = self.populations[entry.body["population"]]
            self._signed(entry, account.name, account.entry)
        account.cap, account.entry = _cap(entry.body["cap"]), digest

    def _signed(self, entry: Entry, name: str, replaces: str, of: Literal["population", "dataset"] = "population") -> None:
        """Raise ValueError unless an owner signed what the entry says, for this ledger and in place of the cap that it replaces."""
        if self.verifier is None or not self.owners:
            msg = "changes a cap, and there is no owner's key to check its signature with"
            raise ValueError(msg)
        payload = self.verifier(entry.body["envelope"].encode(), self.owners)
        cap = _cap(entry.body["cap"])
        if cap is None or payload != cap_statement(self.identity, name, cap, replaces, of=of):
            msg = "changes a cap otherwise than was signed"
            raise ValueError(msg)

    def take_reserve(self, entry: Entry, _: str) -> None:
        """Spend."""
        claim = read_claim(entry.body["claim"], draws=False)
        if claim.dataset not in self.population_of:
            msg = "spends for a dataset that the ledger does not know"
            raise ValueError(msg)
        try:
            self.admit(claim)
        except BudgetError as error:
            msg = f"spends what could not be spent ({error.code})"
            raise ValueError(msg) from error
        spent = Spent(entry.sequence, entry.at, claim, self._unit(entry.sequence, claim))
        self.populations[claim.population].add(spent)
        self.datasets[claim.dataset].add(spent)
        self.waiting[entry.sequence] = entry.body["claim"]
        if claim.snapshot is not None and claim.content is not None:
            self._snapshots.setdefault((claim.dataset, claim.snapshot), []).append(claim.content)
        for part in digests_of(claim.content):
            self._first_named.setdefault(part, claim.dataset)

    def take_commit(self, entry: Entry, _: str) -> None:
        """Note the digests of stored answers."""
        number, answers = entry.body["reservation"], entry.body["answers"]
        if number not in self.waiting or not set(answers) <= set(self.waiting[number]["queries"]):
            msg = "stores answers that nothing was reserved for"
            raise ValueError(msg)
        claim, draws = self.waiting.pop(number), read_envelope_draws(entry.body)
        held = read_claim(claim, draws=False).envelope
        try:
            self.check_drawn(held, draws)
        except BudgetError as error:
            msg = f"draws more than was reserved ({error.code})"
            raise ValueError(msg) from error
        if draws is not None:
            self.from_envelope[number] = draws
        release = claim["release"]
        self._committed[release] = max(number, self._committed.get(release, -1))
        self.answers.update(answers)
        self._kept.update(dict.fromkeys(answers, (release, entry.at)))

    def take_forget(self, entry: Entry, _: str) -> None:
        """Let go of stored answers; what was spent for them stays spent."""
        for key in entry.body["answers"]:
            if key not in self.answers:
                msg = "forgets an answer that is not stored"
                raise ValueError(msg)
            del self.answers[key], self._kept[key]


def _cap(record: Mapping[str, str] | None) -> Budget | None:
    return None if record is None else read_budget(record)


#: How a book takes in an entry, by the entry's kind.
_KINDS: dict[str, Callable[[Book, Entry, str], None]] = {
    "ledger": Book.take_ledger,
    "population": Book.take_population,
    "dataset": Book.take_dataset,
    "cap": Book.take_raised,
    "reserve": Book.take_reserve,
    "commit": Book.take_commit,
    "forget": Book.take_forget,
}
