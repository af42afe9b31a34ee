"""Attribute inference: an attacker who knows some columns of a person guesses another from the records nearest to them.

The guess is the value that most of the nearest records hold (of equally many the one that is most frequent in the file, then the first in
order), so that a class whose members share a value gives it away however large it is. Guessing without knowledge is the file's most frequent
value. A number is guessed where it lies within ``tolerance`` of the guess, relative to it, as in Anonymeter. A label is guessed where it holds
the person's value, and only there: its own width is its tolerance. How much of the domain the right guesses cover is counted with them.

Source: Giomi et al. 2023 (Anonymeter), whose attacker takes one nearest record; where none is tied both guess the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from privrelease.audit.attacks.nearest import nearest
from privrelease.audit.attacks.rates import Rate
from privrelease.audit.attacks.records import Tuples

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from privrelease.audit.attacks.records import Attribute

__all__ = ["InferenceAttack"]


class InferenceAttack:
    """A released file to guess ``secret`` from; records without a value of it say nothing and are left out.

    >>> from privrelease.audit.attacks.records import Attribute
    >>> known, secret = Attribute("age", np.array([1, 1, 1, 2], np.uint8)), Attribute("ill", np.array([1, 1, 2, 2], np.uint8))
    >>> guesser = InferenceAttack([known], secret, 0.0)
    >>> guesser.rate([known], secret), guesser.blind(secret)  # the third of four holds what its like do not
    (Rate(successes=3, attempts=4, known=None), Rate(successes=2, attempts=4, known=None))
    """

    def __init__(
        self, known: Sequence[Attribute], secret: Attribute, tolerance: float, counts: NDArray[np.int64] | None = None
    ) -> None:
        """``counts``: (n,) how often each of the records given is in the file; None: once."""
        there = np.flatnonzero(secret.codes > 0)
        times = np.ones(len(there), np.int64) if counts is None else counts[there]
        self._records = Tuples.among([one.of(there) for one in known])
        codes = secret.codes[there].astype(np.int64)
        self._size = int(codes.max(initial=0)) + 1
        frequency = np.bincount(codes, times, self._size)
        #: Values from the most to the least frequent; the first in order before others of the same frequency.
        self._preferred = np.lexsort((np.arange(self._size), -frequency))
        self._place = np.empty(self._size, np.int64)
        self._place[self._preferred] = np.arange(self._size)
        pairs, of_pair = np.unique(self._records.of_row * self._size + codes, return_inverse=True)
        self._times = np.bincount(of_pair.reshape(-1), times, len(pairs))
        self._value = pairs % self._size
        self._start = np.searchsorted(pairs // self._size, np.arange(len(self._records) + 1))
        self._numbers = secret.values if tolerance else None
        self.covered = 0.0
        """Mean share of the domain that right guesses of the last rate covered; 0 where none was right, or values are no labels."""
        self._tolerance = tolerance

    def guesses(self, known: Sequence[Attribute]) -> NDArray[np.int64]:
        """Return the code guessed for each target: (m,), 0 where the file has no record."""
        found = nearest(known, self._records)
        lengths = self._start[found.record + 1] - self._start[found.record]
        owner = np.repeat(found.target, lengths)
        entry = np.repeat(self._start[found.record] - np.cumsum(lengths) + lengths, lengths) + np.arange(len(owner))
        keys, back = np.unique(owner * self._size + self._place[self._value[entry]], return_inverse=True)
        votes = np.bincount(back, weights=self._times[entry], minlength=len(keys))
        voter, place = keys // self._size, keys % self._size
        guessed = np.zeros(len(found.distance), np.int64)
        rising = np.lexsort((-place, votes, voter))  # the last of each target: most votes, then the most preferred value
        guessed[voter[rising]] = self._preferred[place[rising]]
        return guessed

    def rate(self, known: Sequence[Attribute], secret: Attribute) -> Rate:
        """Return how often the value of targets that have one is guessed."""
        return self._right(self.guesses(known), secret)

    def blind(self, secret: Attribute) -> Rate:
        """Return how often the file's most frequent value is the target's."""
        return self._right(np.full(len(secret.codes), self._preferred[0] if self._times.size else 0, np.int64), secret)

    def _right(self, guessed: NDArray[np.int64], secret: Attribute) -> Rate:
        there = secret.codes > 0
        guessed, true = guessed[there], secret.codes[there].astype(np.int64)
        if secret.cover is not None:
            right = secret.cover.holds(guessed, true)
            self.covered = float(secret.cover.leaves.shares[guessed[right]].mean()) if right.any() else 0.0
            return Rate(int(np.count_nonzero(right)), len(true))
        right = guessed == true
        if self._numbers is not None:
            guess, truth = self._numbers[guessed], self._numbers[true]
            right |= (np.abs(guess - truth) <= self._tolerance * np.abs(guess)) & (guessed > 0)
        return Rate(int(np.count_nonzero(right & (guessed > 0))), len(true))
