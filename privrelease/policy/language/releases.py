"""Releases: which columns of a dataset are released, against which threats they are protected, how, and where to."""

from functools import cache
from types import GenericAlias
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Union

from pydantic import BeforeValidator, Discriminator, Field, Tag, create_model

from privrelease.policy.changes import data_changes as figures
from privrelease.policy.changes.directions import always, held, kept_apart
from privrelease.policy.language.datasets import Character
from privrelease.policy.language.generalisation import CodeStep, GeneraliseStep, RoundStep
from privrelease.policy.language.keys import FREE, ONE_ALONE, Consequence, DeclaredColumn, Judged, Ref, Stricter
from privrelease.policy.language.number_values import ClassSize, Positive, Share
from privrelease.policy.language.steps import Step
from privrelease.policy.language.values import CHOICE, WHEN_USED, EnvironmentVariable, Flag, Frozen, Identifier, PathText, Text
from privrelease.policy.text.messages import problem
from privrelease.relational.treatments import Pseudonym

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privrelease.policy.language.datasets import ColumnSpec
    from privrelease.relational.treatments import Treatment

__all__ = [
    "STEPS",
    "CodeStep",
    "DropStep",
    "GeneraliseStep",
    "MicrodataRelease",
    "OutputSpec",
    "PseudonymiseStep",
    "RoundStep",
    "Step",
    "Steps",
    "SuppressCells",
    "TransformStep",
    "microdata_model",
    "outputs",
]


class DropStep(Step):
    """These columns do not leave."""

    named: ClassVar[str] = "drop"

    drop: Annotated[tuple[DeclaredColumn, ...], Field(min_length=1), Stricter.MORE, Judged(figures.selected)]
    """Names of the columns."""

    def removed(self) -> tuple[str, ...]:
        """Return the columns."""
        return self.drop

    @classmethod
    def compared(cls, steps: "Sequence[DropStep]") -> object:
        """Return the columns of all."""
        return tuple(name for step in steps for name in step.drop)

    @classmethod
    def within(cls, below: tuple[str, ...]) -> tuple[str, ...]:
        """Return the list."""
        return below[:1]


class PseudonymiseStep(Step):
    """These columns leave as keyed pseudonyms (HMAC): the same value gives the same pseudonym in all of them."""

    named: ClassVar[str] = "pseudonymise"
    valued: ClassVar[str | None] = "key"

    pseudonymise: Annotated[tuple[Annotated[DeclaredColumn, Judged(figures.pseudonym)], ...], Field(min_length=1)]
    """Names of the columns."""
    key: EnvironmentVariable
    """The environment variable that holds the key; without it there is no release."""

    def treatment(self, column: str, spec: "ColumnSpec") -> "Treatment":
        """Return a pseudonym by the step's key."""
        del column, spec
        return Pseudonym(self.key)

    @classmethod
    def compared(cls, steps: "Sequence[PseudonymiseStep]") -> object:
        """Return the key of each column."""
        return {name: step.key for step in steps for name in step.pseudonymise}

    @classmethod
    def within(cls, below: tuple[str, ...]) -> tuple[str, ...]:
        """Return the list."""
        return below[:1]


class SuppressCells(Step):
    """Cells of quasi-identifiers are suppressed (become missing) until every threat holds; at as low a cost as can be found."""

    named: ClassVar[str] = "suppress"
    last: ClassVar[bool] = True

    suppress: Annotated[Literal["cells"], CHOICE, Stricter.REMOVED]
    """The unit that is suppressed."""
    limit: Annotated[Share | None, Stricter.LOWER] = None
    """The largest share of cells of the protected threats' columns that may go; more fails the release."""
    weights: dict[DeclaredColumn, Annotated[Positive, Judged(always("neutral"))]] = Field(default_factory=dict)
    """The cost of a cell by column; 1 where it is not given."""
    prefer: Annotated[
        Literal["cells", "balanced", "information"],
        CHOICE,
        Judged(always("neutral")),
        Consequence(
            "together with an earlier release of the same records, which shows other cells, it can single records out, and "
            "AUDIT-EARLIER-INTERSECT refuses such a release"
        ),
    ] = "cells"
    """The loss that is kept low: of ``cells``, of the ``information`` that they hold, or of both, ``balanced``. ``weights`` multiply."""
    residual: Annotated[Literal["drop", "keep"], CHOICE, Stricter.becomes("keep", "drop")] = "drop"
    """The treatment of a small group of rows whose known columns are all suppressed."""

    def listed(self) -> tuple[str, ...]:
        """Return no column: those that protected threats know are suppressed."""
        return ()

    @classmethod
    def compared(cls, steps: "Sequence[SuppressCells]") -> object | None:
        """Return the last step with all of its keys."""
        return {key: getattr(steps[-1], key) for key in cls.model_fields} if steps else None

    @classmethod
    def within(cls, below: tuple[str, ...]) -> tuple[str, ...]:
        """Return what is named below the step."""
        return below[1:] or below[:1]


Steps = tuple[type[Step], ...]

#: Every transform step; a new one adds its line here and in ``pipeline.steps.STEPS``.
STEPS: Steps = (DropStep, PseudonymiseStep, GeneraliseStep, CodeStep, RoundStep, SuppressCells)


def _step_type(steps: Steps) -> Any:  # noqa: ANN401  annotations have no common type
    """Return the type of any of these steps, told by the key that names each, for a model's field."""

    def tag(value: object) -> str | None:
        if isinstance(value, dict):
            return next((f"<{step.named}>" for step in steps if step.named in value), None)
        return next((f"<{step.named}>" for step in steps if type(value) is step), None)

    tagged = tuple(Annotated[step, WHEN_USED, Tag(f"<{step.named}>")] for step in steps)
    return Annotated[Union[tagged], Discriminator(tag)]  # noqa: UP007  a union of what a tuple holds


if TYPE_CHECKING:  # the steps that there are; at run time the tuple above decides
    TransformStep = DropStep | PseudonymiseStep | GeneraliseStep | CodeStep | RoundStep | SuppressCells
else:
    TransformStep = _step_type(STEPS)


class OutputSpec(Frozen):
    """A file that is published."""

    path: PathText
    """The path of the file, relative to the policy."""
    format: Annotated[Literal["csv", "parquet", "duckdb"], CHOICE] | None = None
    """The kind of file; follows the suffix where it is not given."""
    table: Identifier = "data"
    """The name of the table in a DuckDB file."""
    delimiter: Character = ","
    """The sign between two cells of a CSV file: comma, semicolon, bar or tab."""
    decimal: Annotated[Literal[".", ","], CHOICE] = "."
    """The decimal sign of numbers in a CSV file; texts stay as they are, labels of hierarchies too."""


def outputs(value: object) -> object:
    """A text or one mapping represents a list of one."""
    if isinstance(value, str):
        return ({"path": value},)
    if isinstance(value, dict | OutputSpec):
        return (value,)
    if isinstance(value, tuple | list):
        return tuple({"path": item} if isinstance(item, str) else item for item in value)
    message = "needs a path, or `{path: …}`, or a list of these"
    raise problem(message)


_Outputs = Annotated[tuple[OutputSpec | PathText, ...], Field(min_length=1, max_length=10)]


class MicrodataRelease(Frozen):
    """Rows about persons, protected against the named threats."""

    id: Identifier
    """Name of the release."""
    kind: Annotated[Literal["microdata"], CHOICE]
    """The kind of the release."""
    from_: Annotated[Text, Field(alias="from"), Ref("datasets", of_columns=True)]
    """The dataset that it is made of."""
    protect: Annotated[tuple[Annotated[Text, Ref("threats")], ...], Stricter.MORE, Judged(held)] = ()
    """The threats that must hold on what is released."""
    columns: Annotated[
        Annotated[tuple[DeclaredColumn, ...], Field(min_length=1)] | None, Stricter.FEWER_COLUMNS, Judged(figures.selected)
    ] = None
    """The columns that leave, in this order; all but the direct identifiers where it is not given."""
    transform: tuple[TransformStep, ...] = ()
    """The steps applied to the data, in this order."""
    order: Annotated[Literal["values", "source"], CHOICE, Stricter.becomes("source", "values")] = "values"
    """Order of the rows: by the released values, or as in the source (which can link rows to persons)."""
    output: Annotated[
        tuple[OutputSpec, ...],
        BeforeValidator(outputs, json_schema_input_type=_Outputs | OutputSpec | PathText),
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
    frontier: Annotated[tuple[ClassSize, ...], Field(max_length=20), FREE] = ()
    """Class sizes at which the internal report shows what the first protected threat would cost; the release itself stays as it is."""
    description: Annotated[Text | None, FREE] = None
    """The purpose of the release."""


@cache
def microdata_model(steps: Steps = STEPS) -> type[MicrodataRelease]:
    """Return the model of a release of rows that may have these transform steps."""
    if steps == STEPS:
        return MicrodataRelease
    several: Any = GenericAlias(tuple, (_step_type(steps), ...))
    return create_model("MicrodataRelease", __base__=MicrodataRelease, __module__=__name__, transform=(several, ()))
