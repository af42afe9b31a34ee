"""Output of the command line: data on stdout, progress and logs on stderr.

Texts from data or policy may hold control characters; a terminal would obey them. They are written out as escapes.
"""

from __future__ import annotations

import json
import sys
import unicodedata
from dataclasses import field
from enum import StrEnum

from privrelease.value_classes import dataclass

__all__ = ["Collecting", "Console", "DiffFormat", "ExplainFormat", "FailOn", "Format", "PlainFormat", "StopAt", "harmless"]


class PlainFormat(StrEnum):
    """Form of the output on stdout of commands that judge nothing."""

    TEXT = "text"
    JSON = "json"


class Format(StrEnum):
    """Form of the output on stdout of commands that judge: also the forms that pipelines read."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    JUNIT = "junit"
    GITHUB = "github"


class DiffFormat(StrEnum):
    """Form of the output on stdout."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"
    GITHUB = "github"


class StopAt(StrEnum):
    """Changes that make the exit code 1: ``breaking`` stops at what weakens, too."""

    NEVER = "never"
    WEAKER = "weaker"
    BREAKING = "breaking"


class ExplainFormat(StrEnum):
    """Form of the output of ``privrelease explain``."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"


class FailOn(StrEnum):
    """Outcomes that make the exit code 1."""

    WARN = "warn"
    ERROR = "error"


def harmless(text: str) -> str:
    r"""Write control and direction-changing characters out, but for line feeds and tabs.

    >>> harmless("a\x1b[31mb\u202ec\n")
    'a\\x1b[31mb\\u202ec\n'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        character if character in "\n\t" or unicodedata.category(character) not in {"Cc", "Cf", "Cs"} else _escape(character)
        for character in text
    )


def _escape(character: str) -> str:
    number = ord(character)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


@dataclass(frozen=True, slots=True)
class Console:
    """Output channels of a command. ``verbosity``: -1 quiet, 0 usual, 1 more."""

    form: Format | PlainFormat = Format.TEXT
    verbosity: int = 0

    @property
    def json(self) -> bool:
        """Return True if stdout is for a machine."""
        return self.form.value == "json"

    @property
    def text(self) -> bool:
        """Return True if stdout is for a person."""
        return self.form.value == "text"

    def data(self, text: str) -> None:
        """Write the command's data to stdout."""
        sys.stdout.write(harmless(text).removesuffix("\n") + "\n")

    def document(self, value: object) -> None:
        """Write a value as JSON to stdout; ``<`` and control characters are escaped by their numbers."""
        text = json.dumps(value, indent=2, ensure_ascii=True)
        sys.stdout.write(text.replace("<", "\\u003c") + "\n")

    def log(self, text: str, *, level: int = 0) -> None:
        """Write a line of progress to stderr where the verbosity asks for it."""
        if self.verbosity >= level:
            self.say(text)

    def say(self, text: str) -> None:
        """Write to stderr, whatever the verbosity: errors and the last line."""
        sys.stderr.write(harmless(text).removesuffix("\n") + "\n")
        sys.stderr.flush()


@dataclass(frozen=True, slots=True)
class Collecting(Console):
    """Output of one of several pieces of work: values for a machine are kept, so that one document can hold those of all."""

    documents: list[object] = field(default_factory=list)

    def document(self, value: object) -> None:
        """Keep the value."""
        self.documents.append(value)
