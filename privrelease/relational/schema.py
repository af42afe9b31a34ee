"""Columns, their types, how a source writes them, and what a source is.

Storage types are fixed by the declaration, never by the content of a file: the same policy over another file gives the
same types (case f01). Reading is strict: a cell that does not fit its declared type is an error with file, line and column.

===========  ==============================  =======================================================================
type         stored as                       a text cell fits when
===========  ==============================  =======================================================================
string       VARCHAR                         always
category     VARCHAR                         always (and, where a domain is given, it is in it)
integer      BIGINT                          optional sign and digits only, within 64 bits
number       DOUBLE, or DECIMAL where a      a decimal number of at most 15 significant digits (so that a double keeps it); with a
             ``grid`` is declared            grid: a multiple of the grid. NaN and infinities are missing
date         DATE                            it matches the declared format (default ``%Y-%m-%d``) and exists
datetime     TIMESTAMP                       it matches the declared format (default ISO 8601 without zone)
boolean      BOOLEAN                         true or false (lower case), or as declared by aliases
===========  ==============================  =======================================================================
"""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping
    from decimal import Decimal
    from pathlib import Path

    from privrelease.findings import Location

__all__ = [
    "Column",
    "ColumnFormat",
    "ColumnType",
    "Domain",
    "FileFormat",
    "ListFile",
    "Role",
    "Sink",
    "SinkKind",
    "SourceKind",
    "TableSource",
]


class ColumnType(StrEnum):
    """Declared type of a column."""

    STRING = "string"
    CATEGORY = "category"
    INTEGER = "integer"
    NUMBER = "number"
    DATE = "date"
    DATETIME = "datetime"
    BOOLEAN = "boolean"


class Role(StrEnum):
    """The effect that a column may have on a person: identify directly, identify together with others, harm, or neither."""

    DIRECT = "direct"
    QUASI = "quasi"
    SENSITIVE = "sensitive"
    INSENSITIVE = "insensitive"


class SourceKind(StrEnum):
    """Kinds of source."""

    CSV = "csv"
    PARQUET = "parquet"
    DUCKDB = "duckdb"
    SQLITE = "sqlite"


class SinkKind(StrEnum):
    """Kinds of output file."""

    CSV = "csv"
    PARQUET = "parquet"
    DUCKDB = "duckdb"


@dataclass(frozen=True, slots=True)
class Domain:
    """Values a column may hold: a closed list (``values``) or a closed range (``low``, ``high``); texts as written.

    ``outside``: what reading does with a row whose value is outside (``error``, or ``drop`` the row and count it).
    """

    values: tuple[str, ...] | None = None
    low: str | None = None
    high: str | None = None
    outside: Literal["error", "drop"] = "error"


@dataclass(frozen=True, slots=True)
class ColumnFormat:
    """The format of one column in its source.

    ``missing``: exact texts that mean a missing value. ``suppression_mark``: a text that means a suppressed value (missing
    too, but counted apart). ``aliases``: (text, replacement) pairs applied before anything else. ``normalise``: ``nfc``
    and/or ``trim``, applied in that order before aliases, missing marks and types. ``pivot``: first of the hundred years in which years
    written with two digits are read.
    """

    missing: tuple[str, ...] = ("",)
    suppression_mark: str | None = None
    aliases: tuple[tuple[str, str], ...] = ()
    normalise: tuple[Literal["nfc", "trim"], ...] = ()
    date: str | None = None
    pivot: int | None = None
    decimal: str = "."
    thousands: str | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """A declared column. ``name`` is compared exactly (case too). ``grid``: step on which a number is exact.

    ``category``: of personal data, where the policy declares one (``special``: Art. 9, ``criminal``: Art. 10 GDPR).
    ``links``: the policy's word on whom equal values bring together, the persons of a household or no one; None: it says nothing.
    """

    name: str
    type: ColumnType
    role: Role
    domain: Domain | None = None
    grid: Decimal | None = None
    format: ColumnFormat = field(default_factory=ColumnFormat)
    category: Literal["ordinary", "special", "criminal"] | None = None
    links: Literal["household", "none"] | None = None


@dataclass(frozen=True, slots=True)
class ListFile:
    """A file next to the policy that says what is in it, such as a list of keys. ``label``: its path as in the policy."""

    path: Path
    label: str


@dataclass(frozen=True, slots=True)
class FileFormat:
    """The format of a CSV source; compression follows the name (.gz, .zst). Encodings other than UTF-8 are transcoded."""

    delimiter: str = ","
    quote: str = '"'
    encoding: str = "utf-8"


@dataclass(frozen=True, slots=True)
class TableSource:
    """A source of rows, and how it is read.

    ``path``: absolute file or glob (Parquet and CSV). ``table``: the table of a DuckDB or SQLite file. ``label``: the path
    as the policy writes it, for messages. ``unlisted_columns``: what happens to a column of the source that is not declared.
    ``location``: of ``source`` in the policy. ``unread``: declared columns that no one asks for: they must be there, and are not read.
    ``unit``: the column that names the person, where one is declared. ``key``: of the policy, under which the path is written.
    ``places``: of declared columns in the policy, by name.
    """

    dataset: str
    kind: SourceKind
    path: str
    label: str
    columns: tuple[Column, ...]
    table: str | None = None
    format: FileFormat = field(default_factory=FileFormat)
    unlisted_columns: Literal["error", "drop"] = "error"
    location: Location | None = None
    unread: tuple[Column, ...] = ()
    unit: str | None = None
    key: str = "source"
    places: Mapping[str, Location] = field(default_factory=dict, compare=False, repr=False)

    def place_of(self, column: str) -> Location | None:
        """Return where the policy declares a column; where it names the source, if that is all that is known."""
        return self.places.get(column, self.location)

    @property
    def declared(self) -> tuple[Column, ...]:
        """Every column that the policy lists."""
        return (*self.columns, *self.unread)

    def column(self, name: str) -> Column:
        """Return the declared column of that exact name; KeyError where there is none."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)


@dataclass(frozen=True, slots=True)
class Sink:
    """An output as the policy names it: ``path`` absolute, ``label`` as written; ``table`` for a DuckDB file.

    ``delimiter``: between two cells of a CSV file. ``decimal``: decimal sign of its numbers, another one than ``delimiter``.
    """

    kind: SinkKind
    path: Path
    label: str
    table: str = "data"
    delimiter: str = ","
    decimal: str = "."

    @property
    def words(self) -> str:
        """Path and kind, and the signs of a CSV file where they are not comma and point.

        >>> from pathlib import Path
        >>> Sink(SinkKind.CSV, Path("/p/a.csv"), "a.csv", delimiter=";", decimal=",").words
        'a.csv (csv, delimiter ;, decimal ,)'
        """
        delimiter = "" if self.delimiter == "," else f", delimiter {'tab' if self.delimiter == chr(9) else self.delimiter}"
        return f"{self.label} ({self.kind.value}{delimiter}{'' if self.decimal == '.' else f', decimal {self.decimal}'})"
