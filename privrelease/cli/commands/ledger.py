"""``privrelease ledger``: make, show, check and export the privacy-budget ledger of a policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from privrelease.cli.exit import Ending
from privrelease.errors import BudgetError, UsageError
from privrelease.findings import pluralise
from privrelease.pipeline.ledger import anchors, named_ledger, opened, spending_datasets, verified
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from privrelease.cli.console import Console
    from privrelease.ledger.database import DatabaseLedger
    from privrelease.ledger.entries import Entry
    from privrelease.ledger.state import Book
    from privrelease.pipeline.settings import Settings
    from privrelease.plan.approvals import LedgerPlan

__all__ = ["Raised", "export", "forget", "history", "init", "raise_cap", "status", "verify"]


def init(policy: Path, settings: Settings, owners: Sequence[Path], console: Console) -> Ending:
    """Make the ledger with the policy's caps, or add to an existing one the populations and datasets that it does not know."""
    from privrelease.ledger.open import create_ledger, ledger_exists
    from privrelease.pipeline.signing import public_key

    _, plan = settings.load(policy)
    named, store = named_ledger(plan), settings.store(plan)
    datasets = spending_datasets(plan)
    if ledger_exists(named.url, folder=plan.policy_path.parent):
        return _added(opened(plan, store), named, datasets, owners, console)
    seen = [one for one in anchors(plan, store) if one.policy == plan.policy_id or one.population in datasets.values()]
    if seen:
        raise BudgetError(
            code="L126",
            message=f"run {seen[-1].run} was charged to ledger {seen[-1].head.ledger[:12]}, which is not here: a new one would forget that",
            hint="restore that ledger, or set `ledger.url` to where it is",
        )
    keys = [public_key(path).pem for path in owners]
    identity = create_ledger(
        named.url,
        populations=dict.fromkeys(dict.fromkeys(datasets.values()), named.cap),
        datasets=datasets,
        dataset_caps={name: cap for name, cap in named.dataset_caps if name in datasets},
        owners=keys,
        folder=plan.policy_path.parent,
    )
    console.log(f"made ledger {identity}; keep it: what it has recorded as spent stays spent")
    if not keys:
        console.log("no --owner: its caps can never be raised, and populations can be added without a signature")
    _show(opened(plan, store), console)
    return Ending(0, f"ledger {identity[:12]} is made")


def _added(
    ledger: DatabaseLedger, named: LedgerPlan, datasets: dict[str, str], owners: Sequence[Path], console: Console
) -> Ending:
    book, caps = ledger.book(), dict(named.dataset_caps)
    populations = [name for name in dict.fromkeys(datasets.values()) if name not in book.populations]
    unknown = [name for name in datasets if name not in book.population_of]
    if owners or not (populations or unknown):
        raise UsageError(
            code="L125",
            message=f"there is ledger {book.identity[:12]} at {ledger.place.shown} already"
            + (", and its owners cannot be changed" if owners else ", and it knows all that the policy names"),
            hint="it is kept as it is: `privrelease ledger status` shows it",
        )
    if populations and book.owners:
        raise BudgetError(
            code="L124",
            message=f"population {populations[0]} needs a cap that an owner of the ledger signs",
            hint="privrelease ledger raise POLICY --population NAME --epsilon E --key FILE",
        )
    for name in populations:
        ledger.add_population(name, named.cap)
    for name in unknown:
        ledger.add_dataset(name, datasets[name], caps.get(name))
    _show(ledger, console)
    return Ending(0, f"added to the ledger: {', '.join([*populations, *unknown])}")


@dataclass(frozen=True, slots=True)
class Raised:
    """A new cap for a population or a dataset, and who signs it."""

    population: str | None
    dataset: str | None
    epsilon: str
    delta: str
    key: Path | None
    key_env: str | None


def raise_cap(policy: Path, settings: Settings, asked: Raised, console: Console) -> Ending:
    """Set a new cap of a population or of a dataset by an entry that an owner of the ledger signs."""
    from privrelease.dp.budget import Budget
    from privrelease.ledger.caps import CAP_STATEMENT, cap_statement
    from privrelease.ledger.entries import NOTHING
    from privrelease.pipeline.signing import signing_key
    from privrelease.release.signing import sealed
    from privrelease.units import Delta, Epsilon

    try:
        cap = Budget(Epsilon(asked.epsilon), Delta(asked.delta))
    except ValueError:
        raise UsageError(
            code="C120",
            message="--epsilon and --delta are exact numbers, delta at most 1",
            hint="e.g. --epsilon 2.5 --delta 1e-5",
        ) from None
    _, plan = settings.load(policy)
    ledger = opened(plan, settings.store(plan))
    book = ledger.book()
    if not book.owners:
        raise UsageError(
            code="L124",
            message="the ledger has no owners: its caps were set once and for all",
            hint="owners are named when a ledger is made: privrelease ledger init POLICY --owner KEY.pub",
        )
    of: Literal["population", "dataset"] = "population" if asked.dataset is None else "dataset"
    name = asked.population if asked.dataset is None else asked.dataset
    if name is None or (asked.population is not None and asked.dataset is not None):
        raise UsageError(code="C120", message="one cap is set at a time", hint="write --population NAME, or --dataset NAME")
    account = (book.populations if of == "population" else book.datasets).get(name)
    if account is None and of == "dataset":
        raise UsageError(
            code="C120",
            message=f"the ledger does not know dataset {name}",
            hint="`privrelease ledger init POLICY` adds it, with its cap of `ledger.datasets`",
        )
    replaces = NOTHING if account is None else account.entry
    statement = cap_statement(book.identity, name, cap, replaces, of=of)
    envelope = sealed(statement, CAP_STATEMENT, (signing_key(asked.key, asked.key_env),)).decode()
    if account is None:
        ledger.add_population(name, cap, envelope=envelope)
    else:
        ledger.set_cap(name, cap, envelope, of=of)
    _show(ledger, console)
    return Ending(0, f"the cap of {of} {name} is set by a signed entry")


def status(policy: Path, settings: Settings, console: Console) -> Ending:
    """Show for each population what it may spend, what it has spent over its whole life, what is left, and who spent it."""
    _, plan = settings.load(policy)
    ledger = opened(plan, settings.store(plan))
    _show(ledger, console)
    return Ending(0, f"the ledger ends at entry {ledger.head().sequence}")


def history(policy: Path, settings: Settings, console: Console) -> Ending:
    """List every entry, oldest first."""
    _, plan = settings.load(policy)
    book = opened(plan, settings.store(plan)).book()
    if console.json:
        console.document(
            {
                "ledger": book.identity,
                "entries": [
                    {"sequence": e.sequence, "at": f"{e.at:%Y-%m-%dT%H:%M:%S.%fZ}", "kind": e.kind, "hash": h, **dict(e.body)}
                    for e, h in zip(book.entries, book.hashes, strict=True)
                ],
            }
        )
    else:
        for entry in book.entries:
            console.data(f"{entry.sequence:>5}  {entry.at:%Y-%m-%d %H:%M:%S}Z  {_said(book, entry)}")
    return Ending(0, pluralise(len(book.entries), "entry", "entries"))


def verify(policy: Path, settings: Settings, manifests: Sequence[Path], console: Console) -> Ending:
    """Check every entry, the chain, the draws and the stored answers; name the last entry that a manifest vouches for."""
    import os

    from privrelease.cli.findings_output import finding_value
    from privrelease.ledger.database import DatabaseLedger
    from privrelease.ledger.locations import place_of
    from privrelease.ledger.verify import verify as check

    _, plan = settings.load(policy)
    named = named_ledger(plan)
    ledger = DatabaseLedger(place_of(named.url, plan.policy_path.parent, os.environ), verifier=verified)
    found = check(ledger, anchors(plan, settings.store(plan), manifests), verified)
    anchor = found.anchored
    if console.json:
        console.document(
            {
                "ledger": found.ledger,
                "entries": found.entries,
                "head": found.head,
                "anchored": None if anchor is None else {"sequence": anchor.head.sequence, "run": anchor.run},
                "after_anchor": found.after,
                "problems": [finding_value(problem) for problem in found.problems],
                "uncommitted": [finding_value(one) for one in found.uncommitted],
            }
        )
    else:
        console.data(f"ledger    {found.ledger}\nentries   {found.entries}\nhead      {found.head}")
        console.data(
            "anchored  by no manifest that can be seen"
            if anchor is None
            else f"anchored  up to entry {anchor.head.sequence}, by the manifest of run {anchor.run}; {found.after} after it"
        )
    for problem in (*found.problems, *found.uncommitted):
        console.say(str(problem))
    if found.problems:
        return Ending(1, f"the ledger is not what was written ({len(found.problems)} found)", findings=found.problems)
    return Ending(0, f"{pluralise(found.entries, 'entry is', 'entries are')} what was written")


def export(policy: Path, settings: Settings, output: Path | None, console: Console, *, force: bool = False) -> Ending:
    """Write every entry as it is hashed, one JSON document a line: ``sha256`` of a line is the hash that the next one names."""
    from privrelease.cli.output_files import Writer, kept_of_policy

    loaded, plan = settings.load(policy)
    writer = Writer(kept_of_policy(loaded, plan, settings.store(plan)), force)
    writer.check(output)
    book = opened(plan, settings.store(plan)).book()
    lines = "".join(f"{entry.text}\n" for entry in book.entries)
    if output is None:
        console.data(lines)
    else:
        writer.write(output, lines.encode())
    return Ending(0, f"{pluralise(len(book.entries), 'entry is', 'entries are')} exported")


# ---------------------------------------------------------------------------------------------------------------------- shared


def forget(policy: Path, settings: Settings, console: Console) -> Ending:
    """Delete the stored answers of the policy's releases that have been kept for as long as its retention says."""
    _, plan = settings.load(policy)
    named = named_ledger(plan)
    if named.retention is None:
        raise UsageError(
            code="C121",
            message=f"policy {plan.policy_id} does not say how long answers are kept",
            hint="write `ledger: {retention: P1Y}`, or `legal: {retention: {release: P5Y}}`",
        )
    gone = opened(plan, settings.store(plan)).forget(plan.policy_id, named.retention)
    if console.json:
        console.document({"policy": plan.policy_id, "retention": named.retention, "answers": gone})
    return Ending(0, f"{pluralise(gone, 'stored answer is', 'stored answers are')} deleted; what was spent stays spent")


def _show(ledger: DatabaseLedger, console: Console) -> None:
    from privrelease.cli.commands.ledger_status import shown, shown_as_data

    if console.json:
        console.document(shown_as_data(ledger))
    else:
        console.data("\n".join(shown(ledger)))


def _said(book: Book, entry: Entry) -> str:
    body = entry.body
    if entry.kind == "reserve":
        return _reserved(body["claim"], waiting=entry.sequence in book.waiting)
    if entry.kind == "commit":
        drawn = "" if "draws" not in body else f", {pluralise(len(body['draws']), 'draw')} from its envelope"
        return f"commit      {pluralise(len(body['answers']), 'answer')} of reservation {body['reservation']}{drawn}"
    if entry.kind == "ledger":
        return f"ledger      {body['ledger']}, {pluralise(len(body['populations']), 'population')}, {pluralise(len(body['owners']), 'owner')}"
    if entry.kind == "forget":
        kept = f"kept for longer than {body['retention']}"
        return f"forget      {pluralise(len(body['answers']), 'answer')} of policy {body['policy']}, {kept}"
    if entry.kind == "dataset":
        most = "" if body["cap"] is None else f": cap epsilon {body['cap']['epsilon']}, delta {body['cap']['delta']}"
        return f"dataset     {body['dataset']} belongs to {body['population']}{most}"
    signed = ", signed by an owner" if "envelope" in body else ""
    whose = f"dataset {body['dataset']}" if "dataset" in body else body["population"]
    return f"{entry.kind:<10}  {whose}: cap epsilon {body['cap']['epsilon']}, delta {body['cap']['delta']}{signed}"


def _reserved(claim: Mapping[str, Any], *, waiting: bool) -> str:
    if "envelope" in claim:
        of, lost = f"an envelope of rho {claim['envelope']['rho']}", ", never committed" if waiting else ""
    else:
        of, lost = pluralise(len(claim["draws"]), "draw"), ", no answers stored" if waiting else ""
    return (
        f"reserve     {claim['release']} spent epsilon {claim['cost']['epsilon']}, delta {claim['cost']['delta']} of "
        f"{claim['population']} in {of} (run {claim['run']}{lost})"
    )
