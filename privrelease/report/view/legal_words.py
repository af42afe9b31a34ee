"""Facts of law in words: letters of the GDPR, durations, terms of the Data Privacy Vocabulary, with the term itself for small print."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from privrelease.texts.catalogue import Catalogue

__all__ = ["LEVELS", "article_6", "entry_words", "in_words"]

#: Levels of likelihood and severity, from the least.
LEVELS: Final = ("negligible", "limited", "significant", "maximum")

_ARTICLE: Final = re.compile(r"A([69])-[12]-([a-j])")
_DURATION: Final = re.compile(r"P(?=\d)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?")
_TERM: Final = re.compile(r"dpv:([A-Z][A-Za-z]*)")
#: Parts that lead an entry, and those that are in small print.
_LEADING: Final = ("name", "text", "ref", "authority", "country", "id")
_SMALL: Final = ("id", "dpv")


def article_6(value: object) -> str:
    """Return the letter of Art. 6(1) that a basis is, empty where it is none.

    >>> article_6("A6-1-e"), article_6("an act")
    ('e', '')
    """
    found = _ARTICLE.fullmatch(value) if isinstance(value, str) else None
    return found[2] if found is not None and found[1] == "6" else ""


def in_words(part: str, value: str, texts: Catalogue) -> tuple[str, str]:
    """Return a stated value in words, and the term as it was written where the words replace it.

    >>> from privrelease.texts.catalogue import english
    >>> in_words("source", "P1Y6M", english()), in_words("art9", "A9-2-j", english())[1]
    (('1 year 6 months', 'P1Y6M'), 'A9-2-j')
    >>> in_words("text", "any words", english())
    ('any words', '')
    """
    article = _ARTICLE.fullmatch(value)
    if article is not None and texts.has(f"legal.art{article[1]}.{article[2]}"):
        words = texts.text(f"legal.art{article[1]}.{article[2]}")
        return texts.plain(f"legal.article{article[1]}", letter=article[2], words=words), value
    duration = _DURATION.fullmatch(value)
    if duration is not None:
        counted = zip("YMWD", duration.groups(), strict=True)
        said = [
            texts.text(f"legal.duration.one.{unit}") if n == "1" else texts.plain(f"legal.duration.many.{unit}", n=n)
            for unit, n in counted
            if n is not None
        ]
        return " ".join(said), value
    term = _TERM.fullmatch(value)
    if term is not None:
        own = f"legal.dpv.{term[1]}"
        spelled = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", term[1]).capitalize()
        return (texts.text(own) if texts.has(own) else spelled), value
    known = f"legal.{part}.{value}"
    if texts.has(known):
        return texts.text(known), value if part == "exemption" else ""
    if part == "followed" and value in {"yes", "no"}:
        return texts.text(f"word.{value}"), ""
    return value.replace("_", " ") if part == "access" and " " not in value else value, ""


def entry_words(parts: Mapping[str, tuple[str, ...]], texts: Catalogue) -> tuple[str, str]:
    """Return one entry of several parts as a line, and its small print.

    >>> from privrelease.texts.catalogue import english
    >>> entry_words({"name": ("Registry",), "country": ("DE",), "access": ("secure_environment",)}, english())
    ('Registry (DE), secure environment', '')
    >>> entry_words({"id": ("research",), "text": ("a study",), "dpv": ("dpv:ScientificResearch",)}, english())
    ('a study', 'Scientific research (dpv:ScientificResearch), research')
    """
    lead = next((name for name in _LEADING if name in parts), None)
    small: list[str] = []
    said: list[str] = []
    for name, values in parts.items():
        written = [in_words(name, value, texts) for value in values]
        words = ", ".join(text for text, _ in written)
        terms = [term for _, term in written if term]
        if name == lead:
            said.insert(0, words)
            small += terms
        elif name in _SMALL:
            small.insert(0 if name == "dpv" else len(small), f"{words} ({', '.join(terms)})" if terms else words)
        elif name == "country" and said:
            said[0] = f"{said[0]} ({words})"
        else:
            # access of a recipient is words; as a right it is one of several, and is said with its article
            label = f"legal.part.{name}"
            labelled = texts.has(label) and not (name == "access" and lead is not None)
            said.append(texts.plain(label, text=words) if labelled else words)
            small += terms
    return ", ".join(said), ", ".join(small)
