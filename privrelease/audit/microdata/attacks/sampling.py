"""Sample of attacked records, chosen by the data: an audit repeats byte for byte, and no one picks a friendly sample.

The seed is SHA-256 over the keyed digest of the source and the name of the attack. Nothing that the author of a policy words has a part in it: with the
policy's or the release's digest in the seed, titles could be edited until a sample passes. The digest is keyed and stays internal, so no reader can test a
guess of the data by the sample. Numbers are computed by SplitMix64 (Steele, Lea and Flood 2014) on 64-bit integers, whose results no version of a library
changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Draws", "one_row_each"]

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

    def words(self, n: int) -> NDArray[np.uint64]:
        """Return (n,) 64-bit numbers."""
        with np.errstate(over="ignore"):
            mixed = np.arange(1, n + 1, dtype=np.uint64) * _STEP + np.uint64(self.seed)
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
        """Return at most ``size`` different numbers of 0..n-1, in the order drawn."""
        return self.order(n)[:size]


def one_row_each(order: NDArray[np.int64], persons: NDArray[np.int64] | None, size: int) -> NDArray[np.int64]:
    """Return the first ``size`` rows of ``order`` (n,), of each person the first one only.

    >>> one_row_each(np.array([2, 0, 1, 3]), np.array([5, 6, 5, 7]), 3).tolist()
    [2, 1, 3]
    """
    if persons is None:
        return order[:size]
    _, first = np.unique(persons[order], return_index=True)
    return order[np.sort(first)][:size]
