"""Verdicts on changes of a policy's words about people, law and time that the direction of a number does not give.

A verdict is the worst of what may be meant: whoever lets more out, promises less, asks fewer people or keeps longer weakens.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal, cast

from privrelease.policy.changes.directions import members, reached
from privrelease.policy.language.values import DEFAULT_LOG, Period

if TYPE_CHECKING:
    from datetime import date

    from privrelease.policy.changes.directions import Effect
    from privrelease.policy.changes.environment_rules import Changed
    from privrelease.policy.language.models import Policy

__all__ = [
    "answers_kept",
    "claimed",
    "described",
    "editions",
    "followed",
    "ground",
    "kept",
    "newly",
    "report",
    "shared",
    "sooner",
    "stated",
    "waived",
]


def _newly_written(change: Changed) -> Effect | None:
    """A section where there was none: what its parts mean; None where they mean nothing."""
    if change.old is not None or not isinstance(change.new, dict):
        return None
    found = set()
    for key, value in change.new.items():
        if value is not None and value != ():
            part = replace(change, names=(*change.names, str(key)), new=value, added=False, removed=False)
            found.add(next((judge(part) for judge in part.declared.judges), None))
    effects: tuple[Literal["weaker", "stricter"], ...] = ("weaker", "stricter")
    return next((effect for effect in effects if effect in found), None)


def stated(change: Changed) -> Effect | None:
    """Judge words: other words are neutral, none any more are not."""
    worst = _newly_written(change)
    if worst is not None:
        return worst
    if change.new is None or change.new == ():
        return "weaker"
    return None if change.old is None and len(change.names) == 1 else "neutral"


def described(change: Changed) -> Effect:
    """Judge purposes, and whom and what the data is about: more weakens; the first that are named limit what was not limited before."""
    if not change.new:
        return "weaker"
    return reached(change) if change.old else "neutral"


def shared(change: Changed) -> Effect:
    """Judge joint controllers: one more has the data too; how they are reached is words."""
    if change.new is None:
        return "weaker"
    before, after = ({getattr(one, "name", None) for one in members(side)} for side in (change.old, change.new))
    return "weaker" if after - before else "stricter" if before - after else "neutral"


def ground(change: Changed) -> Effect:
    """Judge the letter of the law that it rests on: stated is better than not, another may carry less."""
    return "neutral" if change.old is None else "weaker"


def kept(change: Changed) -> Effect | None:
    """Judge how long something is kept."""
    if change.new is None:
        return "weaker"
    if change.old is None:
        return "stricter"
    return _longer(change.old, change.new) if isinstance(change.old, Period) and isinstance(change.new, Period) else None


def _longer(old: Period, new: Period) -> Effect:
    return "neutral" if old.days == new.days else "weaker" if new.days > old.days else "stricter"


def answers_kept(change: Changed) -> Effect:
    """Judge how long stored answers are kept; as long as the release where nothing is said."""
    sides = [
        value if isinstance(value, Period) else _release_kept(policy)
        for value, policy in ((change.old, change.before), (change.new, change.after))
    ]
    if sides[1] is None:
        return "weaker"
    return "stricter" if sides[0] is None else _longer(sides[0], sides[1])


def _release_kept(policy: Policy | None) -> Period | None:
    if policy is None or policy.legal is None or policy.legal.retention is None:
        return None
    return policy.legal.retention.release


def sooner(change: Changed) -> Effect:
    """Judge a day by which something is looked at again."""
    if change.new is None:
        return "weaker"
    return "stricter" if change.old is None or cast("date", change.new) < cast("date", change.old) else "weaker"


def newly(change: Changed) -> Effect:
    """Judge a profile or safeguard: one that is new promises more, another may promise less."""
    return "stricter" if change.old is None else "weaker"


def followed(change: Changed) -> Effect:
    """Judge whether advice is followed."""
    return "stricter" if change.new else "weaker"


def waived(change: Changed) -> Effect | None:
    """Judge waivers: stricter where each is one of the old ones, ending no later."""
    if not (isinstance(change.old, tuple) and isinstance(change.new, tuple)):
        return None
    if members(change.old) == members(change.new):
        return "neutral"
    kept = all(
        any(
            one == before.model_copy(update={"expires": one.expires}) and one.expires <= before.expires for before in change.old
        )
        for one in change.new
    )
    return "stricter" if kept else "weaker"


def claimed(change: Changed) -> Effect:
    """Judge an exemption from telling people."""
    return "stricter" if change.new is None else "weaker"


def editions(change: Changed) -> Effect:
    """Judge the editions of a report: the internal one is always written."""
    return "breaking" if "recipient" in members(change.old) - members(change.new) else "neutral"


def report(change: Changed) -> Effect:
    """Judge a report of which nothing is said: both editions are written."""
    sides = (side.get("editions") if isinstance(side, dict) else None for side in (change.old, change.new))
    before, after = (_BOTH if side is None else side for side in sides)
    return editions(replace(change, old=before, new=after))


_BOTH: Final = ("internal", "recipient")


def logged(change: Changed) -> Effect:
    """Judge another log of publications: it has forgotten what the one before knows, unless its lines are taken along, which no policy shows."""
    return "neutral" if (change.old or DEFAULT_LOG) == (change.new or DEFAULT_LOG) else "weaker"
