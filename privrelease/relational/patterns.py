r"""Patterns of made texts: characters and classes of fixed length, of which every text can be numbered.

A small part of regular expressions: plain characters, ``\d``, ``[A-F0-9]``, each repeated by ``{n}``. What it describes has one length, and as
many texts as the product of its places, so that it is known beforehand how many different ones there are.
"""

from __future__ import annotations

import re
from math import prod

from privrelease.value_classes import dataclass

__all__ = ["Pattern", "PatternFault", "parse_pattern"]

_LONGEST = 64
_DIGITS = "0123456789"
_SPECIAL = frozenset("[](){}|*+?.^$\\")


class PatternFault(ValueError):  # noqa: N818  a fault of a text, as FilterFault is of a filter
    """Why a text is no pattern."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """The characters of each place, ascending.

    >>> parse_pattern("[0-9]{3}").capacity, parse_pattern("P[AB]").texts(1)
    (1000, 'PB')
    """

    places: tuple[str, ...]

    @property
    def capacity(self) -> int:
        """The number of different texts."""
        return prod(map(len, self.places))

    def texts(self, number: int) -> str:
        """Return the text of a number from 0 to the capacity less 1; the last place varies fastest."""
        found = []
        for characters in reversed(self.places):
            number, at = divmod(number, len(characters))
            found.append(characters[at])
        return "".join(reversed(found))

    def matches(self, text: str) -> bool:
        """Return True if the pattern describes a text."""
        return len(text) == len(self.places) and all(one in place for one, place in zip(text, self.places, strict=True))


def parse_pattern(text: str) -> Pattern:
    """Return the pattern that ``text`` is. Raises PatternFault."""
    places: list[str] = []
    at = 0
    while at < len(text):
        characters, at = _place(text, at)
        times = re.match(r"\{(\d{1,3})\}", text[at:])
        if times is not None:
            at += times.end()
        places += [characters] * (1 if times is None else int(times[1]))
        if len(places) > _LONGEST:
            message = f"is longer than {_LONGEST} characters"
            raise PatternFault(message)
    if not places:
        message = "describes no character"
        raise PatternFault(message)
    return Pattern(tuple(places))


def _place(text: str, at: int) -> tuple[str, int]:
    one = text[at]
    if one == "\\":
        if text[at + 1 : at + 2] == "d":
            return _DIGITS, at + 2
        if text[at + 1 : at + 2] in _SPECIAL:
            return text[at + 1], at + 2
        message = "has a backslash before a character that means nothing"
        raise PatternFault(message)
    if one == "[":
        end = text.find("]", at)
        if end < at + 2:
            message = "has a class of characters without an end, or an empty one"
            raise PatternFault(message)
        return _class(text[at + 1 : end]), end + 1
    if one in _SPECIAL or not one.isprintable():
        message = (
            f"has {one!r}, which a pattern of fixed length cannot have" if one.isprintable() else "has a control character"
        )
        raise PatternFault(message)
    return one, at + 1


def _class(inside: str) -> str:
    found: set[str] = set()
    at = 0
    while at < len(inside):
        first = inside[at]
        if inside[at + 1 : at + 2] == "-" and at + 2 < len(inside):
            last, at = inside[at + 2], at + 3
        else:
            last, at = first, at + 1
        if first in "^\\[" or last in "\\[" or last < first:
            message = "has a class of characters that is not a list of characters and ranges"
            raise PatternFault(message)
        found.update(map(chr, range(ord(first), ord(last) + 1)))
    if any(not one.isprintable() for one in found):
        message = "has a control character"
        raise PatternFault(message)
    return "".join(sorted(found))
