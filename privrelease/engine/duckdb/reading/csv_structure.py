"""One pass over the bytes of a CSV file, to see what a forgiving reader would let pass.

DuckDB accepts, among others, an empty field too many, blanks around a quoted field (and drops them) and line breaks of several kinds.
Here the structure is counted by RFC 4180: where quotes stand, and which delimiters and line breaks lie outside of them. The counts must
match the number of rows that were read; where they do not, or a quote stands in an odd place, the file is read again record by record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import IO

    from numpy.typing import NDArray

    from privrelease.relational.schema import FileFormat

__all__ = ["Structure", "structure_of"]

_BLOCK = 8 << 20
_MARK = b"\xef\xbb\xbf"
_LF, _CR = 10, 13


class Structure:
    """Signs outside of quotes: ``delimiters``, ``feeds`` (LF), ``returns`` (CR), ``pairs`` (CR LF); quotes in odd places; NUL."""

    __slots__ = ("_before", "_inside", "delimiters", "feeds", "lone_returns", "nul", "odd_quotes", "pairs", "returns")

    def __init__(self) -> None:
        self.delimiters = self.feeds = self.returns = self.pairs = self.odd_quotes = self.lone_returns = 0
        self.nul = False
        self._inside = np.uint8(0)
        self._before = _LF

    @property
    def mixed_line_breaks(self) -> bool:
        """Return True if line breaks are of several kinds; where quotes stand in odd places, also any lone CR next to an LF.

        >>> found = Structure()
        >>> found.feeds, found.returns, found.pairs = 3, 3, 3
        >>> found.mixed_line_breaks
        False
        >>> found.pairs = 2
        >>> found.mixed_line_breaks
        True
        """
        several = bool(self.returns and self.feeds) and not self.pairs == self.feeds == self.returns
        return several or bool(self.odd_quotes and self.lone_returns and self.feeds)

    def add(self, block: bytes, delimiter: int, quote: int, after: int) -> None:
        """Count a block; ``after`` is the byte that follows it, -1 at the end of the file."""
        data = np.frombuffer(block, np.uint8)
        quotes = data == quote
        inside = np.cumsum(quotes, dtype=np.uint8)
        inside += self._inside
        inside &= np.uint8(1)
        outside = inside == 0
        self._count(data, outside & ~quotes, delimiter, after)
        places = np.flatnonzero(quotes)
        opening = inside[places] == 1
        before = np.where(places > 0, data[np.maximum(places - 1, 0)], self._before)
        follows = np.append(data[1:], np.uint8(0)).astype(np.int16)
        follows[-1] = after
        beside = np.where(opening, before, follows[places])
        self.odd_quotes += int(np.count_nonzero(~np.isin(beside, (delimiter, quote, _LF, _CR, -1))))
        self._inside = inside[-1]
        self._before = block[-1]
        if after < 0 and self._inside:
            self.odd_quotes += 1

    def add_unquoted(self, block: bytes, delimiter: int, after: int) -> None:
        """Count a block that holds no quote and lies outside of quotes."""
        data = np.frombuffer(block, np.uint8)
        self.delimiters += int(np.count_nonzero(data == delimiter))
        self.feeds += int(np.count_nonzero(data == _LF))
        if b"\r" in block:
            returns, pairs = _returns(data, after)
            self.returns += returns
            self.pairs += pairs
        self._before = block[-1]

    @property
    def inside(self) -> bool:
        """Return True if the last block ended inside of quotes."""
        return bool(self._inside)

    def _count(self, data: NDArray[np.uint8], outside: NDArray[np.bool_], delimiter: int, after: int) -> None:
        self.delimiters += int(np.count_nonzero((data == delimiter) & outside))
        self.feeds += int(np.count_nonzero((data == _LF) & outside))
        returns = np.flatnonzero((data == _CR) & outside)
        self.returns += len(returns)
        if len(returns):
            followed = data[np.minimum(returns + 1, len(data) - 1)] == _LF
            if returns[-1] == len(data) - 1:
                followed[-1] = after == _LF
            self.pairs += int(np.count_nonzero(followed))


def _returns(data: NDArray[np.uint8], after: int) -> tuple[int, int]:
    """Count CR, and CR LF, in a block that the byte ``after`` follows."""
    found = data == _CR
    followed = np.count_nonzero(found[:-1] & (data[1:] == _LF))
    return int(np.count_nonzero(found)), int(followed) + bool(found[-1] and after == _LF)


def structure_of(stream: IO[bytes], format_: FileFormat) -> Structure:
    r"""Count the structure of a UTF-8 file.

    >>> import io
    >>> from privrelease.relational.schema import FileFormat
    >>> found = structure_of(io.BytesIO(b'a,b\n"1,\n",2\n'), FileFormat())
    >>> (found.delimiters, found.feeds, found.odd_quotes)
    (2, 2, 0)
    >>> structure_of(io.BytesIO(b'a,b\n1, "2"\n'), FileFormat()).odd_quotes
    1
    """
    found = Structure()
    delimiter, quote = format_.delimiter.encode(), format_.quote.encode()
    if len(delimiter) != 1 or len(quote) > 1:  # a sign of several bytes: read record by record
        found.odd_quotes = 1
        return found
    held = stream.read(_BLOCK).removeprefix(_MARK)
    while held:
        following = stream.read(_BLOCK)
        found.nul = found.nul or b"\0" in held
        after = following[0] if following else -1
        if b"\r" in held:
            returns, pairs = _returns(np.frombuffer(held, np.uint8), after)
            found.lone_returns += returns - pairs
        if quote and (found.inside or quote in held):
            found.add(held, delimiter[0], quote[0], after)
        else:
            found.add_unquoted(held, delimiter[0], after)
        held = following
    return found
