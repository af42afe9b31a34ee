from __future__ import annotations

import pytest


class Scripted:
    """Randomness that gives the listed bytes first, then those of another source: places a word where a proof says it is rare."""

    private = False

    def __init__(self, first: bytes, rest) -> None:
        self._first = first
        self._rest = rest

    def draw(self, size: int) -> bytes:
        taken, self._first = self._first[:size], self._first[size:]
        return taken + self._rest.draw(size - len(taken))


@pytest.fixture
def scripted():
    return Scripted
