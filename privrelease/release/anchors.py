"""The ledger's entries that manifests name, wherever a manifest can be seen: they expose an older copy of a ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.release.manifest import Manifest
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from privrelease.release.privacy import LedgerAnchor
    from privrelease.release.store import ReleaseStore

__all__ = ["Anchored", "anchored"]


@dataclass(frozen=True, slots=True)
class Anchored:
    """Statement of a manifest about the ledger: which entry, for which population and unit; ``run``, ``policy``: its origin."""

    anchor: LedgerAnchor
    population: str
    run: str
    policy: str
    unit: str


def anchored(store: ReleaseStore, published: Iterable[Path] = ()) -> tuple[Anchored, ...]:
    """Return what the manifests of a state folder, and those at ``published`` paths, say; of test noise nothing.

    Raises InputError (R125) where a manifest cannot be read: whoever changes one must not make a ledger look newer.
    """
    runs = [store.folder(record.run).manifest_path for record in store.records()] if store.state.is_dir() else []
    found: dict[str, Anchored] = {}
    for path in (*runs, *published):
        if not path.is_file():
            continue
        manifest = Manifest.load(path)
        claim = manifest.privacy
        if claim is not None and claim.private and claim.anchor is not None:
            found[manifest.run] = Anchored(claim.anchor, claim.population, manifest.run, manifest.policy.id, claim.unit)
    return tuple(found.values())
