"""Texts of data and policy for places where control characters would act or are not allowed (XML 1.0, logs)."""

from __future__ import annotations

import unicodedata

__all__ = ["printable"]


def printable(text: str) -> str:
    r"""Return the text with every control, direction and surrogate character (but line feeds) written out.

    >>> printable("a\x1bb\u202ec\nd")
    'a\\x1bb\\u202ec\nd'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        character
        if character == "\n" or unicodedata.category(character) not in {"Cc", "Cf", "Cs", "Cn"}
        else _escape(character)
        for character in text
    )


def _escape(character: str) -> str:
    number = ord(character)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
