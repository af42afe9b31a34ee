"""What a change of a policy means: weaker, breaking, stricter or neutral, with the line.

``weaker``: a guarantee, a limit, a budget or a control promises less, or may; whatever is not known to be harmless counts here.
``breaking``: what recipients and pipelines rely on changes (names, paths, columns, types). ``stricter``: it promises more. ``neutral``:
it promises the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Literal, TypeAlias

from pydantic import BaseModel

from privrelease.policy.dump import plain_values
from privrelease.policy.nodes import walk
from privrelease.policy.tightening import changes, recodes
from privrelease.policy.values import shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from privrelease.findings import Location
    from privrelease.policy.loader import LoadedPolicy
    from privrelease.policy.tightening import Changed

__all__ = ["EFFECTS", "Effect", "PolicyChange", "policy_changes"]

Effect: TypeAlias = Literal["weaker", "breaking", "stricter", "neutral"]
#: From what must be looked at first to what need not.
EFFECTS: tuple[Effect, ...] = ("weaker", "breaking", "stricter", "neutral")


@dataclass(frozen=True, slots=True)
class PolicyChange:
    """One change: what (dotted), its effect, in words, and where it is written (in the old policy where it is gone)."""

    subject: str
    effect: Effect
    message: str
    location: Location

    def __str__(self) -> str:
        return f"{self.location}: {self.effect}: {self.message}"


def _always(_change: Changed) -> bool:
    return True


def _removed(change: Changed) -> bool:
    return change.removed


def _loses_columns(change: Changed) -> bool:
    """Whether a selection of columns lost one or is in another order."""
    old, new = change.old, change.new
    return not (isinstance(old, tuple) and isinstance(new, tuple) and new[: len(old)] == old)


#: What changes names, paths, columns and types. The first line that fits decides, before strictness does.
_BREAKING: tuple[tuple[tuple[str, ...], Callable[[Changed], bool]], ...] = (
    (("id",), _always),
    (("releases", "*"), _removed),
    (("releases", "*", "kind"), _always),
    (("releases", "*", "output"), _always),
    (("releases", "*", "drop"), lambda change: bool(set(_names(change.new)) - set(_names(change.old)))),
    (("datasets", "*"), _removed),
    (("datasets", "*", "columns", "*"), _removed),
    (("datasets", "*", "columns", "*", "type"), _always),
    (("datasets", "**"), lambda change: recodes(change.names, change.old, change.new)),
)
#: What is said about the processing and promises nothing that is measured.
_NEUTRAL: tuple[tuple[tuple[str, ...], Callable[[Changed], bool]], ...] = (
    (("version",), _always),
    (("legal", "profile"), lambda change: change.old is None),
    (
        ("legal", "**"),
        lambda change: change.names != ("legal", "profile") and not (change.names == ("legal",) and change.new is None),
    ),
    (("datasets", "*", "columns", "*", "unit"), _always),
)


def _names(value: object) -> tuple[object, ...]:
    return value if isinstance(value, tuple) else ()


def policy_changes(old: LoadedPolicy, new: LoadedPolicy) -> tuple[PolicyChange, ...]:
    """Return every change from ``old`` to ``new``, what weakens first, then in the order of the files."""
    found = [_change(change, old, new) for change in changes(old.policy, new.policy)]
    return tuple(sorted(found, key=lambda one: (EFFECTS.index(one.effect), one.location, one.subject)))


def _change(change: Changed, old: LoadedPolicy, new: LoadedPolicy) -> PolicyChange:
    gone = change.removed or (walk(new.tree, change.new_path) is None and walk(old.tree, change.old_path) is not None)
    place = old.location(*change.old_path) if gone else new.location(*change.new_path)
    subject = ".".join(change.names)
    if change.added:
        words = f"{subject} is new" + _value(change.new, ": ")
    elif change.removed:
        words = f"{subject} is gone" + _value(change.old, ", was ")
    else:
        words = f"{subject}: {_short(change.old)} becomes {_short(change.new)}"
    return PolicyChange(subject, _effect(change), words, place)


def _effect(change: Changed) -> Effect:
    if _fitting(_BREAKING, change):
        return "breaking"
    if change.names[0] == "releases" and change.names[2:] == ("columns",):
        # fewer columns leave: stricter, and whoever reads the file misses them
        return "breaking" if change.judged == "stricter" and _loses_columns(change) else "weaker"
    if change.judged == "stricter":
        return "stricter"
    if change.judged == "free" or _fitting(_NEUTRAL, change):
        return "neutral"
    return "weaker"


def _fitting(table: tuple[tuple[tuple[str, ...], Callable[[Changed], bool]], ...], change: Changed) -> bool:
    return any(_fits(pattern, change.names) and holds(change) for pattern, holds in table)


def _fits(pattern: tuple[str, ...], names: tuple[str, ...]) -> bool:
    if pattern[-1] == "**":
        pattern, names = pattern[:-1], names[: len(pattern) - 1]
    return len(pattern) == len(names) and all(part in ("*", name) for part, name in zip(pattern, names, strict=True))


def _value(value: object, before: str) -> str:
    """The value where it is short enough to say."""
    text = _short(value)
    return "" if text in {"a mapping", "a list", "nothing"} else f"{before}{text}"


def _short(value: object) -> str:
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, BaseModel):
        value = plain_values(value)
    if isinstance(value, tuple) and all(isinstance(item, str) for item in value):
        return shown(f"[{', '.join(value)}]") if len(value) <= 6 else f"a list of {len(value)}"
    return shown(value)
