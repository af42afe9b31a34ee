"""The risk-utility frontier as a run states it: what it would have lost at other thresholds. A statement; the audit recomputes its own point."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from privrelease.documents import Document

__all__ = ["FrontierPoint", "FrontierStatement"]

_Count = Annotated[int, Field(ge=0)]
_Risk = Annotated[str, Field(pattern=r"^\d+(/[1-9]\d*)?$")]


class FrontierPoint(Document):
    """The release at one threshold of the swept threat. Risks are exact fractions as text."""

    k: Annotated[int, Field(ge=1)]
    threshold: _Risk
    chosen: bool
    """The policy's own threshold: the release that was written."""
    feasible: bool
    highest: _Risk | None
    """None: no record is left."""
    average: _Risk | None
    at_risk: _Count
    counted: _Count
    cells_lost: _Count
    """Cells of dropped rows included."""
    rows_dropped: _Count


class FrontierStatement(Document):
    """Points by ascending k."""

    threat: str
    """Whose highest risk was swept; its other limits stayed."""
    columns: tuple[str, ...]
    others: tuple[str, ...]
    """The other threats, which held at every point as the policy has them."""
    counts: Literal["records", "persons", "person_sets"]
    above: _Risk
    """The level above which a record, or person, is at risk."""
    cells_total: _Count
    points: Annotated[tuple[FrontierPoint, ...], Field(max_length=30)]
