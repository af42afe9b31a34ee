"""What a check by one of Great Expectations' own names takes: its parameters, spelled as there."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from privrelease.policy.language.number_values import Exact, Share  # noqa: TC001 -- pydantic resolves annotations when classes are made
from privrelease.policy.language.values import CHOICE, AnyText, ColumnName, Flag, Frozen, Text

__all__ = ["PARAMETERS", "Parameters", "QuantileRanges"]


class QuantileRanges(Frozen):
    """Quantiles and the range of each."""

    quantiles: Annotated[tuple[Share, ...], Field(min_length=1)]
    """Shares of the values that lie below each quantile."""
    value_ranges: Annotated[tuple[tuple[Exact | None, Exact | None], ...], Field(min_length=1)]
    """Smallest and largest allowed value of each quantile; null: no bound."""


class Parameters(Frozen):
    """Parameters of the expectations of Great Expectations. Values are written as the column's type is."""

    mostly: Share | None = None
    """The share of the values looked at that must meet the expectation; all of them where it is not written."""
    value_set: Annotated[tuple[AnyText, ...], Field(min_length=1)] | None = None
    """The values of a set."""
    min_value: AnyText | None = None
    """The smallest allowed value."""
    max_value: AnyText | None = None
    """The largest allowed value."""
    strict_min: Flag | None = None
    """Whether the smallest allowed value itself is not allowed."""
    strict_max: Flag | None = None
    """Whether the largest allowed value itself is not allowed."""
    value: AnyText | None = None
    """The one allowed number: of rows, of columns, of characters."""
    regex: Text | None = None
    """A regular expression (RE2) that is looked for anywhere in a value."""
    regex_list: Annotated[tuple[Text, ...], Field(min_length=1)] | None = None
    """Several regular expressions."""
    like_pattern: Text | None = None
    """A pattern of SQL for the whole value: % for any text, _ for one character."""
    like_pattern_list: Annotated[tuple[Text, ...], Field(min_length=1)] | None = None
    """Several patterns of SQL."""
    match_on: Annotated[Literal["any", "all"], CHOICE] | None = None
    """Whether one of the list is enough (any, the default) or every one must match."""
    escape: Text | None = None
    """The character that takes the meaning from a following % or _ in a pattern of SQL."""
    strftime_format: Text | None = None
    """The format of a date or time, as in the C library's strftime."""
    type_: Text | None = None
    """The type that a column must have."""
    type_list: Annotated[tuple[Text, ...], Field(min_length=1)] | None = None
    """The types of which a column must have one."""
    column_A: ColumnName | None = None  # noqa: N815  the key's name in Great Expectations
    """The first column of a pair."""
    column_B: ColumnName | None = None  # noqa: N815  the key's name in Great Expectations
    """The second column of a pair."""
    column_list: Annotated[tuple[ColumnName, ...], Field(min_length=1)] | None = None
    """Several columns."""
    column_set: Annotated[tuple[ColumnName, ...], Field(min_length=1)] | None = None
    """Columns in any order."""
    column_index: AnyText | None = None
    """The place of a column, from 0."""
    exact_match: Flag | None = None
    """Whether no other column may be there."""
    or_equal: Flag | None = None
    """Whether the two of a pair may be equal."""
    ignore_row_if: Text | None = None
    """Rows that are not looked at: both_values_are_missing, either_value_is_missing or neither; with column_list:
    all_values_are_missing, any_value_is_missing or never."""
    value_pairs_set: Annotated[tuple[tuple[AnyText, AnyText], ...], Field(min_length=1)] | None = None
    """The allowed pairs of values."""
    sum_total: Exact | None = None
    """The sum that the columns of a row must have."""
    ties_okay: Flag | None = None
    """Whether one of several most common values is enough."""
    threshold: Exact | None = None
    """The largest allowed distance from the mean, in standard deviations."""
    double_sided: Flag | None = None
    """Whether the distance counts on both sides of the mean."""
    quantile_ranges: QuantileRanges | None = None
    """Quantiles and their ranges."""


#: The keys that only a check by a name of Great Expectations takes.
PARAMETERS: tuple[str, ...] = tuple(Parameters.model_fields)
