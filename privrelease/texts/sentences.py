"""Sentences of an audit as values: a code and what is put into it. The words of every language are made of these.

A sentence is its English text, so that a document, a log and a terminal take it as the text that it is; a page in another language asks it for
code and values, and writes numbers and plurals its own way. The code is a key of the catalogue (``sentence.cells_changed``).

A text that counts by the value ``n`` has a form for each plural category of CLDR: ``n_rows.one`` and ``n_rows.other``.
"""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn, Self, TypeAlias

from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["Join", "Listed", "Number", "Said", "Value", "every", "fill", "known", "listed", "of_key", "say", "share_of"]

#: The signs between the parts of a list, by their names in the catalogue (``join.comma``).
Join: TypeAlias = Literal["comma", "semicolon", "and", "with", "slash"]


@dataclass(frozen=True, slots=True)
class Number:
    """A number as English writes it: its point and its commas become those of the language.

    >>> Number("1,234.5 %").text
    '1,234.5 %'
    """

    text: str


@dataclass(frozen=True, slots=True)
class Listed:
    """Parts with a sign between them."""

    parts: tuple[Value, ...]
    join: Join = "comma"


class Said(str):
    """A sentence: its English text, with the code and the values that it was made of. Frozen.

    >>> one = say("n_rows", n=3)
    >>> one, one.code, dict(one.values)
    ('3 rows', 'sentence.n_rows', {'n': 3})
    """

    __slots__ = ("code", "values")

    code: str
    values: Mapping[str, Value]

    def __new__(cls, text: str, code: str, values: Mapping[str, Value]) -> Self:
        """Make a sentence of which the text is known; see :func:`say`."""
        said = super().__new__(cls, text)
        object.__setattr__(said, "code", code)
        object.__setattr__(said, "values", values)
        return said

    def __setattr__(self, name: str, value: object) -> NoReturn:
        """Refuse: a sentence is a value."""
        raise AttributeError(name)

    def __reduce__(self) -> tuple[type[Said], tuple[str, str, Mapping[str, Value]]]:
        """Return what makes an equal sentence."""
        return Said, (str(self), self.code, self.values)

    def reworded(self, text: str) -> Said:
        """Return the sentence with another English text, e.g. with spaces at which no line breaks."""
        return Said(text, self.code, self.values)


#: What is put into a sentence: a whole number, a number as it is written, a name, a sentence, or a list of these.
Value: TypeAlias = "int | Number | str | Said | Listed"


def say(key: str, **values: Value) -> Said:
    """Say a sentence of the catalogue, by its key in the table ``sentence``. Raises KeyError: a fault of ours.

    >>> say("no_records"), say("n_rows", n=1)
    ('no released records', '1 row')
    """
    return of_key(f"sentence.{key}", **values)


def of_key(key: str, **values: Value) -> Said:
    """Say a text of the catalogue by its whole key."""
    from privrelease.texts.catalogue import sentences

    plain = {name: _plain(value) for name, value in values.items()}
    return Said(fill(sentences(), "en", key, plain), key, plain)


def _plain(value: Any) -> Value:  # noqa: ANN401 -- numpy's whole numbers are no int
    """Return a whole number of any type as an int."""
    if isinstance(value, int | str | Number | Listed):
        return value
    return index(value)


def known(text: str) -> str:
    """Return a fixed text of the catalogue, e.g. the note of a figure, as a sentence; any other text as the name that it is.

    >>> known("no released records").__class__.__name__, known("Anna").__class__.__name__
    ('Said', 'str')
    """
    from privrelease.texts.catalogue import fixed_texts

    key = fixed_texts().get(text)
    return text if key is None else Said(text, key, {})


def listed(parts: Iterable[Value], join: Join = "comma") -> Listed:
    """List names, numbers or sentences."""
    return Listed(tuple(parts), join)


def every(sentences: Iterable[Said]) -> Said | None:
    """Say one sentence after another; None where there is none, and one alone as it is.

    >>> every([say("no_records"), say("n_rows", n=2)])
    'no released records; 2 rows'
    """
    parts = tuple(sentences)
    if len(parts) < 2:
        return parts[0] if parts else None
    return say("every", parts=Listed(parts, "semicolon"))


#: Texts of :func:`privrelease.audit.checks.findings.per_cent` that hold a word.
_BEYOND: Final = {"less than ": "less_than", "more than ": "more_than"}


def share_of(text: str) -> Value:
    """Return a written share, e.g. ``12.5 %`` or ``less than 0.0001 %``, as a value.

    >>> share_of("5 %"), share_of("less than 0.0001 %")
    (Number(text='5 %'), 'less than 0.0001 %')
    """
    for words, key in _BEYOND.items():
        if text.startswith(words):
            return say(key, share=Number(text.removeprefix(words)))
    return Number(text)


# ------------------------------------------------------------------------------------------------------------------- rendering


def fill(texts: Mapping[str, str], language: str, key: str, values: Mapping[str, Value]) -> str:
    """Return a text of a language with its values. Raises KeyError: the language lacks a text, or a value is missing."""
    return texts[_form(texts, language, key, values)].format(
        **{name: _written(texts, language, value) for name, value in values.items()}
    )


def _form(texts: Mapping[str, str], language: str, key: str, values: Mapping[str, Value]) -> str:
    """Return the key of the plural category: in French none is singular too."""
    n = values.get("n")
    if not isinstance(n, int) or f"{key}.one" not in texts:
        return key
    return f"{key}.one" if n == 1 or (language == "fr" and n == 0) else f"{key}.other"


def _written(texts: Mapping[str, str], language: str, value: Value) -> str:
    match value:
        case Said():
            return (language == "en" and str(value)) or fill(texts, language, value.code, value.values)
        case Listed():
            return texts[f"join.{value.join}"].join(_written(texts, language, part) for part in value.parts)
        case Number():
            return value.text if language == "en" else _number(texts, value.text)
        case _:
            return str(value)


def _number(texts: Mapping[str, str], text: str) -> str:
    marks = {ord("."): texts["numbers.decimal"], ord(","): texts["numbers.thousands"]}
    return text.translate(marks).replace(" %", "\N{NO-BREAK SPACE}%")
