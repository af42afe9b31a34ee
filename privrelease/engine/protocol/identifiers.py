"""Questions about direct identifiers that may stand in a file under another name and in another form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from privrelease.engine.protocol.base import ReleasedFile, Staged

__all__ = ["FORMS", "IdentifierEngine", "IdentifierMatches", "OwnMatches"]

#: How an identifier may be written: as it is; without case, punctuation, spaces and leading zeros; by its digits, or as one part, beside
#: other text; backwards; as a plain hash (MD5, SHA-1, SHA-256 in hexadecimal, or their first 16 digits and more).
FORMS = ("plain", "folded", "digits", "part", "reversed", "hashed")


@dataclass(frozen=True, eq=False, slots=True)
class IdentifierMatches:
    """A source column beside a released one, whatever rows their values stand in. A value in a form is a key; a cell may give several.

    ``first``, ``second``, ``both``: distinct keys of source, file, and both. ``weak``: those of both that are numbers of at most seven digits
    or texts of at most three letters, which meet by chance. ``matched``: cells of the file with a key of both; ``own``: at most so many of them
    can be their own row's, since the source has no more. ``expected``: keys of both, would the file's numbers lie anywhere between its
    smallest and its largest (None: there is none). ``source_rows``, ``output_rows``: (m,) int64, rows that share a key that one source row
    has.
    """

    first: int
    second: int
    both: int
    weak: int
    matched: int
    own: int
    expected: float | None
    source_rows: NDArray[np.int64]
    output_rows: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class OwnMatches:
    """Two columns of the source, row by row: rows where both have keys of a form, where they share one, where that one is not weak; ``most``:
    the most rows with one key of the first.
    """

    compared: int
    same: int
    strong: int
    most: int


class IdentifierEngine(Protocol):
    """An engine that looks for identifiers in other forms."""

    def identifier_matches(
        self, source: Staged, released: ReleasedFile, pairs: Sequence[tuple[str, str]], form: str
    ) -> tuple[IdentifierMatches, ...]:
        """Compare (source column, released column) pairs in a form of :data:`FORMS`."""
        ...

    def own_identifiers(self, source: Staged, pairs: Sequence[tuple[str, str]], form: str) -> tuple[OwnMatches, ...]:
        """Compare pairs of source columns row by row in a form of :data:`FORMS`; in forms but the plain one a large source by a sample."""
        ...
