"""The context that every rule of meaning reads: the policy, the places of its parts, the roots of its paths, the kinds of
release.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel

from privrelease.findings import Finding, Severity
from privrelease.policy.language.releases import DropStep, PseudonymiseStep, SuppressCells
from privrelease.policy.release_kind import ReleaseKind, kind_of
from privrelease.policy.text.nodes import place_of
from privrelease.relational.schema import Role

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from privrelease.policy.language.datasets import Dataset
    from privrelease.policy.language.kinds import Kinds, Release
    from privrelease.policy.language.models import Policy
    from privrelease.policy.language.releases import MicrodataRelease
    from privrelease.policy.text.nodes import Node
    from privrelease.policy.validation.paths import Roots

__all__ = ["Leaving", "RuleContext", "duplicates", "leaving"]

R = TypeVar("R", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class RuleContext:
    """A policy and the tree it was read from.

    ``broken``: what was left out for faults of its own, see :func:`privrelease.policy.validation.partial_policy.faultless`. ``whole``: nothing was left out.
    ``resolved``: it is whole, and every name in it points at something, so that what is lacking is lacking.
    """

    policy: Policy
    tree: Node
    roots: Roots
    kinds: Kinds
    files: tuple[Path, ...] = ()
    broken: frozenset[tuple[str, ...]] = frozenset()
    whole: bool = True
    resolved: bool = True

    def kind(self, release: Release) -> ReleaseKind[Any]:
        """Return the kind of a release."""
        return kind_of(release, self.kinds)

    def releases(self, kind: ReleaseKind[R]) -> tuple[tuple[int, R], ...]:
        """Return the releases of a kind with their numbers."""
        numbered: tuple[tuple[int, Any], ...] = tuple(enumerate(self.policy.releases))
        return tuple((number, release) for number, release in numbered if release.kind == kind.name)

    def left_out(self, section: str, *keys: str) -> bool:
        """Return True if the section was left out, or one of these of its keys or elements; any of them where none is named."""
        return (section,) in self.broken or any(item[0] == section and (not keys or item[1] in keys) for item in self.broken)

    def error(self, code: str, message: str, *path: str | int, hint: str | None = None, key: bool = False) -> Finding:
        """Return an error at the place of ``path``."""
        return self._finding(code, message, path, hint, Severity.ERROR, key=key)

    def warning(self, code: str, message: str, *path: str | int, hint: str | None = None, key: bool = False) -> Finding:
        """Return a warning at the place of ``path``."""
        return self._finding(code, message, path, hint, Severity.WARN, key=key)

    def info(self, code: str, message: str, *path: str | int, hint: str | None = None, key: bool = False) -> Finding:
        """Return an information at the place of ``path``."""
        return self._finding(code, message, path, hint, Severity.INFO, key=key)

    def _finding(
        self, code: str, message: str, path: tuple[str | int, ...], hint: str | None, severity: Severity, *, key: bool
    ) -> Finding:
        subject = ".".join(str(part) for part in path)
        return Finding(code, message, severity, place_of(self.tree, path, key=key), hint, subject=subject)


@dataclass(frozen=True, slots=True)
class Leaving:
    """The data that a release publishes.

    ``columns``: in output order. ``pseudonyms``: those of them that are released as pseudonyms, with the key's variable.
    ``suppress``: the suppression step, if any, and its number.
    """

    columns: tuple[str, ...]
    pseudonyms: dict[str, str] = field(default_factory=dict)
    suppress: SuppressCells | None = None
    suppress_step: int = -1


def leaving(release: MicrodataRelease, dataset: Dataset) -> Leaving:
    """Return what is released: the selected columns, else all; less dropped ones and direct identifiers without a pseudonym."""
    dropped: set[str] = set()
    pseudonyms: dict[str, str] = {}
    suppress: SuppressCells | None = None
    suppress_step = -1
    for number, step in enumerate(release.transform):
        match step:
            case DropStep():
                dropped |= set(step.drop)
            case PseudonymiseStep():
                pseudonyms |= dict.fromkeys(step.pseudonymise, step.key)
            case SuppressCells():
                suppress, suppress_step = step, number
    selected = release.columns if release.columns is not None else tuple(dataset.columns)
    columns = tuple(
        name
        for name in dict.fromkeys(selected)
        if name in dataset.columns
        and name not in dropped
        and (dataset.columns[name].role is not Role.DIRECT or name in pseudonyms)
    )
    return Leaving(columns, {name: key for name, key in pseudonyms.items() if name in columns}, suppress, suppress_step)


def duplicates(names: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield the number and name of every repetition."""
    seen: Counter[str] = Counter()
    for number, name in enumerate(names):
        if seen[name]:
            yield number, name
        seen[name] += 1
