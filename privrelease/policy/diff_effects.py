"""What a change of a policy's words about people, law and reading means: verdicts that the direction of a number does not give.

A verdict is the worst of what may be meant: whoever lets more out, promises less, asks fewer people or keeps longer weakens.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from privrelease.policy.tightening import Changed

__all__ = ["EFFECTS", "Effect", "verdict"]

Effect: TypeAlias = Literal["weaker", "breaking", "stricter", "neutral"]
#: From what must be looked at first to what need not.
EFFECTS: Final[tuple[Effect, ...]] = ("weaker", "breaking", "stricter", "neutral")

_Judge: TypeAlias = "Callable[[Changed], Effect | None]"


def verdict(change: Changed) -> Effect | None:
    """Return the effect of a change; None where the direction of its values decides."""
    for pattern, judge in _JUDGES:
        if _fits(pattern, change.names) and (found := judge(change)) is not None:
            return found
    return None


def _fits(pattern: tuple[str, ...], names: tuple[str, ...]) -> bool:
    if pattern[-1] == "**":
        pattern, names = pattern[:-1], names[: len(pattern) - 1]
    return len(pattern) == len(names) and all(part in ("*", name) for part, name in zip(pattern, names, strict=True))


def _set(value: object) -> frozenset[object]:
    return frozenset(value) if isinstance(value, tuple) else frozenset()


def _promised(change: Changed) -> Effect:
    """Measures and the like: what is no longer named is no longer promised."""
    if change.new is None or _set(change.old) - _set(change.new):
        return "weaker"
    return "stricter" if change.old != change.new and _set(change.new) - _set(change.old) else "neutral"


def _reached(change: Changed) -> Effect:
    """Who gets what for what: more of them, or one that is described otherwise, weakens, and so does the first that is named."""
    if change.new is None:
        return "weaker"
    if _set(change.new) - _set(change.old):
        return "weaker"
    return "stricter" if _set(change.old) - _set(change.new) else "neutral"


def _law(change: Changed) -> Effect | None:
    """Legal fields where there were none: stricter, but for whom they let in."""
    found = change.new if change.added or change.old is None else None
    return "weaker" if isinstance(found, dict) and (found.get("recipients") or found.get("transfers")) else None


def _setting(change: Changed) -> Effect | None:
    """A context where there was none."""
    found = change.new if change.old is None else None
    return "weaker" if isinstance(found, dict) and found.get("release_model") == "public" else None


def _stated(change: Changed) -> Effect | None:
    """Words: other words are neutral, none any more are not."""
    if change.new is None or change.new == ():
        return "weaker"
    return None if change.old is None and len(change.names) == 1 else "neutral"


def _ranked(*values: str) -> _Judge:
    """Values from the strictest to the laxest."""

    def judge(change: Changed) -> Effect:
        if change.new is None:
            return "weaker"
        if change.old is None:
            return "weaker" if change.new == values[-1] else "neutral"
        return "weaker" if values.index(str(change.new)) > values.index(str(change.old)) else "stricter"

    return judge


def _kept(change: Changed) -> Effect:
    """How long something is kept."""
    if change.new is None:
        return "weaker"
    if change.old is None:
        return "stricter"
    before, after = _days(str(change.old)), _days(str(change.new))
    return "neutral" if before == after else "weaker" if after > before else "stricter"


_LENGTHS: Final = {"Y": 365.2425, "M": 30.436875, "W": 7, "D": 1}


def _days(duration: str) -> float:
    """Return an ISO 8601 duration in days: years and months by their mean, hours and less as parts of a day.

    >>> _days("P2W"), _days("P1DT12H"), _days("P10Y") > _days("P119M")
    (14.0, 1.5, True)
    """
    date, _, time = duration.removeprefix("P").partition("T")
    found = sum(int(number) * _LENGTHS[unit] for number, unit in re.findall(r"([0-9]+)([YMWD])", date))
    seconds = {"H": 3600, "M": 60, "S": 1}
    return found + sum(int(number) * seconds[unit] for number, unit in re.findall(r"([0-9]+)([HMS])", time)) / 86400


def _sooner(change: Changed) -> Effect:
    """A day by which something is looked at again."""
    if change.new is None:
        return "weaker"
    return "stricter" if change.old is None or str(change.new) < str(change.old) else "weaker"


def _followed(change: Changed) -> Effect:
    return "stricter" if change.new else "weaker"


def _elsewhere(change: Changed) -> Effect | None:
    """Another file to measure against: nobody can tell from its name whether it is as hard."""
    return None if change.old is None else "weaker"


def _unread(change: Changed) -> Effect | None:
    """Rows and files that readers have and will miss."""
    return "breaking" if change.removed else None


def _fewer_figures(change: Changed) -> Effect | None:
    """Columns and rows of a table: those that are gone are missed, others are new to be seen."""
    if not (isinstance(change.old, tuple) and isinstance(change.new, tuple)):
        return None
    return "breaking" if all(one in change.old for one in change.new) else "weaker"


def _waived(change: Changed) -> Effect | None:
    """Waivers: stricter where each is one of the old ones, ending no later."""
    if not (isinstance(change.old, tuple) and isinstance(change.new, tuple)):
        return None
    kept = all(
        any(
            one == before.model_copy(update={"expires": one.expires}) and one.expires <= before.expires for before in change.old
        )
        for one in change.new
    )
    return "stricter" if kept else "weaker"


def _claimed(change: Changed) -> Effect:
    """An exemption from telling people."""
    return "stricter" if change.new is None else "weaker"


def _margins(change: Changed) -> Effect:
    return "weaker" if change.new else "breaking"


def _editions(change: Changed) -> Effect:
    return "breaking" if "recipient" in _set(change.old) - _set(change.new) else "neutral"


def _unused(change: Changed) -> Effect | None:
    """A dataset that no release reads yet; what reads it is a change of its own."""
    return "neutral" if change.added else None


def _unsaid(_change: Changed) -> Effect:
    return "weaker"


_JUDGES: Final[tuple[tuple[tuple[str, ...], _Judge], ...]] = (
    (("context",), _setting),
    (("context", "release_model"), _ranked("internal", "controlled", "public")),
    (("context", "controls"), _promised),
    (("context", "**"), _stated),
    (("review", "next"), _sooner),
    (("review", "triggers"), _promised),
    (("review", "**"), _stated),
    (("report", "editions"), _editions),
    (("legal",), _law),
    (("legal", "profile"), lambda change: "neutral" if change.old is None else "weaker"),
    (("legal", "recipients"), _reached),
    (("legal", "transfers"), _reached),
    (("legal", "purposes"), _reached),
    (("legal", "data_subjects"), _reached),
    (("legal", "data_categories"), _reached),
    (("legal", "basis", "art6"), _unsaid),
    (("legal", "basis", "art9"), _unsaid),
    (("legal", "retention", "*"), _kept),
    (("legal", "security_measures"), _promised),
    (("legal", "notice", "exemption"), _claimed),
    (("legal", "safeguards"), lambda change: "stricter" if change.old is None else "weaker"),
    (("legal", "dpia", "risks"), _promised),
    (("legal", "dpia", "measures"), _promised),
    (("legal", "dpia", "dpo_advice", "followed"), _followed),
    (("legal", "**"), _stated),
    (("attacks", "control"), _elsewhere),
    (("attacks", "linkability", "auxiliary"), _elsewhere),
    (("threats", "*", "population", "table"), _elsewhere),
    (("releases", "*", "queries", "*"), _unread),
    (("releases", "*", "margins"), _margins),
    (("releases", "*", "measures"), _fewer_figures),
    (("releases", "*", "by"), _fewer_figures),
    (("releases", "*", "pseudonymise", "*"), _unread),
    (("ledger", "retention"), _kept),
    (("waivers",), _waived),
    (("datasets", "*"), _unused),
)
