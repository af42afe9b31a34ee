"""Changes in the file of approvers' keys, which a policy only names: who may sign for what, and until when."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from privrelease.errors import InputError
from privrelease.findings import Location

if TYPE_CHECKING:
    from collections.abc import Iterator

    from privrelease.policy.changes.diff import PolicyChange
    from privrelease.policy.changes.directions import Effect
    from privrelease.policy.loader import LoadedPolicy
    from privrelease.release.approvers import Approver

__all__ = ["approver_changes"]

_SUBJECT = "approvals.keys"
_NEVER = date.max
_ALWAYS = date.min


def approver_changes(old: LoadedPolicy, new: LoadedPolicy) -> tuple[PolicyChange, ...]:
    """Return what changed between the approvers of two policies; nothing where either requires no approval, or no file is there at all.

    Somebody who may sign is more, and weakens; so does a key that is valid longer, or of which a revocation is taken back. A file that one side
    lacks cannot be compared, and what cannot be compared is weaker.
    """
    from privrelease.policy.changes.diff import PolicyChange

    if old.policy.approvals is None or new.policy.approvals is None:
        return ()
    place = Location(new.policy.approvals.keys)
    before, after = _listed(old), _listed(new)
    if before is None and after is None:
        return ()
    if before is None or after is None:
        side = "old" if before is None else "new"
        words = (
            f"{_SUBJECT}: the file of approvers' keys of the {side} policy cannot be read, so the approvers were not compared"
        )
        return (PolicyChange(_SUBJECT, "weaker", words, place),)
    return tuple(PolicyChange(_SUBJECT, effect, f"{_SUBJECT}: {words}", place) for effect, words in _compared(before, after))


def _listed(loaded: LoadedPolicy) -> dict[str, Approver] | None:
    """Approvers by the ids of their keys; None where the file cannot be read."""
    from privrelease.release.approvers import load_approvers

    spec = loaded.policy.approvals
    assert spec is not None
    path = loaded.roots.inside(spec.keys, loaded.roots.folder)
    if not path.is_file():
        return None
    try:
        return {one.key.id: one for one in load_approvers(path, spec.keys)}
    except InputError:
        return None


def _compared(before: dict[str, Approver], after: dict[str, Approver]) -> Iterator[tuple[Effect, str]]:
    for key, one in after.items():
        if key not in before:
            yield "weaker", f"{one.name} may sign as {', '.join(one.roles)} with a new key ({key[:12]})"
    for key, one in before.items():
        if key not in after:
            yield "stricter", f"{one.name} may no longer sign with key {key[:12]}"
        else:
            yield from _of_one(one, after[key])


def _of_one(old: Approver, new: Approver) -> Iterator[tuple[Effect, str]]:
    """Return the changes of one key."""
    if old.name != new.name:
        yield "weaker", f"the key of {old.name} is that of {new.name} now: who signs as two persons may be one"
    more, fewer = set(new.roles) - set(old.roles), set(old.roles) - set(new.roles)
    if more:
        yield "weaker", f"{new.name} may sign as {', '.join(sorted(more))} too"
    if fewer:
        yield "stricter", f"{new.name} may no longer sign as {', '.join(sorted(fewer))}"
    days = (
        ("valid_from", old.valid_from or _ALWAYS, new.valid_from or _ALWAYS, False),
        ("valid_until", old.valid_until or _NEVER, new.valid_until or _NEVER, True),
        ("revoked", old.revoked or _NEVER, new.revoked or _NEVER, True),
    )
    for name, was, is_now, later_is_weaker in days:
        if was != is_now:
            effect: Effect = "weaker" if (is_now > was) is later_is_weaker else "stricter"
            yield effect, f"{name} of the key of {new.name} becomes {_said(is_now)}"


def _said(day: date) -> str:
    return "unlimited" if day in {_NEVER, _ALWAYS} else day.isoformat()
