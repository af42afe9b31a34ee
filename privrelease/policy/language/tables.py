"""Tables: exact counts and sums by groups, protected by suppression; no noise, so no epsilon covers them."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from privrelease.policy.changes import data_changes as figures
from privrelease.policy.changes.directions import always, kept_apart
from privrelease.policy.language.keys import FREE, ONE_ALONE, DeclaredColumn, Judged, Ref, Stricter
from privrelease.policy.language.number_values import Count, Risk, Share
from privrelease.policy.language.releases import OutputSpec, outputs
from privrelease.policy.language.values import CHOICE, Flag, Frozen, Identifier, PathText, Text
from privrelease.policy.text.messages import problem

__all__ = ["TableMeasure", "TableProtection", "TableRelease", "TableRules"]

#: A share below which dominance and p-percent say nothing, and above which everything is unsafe.
Dominance = Annotated[tuple[Count, Risk], Field(json_schema_extra={"minItems": 2, "maxItems": 2})]


class TableRules(Frozen):
    """Rules that every cell of every table release keeps; a release may only be stricter."""

    min_count: Annotated[Count | None, Stricter.HIGHER] = None
    """The fewest contributors of a published cell, whatever their weights; at least 3."""
    dominance: Annotated[Dominance | None, Stricter.SET, Judged(figures.common_dominance)] = None
    """`[n, k]`: the n largest contributors make up at most the share k of a published sum."""
    p_percent: Annotated[Risk | None, Stricter.HIGHER] = None
    """The second largest contributor must not be able to estimate the largest within this share of its value."""


class TableProtection(Frozen):
    """The protection of cells; what is not given is as `tables:` says."""

    min_count: Annotated[Count | None, Stricter.HIGHER, Judged(figures.least)] = None
    """The fewest contributors of a published cell, whatever their weights; at least 3."""
    dominance: Annotated[Dominance | None, Stricter.SET, Judged(figures.least)] = None
    """`[n, k]`: the n largest contributors make up at most the share k of a published sum."""
    p_percent: Annotated[Risk | None, Stricter.HIGHER, Judged(figures.least)] = None
    """The second largest contributor must not be able to estimate the largest within this share of its value."""
    secondary: Annotated[Flag, Stricter.TRUE] = True
    """Suppress further cells, so that totals do not give unsafe cells back."""
    prefer: Annotated[Literal["persons", "cells"], CHOICE, FREE, Judged(always("neutral"))] = "persons"
    """Lose the fewest persons in these cells, or the fewest cells."""
    interval: Annotated[Share | None, Stricter.HIGHER] = None
    """The share of its value by which a suppressed figure must stay uncertain; one unit at least."""
    zeros: Annotated[Literal["show", "suppress"], CHOICE, Stricter.becomes("show", "suppress")] = "show"
    """Empty cells are printed as 0, or suppressed like small ones."""
    class_disclosure: Annotated[Flag | None, Stricter.TO_TRUE, Judged(figures.classes)] = None
    """Suppress empty cells too, so that no one can be sure that all members of a group share one key. Not given, that is checked where a group
    column is sensitive, and a group that shares one key parks the release; `false` asks for no check.
    """


class TableMeasure(Frozen):
    """One figure of every cell: `{count: true}`, weighted by a column or not, `{sum: column}`, or `{mean: column}`."""

    count: Flag | None = None
    """The number of rows, or the sum of their weights."""
    weight: DeclaredColumn | None = None
    """Weights of a count; the minimum count stays on rows and persons as they are."""
    sum: DeclaredColumn | None = None
    """The sum of a column."""
    mean: DeclaredColumn | None = None
    """The mean of a column over the rows that have a value, rounded to a thousandth of its grid; protected as the sum that it gives away."""

    @model_validator(mode="after")
    def _one_figure(self) -> "TableMeasure":
        given = (self.count is True, self.sum is not None, self.mean is not None)
        if sum(given) != 1 or self.count is False:
            message = "must be one of a count, a sum and a mean"
            raise problem(message, code="P204", hint="write `{count: true}`, `{sum: column}` or `{mean: column}`")
        if self.weight is not None and self.count is None:
            message = "has a weight, and is not a count"
            raise problem(message, code="P204", hint="weights are for counts")
        return self

    @property
    def column(self) -> str | None:
        """The column that is added up; None for a plain count."""
        return next((name for name in (self.sum, self.mean, self.weight) if name is not None), None)


class TableRelease(Frozen):
    """A table of counts and sums by groups."""

    id: Identifier
    """Name of the release."""
    kind: Annotated[Literal["table"], CHOICE]
    """The kind of the release."""
    from_: Annotated[Text, Field(alias="from"), Ref("datasets", of_columns=True)]
    """The dataset that it is made of."""
    by: Annotated[tuple[DeclaredColumn, ...], Field(min_length=1, max_length=6), Judged(figures.asked)]
    """Group columns; every key of their domains has its cells."""
    keys: dict[DeclaredColumn, PathText] = Field(default_factory=dict)
    """Files that list the keys of group columns, one a line below a heading; each key has its cells, also where it has no rows."""
    where: Text | None = None
    """A filter over declared columns: comparisons, AND, OR, NOT, IN, BETWEEN, IS NULL, names of several words in double quotes; the table is made of the rows where it holds."""
    impossible: Text | None = None
    """A filter over the group columns: cells where it holds are empty by nature, as everybody knows; they are printed as 0."""
    measures: Annotated[tuple[TableMeasure, ...], Field(min_length=1, max_length=20), Judged(figures.asked)]
    """The figures of every cell."""
    margins: Annotated[Flag, Stricter.FALSE, Judged(figures.shown)] = False
    """Publish totals over every combination of the group columns."""
    round_up: Annotated[Count | None, Stricter.SET, Judged(figures.rounded)] = None
    """Printed counts are rounded up to multiples of this, after every rule was applied to the exact ones."""
    protect: TableProtection = Field(default_factory=TableProtection)
    """The protection of cells."""
    output: Annotated[
        tuple[OutputSpec, ...],
        BeforeValidator(outputs, json_schema_input_type=tuple[OutputSpec | PathText, ...] | OutputSpec | PathText),
        Field(min_length=1, max_length=10),
        ONE_ALONE,
        FREE,
        Judged(figures.files),
    ]
    """The files that are published, all of the same content."""
    recipients: Annotated[Annotated[tuple[Identifier, ...], Field(min_length=1)] | None, Judged(kept_apart)] = None
    """The recipients, by their ids in `legal.recipients`. Releases that are given to no one in common are not combined; not given: anybody may get it."""
    recipients_hold_previous: Annotated[Flag, Stricter.TRUE] = True
    """True where recipients may hold releases of the same persons that were published before, and combine them."""
    description: Annotated[Text | None, FREE] = None
    """The purpose of the release."""
