"""Field ``synthetic`` of ``audit.json``: how synthetic rows were made, what was measured for them, and at which cost.

All but ``source`` is public or noisy: recipients may see it.
"""

from typing import Literal

from pydantic import Field

from privrelease.audit.figure_model import Figure
from privrelease.documents import Document

__all__ = [
    "MarginalError",
    "MeasuredFacts",
    "ModelTable",
    "SourceFacts",
    "SpentFacts",
    "SyntheticColumnFacts",
    "SyntheticFacts",
]


class MeasuredFacts(Document):
    """One draw from the envelope. ``loss``: what it cost, in rho or in epsilon; ``error``: the expected absolute error of a cell, in rows."""

    query: str
    figure: Literal["cells", "choice", "keys"]
    mechanism: Literal["discrete_gaussian", "discrete_laplace", "exponential"]
    numbers: int | None
    scale: float
    loss: str
    error: float | None = None
    threshold: int | None = None


class SpentFacts(Document):
    """The cost of draws of one kind together, as a share of what was reserved."""

    figure: Literal["cells", "choice", "keys"]
    draws: int
    loss: str
    share: float


class SyntheticColumnFacts(Document):
    """A released column: modelled by ``cells`` (missing included), or made up after a pattern. ``domain``: its cells in words."""

    name: str
    cells: int | None = None
    domain: str | None = None
    made: str | None = None
    unique: bool = False
    discovered: bool = False
    bounded: bool = Field(default=False, exclude_if=lambda bounded: not bounded)
    """Its bounds were bought from the data."""


class ModelTable(Document):
    """A small table that the model says of itself."""

    name: str
    header: tuple[str, ...]
    rows: tuple[tuple[str | int, ...], ...]


class MarginalError(Document):
    """The mean total variation distance of marginals of ``ways`` columns from those of the fitted rows, from 0 (alike) to 1 (disjoint)."""

    ways: int
    synthetic: Figure
    held_out: Figure | None = None


class SourceFacts(Document):
    """Synthetic rows next to the source, internal. A source row is present if a synthetic row lies in the same cells.

    ``fitted``, ``held_out``: rows that the model was, and was not, fitted on; ``..._present``: the share of them that is present;
    ``..._alone_present``: of those whose cells no other row of the source has. Held-out rows are the control.
    """

    fitted: Figure
    held_out: Figure | None
    fitted_present: Figure
    held_out_present: Figure | None
    fitted_alone_present: Figure
    held_out_alone_present: Figure | None
    marginal_errors: tuple[MarginalError, ...]


class SyntheticFacts(Document):
    """A synthetic release. ``measure``: whether losses are in rho or in epsilon; ``reserved``: what the envelope holds.

    ``measured``: the first draws, ``draws`` of them in all; ``figures``, ``tables``: what the model says of itself.
    """

    method: str
    version: int | None
    settings: dict[str, str]
    rows: Figure
    noisy_rows: bool
    cells: int
    holdout: str | None
    impossible: tuple[str, ...]
    columns: tuple[SyntheticColumnFacts, ...]
    measure: Literal["rho", "epsilon"]
    reserved: str
    draws: int
    spent: tuple[SpentFacts, ...]
    measured: tuple[MeasuredFacts, ...]
    figures: tuple[tuple[str, str | int], ...] = ()
    tables: tuple[ModelTable, ...] = ()
    source: SourceFacts | None = None
