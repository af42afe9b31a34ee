"""Columns that an attack on a release uses where the policy names none: read alike by the rules and by the plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from privrelease.policy.language.kinds import KINDS
from privrelease.policy.release_kind import kind_of
from privrelease.relational.schema import Role

if TYPE_CHECKING:
    from privrelease.policy.language.attacks import AttacksSpec
    from privrelease.policy.language.datasets import Dataset
    from privrelease.policy.language.kinds import Kinds, Release
    from privrelease.policy.language.models import Policy

__all__ = ["Attackable", "attackable", "attacked"]


@dataclass(frozen=True, slots=True)
class Attackable:
    """Columns whose released values can be compared with known ones, in output order; the one that names persons is none. ``quasi``: quasi-identifiers
    among them.
    """

    columns: tuple[str, ...]
    quasi: tuple[str, ...]

    def halves(self, spec: AttacksSpec) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Give the two sets of columns of the linkability attack."""
        link = spec.linkability
        if link is not None and link.columns is not None:
            return link.columns
        return self.quasi, tuple(name for name in self.columns if name not in self.quasi)

    def known(self, named: tuple[str, ...] | None, target: str | None = None) -> tuple[str, ...]:
        """Give what the attacker knows: the columns named, else the quasi-identifiers, less the one that is guessed."""
        return named if named is not None else tuple(name for name in self.quasi if name != target)


def attackable(release: Release, dataset: Dataset, kinds: Kinds = KINDS) -> Attackable:
    """Return the columns of a release of rows that can be compared with the data; none of any other."""
    rows = kind_of(release, kinds).rows
    if rows is None:
        return Attackable((), ())
    out = rows(release, dataset)
    unit = None if dataset.person is None else dataset.person.column
    columns = tuple(
        name
        for name in out.columns
        if name != unit and name not in out.changed - out.contained and dataset.columns[name].role is not Role.DIRECT
    )
    return Attackable(columns, tuple(name for name in columns if dataset.columns[name].role is Role.QUASI))


def attacked(policy: Policy, kinds: Kinds = KINDS) -> tuple[tuple[int, Release], ...]:
    """Return number and release of what the policy's attacks are about."""
    spec = policy.attacks
    if spec is None:
        return ()
    return tuple(
        (number, release)
        for number, release in enumerate(policy.releases)
        if kind_of(release, kinds).rows is not None and (spec.releases is None or release.id in spec.releases)
    )
