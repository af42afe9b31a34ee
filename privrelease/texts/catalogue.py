"""Every sentence and label of a report, in one place: a folder per language with one TOML file per topic (``en/risk.toml``).

English is whole. The other languages have the topics of the report; what they lack (the console, pages of forecasts) stays English.

Values that are put into a sentence come from data or policy: they are escaped, and isolated (``bdi``) so that right-to-left text
cannot reorder the sentence around it.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from markupsafe import Markup

__all__ = ["LANGUAGES", "Catalogue", "catalogue_of", "english"]

#: Languages of reports, by their BCP 47 tags.
LANGUAGES: Final = ("en", "de", "fr")

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
        """Return a sentence of ``audit.json``, which is in English, in this language where the catalogue has it."""
        return text if self.language == "en" else self.texts.get(_sentences().get(text, ""), text)

    def is_foreign(self, text: str) -> bool:
        """Return True if a sentence of ``audit.json`` stays English on a page in this language."""
        return self.language != "en" and self.said(text) == text

    def has(self, key: str) -> bool:
        """Return whether there is a text of that key (for names that come from outside, e.g. of further measures)."""
        return key in self.texts


@cache
def english() -> Catalogue:
    """Return the English texts: every topic in one mapping, keys dotted (``risk.heading``: table, then key, of a TOML file)."""
    return Catalogue("en", _texts("en"))


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
    return {text: key for key, text in english().texts.items() if "{" not in text}


def _texts(language: str) -> dict[str, str]:
    texts: dict[str, str] = {}
    for topic in sorted(files("privrelease.texts").joinpath(language).iterdir(), key=lambda file: file.name):
        if topic.name.endswith(".toml"):
            for table, entries in tomllib.loads(topic.read_text(encoding="utf-8")).items():
                texts |= {f"{table}.{key}": text for key, text in entries.items()}
    return texts
