"""Sample of attacked records, chosen by the data: an audit repeats byte for byte, and no one picks a friendly sample.

The seed is SHA-256 over the keyed digest of the source and the name of the attack. Nothing that the author of a policy words has a part in it: with the
policy's or the release's digest in the seed, titles could be edited until a sample passes. The digest is keyed and stays internal, so no reader can test a
guess of the data by the sample. Numbers are computed by SplitMix64 (Steele, Lea and Flood 2014) on 64-bit integers, whose results no version of a library
changes.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

__all__ = ["Draws", "drawn_rows", "one_row_each"]

#: Words that are held at once.
_BLOCK = 1 << 18
#: Numbers of an order that are held at once, about.
_HELD = 1 << 22
_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@dataclass(frozen=True, slots=True)
class Draws:
    """Repeatable draws. ``seed``: 64 bits."""

    seed: int

    @classmethod
    def of(cls, *texts: str) -> Draws:
        """Seed draws by texts.

        >>> Draws.of("a", "b") == Draws.of("a", "b"), Draws.of("a", "b") == Draws.of("ab")
        (True, False)
        """
        digest = sha256(b"".join(len(part.encode()).to_bytes(8, "big") + part.encode() for part in texts)).digest()
        return cls(int.from_bytes(digest[:8], "big"))

    def named(self, name: str) -> Draws:
        """Return draws of their own for one part of an attack."""
        return Draws.of(str(self.seed), name)

    def words(self, n: int, start: int = 0) -> NDArray[np.uint64]:
        """Return (n,) 64-bit numbers, from number ``start`` on."""
        with np.errstate(over="ignore"):
            mixed = np.arange(start + 1, start + n + 1, dtype=np.uint64) * _STEP + np.uint64(self.seed)
            mixed = (mixed ^ (mixed >> np.uint64(30))) * _FIRST
            mixed = (mixed ^ (mixed >> np.uint64(27))) * _SECOND
        return np.asarray(mixed ^ (mixed >> np.uint64(31)), np.uint64)

    def below(self, n: int, bound: int) -> NDArray[np.int64]:
        """Return (n,) numbers in [0, bound), each as likely as the others but for 2^-64 of ``bound``."""
        return (self.words(n) % np.uint64(bound)).astype(np.int64)

    def order(self, n: int) -> NDArray[np.int64]:
        """Return a permutation of 0..n-1.

        >>> sorted(Draws(7).order(5).tolist())
        [0, 1, 2, 3, 4]
        """
        return np.argsort(self.words(n), kind="stable").astype(np.int64)

    def sample(self, n: int, size: int) -> NDArray[np.int64]:
        """Return the first ``size`` numbers of :meth:`order`, all where there are fewer, in memory for a block at a time.

        >>> Draws(7).sample(5, 3).tolist() == Draws(7).order(5)[:3].tolist()
        True
        """
        drawn, words = np.zeros(0, np.int64), np.zeros(0, np.uint64)
        for start in range(0, n, _BLOCK):
            more = self.words(min(_BLOCK, n - start), start)
            words = np.concatenate((words, more))
            drawn = np.concatenate((drawn, np.arange(start, start + len(more), dtype=np.int64)))
            first = np.argsort(words, kind="stable")[:size]
            drawn, words = drawn[first], words[first]
        return drawn

    def in_order(self, n: int) -> Iterator[NDArray[np.int64]]:
        """Yield :meth:`order` in pieces: the numbers whose words lie in one of several equal ranges after the other, so that no more is held.

        >>> np.concatenate(list(Draws(7).in_order(5))).tolist() == Draws(7).order(5).tolist()
        True
        """
        parts = max(1, -(-n // _HELD))
        for part in range(parts):
            low, high = (np.uint64((end << 64) // parts - (end > 0)) for end in (part, part + 1))
            words, numbers = [], []
            for start in range(0, n, _BLOCK):
                some = self.words(min(_BLOCK, n - start), start)
                inside = np.flatnonzero(((some > low) | (part == 0)) & (some <= high))
                words.append(some[inside])
                numbers.append(inside.astype(np.int64) + start)
            if words:
                yield np.concatenate(numbers)[np.argsort(np.concatenate(words), kind="stable")]

    def least(self, counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the least number of each of several runs of :meth:`order`, and its place: (u,) each. ``counts``: (u,) numbers of each run, at
        least one; the runs follow each other and make up the whole.

        >>> order = Draws(7).order(5)
        >>> lots, places = Draws(7).least(np.array([2, 3]))
        >>> lots.tolist() == [order[:2].min(), order[2:].min()], order[places].tolist() == lots.tolist()
        (True, True)
        """
        ends = np.cumsum(counts)
        rows = int(ends[-1]) if len(ends) else 0
        lots, places = np.full(len(counts), rows, np.int64), np.zeros(len(counts), np.int64)
        start = 0
        for piece in self.in_order(rows):
            stop = start + len(piece)
            low, high = np.searchsorted(ends, start, side="right"), np.searchsorted(ends, stop - 1, side="right") + 1
            begins = np.maximum(ends[low:high] - counts[low:high], start) - start
            least = np.minimum.reduceat(piece, begins)
            runs = np.repeat(np.arange(low, high), np.diff(np.append(begins, len(piece))))
            hits = np.flatnonzero((piece == least[runs - low]) & (piece < lots[runs]))
            lots[runs[hits]], places[runs[hits]] = piece[hits], start + hits
            start = stop
        return lots, places


def one_row_each(order: NDArray[np.int64], persons: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Return the first ``size`` rows of ``order`` (n,), of each person the first one only; ``persons``: (n,) of these rows.

    >>> one_row_each(np.array([2, 0, 1, 3]), np.array([5, 5, 6, 7]), 3).tolist()
    [2, 1, 3]
    """
    _, first = np.unique(persons, return_index=True)
    return order[np.sort(first)][:size]


def drawn_rows(
    draws: Draws, rows: int, size: int, persons: Callable[[NDArray[np.int64]], NDArray[np.int64]] | None = None
) -> NDArray[np.int64]:
    """Return the first ``size`` rows of a table of ``rows`` in the order of ``draws``, of each person the first one only; ``persons``: of
    some rows (None: each is one). They are asked of more and more rows until so many persons are found.

    >>> person, order = np.array([5, 6, 5, 7]), Draws(3).order(4)
    >>> drawn_rows(Draws(3), 4, 3, person.__getitem__).tolist() == one_row_each(order, person[order], 3).tolist()
    True
    """
    if persons is None:
        return draws.sample(rows, size)
    tried = size
    while True:
        order = draws.sample(rows, tried)
        chosen = one_row_each(order, persons(order), size)
        if len(chosen) == size or len(order) == rows:
            return chosen
        tried *= 4
