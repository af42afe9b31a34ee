"""The ledger that a policy names, compared with every manifest that can be seen before anything is spent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from privrelease.errors import UsageError
from privrelease.pipeline.kinds import KINDS, Kind, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from privrelease.ledger.database import DatabaseLedger
    from privrelease.ledger.open import Anchor
    from privrelease.plan.approvals import LedgerPlan
    from privrelease.plan.model import Plan
    from privrelease.release.store import ReleaseStore

__all__ = ["anchors", "named_ledger", "opened", "spending_datasets", "verified"]


def opened(plan: Plan, store: ReleaseStore) -> DatabaseLedger:
    """Open the ledger that the policy names, after comparing it with every manifest that can be seen. None is made on the way."""
    from privrelease.ledger.open import open_ledger

    named = named_ledger(plan)
    return open_ledger(
        named.url,
        folder=plan.policy_path.parent,
        cap=named.cap,
        dataset_caps=dict(named.dataset_caps),
        anchors=anchors(plan, store),
        verifier=verified,
    )


def named_ledger(plan: Plan) -> LedgerPlan:
    """Return what the policy says of its ledger. Raises UsageError (L101) where it names none."""
    if plan.ledger is None:
        raise UsageError(
            code="L101",
            message=f"policy {plan.policy_id} names no ledger: nothing says what may be spent",
            hint="write `ledger: {cap: {epsilon: …, delta: …}, url: …}` and run `privrelease ledger init`",
        )
    return plan.ledger


def spending_datasets(plan: Plan, kinds: Sequence[Kind[Any]] = KINDS) -> dict[str, str]:
    """Return the datasets that releases spend budget of, and the population of each. Raises UsageError (C121): there is none."""
    spending: list[Any] = [one for one in plan.releases if kind_of(one, kinds).accounted]
    found: dict[str, str] = {one.source.dataset: one.population for one in spending}
    if not found:
        raise UsageError(
            code="C121", message="no release of the policy spends privacy budget", hint="a release of kind statistics does"
        )
    return found


def anchors(plan: Plan, store: ReleaseStore, more: Iterable[Path] = ()) -> tuple[Anchor, ...]:
    """Return the entries that manifests name: those of the state folder, those published next to the outputs, those given; and lines of the log of
    publications, whose runs may be gone.
    """
    from privrelease.ledger.accounts import unit_of
    from privrelease.ledger.open import Anchor
    from privrelease.ledger.protocol import Head
    from privrelease.pipeline.publication_log import charged_lines
    from privrelease.release.anchors import anchored
    from privrelease.release.outputs import manifest_place

    published = [manifest_place(one.sinks[0].path) for one in plan.releases if one.sinks]
    found = {
        one.run: Anchor(
            Head(one.anchor.ledger, one.anchor.sequence, one.anchor.hash),
            one.population,
            one.run,
            one.policy,
            unit_of(None if one.unit == "row" else one.unit),
        )
        for one in anchored(store, (*published, *more))
    }
    for line in charged_lines(plan, store):
        entry = line.charged
        if entry is not None and line.run not in found:
            head, unit = Head(entry.ledger, entry.sequence, entry.hash), unit_of(None if entry.unit == "row" else entry.unit)
            found[line.run] = Anchor(head, entry.population, line.run, line.policy, unit)
    return tuple(found.values())


def verified(envelope: bytes, owners: tuple[str, ...]) -> bytes:
    """Return what an owner signed; ValueError where none did, as for every other fault of an entry."""
    from privrelease.errors import InputError
    from privrelease.ledger.caps import CAP_STATEMENT
    from privrelease.release.signing import VerifyingKey
    from privrelease.release.signing import opened as opened_envelope

    try:
        payload, _ = opened_envelope(envelope, CAP_STATEMENT, [VerifyingKey.from_pem(pem) for pem in owners])
    except InputError as error:
        message = "changes a cap, and no owner of the ledger signed it"
        raise ValueError(message) from error
    return payload
