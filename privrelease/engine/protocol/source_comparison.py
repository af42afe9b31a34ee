"""Questions of an auditor about a released file and its source side by side where no row map leads from one to the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privrelease.engine.protocol.base import ReleasedFile, Staged

__all__ = ["BesideEngine", "ExcessRows", "Pattern", "SourceComparison"]


@dataclass(frozen=True, slots=True)
class SourceComparison:
    """The distinct rows of both sides over ``columns`` in one typing, each with its rows in either. ``persons``: also whose they are."""

    handle: str
    columns: tuple[str, ...]
    persons: bool


@dataclass(frozen=True, slots=True)
class Pattern:
    """Released rows in which exactly ``kept``, of the columns that may be missing, hold a value."""

    kept: tuple[str, ...]
    rows: int


@dataclass(frozen=True, slots=True)
class ExcessRows:
    """Released rows over those that the source has with the same values, summed over the values.

    ``absent``: those of them whose values the source has in no row. ``persons``: the same of persons, 0 where they were not asked for.
    """

    rows: int
    absent: int
    persons: int


class BesideEngine(Protocol):
    """An engine that counts values of a released file next to those of its source. Missing equals missing, -0.0 equals 0.0, and numbers of
    different widths are compared by what they are worth.
    """

    def beside_source(
        self, source: Staged, released: ReleasedFile, columns: Sequence[str], persons: tuple[str, str] | None = None
    ) -> SourceComparison:
        """Lay a released file next to its source. ``persons``: the columns that say whose a row is, in the source and in the file."""
        ...

    def patterns(self, beside: SourceComparison, maskable: Sequence[str]) -> tuple[Pattern, ...]:
        """Return the patterns of missing cells in the released rows, the commonest first."""
        ...

    def beyond_source(
        self, beside: SourceComparison, fixed: Sequence[str], kept: Sequence[str], others: Sequence[str] = ()
    ) -> ExcessRows:
        """Compare the rows of both sides over ``fixed`` and ``kept``, of rows in which every one of ``kept`` holds a value.

        ``others``: only for values of released rows in which each of these is missing.
        """
        ...
