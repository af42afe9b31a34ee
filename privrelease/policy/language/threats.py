"""Threats: an attacker, what they know, and what risk is tolerated."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from privrelease.policy.changes.directions import elsewhere, held, ranked
from privrelease.policy.language.keys import DeclaredColumn, Judged, Ref, Stricter
from privrelease.policy.language.number_values import ClassSize, Count, Level, Risk, Share
from privrelease.policy.language.values import CHOICE, NAMED, Flag, Frozen, Identifier, Text
from privrelease.policy.text.messages import problem

__all__ = ["AlsoSpec", "AtRiskSpec", "PopulationSpec", "SubsetsSpec", "Threat"]


class AtRiskSpec(Frozen):
    """At most `share` of the records may have a risk above `above`; independent of `highest_risk`."""

    above: Annotated[Level, Stricter.LOWER]
    """The level of risk."""
    share: Annotated[Share, Stricter.LOWER]
    """The share of records allowed above it."""


class SubsetsSpec(Frozen):
    """Every combination of at most `up_to` of the known columns keeps classes of at least `k`."""

    up_to: Annotated[Count, Stricter.HIGHER]
    """Size of the largest combination."""
    k: Annotated[ClassSize, Stricter.HIGHER]
    """Smallest class of each combination."""


class AlsoSpec(Frozen):
    """Further models that must hold."""

    subsets: Annotated[SubsetsSpec | None, Stricter.SET] = None
    """Classes over combinations of columns."""


class PopulationSpec(Frozen):
    """The origin of the size of a class in the population: a dataset, sampling weights, or an estimate."""

    table: Annotated[
        Text | None,
        Ref("datasets", file_hint="declare the population under `datasets` and write its name here"),
        Stricter.POINTED,
    ] = None
    """A dataset of this policy that holds the population, with the known columns under the same names.

    Its persons are counted, each once, where it declares a `unit` with a column; without one, each of its rows is a person.
    """
    weight: DeclaredColumn | None = None
    """A column of sampling weights. Where a person has several rows, their weight counts once in a class: the smallest of the rows there."""
    size: Count | None = None
    """The number of persons of the population; goes with `estimator`."""
    estimator: Annotated[Literal["pitman", "zayatz", "snb", "dankar"], CHOICE] | None = None
    """The estimator of population uniqueness from the sample."""

    @model_validator(mode="after")
    def _one_source(self) -> "PopulationSpec":
        if sum(value is not None for value in (self.table, self.weight, self.size)) != 1:
            message = "needs exactly one of `table`, `weight` and `size`"
            raise problem(message, code="P204")
        if (self.size is None) != (self.estimator is None):
            message = "`size` and `estimator` go together"
            raise problem(message, code="P204", hint="estimators: pitman, zayatz, snb, dankar")
        return self


class Threat(Frozen):
    """An attacker against one dataset. Several threats may stand; each must hold on what is released."""

    dataset: Annotated[Text, Ref("datasets", of_columns=True)]
    """The dataset it is about."""
    knows: Annotated[tuple[DeclaredColumn, ...], Field(min_length=1), Stricter.MORE, Judged(held)]
    """The columns that the attacker knows."""
    attacker: Annotated[
        Literal["prosecutor", "journalist", "marketer"], CHOICE, Judged(ranked("prosecutor", "journalist", "marketer"))
    ] = "prosecutor"
    """prosecutor: knows that the person is in the data; journalist: does not (needs `population`); marketer: wants many."""
    highest_risk: Annotated[Risk | None, Stricter.LOWER] = None
    """The highest tolerated risk of a record, exact: 0.2 means classes of at least 5."""
    average_risk: Annotated[Risk | None, Stricter.LOWER] = None
    """The highest tolerated average risk."""
    records_at_risk: Annotated[AtRiskSpec | None, Stricter.SET] = None
    """The share of records allowed above a level of risk."""
    missing: Annotated[Literal["category", "wildcard"], CHOICE, Judged(ranked("category", "wildcard"))] = "category"
    """The reading of a missing value: equal only to another missing one, or to anything."""
    population: Annotated[PopulationSpec | None, Judged(elsewhere, below=True)] = None
    """The population the data was drawn from."""
    knows_rows: Annotated[Flag, Stricter.TRUE] = False
    """The attacker knows how many rows of each kind a person has, not only which kinds."""
    also: Annotated[AlsoSpec | None, Stricter.SET] = None
    """Further models that must hold."""


Threats = Annotated[dict[Identifier, Annotated[Threat, Stricter.ADDED]], Field(json_schema_extra=NAMED)]
