"""Parameters of a check by one of Great Expectations' own names, spelled as there."""

from typing import Annotated, Literal

from pydantic import Field

from privrelease.policy.changes import checks as judges
from privrelease.policy.changes.directions import limit, ranked
from privrelease.policy.language.keys import DeclaredColumn, Judged, Stricter
from privrelease.policy.language.number_values import Exact, Share
from privrelease.policy.language.values import CHOICE, AnyText, Flag, Frozen, Text

__all__ = ["PARAMETERS", "Parameters", "QuantileRanges"]


class QuantileRanges(Frozen):
    """Quantiles and the range of each."""

    quantiles: Annotated[tuple[Share, ...], Field(min_length=1)]
    """Shares of the values that lie below each quantile."""
    value_ranges: Annotated[tuple[tuple[Exact | None, Exact | None], ...], Field(min_length=1)]
    """Smallest and largest allowed value of each quantile; null: no bound."""


class Parameters(Frozen):
    """Parameters of the expectations of Great Expectations. Values are written as the column's type is."""

    mostly: Annotated[Share | None, Stricter.HIGHER_TO_ALL] = None
    """The share of the values looked at that must meet the expectation; all of them where it is not written."""
    value_set: Annotated[Annotated[tuple[AnyText, ...], Field(min_length=1)] | None, Judged(judges.listed)] = None
    """The values of a set."""
    min_value: Annotated[AnyText | None, Judged(judges.bound(higher="stricter"))] = None
    """The smallest allowed value."""
    max_value: Annotated[AnyText | None, Judged(judges.bound(higher="weaker"))] = None
    """The largest allowed value."""
    strict_min: Annotated[Flag | None, Judged(judges.flag(stricter=True))] = None
    """True where the smallest value itself is not allowed."""
    strict_max: Annotated[Flag | None, Judged(judges.flag(stricter=True))] = None
    """True where the largest value itself is not allowed."""
    value: AnyText | None = None
    """The one allowed number: of rows, of columns, of characters."""
    regex: Text | None = None
    """A regular expression (RE2) that is looked for anywhere in a value."""
    regex_list: Annotated[Annotated[tuple[Text, ...], Field(min_length=1)] | None, Judged(judges.listed)] = None
    """Several regular expressions."""
    like_pattern: Text | None = None
    """A pattern of SQL for the whole value: % for any text, _ for one character."""
    like_pattern_list: Annotated[Annotated[tuple[Text, ...], Field(min_length=1)] | None, Judged(judges.listed)] = None
    """Several patterns of SQL."""
    match_on: Annotated[Annotated[Literal["any", "all"], CHOICE] | None, Judged(ranked("all", "any", absent=("any",)))] = None
    """The number of patterns that must match: one of the list (any, the default) or all of them."""
    escape: Text | None = None
    """The character that takes the meaning from a following % or _ in a pattern of SQL."""
    strftime_format: Text | None = None
    """The format of a date or time, as in the C library's strftime."""
    type_: Text | None = None
    """The type that a column must have."""
    type_list: Annotated[Annotated[tuple[Text, ...], Field(min_length=1)] | None, Judged(judges.listed)] = None
    """The types of which a column must have one."""
    column_A: DeclaredColumn | None = None  # noqa: N815  the key's name in Great Expectations
    """The first column of a pair."""
    column_B: DeclaredColumn | None = None  # noqa: N815  the key's name in Great Expectations
    """The second column of a pair."""
    column_list: Annotated[Annotated[tuple[DeclaredColumn, ...], Field(min_length=1)] | None, Judged(judges.listed)] = None
    """Several columns."""
    column_set: Annotated[Annotated[tuple[DeclaredColumn, ...], Field(min_length=1)] | None, Judged(judges.listed)] = None
    """Columns in any order."""
    column_index: Annotated[AnyText | None, Judged(limit(higher="weaker"))] = None
    """The place of a column, from 0."""
    exact_match: Annotated[Flag | None, Judged(judges.flag(stricter=True, absent=True))] = None
    """True where no other column may be present."""
    or_equal: Annotated[Flag | None, Judged(judges.flag(stricter=False))] = None
    """True where the two of a pair may be equal."""
    ignore_row_if: Text | None = None
    """Rows that are not looked at: both_values_are_missing, either_value_is_missing or neither; with column_list:
    all_values_are_missing, any_value_is_missing or never."""
    value_pairs_set: Annotated[
        Annotated[tuple[tuple[AnyText, AnyText], ...], Field(min_length=1)] | None, Judged(judges.listed)
    ] = None
    """The allowed pairs of values."""
    sum_total: Exact | None = None
    """The sum that the columns of a row must have."""
    ties_okay: Annotated[Flag | None, Judged(judges.flag(stricter=False))] = None
    """True where one of several most common values is enough."""
    threshold: Annotated[Exact | None, Judged(limit(higher="weaker"))] = None
    """The largest allowed distance from the mean, in standard deviations."""
    double_sided: Annotated[Flag | None, Judged(judges.flag(stricter=True))] = None
    """True where the distance counts on both sides of the mean."""
    quantile_ranges: QuantileRanges | None = None
    """Quantiles and their ranges."""


#: The keys that only a check by a name of Great Expectations takes.
PARAMETERS: tuple[str, ...] = tuple(Parameters.model_fields)
