"""Keys of digests that earlier runs about the same persons had: the key chooses who is attacked, so a new one is a new attempt."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from privrelease.audit.comparison.previous_release import named_by_run
from privrelease.errors import PrivreleaseError
from privrelease.pipeline.kinds import KINDS, Kind
from privrelease.pipeline.previous.run_folders import inputs_of, of_same_persons
from privrelease.pipeline.publication_log import lines_of_same_persons

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privrelease.plan.model import Plan, ReleasePlan
    from privrelease.release.digests import DigestKey
    from privrelease.release.store import ReleaseStore

__all__ = ["key_in_use", "runs_of_other_keys"]


def key_in_use(store: ReleaseStore) -> DigestKey | None:
    """Return the key of digests of a state folder, or the environment's; None where there is none yet. Makes none."""
    from privrelease.release.digests import DIGEST_KEY, digest_key

    if not os.environ.get(DIGEST_KEY) and not (store.state / "digest.key").is_file():
        return None
    return digest_key(store.state, os.environ)


def runs_of_other_keys(
    store: ReleaseStore, release: ReleasePlan, plan: Plan, run: str | None, kinds: Sequence[Kind[Any]] = KINDS
) -> tuple[str, ...]:
    """Name the runs about the same persons whose inputs were digested under another key than today's, the oldest first.

    Runs of the state folder count whatever became of them, since a rejected run is an attempt too; publications of other state folders by the
    log, where there is one. Nothing is known of a run whose manifest cannot be read.
    """
    key = key_in_use(store)
    if key is None:
        return ()
    found: dict[str, str] = {}
    try:
        records = store.records()
    except (PrivreleaseError, OSError):
        records = ()
    for record in records:
        if record.run == run:
            continue
        try:
            folder = store.folder(record.run)
            inputs = inputs_of(folder, kinds)
            if inputs and inputs[0].key_id != key.id and of_same_persons(folder, record, release, plan):
                found[record.run] = named_by_run(record.release, record.run)
        except (PrivreleaseError, OSError, ValueError, LookupError, TypeError):
            continue
    for line in lines_of_same_persons(store, release, plan):
        if line.key not in {None, key.id}:
            found[line.run] = named_by_run(line.release, line.run)
    return tuple(found.values())
