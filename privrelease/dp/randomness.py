"""The source of noise: the operating system, or (marked, never for release) a seed.

The samplers see only :class:`Randomness`: bytes, uniform and independent. Nothing is kept between calls in
:class:`SystemRandomness`, so a forked process, a thread or a crash dump can never share or reveal bytes that noise was made of.
"""

from __future__ import annotations

import os
from typing import Final, Protocol

__all__ = ["Randomness", "SystemRandomness", "TestRandomness"]

#: Linux returns at most 2**25 - 1 bytes a call of getrandom, `os.urandom` loops; asking in pieces keeps memory flat.
_PIECE: Final = 1 << 24


class Randomness(Protocol):
    """A source of uniform, independent bytes."""

    @property
    def private(self) -> bool:
        """Return True if no one can foresee or repeat the bytes; what is drawn from a source that is not private may not be
        released.
        """
        ...

    def draw(self, size: int) -> bytes:
        """Return ``size`` fresh bytes."""
        ...


class SystemRandomness:
    """The operating system's generator (getrandom through :func:`os.urandom`), without a buffer of our own.

    No buffer means fork-safe and thread-safe by construction: two processes cannot hold the same unused bytes.

    >>> len(SystemRandomness().draw(16))
    16
    >>> SystemRandomness().private
    True
    """

    __slots__ = ()
    private: Final = True

    def draw(self, size: int) -> bytes:
        """Return ``size`` bytes of the operating system."""
        if size <= _PIECE:
            return os.urandom(size)
        whole, rest = divmod(size, _PIECE)
        return b"".join([*(os.urandom(_PIECE) for _ in range(whole)), os.urandom(rest)])


class TestRandomness:
    """Repeatable bytes from a seed, for tests only (``--test-noise``): ``private`` is False and what it makes cannot be published.

    PCG64 words in little-endian order: the bit generator's stream is fixed by numpy's compatibility policy, so golden files hold.

    >>> TestRandomness(7).draw(4) == TestRandomness(7).draw(4)
    True
    >>> TestRandomness(7).private
    False
    """

    __test__ = False  # not a test class, whatever its name begins with
    __slots__ = ("_generator",)
    private: Final = False

    def __init__(self, seed: int) -> None:
        from numpy.random import PCG64

        self._generator = PCG64(seed)

    def draw(self, size: int) -> bytes:
        """Return the next ``size`` bytes of the stream (whole words are taken: a rest of a word is left out)."""
        words = self._generator.random_raw(-(-size // 8))
        return words.astype("<u8", copy=False).tobytes()[:size]
