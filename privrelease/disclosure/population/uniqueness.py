"""Population uniqueness estimated from the sample alone, by a named estimator, or by the rule that chooses one.

Dankar's rule: at a sampling fraction of at most 0.1 Pitman's estimate (Zayatz's where it has none), above it the smaller of Zayatz's and the
SNB's. Source: Dankar, El Emam, Neisa, Roffey, Estimating the re-identification risk of clinical data sets (2012); as ARX applies it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from privrelease.disclosure.population.pitman import pitman
from privrelease.disclosure.population.snb import snb
from privrelease.disclosure.population.zayatz import zayatz
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

    from privrelease.disclosure.classes.class_sizes import ClassSizes

__all__ = ["ESTIMATORS", "EstimatorName", "PopulationUniqueness", "estimate_population_uniqueness"]

EstimatorName = Literal["pitman", "zayatz", "snb", "dankar"]

ESTIMATORS: tuple[tuple[Literal["pitman", "zayatz", "snb"], Callable[[ClassSizes, int], float | None]], ...] = (
    ("pitman", pitman),
    ("zayatz", zayatz),
    ("snb", snb),
)

_SMALL_FRACTION = 0.1


@dataclass(frozen=True, slots=True)
class PopulationUniqueness:
    """``uniques``: expected population uniques, None where no estimator has a solution. ``estimator``: the one that gave the number."""

    estimator: Literal["pitman", "zayatz", "snb"]
    population: int
    uniques: float | None

    @property
    def share(self) -> float | None:
        """Share of the population that is unique."""
        return None if self.uniques is None else self.uniques / self.population


def estimate_population_uniqueness(sizes: ClassSizes, population: int, estimator: EstimatorName) -> PopulationUniqueness:
    """Estimate population uniques from class sizes and the size of the population.

    Errors: ValueError where the population is smaller than the sample.

    >>> from privrelease.disclosure.classes.class_sizes import ClassSizes
    >>> sizes = ClassSizes.from_arrays([1, 2, 3, 4, 10], [30, 10, 5, 3, 2])
    >>> estimate = estimate_population_uniqueness(sizes, 100_000, "dankar")
    >>> (estimate.estimator, round(estimate.share, 4))
    ('pitman', 0.0015)
    """
    if population < max(sizes.n_records, 1):
        msg = "the population is smaller than the sample"
        raise ValueError(msg)
    if estimator != "dankar":
        return PopulationUniqueness(estimator, population, dict(ESTIMATORS)[estimator](sizes, population))
    by_zayatz = PopulationUniqueness("zayatz", population, zayatz(sizes, population))
    if sizes.n_records <= _SMALL_FRACTION * population:
        by_pitman = PopulationUniqueness("pitman", population, pitman(sizes, population))
        return by_zayatz if by_pitman.uniques is None else by_pitman
    by_snb = PopulationUniqueness("snb", population, snb(sizes, population))
    if by_snb.uniques is None or (by_zayatz.uniques is not None and by_zayatz.uniques < by_snb.uniques):
        return by_zayatz
    return by_snb
