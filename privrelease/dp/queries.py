"""Queries as frozen values: what is asked, by which keys, and of which rows. What each of them draws: :mod:`privrelease.dp.calibration`."""

from __future__ import annotations

from fractions import Fraction
from math import prod
from typing import Final, Literal

from privrelease.dp.domains import CELLS, Bins, CategoryDomain, NumericDomain
from privrelease.dp.rules import refuse
from privrelease.dp.sensitivity import Contribution, Neighbours
from privrelease.value_classes import dataclass

__all__ = [
    "Count",
    "CountPersons",
    "Histogram",
    "Mean",
    "Mode",
    "Noise",
    "PrivateKeys",
    "PublicKeys",
    "Quantile",
    "Query",
    "Setting",
    "Sum",
    "Variance",
    "needs_delta",
]

Noise = Literal["laplace", "gaussian"]

#: Most grid points that a quantile is chosen from.
CANDIDATES: Final = 1 << 24


@dataclass(frozen=True, slots=True)
class Setting:
    """The data that one person can hold, and which data sets are neighbours."""

    contribution: Contribution
    neighbours: Neighbours = Neighbours.ADD_REMOVE


@dataclass(frozen=True, slots=True)
class PublicKeys:
    """Group keys declared by the policy: every combination is published, with noise of its own, rows or not."""

    columns: tuple[str, ...]
    domains: tuple[CategoryDomain | Bins, ...]

    def __post_init__(self) -> None:
        if not self.columns or len(self.columns) != len(self.domains):
            msg = "every group column has a domain"
            raise ValueError(msg)
        if self.size > CELLS:
            refuse("DP123", "too many group cells", hint="group by fewer columns or coarser keys")

    @property
    def size(self) -> int:
        """The number of cells."""
        return prod(domain.size for domain in self.domains)


@dataclass(frozen=True, slots=True)
class PrivateKeys:
    """Group keys found in the data: a key is published where its noisy count of persons reaches a threshold."""

    columns: tuple[str, ...]


Keys = PublicKeys | PrivateKeys


@dataclass(frozen=True, slots=True)
class _Common:
    """``where``: a filter, as the policy writes it (only whether there is one matters here)."""

    id: str
    by: Keys | None = None
    where: str | None = None


@dataclass(frozen=True, slots=True)
class Count(_Common):
    """Number of rows; with ``column`` of those where it is not missing. By several keys: a contingency table."""

    column: str | None = None


@dataclass(frozen=True, slots=True)
class CountPersons(_Common):
    """Number of distinct persons; with ``column`` of those with a row where it is not missing."""

    column: str | None = None


@dataclass(frozen=True, slots=True)
class _OnNumbers:
    """``complete``: no value can be missing, since ``fill``, a declared constant, represents what is; otherwise missing ones are left out."""

    id: str
    column: str
    domain: NumericDomain
    by: Keys | None = None
    where: str | None = None
    complete: bool = False
    fill: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Sum(_OnNumbers):
    """Sum of the clamped values, on the domain's grid."""


@dataclass(frozen=True, slots=True)
class Mean(_OnNumbers):
    """Mean of the clamped values: centre + noisy sum of (x - centre) / max(1, noisy count), clamped to the domain."""


@dataclass(frozen=True, slots=True)
class Variance(_OnNumbers):
    """Variance of the clamped values (mean square distance to the mean), or its square root."""

    root: bool = False


@dataclass(frozen=True, slots=True)
class Quantile(_OnNumbers):
    """Quantile ``at`` (1/2: the median), chosen among the domain's grid points by permute-and-flip.

    ``interval``: both ends of a 95 % interval are chosen too, each for as much as the quantile itself.
    """

    at: Fraction = Fraction(1, 2)
    interval: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.at < 1:
            refuse("DP119", f"the quantile of query {self.id} must be between 0 and 1", hint="write e.g. 0.5", subject=self.id)
        low, high = self.domain.steps
        if high - low >= CANDIDATES:
            hint = "choose a coarser grid: every grid point is a candidate"
            refuse("DP123", f"too many candidates for query {self.id}", hint=hint, subject=self.id)


@dataclass(frozen=True, slots=True)
class Histogram:
    """Number of rows by declared bins of one column; with ``by``, by group and bin."""

    id: str
    column: str
    bins: Bins
    by: PublicKeys | None = None
    where: str | None = None


@dataclass(frozen=True, slots=True)
class Mode:
    """The most frequent category of a declared list, chosen by permute-and-flip."""

    id: str
    column: str
    domain: CategoryDomain
    by: PublicKeys | None = None
    where: str | None = None


Query = Count | CountPersons | Sum | Mean | Variance | Quantile | Histogram | Mode


def needs_delta(query: Query, noise: Noise) -> bool:
    """Return True if the query needs a delta above 0: Gaussian noise, or private keys."""
    additive = not isinstance(query, Quantile | Mode)
    return isinstance(query.by, PrivateKeys) or (noise == "gaussian" and additive)
