"""DPCocGen: records from a data grid of a noisy histogram (Benkhelif, Fessant, Clérot, Raschia 2017).

Phase 1 measures the joint of all columns with a share of the budget (``split``) and co-clusters the noisy counts by MODL
(:mod:`privrelease.synthesis.modl`). Phase 2 counts the original rows by the cells of that grid with the rest: the grid follows from noisy
counts alone, so both phases compose sequentially.

As published (``refine: false``) counts below 0 become 0 in both phases, and rows are drawn evenly inside a cell of the grid. At a small
epsilon the phantom rows of phase 1 hide all structure, and its counts are used for nothing but the grid. Refined, which is the default:

- phase 1 is projected to the simplex of its noisy total before the co-clustering;
- a cell of the grid is the mean of its two measurements weighted by inverse variance;
- these means are projected level by level down the hierarchy of the grid: the two parts of each cell that a merge put together share its count.
  One projection of all cells would take the same from every cell above 0 and so move rows from dense regions to sparse ones;
- inside a cell of the grid, rows follow its cells of phase 1, projected to the count of the cell.

All of it is post-processing (docs/decisions, 20). Columns in order are divided into intervals, their missing values counting as the highest.

In both forms values that no row can have by the rules of the domain take no part in the co-clustering: an empty value makes groups dearer. Rows
are drawn by systematic sampling, so that each cell of the grid gets the rows that were counted in it, and each cell inside its even share.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

from privrelease.dp.count_noise import expected_error, share_of, variance
from privrelease.dp.rules import refuse
from privrelease.synthesis.method import FactTable, MethodForecast, ModelFacts, Step, SynthesisMethod
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from privrelease.dp.envelope import Envelope
    from privrelease.dp.randomness import Randomness
    from privrelease.synthesis.domain import CodedDomain
    from privrelease.synthesis.method import Held, Progress, Settings
    from privrelease.synthesis.modl.frequencies import Frequencies
    from privrelease.synthesis.modl.search import CoClustering, Level

__all__ = ["DPCOCGEN", "GridModel", "expanded", "parts_of"]

#: Records that are co-clustered at most; of more the noisy counts are scaled down.
_MOST_RECORDS: Final = 1 << 22
#: Rows of a table of facts.
_MOST_ROWS: Final = 200


@dataclass(frozen=True, eq=False, slots=True)
class GridModel:
    """Weights of the cells of the joint, the grid that they were made by, and its hierarchy. ``held``: which values of each column can occur."""

    domain: CodedDomain
    weights: NDArray[np.float64]
    total: int
    found: CoClustering
    level: Level
    held: tuple[NDArray[np.int64], ...]

    def draw(self, rows: int, randomness: Randomness) -> NDArray[np.int32]:
        """Return rows by the weights: as many of each cell of the grid, and of each cell of the joint, as are expected, rounded up or down."""
        from privrelease.synthesis.sampling import systematic, unravelled

        return unravelled(systematic(self.weights, expanded(self.level), rows, randomness), self.domain.sizes)

    def facts(self) -> ModelFacts:
        """Describe the model: the grid, what each of its parts holds, and what every level of the hierarchy costs."""
        from privrelease.synthesis.modl.frequencies import UNIT

        figures = (
            ("cells", len(self.weights)),
            ("grid_cells", self.level.cells),
            ("finest_grid_cells", self.found.best.cells),
            ("noisy_total", self.total),
        )
        parts = tuple(
            (column.name, part, int((inside[values] == part - 1).sum()), ", ".join(labels))
            for column, several, inside, values in zip(
                self.domain.columns,
                parts_of(self.domain, self.level, self.held),
                self.level.grid.parts,
                self.held,
                strict=True,
            )
            for part, labels in enumerate(several, 1)
        )
        costs = tuple((level.cells, round(level.cost / UNIT)) for level in self.found.levels)
        return ModelFacts(
            figures,
            (
                FactTable("grid_parts", ("column", "part", "many", "values"), parts[:_MOST_ROWS]),
                FactTable("grid_hierarchy", ("cells", "cost"), costs[:_MOST_ROWS]),
            ),
        )


def parts_of(domain: CodedDomain, level: Level, held: Sequence[NDArray[np.int64]]) -> tuple[tuple[tuple[str, ...], ...], ...]:
    """Return the labels in each part of each column, of the values that can occur; of more than two neighbouring intervals the first and the last."""
    found = []
    for column, parts, values in zip(domain.columns, level.grid.parts, held, strict=True):
        inside = [values[parts[values] == part].tolist() for part in range(int(parts.max()) + 1)]
        named = [tuple(column.labels[code] for code in one) for one in inside]
        if column.ordered:
            named = [one if len(one) < 3 else (f"{one[0]} … {one[-1]}",) for one in named]
        found.append(tuple(named))
    return tuple(found)


def expanded(level: Level) -> NDArray[np.int64]:
    """Return the cell of a grid that each cell of the joint is in, the last column varying fastest."""
    import numpy as np

    found = np.zeros(1, dtype=np.int64)
    for parts, many in zip(level.grid.parts, level.grid.sizes, strict=True):
        found = (found[:, None] * many + parts).reshape(-1)
    return found


def _asks(names: tuple[str, ...], settings: Settings) -> tuple[tuple[str, ...], ...]:
    del settings
    return (names,)


def _fit(envelope: Envelope, domain: CodedDomain, settings: Settings, progress: Progress) -> GridModel:
    import numpy as np

    from privrelease.dp.envelope_queries import Grouped
    from privrelease.synthesis.modl.search import cocluster
    from privrelease.synthesis.projections import whole_simplex

    split, refine = Fraction(str(settings["split"])), settings["refine"] is True
    joint = domain.marginal(range(len(domain.columns)))
    rules = domain.possible(range(len(domain.columns)))
    possible = np.ones(domain.cells, np.bool_) if rules is None else rules.reshape(-1)

    progress("measure", 0.0)
    first = np.where(possible, envelope.measure(joint, envelope.part(split)), 0)
    counted = whole_simplex(first, int(first.sum()), possible) if refine else np.maximum(first, 0)

    progress("cocluster", 0.2)
    held = _held(possible.reshape(domain.sizes))
    found = _widened(cocluster(_frequencies(counted.reshape(domain.sizes)[np.ix_(*held)], domain)), held, domain)
    level = found.at_most(int(str(settings["max_cells"])))
    groups = expanded(level)

    progress("count", 0.9)
    members = np.bincount(groups, possible, level.cells)
    second = np.where(members > 0, envelope.measure(Grouped(joint, groups, level.cells), envelope.part(1 - split)), 0)
    if not refine:
        clamped = np.maximum(second, 0)
        even = np.where(possible, clamped[groups] / np.maximum(members, 1)[groups], 0.0)
        return GridModel(domain, _positive(even, possible), int(clamped.sum()), found, level, held)
    # of a sum over the cells of the first release, next to one count of the second
    ratio = variance(envelope.setting, envelope.part(split)) / variance(envelope.setting, envelope.part(1 - split))
    precise = 1 / (np.maximum(members, 1) * ratio)
    mean = (second + precise * np.bincount(groups, first, level.cells)) / (1 + precise)
    total = max(0, round(float(mean.sum())))
    weights = _down(found, level, mean, members > 0, total, first, groups, possible)
    return GridModel(domain, _positive(weights, possible), total, found, level, held)


def _down(
    found: CoClustering,
    level: Level,
    mean: NDArray[np.float64],
    known: NDArray[np.bool_],
    total: int,
    first: NDArray[np.int64],
    groups: NDArray[np.int64],
    possible: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Return the cells of the joint, projected level by level from one cell to the grid and from the grid to the joint."""
    import numpy as np

    from privrelease.synthesis.projections import simplex_by_group

    a_cell = np.zeros(level.cells, dtype=np.int64)
    a_cell[groups] = np.arange(groups.size)  # any cell of the joint in each cell of the grid
    above, values = np.zeros(level.cells, dtype=np.int64), np.array([float(total)])
    for one in reversed(found.levels[:-1]):
        if one.cells > level.cells:
            break
        here = expanded(one)[a_cell]
        parent = np.zeros(one.cells, dtype=np.int64)
        parent[here] = above
        values = simplex_by_group(
            np.bincount(here, mean, one.cells).astype(np.float64), parent, values, np.bincount(here, known, one.cells) > 0
        )
        above = here
    return simplex_by_group(first.astype(np.float64), groups, values, possible)


def _frequencies(counted: NDArray[np.int64], domain: CodedDomain) -> Frequencies:
    from privrelease.synthesis.modl.frequencies import Frequencies

    whole = int(counted.sum())
    scaled = counted if whole <= _MOST_RECORDS else counted * _MOST_RECORDS // whole
    return Frequencies.of(scaled, [column.ordered for column in domain.columns])


def _held(possible: NDArray[np.bool_]) -> tuple[NDArray[np.int64], ...]:
    """Return the values of each column that some possible cell of the joint has."""
    import numpy as np

    axes = range(possible.ndim)
    return tuple(np.flatnonzero(possible.any(axis=tuple(other for other in axes if other != at))) for at in axes)


def _widened(found: CoClustering, held: Sequence[NDArray[np.int64]], domain: CodedDomain) -> CoClustering:
    """Return a co-clustering with the values that took no part in it, each in the part of the value before it."""
    import numpy as np

    from privrelease.synthesis.modl.grids import Grid
    from privrelease.synthesis.modl.search import CoClustering, Level

    if all(values.size == size for values, size in zip(held, domain.sizes, strict=True)):
        return found
    before = [
        np.searchsorted(values[1:], np.arange(size), side="right") for values, size in zip(held, domain.sizes, strict=True)
    ]
    grids = [Grid(tuple(parts[at] for parts, at in zip(one.grid.parts, before, strict=True))) for one in found.levels]
    return CoClustering(tuple(Level(grid, one.cost) for grid, one in zip(grids, found.levels, strict=True)))


def _positive(weights: NDArray[np.float64], possible: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return weights, even ones where all are 0."""
    import numpy as np

    return weights if weights.any() else possible.astype(np.float64)


def _forecast(domain: CodedDomain, settings: Settings, held: Held) -> MethodForecast:
    from privrelease.synthesis.modl.search import MOST_VALUES

    for column in domain.columns:
        if not column.ordered and column.size > MOST_VALUES:
            refuse(
                "DP141",
                f"co-clustering moves values one by one, and {column.name} has {column.size} of them, more than {MOST_VALUES}",
                hint="declare fewer values, or choose another method",
                subject=column.name,
            )
    split = Fraction(str(settings["split"]))
    one, two = share_of(held.loss, split), share_of(held.loss, 1 - split)
    most = int(str(settings["max_cells"]))
    return MethodForecast(
        (
            Step("joint", one, 1, domain.cells, expected_error(held.setting, one)),
            Step("grid", two, 1, most or None, expected_error(held.setting, two)),
        ),
        counted=(held.loss, 1),
    )


#: Co-clustering of one noisy joint, and counts by its grid.
DPCOCGEN = SynthesisMethod("dpcocgen", 2, _asks, _forecast, _fit)
