"""Checks: what the released files must satisfy besides the threats."""

from typing import Annotated, Literal

from pydantic import Field

from privrelease.policy.changes import checks as judges
from privrelease.policy.changes.directions import limit, ranked
from privrelease.policy.language.expectations import Parameters
from privrelease.policy.language.keys import FREE, DeclaredColumn, Judged, Ref, Stricter
from privrelease.policy.language.number_values import Exact, Positive
from privrelease.policy.language.values import CHOICE, Identifier, Text
from privrelease.value_classes import dataclass

__all__ = ["CHECKS", "Check", "CheckKind"]


@dataclass(frozen=True, slots=True)
class CheckKind:
    """A check that is built in: what it measures on the released file, and which keys it takes.

    ``measures``: ``share`` and ``risk`` are in [0, 1], ``count`` is a whole number of at least 0, ``number`` is any of at least 0.
    ``takes``: keys that only some checks take; ``needs``: keys that must be there. ``only``: the one limit that
    it takes, where the other would reward what is less safe.
    """

    name: str
    measures: Literal["share", "risk", "count", "number"]
    meaning: str
    threat: bool = False
    column: bool = False
    takes: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    only: Literal["min", "max"] | None = None


#: Every built-in check. ``threat``: measured over one threat's columns (all protected threats, the worst, where none is named).
CHECKS: tuple[CheckKind, ...] = (
    CheckKind("suppressed_cells", "share", "share of the protected threats' cells that were suppressed", column=True),
    CheckKind(
        "generalised_cells",
        "share",
        "share of the released cells of coarser columns that stand for more than one value of the domain",
        column=True,
    ),
    CheckKind(
        "precision",
        "share",
        "one less the mean height of cells in their hierarchies, of generalised columns; a lost cell is at the top",
    ),
    CheckKind("dropped_rows", "share", "share of the source's rows that did not leave"),
    CheckKind("highest_risk", "risk", "highest prosecutor risk of a record", threat=True),
    CheckKind("average_risk", "risk", "average prosecutor risk", threat=True),
    CheckKind("k", "count", "size of the smallest class", threat=True),
    CheckKind("unique_records", "share", "share of the records that are alone in their class", threat=True),
    CheckKind("classes", "count", "number of classes", threat=True),
    CheckKind("rows", "count", "number of rows that leave"),
    CheckKind("missing_cells", "share", "share of a column's cells that are missing", column=True, needs=("column",)),
    CheckKind(
        "l_diversity",
        "number",
        "smallest number of sensitive values that a class leaves open, known values only",
        threat=True,
        column=True,
        takes=("kind", "c"),
        needs=("column",),
        only="min",
    ),
    CheckKind(
        "t_closeness",
        "share",
        "largest distance of a class's sensitive values from those of all records, known values only",
        threat=True,
        column=True,
        takes=("distance",),
        needs=("column",),
        only="max",
    ),
    CheckKind(
        "marginal_error",
        "share",
        "distance of the released from the source's distribution of the columns together (total variation), missing being a value",
        takes=("columns",),
        needs=("columns",),
        only="max",
    ),
    CheckKind(
        "distribution_shift",
        "share",
        "distance of the released from the source's distribution of a column's known values",
        column=True,
        takes=("distance",),
        needs=("column",),
        only="max",
    ),
)


class Check(Parameters):
    """A measured figure of a release and its limits, or an expectation by the name that it has in Great Expectations."""

    id: Identifier
    """Name of the check."""
    release: Annotated[Text, Ref("releases", of_columns=True)]
    """The release that it is about."""
    expect: Text
    """The measure: one of the built-in checks, or the name of an expectation of Great Expectations."""
    on: Annotated[Literal["release", "source"], CHOICE] = "release"
    """The table that an expectation of Great Expectations reads: the released file, or the source, which only the internal report tells."""
    max: Annotated[Exact | None, Stricter.LOWER] = None
    """The largest allowed figure."""
    min: Annotated[Exact | None, Stricter.HIGHER] = None
    """The smallest allowed figure."""
    severity: Annotated[Literal["error", "warn"], CHOICE, Stricter.becomes("warn", "error")] = "error"
    """The consequence of a failure: the release fails, or it is only shown."""
    threat: Annotated[Text | None, Ref("threats")] = None
    """The threat whose columns are measured; the worst of all protected ones where none is named."""
    column: DeclaredColumn | None = None
    """The column that is measured."""
    columns: Annotated[Annotated[tuple[DeclaredColumn, ...], Field(min_length=1)] | None, Judged(judges.together)] = None
    """The columns that are measured together."""
    kind: Annotated[Annotated[Literal["distinct", "entropy", "recursive"], CHOICE] | None, Judged(judges.diversity)] = None
    """The form of l that is counted; distinct values where it is not written."""
    c: Annotated[Positive | None, Judged(limit(higher="weaker"))] = None
    """The constant of recursive l-diversity."""
    distance: Annotated[
        Annotated[Literal["equal", "ordered"], CHOICE] | None, Judged(ranked("equal", "ordered", absent=("equal", "ordered")))
    ] = None
    """The distance of distributions: all values equally far apart (equal), or in their order (ordered), which of texts is that of `domain`."""
    description: Annotated[Text | None, FREE] = None
    """Why it is checked."""
