"""The description of a table that stays inside: its cells, figures and rules, and how its source was read, as they were when it was made.

A policy changes and its file may be elsewhere, but recipients keep the table that was published under it. Who judges that table later reads here by which
filter and rules it was made. Nothing of it is believed that the table's file and source do not bear out.
"""

from fractions import Fraction
from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from privrelease.documents import Document
from privrelease.relational.filter_records import read_filter_record
from privrelease.relational.filters import columns_of
from privrelease.relational.schema import ColumnType, Role, SourceKind

__all__ = [
    "DescribedColumn",
    "DescribedDomain",
    "DescribedFormat",
    "DescribedMeasure",
    "DescribedRules",
    "DescribedSource",
    "DescribedUnit",
    "TableDescription",
]

_Exact = Annotated[str, Field(pattern=r"^-?\d{1,400}(/[1-9]\d{0,399})?$")]
"""An exact fraction as text."""


class DescribedDomain(Document):
    """The values that a column may hold: a list, or a range."""

    values: tuple[str, ...] | None = None
    low: str | None = None
    high: str | None = None
    outside: Literal["error", "drop"] = "error"


class DescribedFormat(Document):
    """The format of one column in its source."""

    missing: tuple[str, ...] = ("",)
    suppression_mark: str | None = None
    aliases: tuple[tuple[str, str], ...] = ()
    normalise: tuple[Literal["nfc", "trim"], ...] = ()
    date: str | None = None
    pivot: int | None = None
    decimal: str = "."
    thousands: str | None = None


class DescribedColumn(Document):
    """A declared column of the source."""

    name: str
    type: ColumnType
    role: Role
    domain: DescribedDomain | None = None
    grid: Annotated[str, Field(pattern=r"^\d{1,40}(\.\d{1,40})?(E[+-]?\d{1,3})?$")] | None = None
    format: DescribedFormat = DescribedFormat()
    read: bool = True
    """False for a column that must be there and that no one asked for."""


class DescribedSource(Document):
    """The reading of the source. Where it is, is not part of it: a file is known by its keyed digest."""

    dataset: str
    kind: SourceKind
    columns: tuple[DescribedColumn, ...]
    table: str | None = None
    delimiter: str = ","
    quote: str = '"'
    encoding: str = "utf-8"
    unlisted_columns: Literal["error", "drop"] = "error"
    unit: str | None = None


class DescribedMeasure(Document):
    """A figure of every cell. ``low``, ``high``: of one row, in steps of ``grid``."""

    kind: Literal["count", "weighted_count", "sum", "mean"]
    name: str
    column: str | None = None
    grid: _Exact = "1"
    low: int = 0
    high: int | None = None

    @model_validator(mode="after")
    def _adds_up_a_column(self) -> Self:
        if (self.kind == "count") != (self.column is None) or Fraction(self.grid) <= 0:
            msg = "a count of rows has no column, and any other figure has one"
            raise ValueError(msg)
        return self


class DescribedRules(Document):
    """The rules that each published cell had to keep."""

    min_count: Annotated[int, Field(ge=3)]
    dominance: tuple[Annotated[int, Field(ge=1)], _Exact] | None = None
    p_percent: _Exact | None = None
    interval: _Exact = "0"
    zeros_shown: bool = True
    class_disclosure: bool | None = None
    """As the policy said, None where it said nothing."""


class DescribedUnit(Document):
    """The person, and the most rows each may have."""

    column: str
    max_rows: Annotated[int, Field(ge=1)] | None = None


class TableDescription(Document):
    """The description of a table. ``keys``: of each column of ``by``, in their order. ``where``, ``impossible``: filters as records of their parts."""

    release: str
    source: DescribedSource
    by: Annotated[tuple[str, ...], Field(min_length=1)]
    keys: tuple[tuple[str, ...], ...]
    measures: Annotated[tuple[DescribedMeasure, ...], Field(min_length=1)]
    margins: bool
    rules: DescribedRules
    round_up: Annotated[int, Field(ge=1)] = 1
    unit: DescribedUnit | None = None
    rows_are_persons: bool = False
    where: list[Any] | None = None
    impossible: list[Any] | None = None

    @field_validator("where", "impossible")
    @classmethod
    def _is_a_filter(cls, record: list[Any] | None) -> list[Any] | None:
        if record is not None:
            read_filter_record(record)
        return record

    @model_validator(mode="after")
    def _has_its_columns(self) -> Self:
        declared = {column.name for column in self.source.columns}
        needed = {*self.by, *(one.column for one in self.measures if one.column is not None)}
        needed = needed.union(
            *(columns_of(read_filter_record(one)) for one in (self.where, self.impossible) if one is not None)
        )
        if len(self.by) != len(self.keys) or not needed <= declared or not all(self.keys):
            msg = "a column that the source does not have, or one without keys"
            raise ValueError(msg)
        return self
