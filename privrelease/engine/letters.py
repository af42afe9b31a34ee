"""Texts as their folded letters and digits, in parts: the form in which identifiers are compared with texts.

A text is folded one character at a time: full case folding, compatibility decomposition (NFKD), marks with a combining class and invisible
characters removed, digits of every script as 0 to 9, letters with strokes as the letters below them. Other characters part the letters.
A script that is written without spaces (Chinese, Japanese, Korean, Thai, Lao, Khmer, Burmese) has a part at every character or syllable.

Unicode Standard, sections 3.7 (decomposition), 3.13 (default case algorithms) and 5.18 (case mappings).
"""

from __future__ import annotations

import itertools
import unicodedata
from typing import TYPE_CHECKING, Any

import numpy as np

from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["END", "Letters", "letters_of", "reversed_letters"]

#: Ends every text among its letters; no character has this number.
END = 0x11_0000

_CONTINUOUS = 1 << 24  # a script without spaces
_BEGINS = 1 << 25  # begins a part wherever it is
_REMOVED = 0xFFFF_FFFF
_MAPPED = 1 << 31  # the lower bits are a place among the foldings of several letters
_END_BYTE = 0xFF  # no byte of ASCII

_STROKES = {
    "ø": "o",
    "ł": "l",
    "đ": "d",
    "ð": "d",
    "ħ": "h",
    "ŧ": "t",
    "\u0131": "i",
    "æ": "ae",
    "œ": "oe",
    "þ": "th",
    "ŀ": "l",
}
_WITHOUT_SPACES = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Burmese
    (0x1100, 0x11FF),  # Korean letters
    (0x1780, 0x17FF),  # Khmer
    (0x2E80, 0x2FDF),
    (0x3005, 0x3007),
    (0x3040, 0x312F),
    (0x31A0, 0x31FF),
    (0x3400, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)
_KOREAN_INSIDE = range(0x1160, 0x1200)  # vowels and final consonants, inside a syllable


@dataclass(frozen=True, eq=False, slots=True)
class Letters:
    """The letters of n texts. ``letters``: (m,) uint32, every text ended by END; ``begins``: (m,) bool, a part or an END begins here;
    ``starts``, ``ends``: (n,) int64, where each text begins and where its END is.
    """

    letters: NDArray[np.uint32]
    begins: NDArray[np.bool_]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]

    @property
    def digits(self) -> NDArray[np.bool_]:
        """Mask of the letters that are digits, (m,)."""
        return (self.letters >= ord("0")) & (self.letters <= ord("9"))

    def parts(self, text: int) -> list[str]:
        """Return the parts of one text, for doctests and error messages of developers.

        >>> import pyarrow as pa
        >>> found = letters_of(pa.array(["Strauß-Ødegård, ﬁn", "O\u2019Neil 12", "山田さん", ""]))
        >>> [found.parts(text) for text in range(4)]
        [['strauss', 'odegard', 'fin'], ['o', 'neil', '12'], ['山', '田', 'さ', 'ん'], []]
        """
        low, high = int(self.starts[text]), int(self.ends[text])
        cuts = [low, *(low + 1 + np.flatnonzero(self.begins[low + 1 : high])), high]
        plain = self.letters & np.uint32(0x1F_FFFF)
        pairs = itertools.pairwise(cuts)
        return ["".join(map(chr, plain[one:other])) for one, other in pairs if one < other]


class _Folding:
    """The folded form of each character, learnt as characters are met: few of a million occur."""

    def __init__(self) -> None:
        self.known = np.zeros(END + 1, np.bool_)
        self.table = np.zeros(END + 1, np.uint32)
        self.table[END], self.known[END] = END, True
        self.several: list[tuple[int, ...]] = []
        self._learn(range(128))
        self.ascii = np.zeros(256, np.uint32)
        self.ascii[:128] = self.table[:128]
        self.ascii[_END_BYTE] = END

    def of(self, characters: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """Return the folded characters: 0 parts letters."""
        met = np.zeros(END + 1, np.bool_)
        met[characters] = True
        self._learn(np.flatnonzero(met & ~self.known))
        folded = self.table[characters]
        longer = (folded & _MAPPED).astype(np.bool_)
        longer &= folded != _REMOVED
        if longer.any():
            folded = self._expanded(folded, longer)
        kept: NDArray[np.uint32] = folded[folded != _REMOVED]
        return kept

    def _expanded(self, folded: NDArray[np.uint32], longer: NDArray[np.bool_]) -> NDArray[np.uint32]:
        sizes = np.array([len(one) for one in self.several], np.int64)
        firsts = np.cumsum(sizes) - sizes
        flat = np.array([letter for one in self.several for letter in one], np.uint32)
        which = (folded[longer] & np.uint32(_MAPPED - 1)).astype(np.int64)
        times = np.ones(len(folded), np.int64)
        times[longer] = sizes[which]
        out = np.repeat(folded, times)
        at = (np.cumsum(times) - times)[longer]
        inside = np.arange(int(sizes[which].sum())) - np.repeat(np.cumsum(sizes[which]) - sizes[which], sizes[which])
        out[np.repeat(at, sizes[which]) + inside] = flat[np.repeat(firsts[which], sizes[which]) + inside]
        return out

    def _learn(self, characters: Any) -> None:  # noqa: ANN401 - a range or an array
        for character in map(int, characters):
            letters = _folded(chr(character))
            self.known[character] = True
            if len(letters) > 1:
                self.table[character] = _MAPPED | len(self.several)
                self.several.append(letters)
            else:
                self.table[character] = letters[0] if letters else _REMOVED


def _folded(character: str) -> tuple[int, ...]:
    """Fold one character into letters; 0 for what parts letters, nothing for what is removed."""
    text = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", character.casefold()).casefold())
    letters = [letter for one in text for letter in _STROKES.get(one, one)]
    return tuple(_letter(one) for one in letters if not _invisible(one))


def _invisible(character: str) -> bool:
    variation = 0xFE00 <= ord(character) <= 0xFE0F or 0xE0100 <= ord(character) <= 0xE01EF
    return variation or unicodedata.combining(character) != 0 or unicodedata.category(character) == "Cf"


def _letter(character: str) -> int:
    number = ord(character)
    digit = unicodedata.digit(character, None)
    if unicodedata.category(character) == "Nd" and digit is not None:
        return ord("0") + digit
    if unicodedata.category(character)[0] not in "LMN":
        return 0
    if any(low <= number <= high for low, high in _WITHOUT_SPACES):
        return number | _CONTINUOUS | (0 if number in _KOREAN_INSIDE else _BEGINS)
    return number


_FOLDING: list[_Folding] = []


def letters_of(texts: Any) -> Letters:  # noqa: ANN401 - Arrow has no types
    """Fold an Arrow array of n texts without nulls."""
    import pyarrow.compute as pc

    if not _FOLDING:
        _FOLDING.append(_Folding())
    folding = _FOLDING[0]
    ended = pc.binary_join_element_wise(texts, "\n", "")
    bytes_, size = _bytes(ended)
    lengths = np.asarray(pc.utf8_length(ended), np.int64)
    last = np.cumsum(lengths) - 1
    if len(lengths) and int(last[-1]) + 1 == size:
        ascii_ = np.frombuffer(bytes_, np.uint8).copy()
        ascii_[last] = _END_BYTE
        folded = folding.ascii[ascii_]
    else:
        characters = np.frombuffer(str(bytes_, "utf-8").encode("utf-32-le"), np.uint32).copy()
        characters[last] = END
        folded = folding.of(characters)
    return _parted(folded)


def _bytes(texts: Any) -> tuple[Any, int]:  # noqa: ANN401 - Arrow has no types
    """Return the bytes of an array of texts, one after another."""
    import pyarrow as pa

    _, offsets, data = texts.buffers()
    kind = np.int64 if pa.types.is_large_string(texts.type) else np.int32
    places = (
        np.frombuffer(offsets, kind)[texts.offset : texts.offset + len(texts) + 1] if offsets is not None else np.zeros(1, kind)
    )
    low, high = int(places[0]), int(places[-1])
    return (memoryview(data)[low:high] if data is not None else b""), high - low


def _parted(folded: NDArray[np.uint32]) -> Letters:
    """Find where parts begin, then drop what parts them."""
    there = folded != 0
    begins = (folded & np.uint32(_BEGINS)).astype(np.bool_)
    continuous = (folded & np.uint32(_CONTINUOUS)).astype(np.bool_)
    begins |= folded == END
    begins[1:] |= ~there[:-1] | (folded[:-1] == END) | (continuous[:-1] & ~continuous[1:])
    begins[:1] = True
    letters, begins = folded[there], begins[there]
    ends = np.flatnonzero(letters == END)
    starts = np.zeros_like(ends)
    starts[1:] = ends[:-1] + 1
    return Letters(letters, begins, starts, ends)


def reversed_letters(of: Letters) -> Letters:
    """Return every text backwards, as one part, the last text first."""
    letters = np.append(of.letters[:-1][::-1], np.uint32(END))[: len(of.letters)]
    ends = np.flatnonzero(letters == END)
    starts = np.zeros_like(ends)
    starts[1:] = ends[:-1] + 1
    begins = np.zeros(len(letters), np.bool_)
    begins[ends] = begins[starts] = True
    return Letters(letters, begins, starts, ends)
