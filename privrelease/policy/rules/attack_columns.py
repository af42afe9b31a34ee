"""Columns that an attack on a release uses where the policy names none: read alike by the rules and by the plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from privrelease.policy.language.kinds import KINDS
from privrelease.policy.release_kind import kind_of
from privrelease.relational.schema import Role
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from privrelease.policy.language.attacks import AttacksSpec
    from privrelease.policy.language.datasets import Dataset
    from privrelease.policy.language.kinds import Kinds, Release
    from privrelease.policy.language.models import Policy
    from privrelease.policy.release_kind import ReleaseKind

__all__ = ["Attackable", "attackable", "attacked", "can_be_attacked", "holds_out"]


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
    kind = kind_of(release, kinds)
    if kind.rows is not None:
        out = kind.rows(release, dataset)
        offered = tuple(name for name in out.columns if name not in out.changed - out.contained)
    else:
        offered = () if kind.comparable is None else kind.comparable(release, dataset)
    unit = None if dataset.person is None else dataset.person.column
    columns = tuple(name for name in offered if name != unit and dataset.columns[name].role is not Role.DIRECT)
    return Attackable(columns, tuple(name for name in columns if dataset.columns[name].role is Role.QUASI))


def attacked(policy: Policy, kinds: Kinds = KINDS) -> tuple[tuple[int, Release], ...]:
    """Return number and release of what the policy's attacks are about: all rows about persons where none is named."""
    spec = policy.attacks
    if spec is None:
        return ()
    found = []
    for number, release in enumerate(policy.releases):
        kind = kind_of(release, kinds)
        if kind.rows is not None if spec.releases is None else release.id in spec.releases and can_be_attacked(kind):
            found.append((number, release))
    return tuple(found)


def can_be_attacked(kind: ReleaseKind[Any]) -> bool:
    """Return True if a release of the kind has rows that can be compared with the source."""
    return kind.rows is not None or kind.comparable is not None


def holds_out(release: Release) -> bool:
    """Return True if persons are kept out of the release, so that it needs no control file."""
    return getattr(release, "holdout", None) is not None
