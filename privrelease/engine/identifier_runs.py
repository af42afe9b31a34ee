"""Identifiers looked up in texts: every run of letters that could be an identifier is hashed once and asked of one table of all identifiers.

A run begins and ends where parts do, and only runs as long as some identifier are hashed. The hash of letters l_0 … l_(n-1) is
sum h(l_i) B^i + n C modulo 2^64, B odd, so that the hash of any run follows from sums over the text: (S_end - S_begin) B^-begin. In any
order, the hash is a sum over the parts. Cost is linear in the letters, times the number of different lengths, at most ``LONGEST``. Two
different runs of a million have the same hash by accident with a probability below 10^12 / 2^64 < 10^-7.

Karp and Rabin 1987, Efficient randomized pattern-matching algorithms.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from privrelease.engine.letters import END, Letters, letters_of
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[np.uint64]
    Places = NDArray[np.int64]

__all__ = ["LENGTH", "LONGEST", "Runs", "mixed_bits", "runs_of", "without_decimals", "without_padding"]

#: Letters of an identifier that are compared; of a longer one its beginning.
LONGEST = 200
_SLICE = 1 << 20
_BASE = 0x9E37_79B9_7F4A_7C15 | 5
_INVERSE = pow(_BASE, -1, 1 << 64)
LENGTH = np.uint64(0xD6E8_FEB8_6659_FD93)
_MOST_DIGITS = 18


def mixed_bits(values: NDArray[Any]) -> Words:
    """Mix the bits of numbers (the finalizer of SplitMix64, Steele, Lea and Flood 2014)."""
    mixed = values.astype(np.uint64) + np.uint64(0x9E37_79B9_7F4A_7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58_476D_1CE4_E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D0_49BB_1331_11EB)
    return mixed ^ (mixed >> np.uint64(31))


@cache
def _powers(base: int, n: int) -> Words:
    """Return base^0 … base^(n-1) modulo 2^64; n is a power of two and ``LONGEST``, so few are kept."""
    powers = np.full(n, base, np.uint64)
    powers[:1] = 1
    return np.cumprod(powers)


class _Sums:
    """Sums over letters, in slices, from which the hash of any run follows."""

    def __init__(self, letters: NDArray[np.uint32]) -> None:
        size = min(1 << len(letters).bit_length(), _SLICE) + LONGEST
        powers = _powers(_BASE, size)
        self.inverse = _powers(_INVERSE, size)
        self.slices = [_summed(letters[low : low + _SLICE + LONGEST], powers) for low in range(0, len(letters), _SLICE)]

    def hashes(self, begins: Places, ends: Places) -> Words:
        """Hash the runs [begins, ends), of long ones the first ``LONGEST`` letters and the length."""
        last = np.minimum(ends, begins + LONGEST)
        sizes = (ends - begins).astype(np.uint64) * LENGTH
        if len(self.slices) == 1:
            return self._of(0, begins, last) + sizes
        found = np.zeros(len(begins), np.uint64)
        of_slice = begins // _SLICE
        for place in map(int, np.flatnonzero(np.bincount(of_slice))):
            here = of_slice == place
            low = place * _SLICE
            found[here] = self._of(place, begins[here] - low, last[here] - low)
        return found + sizes

    def _of(self, place: int, begins: Places, ends: Places) -> Words:
        sums = self.slices[place]
        return (sums[ends] - sums[begins]) * self.inverse[begins]


def _summed(letters: NDArray[np.uint32], powers: Words) -> Words:
    sums = np.zeros(len(letters) + 1, np.uint64)
    np.cumsum(mixed_bits(letters) * powers[: len(letters)], out=sums[1:])
    return sums


def without_padding(letters: NDArray[np.uint32], begins: Places, ends: Places) -> Places:
    """Pass over leading zeros."""
    zero = np.flatnonzero(letters[begins] == ord("0"))
    if not len(zero):
        return begins
    others = np.flatnonzero(letters != ord("0"))
    moved = begins.copy()
    moved[zero] = np.minimum(others[np.searchsorted(others, begins[zero])], ends[zero])
    return moved


@dataclass(frozen=True, eq=False, slots=True)
class Runs:
    """The runs of n texts that may be identifiers. ``whole``: (n,) hashes of all letters; ``parts``, ``digits``: (m,) where each part, each
    number begins and ends, ascending, without leading zeros.
    """

    texts: Any
    letters: Letters
    sums: _Sums
    whole: Words
    empty: NDArray[np.bool_]
    parts: tuple[Places, Places]
    numbers: tuple[Places, Places]

    def text_at(self, places: Places) -> Places:
        """Return the text that each place lies in."""
        return np.searchsorted(self.letters.ends, places)

    def values(self, *, whole: bool) -> tuple[Places, Places]:
        """Return (text, value) of the numbers of at most 18 digits: whole texts, or numbers anywhere in them."""
        letters, (begins, ends) = self.letters, self.numbers
        texts = self.text_at(begins)
        kept = ends - begins <= _MOST_DIGITS
        if whole:
            first = without_padding(letters.letters, letters.starts, letters.ends)
            kept &= (begins == first[texts]) & (ends == letters.ends[texts])
        begins, ends, texts = begins[kept], ends[kept], texts[kept]
        values = np.zeros(len(begins), np.int64)
        for place in range(int((ends - begins).max(initial=0))):
            inside = begins + place < ends
            digit = letters.letters[np.where(inside, begins + place, 0)].astype(np.int64) - ord("0")
            values = np.where(inside, 10 * values + digit, values)
        return texts, values


def runs_of(texts: Any, letters: Letters | None = None) -> Runs:  # noqa: ANN401 - Arrow has no types
    """Find the runs of an Arrow array of texts without nulls."""
    found = letters_of(without_decimals(texts)) if letters is None else letters
    all_ = found.letters
    begins = np.flatnonzero(found.begins)
    is_part = all_[begins] != END
    nexts = np.append(begins[1:], len(all_))
    begins, ends = begins[is_part], nexts[is_part]
    digit = found.digits
    inside = digit.copy()
    inside[1:] &= digit[:-1]
    inside &= ~found.begins
    first = np.flatnonzero(digit & ~inside)
    follows = np.zeros(len(all_), np.bool_)
    follows[:-1] = inside[1:]
    last = np.flatnonzero(digit & ~follows) + 1
    starts = without_padding(all_, found.starts, found.ends)
    sums = _Sums(all_)
    return Runs(
        texts,
        found,
        sums,
        sums.hashes(starts, found.ends),
        starts == found.ends,
        (begins, ends),
        (without_padding(all_, first, last), last),
    )


def without_decimals(texts: Any) -> Any:  # noqa: ANN401 - Arrow has no types
    """Drop the decimals of whole numbers: 12.0 is 12."""
    import pyarrow.compute as pc

    some = pc.any(pc.ends_with(texts, ".0")).as_py() or pc.any(pc.ends_with(texts, "00")).as_py()
    return pc.replace_substring_regex(texts, r"\.0+$", "") if some else texts
