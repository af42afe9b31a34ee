"""Envelopes over counts that are known exactly, for their tests."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from privrelease.dp.envelope import Envelope, Marginal, Score
from privrelease.dp.envelope_records import Reserved
from privrelease.dp.queries import Setting
from privrelease.dp.randomness import TestRandomness
from privrelease.dp.sensitivity import Contribution
from privrelease.units import Delta, Rho

ALPHA = 1e-9
N = 40_000


class Exact:
    """Counts that were asked for, and how often."""

    def __init__(self, rows, persons=((("a",), ("b",)), (40, 1))):
        self._rows = {name: np.array(cells, np.int64) for name, cells in rows.items()}
        self._persons = persons
        self.asked = 0

    def rows(self, query):
        self.asked += 1
        return self._rows[query.name]

    def persons(self, query):
        self.asked += 1
        return self._persons[0], np.array(self._persons[1], np.int64)


class Counting(TestRandomness):
    """Repeatable bytes, counted."""

    __test__ = False
    __slots__ = ("bytes",)

    def __init__(self, seed):
        super().__init__(seed)
        self.bytes = 0

    def draw(self, size):
        self.bytes += size
        return super().draw(size)


ONE = Setting(Contribution(1))
A, B = Marginal("a", (2,)), Marginal("a x b", (2, 3))
CELLS = {"a": [5, 7], "a x b": [1, 2, 3, 4, 5, 6]}


def opened(rho="1/10", failure="0", setting=ONE, rows=None, seed=1):
    charged = []
    envelope = Envelope(
        Reserved(Rho(Fraction(rho)), Delta(failure)), setting, Exact(rows or CELLS), charged.append, Counting(seed)
    )
    assert charged == [envelope.reserved]
    return envelope


def scores(*models, weight=1):
    return [Score(np.array(model), weight=weight) for model in models]
