"""PrivBayes: records from a Bayesian network over noisy marginals (Zhang, Cormode, Procopiuc, Srivastava, Xiao 2014 and 2017).

The network is grown column by column: of all columns without a place, each with every largest set of placed columns whose marginal is useful, the
exponential mechanism chooses by how much the column depends on the set (:class:`~privrelease.dp.envelope_queries.Dependence`). Then each column's
marginal with its parents is measured, and records are drawn from the conditional distributions, column by column.

theta-usefulness: a marginal of m cells is useful where the mean count of a cell, n/m, is at least theta times the expected error of one. n is
the noisy total of the first column's marginal, which is measured before anything is chosen: the exact number of rows is private.

As published 3/10 of the budget choose and 7/10 measure. Departures: the score's sensitivity does not take n as public, and the first column is that
of the fewest cells, not a random one, since its marginal also gives the total.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb, prod
from typing import TYPE_CHECKING, Final, NamedTuple

from privrelease.dp.count_noise import expected_error, share_of, variance
from privrelease.dp.rules import refuse
from privrelease.synthesis.method import FactTable, MethodForecast, ModelFacts, Step, SynthesisMethod
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from privrelease.dp.envelope import Envelope
    from privrelease.dp.randomness import Randomness
    from privrelease.synthesis.domain import CodedDomain
    from privrelease.synthesis.method import Held, Progress, Settings

__all__ = ["MOST_ROWS", "PRIVBAYES", "Conditional", "NetworkModel", "most_parents", "useful_parents"]

#: Most cells of a marginal.
_MOST_CELLS: Final = 10_000_000

#: Shares that choose the network and measure its marginals.
_CHOOSING: Final = Fraction(3, 10)
#: Steps of a row in which a score is counted.
_GRID: Final = 16
#: Most parents of a column, and most marginals of that many columns and one.
_MOST_PARENTS: Final = 4
_MOST_MARGINALS: Final = 5000
#: No data set is planned for that has more rows.
MOST_ROWS: Final = 10**9


class Conditional(NamedTuple):
    """A column given its parents. ``table``: one row for each cell of the parents, the last one varying fastest, of probabilities."""

    column: int
    parents: tuple[int, ...]
    table: NDArray[np.float64]


@dataclass(frozen=True, eq=False, slots=True)
class NetworkModel:
    """A Bayesian network: each column after its parents."""

    domain: CodedDomain
    network: tuple[Conditional, ...]
    total: int
    limit: int

    def draw(self, rows: int, randomness: Randomness) -> NDArray[np.int32]:
        """Return rows drawn independently, column by column; those that are impossible are drawn again."""
        from privrelease.synthesis.sampling import without_impossible

        return without_impossible(lambda many: self._drawn(many, randomness), self.domain, rows)

    def _drawn(self, rows: int, randomness: Randomness) -> NDArray[np.int32]:
        import numpy as np

        from privrelease.synthesis.sampling import uniforms

        found = np.zeros((rows, len(self.domain.columns)), np.int32)
        for one in self.network:
            key = np.zeros(rows, np.int64)
            for parent in one.parents:
                key = key * self.domain.sizes[parent] + found[:, parent]
            ends = np.cumsum(one.table, axis=1)
            ends /= ends[:, -1:]
            # one ascending list: the distribution of each cell of the parents lies between its number and the next
            listed = (ends + np.arange(len(ends))[:, None]).reshape(-1)
            place = np.searchsorted(listed, key + uniforms(rows, randomness), side="right")
            width = one.table.shape[1]
            last = width - 1 - np.argmax(one.table[:, ::-1] > 0, axis=1)  # a sum may round up to the end
            found[:, one.column] = np.minimum(place - key * width, last[key])
        return found

    def facts(self) -> ModelFacts:
        """Describe the model: the network and the size of its marginals."""
        names, sizes = self.domain.names, self.domain.sizes
        rows = tuple(
            (names[one.column], ", ".join(names[parent] for parent in one.parents), sizes[one.column] * len(one.table))
            for one in self.network
        )
        degree = max(len(one.parents) for one in self.network)
        figures = (("degree", degree), ("most_cells_of_a_marginal", self.limit), ("noisy_total", self.total))
        return ModelFacts(figures, (FactTable("network", ("column", "parents", "cells"), rows[:200]),))


def most_parents(columns: int, degree: int | None) -> int:
    """Return how many parents a column may have: ``degree``, else the most that leave at most 5,000 marginals of that many columns and one.

    >>> most_parents(5, None), most_parents(20, None), most_parents(5, 2)
    (4, 3, 2)
    """
    if degree is not None:
        return min(degree, columns - 1)
    fitting = [many for many in range(1, _MOST_PARENTS + 1) if many < columns and comb(columns, many + 1) <= _MOST_MARGINALS]
    return max(fitting, default=min(1, columns - 1))


def useful_parents(
    column: int, placed: Sequence[int], sizes: Sequence[int], most: int, limit: int
) -> Iterator[tuple[int, ...]]:
    """Yield every largest set of at most ``most`` placed columns whose marginal with ``column`` has at most ``limit`` cells.

    >>> list(useful_parents(2, [0, 1], [4, 5, 2], 2, 10))
    [(0,), (1,)]
    """
    for many in range(min(most, len(placed)), -1, -1):
        for parents in combinations(sorted(placed), many):
            cells = sizes[column] * prod(sizes[one] for one in parents)
            if parents and cells > limit:
                continue
            if many == most or all(cells * sizes[one] > limit for one in placed if one not in parents):
                yield parents


def _given(settings: Settings, name: str) -> int | None:
    found = settings.get(name)
    return None if found is None else int(str(found))


def _asks(names: tuple[str, ...], settings: Settings) -> Iterator[tuple[str, ...]]:
    most = most_parents(len(names), _given(settings, "degree"))
    for many in range(1, most + 2):
        yield from combinations(sorted(names), many)


def _shares(columns: int) -> tuple[Fraction, Fraction]:
    """Return the share of each choice and of each measurement."""
    if columns == 1:
        return Fraction(0), Fraction(1)
    return _CHOOSING / (columns - 1), (1 - _CHOOSING) / columns


def _limit(settings: Settings, total: int, error: float) -> int:
    """Return the most cells of a marginal that is useful among so many rows."""
    if _given(settings, "degree") is not None:
        return _MOST_CELLS
    theta = Fraction(str(settings["theta"]))
    return max(1, min(_MOST_CELLS, int(total / (float(theta) * error))))


def _fit(envelope: Envelope, domain: CodedDomain, settings: Settings, progress: Progress) -> NetworkModel:
    from privrelease.dp.envelope_queries import Dependence

    sizes, many = domain.sizes, len(domain.columns)
    choosing, measuring = _shares(many)
    root = min(range(many), key=lambda place: (sizes[place], place))
    progress("measure", 0.0)
    measured: list[tuple[int, tuple[int, ...], NDArray[np.int64]]] = [
        (root, (), envelope.measure(domain.marginal([root]), envelope.part(measuring)))
    ]
    first = max(0, int(measured[0][2].sum()))
    most = most_parents(many, _given(settings, "degree"))
    limit = _limit(settings, first, expected_error(envelope.setting, envelope.part(measuring)))

    network: list[tuple[int, tuple[int, ...]]] = [(root, ())]
    while len(network) < many:
        placed = [one for one, _ in network]
        offered = [
            (column, parents)
            for column in range(many)
            if column not in placed
            for parents in useful_parents(column, placed, sizes, most, limit)
        ]
        progress("choose", len(network) / many)
        chosen = 0
        if any(parents for _, parents in offered):
            asked = [domain.marginal([column, *parents]) for column, parents in offered]
            scores = [Dependence(sorted([column, *parents]).index(column)) for column, parents in offered]
            chosen = envelope.select(asked, scores, envelope.part(choosing), grid=_GRID)
        network.append(offered[chosen])
    for at, (column, parents) in enumerate(network[1:], 1):
        progress("measure", at / many)
        measured.append((column, parents, envelope.measure(domain.marginal([column, *parents]), envelope.part(measuring))))

    noise = variance(envelope.setting, envelope.part(measuring))
    weights = [1 / (noise * len(counts)) for _, _, counts in measured]
    mean = sum(weight * int(counts.sum()) for weight, (_, _, counts) in zip(weights, measured, strict=True)) / sum(weights)
    conditionals = tuple(_conditional(domain, *one) for one in measured)
    return NetworkModel(domain, conditionals, max(0, round(mean)), limit)


def _conditional(domain: CodedDomain, column: int, parents: tuple[int, ...], noisy: NDArray[np.int64]) -> Conditional:
    """Return the distribution of a column given its parents: counts below 0 are 0; where a cell of the parents has none, that of the column."""
    import numpy as np

    places = sorted([column, *parents])
    possible = domain.possible(places)
    shape = tuple(domain.sizes[place] for place in places)
    counts = np.maximum(noisy.reshape(shape), 0).astype(np.float64)
    if possible is not None:
        counts = np.where(possible, counts, 0)
    table = np.moveaxis(counts, places.index(column), -1).reshape(-1, domain.sizes[column])
    overall = table.sum(axis=0)
    if not overall.any():
        overall = np.ones(domain.sizes[column])
    empty = ~table.any(axis=1)
    table[empty] = overall
    return Conditional(column, tuple(sorted(parents)), table / table.sum(axis=1, keepdims=True))


def _forecast(domain: CodedDomain, settings: Settings, held: Held) -> MethodForecast:
    many, sizes = len(domain.columns), sorted(domain.sizes)
    choosing, measuring = _shares(many)
    measure = share_of(held.loss, measuring)
    error = expected_error(held.setting, measure)
    degree = _given(settings, "degree")
    most = most_parents(many, degree)
    if degree is not None and comb(many, most + 1) > _MOST_MARGINALS:
        refuse(
            "DP142",
            f"`degree` {degree} over {many} columns asks for {comb(many, most + 1)} marginals, more than {_MOST_MARGINALS}",
            hint="lower `degree`, or release fewer columns",
        )
    notes: list[str] = []
    if degree is None and many > 1:
        theta = float(Fraction(str(settings["theta"])))
        needed = [round(theta * error * prod(sizes[: parents + 1])) for parents in range(1, most + 1)]
        if needed[0] > MOST_ROWS:
            refuse(
                "DP143",
                f"`theta` {settings['theta']} leaves every column without parents: one parent needs {needed[0]} rows or more",
                hint="lower `theta`, raise the budget, or state `degree`",
            )
        notes.extend(f"`theta` allows degree {parents} from about {rows} rows on" for parents, rows in enumerate(needed, 1))
    steps = [Step("marginal", measure, many, None, error)]
    if many > 1:
        steps.insert(0, Step("choice", share_of(held.loss, choosing), many - 1))
    return MethodForecast(tuple(steps), ((1, error),), tuple(notes), (measure, sizes[0]))


#: A Bayesian network of low degree.
PRIVBAYES = SynthesisMethod("privbayes", 1, _asks, _forecast, _fit)
