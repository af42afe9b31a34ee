"""Questions of an auditor about two releases of the same persons: the records that belong together, and what both say of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from privrelease.engine.protocol.base import ReleasedFile, Staged
    from privrelease.relational.filters import Filter

__all__ = [
    "AcrossEngine",
    "ColumnMap",
    "CombinedClasses",
    "LinkedPersons",
    "Links",
    "MapQuery",
    "PatternQuery",
    "RowPattern",
    "SharedValues",
]


@dataclass(frozen=True, slots=True)
class Links:
    """Pairs of rows of two releases that belong together: ``pairs`` of them, no row in two.

    ``complete``: also rows that agree but for missing cells were looked at; False where there were too many such pairs.
    """

    handle: str
    pairs: int
    complete: bool = True


@dataclass(frozen=True, slots=True)
class LinkedPersons:
    """The place where the persons of both releases are found: in one source, through the row map of each."""

    source: Staged
    first_map: Path
    second_map: Path
    unit: str


@dataclass(frozen=True, eq=False, slots=True)
class CombinedClasses:
    """Classes of linked records, by what the first and the second release say together. (c,) int64 each.

    ``linked``: records (persons) of the class; ``first``, ``second``: those of its class in either release alone; ``unlinked_first``,
    ``unlinked_second``: those among them that no link leads to. ``residual``: (c,) bool, every known cell is missing in both.
    """

    linked: NDArray[np.int64]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    unlinked_first: NDArray[np.int64]
    unlinked_second: NDArray[np.int64]
    residual: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class SharedValues:
    """Distinct values of a column of each of two sides, compared as text, and how many of them both have."""

    first: int
    second: int
    both: int


@dataclass(frozen=True, slots=True)
class MapQuery:
    """``column`` and what its values may determine, or be determined by: ``on``, a column with its listed ``keys`` as texts, or a filter.
    ``each``: every value of ``on`` is a key of its own, none is listed, and only the directions are asked for.
    """

    column: str
    on: str | Filter
    keys: tuple[str, ...] = ()
    each: bool = False

    @property
    def places(self) -> int:
        """Return the number of places of keys: those listed, or of a filter the rows where it holds, 0, and where it does not, 1."""
        return len(self.keys) if isinstance(self.on, str) else 2


@dataclass(frozen=True, slots=True)
class ColumnMap:
    """The keys that occur with each value of a column. ``values``, ``keys``: distinct ones among the ``rows`` that have both, all keys that are not
    listed being one. ``forward``: each value has at most one key; ``backward``: each listed key has at most one value.

    ``handle``: the engine's own name of the map, of either direction, else empty. ``sets``: the places of keys that values have, ascending: -1 where
    the key is missing, the number of places where it is not listed. Values with equal sets have one number, their place in ``sets``.
    """

    values: int
    keys: int
    rows: int
    forward: bool
    backward: bool
    handle: str = ""
    sets: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class PatternQuery:
    """``by``: columns of a released file whose values are wanted; ``sums``: columns of which the known values are counted; ``where``: a filter
    over its columns; ``lossy``: columns of which a missing cell may have been suppressed, so that what it was is not known. ``unseen``: columns of the
    filters that the rows do not show, of which no cell is known. ``maps``: columns of
    the file, and the handles of maps by which their values are looked up. ``also``: more filters, as ``where``.
    """

    by: tuple[str, ...]
    sums: tuple[str, ...] = ()
    where: Filter | None = None
    lossy: frozenset[str] = frozenset()
    unseen: frozenset[str] = frozenset()
    maps: tuple[tuple[str, str], ...] = ()
    also: tuple[Filter, ...] = ()


@dataclass(frozen=True, slots=True)
class RowPattern:
    """Released rows that look alike. ``keys``: as texts, None where missing. ``inside``: whether the filter holds, None where that is not known.
    ``rows``: how many; ``known``: how many of them have a value of each column that was asked for. ``within``: by map, the number of the set of
    keys that the row's value has; None where the value is missing or is not in the map. ``also``: as ``inside``, of each further filter.
    """

    keys: tuple[str | None, ...]
    inside: bool | None
    rows: int
    known: tuple[int, ...] = ()
    within: tuple[int | None, ...] = ()
    also: tuple[bool | None, ...] = ()


class AcrossEngine(Protocol):
    """An engine that compares two releases. Files without a row are compared like any other."""

    def links_by_maps(self, first_map: Path, second_map: Path) -> Links:
        """Link rows that two row maps lead to the same source row."""
        ...

    def links_by_place(self, first: ReleasedFile, second: ReleasedFile) -> Links:
        """Link rows that stand at the same place."""
        ...

    def links_by_columns(
        self, first: ReleasedFile, second: ReleasedFile, exact: Sequence[str], loose: Sequence[str], most_pairs: int
    ) -> Links:
        """Link rows that agree with each other and with no other row: on ``exact``, missing equal to missing, and on ``loose``, where missing
        agrees with anything. With more than ``most_pairs`` pairs that agree on ``exact``, rows that agree on all columns and are alone
        in that in either release are linked.
        """
        ...

    def combined_classes(
        self,
        first: ReleasedFile,
        second: ReleasedFile,
        links: Links,
        known_first: Sequence[str],
        known_second: Sequence[str],
        persons: LinkedPersons | None = None,
        *,
        unlinked: bool = True,
    ) -> CombinedClasses:
        """Collapse linked rows by the known columns of both releases. ``persons``: count them for records. ``unlinked``: count what no link
        leads to as well, else it is 0.
        """
        ...

    def block_classes(
        self,
        first: ReleasedFile,
        second: ReleasedFile,
        shared: Sequence[str],
        known_first: Sequence[str],
        known_second: Sequence[str],
    ) -> CombinedClasses:
        """Collapse pairs of classes that a block makes certain: rows that are equal on ``shared``, in both releases, of which all have one
        class in one of them. ``linked``: rows in blocks where both classes are, the fewer of both releases; ``unlinked_first``,
        ``unlinked_second``: rows of either class in no common block.
        """
        ...

    def only_in_one(
        self, first: ReleasedFile, second: ReleasedFile, shared: Sequence[str], known: Sequence[str]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Compare the rows of two releases on ``shared`` as multisets; return the sizes of the classes, by ``known``, of what is left over in
        the first and in the second. Rows with every known cell missing are left out.
        """
        ...

    def shared_values(
        self, first: Staged | ReleasedFile, second: ReleasedFile, pairs: Sequence[tuple[str, str]]
    ) -> tuple[SharedValues, ...]:
        """Compare the values of pairs of columns, whatever rows they stand in."""
        ...

    def same_coding(self, first: ReleasedFile, second: ReleasedFile, columns: Sequence[str]) -> tuple[str, ...]:
        """Return the columns whose values are written alike: at least half of the values of the poorer side are in the other."""
        ...

    def column_maps(self, of: Staged | ReleasedFile, asked: Sequence[MapQuery]) -> tuple[ColumnMap, ...]:
        """Return which keys occur with which values, in rows that have a value; values are compared as texts, numbers as doubles."""
        ...

    def row_patterns(self, of: Staged | ReleasedFile, asked: PatternQuery) -> tuple[RowPattern, ...]:
        """Group rows by what they show of the cells of a table."""
        ...
