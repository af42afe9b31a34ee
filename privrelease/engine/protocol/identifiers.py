"""Questions about direct identifiers that may stand in a file under another name and in another form.

What an auditor asks of an engine about expectations: counts of its own, and what Great Expectations says of the same rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privrelease.engine.protocol.base import ReleasedFile, Staged
    from privrelease.relational.expectations import Counted, Expectation

__all__ = ["FORMS", "ExpectationEngine", "IdentifierEngine", "IdentifierMatches", "LinkedRows", "OwnMatches"]


#: How an identifier may be written: as it is; folded (case, accents, compatibility forms, punctuation, spaces and leading zeros do not
#: count); by its digits; as a run of parts of a text, in its order or in any; backwards; as a plain hash (MD5, SHA-1, SHA-256 in
#: hexadecimal, or their first 16 digits and more). See :mod:`privrelease.engine.letters` and :mod:`privrelease.engine.identifier_runs`.
FORMS = ("plain", "folded", "digits", "part", "reversed", "hashed")


@dataclass(frozen=True, slots=True)
class IdentifierMatches:
    """A source column compared with a released one in a form, whatever rows their values are in. A value in a form is a key; a cell may
    give several.

    ``first``, ``both``: distinct keys of the source, and of both. ``second``: distinct cells of the file that could hold a key. ``weak``:
    those of both that are numbers of at most seven digits or texts of at most three letters, which meet by chance. ``matched``: keys of
    both in cells of the file; ``own``: at most so many of them can be their own row's, since the source has no more. ``expected``: keys of
    both, would the file's numbers lie anywhere between its smallest and its largest (None: there is none). ``links``: pairs
    of a source row and a released row that share a key that one source row has; the engine keeps them under ``handle``.
    """

    direct: str
    released: str
    form: str
    first: int
    second: int
    both: int
    weak: int
    matched: int
    own: int
    expected: float | None
    links: int
    handle: str


@dataclass(frozen=True, slots=True)
class LinkedRows:
    """Pairs of a source row and a released row: how many, how many agree, and how many do on average where the source rows are shuffled."""

    rows: int
    agree: int
    by_chance: float


@dataclass(frozen=True, slots=True)
class OwnMatches:
    """Two columns of the source in a form, row by row: rows where both have a value, where they share a key, where that one is not weak.

    ``most``: the most rows with one key of the first. ``expected``: in how many rows they would share one on average, were the cells of the
    second shuffled: at most ``most``, where a cell has one key, and more where it has several.
    """

    direct: str
    released: str
    form: str
    compared: int
    same: int
    strong: int
    most: int
    expected: float

    @property
    def by_chance(self) -> float:
        """Rows that may share a key by chance."""
        return max(float(self.most), self.expected)


class IdentifierEngine(Protocol):
    """An engine that looks for identifiers in other forms."""

    def identifier_matches(
        self, source: Staged, released: ReleasedFile, pairs: Sequence[tuple[str, str]], forms: Sequence[str]
    ) -> tuple[IdentifierMatches, ...]:
        """Compare (source column, released column) pairs in forms of :data:`FORMS`; only those that share a key are returned."""
        ...

    def linked_rows(
        self,
        source: Staged,
        released: ReleasedFile,
        found: IdentifierMatches,
        columns: Sequence[str],
        *,
        shuffles: int,
        seed: int,
    ) -> LinkedRows:
        """Count the links of ``found`` whose released row has in each of ``columns`` the source row's value or none, as they are and with
        the source rows in random orders: ``shuffles`` permutations of numpy's default generator.
        """
        ...

    def own_identifiers(self, source: Staged, pairs: Sequence[tuple[str, str]], forms: Sequence[str]) -> tuple[OwnMatches, ...]:
        """Compare pairs of source columns row by row in forms of :data:`FORMS`, in forms but the plain one a large source by a sample; only
        those that share a key in some row are returned.
        """
        ...


class ExpectationEngine(Protocol):
    """An engine that counts what meets an expectation. No answer holds a value of a cell."""

    def count_expectation(self, of: Staged | ReleasedFile, expectation: Expectation, *, places: bool = False) -> Counted:
        """Count what is looked at and what fails; ``places``: say where the first failing rows are (from 1)."""
        ...

    def great_expectations(
        self, of: Staged | ReleasedFile, expectations: Sequence[tuple[Expectation, float]]
    ) -> tuple[bool | None, ...]:
        """Have Great Expectations evaluate expectations, each with the share that must meet it; None: it could not evaluate one.

        The library is loaded by the first call. It is asked whether an expectation holds and for nothing else: its other results, and
        the texts of its errors, hold cells.
        """
        ...
