"""Verdicts on the changes of a policy: weaker, breaking, stricter or neutral, with the line.

``weaker``: a guarantee, a limit, a budget or a control promises less, or may; whatever is not known to be harmless counts here.
``breaking``: what recipients and pipelines rely on changes (names, paths, columns, types). ``stricter``: it promises more. ``neutral``:
it promises the same.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING

from pydantic import BaseModel

from privrelease.policy.changes.directions import EFFECTS, Effect, verdict
from privrelease.policy.changes.environment_rules import changes
from privrelease.policy.language.number_values import exact_decimal
from privrelease.policy.language.values import Period
from privrelease.policy.output.dump import plain_values
from privrelease.policy.release_kind import kind_of
from privrelease.policy.text.messages import shown
from privrelease.policy.text.nodes import walk
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from privrelease.findings import Location
    from privrelease.policy.changes.environment_rules import Changed
    from privrelease.policy.loader import LoadedPolicy
    from privrelease.policy.release_kind import FileOrder

__all__ = ["EFFECTS", "Effect", "PolicyChange", "environment_changes", "policy_changes", "sorted_changes"]

#: Entries of a list that are said one by one.
_SAID = 6


@dataclass(frozen=True, slots=True)
class PolicyChange:
    """One change: what (dotted), its effect, in words, and where it is written (in the old policy where it was removed)."""

    subject: str
    effect: Effect
    message: str
    location: Location

    def __str__(self) -> str:
        return f"{self.location}: {self.effect}: {self.message}"


def _names(value: object) -> tuple[object, ...]:
    return value if isinstance(value, tuple) else ()


def policy_changes(old: LoadedPolicy, new: LoadedPolicy) -> tuple[PolicyChange, ...]:
    """Return every change from ``old`` to ``new``, what weakens first, then in the order of the files."""
    found = [_change(change, old, new) for change in changes(old.policy, new.policy, new.kinds)]
    return sorted_changes((*found, *_reordered(old, new), *_no_longer_stated(old, new)))


def _reordered(old: LoadedPolicy, new: LoadedPolicy) -> Iterator[PolicyChange]:
    """Queries or declared columns in another order: rows and columns are released in the policy's order."""
    before, after = _orders(old), _orders(new)
    for number, release in enumerate(new.policy.releases):
        for key, order in after[release.id].items():
            earlier = before.get(release.id, {}).get(key)
            if earlier is not None and not _in_one_order(earlier.names, order.names):
                place: tuple[str | int, ...] = tuple(number if part is None else part for part in order.path)
                subject = ".".join(release.id if part is None else part for part in order.path)
                message = f"{subject} are in another order{order.effect}"
                yield PolicyChange(subject, "breaking", message, new.location(*place))


def _orders(loaded: LoadedPolicy) -> dict[str, dict[tuple[str, str], FileOrder]]:
    """By release: the names whose order is that of its file, by its kind and what they are."""
    datasets = loaded.policy.datasets
    return {
        release.id: {
            (release.kind, one.key): one for one in kind_of(release, loaded.kinds).orders(release, datasets.get(release.from_))
        }
        for release in loaded.policy.releases
    }


def _in_one_order(old: Sequence[str], new: Sequence[str]) -> bool:
    """Return True if the entries that both have are in the same order in both."""
    return [name for name in old if name in new] == [name for name in new if name in old]


#: Legal fields of which null says that there is none, and nothing says nothing.
_NONE_STATED = (("representative",), ("dpo",), ("dpia", "prior_consultation"))


def _no_longer_stated(old: LoadedPolicy, new: LoadedPolicy) -> Iterator[PolicyChange]:
    """That there is none: a statement that is new or removed."""
    before, after = old.policy.legal, new.policy.legal
    if before is None or after is None:
        return
    for place in _NONE_STATED:
        section, name = place[:-1], place[-1]
        holders = [reduce(getattr, section, side) for side in (before, after)]
        if any(holder is None for holder in holders):
            continue
        stated = [name in holder.model_fields_set for holder in holders]
        if all(getattr(holder, name) is None for holder in holders) and stated[0] != stated[1]:
            subject = ".".join(("legal", *place))
            if stated[1]:
                yield PolicyChange(subject, "neutral", f"{subject} is new: there is none", new.location("legal", *place))
            else:
                yield PolicyChange(subject, "weaker", f"{subject} is gone, was: there is none", old.location("legal", *place))


def sorted_changes(found: Iterable[PolicyChange]) -> tuple[PolicyChange, ...]:
    """Return changes, what weakens first, then in the order of the files."""
    return tuple(sorted(found, key=lambda one: (EFFECTS.index(one.effect), one.location, one.subject)))


def environment_changes(
    old: Mapping[str, LoadedPolicy], new: Mapping[str, LoadedPolicy], plain: LoadedPolicy, base: Sequence[PolicyChange]
) -> tuple[PolicyChange, ...]:
    """Return what changes in environments alone: policies by the environment that is laid over them.

    A change that ``base`` reports already, of the policy itself, is not repeated for those that take it over. One that is gone
    breaks whoever names it, and weakens where it was stricter than ``plain``, the new policy itself; one that is new may only
    tighten what is there.
    """
    known = {(one.subject, one.message) for one in base}
    found = []
    for name in sorted(old.keys() | new.keys()):
        subject = f"environments.{name}"
        if name not in new:
            place = old[name].location("environments", name)
            loses = any(
                one.effect == "weaker" and (one.subject, one.message) not in known for one in policy_changes(old[name], plain)
            )
            found.append(PolicyChange(subject, "weaker" if loses else "breaking", f"{subject} is gone", place))
        elif name not in old:
            place = new[name].location("environments", name)
            found.append(PolicyChange(subject, "neutral", f"{subject} is new", place))
        else:
            found += [
                replace(one, subject=f"{subject}.{one.subject}", message=f"{subject}: {one.message}")
                for one in policy_changes(old[name], new[name])
                if (one.subject, one.message) not in known
            ]
    return tuple(found)


def _change(change: Changed, old: LoadedPolicy, new: LoadedPolicy) -> PolicyChange:
    gone = change.removed or (walk(new.tree, change.new_path) is None and walk(old.tree, change.old_path) is not None)
    place = old.location(*change.old_path) if gone else new.location(*_entry(change, new))
    subject = ".".join(change.names)
    if change.added:
        words = f"{subject} is new" + _value(change.new, ": ")
    elif change.removed:
        words = f"{subject} is gone" + _value(change.old, ", was ")
    elif _both_listed(change):
        words = f"{subject}: {_entries(change.old, change.new)}"
    else:
        words = f"{subject}: {_short(change.old)} becomes {_short(change.new)}"
        words += f"; {follows}" if (follows := change.declared.consequence) else ""
    return PolicyChange(subject, _effect(change), words, place)


def _entry(change: Changed, new: LoadedPolicy) -> tuple[str | int, ...]:
    """The path of the first new entry of a list that is written as one, or of a value that is written elsewhere; else of what changed."""
    if not (isinstance(change.old, tuple) and isinstance(change.new, tuple)):
        own = None if change.old is None else _own_entry(change, new, change.new)
        return change.new_path if own is None else own
    added = next((number for number, item in enumerate(change.new) if item not in change.old), None)
    if added is None:
        return change.new_path
    own = _own_entry(change, new, change.new[added])
    if own is not None:
        return own
    path = (*change.new_path, added)
    return path if walk(new.tree, path) is not None else change.new_path


def _own_entry(change: Changed, new: LoadedPolicy, item: object) -> tuple[str | int, ...] | None:
    """The path of an item that a release has elsewhere than in a list of this name."""
    if change.names[0] != "releases" or len(change.names) < 3:
        return None
    number, release = next((at, one) for at, one in enumerate(new.policy.releases) if one.id == change.names[1])
    below = kind_of(release, new.kinds).entry(release, change.names[2:], item)
    return None if below is None else ("releases", number, *below)


def _effect(change: Changed) -> Effect:
    if change.recodes:
        return "breaking"
    found = verdict(change)
    if found is not None:
        return found
    if change.judged == "stricter":
        return "stricter"
    return "neutral" if change.judged == "free" else "weaker"


def _both_listed(change: Changed) -> bool:
    """Return True if a change is reported by what was added and removed: of two lists, or one and nothing, that are not written
    in full.
    """
    sides = [() if side is None else side for side in (change.old, change.new)]
    return all(isinstance(side, tuple) for side in sides) and any(map(_long, sides))


def _long(value: object) -> bool:
    """Return True if a list is not written in full: it holds mappings, or many words."""
    return isinstance(value, tuple) and (len(value) > _SAID or not all(isinstance(item, str) for item in value))


def _entries(old: object, new: object) -> str:
    """Return what was added to a list and what was removed from it, with entries by their names where they have some."""
    before, after = _names(old), _names(new)
    added, gone = [one for one in after if one not in before], [one for one in before if one not in after]
    parts = [f"{_named(items)} {what}" for items, what in ((added, "added"), (gone, "gone")) if items]
    return "; ".join(parts) or "in another order"


def _named(items: list[object]) -> str:
    words = [item if isinstance(item, str) else _name_of(item) for item in items]
    known = [shown(word) for word in words if word]
    return ", ".join(known) if len(known) == len(words) <= _SAID else str(len(words))


def _name_of(item: object) -> str | None:
    for key in ("id", "name", "check", "country"):
        found = getattr(item, key, None)
        if isinstance(found, str):
            return found
    return None


def _value(value: object, before: str) -> str:
    """The value where it is short enough to say."""
    text = _short(value)
    return "" if text in {"a mapping", "a list", "nothing"} else f"{before}{text}"


def _short(value: object) -> str:
    if isinstance(value, Fraction):
        value = exact_decimal(value)
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, BaseModel | date | Period):
        value = plain_values(value)
    if isinstance(value, tuple) and all(isinstance(item, str) for item in value):
        return shown(f"[{', '.join(value)}]") if len(value) <= _SAID else f"a list of {len(value)}"
    return shown(value)
