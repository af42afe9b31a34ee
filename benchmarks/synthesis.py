"""Synthetic rows of Adult by every method and epsilon, next to the reference figures: quality as a mean of many runs, and CPU seconds of one.

Five columns of Adult (48,842 rows; age in 16 bins of five years from 15, workclass 9, education 16, relationship 6, sex 2; `?` is a value, no value
is missing). H: Hellinger distance of the joint. RE: mean relative error of 100 random interval queries over all five columns, |synthetic - real| /
max(real, 0.1 % of n), with as many synthetic rows as real ones.

A mean fails where it is above the reference by more than four standard errors of the difference (the references are means of 20 runs too: sqrt(2)
times our own) and the rounding of the reference; for the histogram, which is the same method, also where it is that far below. The reference does
not say how intervals are drawn. RE is judged for intervals of uniform width, then of uniform place; RE' has two uniform ends, and is not judged.

    python benchmarks/synthesis.py --method histogram-projected --epsilon 0.5 --epsilon 1 --runs 20
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from measure import SHARED, machine, print_table

from privrelease.dp.budget import Budget
from privrelease.dp.envelope import Envelope
from privrelease.dp.envelope_records import Reserved
from privrelease.dp.queries import Setting
from privrelease.dp.randomness import SystemRandomness
from privrelease.dp.sensitivity import Contribution
from privrelease.synthesis.domain import CodedColumn, CodedDomain, StructuralZero
from privrelease.synthesis.methods import method_named
from privrelease.units import Delta, Epsilon

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from privrelease.dp.envelope import Marginal

EPSILONS = ("0.1", "0.5", "1", "2")
QUERIES = 100
BOUND = Fraction(1, 1000)
FIRST_AGE, WIDTH, AGES = 15, 5, 16
LISTED = ("education", "relationship", "sex", "workclass")


@dataclass(frozen=True, slots=True)
class Variant:
    """A method with its settings. ``reference``: H and RE by epsilon, as `reference/dp-and-synthesis.md`, "Synthesis on Adult", prints them."""

    method: str
    settings: dict[str, object]
    reference: dict[str, tuple[str, str]]
    delta: str | None = None
    same: bool = field(default=False)
    """The reference is of the very same method: a mean below it fails too."""


VARIANTS = {
    "histogram-published": Variant(
        "histogram",
        {"after": {"project": False}},
        {"0.1": (".699", "2.68"), "0.5": (".450", "1.25"), "1": (".336", ".666"), "2": (".227", ".242")},
        same=True,
    ),
    "histogram-projected": Variant(
        "histogram",
        {"after": {"project": True}},
        {"0.1": (".587", "1.36"), "0.5": (".349", ".460"), "1": (".268", ".239"), "2": (".208", ".133")},
        same=True,
    ),
    "mst": Variant(
        "mst",
        {"model_size": 80 << 20},
        {"0.1": (".363", ".204"), "0.5": (".278", ".200"), "1": (".274", ".194"), "2": (".271", ".193")},
        delta="1e-6",
    ),
    "aim": Variant(
        "aim",
        {"workload": [[3, 1]], "model_size": 80 << 20, "rounds": 80},
        {"0.1": (".341", ".267"), "0.5": (".264", ".092"), "1": (".245", ".066"), "2": (".233", ".057")},
        delta="1e-6",
    ),
    "dpcocgen-published": Variant(
        "dpcocgen",
        {"split": "1/2", "max_cells": 0, "refine": False},
        {"0.1": (".776", "3.09"), "0.5": (".567", "1.92"), "1": (".306", ".302"), "2": (".290", ".206")},
    ),
    "dpcocgen-refined": Variant(
        "dpcocgen",
        {"split": "1/2", "max_cells": 0, "refine": True},
        {"0.5": (".351", ".276"), "1": (".273", ".100")},
    ),
    "privbayes": Variant(
        "privbayes",
        {"theta": "4", "degree": None},
        {"0.1": (".548", ".674"), "0.5": (".341", ".307"), "1": (".309", ".253"), "2": (".281", ".217")},
    ),
}


class Adult:
    """The five columns as codes, and exact counts of any marginal by its name. The cells of missing values are declared impossible."""

    def __init__(self) -> None:
        import duckdb

        path = SHARED / "data" / "adult_full.csv.gz"
        if not path.is_file():
            sys.exit("the figures of Adult need the shared folder: set PRIVRELEASE_SHARED")
        columns = duckdb.sql(f"SELECT age, {', '.join(LISTED)} FROM read_csv('{path}')").fetchnumpy()  # noqa: S608 -- our own path
        labels, codes = {}, {}
        for name in LISTED:
            values, codes[name] = np.unique(np.asarray(columns[name], dtype=str), return_inverse=True)
            labels[name] = tuple(map(str, values))
        ends = [FIRST_AGE + WIDTH * number for number in range(AGES + 1)]
        labels["age"] = tuple(f"[{low}, {high})" for low, high in pairwise(ends))
        codes["age"] = (np.asarray(columns["age"]) - FIRST_AGE) // WIDTH
        coded = tuple(CodedColumn(name, (*labels[name], "missing"), name == "age") for name in sorted(labels))
        zeros = tuple(StructuralZero((at,), np.arange(one.size) == one.size - 1) for at, one in enumerate(coded))
        self.domain = CodedDomain(coded, zeros)
        self.codes = np.stack([codes[name] for name in self.domain.names], axis=1)
        self.joint = self.counted(self.codes)
        self._known: dict[str, NDArray[np.int64]] = {}

    def counted(self, codes: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return the joint of rows of codes, missing cells (which are empty) left out."""
        cells = np.ravel_multi_index(tuple(codes.T), self.domain.sizes)
        whole = np.bincount(cells, minlength=self.domain.cells).reshape(self.domain.sizes)
        return whole[tuple(slice(0, size - 1) for size in self.domain.sizes)].astype(np.int64)

    def rows(self, query: Marginal) -> NDArray[np.int64]:
        """Return exact counts, for the envelope alone."""
        if query.name not in self._known:
            places = [self.domain.place(name) for name in query.name.split(" x ")]
            cells = np.ravel_multi_index(tuple(self.codes[:, place] for place in places), query.shape)
            self._known[query.name] = np.bincount(cells, minlength=math.prod(query.shape))
        return self._known[query.name]

    def persons(self, query: str) -> tuple[tuple[tuple[str, ...], ...], NDArray[np.int64]]:
        """Refuse: no value is discovered."""
        raise LookupError(query)


def of_width(size: int, rng: np.random.Generator) -> slice:
    """Return an interval of cells of uniform width, then of uniform place."""
    width = int(rng.integers(1, size + 1))
    low = int(rng.integers(0, size - width + 1))
    return slice(low, low + width)


def of_ends(size: int, rng: np.random.Generator) -> slice:
    """Return the interval between two uniform cells, both included."""
    low, high = sorted(map(int, rng.integers(0, size, 2)))
    return slice(low, high + 1)


def relative_error(
    real: NDArray[np.int64],
    made: NDArray[np.int64],
    interval: Callable[[int, np.random.Generator], slice],
    rng: np.random.Generator,
) -> float:
    """Return the mean relative error of random interval queries over all columns."""
    bound, errors = float(real.sum() * BOUND), []
    for _ in range(QUERIES):
        box = tuple(interval(size, rng) for size in real.shape)
        there = int(real[box].sum())
        errors.append(abs(int(made[box].sum()) - there) / max(there, bound))
    return float(np.mean(errors))


def one_run(adult: Adult, variant: Variant, epsilon: str, number: int) -> tuple[float, float, float, float]:
    """Return H, RE, RE' and CPU seconds of one fit and draw. ``number``: seeds the queries; the noise is secret."""
    reserved = Reserved.of(Budget(Epsilon(epsilon), Delta(variant.delta or 0)))
    before = time.process_time()
    envelope = Envelope(reserved, Setting(Contribution(1)), adult, lambda _: None, SystemRandomness())
    model = method_named(variant.method).fit(envelope, adult.domain, variant.settings, lambda *_: None)
    codes = model.draw(len(adult.codes), SystemRandomness())
    seconds = time.process_time() - before
    real, made = adult.joint, adult.counted(codes)
    overlap = float(np.sqrt(real / real.sum() * (made / made.sum())).sum())
    rng = np.random.default_rng(number)
    errors = [relative_error(real, made, interval, rng) for interval in (of_width, of_ends)]
    return math.sqrt(max(0.0, 1 - overlap)), errors[0], errors[1], seconds


def rounding(figure: str) -> float:
    """Return half of the last digit.

    >>> rounding(".699"), rounding("2.68")
    (0.0005, 0.005)
    """
    return 0.5 * 10.0 ** -len(figure.split(".")[1])


def judged(mean: float, error: float, reference: str, *, same: bool) -> tuple[str, bool]:
    """Return the limit in words and whether a mean is within it. ``error``: standard error of our own mean."""
    away = 4 * math.sqrt(2) * error + rounding(reference)
    low, high = float(reference) - away, float(reference) + away
    said = f"{low:.4f} to {high:.4f}" if same else f"{high:.4f}"
    return said, mean <= high and (not same or mean >= low)


def main() -> int:
    """Print the table; return 1 where a mean is not within its limit."""
    parser = argparse.ArgumentParser(description="Synthetic rows of Adult next to the reference figures.")
    parser.add_argument(
        "--method", action="append", choices=sorted(VARIANTS), help="one of them, may be repeated; all by default"
    )
    parser.add_argument("--epsilon", action="append", choices=EPSILONS, help="may be repeated; all by default")
    parser.add_argument("--runs", type=int, default=20, help="runs of each (at least 2)")
    asked = parser.parse_args()
    if asked.runs < 2:
        parser.error("a standard error takes at least two runs")
    adult, rows, passed = Adult(), [], True
    for name in asked.method or VARIANTS:
        variant = VARIANTS[name]
        for epsilon, references in variant.reference.items():
            if asked.epsilon and epsilon not in asked.epsilon:
                continue
            runs = np.array([one_run(adult, variant, epsilon, number) for number in range(asked.runs)])
            means, errors = runs.mean(axis=0), runs.std(axis=0, ddof=1) / math.sqrt(asked.runs)
            limits = [judged(*one, same=variant.same) for one in zip(means[:2], errors[:2], references, strict=True)]
            fine = all(within for _, within in limits)
            passed &= fine
            figures = [
                cell
                for mean, error, reference, (limit, _) in zip(means, errors, references, limits, strict=False)
                for cell in (f"{mean:.4f} ± {error:.4f}", reference, limit)
            ]
            rows.append((name, epsilon, *figures, f"{means[2]:.4f}", f"{means[3]:.2f}", "yes" if fine else "NO"))
            print(*rows[-1], sep="  ", file=sys.stderr, flush=True)
    header = ("method", "epsilon", "H", "reference", "limit", "RE", "reference", "limit", "RE'", "CPU s", "within")
    print_table("Synthetic rows of Adult", header, rows)
    print(
        f"\n{machine()}; means of {asked.runs} runs and their standard errors, CPU s of one fit and draw; python benchmarks/synthesis.py"
    )
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
