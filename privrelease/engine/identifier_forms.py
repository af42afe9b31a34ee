"""Identifiers in one table for each form of them, and the runs of a text that are one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from privrelease.engine.identifier_runs import LENGTH, LONGEST, Runs, mixed_bits, runs_of, without_decimals, without_padding
from privrelease.engine.letters import END, Letters, reversed_letters
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    Words = NDArray[np.uint64]
    Places = NDArray[np.int64]

__all__ = ["MOST_PARTS", "Identifiers", "hexadecimal", "identifiers_of"]

#: Parts of an identifier that is looked for in any order.
MOST_PARTS = 8
#: Digits of the shortest beginning of a hash that is taken for one; no number or word has so many hexadecimal digits by chance.
_SHORTEST_HASH = 16


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
    """Distinct identifiers in the forms they are looked for in. ``forms``: by the names of
    :data:`privrelease.engine.protocol.identifiers.FORMS`. ``lengths`` and ``counts``: of the parts of identifiers, where they are looked for.
    """

    forms: dict[str, Form]
    lengths: Places
    counts: tuple[int, ...]

    def hits(self, runs: Runs, form: str) -> tuple[Places, Places]:
        """Return (text, key) pairs, each once: texts that hold an identifier in a form."""
        of = self.forms[form]
        if form == "plain":
            alike = np.union1d(self.forms["folded"].table.find(runs.whole)[0], np.flatnonzero(runs.empty))
            found, keys = _same_texts(without_decimals(runs.texts.take(alike)), of.table)
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
        first = without_padding(letters, begins, ends)
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
                found, key = table.find(sums_ + np.uint64(count * int(LENGTH) % (1 << 64)))
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
    first = without_padding(runs.letters.letters, begins, ends)
    return mixed_bits(runs.sums.hashes(first, ends))


def _same_texts(texts: Any, values: Any) -> tuple[Places, Places]:  # noqa: ANN401 - Arrow has no types
    import pyarrow.compute as pc

    if not len(texts):  # the table of values is made again for every search
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


def identifiers_of(texts: Any, forms: Collection[str], hashes: Sequence[Any] = ()) -> Identifiers:  # noqa: ANN401 - Arrow has no types
    """Prepare n distinct identifiers in the forms they are looked for in. ``hashes``: for each kind of hash n texts in hexadecimal, where that
    form is among them.
    """
    runs = runs_of(texts)
    letters = runs.letters
    numbers = np.unique(runs.values(whole=True)[1])
    first = without_padding(letters.letters, letters.starts, letters.ends)
    numerals = np.concatenate(([0], np.cumsum(letters.digits)))
    sizes, digits = letters.ends - first, numerals[letters.ends] - numerals[first]
    weak = _weak(sizes, digits)
    made = {"folded": _keyed([runs.whole], ~runs.empty, weak, numbers)}  # the plain form is looked for where this one is found
    lengths: Places = np.zeros(0, np.int64)
    counts: tuple[int, ...] = ()
    if "plain" in forms:
        made["plain"] = _plain(texts, numbers)
    if "digits" in forms:
        made["digits"] = _digits(runs)
    if "part" in forms:
        short = np.minimum(sizes, LONGEST)
        run = runs.whole + (short - sizes).astype(np.uint64) * LENGTH
        n_parts, sums = _sums_of_parts(runs)
        several = (n_parts >= 2) & (n_parts <= MOST_PARTS) & ~runs.empty
        any_order = sums + n_parts.astype(np.uint64) * LENGTH
        made["part"] = _keyed([run, np.where(several, any_order, run)], ~runs.empty, weak, numbers)
        lengths, counts = np.unique(short[~runs.empty]), tuple(map(int, np.unique(n_parts[several])))
    if "reversed" in forms:
        back = runs_of(texts, reversed_letters(letters))
        sizes = back.letters.ends - without_padding(back.letters.letters, back.letters.starts, back.letters.ends)
        weak_back = _weak(sizes[::-1], numerals[letters.ends] - numerals[letters.starts])
        made["reversed"] = _keyed([back.whole[::-1]], ~back.empty[::-1], weak_back, np.unique(back.values(whole=True)[1]))
    if "hashed" in forms:
        made["hashed"] = _hash_form(hashes, len(texts))
    return Identifiers(made, lengths, counts)


def _weak(sizes: Places, digits: Places) -> NDArray[np.bool_]:
    """Return whether texts are numbers of at most seven digits, or at most three letters, or one of either."""
    weak: NDArray[np.bool_] = ((digits >= sizes) & (sizes <= 7)) | ((digits == 0) & (sizes <= 3)) | (sizes <= 1)
    return weak


def _plain(texts: Any, numbers: Places) -> Form:  # noqa: ANN401 - Arrow has no types
    import pyarrow as pa
    import pyarrow.compute as pc

    bare = without_decimals(texts)
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
    sizes = ends - without_padding(only, starts, ends)
    return _keyed([own.whole], ~own.empty, sizes <= 7, np.unique(own.values(whole=True)[1]))


def _hash_form(hashes: Sequence[Any], n: int) -> Form:
    import pyarrow as pa
    import pyarrow.compute as pc

    cut = [pc.utf8_slice_codeunits(one, 0, _SHORTEST_HASH) for one in hashes]
    values = pa.concat_arrays([one.combine_chunks() if isinstance(one, pa.ChunkedArray) else one for one in cut])
    return Form(np.arange(n), np.zeros(n, np.bool_), (values, np.tile(np.arange(n), len(hashes))), np.zeros(0, np.int64))
