"""Common parts of the judges of changes: the effects, how a judge is found, and verdicts that many keys have in common.

Which way a change of a policy points where the direction of a number does not decide: as the key's own judges say.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from privrelease.policy.changes.environment_rules import Changed

__all__ = [
    "EFFECTS",
    "Effect",
    "Judge",
    "always",
    "elsewhere",
    "held",
    "limit",
    "members",
    "only_removed",
    "promised",
    "ranked",
    "reached",
    "verdict",
]


Effect: TypeAlias = Literal["weaker", "breaking", "stricter", "neutral"]
#: From what must be looked at first to what need not.
EFFECTS: Final[tuple[Effect, ...]] = ("weaker", "breaking", "stricter", "neutral")

#: Returns the effect of a change; None where the direction of its values decides.
Judge: TypeAlias = "Callable[[Changed], Effect | None]"


def members(value: object) -> frozenset[object]:
    """Return what a list holds; nothing where the value is not a list."""
    return frozenset(value) if isinstance(value, tuple) else frozenset()


def always(effect: Effect) -> Judge:
    """Every change means the same."""
    return lambda _change: effect


def elsewhere(_change: Changed) -> Effect:
    """A file or column to measure against: no one can tell from its name whether it is as hard."""
    return "weaker"


def only_removed(change: Changed) -> Effect | None:
    """Rows and files that readers have and will miss."""
    return "breaking" if change.removed else None


def limit(*, higher: Effect) -> Judge:
    """A number that limits; ``higher``: what a larger one means. One that is new is stricter, one that was removed weaker."""
    lower: Effect = "stricter" if higher == "weaker" else "weaker"

    def judge(change: Changed) -> Effect | None:
        if change.new is None:
            return "weaker"
        if change.old is None:
            return "stricter"
        if isinstance(change.old, int | Decimal) and isinstance(change.new, int | Decimal):
            return higher if change.new > change.old else lower
        return None

    return judge


def promised(change: Changed) -> Effect:
    """Measures and the like: what is no longer named is no longer promised."""
    if change.new is None or members(change.old) - members(change.new):
        return "weaker"
    return "stricter" if members(change.new) - members(change.old) else "neutral"


def reached(change: Changed) -> Effect:
    """Judge who gets what: more of them, or one that is described otherwise, weakens, and so does the first that is named."""
    if change.new is None:
        return "weaker"
    if members(change.new) - members(change.old):
        return "weaker"
    return "stricter" if members(change.old) - members(change.new) else "neutral"


def kept_apart(change: Changed) -> Effect:
    """Recipients of a release, where others are kept apart from it: more of them reach further, and fewer promise that fewer can combine releases."""
    both = change.old is not None and change.new is not None
    return "neutral" if both and members(change.old) == members(change.new) else "weaker"


def held(change: Changed) -> Effect | None:
    """A list of what must hold, or of what an attacker knows, in whatever order: more of it is stricter."""
    if not (isinstance(change.old, tuple) and isinstance(change.new, tuple)):
        return None
    return promised(change)


def ranked(*values: str, absent: Collection[str] = ()) -> Judge:
    """Values from the strictest to the laxest. ``absent``: what no value may represent, the worst of which counts; else the first words are
    neutral where they are not the laxest, and none any more are weaker.
    """

    def places(value: object) -> list[int]:
        return [values.index(str(value))] if value is not None else [values.index(one) for one in absent]

    def judge(change: Changed) -> Effect:
        before, after = places(change.old), places(change.new)
        if not after:
            return "weaker"
        if not before:
            return "weaker" if after[-1] == len(values) - 1 else "neutral"
        if max(after) > min(before):
            return "weaker"
        return "stricter" if min(after) < max(before) else "neutral"

    return judge


def verdict(change: Changed) -> Effect | None:
    """Return the effect of a change; None where the direction of its values decides."""
    effects = (judge(change) for judge in change.declared.judges)
    return next((effect for effect in effects if effect is not None), None)
