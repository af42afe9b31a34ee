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

from privrelease.engine.letters import END, Letters, letters_of, reversed_letters
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Words = NDArray[np.uint64]
    Places = NDArray[np.int64]

__all__ = ["LONGEST", "MOST_PARTS", "Identifiers", "Runs", "hexadecimal", "identifiers_of", "runs_of"]

#: Letters of an identifier that are compared; of a longer one its beginning.
LONGEST = 200
#: Parts of an identifier that is looked for in any order.
MOST_PARTS = 8
#: Digits of the shortest beginning of a hash that is taken for one; no number or word has so many hexadecimal digits by chance.
_SHORTEST_HASH = 16

_SLICE = 1 << 20
_BASE = 0x9E37_79B9_7F4A_7C15 | 5
_INVERSE = pow(_BASE, -1, 1 << 64)
_LENGTH = np.uint64(0xD6E8_FEB8_6659_FD93)
_MOST_DIGITS = 18


def _mixed(values: NDArray[Any]) -> Words:
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
        sizes = (ends - begins).astype(np.uint64) * _LENGTH
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
    np.cumsum(_mixed(letters) * powers[: len(letters)], out=sums[1:])
    return sums


def _unpadded(letters: NDArray[np.uint32], begins: Places, ends: Places) -> Places:
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
            first = _unpadded(letters.letters, letters.starts, letters.ends)
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
    found = letters_of(_without_decimals(texts)) if letters is None else letters
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
    starts = _unpadded(all_, found.starts, found.ends)
    sums = _Sums(all_)
    return Runs(
        texts,
        found,
        sums,
        sums.hashes(starts, found.ends),
        starts == found.ends,
        (begins, ends),
        (_unpadded(all_, first, last), last),
    )


def _without_decimals(texts: Any) -> Any:  # noqa: ANN401 - Arrow has no types
    """Drop the decimals of whole numbers: 12.0 is 12."""
    import pyarrow.compute as pc

    some = pc.any(pc.ends_with(texts, ".0")).as_py() or pc.any(pc.ends_with(texts, "00")).as_py()
    return pc.replace_substring_regex(texts, r"\.0+$", "") if some else texts


class _Table:
    """Hashes and their keys: a table of bits says of nearly all others that they are none of them."""

    def __init__(self, hashes: Words, keys: Places) -> None:
        order = np.argsort(hashes, kind="stable")
        self.hashes, self.keys = hashes[order], keys[order]
        bits = min(24, max(8, (16 * len(hashes)).bit_length()))
        self.shift = np.uint64(64 - bits)
        self.there = np.zeros(1 << bits, np.bool_)
        self.there[self.hashes >> self.shift] = True

    def find(self, hashes: Words) -> tuple[Places, Places]:
        """Return which hashes are in the table, and their keys."""
        if not len(self.hashes):
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        maybe = np.flatnonzero(self.there[hashes >> self.shift])
        asked = hashes[maybe]
        place = np.minimum(np.searchsorted(self.hashes, asked), len(self.hashes) - 1)
        same = self.hashes[place] == asked
        return maybe[same], self.keys[place[same]]


@dataclass(frozen=True, eq=False, slots=True)
class Form:
    """One form of n identifiers: ``keys``: (n,) the key of each, -1 none; ``weak``: (k,) whether a key may well meet by chance;
    ``numbers``: the distinct numbers among them, ascending.
    """

    keys: Places
    weak: NDArray[np.bool_]
    table: Any
    numbers: Places


@dataclass(frozen=True, eq=False, slots=True)
class Identifiers:
    """Distinct identifiers in every form they are looked for in. ``forms``: by the names of
    :data:`privrelease.engine.protocol.identifiers.FORMS`.
    """

    forms: dict[str, Form]
    lengths: Places
    counts: tuple[int, ...]

    def hits(self, runs: Runs, form: str) -> tuple[Places, Places]:
        """Return (text, key) pairs, each once: texts that hold an identifier in a form."""
        of = self.forms[form]
        if form == "plain":
            alike = np.union1d(self.forms["folded"].table.find(runs.whole)[0], np.flatnonzero(runs.empty))
            found, keys = _same_texts(_without_decimals(runs.texts.take(alike)), of.table)
            texts = alike[found]
        elif form == "hashed":
            texts, keys = _hashes_in(runs.texts, of.table)
        elif form in {"folded", "reversed"}:
            texts, keys = of.table.find(runs.whole)
        elif form == "digits":
            found, keys = of.table.find(runs.sums.hashes(*runs.numbers))
            texts = runs.text_at(runs.numbers[0][found])
        else:
            texts, keys = self._parts(runs, of.table)
        if not len(texts):
            return texts, keys
        n_keys = len(of.weak)
        pairs = np.unique(texts * n_keys + keys)
        return pairs // n_keys, pairs % n_keys

    def _parts(self, runs: Runs, table: _Table) -> tuple[Places, Places]:
        """Find runs of parts, in their order or in any."""
        begins, ends = runs.parts
        letters, is_begin = runs.letters.letters, runs.letters.begins
        first = _unpadded(letters, begins, ends)
        first = first[first < ends]
        places, keys = [], []
        for length in map(int, self.lengths):
            here = first[: np.searchsorted(first, len(letters) - length)]
            if length < LONGEST:
                here = here[is_begin[here + length]]
            found, key = table.find(runs.sums.hashes(here, here + length))
            places.append(here[found])
            keys.append(key)
        if self.counts:
            by_part = np.zeros(len(begins) + 1, np.uint64)
            np.cumsum(_part_hashes(runs), out=by_part[1:])
            text = runs.text_at(begins)
            for count in self.counts:
                sums_ = by_part[count:] - by_part[: max(len(by_part) - count, 0)]
                found, key = table.find(sums_ + np.uint64(count * int(_LENGTH) % (1 << 64)))
                found, key = _within(found, key, text, count)
                places.append(begins[found])
                keys.append(key)
        if not places:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        return runs.text_at(np.concatenate(places)), np.concatenate(keys)


def _within(found: Places, keys: Places, text: Places, count: int) -> tuple[Places, Places]:
    inside = text[found] == text[found + count - 1]
    return found[inside], keys[inside]


def _part_hashes(runs: Runs) -> Words:
    begins, ends = runs.parts
    first = _unpadded(runs.letters.letters, begins, ends)
    return _mixed(runs.sums.hashes(first, ends))


def _same_texts(texts: Any, values: Any) -> tuple[Places, Places]:  # noqa: ANN401 - Arrow has no types
    import pyarrow.compute as pc

    if not len(texts):  # the table of values is made anew for every search
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    keys = np.asarray(pc.index_in(texts, value_set=values).fill_null(-1), np.int64)
    found = np.flatnonzero(keys >= 0)
    return found, keys[found]


def _hashes_in(texts: Any, table: tuple[Any, Places]) -> tuple[Places, Places]:  # noqa: ANN401 - Arrow has no types
    import pyarrow.compute as pc

    some = np.flatnonzero(np.asarray(hexadecimal(texts)))
    values, keys = table
    starts = pc.utf8_lower(pc.utf8_slice_codeunits(texts.take(some), 0, _SHORTEST_HASH))
    found, place = _same_texts(starts, values)
    return some[found], keys[place]


def hexadecimal(texts: Any) -> Any:  # noqa: ANN401 - Arrow has no types
    """Return which texts look like a hash, an Arrow array."""
    import pyarrow.compute as pc

    return pc.match_substring_regex(texts, pattern=r"^[0-9a-fA-F]{16,}$")


def identifiers_of(texts: Any, hashes: Sequence[Any]) -> Identifiers:  # noqa: ANN401 - Arrow has no types
    """Prepare n distinct identifiers; ``hashes``: for each kind of hash n texts in hexadecimal."""
    runs = runs_of(texts)
    letters = runs.letters
    numbers = np.unique(runs.values(whole=True)[1])
    forms = {"plain": _plain(texts, numbers)}
    first = _unpadded(letters.letters, letters.starts, letters.ends)
    numerals = np.concatenate(([0], np.cumsum(letters.digits)))
    sizes, digits = letters.ends - first, numerals[letters.ends] - numerals[first]
    weak = _weak(sizes, digits)
    forms["folded"] = _keyed([runs.whole], ~runs.empty, weak, numbers)
    short = np.minimum(sizes, LONGEST)
    run = runs.whole + (short - sizes).astype(np.uint64) * _LENGTH
    forms["digits"] = _digits(runs)
    n_parts, sums = _sums_of_parts(runs)
    several = (n_parts >= 2) & (n_parts <= MOST_PARTS) & ~runs.empty
    any_order = sums + n_parts.astype(np.uint64) * _LENGTH
    forms["part"] = _keyed([run, np.where(several, any_order, run)], ~runs.empty, weak, numbers)
    back = runs_of(texts, reversed_letters(letters))
    sizes = back.letters.ends - _unpadded(back.letters.letters, back.letters.starts, back.letters.ends)
    weak_back = _weak(sizes[::-1], numerals[letters.ends] - numerals[letters.starts])
    forms["reversed"] = _keyed([back.whole[::-1]], ~back.empty[::-1], weak_back, np.unique(back.values(whole=True)[1]))
    forms["hashed"] = _hash_form(hashes, len(texts))
    return Identifiers(
        forms,
        np.unique(short[~runs.empty]),
        tuple(int(count) for count in np.unique(n_parts[several])),
    )


def _weak(sizes: Places, digits: Places) -> NDArray[np.bool_]:
    """Return whether texts are numbers of at most seven digits, or at most three letters, or one of either."""
    weak: NDArray[np.bool_] = ((digits >= sizes) & (sizes <= 7)) | ((digits == 0) & (sizes <= 3)) | (sizes <= 1)
    return weak


def _plain(texts: Any, numbers: Places) -> Form:  # noqa: ANN401 - Arrow has no types
    import pyarrow as pa
    import pyarrow.compute as pc

    bare = _without_decimals(texts)
    coded = bare.dictionary_encode()
    coded = coded.combine_chunks() if isinstance(coded, pa.ChunkedArray) else coded
    values = coded.dictionary
    weak = np.asarray(pc.match_substring_regex(values, pattern=r"^(?:[0-9]{1,7}|\p{L}{1,3}|.)$"))
    keys = np.asarray(coded.indices, np.int64).copy()
    keys[np.asarray(pc.equal(bare, ""))] = -1
    return Form(keys, weak, values, numbers)


def _keyed(kinds: Sequence[Words], known: NDArray[np.bool_], weak: NDArray[np.bool_], numbers: Places) -> Form:
    """Number identifiers by their hashes of several kinds: those that share one of any kind have one key."""
    groups = [np.unique(kind[known], return_inverse=True)[1] for kind in kinds]
    key = groups[0].copy() if groups else np.zeros(0, np.int64)
    while True:
        before = key
        for group in groups:
            least = np.full(int(group.max(initial=-1)) + 1, len(key), np.int64)
            np.minimum.at(least, group, key)
            key = least[group]
        if np.array_equal(before, key):
            break
    key = np.unique(key, return_inverse=True)[1]
    keys = np.full(len(known), -1, np.int64)
    keys[known] = key
    weak_keys = np.zeros(int(key.max(initial=-1)) + 1, np.bool_)
    weak_keys[key] = weak[known]
    hashes, place = np.unique(np.concatenate([kind[known] for kind in kinds]), return_index=True)
    return Form(keys, weak_keys, _Table(hashes, np.tile(key, len(kinds))[place]), numbers)


def _sums_of_parts(runs: Runs) -> tuple[Places, Words]:
    """Return the number of parts of each text and the sum of their hashes."""
    begins, _ = runs.parts
    text = runs.text_at(begins)
    totals = np.concatenate((np.zeros(1, np.uint64), np.cumsum(_part_hashes(runs))))
    low, high = (np.searchsorted(text, np.arange(len(runs.texts)), side=side) for side in ("left", "right"))
    return (high - low).astype(np.int64), totals[high] - totals[low]


def _digits(runs: Runs) -> Form:
    """Digits of each identifier, one after another: hashed as texts of their own."""
    letters = runs.letters
    kept = letters.digits | (letters.letters == END)
    only = letters.letters[kept]
    ends = np.flatnonzero(only == END)
    starts = np.zeros_like(ends)
    starts[1:] = ends[:-1] + 1
    begins = np.zeros(len(only), np.bool_)
    begins[starts] = begins[ends] = True
    own = runs_of(runs.texts, Letters(only, begins, starts, ends))
    sizes = ends - _unpadded(only, starts, ends)
    return _keyed([own.whole], ~own.empty, sizes <= 7, np.unique(own.values(whole=True)[1]))


def _hash_form(hashes: Sequence[Any], n: int) -> Form:
    import pyarrow as pa
    import pyarrow.compute as pc

    cut = [pc.utf8_slice_codeunits(one, 0, _SHORTEST_HASH) for one in hashes]
    values = pa.concat_arrays([one.combine_chunks() if isinstance(one, pa.ChunkedArray) else one for one in cut])
    return Form(np.arange(n), np.zeros(n, np.bool_), (values, np.tile(np.arange(n), len(hashes))), np.zeros(0, np.int64))
