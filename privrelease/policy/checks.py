"""Checks: what the released files must satisfy besides the threats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from privrelease.policy.values import CHOICE, ColumnName, Exact, Frozen, Identifier, Text

__all__ = ["CHECKS", "Check", "CheckKind"]


@dataclass(frozen=True, slots=True)
class CheckKind:
    """A check that is built in: what it measures on the released file, and which keys it takes.

    ``measures``: ``share`` and ``risk`` are in [0, 1], ``count`` is a whole number of at least 0.
    """

    name: str
    measures: Literal["share", "risk", "count"]
    meaning: str
    threat: bool = False
    column: bool = False


#: Every built-in check. ``threat``: measured over one threat's columns (all protected threats, the worst, where none is named).
CHECKS: tuple[CheckKind, ...] = (
    CheckKind("suppressed_cells", "share", "share of the protected threats' cells that were suppressed", column=True),
    CheckKind("dropped_rows", "share", "share of the source's rows that did not leave"),
    CheckKind("highest_risk", "risk", "highest prosecutor risk of a record", threat=True),
    CheckKind("average_risk", "risk", "average prosecutor risk", threat=True),
    CheckKind("k", "count", "size of the smallest class", threat=True),
    CheckKind("unique_records", "share", "share of the records that are alone in their class", threat=True),
    CheckKind("classes", "count", "number of classes", threat=True),
    CheckKind("rows", "count", "number of rows that leave"),
    CheckKind("missing_cells", "share", "share of a column's cells that are missing", column=True),
)


class Check(Frozen):
    """A measured figure of a release and its limits."""

    id: Identifier
    """Name of the check."""
    release: Text
    """The release that it is about."""
    expect: Text
    """What is measured: one of the built-in checks."""
    max: Exact | None = None
    """The largest allowed figure."""
    min: Exact | None = None
    """The smallest allowed figure."""
    severity: Annotated[Literal["error", "warn"], CHOICE] = "error"
    """What a failure means: the release fails, or it is only shown."""
    threat: Text | None = None
    """The threat whose columns are measured; the worst of all protected ones where none is named."""
    column: ColumnName | None = None
    """The column that is measured."""
    description: Text | None = None
    """Why it is checked."""
