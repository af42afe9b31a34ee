"""The context that every rule of meaning reads: the policy, the places of its parts, the roots of its paths, the kinds of
release.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import field
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pydantic import BaseModel

from privrelease.findings import Finding, Severity
from privrelease.policy.release_kind import ReleaseKind, kind_of
from privrelease.policy.text.nodes import place_of
from privrelease.relational.schema import Role
from privrelease.relational.treatments import AS_IS, CellRelation
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from privrelease.policy.language.datasets import Dataset
    from privrelease.policy.language.kinds import Kinds, Release
    from privrelease.policy.language.models import Policy
    from privrelease.policy.language.releases import MicrodataRelease, SuppressCells
    from privrelease.policy.text.nodes import Node
    from privrelease.policy.validation.paths import Roots
    from privrelease.relational.treatments import Treatment

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

    ``columns``: in output order. ``treatments``: of those of them whose values change. ``suppress``: the suppression step, if any, and its
    number. ``contained``: of columns whose values change, those whose released values say which of the source they may represent.
    """

    columns: tuple[str, ...]
    treatments: dict[str, Treatment] = field(default_factory=dict)
    suppress: SuppressCells | None = None
    suppress_step: int = -1
    contained: frozenset[str] = frozenset()

    def treatment(self, column: str) -> Treatment:
        """Return what becomes of a column."""
        return self.treatments.get(column, AS_IS)

    def related(self, relation: CellRelation) -> tuple[str, ...]:
        """Return the columns whose released cells stand in this relation to their source."""
        return tuple(name for name, treatment in self.treatments.items() if treatment.relation is relation)

    @property
    def pseudonyms(self) -> tuple[str, ...]:
        """The columns that are released as pseudonyms."""
        return self.related(CellRelation.KEYED_TOKEN)

    @property
    def changed(self) -> frozenset[str]:
        """The columns whose released cells are not the source's own, so that the two cannot be compared."""
        return frozenset(name for name, treatment in self.treatments.items() if not treatment.relation.own_values)


def leaving(release: MicrodataRelease, dataset: Dataset) -> Leaving:
    """Return what is released: the selected columns, else all; less dropped ones and direct identifiers without a pseudonym."""
    dropped = {name for step in release.transform for name in step.removed()}
    found = {
        name: step.treatment(name, dataset.columns[name])
        for step in release.transform
        for name in step.listed()
        if name in dataset.columns
    }
    treatments = {name: treatment for name, treatment in found.items() if treatment is not None}
    tokens = {name for name, treatment in treatments.items() if treatment.relation is CellRelation.KEYED_TOKEN}
    last = [(step, number) for number, step in enumerate(release.transform) if step.last]
    suppress, suppress_step = last[-1] if last else (None, -1)
    selected = release.columns if release.columns is not None else tuple(dataset.columns)
    columns = tuple(
        name
        for name in dict.fromkeys(selected)
        if name in dataset.columns and name not in dropped and (dataset.columns[name].role is not Role.DIRECT or name in tokens)
    )
    return Leaving(
        columns,
        {name: treatment for name, treatment in treatments.items() if name in columns},
        cast("SuppressCells | None", suppress),
        suppress_step,
        frozenset(name for step in release.transform if step.contains for name in step.listed() if name in columns),
    )


def duplicates(names: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield the number and name of every repetition."""
    seen: Counter[str] = Counter()
    for number, name in enumerate(names):
        if seen[name]:
            yield number, name
        seen[name] += 1
