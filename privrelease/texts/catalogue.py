"""Every sentence and label of a report, in one place: a folder per language with one TOML file per topic (``en/risk.toml``).

English is whole. The other languages have the topics of the report; what they lack (the console, pages of forecasts) stays English.

Values that are put into a sentence come from data or policy: they are escaped, and isolated (``bdi``) so that right-to-left text
cannot reorder the sentence around it.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from markupsafe import Markup

__all__ = ["LANGUAGES", "Catalogue", "catalogue_of", "english", "sentences"]

#: Languages of reports, by their BCP 47 tags.
LANGUAGES: Final = ("en", "de", "fr")

#: Files of what is found by its English words.
_SENTENCES: Final = ("titles.toml", "sentences.toml")
_NUMBER: Final = r"[-<>]?\d{1,3}(?:\d*|(?:,\d{3})+)(?:\.\d+)?(?:e-?\d+)?(?:[ \u00a0]%)?"
#: The title of a check of the policy, which is the name of what it measures.
_NAMED: Final = r"[a-z]+(?:_[a-z]+)+"
_CHECK_ID: Final = r"[A-Z]+(?:-[A-Z0-9]+)+ "
#: Values within sentences that are made of words.
_OF_WORDS = frozenset({"what", "bounds"})
#: Values that are names, or made of words themselves, within fragments.
_NAMES = frozenset({"what", "column", "distance", "threat", "bounds"})
#: What may represent numbers in fragments and domains: no words, so that lists of a policy's own values are never taken for a range.
_NO_WORDS = r"[^A-Za-z]+?"

#: Before these signs French writes a space, at which no line may break.
_UNBROKEN, _NO_BREAK = r" (?=[;:?!%»])", "\N{NO-BREAK SPACE}"

_ISOLATE, _END = "\u2068", "\u2069"


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The texts of one language (BCP 47 tag). A key that is not there is a fault of ours: KeyError."""

    language: str
    texts: Mapping[str, str]

    def text(self, key: str, **values: str) -> str:
        """Return a text for places that take no markup; values are isolated by Unicode marks.

        >>> english().text("units.bytes", n="1,024")
        '\u20681,024\u2069 bytes'
        """
        return self.texts[key].format(**{name: f"{_ISOLATE}{value}{_END}" for name, value in values.items()})

    def plain(self, key: str, **values: str) -> str:
        """Return a text for a terminal or a log: values as they are.

        >>> english().plain("units.bytes", n="1,024")
        '1,024 bytes'
        """
        return self.texts[key].format(**values)

    def html(self, key: str, **values: str) -> Markup:
        """Return a text as markup: it and its values escaped, values isolated in ``bdi``.

        >>> english().html("units.bytes", n="<b>")
        Markup('<bdi>&lt;b&gt;</bdi> bytes')
        """
        from markupsafe import Markup, escape

        isolated = {name: Markup("<bdi>{}</bdi>").format(value) for name, value in values.items()}
        return Markup(escape(self.texts[key])).format(**isolated)  # noqa: S704 -- the text was escaped just now

    def of_kind(self, key: str, kind: str) -> str:
        """Return the text of that key for a kind of release; where none is written for the kind, that for any.

        >>> english().of_kind("decision.released", "table"), english().of_kind("decision.released", "chart")
        ('Cells in the table', 'Lines released')
        """
        own = f"{key}.{kind}"
        return self.text(own if self.has(own) else key)

    def said(self, text: str) -> str:
        r"""Return a sentence of ``audit.json``, which is in English, in this language where the catalogue has it.

        >>> catalogue_of("de").said("every class has at least 1,200 persons")
        'jede Klasse hat mindestens 1.200 Personen'
        >>> catalogue_of("fr").said("AUDIT-ORDER Order says nothing: a sentence of no catalogue")
        "AUDIT-ORDER L'ordre ne révèle rien\xa0: a sentence of no catalogue"
        """
        if self.language == "en":
            return text
        found = self._found(text, "sentence.")
        if found is not None:
            return found
        name = re.match(_CHECK_ID, text)
        if name is not None:
            return name[0] + self.said(text[name.end() :])
        title, colon, rest = text.partition(": ")
        if title == "Attack":  # titles of attacks have a colon of their own
            kind, colon, rest = rest.partition(": ")
            title = f"{title}: {kind}"
        known = _sentences().get(title) if colon else None
        if known is None and not (colon and re.fullmatch(_NAMED, title)):
            return text
        return f"{title if known is None else self.texts[known]}{self.texts['numbers.colon']}{self.said(rest)}"

    def values(self, text: str) -> str:
        """Return the words for the values of a column, as ``audit.json`` has them, in this language; lists of the policy's own values stay.

        >>> catalogue_of("de").values("50 to 99.5, …, 200 to 1,000, in steps of 0.1")
        '50 bis 99,5, …, 200 bis 1.000, in Schritten von 0,1'
        """
        if self.language == "en":
            return text
        return ", …, ".join(self._found(part, "domain.") or self._value("", part) or part for part in text.split(", …, "))

    def _found(self, text: str, table: str) -> str | None:
        """Find an English text in the catalogue, as it is or by the words around its values, and return it in this language."""
        key = _sentences().get(text)
        if key is not None:
            return self.texts[key]
        for known, pattern in _patterns(table):
            match = pattern.fullmatch(text)
            if match is not None:
                values = {name: self._value(name, value) for name, value in match.groupdict().items()}
                found = {name: value for name, value in values.items() if value is not None}
                if len(found) == len(values):
                    return self.texts[known].format(**found)
        return None

    def _value(self, name: str, value: str) -> str | None:
        """Return a value within a sentence: a number with the marks of this language, and in its words what is itself made of words; None
        where the catalogue lacks these.
        """
        if re.fullmatch(_NUMBER, value):
            return value.translate({ord("."): self.texts["numbers.decimal"], ord(","): self.texts["numbers.thousands"]})
        if name in _OF_WORDS:
            return self._found(value, "fragment.") or (None if " " in value else value)
        return value

    def is_foreign(self, text: str) -> bool:
        """Return True if a sentence of ``audit.json`` stays English on a page in this language."""
        return self.language != "en" and self.said(text) == text

    def has(self, key: str) -> bool:
        """Return whether there is a text of that key (for names that come from outside, e.g. of further measures)."""
        return key in self.texts


@cache
def english() -> Catalogue:
    """Return the English texts: every topic in one mapping, keys dotted (``risk.heading``: table, then key, of a TOML file).

    The titles and sentences that ``audit.json`` has in English anyway are not among them: see :func:`sentences`.
    """
    return Catalogue("en", _texts("en", without=_SENTENCES))


@cache
def sentences() -> Mapping[str, str]:
    """Return all English texts, those among them by which a page in another language finds its own."""
    return _texts("en")


@cache
def catalogue_of(language: str | None) -> Catalogue:
    """Return the texts of a language, English where none is named. Raises KeyError: there is no catalogue of it.

    >>> catalogue_of("de").text("status.fail")
    'nicht eingehalten'
    """
    if language in {None, "en"}:
        return english()
    if language not in LANGUAGES:
        raise KeyError(language)
    return Catalogue(language, {**english().texts, **_texts(language)})


@cache
def _sentences() -> Mapping[str, str]:
    """Return the keys of English texts without values, by their text."""
    return {text: key for key, text in sentences().items() if "{" not in text}


@cache
def _patterns(table: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return the English texts of a table that have values, as patterns, those of most words first."""
    found = [(key, text) for key, text in sentences().items() if key.startswith(table) and "{" in text]
    found.sort(key=lambda one: -len(re.sub(r"\{\w+\}", "", one[1])))
    value = {"domain.": _NO_WORDS, "fragment.": _NO_WORDS}.get(table, ".+?")
    return tuple((key, re.compile(_pattern(text, value), re.DOTALL)) for key, text in found)


def _pattern(text: str, value: str) -> str:
    parts = re.split(r"\{(\w+)\}", text)
    return "".join(
        f"(?P<{part}>{'.+' if part == 'values' else '.+?' if part in _NAMES else value})" if place % 2 else re.escape(part)
        for place, part in enumerate(parts)
    )


def _texts(language: str, *, without: Collection[str] = ()) -> dict[str, str]:
    texts: dict[str, str] = {}
    for topic in sorted(files("privrelease.texts").joinpath(language).iterdir(), key=lambda file: file.name):
        if topic.name.endswith(".toml") and topic.name not in without:
            for table, entries in tomllib.loads(topic.read_text(encoding="utf-8")).items():
                texts |= {f"{table}.{key}": text for key, text in entries.items()}
    return {key: re.sub(_UNBROKEN, _NO_BREAK, text) for key, text in texts.items()} if language == "fr" else texts
