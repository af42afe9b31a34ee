"""Datasets: where rows come from, who the person is, what each column is and may hold."""

import re
from typing import Annotated, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag, WithJsonSchema, model_validator

from privrelease.policy.changes import data_changes as figures
from privrelease.policy.changes import hierarchy_changes as coarser
from privrelease.policy.changes.directions import always, elsewhere, limit, ranked
from privrelease.policy.language.hierarchies import HierarchySpec
from privrelease.policy.language.keys import FREE, FREE_BELOW, OWN_COLUMNS, RECODES, DeclaredColumn, Judged, Stricter
from privrelease.policy.language.number_values import Count, Positive
from privrelease.policy.language.values import (
    CHOICE,
    NAMED,
    WHEN_USED,
    AnyText,
    ColumnName,
    Frozen,
    Identifier,
    PathText,
    Text,
    enumerated,
)
from privrelease.policy.text.messages import problem, shown
from privrelease.relational.schema import ColumnType, Role

__all__ = ["RANGED", "ColumnSpec", "Dataset", "DomainSpec", "FormatSpec", "SourceSpec", "UnitSpec"]


_SIGN = "^[^A-Za-z0-9\\r\\n\\x00]$"


def _one_sign(value: object) -> object:
    if isinstance(value, str) and re.fullmatch(_SIGN, value):
        return str(value)
    message = "must be one character, no letter and no digit"
    raise problem(message)


Character = Annotated[str, BeforeValidator(_one_sign), WithJsonSchema({"type": "string", "pattern": _SIGN})]

#: strptime directives whose reading depends on nothing but the text (no locale, no zone name).
_DIRECTIVES = frozenset("YymdHMSfjBb%")


def _date_format(value: object) -> object:
    text = str(value) if isinstance(value, str) else ""
    used = re.findall(r"%(.?)", text)
    if not used or any(directive not in _DIRECTIVES for directive in used):
        message = "must be a date format such as %d.%m.%Y"
        raise problem(message, hint="allowed: %Y %y %m %d %H %M %S %f %j %b %B %%")
    return text


DateFormat = Annotated[str, BeforeValidator(_date_format), WithJsonSchema({"type": "string", "pattern": "%"})]


def _texts(value: object) -> object:
    """One text represents a list of one."""
    return (value,) if isinstance(value, str) else value


Texts = Annotated[tuple[AnyText, ...], BeforeValidator(_texts, json_schema_input_type=tuple[AnyText, ...] | AnyText)]


class FormatSpec(Frozen):
    """The format of the cells of a CSV source; what a reader must not guess."""

    delimiter: Character = ","
    """Between two cells."""
    quote: Annotated[Character, RECODES] = '"'
    """Around a cell that holds the delimiter or a line break."""
    encoding: Annotated[Text, RECODES] = "utf-8"
    """Encoding of the file."""
    decimal: Annotated[Literal[".", ","], CHOICE, RECODES] = "."
    """The decimal sign of numbers."""
    thousands: Annotated[Character | None, RECODES] = None
    """The sign between groups of three digits."""
    date: Annotated[DateFormat | None, RECODES] = None
    """Format of the date columns; ISO 8601 (`%Y-%m-%d`) where it is not given."""
    datetime: Annotated[DateFormat | None, RECODES] = None
    """Format of the datetime columns; ISO 8601 where it is not given."""
    pivot: Annotated[Count | None, RECODES] = None
    """The first of the hundred years in which two-digit years (`%y`) are read: with 1930, 29 is 2029 and 30 is 1930."""
    missing: Annotated[Texts | None, RECODES] = None
    """Exact texts that mean a missing value; where not given, the empty text of a CSV source and none of another."""
    suppression_mark: Annotated[Text | None, RECODES] = None
    """A text that means a suppressed value."""

    @model_validator(mode="after")
    def _readable(self) -> "FormatSpec":
        if self.thousands == self.decimal:
            message = "decimal and thousands must differ"
            raise problem(message, code="P401")
        try:
            "".encode(self.encoding)
        except (LookupError, ValueError):
            message = f"encoding is unknown: {shown(self.encoding)}"
            raise problem(
                message, code="P401", hint="write utf-8, latin-1, cp1252, utf-16 or another encoding of Python"
            ) from None
        if self.delimiter == self.quote:
            message = "delimiter and quote must differ"
            raise problem(message, code="P401")
        return self


class ColumnFormatSpec(Frozen):
    """The format of the cells of one column; what is not given is as the dataset's format says."""

    decimal: Annotated[Annotated[Literal[".", ","], CHOICE] | None, RECODES] = None
    """The decimal sign of numbers."""
    thousands: Annotated[Character | None, RECODES] = None
    """The sign between groups of three digits."""
    date: Annotated[DateFormat | None, RECODES] = None
    """Format of a date column."""
    datetime: Annotated[DateFormat | None, RECODES] = None
    """Format of a datetime column."""
    pivot: Annotated[Count | None, RECODES] = None
    """The first of the hundred years in which two-digit years (`%y`) are read."""
    missing: Annotated[Texts | None, RECODES] = None
    """Exact texts that mean a missing value."""
    suppression_mark: Annotated[Text | None, RECODES] = None
    """A text that means a suppressed value."""
    aliases: Annotated[dict[AnyText, AnyText], RECODES] = Field(default_factory=dict)
    """Texts of the source and what to read instead."""
    normalise: Annotated[tuple[Annotated[Literal["nfc", "trim"], CHOICE], ...], RECODES] = ()
    """Unicode normalisation form C and trimming of spaces, before anything else."""


class SourceSpec(Frozen):
    """A file: a path (the kind follows the suffix), or the kind named with the path, and the table of a database file."""

    path: PathText | None = None
    """A file or, for csv and parquet, a pattern of files; the kind follows the suffix."""
    csv: PathText | None = None
    """A CSV file or a pattern of CSV files, whatever the suffix."""
    parquet: PathText | None = None
    """A Parquet file or a pattern of Parquet files, whatever the suffix."""
    duckdb: PathText | None = None
    """A DuckDB database file."""
    sqlite: PathText | None = None
    """An SQLite database file."""
    table: Text | None = None
    """The table of a database file."""

    @model_validator(mode="after")
    def _one_place(self) -> "SourceSpec":
        named = [kind for kind in ("path", "csv", "parquet", "duckdb", "sqlite") if getattr(self, kind) is not None]
        if len(named) != 1:
            message = "names no file" if not named else f"names {len(named)} files"
            raise problem(
                message, code="P204", hint="write a path, or one of `csv:`, `parquet:`, `duckdb:` and `sqlite:` with a path"
            )
        return self


def _source(value: object) -> object:
    """A text represents ``{path: text}``."""
    return {"path": value} if isinstance(value, str) else value


Source = Annotated[SourceSpec, BeforeValidator(_source, json_schema_input_type=SourceSpec | PathText)]


class UnitSpec(Frozen):
    """The person: whom the protection is for."""

    column: DeclaredColumn
    """The column that names the person."""
    max_rows: Annotated[Count | None, Judged(limit(higher="weaker"))] = None
    """The most rows that one person has."""
    max_groups: Annotated[Count | None, Judged(limit(higher="weaker"))] = None
    """The most groups of a grouped statistic that one person is in."""


def _unit_kind(value: object) -> str:
    """The variant of a unit: a word, or a mapping."""
    return "<rows>" if isinstance(value, str) else "<person>"


#: The person, or the word that says openly that every row is a person of its own.
Unit = Annotated[
    Annotated[UnitSpec, Tag("<person>")] | Annotated[Annotated[Literal["rows"], CHOICE], Tag("<rows>")],
    Discriminator(_unit_kind),
]


class DomainSpec(Frozen):
    """The values that a column may hold: a closed list, or a closed range."""

    values: Annotated[tuple[AnyText, ...] | None, Judged(figures.domain)] = None
    """The allowed values."""
    range: Annotated[tuple[AnyText, AnyText] | None, Judged(figures.domain)] = None
    """The smallest and the largest allowed value."""

    @model_validator(mode="after")
    def _one_form(self) -> "DomainSpec":
        if (self.values is None) == (self.range is None):
            message = "needs either `values` or `range`"
            raise problem(message, code="P204")
        return self


def _domain(value: object) -> object:
    """A list represents values or a range; which of the two follows from the column's type."""
    return {"values": value} if isinstance(value, tuple | list) else value


Domain = Annotated[DomainSpec, BeforeValidator(_domain, json_schema_input_type=DomainSpec | tuple[AnyText, ...])]

#: Types whose domain of two values is a range.
RANGED = frozenset({ColumnType.INTEGER, ColumnType.NUMBER, ColumnType.DATE, ColumnType.DATETIME})


#: Roles from the laxest to the strictest.
BY_STRICTNESS = (Role.INSENSITIVE, Role.SENSITIVE, Role.QUASI, Role.DIRECT)


class ColumnSpec(Frozen):
    """A column of a dataset: what it does to a person, its type, what it may hold."""

    role: Annotated[Role, enumerated(Role), Stricter.ranked(*BY_STRICTNESS), Judged(figures.role)]
    """direct: names the person; quasi: identifies together with others; sensitive: harms; insensitive: none of these."""
    type: Annotated[ColumnType, enumerated(ColumnType), Judged(always("breaking"))]
    """The type that every cell must fit."""
    domain: Annotated[Domain | None, Judged(figures.domain)] = None
    """The allowed values: a list of texts, or `[smallest, largest]` for numbers and dates."""
    outside: Annotated[Literal["error", "drop"], CHOICE, Judged(ranked("error", "drop"))] = "error"
    """The treatment of a row whose value is outside the domain."""
    grid: Annotated[Positive | None, Judged(figures.step)] = None
    """The step on which a number is exact."""
    unit: Annotated[Text | None, Judged(always("neutral"))] = None
    """The unit of measurement."""
    category: Annotated[
        Annotated[Literal["ordinary", "special", "criminal"], CHOICE] | None, Stricter.SET, Judged(figures.category)
    ] = None
    """Category of personal data: `special` (Art. 9 GDPR), `criminal` (Art. 10 GDPR)."""
    links: Annotated[
        Annotated[Literal["none", "household"], CHOICE] | None,
        Stricter.ranked("none", None, "household"),
        Judged(figures.links),
    ] = None
    """Whose rows its values bring together: `household`, persons of one group, whose composition is then judged; `none`, no one's."""
    hierarchy: Annotated[Annotated[HierarchySpec, WHEN_USED] | None, Judged(coarser.declared)] = None
    """The labels that represent values, by level."""
    format: Annotated[ColumnFormatSpec | None, FREE_BELOW] = None
    """The format of this column where it differs from the dataset's format."""
    description: Annotated[Text | None, FREE] = None
    """A description of the column."""

    @model_validator(mode="after")
    def _range_of_a_list(self) -> "ColumnSpec":
        domain = self.domain
        if domain is not None and domain.values is not None and self.type in RANGED and len(domain.values) == 2:
            low, high = domain.values
            object.__setattr__(self, "domain", DomainSpec(range=(low, high)))
        return self


class Dataset(Frozen):
    """A table of personal data and how to read it; nothing about it is guessed."""

    source: Annotated[Source, FREE_BELOW]
    """The place of the rows."""
    table: Annotated[Text | None, FREE] = None
    """The table, where the source is the path of a database file."""
    format: Annotated[FormatSpec, FREE_BELOW] = Field(default_factory=FormatSpec)
    """The format of the cells of a CSV source."""
    snapshot: Annotated[Text | None, FREE, Judged(figures.labelled)] = None
    """Label of this state of the data."""
    population: Annotated[Text | None, Judged(elsewhere)] = None
    """The population that it is drawn from: privacy budgets add up over every dataset of one population."""
    unit: Annotated[Unit | None, Judged(figures.person)] = None
    """The person, or `rows`: every row is a person of its own, which without either holds only while no direct identifier repeats."""
    unlisted_columns: Annotated[Literal["error", "drop"], CHOICE, Stricter.becomes("drop", "error")] = "error"
    """The treatment of a column of the source that is not declared."""
    columns: Annotated[dict[ColumnName, Annotated[ColumnSpec, Judged(figures.column)]], Field(min_length=1)]
    """Every column, by its exact name."""
    description: Annotated[Text | None, FREE] = None
    """A description of the dataset."""

    @property
    def person(self) -> UnitSpec | None:
        """The declared person; None where rows are persons, said or not."""
        return self.unit if isinstance(self.unit, UnitSpec) else None

    @property
    def undeclared(self) -> bool:
        """Return True if the policy says neither who the person is nor that rows are persons."""
        return self.unit is None


Datasets = Annotated[
    dict[Identifier, Annotated[Dataset, OWN_COLUMNS, Stricter.ADDED, Judged(figures.dataset)]],
    Field(min_length=1, json_schema_extra=NAMED),
]
