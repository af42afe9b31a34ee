"""Changes that an environment may make: those that the key itself allows. Any other change loosens the policy, or may, and is
refused.

So a new key of the policy language is fixed in every environment until its model says in which direction it is stricter
(:mod:`~privrelease.policy.language.keys`).
"""

from __future__ import annotations

from dataclasses import replace
from os.path import normpath
from typing import TYPE_CHECKING, Literal, cast

from privrelease.policy.changes.directions import verdict
from privrelease.policy.declared import Declared, declared
from privrelease.policy.language.keys import ABSENT, KEEP
from privrelease.policy.language.kinds import KINDS
from privrelease.policy.release_kind import kind_of, values_of
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import BaseModel

    from privrelease.policy.language.kinds import Kinds
    from privrelease.policy.language.models import Policy

__all__ = ["Changed", "changes", "loosened"]

_Path = tuple[str | int, ...]
_Names = tuple[str, ...]

_WITH_SOURCE = "may change only where the source changes too: on the same data it changes values"


def loosened(base: Policy, overlaid: Policy, kinds: Kinds = KINDS) -> Iterator[tuple[_Path, str]]:
    """Yield the path (as in the tree of ``overlaid``) and words for every change from ``base`` that is not allowed.

    What :func:`privrelease.policy.changes.directions.verdict` calls weaker is not either, but for files that are read from elsewhere.
    """
    for change in changes(base, overlaid, kinds):
        allowed = change.declared.allowed
        subject = ".".join(change.names)
        words: str | None = None
        if change.recodes and not _repointed(base, overlaid, change.names[1]):
            words = _WITH_SOURCE
        elif change.judged == "other":
            kept = allowed is None or allowed.rule == KEEP
            words = "must not be added" if change.added and kept else "must not be removed" if change.removed else None
            words = words or (allowed.rule if allowed is not None else KEEP)
        elif not (allowed is not None and allowed.exempt) and verdict(change) == "weaker":
            words = "must not promise less"
        if words is not None:
            yield change.new_path, f"{subject} {words}"


def _repointed(base: Policy, overlaid: Policy, dataset: str) -> bool:
    """Return True if a dataset is read from another place: another spelling of one path is the same place."""
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
    than the value itself. ``kinds``: the kinds of their releases.
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
    kinds: Kinds = KINDS

    @property
    def declared(self) -> Declared:
        """Return what the key says about itself."""
        return declared(self.names, self.kinds, self._kind)

    @property
    def recodes(self) -> bool:
        """Return True if cells are read with another meaning: by this key, or by one of a section that is new or removed."""
        found = self.declared
        sides = [side if isinstance(side, dict) else {} for side in (self.old, self.new)]
        return found.recodes or any(bool(side.get(key)) for key in found.recoding for side in sides)

    @property
    def _kind(self) -> str | None:
        """The kind of the release that it is about."""
        policies = (policy for policy in (self.after, self.before) if policy is not None and self.names[:1] == ("releases",))
        releases = (release for policy in policies for release in policy.releases if release.id == self.names[1])
        return next((release.kind for release in releases), None)


def changes(old: Policy, new: Policy, kinds: Kinds = KINDS) -> Iterator[Changed]:
    """Yield every difference between two policies; releases, checks and transform steps are led together by their names."""
    for names, before, after in _changes((), _values(old, kinds), _values(new, kinds)):
        found = Changed(
            names,
            None if before is ABSENT else before,
            None if after is ABSENT else after,
            before is ABSENT,
            after is ABSENT,
            "other",
            _tree_path(old, names, kinds),
            _tree_path(new, names, kinds),
            old,
            new,
            kinds,
        )
        allowed = found.declared.allowed
        if allowed is not None and allowed.allows(before, after):
            found = replace(found, judged="stricter" if allowed.stricter else "free")
        yield found


def _values(policy: Policy, kinds: Kinds) -> dict[str, object]:
    """The policy as dictionaries with every key; releases and checks by their ids, a release as its kind compares it."""
    found = {name: values_of(getattr(policy, name)) for name in type(policy).model_fields}
    found["releases"] = {
        item.id: kind_of(item, kinds).compared(item, cast("dict[str, object]", values_of(item))) for item in policy.releases
    }
    found["checks"] = {item.id: values_of(item) for item in policy.checks}
    return found


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
            yield from _changes((*path, str(key)), old.get(key, ABSENT), new.get(key, ABSENT))
    elif old != new or (old is ABSENT) != (new is ABSENT):
        yield path, old, new


def _tree_path(policy: Policy, names: _Names, kinds: Kinds) -> _Path:
    """Back from names to the lists and steps of the file."""
    if not names or names[0] not in {"releases", "checks"} or len(names) < 2:
        return names
    items: tuple[BaseModel, ...] = policy.releases if names[0] == "releases" else policy.checks
    number = next((index for index, item in enumerate(items) if getattr(item, "id", None) == names[1]), None)
    if number is None:
        return names[:1]
    if names[0] == "checks" or len(names) < 3:
        return (names[0], number, *names[2:])
    release = policy.releases[number]
    return (names[0], number, *kind_of(release, kinds).place(release, names[2:]))
