"""Field ``utility_measures`` of ``audit.json``: what protection cost in use. Figures of the source, so internal; recipients get some of them rounded."""

from typing import Literal

from pydantic import Field

from privrelease.audit.document.frontier import FrontierFacts
from privrelease.audit.figure_model import Figure
from privrelease.documents import Document

__all__ = [
    "ColumnUtility",
    "LabelShift",
    "Measured",
    "NumberShift",
    "NumberShifts",
    "QuantileShift",
    "QueryErrors",
    "Unit",
    "UtilityMeasures",
    "for_recipients",
]

Unit = Literal["count", "share", "risk", "number"]


class Measured(Document):
    """One figure twice: ``exact`` (internal), and ``rounded`` for recipients; None where recipients get none."""

    exact: Figure
    rounded: Figure | None = None


class ColumnUtility(Document):
    """A quasi-identifier. ``lost``: share of its known cells. ``kept``: non-uniform entropy kept, by the frequencies of the whole file."""

    column: str
    lost: Measured
    kept: Measured


class QuantileShift(Document):
    """The shift of the quantile ``at`` (a fraction as text), in standard deviations of the source."""

    at: str
    shift: Measured


class NumberShift(Document):
    """A numeric column of which cells were lost or changed. ``mean``: shift of the mean in standard deviations of the source.

    ``il1s``: Σ |x - x'| / (√2 sd) over cells known on both sides.
    """

    column: str
    mean: Measured
    quantiles: tuple[QuantileShift, ...]
    il1s: Measured


class LabelShift(Document):
    """A numeric column that is written coarser. ``by``: the number that represents the values, the released one or the middle of the interval; an end
    that is open represents itself. ``mean``: shift of the mean in standard deviations of the source. ``il1s``: see :class:`NumberShift`; None where
    texts are released.
    """

    column: str
    by: Literal["released", "middle"]
    mean: Measured
    il1s: Measured | None = None


class NumberShifts(Document):
    """Released numeric columns. ``columns``: those of which a cell was lost or changed. ``il1s``: its mean over their cells."""

    columns: tuple[NumberShift, ...] = ()
    untouched: tuple[str, ...] = ()
    """Every cell of them left as it was: their means and quantiles did not move."""
    not_measured: tuple[str, ...] = ()
    """Changed columns beyond the first fifty."""
    il1s: Measured | None = None
    labels: tuple[LabelShift, ...] = Field(default=(), exclude_if=lambda labels: not labels)
    """Numeric columns that are written coarser."""


class QueryErrors(Document):
    """Median relative error of ``asked`` random count queries of a kind."""

    kind: Literal["point", "range"]
    asked: int
    median: Measured


class UtilityMeasures(Document):
    """Measures of utility.

    ``basis``: ``rows`` where every released row was led back to its source row; ``counts`` where only counts by value could be compared,
    as if cells were only lost: they cannot distinguish a lost cell from one that another row's change hides. Entropy and
    granularity are what is kept: 1 is everything. ``seed``: the public text that the queries were drawn from.
    """

    basis: Literal["rows", "counts"]
    minimum: int
    """Fewer changed cells than this are told to no recipient."""
    cells_lost: Measured
    rows_lost: Measured
    entropy_whole_file: Measured
    entropy_suppressed: Measured
    granularity: Measured
    columns: tuple[ColumnUtility, ...]
    numbers: NumberShifts
    queries: tuple[QueryErrors, ...]
    seed: str
    frontier: FrontierFacts | None = Field(default=None, exclude_if=lambda facts: facts is None)
    """The cost of protection at other thresholds, where the policy asks for that."""


def for_recipients(facts: UtilityMeasures) -> UtilityMeasures:
    """Leave out what discloses the source: which columns did not change at all, and the frontier."""
    numbers = facts.numbers.model_copy(update={"untouched": (), "not_measured": ()})
    return facts.model_copy(update={"numbers": numbers, "frontier": None})
