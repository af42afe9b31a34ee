"""Field ``synthetic`` of ``audit.json``: how synthetic rows were made, what was measured for them, and at which cost.

Everything here is public or noisy: recipients may see all of it.
"""

from __future__ import annotations

from typing import Literal

from privrelease.audit.figure_model import Figure  # noqa: TC001 -- pydantic resolves the annotation when the class is made
from privrelease.documents import Document

__all__ = ["MeasuredFacts", "ModelTable", "SpentFacts", "SyntheticColumnFacts", "SyntheticFacts"]


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


class ModelTable(Document):
    """A small table that the model says of itself."""

    name: str
    header: tuple[str, ...]
    rows: tuple[tuple[str | int, ...], ...]


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
