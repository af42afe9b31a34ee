"""Where the fit of noisy marginals should end: errors of the model by the share of the expected misfit at which the descent stops.

MST and AIM choose the share by fission of the noise (privrelease/synthesis/marginals/stopping.py). It decides quality, never privacy: all measurements
are made before. Here the choice is compared with each fixed share: nine columns of Adult, the registry and the admissions of the examples, and
random trees of eight columns with few and many rows. Each line is one table and epsilon (delta 1e-6): the mean total variation of all pairs of
columns of the model, as a ratio to that of the best fixed share of the run. A share that is not reached is the least misfit, as 0 is.

    python benchmarks/stopping.py --runs 3
"""

from __future__ import annotations

import argparse
import csv
import math
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from measure import SHARED, machine, print_table

from privrelease.dp.budget import Budget
from privrelease.dp.envelope import Envelope, Marginal, marginal_name
from privrelease.dp.envelope_records import Reserved
from privrelease.dp.queries import Setting
from privrelease.dp.randomness import SystemRandomness
from privrelease.dp.sensitivity import Contribution
from privrelease.examples.admissions import admissions
from privrelease.examples.registry import registry
from privrelease.synthesis.marginals.aim import aim, default_rounds
from privrelease.synthesis.marginals.asking import Door
from privrelease.synthesis.marginals.domain import Domain
from privrelease.synthesis.marginals.estimate import Estimate, estimate
from privrelease.synthesis.marginals.mst import mst
from privrelease.synthesis.marginals.stopping import SHARES, estimate_that_stops
from privrelease.units import Delta, Epsilon

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

EPSILONS = ("0.1", "1", "4")
CELLS = (80 << 20) // 8
#: Potentials that one fit may compute.
WORK = 200_000_000
TOLERANCE = 10.0


class Table:
    """Codes of rows, and exact counts by name for the envelope alone."""

    def __init__(self, columns: Sequence[NDArray[np.generic]]) -> None:
        coded = [np.unique(column, return_inverse=True) for column in columns]
        self.codes = np.stack([codes for _, codes in coded], axis=1)
        self.domain = Domain(tuple("abcdefghi"[: len(coded)]), tuple(len(values) for values, _ in coded))
        self.pairs = list(combinations(self.domain.names, 2))

    def query(self, clique: tuple[str, ...]) -> Marginal:
        """Return the public name and shape of a clique's counts."""
        return Marginal(marginal_name(clique), self.domain.shape(clique))

    def rows(self, query: Marginal) -> NDArray[np.int64]:
        """Return exact counts."""
        places = [self.domain.names.index(name) for name in query.name.split(" x ")]
        return np.bincount(np.ravel_multi_index(tuple(self.codes[:, places].T), query.shape), minlength=math.prod(query.shape))

    def persons(self, query: str) -> tuple[tuple[tuple[str, ...], ...], NDArray[np.int64]]:
        """Refuse: no value is discovered."""
        raise AssertionError(query)

    def variation(self, fit: Estimate) -> float:
        """Return the mean total variation of all pairs of a model."""
        found = []
        for pair in self.pairs:
            real, made = self.rows(self.query(pair)), fit.model.marginal(pair).ravel()
            found.append(np.abs(real / real.sum() - made / made.sum()).sum() / 2)
        return float(np.mean(found))


def of_adult() -> Table:
    """Return nine columns of Adult."""
    with (SHARED / "data" / "adult.csv").open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    return Table([np.array([row[name] for row in rows]) for name in rows[0]])


def of_registry() -> Table:
    """Return six columns of the example registry, numbers in bins."""
    one = registry()
    binned = [one["age"] // 5, (one["glucose"] // 15).astype(int), (one["systolic"] // 10).astype(int)]
    return Table([*binned, one["sex"], one["region"], one["diagnosis"]])


def of_admissions() -> Table:
    """Return six columns of the example admissions."""
    one = admissions()
    born = one["born"].astype("datetime64[Y]").astype(int) // 5
    area = np.array([text[:2] for text in one["postcode"]])
    letter = np.array([text[:1] for text in one["diagnosis"]])
    return Table([born, area, letter, one["sex"], one["ward"], np.minimum(one["stay"], 20)])


def of_tree(rows: int) -> Table:
    """Return a random tree of eight columns with 3 to 12 values, each depending on one before it."""
    rng = np.random.default_rng(rows)
    sizes = rng.integers(3, 13, 8)
    columns = [rng.choice(sizes[0], rows, p=rng.dirichlet(np.ones(sizes[0])))]
    for at in range(1, 8):
        parent = int(rng.integers(0, at))
        ends = np.cumsum(rng.dirichlet(np.full(sizes[at], 0.5), int(sizes[parent])), axis=1)
        columns.append((rng.random((rows, 1)) > ends[columns[parent]]).sum(axis=1).clip(0, sizes[at] - 1))
    return Table(columns)


def by_share(table: Table, method: str, epsilon: str) -> list[float]:
    """Measure once and return the errors of the fit by fission and of the fit that ends at each share, as ratios to the least of the latter."""
    reserved = Reserved.of(Budget(Epsilon(epsilon), Delta("1e-6")))
    door = Door(
        Envelope(reserved, Setting(Contribution(1)), table, lambda _: None, SystemRandomness()), table.domain, table.query
    )
    if method == "aim":
        aim(door, dict.fromkeys(table.pairs, 1), rounds=default_rounds(len(table.domain.names)), cells=CELLS)
    else:
        mst(door, cells=CELLS)
    alone = [one for one in door.noisy if len(one.clique) == 1]
    fit = estimate(table.domain, alone, most=400, work=WORK, tolerance=TOLERANCE)
    errors = []
    for share in SHARES:
        fit = estimate(table.domain, door.noisy, start=fit, enough=share, most=400, work=WORK, tolerance=TOLERANCE)
        errors.append(table.variation(fit))
    chosen = table.variation(estimate_that_stops(table.domain, door.noisy, most=2000, work=WORK, tolerance=TOLERANCE))
    return [chosen / min(errors), *(one / min(errors) for one in errors)]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Where the fit of noisy marginals should end.")
    parser.add_argument("--runs", type=int, default=3)
    asked = parser.parse_args()
    tables = {
        "registry": of_registry(),
        "admissions": of_admissions(),
        "tree, 2,000 rows": of_tree(2_000),
        "tree, 200,000 rows": of_tree(200_000),
        "adult, nine columns": of_adult(),
    }
    rows, ratios = [], []
    for name, table in tables.items():
        for epsilon in EPSILONS:
            ratios.append(np.mean([by_share(table, "aim", epsilon) for _ in range(asked.runs)], axis=0))
            rows.append((name, epsilon, *(f"{one:.3f}" for one in ratios[-1])))
            print(*rows[-1], sep="  ", flush=True)
    rows.append(("mean", "", *(f"{one:.3f}" for one in np.mean(ratios, axis=0))))
    rows.append(("worst", "", *(f"{one:.3f}" for one in np.max(ratios, axis=0))))
    print_table("Error by share of the expected misfit", ("table", "epsilon", "by fission", *map(str, SHARES)), rows)
    print(f"\n{machine()}; means of {asked.runs} runs; python benchmarks/stopping.py")


if __name__ == "__main__":
    main()
