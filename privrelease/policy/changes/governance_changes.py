"""What a change of a policy's words about people, law and time means: verdicts that the direction of a number does not give.

A verdict is the worst of what may be meant: whoever lets more out, promises less, asks fewer people or keeps longer weakens.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal

from privrelease.policy.changes.directions import always, fits, members, promised, ranked, reached

if TYPE_CHECKING:
    from privrelease.policy.changes.directions import Effect, Judges
    from privrelease.policy.changes.environment_rules import Changed
    from privrelease.policy.language.models import Policy

__all__ = ["WORD_JUDGES"]


def _newly_written(change: Changed) -> Effect | None:
    """A section where there was none: what its parts mean; None where they mean nothing."""
    if change.old is not None or not isinstance(change.new, dict):
        return None
    found = set()
    for key, value in change.new.items():
        if value is not None and value != ():
            part = replace(change, names=(*change.names, str(key)), new=value, added=False, removed=False)
            found.add(next((judge(part) for pattern, judge in WORD_JUDGES if fits(pattern, part.names)), None))
    effects: tuple[Literal["weaker", "stricter"], ...] = ("weaker", "stricter")
    return next((effect for effect in effects if effect in found), None)


def _stated(change: Changed) -> Effect | None:
    """Words: other words are neutral, none any more are not."""
    worst = _newly_written(change)
    if worst is not None:
        return worst
    if change.new is None or change.new == ():
        return "weaker"
    return None if change.old is None and len(change.names) == 1 else "neutral"


def _described(change: Changed) -> Effect:
    """Purposes, and whom and what the data is about: more weakens; the first that are named limit what was not limited before."""
    if not change.new:
        return "weaker"
    return reached(change) if change.old else "neutral"


def _shared(change: Changed) -> Effect:
    """Joint controllers: one more has the data too; how they are reached is words."""
    if change.new is None:
        return "weaker"
    before, after = ({getattr(one, "name", None) for one in members(side)} for side in (change.old, change.new))
    return "weaker" if after - before else "stricter" if before - after else "neutral"


def _ground(change: Changed) -> Effect:
    """The letter of the law that it rests on: stated is better than not, another may carry less."""
    return "neutral" if change.old is None else "weaker"


def _kept(change: Changed) -> Effect:
    """How long something is kept."""
    if change.new is None:
        return "weaker"
    if change.old is None:
        return "stricter"
    return _longer(str(change.old), str(change.new))


def _longer(old: str, new: str) -> Effect:
    before, after = _days(old), _days(new)
    return "neutral" if before == after else "weaker" if after > before else "stricter"


def _answers_kept(change: Changed) -> Effect:
    """How long stored answers are kept; as long as the release where nothing is said."""
    sides = [
        value if value is not None else _release_kept(policy)
        for value, policy in ((change.old, change.before), (change.new, change.after))
    ]
    if sides[1] is None:
        return "weaker"
    return "stricter" if sides[0] is None else _longer(str(sides[0]), str(sides[1]))


def _release_kept(policy: Policy | None) -> str | None:
    if policy is None or policy.legal is None or policy.legal.retention is None:
        return None
    return policy.legal.retention.release


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


def _waived(change: Changed) -> Effect | None:
    """Waivers: stricter where each is one of the old ones, ending no later."""
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


def _claimed(change: Changed) -> Effect:
    """An exemption from telling people."""
    return "stricter" if change.new is None else "weaker"


def _editions(change: Changed) -> Effect:
    """The internal edition is always written."""
    return "breaking" if "recipient" in members(change.old) - members(change.new) else "neutral"


def _report(change: Changed) -> Effect:
    """What is not said of the report: both editions are written."""
    before, after = (side.get("editions") if isinstance(side, dict) else _BOTH for side in (change.old, change.new))
    return _editions(replace(change, old=before, new=after))


_BOTH: Final = ("internal", "recipient")

WORD_JUDGES: Judges = (
    (("report",), _report),
    (("context", "release_model"), ranked("internal", "controlled", "public")),
    (("context", "controls"), promised),
    (("context", "**"), _stated),
    (("review", "next"), _sooner),
    (("review", "triggers"), promised),
    (("review", "**"), _stated),
    (("report", "editions"), _editions),
    (("legal", "profile"), lambda change: "stricter" if change.old is None else "weaker"),
    (("legal", "joint_controllers"), _shared),
    (("legal", "recipients"), reached),
    (("legal", "transfers"), reached),
    (("legal", "purposes"), _described),
    (("legal", "data_subjects"), _described),
    (("legal", "data_categories"), _described),
    (("legal", "basis", "art6"), _ground),
    (("legal", "basis", "art9"), _ground),
    (("legal", "retention", "*"), _kept),
    (("legal", "security_measures"), promised),
    (("legal", "notice", "exemption"), _claimed),
    (("legal", "safeguards"), lambda change: "stricter" if change.old is None else "weaker"),
    (("legal", "dpia", "risks"), promised),
    (("legal", "dpia", "measures"), promised),
    (("legal", "dpia", "dpo_advice", "followed"), _followed),
    (("legal", "**"), _stated),
    (("approvals", "keys"), always("weaker")),
    (("ledger", "retention"), _answers_kept),
    (("waivers",), _waived),
)
