"""Releases: which columns of a dataset are released, against which threats they are protected, how, and where to."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag

from privrelease.policy.changes import data_changes as figures
from privrelease.policy.changes.directions import always, held, kept_apart
from privrelease.policy.language.keys import FREE, ONE_ALONE, DeclaredColumn, Judged, Ref, Stricter
from privrelease.policy.language.number_values import ClassSize, Positive, Share  # noqa: TC001 -- pydantic resolves annotations when classes are made
from privrelease.policy.language.values import CHOICE, EnvironmentVariable, Flag, Frozen, Identifier, PathText, Text
from privrelease.policy.text.messages import problem

__all__ = [
    "DropStep",
    "MicrodataRelease",
    "OutputSpec",
    "PseudonymiseStep",
    "SuppressCells",
    "TransformStep",
    "outputs",
]


class DropStep(Frozen):
    """These columns do not leave."""

    drop: Annotated[tuple[DeclaredColumn, ...], Field(min_length=1), Stricter.MORE, Judged(figures.selected)]
    """Names of the columns."""


class PseudonymiseStep(Frozen):
    """These columns leave as keyed pseudonyms (HMAC): the same value gives the same pseudonym in all of them."""

    pseudonymise: Annotated[tuple[Annotated[DeclaredColumn, Judged(figures.pseudonym)], ...], Field(min_length=1)]
    """Names of the columns."""
    key: EnvironmentVariable
    """The environment variable that holds the key; without it there is no release."""


class SuppressCells(Frozen):
    """Cells of quasi-identifiers are suppressed (become missing) until every threat holds; as few as can be found."""

    suppress: Annotated[Literal["cells"], CHOICE, Stricter.REMOVED]
    """What is suppressed."""
    limit: Annotated[Share | None, Stricter.LOWER] = None
    """The largest share of cells of the protected threats' columns that may go; more fails the release."""
    weights: dict[DeclaredColumn, Annotated[Positive, Judged(always("neutral"))]] = Field(default_factory=dict)
    """What a cell of a column costs; 1 where it is not given."""
    residual: Annotated[Literal["drop", "keep"], CHOICE, Stricter.becomes("keep", "drop")] = "drop"
    """What happens to a small group of rows whose known columns are all suppressed."""


#: Every transform step: the key that names it, and its model.
STEPS: tuple[tuple[str, type[Frozen]], ...] = (
    ("drop", DropStep),
    ("pseudonymise", PseudonymiseStep),
    ("suppress", SuppressCells),
)


def _step_kind(value: object) -> str | None:
    if isinstance(value, dict):
        named = [name for name, _ in STEPS if name in value]
        return f"<{named[0]}>" if named else None
    return next((f"<{name}>" for name, model in STEPS if isinstance(value, model)), None)


TransformStep = Annotated[
    Annotated[DropStep, Tag("<drop>")]
    | Annotated[PseudonymiseStep, Tag("<pseudonymise>")]
    | Annotated[SuppressCells, Tag("<suppress>")],
    Discriminator(_step_kind),
]


class OutputSpec(Frozen):
    """A file that is published."""

    path: PathText
    """Where it goes, relative to the policy."""
    format: Annotated[Literal["csv", "parquet", "duckdb"], CHOICE] | None = None
    """The kind of file; follows the suffix where it is not given."""
    table: Identifier = "data"
    """The name of the table in a DuckDB file."""


def outputs(value: object) -> object:
    """A text or one mapping stands for a list of one."""
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
    """What kind of release it is."""
    from_: Annotated[Text, Field(alias="from"), Ref("datasets", of_columns=True)]
    """The dataset that it is made of."""
    protect: Annotated[tuple[Annotated[Text, Ref("threats")], ...], Stricter.MORE, Judged(held)] = ()
    """The threats that must hold on what leaves."""
    columns: Annotated[
        Annotated[tuple[DeclaredColumn, ...], Field(min_length=1)] | None, Stricter.FEWER_COLUMNS, Judged(figures.selected)
    ] = None
    """The columns that leave, in this order; all but the direct identifiers where it is not given."""
    transform: tuple[TransformStep, ...] = ()
    """What is done to the data, in this order."""
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
    """Who gets it, by the ids of `legal.recipients`. Releases that are given to nobody in common are not combined; not given: anybody may get it."""
    recipients_hold_previous: Annotated[Flag, Stricter.TRUE] = True
    """Who gets this release may hold releases of the same persons that were published before, and combine them."""
    frontier: Annotated[tuple[ClassSize, ...], Field(max_length=20), FREE] = ()
    """Class sizes at which the internal report shows what the first protected threat would cost; the release itself stays as it is."""
    description: Annotated[Text | None, FREE] = None
    """What the release is for."""
