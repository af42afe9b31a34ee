"""MST and AIM as methods of synthesis: what they may ask, what is known before, and the model that draws records."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import pi, sqrt
from typing import TYPE_CHECKING, Any, Final

from privrelease.dp.rules import refuse
from privrelease.dp.sensitivity import of_group_counts
from privrelease.synthesis.marginals.domain import Domain
from privrelease.synthesis.marginals.junction_tree import CELL_BYTES
from privrelease.synthesis.method import FactTable, MethodForecast, ModelFacts, Step, SynthesisMethod
from privrelease.units import Rho
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from privrelease.dp.envelope import Envelope, Marginal
    from privrelease.dp.randomness import Randomness
    from privrelease.synthesis.domain import CodedDomain
    from privrelease.synthesis.marginals.aim import Workload
    from privrelease.synthesis.marginals.asking import Door, Measurement
    from privrelease.synthesis.marginals.domain import Clique
    from privrelease.synthesis.marginals.estimate import Estimate
    from privrelease.synthesis.marginals.model import Zero
    from privrelease.synthesis.marginals.mst import Coarsening
    from privrelease.synthesis.method import Held, Progress, Settings

__all__ = ["AIM", "MST", "MarginalModel"]

#: Most cells of a marginal that is held whole.
_MOST_CELLS: Final = 10_000_000

#: The noise of a measurement has at most this standard deviation, in rows of one person.
_MOST_NOISE: Final = 10**6
#: Rows of a table of facts.
_LISTED: Final = 200


@dataclass(frozen=True, eq=False, slots=True)
class MarginalModel:
    """A graphical model, what was measured for it, and how its coarse cells are refined."""

    fit: Estimate
    measured: tuple[Measurement, ...]
    rough: Coarsening | None = None

    @property
    def total(self) -> int:
        """The noisy number of rows."""
        return max(0, round(self.fit.model.total))

    def draw(self, rows: int, randomness: Randomness) -> NDArray[np.int32]:
        """Return codes of records by the tree, rounded (:mod:`privrelease.synthesis.marginals.draw`)."""
        from privrelease.synthesis.marginals.draw import draw

        codes = draw(self.fit.model.beliefs, rows, randomness)
        return codes if self.rough is None else self.rough.refined(codes, randomness)

    def facts(self) -> ModelFacts:
        """Describe the model: its size, what the fit reached, and the cliques of its tree; the envelope lists what was measured."""
        tree = self.fit.model.tree
        figures: list[tuple[str, str | int]] = [
            ("noisy_total", self.total),
            ("measured_marginals", len(self.measured)),
            ("tree_cliques", len(tree.cliques)),
            ("potentials", tree.cells),
            ("model_bytes", tree.cells * CELL_BYTES),
            ("loss", f"{self.fit.loss:.4g}"),
            ("gap", f"{max(0.0, self.fit.gap):.2g}"),
        ]
        if self.rough is not None and self.rough.labels:
            merged = sum(self.rough.domain.sizes) - sum(self.rough.coarse.sizes) + len(self.rough.labels)
            figures.append(("rare_cells", merged))
        rows = tuple((" x ".join(clique), tree.domain.cells(clique)) for clique in tree.cliques[:_LISTED])
        return ModelFacts(tuple(figures), (FactTable("cliques", ("clique", "cells"), rows),))


# ---------------------------------------------------------------------------------------------------------------------------- AIM


def workload_of(names: Sequence[str], settings: Settings) -> Workload:
    """Return the marginals of a workload with their weights, over columns in the order of their names."""
    found: Workload = {}
    listed: Any = settings["workload"]
    for one, weight in listed:
        cliques = combinations(names, one) if isinstance(one, int) else [tuple(one)]
        for clique in cliques:
            found[clique] = found.get(clique, 0) + weight
    return found


def _parts(names: tuple[str, ...], settings: Settings) -> set[Clique]:
    singles: set[Clique] = {(name,) for name in names}
    return singles | {
        part
        for clique in workload_of(names, settings)
        for ways in range(1, len(clique) + 1)
        for part in combinations(clique, ways)
    }


def _aim_asks(names: tuple[str, ...], settings: Settings) -> list[Clique]:
    return sorted(_parts(tuple(sorted(names)), settings))


def _aim_forecast(coded: CodedDomain, settings: Settings, held: Held) -> MethodForecast:
    from privrelease.synthesis.marginals.aim import MEASURING

    domain, limit = Domain(coded.names, coded.sizes), _cells(settings)
    rounds = _whole(settings["rounds"])
    _check_columns(domain, limit)
    workload = workload_of(domain.names, settings)
    listed: Any = settings["workload"]
    for one, _ in listed:
        if not isinstance(one, int):
            _check_table(domain, tuple(one), limit)
    _check_pairs(domain, [clique for clique in workload if len(clique) > 1], limit)
    parts = _parts(domain.names, settings)
    wide = sum(domain.cells(clique) > limit for clique in parts)
    measuring = held.loss.value * MEASURING / rounds
    _check_rho(held, measuring, rounds, Fraction(1, rounds))
    error = _error(held, measuring)
    notes = [
        f"{len(parts)} candidates for {len(workload)} marginals of the workload",
        f"at most {rounds} rounds; fewer where a measurement teaches little, since the next ones then get more of the budget",
    ]
    if wide:
        notes.append(
            f"{wide} of the candidates have more than {limit} cells and are never measured: the model may not be so large"
        )
    steps = (
        Step("columns", Rho(measuring), len(domain.names), max(domain.sizes), error),
        Step("choice of a round", Rho(held.loss.value * (1 - MEASURING) / rounds), rounds),
        Step("marginal of a round", Rho(measuring), rounds, None, error),
    )
    return MethodForecast(steps, _both(error, len(domain.names)), tuple(notes), _counted(domain, held))


def _aim_fit(envelope: Envelope, coded: CodedDomain, settings: Settings, progress: Progress) -> MarginalModel:
    from privrelease.synthesis.marginals.aim import aim

    door = _door(envelope, coded)
    fit = aim(
        door,
        workload_of(coded.names, settings),
        rounds=_whole(settings["rounds"]),
        cells=_cells(settings),
        zeros=_zeros(coded),
        progress=lambda share: progress("fit", share),
    )
    return MarginalModel(fit, tuple(door.asked))


# ---------------------------------------------------------------------------------------------------------------------------- MST


def _mst_asks(names: tuple[str, ...], settings: Settings) -> list[Clique]:
    del settings
    ordered = sorted(names)
    return [*((name,) for name in ordered), *combinations(ordered, 2)]


def _mst_forecast(coded: CodedDomain, settings: Settings, held: Held) -> MethodForecast:
    domain, limit = Domain(coded.names, coded.sizes), _cells(settings)
    _check_columns(domain, limit)
    count = len(domain.names)
    if count == 1:
        error = _error(held, held.loss.value)
        return MethodForecast(
            (Step("columns", held.loss, 1, domain.sizes[0], error),), _both(error, 1), (), _counted(domain, held)
        )
    _check_pairs(domain, list(combinations(domain.names, 2)), limit)
    third = held.loss.value / 3
    _check_rho(held, third / count, count, Fraction(1, 3 * count))
    error, pair = _error(held, third / count), _error(held, third / (count - 1))
    steps = (
        Step("columns", Rho(third / count), count, max(domain.sizes), error),
        Step("choice of a pair", Rho(third / (count - 1)), count - 1),
        Step("pairs", Rho(third / (count - 1)), count - 1, None, pair),
    )
    return MethodForecast(
        steps,
        ((1, error), (2, pair)),
        (f"{count * (count - 1) // 2} pairs, of which {count - 1} are chosen",),
        _counted(domain, held),
    )


def _mst_fit(envelope: Envelope, coded: CodedDomain, settings: Settings, progress: Progress) -> MarginalModel:
    from privrelease.synthesis.marginals.mst import mst

    door = _door(envelope, coded)
    fit, rough = mst(door, cells=_cells(settings), zeros=_zeros(coded), progress=lambda share: progress("fit", share))
    return MarginalModel(fit, tuple(door.asked), rough)


# --------------------------------------------------------------------------------------------------------------------- both


def _door(envelope: Envelope, coded: CodedDomain) -> Door:
    from privrelease.synthesis.marginals.asking import Door

    def query(clique: Clique) -> Marginal:
        return coded.marginal([coded.place(name) for name in clique])

    return Door(envelope, Domain(coded.names, coded.sizes), query)


def _zeros(coded: CodedDomain) -> tuple[Zero, ...]:
    from privrelease.synthesis.marginals.model import Zero

    return tuple(Zero(tuple(coded.names[place] for place in zero.columns), zero.impossible) for zero in coded.zeros)


def _whole(value: object) -> int:
    assert isinstance(value, int)
    return value


def _cells(settings: Settings) -> int:
    return _whole(settings["model_size"]) // CELL_BYTES


def _error(held: Held, rho: Fraction) -> float:
    """Return the expected absolute noise on a cell, in rows."""
    return sqrt(2 / pi) * _deviation(held, rho)


def _deviation(held: Held, rho: Fraction) -> float:
    return sqrt(of_group_counts(held.setting.contribution, held.setting.neighbours).l2_squared / (2 * float(rho)))


def _both(error: float, columns: int) -> tuple[tuple[int, float], ...]:
    return ((1, error), (2, error))[: min(2, columns)]


def _counted(domain: Domain, held: Held) -> tuple[Rho, int]:
    """The whole budget on the column of the fewest cells: no weighted mean of sums over marginals has less noise."""
    return Rho(held.loss.value), min(domain.sizes)


def _check_rho(held: Held, rho: Fraction, rounds: int, share: Fraction) -> None:
    needed = Fraction(of_group_counts(held.setting.contribution, held.setting.neighbours).l2_squared, 2 * _MOST_NOISE**2)
    if rho < needed:
        message = f"rho {float(held.loss.value):.3g} is too small for {rounds} rounds: {float(needed / share):.3g} is needed"
        refuse("DP136", message, hint="raise epsilon or delta, or ask for fewer rounds or columns")


def _check_columns(domain: Domain, limit: int) -> None:
    largest = max(zip(domain.sizes, domain.names, strict=True))
    if largest[0] > limit:
        message = f"`model_size` holds {limit} cells, and column {largest[1]} alone has {largest[0]}"
        refuse("DP137", message, hint=f"write at least {-(-largest[0] * CELL_BYTES >> 10)}KiB, or coarser bins")


def _check_table(domain: Domain, clique: Clique, limit: int) -> None:
    cells = domain.cells(clique)
    most = min(limit, _MOST_CELLS)
    if cells > most:
        message = f"the marginal of {' and '.join(clique)} has {cells} cells, and at most {most} are held"
        hint = "use coarser bins or fewer columns" + ("" if cells > _MOST_CELLS else ", or a larger `model_size`")
        refuse("DP138", message, hint=hint)


def _check_pairs(domain: Domain, cliques: Sequence[Clique], limit: int) -> None:
    """Refuse a column of which no marginal with another could be measured."""
    for name in domain.names:
        having = [clique for clique in cliques if name in clique]
        least = min(
            (pair for clique in having for pair in combinations(clique, 2) if name in pair), key=domain.cells, default=None
        )
        if least is not None:
            _check_table(domain, least, limit)


#: A spanning tree of pairs.
MST = SynthesisMethod("mst", 1, _mst_asks, _mst_forecast, _mst_fit)
#: Marginals by rounds.
AIM = SynthesisMethod("aim", 2, _aim_asks, _aim_forecast, _aim_fit)
