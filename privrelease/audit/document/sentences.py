"""Sentences of ``audit.json`` as code and values, next to their English text: field ``X_coded`` beside ``X``.

A code is a key of the catalogue of texts. A value is a whole number, a name, a number as English writes it, another sentence, or a list.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from pydantic import Field

from privrelease.documents import Document
from privrelease.texts.catalogue import sentences
from privrelease.texts.sentences import Join, Listed, Number, Said, Value, say

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Coded", "CodedList", "CodedNumber", "both", "coded", "coded_all", "said_all", "said_of", "title_said"]


class CodedNumber(Document):
    """A number as English writes it, with a point before its decimals."""

    number: str


class CodedList(Document):
    """Parts, and the name of the sign between them."""

    join: Join
    parts: tuple[CodedValue, ...]


class Coded(Document):
    """A sentence: its code, a key of the catalogue, and its values by name."""

    code: str
    values: dict[str, CodedValue] = Field(default_factory=dict, exclude_if=lambda values: not values)


CodedValue: TypeAlias = "int | str | CodedNumber | CodedList | Coded"


def coded(text: str | None) -> Coded | None:
    """Return code and values of a sentence; None for any other text.

    >>> from privrelease.texts.sentences import say
    >>> coded(say("n_rows", n=3)), coded("of no catalogue")
    (Coded(code='sentence.n_rows', values={'n': 3}), None)
    """
    match text:
        case Said():
            return Coded(code=text.code, values={name: _coded(value) for name, value in text.values.items()})
        case _:
            return None


def coded_all(texts: Iterable[str]) -> tuple[Coded | None, ...] | None:
    """Return code and values of each sentence, None for one that has none; None where no one has any."""
    found = tuple(map(coded, texts))
    return found if any(found) else None


def both(field: str, texts: Iterable[str]) -> dict[str, object]:
    """Return the texts of a field and, for its field of codes, what they are made of: to be put into a copy of a document."""
    found = tuple(texts)
    return {field: tuple(map(str, found)), f"{field}_coded": coded_all(found)}


def said_of(text: str, sentence: Coded | None) -> str:
    """Return a sentence of a document with its code and values, where it has them."""
    return text if sentence is None else Said(text, sentence.code, {name: _value(one) for name, one in sentence.values.items()})


def said_all(texts: tuple[str, ...], sentences: tuple[Coded | None, ...] | None) -> tuple[str, ...]:
    """Return the sentences of a list in a document with their codes and values, where they have them."""
    if sentences is None or len(sentences) != len(texts):
        return texts
    return tuple(said_of(text, one) for text, one in zip(texts, sentences, strict=True))


def title_said(check: str, title: str) -> str:
    """Return the title of a check with its code, by the id of the check; as it is where the catalogue has another title, or none.

    >>> title_said("AUDIT-ATTACK-INFERENCE-2", "Attack: guessing a column: job").code
    'sentence.titled'
    >>> title_said("CHECK-1", "l_diversity")
    'l_diversity'
    """
    key = f"title.{check.rstrip('-0123456789')}"
    known = sentences().get(key)
    if known is None or not title.startswith(known):
        return title
    rest = title.removeprefix(known)
    said = Said(known, key, {})
    if not rest:
        return said
    return say("titled", title=said, about=rest.removeprefix(": ")) if rest.startswith(": ") else title


def _coded(value: Value) -> CodedValue:
    match value:
        case Said():
            return Coded(code=value.code, values={name: _coded(one) for name, one in value.values.items()})
        case Number():
            return CodedNumber(number=value.text)
        case Listed():
            return CodedList(join=value.join, parts=tuple(map(_coded, value.parts)))
        case _:
            return value


def _value(value: CodedValue) -> Value:
    match value:
        case Coded():
            values = {name: _value(one) for name, one in value.values.items()}
            return Said("", value.code, values)
        case CodedNumber():
            return Number(value.number)
        case CodedList():
            return Listed(tuple(map(_value, value.parts)), value.join)
        case _:
            return value
