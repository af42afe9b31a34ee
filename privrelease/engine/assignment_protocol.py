"""Several releases of one source, joined by their row maps, as an attacker sees them who does not have the maps.

A *record* is a released row, or a person where the rows of one person can be brought together. Its *type* in a release is the cells
that the release shares with any other one: records of one type agree with the same records elsewhere, so that an attacker cannot tell which
of them is whose. Its *class* is the cells that the attacker knows of it in that release.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Protocol

from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from privrelease.engine.protocol.base import ReleasedFile, Staged

__all__ = ["Agreement", "AssignmentEngine", "Candidates", "Differing", "JoinedReleases", "JoinedUnit", "SharedColumn"]


@dataclass(frozen=True, slots=True)
class Differing:
    """A column of two releases over their common source rows: rows where both have a value and not the same, and where one has none."""

    values: int
    missing: int


@dataclass(frozen=True, slots=True)
class SharedColumn:
    """A column that several releases write alike. ``name``: None for the place of a row, where the releases keep the source's order.

    ``sides``: positions of those releases. ``exact``: a missing cell agrees with a missing one only; else it agrees with any.
    """

    name: str | None
    sides: tuple[int, ...]
    exact: bool = True


@dataclass(frozen=True, slots=True)
class JoinedUnit:
    """The place where the persons of the rows are found. ``together``: rows of one person can be brought together, so that a record is a person."""

    source: Staged
    unit: str
    together: bool


@dataclass(frozen=True, eq=False, slots=True)
class JoinedReleases:
    """Releases of one source, joined. ``vectors``: (v, m) int64, distinct types of a record in each release; -1: it is not in that one."""

    handle: str
    files: tuple[ReleasedFile, ...]
    maps: tuple[Path, ...]
    shared: tuple[SharedColumn, ...]
    unit: JoinedUnit | None
    vectors: NDArray[np.int64] = field(repr=False)


@dataclass(frozen=True, eq=False, slots=True)
class Agreement:
    """Return which types of one release agree with which types of all others together.

    ``first``: (a,) records of each type; ``rest``: (b, m - 1) types in the other releases, in their order; ``second``: (b,) records of
    each; ``pairs``: (e, 2) positions that agree.
    """

    first: NDArray[np.int64]
    rest: NDArray[np.int64]
    second: NDArray[np.int64]
    pairs: NDArray[np.int64]


@dataclass(frozen=True, eq=False, slots=True)
class Candidates:
    """Targets by what is known of them in all releases that they are in. (c,) and (c, m) int64.

    ``persons``: with that knowledge; ``alone``: of their class in each release alone; ``candidates``: of these, those that remain once
    the releases are combined. -1: the target is not in that release. ``lost``: (c,) bool, every known cell is missing in all.
    """

    persons: NDArray[np.int64]
    alone: NDArray[np.int64]
    candidates: NDArray[np.int64]
    lost: NDArray[np.bool_]


class AssignmentEngine(Protocol):
    """An engine that joins several releases of one source."""

    def differing(
        self, files: tuple[ReleasedFile, ReleasedFile], maps: tuple[Path, Path], columns: Sequence[str]
    ) -> tuple[Differing, ...]:
        """Compare each column of two releases over the source rows that are in both; values of different types as text."""
        ...

    def join_releases(
        self,
        files: Sequence[ReleasedFile],
        maps: Sequence[Path],
        shared: Sequence[SharedColumn],
        unit: JoinedUnit | None = None,
    ) -> JoinedReleases:
        """Join releases by their row maps; at least two."""
        ...

    def agreement(self, joined: JoinedReleases, side: int, most_pairs: int) -> Agreement | None:
        """Return which types of one release agree with the types of the others, of records that are in all others; None where more than
        ``most_pairs`` pairs agree on the exact columns, or where rows of one person are together: a type is then a list of types of rows.
        """
        ...

    def candidates(
        self,
        joined: JoinedReleases,
        vectors: NDArray[np.int64],
        known: Sequence[Sequence[str]],
        *,
        knows_rows: bool = False,
    ) -> Candidates:
        """Count who remains for each target that is in the last release and in another one.

        ``vectors``: (v, m) combinations of types that one record may have, as in ``joined.vectors``. ``known``: the columns known in each
        release. A record of a class remains where some combination has its type, and has in every other release a record of the
        target's class there. ``knows_rows``: a person's rows are known with their number, where a record is a person.
        """
        ...
