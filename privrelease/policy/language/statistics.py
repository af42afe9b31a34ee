"""Statistics: figures with differential privacy, and the budget that they may spend."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from privrelease.policy.changes import data_changes as figures
from privrelease.policy.changes.directions import always, only_removed, ranked
from privrelease.policy.language.keys import FREE, ONE_ALONE, DeclaredColumn, Judged, Ref, Stricter
from privrelease.policy.language.number_values import Count, Exact, Positive
from privrelease.policy.language.releases import OutputSpec, outputs
from privrelease.policy.language.values import CHOICE, AnyText, ColumnName, Flag, Frozen, Identifier, PathText, Text
from privrelease.policy.text.messages import problem
from privrelease.policy.text.nodes import Plain

__all__ = ["FIGURES", "BinsSpec", "BudgetSpec", "CountSpec", "KeysSpec", "QuerySpec", "StatisticsRelease"]

#: Figures of numbers, of which one can represent those that are missing.
FILLED = ("sum", "mean", "variance", "stddev", "median", "quantile")
#: What a query can ask for: exactly one of these keys stands in it.
FIGURES = ("count", "count_persons", "sum", "mean", "variance", "stddev", "median", "quantile", "histogram")


class CountSpec(Frozen):
    """The unit that is counted: rows, or persons; all of them where it is not given."""

    where: Text | None = None
    """A filter over declared columns; rows where it holds are counted."""
    column: DeclaredColumn | None = None
    """Only rows in which this column is not missing."""


def _counted(value: object) -> object:
    """``true`` represents all."""
    return {} if value is True or (isinstance(value, Plain) and value == "true") else value


Counted = Annotated[CountSpec, BeforeValidator(_counted, json_schema_input_type=CountSpec | bool)]


class BinsSpec(Frozen):
    """Bins of a histogram: of one width over the column's domain, or between edges."""

    width: Positive | None = None
    """Width of every bin; bins lie between its multiples."""
    edges: Annotated[Annotated[tuple[Exact, ...], Field(min_length=2, max_length=1001)] | None, Judged(figures.asked)] = None
    """The edges, ascending; values outside go to the first or the last bin."""

    @model_validator(mode="after")
    def _one_form(self) -> "BinsSpec":
        if (self.width is None) == (self.edges is None):
            message = "needs either `width` or `edges`"
            raise problem(message, code="P204")
        return self


class KeysSpec(Frozen):
    """The group keys that are published: some of the declared ones, or those found in the data that many persons share."""

    private: Flag = False
    """Keys are read from the data; one is published where its noisy count of persons reaches a threshold."""
    listed: dict[ColumnName, Annotated[tuple[AnyText, ...], Field(min_length=1), Judged(figures.listed_keys)]] = Field(
        default_factory=dict
    )
    """By column of `by`: the keys to publish, of those in its domain."""


def _keys(value: object) -> object:
    if isinstance(value, str):
        if value == "private":
            return {"private": True}
        message = "must be private, or a mapping of columns to lists of keys"
        raise problem(message, hint="leave it out to publish every key of the domain")
    return {"listed": value} if isinstance(value, dict) else value


Keys = Annotated[
    KeysSpec,
    BeforeValidator(_keys, json_schema_input_type=dict[str, tuple[AnyText, ...]] | Literal["private"]),
]


class BudgetSpec(Frozen):
    """The total budget of a release, hidden draws included."""

    epsilon: Annotated[Exact, Stricter.LOWER]
    """Privacy loss."""
    delta: Annotated[Exact | None, Stricter.LOWER_FROM_0] = None
    """Probability of a failure of the guarantee; needed by Gaussian noise and by private keys."""
    accounting: Annotated[
        Annotated[Literal["pure", "approximate", "zcdp", "pld"], CHOICE] | None, Judged(figures.accounting)
    ] = None
    """The composition of the costs of queries; each rule includes those before it. Not given: `zcdp` where a query needs a delta, else `pure`."""


Post = tuple[Annotated[Literal["non_negative", "integer", "rounded"], CHOICE], ...]


ReleasePost = tuple[Annotated[Literal["consistent", "non_negative", "integer", "rounded"], CHOICE], ...]


class QuerySpec(Frozen):
    """One statistic, or one by group."""

    id: Identifier
    """Name of the query."""
    count: Counted | None = None
    """Number of rows."""
    count_persons: Counted | None = None
    """Number of persons."""
    sum: DeclaredColumn | None = None
    """Sum of a column."""
    mean: DeclaredColumn | None = None
    """Mean of a column."""
    variance: DeclaredColumn | None = None
    """Variance of a column."""
    stddev: DeclaredColumn | None = None
    """Standard deviation of a column."""
    median: DeclaredColumn | None = None
    """Median of a column."""
    quantile: DeclaredColumn | None = None
    """A quantile of a column; `at` says which."""
    histogram: DeclaredColumn | None = None
    """Number of rows by bins of a column."""
    at: Exact | None = None
    """The order of the quantile, between 0 and 1."""
    interval: Annotated[Flag, Judged(figures.shown)] = False
    """A 95 % interval for a median or quantile, which takes two draws more: each third of the query's budget pays for one of them."""
    fill: Exact | None = None
    """The number that a missing value counts as; otherwise rows in which the column is missing are left out."""
    bins: BinsSpec | None = None
    """Bins of a histogram."""
    by: Annotated[tuple[DeclaredColumn, ...], Judged(figures.asked)] = ()
    """Group keys; every declared key is published, whether it has rows or not."""
    keys: Annotated[Keys | None, Judged(figures.keys)] = None
    """The keys that are published; every key of the domain where it is not given."""
    other: Annotated[Flag, Judged(figures.shown)] = False
    """Rows whose keys are none of the published ones are counted under the key `other`, and values outside all bins under bins of their own;
    otherwise such rows are left out, and such values go to the first or last bin."""
    missing: Annotated[Flag, Judged(figures.shown)] = False
    """Rows in which a group column is missing are counted under the key `missing`, whether there are any or not; otherwise they are left out."""
    where: Text | None = None
    """A filter over declared columns: comparisons, AND, OR, NOT, IN, BETWEEN, IS NULL. A column's name that is not one word stands in double quotes."""
    epsilon: Annotated[Exact | None, Stricter.LOWER, Judged(figures.spent)] = None
    """The budget of the query; where it is not given, a share of what is left."""
    share: Positive | None = None
    """Share of what is left of the budget; 1 where it is not given."""
    mechanism: Annotated[Literal["laplace", "gaussian"], CHOICE, Judged(ranked("laplace", "gaussian"))] = "laplace"
    """Law of the noise."""
    post: Annotated[Post | None, Judged(figures.treated)] = None
    """The steps applied to the noisy figure; those of the release where it is not given."""
    expected_rows: Annotated[Count | None, Judged(always("neutral"))] = None
    """About how many rows a mean is of (in each group), for `plan` to say how noisy it will be; never used for anything else."""
    fresh: Annotated[Flag, Judged(figures.drawn_again)] = False
    """Draw again (and pay again) where an answer to this query on this snapshot is stored."""
    description: Annotated[Text | None, FREE] = None
    """A description of the figure."""

    @model_validator(mode="after")
    def _one_figure(self) -> "QuerySpec":
        named = [name for name in FIGURES if getattr(self, name) is not None]
        if len(named) != 1:
            message = "asks for no figure" if not named else f"asks for {' and '.join(named)}"
            raise problem(message, code="P204", hint=f"write one of {', '.join(FIGURES)}")
        figure = named[0]
        if (self.bins is not None) != (figure == "histogram"):
            message = "is a histogram without bins" if figure == "histogram" else f"has bins, and is a {figure}"
            raise problem(message, code="P204", hint="write `histogram: column, bins: {width: 10}`")
        if (self.at is not None) != (figure == "quantile"):
            message = "does not say which quantile" if figure == "quantile" else f"says `at`, and is a {figure}"
            raise problem(message, code="P204", hint="write `quantile: column, at: 0.9`")
        if self.keys is not None and not self.by:
            message = "has keys, and no `by`"
            raise problem(message, code="P204", hint="write `by: [column]`")
        if self.epsilon is not None and self.share is not None:
            message = "has an epsilon and a share"
            raise problem(message, code="P204", hint="write one of them")
        if self.where is not None and self.counted is not None and self.counted.where is not None:
            message = "has two filters"
            raise problem(message, code="P204", hint="join them by AND")
        return self

    @model_validator(mode="after")
    def _what_the_figure_can_have(self) -> "QuerySpec":
        figure = self.figure
        if self.interval and figure not in {"median", "quantile"}:
            message = f"asks for an interval, and is a {figure}"
            raise problem(message, code="P204", hint="remove it: this figure has its interval for nothing")
        if self.fill is not None and figure not in FILLED:
            message = f"says `fill`, and is a {figure}"
            raise problem(message, code="P204", hint=f"it is for {', '.join(FILLED)}")
        if self.expected_rows is not None and figure != "mean":
            message = f"says `expected_rows`, and is a {figure}"
            raise problem(
                message, code="P204", hint="remove it: the noise of this figure does not depend on the number of rows"
            )
        listed = bool(self.by) and (self.keys is None or not self.keys.private)
        if self.other and not listed and figure != "histogram":
            message = "says `other`, and has no declared keys or bins"
            raise problem(message, code="P204", hint="write `by: [column]`, or remove it")
        if self.missing and not listed:
            message = "says `missing`, and has no declared keys"
            raise problem(message, code="P204", hint="write `by: [column]`, or remove it")
        return self

    @property
    def figure(self) -> str:
        """The key that says what is asked for."""
        return next(name for name in FIGURES if getattr(self, name) is not None)

    @property
    def counted(self) -> CountSpec | None:
        """Return what a count counts."""
        return self.count if self.count is not None else self.count_persons

    @property
    def column(self) -> str | None:
        """The column that the figure is about."""
        counted = self.counted
        return counted.column if counted is not None else getattr(self, self.figure)

    @property
    def filter(self) -> str | None:
        """The filter, wherever it is written."""
        counted = self.counted
        return counted.where if counted is not None and counted.where is not None else self.where


class StatisticsRelease(Frozen):
    """Statistics with differential privacy: noise whose law is known, within a budget."""

    id: Identifier
    """Name of the release."""
    kind: Annotated[Literal["statistics"], CHOICE]
    """The kind of the release."""
    from_: Annotated[Text, Field(alias="from"), Ref("datasets", of_columns=True)]
    """The dataset that it is made of."""
    budget: BudgetSpec
    """The budget of all queries together."""
    neighbours: Annotated[Literal["add_remove", "replace"], CHOICE] = "add_remove"
    """The fact that is hidden: that a person is in the data at all, or what the data says of them."""
    queries: Annotated[
        tuple[Annotated[QuerySpec, Stricter.REMOVED, Judged(only_removed)], ...], Field(min_length=1, max_length=1000)
    ]
    """The statistics, in the order of the output."""
    post: Annotated[ReleasePost, Judged(figures.treated)] = ()
    """The steps applied to noisy figures, in this order: `consistent` (counts agree across margins), `non_negative`, `integer`,
    `rounded` (to the digits that the noise leaves)."""
    min_count: Annotated[Count | None, Stricter.HIGHER, Judged(figures.least)] = None
    """Figures of groups whose noisy count is below this are left blank; where it is not given, as `tables` says."""
    groups: Annotated[Literal["json", "columns"], CHOICE, Judged(always("breaking"))] = "json"
    """The form of the group of a figure: one text for all keys (`json`), or a column for each key (`columns`)."""
    output: Annotated[
        tuple[OutputSpec, ...],
        BeforeValidator(outputs, json_schema_input_type=tuple[OutputSpec | PathText, ...] | OutputSpec | PathText),
        Field(min_length=1, max_length=10),
        ONE_ALONE,
        FREE,
        Judged(figures.files),
    ]
    """The files that are published, all of the same content."""
    description: Annotated[Text | None, FREE] = None
    """The purpose of the release."""
