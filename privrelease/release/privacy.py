"""The claim of a release with differential privacy: budget, neighbours, every draw. Known before any row was read, so all may see it."""

from typing import Annotated, Any, Literal

from pydantic import Field

from privrelease.documents import Document

__all__ = ["ApartClaim", "LedgerAnchor", "PrivacyClaim", "QueryClaim", "SyntheticClaim", "SyntheticColumn", "SyntheticTable"]

Scalar = str | int | bool | None


class LedgerAnchor(Document):
    """The entry of the ledger that a release was charged to, by which an older copy of the ledger is recognized."""

    ledger: str
    sequence: Annotated[int, Field(ge=0)]
    hash: str


class QueryClaim(Document):
    """One query: what it is, what it cost, every draw it took (exact numbers as fractions in text)."""

    id: str
    figure: str
    column: str | None = None
    by: tuple[str, ...] = ()
    keys: Literal["none", "declared", "private"] = "none"
    epsilon: str
    delta: str
    post: tuple[str, ...] = ()
    """The steps applied to the noisy figure afterwards; they cost nothing."""
    served_again: bool = False
    """The stored answer of an earlier run, free of charge."""
    draws: tuple[dict[str, Scalar], ...]


class ApartClaim(Document):
    """Parts, each some queries under one filter, of which no row is in two: one person changes ``at_most`` so many of them."""

    parts: tuple[tuple[str, ...], ...]
    at_most: Annotated[int, Field(ge=1)]


class PrivacyClaim(Document):
    """Promise of differential privacy. ``private`` False: noise from a test's seed; the release can never be published."""

    private: bool
    definition: Literal["differential privacy"] = "differential privacy"
    neighbours: Literal["add_remove", "replace"]
    unit: str
    """The protected unit: a person by the unit's column and its bounds, or each row."""
    max_rows: int
    max_groups: int | None = None
    population: str
    snapshot: str | None = None
    epsilon: str
    """Total of all draws, hidden ones included, by the accountant."""
    delta: str
    accountant: str
    """The composition of draws: pure or approximate (exact sums), zcdp, pld."""
    apart: tuple[ApartClaim, ...] = ()
    """Queries that count in parallel."""
    confidence: str = "0.95"
    """Probability with which an interval covers the figure without noise, among the figures that are printed."""
    min_count: int | None = None
    queries: tuple[QueryClaim, ...]
    anchor: LedgerAnchor | None = None


class SyntheticColumn(Document):
    """A released column: modelled, with so many ``cells`` (missing included), or ``made`` after a pattern. ``values``: those that were bought
    from the data, where they were; ``bounds``: the lowest and the highest step of the grid, in days or seconds of dates, where these were bought.
    """

    name: str
    cells: int | None = None
    made: str | None = None
    unique: bool = False
    values: tuple[str, ...] | None = None
    bounds: tuple[int, int] | None = Field(default=None, exclude_if=lambda bounds: bounds is None)


class SyntheticTable(Document):
    """A small table that a model says of itself: noisy or public figures."""

    name: str
    header: tuple[str, ...]
    rows: tuple[tuple[str | int, ...], ...]


class SyntheticClaim(Document):
    """The making of synthetic rows: nothing in it says more about the source than the noisy answers do."""

    method: str
    version: int
    settings: dict[str, Any]
    rows: Annotated[int, Field(ge=0)]
    noisy_rows: bool
    """The number of rows is the noisy number of rows; else the policy's."""
    holdout: str | None = None
    columns: tuple[SyntheticColumn, ...]
    impossible: tuple[str, ...] = ()
    figures: tuple[tuple[str, str | int], ...] = ()
    tables: tuple[SyntheticTable, ...] = ()
