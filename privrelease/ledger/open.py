"""Opening a ledger that exists, and making one that does not: two acts, never one."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from privrelease.errors import BudgetError, UsageError
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime

    from privrelease.dp.budget import Budget
    from privrelease.ledger.caps import Verifier
    from privrelease.ledger.database import DatabaseLedger
    from privrelease.ledger.entries import Entry
    from privrelease.ledger.locations import Place
    from privrelease.ledger.protocol import Head
    from privrelease.ledger.state import Book

__all__ = ["Anchor", "check_anchors", "create_ledger", "ledger_exists", "open_ledger"]


@dataclass(frozen=True, slots=True)
class Anchor:
    """An entry that a manifest names. ``population``, ``unit``: whose budget it was; ``run``, ``policy``: where the manifest is, and of what."""

    head: Head
    population: str
    run: str
    policy: str = ""
    unit: str | None = None


def open_ledger(
    url: str,
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    cap: Budget | None = None,
    dataset_caps: Mapping[str, Budget] | None = None,
    anchors: Iterable[Anchor] = (),
    verifier: Verifier | None = None,
    clock: Callable[[], datetime] | None = None,
    patience: float = 60.0,
) -> DatabaseLedger:
    """Return the ledger at ``url`` (:mod:`~privrelease.ledger.locations`), which must exist, be whole, and hold every anchor.

    ``folder``: what a relative path is relative to. ``cap``, ``dataset_caps``: the policy's. ``verifier``: checks the signatures under raised caps.
    Raises BudgetError (exit 4): L102 missing, L103 damaged, L104 read-only, L105 of a newer version, L106 URL, L107 unreachable, L110
    altered, L111 an older copy, L112 another ledger than the one that was charged before.
    """
    from privrelease.ledger.database import DatabaseLedger
    from privrelease.ledger.locations import place_of

    place = place_of(url, folder or Path.cwd(), os.environ if environment is None else environment)
    ledger = DatabaseLedger(place, cap=cap, dataset_caps=dataset_caps, verifier=verifier, clock=clock, patience=patience)
    known = tuple(anchors)
    check_anchors(ledger.book(), known, place.shown)
    identity = ledger.book().identity
    ledger.note_units(
        (one.head.sequence, one.run, one.unit) for one in known if one.head.ledger == identity and one.unit is not None
    )
    return ledger


def check_anchors(book: Book, anchors: Iterable[Anchor], shown: str = "this place") -> None:
    """Raise BudgetError where the entries lack one that a manifest names (L111), or a population was charged elsewhere (L112)."""
    for anchor in sorted(anchors, key=lambda anchor: -anchor.head.sequence):
        if anchor.head.ledger != book.identity:
            if anchor.population not in book.populations:
                continue
            raise BudgetError(
                code="L112",
                message=f"run {anchor.run} charged population {anchor.population} to ledger {anchor.head.ledger[:12]}, and at {shown} is "
                f"ledger {book.identity[:12]}",
                hint="set `ledger.url` to the ledger that was charged: another one does not have a fresh budget",
            )
        if anchor.head.sequence >= len(book.entries):
            raise BudgetError(
                code="L111",
                message=f"the ledger at {shown} is an older copy: it ends at entry {len(book.entries) - 1}, and run {anchor.run} was "
                f"charged in entry {anchor.head.sequence}",
                hint="restore the newest ledger: an older one has forgotten what was spent",
            )
        if book.hashes[anchor.head.sequence] != anchor.head.hash:
            raise BudgetError(
                code="L111",
                message=f"entry {anchor.head.sequence} of the ledger at {shown} is not the one that run {anchor.run} was charged in",
                hint="restore the ledger that the run used: this copy has diverged",
            )


def ledger_exists(url: str, *, folder: Path | None = None, environment: Mapping[str, str] | None = None) -> bool:
    """Return True if something is at ``url``, a ledger or what is left of one."""
    from sqlalchemy import inspect

    from privrelease.ledger.locations import db_errors, place_of
    from privrelease.ledger.tables import LEDGER

    place = place_of(url, folder or Path.cwd(), os.environ if environment is None else environment)
    if place.path is not None:
        return os.path.lexists(place.path)
    with db_errors(place), place.engine().connect() as connection:
        return inspect(connection).has_table(LEDGER.name)


def create_ledger(
    url: str,
    *,
    populations: Mapping[str, Budget],
    datasets: Mapping[str, str],
    dataset_caps: Mapping[str, Budget] | None = None,
    owners: Iterable[str] = (),
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    clock: Callable[[], datetime] | None = None,
) -> str:
    """Make a ledger where there is none and return its id. ``datasets``: their populations; ``owners``: PEM keys that may raise caps.

    It is there completely or not at all. Raises UsageError (L125) where something is there already.
    """
    from privrelease.ledger.database import utc_now
    from privrelease.ledger.entries import NOTHING, Entry, budget_record
    from privrelease.ledger.locations import place_of
    from privrelease.ledger.state import Book

    place = place_of(url, folder or Path.cwd(), os.environ if environment is None else environment)
    identity = secrets.token_hex(16)
    caps = dataset_caps or {}
    body = {
        "ledger": identity,
        "owners": list(owners),
        "populations": {name: budget_record(cap) for name, cap in populations.items()},
        "datasets": {
            name: {"population": population, "cap": budget_record(caps[name]) if name in caps else None}
            for name, population in datasets.items()
        },
    }
    entry = Entry(0, NOTHING, (clock or utc_now)(), "ledger", body)
    Book().apply(entry)
    (_make_file if place.is_sqlite else _make_schema)(place, entry)
    return identity


def _exists(place: Place) -> Exception:
    return UsageError(
        code="L125",
        message=f"there is a ledger at {place.shown} already",
        hint="it is kept: `privrelease ledger status` shows it",
    )


def _make_file(place: Place, entry: Entry) -> None:
    """Write a whole file next to its place, then give it its name, which fails where the name is taken."""
    import sqlite3

    from privrelease.ledger.database import write_first
    from privrelease.ledger.locations import Place, db_errors

    assert place.path is not None
    path = place.path
    if os.path.lexists(path):
        raise _exists(place)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}.draft")
    try:
        with db_errors(place):
            os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600))
            sqlite3.connect(draft).close()
            with Place(place.shown, path=draft).engine().begin() as connection:
                write_first(connection, entry)
            try:
                path.hardlink_to(draft)
            except FileExistsError:
                raise _exists(place) from None
            folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
    finally:
        draft.unlink(missing_ok=True)


def _make_schema(place: Place, entry: Entry) -> None:
    from sqlalchemy import inspect

    from privrelease.ledger.database import write_first
    from privrelease.ledger.locations import db_errors
    from privrelease.ledger.tables import LEDGER

    with db_errors(place), place.engine().begin() as connection:
        connection.exec_driver_sql("SELECT pg_advisory_xact_lock(hashtext('privrelease_ledger'))")
        if inspect(connection).has_table(LEDGER.name):
            raise _exists(place)
        write_first(connection, entry)
