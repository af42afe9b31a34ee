"""Common parts of MST and AIM: their only door to the data, and public scores on a grid.

A method is given an envelope, a public domain and the public names of marginals. It measures and chooses through :class:`Door` alone, which
turns each answer into a noisy marginal; it never holds a row, an exact count or an exact score.
"""

from __future__ import annotations

from dataclasses import field
from math import pi, sqrt
from typing import TYPE_CHECKING, Final

import numpy as np

from privrelease.dp.envelope import Score
from privrelease.dp.sensitivity import of_group_counts
from privrelease.synthesis.marginals.estimate import NoisyMarginal
from privrelease.units import Rho
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from privrelease.dp.envelope import Envelope, Marginal
    from privrelease.dp.queries import Setting
    from privrelease.synthesis.marginals.domain import Clique, Domain, Table

__all__ = ["GRID", "Door", "Measurement", "deviation", "noise_steps", "steps_of"]

#: Steps of a score in one row: a model's marginal is rounded to a multiple of 1/16 of a row.
GRID: Final = 16


@dataclass(frozen=True, slots=True)
class Measurement:
    """A marginal that was measured: its columns, what it cost, how many cells it has."""

    clique: Clique
    rho: Fraction
    cells: int


@dataclass(eq=False, slots=True)
class Door:
    """An envelope as a method of marginals asks it. ``query``: the public name and shape of a clique's counts."""

    envelope: Envelope
    domain: Domain
    query: Callable[[Clique], Marginal]
    noisy: list[NoisyMarginal] = field(default_factory=list)
    asked: list[Measurement] = field(default_factory=list)

    @property
    def left(self) -> Fraction:
        """The rho that may still be spent."""
        return self.envelope.left.rho.value

    def measure(self, clique: Clique, rho: Fraction) -> NoisyMarginal:
        """Measure a marginal for at most ``rho`` and keep the answer."""
        query = self.query(clique)
        counts = self.envelope.measure(query, Rho(rho)).reshape(self.domain.shape(clique)).astype(np.float64)
        found = NoisyMarginal(clique, counts, deviation(rho, self.envelope.setting) ** 2)
        self.noisy.append(found)
        self.asked.append(Measurement(clique, rho, query.size))
        return found

    def choose(
        self,
        cliques: Sequence[Clique],
        models: Sequence[Table],
        rho: Fraction,
        penalties: Sequence[int],
        weights: Sequence[int],
    ) -> Clique:
        """Choose a clique by weight · (distance of its counts to the model in L1 - penalty), in steps of 1/:data:`GRID` of a row.

        ``models`` are expected numbers of rows, rounded here; penalties are in steps.
        """
        scores = [
            Score(steps_of(model), penalty, weight) for model, penalty, weight in zip(models, penalties, weights, strict=True)
        ]
        queries = [self.query(clique) for clique in cliques]
        return cliques[self.envelope.select(queries, scores, Rho(rho), grid=GRID)]


def deviation(rho: Fraction, setting: Setting) -> float:
    """Return the standard deviation of the noise on a cell of a marginal that costs ``rho``, in rows."""
    return sqrt(of_group_counts(setting.contribution, setting.neighbours).l2_squared / (2 * float(rho)))


def noise_steps(rho: Fraction, cells: int, setting: Setting) -> int:
    """Return the expected L1 norm of the noise on ``cells`` cells, sqrt(2/pi) sigma a cell, in steps."""
    return round(GRID * sqrt(2 / pi) * deviation(rho, setting) * cells)


def steps_of(table: Table) -> NDArray[np.int64]:
    """Return a model's marginal in whole steps of 1/:data:`GRID` of a row."""
    return np.rint(table.reshape(-1) * GRID).astype(np.int64)
