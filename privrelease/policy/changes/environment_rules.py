"""What an environment may change: an allow-list. A change that no line here allows loosens the policy, or may, and is refused.

So a new key of the policy language is fixed in every environment until somebody has decided in which direction it is stricter.
"""

from __future__ import annotations

from dataclasses import dataclass
from os.path import normpath
from typing import TYPE_CHECKING, Literal, cast

from pydantic import BaseModel

from privrelease.policy.language.attacks import ATTACKS
from privrelease.policy.language.models import Policy
from privrelease.policy.language.releases import DropStep, MicrodataRelease, PseudonymiseStep, SuppressCells
from privrelease.policy.language.statistics import StatisticsRelease
from privrelease.relational.schema import Role

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from decimal import Decimal

__all__ = ["ALLOWED", "Change", "Changed", "changes", "loosened", "recodes"]

_Path = tuple[str | int, ...]
_Names = tuple[str, ...]
_ABSENT = object()


@dataclass(frozen=True, slots=True)
class Change:
    """A change that is allowed at ``path`` (``*`` is any name; a last ``**`` is everything below) where ``allows(old, new)``."""

    path: tuple[str, ...]
    allows: Callable[[object, object], bool]
    rule: str


def _free(_old: object, _new: object) -> bool:
    return True


def _lower(old: object, new: object) -> bool:
    """A limit from above: newly set or lower."""
    return old is None or (new is not None and cast("Decimal", new) <= cast("Decimal", old))


def _lower_where_set(old: object, new: object) -> bool:
    """A limit that stands for 0 where it is not set."""
    return new is None or (old is not None and cast("Decimal", new) <= cast("Decimal", old))


def _higher(old: object, new: object) -> bool:
    """A limit from below: newly set or higher."""
    return old is None or (new is not None and cast("Decimal", new) >= cast("Decimal", old))


def _mostly(old: object, new: object) -> bool:
    """A share that stands for all where it is not set."""
    return new is None or (old is not None and cast("Decimal", new) >= cast("Decimal", old))


def _more(old: object, new: object) -> bool:
    return set(cast("_Names", old)) <= set(cast("_Names", new))


def _fewer_columns(old: object, new: object) -> bool:
    """None stands for all columns."""
    return new is not None and (old is None or set(cast("_Names", new)) <= set(cast("_Names", old)))


def _fewer(old: object, new: object) -> bool:
    return set(cast("tuple[object, ...]", new)) <= set(cast("tuple[object, ...]", old))


def _newly(old: object, _new: object) -> bool:
    return old is None


def _pointed(_old: object, new: object) -> bool:
    """A file newly named or read from elsewhere, not taken away."""
    return new is not None


def _added(old: object, _new: object) -> bool:
    return old is _ABSENT


def _removed(_old: object, new: object) -> bool:
    return new is _ABSENT


def _only(old: object, new: object) -> Callable[[object, object], bool]:
    return lambda before, after: (before, after) == (old, new)


def _to(new: object) -> Callable[[object, object], bool]:
    return lambda _, after: after == new


_STRICTNESS = (Role.INSENSITIVE, Role.SENSITIVE, Role.QUASI, Role.DIRECT)


def _stricter_role(old: object, new: object) -> bool:
    return _STRICTNESS.index(cast("Role", new)) >= _STRICTNESS.index(cast("Role", old))


_KEEP = "must not change"
_WITH_SOURCE = "may change only where the source changes too: on the same data it changes values"
#: Keys of a format that say what a cell means. The delimiter alone is wrong for a file or right; with another encoding or quote other texts
#: are read, and nothing tells.
_MEANING = frozenset(
    {
        "quote",
        "encoding",
        "decimal",
        "thousands",
        "date",
        "datetime",
        "missing",
        "suppression_mark",
        "aliases",
        "normalise",
    }
)

ALLOWED: tuple[Change, ...] = (
    Change(("title",), _free, _KEEP),
    Change(("datasets", "*"), _added, _KEEP),
    Change(("datasets", "*", "source", "**"), _free, _KEEP),
    Change(("datasets", "*", "table"), _free, _KEEP),
    Change(("datasets", "*", "format", "**"), _free, _KEEP),
    Change(("datasets", "*", "snapshot"), _free, _KEEP),
    Change(("datasets", "*", "description"), _free, _KEEP),
    Change(("datasets", "*", "unlisted_columns"), _only("drop", "error"), "may change from drop to error only"),
    Change(
        ("datasets", "*", "columns", "*", "role"),
        _stricter_role,
        "may become stricter only (insensitive, sensitive, quasi, direct)",
    ),
    Change(("datasets", "*", "columns", "*", "category"), _newly, "may be added only"),
    Change(("datasets", "*", "columns", "*", "format", "**"), _free, _KEEP),
    Change(("datasets", "*", "columns", "*", "description"), _free, _KEEP),
    Change(("threats", "*"), _added, "must not be removed"),
    Change(("threats", "*", "knows"), _more, "may only be added to"),
    Change(("threats", "*", "highest_risk"), _lower, "may become lower only"),
    Change(("threats", "*", "average_risk"), _lower, "may become lower only"),
    Change(("threats", "*", "records_at_risk"), _newly, "may be added only"),
    Change(("threats", "*", "records_at_risk", "above"), _lower, "may become lower only"),
    Change(("threats", "*", "records_at_risk", "share"), _lower, "may become lower only"),
    Change(("threats", "*", "knows_rows"), _only(old=False, new=True), "may change from false to true only"),
    Change(("threats", "*", "population", "table"), _pointed, "may be pointed elsewhere only"),
    Change(("threats", "*", "also"), _newly, "may be added only"),
    Change(("threats", "*", "also", "subsets"), _newly, "may be added only"),
    Change(("threats", "*", "also", "subsets", "up_to"), _higher, "may become higher only"),
    Change(("threats", "*", "also", "subsets", "k"), _higher, "may become higher only"),
    Change(("releases", "*"), _removed, "must not be added"),
    Change(("releases", "*", "protect"), _more, "may only be added to"),
    Change(("releases", "*", "columns"), _fewer_columns, "may lose columns only"),
    Change(("releases", "*", "drop"), _more, "may only be added to"),
    Change(("releases", "*", "suppress"), _removed, "must not be added"),
    Change(("releases", "*", "suppress", "limit"), _lower, "may become lower only"),
    Change(("releases", "*", "suppress", "residual"), _only("keep", "drop"), "may change from keep to drop only"),
    Change(("releases", "*", "order"), _only("source", "values"), "may change from source to values only"),
    Change(("releases", "*", "output"), _free, _KEEP),
    Change(("releases", "*", "recipients_hold_previous"), _only(old=False, new=True), "may change from false to true only"),
    Change(("releases", "*", "frontier"), _free, _KEEP),
    Change(("releases", "*", "budget", "epsilon"), _lower, "may become lower only"),
    Change(("releases", "*", "budget", "delta"), _lower_where_set, "may become lower only"),
    Change(("releases", "*", "min_count"), _higher, "may become higher only"),
    Change(("releases", "*", "queries", "*"), _removed, "must not be added"),
    Change(("releases", "*", "queries", "*", "epsilon"), _lower, "may become lower only"),
    Change(("releases", "*", "queries", "*", "description"), _free, _KEEP),
    Change(("releases", "*", "round_up"), _newly, "may be added only"),
    Change(("releases", "*", "margins"), _only(old=True, new=False), "may change from true to false only"),
    Change(("releases", "*", "protect", "min_count"), _higher, "may become higher only"),
    Change(("releases", "*", "protect", "dominance"), _newly, "may be added only"),
    Change(("releases", "*", "protect", "p_percent"), _higher, "may become higher only"),
    Change(("releases", "*", "protect", "secondary"), _only(old=False, new=True), "may change from false to true only"),
    Change(("releases", "*", "protect", "interval"), _higher, "may become higher only"),
    Change(("releases", "*", "protect", "zeros"), _only("show", "suppress"), "may change from show to suppress only"),
    Change(("releases", "*", "protect", "class_disclosure"), _to(new=True), "may change to true only"),
    Change(("releases", "*", "description"), _free, _KEEP),
    Change(("checks", "*"), _added, "must not be removed"),
    Change(("checks", "*", "max"), _lower, "may become lower only"),
    Change(("checks", "*", "min"), _higher, "may become higher only"),
    Change(("checks", "*", "mostly"), _mostly, "may become higher only"),
    Change(("checks", "*", "severity"), _only("warn", "error"), "may change from warn to error only"),
    Change(("checks", "*", "description"), _free, _KEEP),
    Change(("attacks",), _newly, "may be added only"),
    Change(("attacks", "control"), _pointed, "may be added or pointed elsewhere only"),
    Change(("attacks", "sample"), _higher, "may become higher only"),
    Change(("attacks", "confidence"), _higher, "may become higher only"),
    Change(("attacks", "closest_record"), _free, _KEEP),
    *(Change(("attacks", attack), _newly, "may be added only") for attack in ATTACKS),
    Change(("attacks", "*", "max_risk"), _lower, "may become lower only"),
    Change(("attacks", "*", "max_advantage"), _lower, "may become lower only"),
    Change(("attacks", "linkability", "auxiliary"), _pointed, "may be added or pointed elsewhere only"),
    Change(("tables",), _newly, "may be added only"),
    Change(("tables", "min_count"), _higher, "may become higher only"),
    Change(("tables", "dominance"), _newly, "may be added only"),
    Change(("tables", "p_percent"), _higher, "may become higher only"),
    Change(("approvals",), _newly, "may be added only"),
    Change(("approvals", "required"), _more, "may only be added to"),
    Change(("waivers",), _fewer, "may only lose entries"),
    Change(("ledger",), _newly, "may be added only"),
    Change(("ledger", "cap", "epsilon"), _lower, "may become lower only"),
    Change(("ledger", "cap", "delta"), _lower_where_set, "may become lower only"),
    Change(("ledger", "datasets", "*"), _added, "must not be removed"),
    Change(("ledger", "datasets", "*", "epsilon"), _lower, "may become lower only"),
    Change(("ledger", "datasets", "*", "delta"), _lower_where_set, "may become lower only"),
    Change(("ledger", "retention"), _newly, "may be added only"),
    Change(("legal",), _newly, "may be added only"),
    Change(("legal", "profile"), _newly, "may be added only"),
    Change(("context", "**"), _free, _KEEP),
    Change(("report", "**"), _free, _KEEP),
    Change(("review", "**"), _free, _KEEP),
)


def loosened(base: Policy, overlaid: Policy) -> Iterator[tuple[_Path, str]]:
    """Yield the path (as in the tree of ``overlaid``) and words for every change from ``base`` that is not allowed.

    What :func:`privrelease.policy.changes.effects.verdict` calls weaker is not either, but for files that are read from elsewhere.
    """
    from privrelease.policy.changes.effects import verdict

    for change in changes(base, overlaid):
        rule = _rule(change.names)
        subject = ".".join(change.names)
        before, after = (
            _ABSENT if gone else value for gone, value in ((change.added, change.old), (change.removed, change.new))
        )
        words: str | None = None
        if recodes(change.names, before, after) and not _repointed(base, overlaid, change.names[1]):
            words = _WITH_SOURCE
        elif change.judged == "other":
            kept = rule is None or rule.rule == _KEEP
            words = "must not be added" if change.added and kept else "must not be removed" if change.removed else None
            words = words or (rule.rule if rule is not None else _KEEP)
        elif rule is not None and rule.allows is not _pointed and verdict(change) == "weaker":
            words = "must not promise less"
        if words is not None:
            yield change.new_path, f"{subject} {words}"


def _rule(names: _Names) -> Change | None:
    """The line of the allow-list that is about these names."""
    return next((change for change in ALLOWED if _fits(change.path, names)), None)


def recodes(names: tuple[str, ...], old: object, new: object) -> bool:
    """Whether a change is one of a format, of a dataset or a column, that gives cells another meaning."""
    if names[:1] != ("datasets",) or "format" not in (names[2:3] + names[4:5]) or names[2] not in {"format", "columns"}:
        return False
    below = names[3:] if names[2] == "format" else names[5:]
    if below:
        return below[0] in _MEANING
    parts = [side if isinstance(side, dict) else {} for side in (old, new)]
    return any(bool(parts[0].get(key)) or bool(parts[1].get(key)) for key in _MEANING)


def _repointed(base: Policy, overlaid: Policy, dataset: str) -> bool:
    """Whether a dataset is read from another place: another spelling of one path is the same place."""
    places = []
    for policy in (base, overlaid):
        one = policy.datasets[dataset]
        named = (one.source.path, one.source.csv, one.source.parquet, one.source.duckdb, one.source.sqlite)
        path = next(path for path in named if path is not None)
        places.append((normpath(path).casefold(), one.source.table or one.table))
    return places[0] != places[1]


@dataclass(frozen=True, slots=True)
class Changed:
    """A value that differs between two policies: its dotted names, both values, and where each is written.

    ``judged``: ``free`` where any change is allowed, ``stricter`` where the change is of the kind that tightens, else ``other``.
    ``added`` and ``removed``: the old or the new policy has no such element. ``before`` and ``after``: the policies, for what depends on more
    than the value itself.
    """

    names: tuple[str, ...]
    old: object
    new: object
    added: bool
    removed: bool
    judged: Literal["free", "stricter", "other"]
    old_path: tuple[str | int, ...]
    new_path: tuple[str | int, ...]
    before: Policy | None = None
    after: Policy | None = None


def changes(old: Policy, new: Policy) -> Iterator[Changed]:
    """Yield every difference between two policies; releases, checks and transform steps are led together by their names."""
    for names, before, after in _changes((), _values(old), _values(new)):
        change = _rule(names)
        judged: Literal["free", "stricter", "other"] = "other"
        if change is not None and change.allows(before, after):
            judged = "free" if change.allows is _free else "stricter"
        yield Changed(
            names,
            None if before is _ABSENT else before,
            None if after is _ABSENT else after,
            before is _ABSENT,
            after is _ABSENT,
            judged,
            _tree_path(old, names),
            _tree_path(new, names),
            old,
            new,
        )


def _values(value: object) -> object:
    """Models as dictionaries with every key; releases and checks by their ids, transform steps by their kinds."""
    if isinstance(value, MicrodataRelease):
        found = {field.alias or name: _values(getattr(value, name)) for name, field in type(value).model_fields.items()}
        del found["transform"]
        found["drop"] = tuple(name for step in value.transform if isinstance(step, DropStep) for name in step.drop)
        steps = [step for step in value.transform if isinstance(step, PseudonymiseStep)]
        found["pseudonymise"] = {name: step.key for step in steps for name in step.pseudonymise}
        for step in value.transform:
            if isinstance(step, SuppressCells):
                found["suppress"] = _values(step)
        return found
    if isinstance(value, StatisticsRelease):
        found = {field.alias or name: _values(getattr(value, name)) for name, field in type(value).model_fields.items()}
        return found | {"queries": {query.id: _values(query) for query in value.queries}}
    if isinstance(value, Policy):
        named = {
            "releases": {item.id: _values(item) for item in value.releases},
            "checks": {item.id: _values(item) for item in value.checks},
        }
        return {name: named.get(name, _values(getattr(value, name))) for name in type(value).model_fields}
    if isinstance(value, BaseModel):
        return {field.alias or name: _values(getattr(value, name)) for name, field in type(value).model_fields.items()}
    if isinstance(value, dict):
        return {key: _values(item) for key, item in value.items()}
    return value


def _changes(path: _Names, old: object, new: object) -> Iterator[tuple[_Names, object, object]]:
    if (
        len(path) == 2
        and path[0] == "releases"
        and isinstance(old, dict)
        and isinstance(new, dict)
        and old["kind"] != new["kind"]
    ):
        yield (*path, "kind"), old["kind"], new["kind"]  # of another kind, nothing else can be compared
    elif isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys((*old, *new)):
            yield from _changes((*path, str(key)), old.get(key, _ABSENT), new.get(key, _ABSENT))
    elif old != new or (old is _ABSENT) != (new is _ABSENT):
        yield path, old, new


def _fits(pattern: tuple[str, ...], names: _Names) -> bool:
    if pattern[-1] == "**":
        pattern, names = pattern[:-1], names[: len(pattern) - 1]
    return len(pattern) == len(names) and all(part in ("*", name) for part, name in zip(pattern, names, strict=True))


def _tree_path(policy: Policy, names: _Names) -> _Path:
    """Back from names to the lists and steps of the file."""
    if not names or names[0] not in {"releases", "checks"} or len(names) < 2:
        return names
    items: tuple[BaseModel, ...] = policy.releases if names[0] == "releases" else policy.checks
    number = next((index for index, item in enumerate(items) if getattr(item, "id", None) == names[1]), None)
    if number is None:
        return names[:1]
    if names[0] == "releases" and names[2:3] == ("queries",) and len(names) > 3:
        queries = getattr(policy.releases[number], "queries", ())
        place = next((index for index, query in enumerate(queries) if query.id == names[3]), None)
        below = tuple(part for at, part in enumerate(names[4:]) if (at, part) != (1, "listed"))
        return (names[0], number, "queries") if place is None else (names[0], number, "queries", place, *below)
    if names[0] == "checks" or len(names) < 3 or names[2] not in {"drop", "pseudonymise", "suppress"}:
        return (names[0], number, *names[2:])
    release = policy.releases[number]
    assert isinstance(release, MicrodataRelease)  # no other kind has steps
    steps = [(index, getattr(step, names[2])) for index, step in enumerate(release.transform) if hasattr(step, names[2])]
    named = names[3] if names[2] == "pseudonymise" and len(names) > 3 else None
    step = next((index for index, listed in steps if named is None or named in listed), steps[0][0] if steps else None)
    if step is None:
        return (names[0], number, "transform")
    below = names[3:] if names[2] == "suppress" else names[2:3]
    return (names[0], number, "transform", step, *(below or names[2:3]))
