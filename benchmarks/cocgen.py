"""Experiments of the DPCocGen paper on Adult's five columns: AUC of sex and relationship learned on synthetic rows, and coarser grids.

AUC: 80 % of the rows are synthesised, a naive Bayes (counts + 1) learns sex, or relationship, from the other four columns of the synthetic rows,
and is tested on the other 20 %. Of relationship the mean over its values, each against the rest, weighted by their rows. `real`: learned on the
80 % themselves. Reference (histogram, DPCocGen, PrivBayes, AIM at epsilon 1, and real): .866/.803, .868/.808, .866/.811, .870/.812, .871/.814.

Grids: Hellinger distance of the joint by `max_cells`, in both forms; 0 is the best grid.

    python benchmarks/cocgen.py --runs 5
"""

from __future__ import annotations

import argparse
import csv
import gzip
import math
from typing import TYPE_CHECKING

import numpy as np
from measure import SHARED, machine, print_table

from privrelease.dp.budget import Budget
from privrelease.dp.envelope import Envelope, Marginal
from privrelease.dp.envelope_records import Reserved
from privrelease.dp.queries import Setting
from privrelease.dp.randomness import SystemRandomness
from privrelease.dp.sensitivity import Contribution
from privrelease.synthesis.domain import CodedColumn, CodedDomain
from privrelease.synthesis.methods import method_named
from privrelease.units import Delta, Epsilon

if TYPE_CHECKING:
    from numpy.typing import NDArray

NAMES = ("age", "education", "relationship", "sex", "workclass")
SEX, RELATIONSHIP = NAMES.index("sex"), NAMES.index("relationship")
METHODS = {
    "histogram": ({"after": {"project": True}}, "0"),
    "dpcocgen": ({"split": "1/2", "max_cells": 0, "refine": True}, "0"),
    "privbayes": ({"theta": "4", "degree": None}, "0"),
    "mst": ({"model_size": 80 << 20}, "1e-6"),
    "aim": ({"workload": [[3, 1]], "model_size": 80 << 20, "rounds": 80}, "1e-6"),
}


class Rows:
    """Codes of rows over a domain without missing values, and exact counts for the envelope alone."""

    def __init__(self, codes: NDArray[np.int64], domain: CodedDomain) -> None:
        self.codes, self.domain = codes, domain

    def rows(self, query: Marginal) -> NDArray[np.int64]:
        """Return exact counts."""
        places = [self.domain.place(name) for name in query.name.split(" x ")]
        return np.bincount(np.ravel_multi_index(tuple(self.codes[:, places].T), query.shape), minlength=math.prod(query.shape))

    def persons(self, query: str) -> tuple[tuple[tuple[str, ...], ...], NDArray[np.int64]]:
        """Refuse: no value is discovered."""
        raise AssertionError(query)

    def drawn(self, method: str, epsilon: str, settings: dict[str, object], delta: str = "0") -> NDArray[np.int32]:
        """Fit a method and draw as many rows as there are."""
        reserved = Reserved.of(Budget(Epsilon(epsilon), Delta(delta)))
        envelope = Envelope(reserved, Setting(Contribution(1)), self, lambda _: None, SystemRandomness())
        model = method_named(method).fit(envelope, self.domain, settings, lambda *_: None)
        return model.draw(len(self.codes), SystemRandomness())


def adult() -> Rows:
    """Return the five columns, age in bins of five years."""
    with gzip.open(SHARED / "data" / "adult_full.csv.gz", "rt") as file:
        rows = list(csv.DictReader(file))
    coded, columns = [], []
    for name in NAMES:
        values = np.array([row[name] for row in rows])
        if name == "age":
            coded.append((values.astype(int) - 15) // 5)
            columns.append(CodedColumn(name, tuple(map(str, range(16))), ordered=True))
        else:
            held, codes = np.unique(values, return_inverse=True)
            coded.append(codes)
            columns.append(CodedColumn(name, tuple(map(str, held))))
    return Rows(np.stack(coded, axis=1), CodedDomain(tuple(columns)))


def auc(learned: NDArray[np.integer], tested: NDArray[np.integer], target: int, sizes: tuple[int, ...]) -> float:
    """Return the area under the curve of a naive Bayes, values against the rest weighted by their rows."""
    scores = np.log(np.bincount(learned[:, target], minlength=sizes[target]) + 1.0)[None, :] + np.zeros((len(tested), 1))
    for place, size in enumerate(sizes):
        if place != target:
            table = np.ones((sizes[target], size))
            np.add.at(table, (learned[:, target], learned[:, place]), 1)
            scores += np.log(table / table.sum(1, keepdims=True)).T[tested[:, place]]
    scores = np.exp(scores - scores.max(1, keepdims=True))
    scores /= scores.sum(1, keepdims=True)
    found = weight = 0.0
    for value in range(sizes[target]):
        own = tested[:, target] == value
        if own.any() and not own.all():
            found += own.sum() * _ranked(scores[:, value], own)
            weight += own.sum()
    return found / weight


def _ranked(score: NDArray[np.float64], own: NDArray[np.bool_]) -> float:
    """Return the chance that a row of its own scores above one of the rest, ties as one half (Mann and Whitney)."""
    _, place, counts = np.unique(score, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[place]
    many = own.sum()
    return float((ranks[own].sum() - many * (many + 1) / 2) / (many * (len(own) - many)))


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description="Experiments of the DPCocGen paper.")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--epsilon", default="1")
    asked = parser.parse_args()
    whole, rng = adult(), np.random.default_rng(1)
    rows: list[tuple[str, ...]] = []
    learned: dict[str, list[tuple[float, float]]] = {"real": [], **{name: [] for name in METHODS}}
    for _ in range(asked.runs):
        order = rng.permutation(len(whole.codes))
        cut = len(order) * 4 // 5
        train, test = Rows(whole.codes[order[:cut]], whole.domain), whole.codes[order[cut:]]
        made = {"real": train.codes}
        made |= {name: train.drawn(name, asked.epsilon, *settings) for name, settings in METHODS.items()}
        for name, codes in made.items():
            learned[name].append(tuple(auc(codes, test, target, whole.domain.sizes) for target in (SEX, RELATIONSHIP)))
    for name, found in learned.items():
        mean, error = np.mean(found, axis=0), np.std(found, axis=0, ddof=1) / math.sqrt(asked.runs)
        rows.append((name, *(f"{one:.4f} ± {of:.4f}" for one, of in zip(mean, error, strict=True))))
    print_table(f"AUC at epsilon {asked.epsilon}", ("learned on", "sex", "relationship"), rows)

    real, rows = np.bincount(np.ravel_multi_index(tuple(whole.codes.T), whole.domain.sizes), minlength=whole.domain.cells), []
    for most in (0, 1000, 144, 36, 1):
        cells = []
        for refine in (False, True):
            found = []
            for _ in range(asked.runs):
                codes = whole.drawn("dpcocgen", asked.epsilon, {"split": "1/2", "max_cells": most, "refine": refine})
                drawn = np.bincount(np.ravel_multi_index(tuple(codes.T), whole.domain.sizes), minlength=whole.domain.cells)
                found.append(math.sqrt(1 - np.sqrt(real / real.sum() * (drawn / drawn.sum())).sum()))
            cells.append(f"{np.mean(found):.4f}")
        rows.append((str(most), *cells))
    print_table(f"Hellinger distance by `max_cells` at epsilon {asked.epsilon}", ("max_cells", "published", "refined"), rows)
    print(f"\n{machine()}; means of {asked.runs} runs; python benchmarks/cocgen.py")


if __name__ == "__main__":
    main()
