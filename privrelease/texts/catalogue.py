"""Every sentence and label of a report, in one place: a folder per language with one TOML file per topic (``en/risk.toml``).

English is whole. The other languages have the topics of the report; what they lack (the console, pages of forecasts) stays English.

Values that are put into a sentence come from data or policy: they are escaped, and isolated (``bdi``) so that right-to-left text
cannot reorder the sentence around it.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from privrelease.texts.sentences import Said, fill
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from markupsafe import Markup

__all__ = ["LANGUAGES", "Catalogue", "catalogue_of", "english", "fixed_texts", "flat_texts", "sentences"]

#: Languages of reports, by their BCP 47 tags.
LANGUAGES: Final = ("en", "de", "fr")

#: Files of the sentences of audits, which have them in English.
_SENTENCES: Final = ("titles.toml", "sentences.toml", "faults.toml", "hints.toml")
_NUMBER: Final = r"[-<>]?\d{1,3}(?:\d*|(?:,\d{3})+)(?:\.\d+)?(?:e-?\d+)?(?:[ \u00a0]%)?"
#: What may represent numbers in domains: no words, so that lists of a policy's own values are never taken for a range.
_NO_WORDS = r"[^A-Za-z]+?"

#: A text on one line of a TOML file, without an escape.
_LINE: Final = re.compile(r"""(?:([\w-]+)|"([^"\\]+)") = (?:"([^"\\]*)"|'([^']*)')""")

#: A word that follows a value: its name, the word for 1, and for other numbers.
_WORD: Final = re.compile(r"\{(\w+)\|([^|{}]*)\|([^|{}]*)\}")

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
        return self._counted(key, values).format(**{name: f"{_ISOLATE}{value}{_END}" for name, value in values.items()})

    def plain(self, key: str, **values: str) -> str:
        """Return a text for a terminal or a log: values as they are.

        >>> english().plain("units.bytes", n="1,024")
        '1,024 bytes'
        """
        return self._counted(key, values).format(**values)

    def html(self, key: str, **values: str) -> Markup:
        """Return a text as markup: it and its values escaped, values isolated in ``bdi``.

        >>> english().html("units.bytes", n="<b>")
        Markup('<bdi>&lt;b&gt;</bdi> bytes')
        """
        from markupsafe import Markup, escape

        isolated = {name: Markup("<bdi>{}</bdi>").format(value) for name, value in values.items()}
        return Markup(escape(self._counted(key, values))).format(**isolated)  # noqa: S704 -- the text was escaped just now

    def _counted(self, key: str, values: Mapping[str, str]) -> str:
        """Return a text with its nouns in the number that its values have: ``{rows|record|records}`` is a word, of which 1 has the first form.

        >>> english().plain("frontier.meta_rows", n="1"), english().plain("frontier.meta_rows", n="1,024")
        ('1 row', '1,024 rows')
        """
        text = self.texts[key]
        return text if "|" not in text else _WORD.sub(lambda one: one[2] if values[one[1]] == "1" else one[3], text)

    def of_kind(self, key: str, kind: str) -> str:
        """Return the text of that key for a kind of release; where none is written for the kind, that for any.

        >>> english().of_kind("decision.released", "table"), english().of_kind("decision.released", "chart")
        ('Cells in the table', 'Lines released')
        """
        own = f"{key}.{kind}"
        return self.text(own if self.has(own) else key)

    def said(self, text: str) -> str:
        r"""Return a sentence of ``audit.json`` in this language: by its code and values, or, without these, where it is a text of the catalogue.

        >>> from privrelease.texts.sentences import say
        >>> catalogue_of("de").said(say("class_has_persons", k=5)), catalogue_of("fr").said("no released records")
        ('jede Klasse hat mindestens 5 Personen', 'aucun enregistrement diffusé')
        """
        if self.language == "en":
            return text
        return self._in_words(text) or text

    def _in_words(self, text: str) -> str | None:
        """Return a sentence in this language; None where the catalogue lacks it."""
        match text:
            case Said():
                try:
                    return fill(self.texts, self.language, text.code, text.values)
                except (KeyError, ValueError):  # of an audit of another version
                    return None
            case _:
                key = fixed_texts().get(text)
                return None if key is None else self.texts[key]

    def values(self, text: str) -> str:
        """Return the words for the values of a column, as ``audit.json`` has them, in this language; lists of the policy's own values stay.

        >>> catalogue_of("de").values("50 to 99.5, …, 200 to 1,000, in steps of 0.1")
        '50 bis 99,5, …, 200 bis 1.000, in Schritten von 0,1'
        """
        if self.language == "en":
            return text
        return ", …, ".join(self._found(part) or self._value(part) for part in text.split(", …, "))

    def _found(self, text: str) -> str | None:
        """Find the English words for the values of a column by the words around its numbers, and return them in this language."""
        key = fixed_texts().get(text)
        if key is not None:
            return self.texts[key]
        for known, pattern in _domains():
            match = pattern.fullmatch(text)
            if match is not None:
                return self.texts[known].format(**{name: self._value(value) for name, value in match.groupdict().items()})
        return None

    def _value(self, value: str) -> str:
        """Return a number with the marks of this language, and anything else as it is."""
        if re.fullmatch(_NUMBER, value):
            return value.translate({ord("."): self.texts["numbers.decimal"], ord(","): self.texts["numbers.thousands"]})
        return value

    def is_foreign(self, text: str) -> bool:
        """Return True if a sentence of ``audit.json`` stays English on a page in this language."""
        return self.language != "en" and self._in_words(text) is None

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
def fixed_texts() -> Mapping[str, str]:
    """Return the keys of English texts without values, by their text."""
    return {text: key for key, text in sentences().items() if "{" not in text or key.startswith("hint.")}


@cache
def _domains() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return the English words for the values of a column as patterns, those of most words first."""
    found = [(key, text) for key, text in sentences().items() if key.startswith("domain.") and "{" in text]
    found.sort(key=lambda one: -len(re.sub(r"\{\w+\}", "", one[1])))
    return tuple((key, re.compile(_pattern(text), re.DOTALL)) for key, text in found)


def _pattern(text: str) -> str:
    parts = re.split(r"\{(\w+)\}", text)
    return "".join(
        f"(?P<{part}>{'.+' if part == 'values' else _NO_WORDS})" if place % 2 else re.escape(part)
        for place, part in enumerate(parts)
    )


def _texts(language: str, *, without: Collection[str] = ()) -> dict[str, str]:
    texts: dict[str, str] = {}
    for topic in sorted(file.name for file in files("privrelease.texts").joinpath(language).iterdir()):
        if topic.endswith(".toml") and topic not in without:
            texts |= _topic(language, topic)
    return {key: re.sub(_UNBROKEN, _NO_BREAK, text) for key, text in texts.items()} if language == "fr" else texts


@cache
def _topic(language: str, name: str) -> Mapping[str, str]:
    """Return the texts of one file."""
    return flat_texts(files("privrelease.texts").joinpath(language, name).read_text(encoding="utf-8"))


def flat_texts(content: str) -> dict[str, str]:
    r"""Return the texts of a TOML file of tables with one text a line, keys dotted; ten times as fast as a reader of any TOML, which reads all others.

    >>> flat_texts('[a]\nb = "c"\n"d.e" = "f\\"g"\n')
    {'a.b': 'c', 'a.d.e': 'f"g'}
    """
    texts: dict[str, str] = {}
    table = ""
    for line in content.splitlines():
        text = _LINE.fullmatch(line)
        if text is not None and table:
            key, quoted, value, literal = text.groups()
            texts[f"{table}.{key or quoted}"] = literal if value is None else value
        elif line.startswith("[") and line.endswith("]") and line[1:-1].isidentifier():
            table = line[1:-1]
        elif line and not line.startswith("#"):
            break
    else:
        return texts
    import tomllib

    return {f"{name}.{key}": text for name, entries in tomllib.loads(content).items() for key, text in entries.items()}
