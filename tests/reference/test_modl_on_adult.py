"""MODL grids of Adult next to those of khiops 11.0.1.1: `../shared/reference/formulations.md`, "MODL data-grid criterion".

khiops's own costs differ by its prior on the number of parts; what is compared is our criterion at its grids.
"""

from __future__ import annotations

import csv
import gzip

import numpy as np
import pytest

from privrelease.synthesis.modl.frequencies import UNIT, Axis, Frequencies
from privrelease.synthesis.modl.grids import null_cost
from privrelease.synthesis.modl.search import cocluster

FIVE = ("age", "workclass", "education", "relationship", "sex")
#: Rows, width of an age bin, cost of one cell, and cost of khiops's grid by our criterion.
KHIOPS = [
    (48_842, 5, 737_977.65, 711_243.72),
    (48_842, 1, 737_977.65, 710_782.10),
    (32_561, 1, 478_580.01, 461_011.22),
    (32_561, 5, 478_580.01, 461_315.93),
]


def frequencies(rows, columns, width=1):
    coded, axes = [], []
    for column in columns:
        values = np.array([row[column] for row in rows])
        if column == "age":
            values = (values.astype(int) - 15) // width
        held, codes = np.unique(values, return_inverse=True)
        coded.append(codes)
        axes.append(Axis(held.size, column == "age"))
    cells, counts = np.unique(np.stack(coded, axis=1), axis=0, return_counts=True)
    return Frequencies(cells, counts, axes)


@pytest.fixture(scope="module")
def adult(shared):
    with gzip.open(shared / "data" / "adult_full.csv.gz", "rt", newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.mark.parametrize(("rows", "width", "null", "khiops"), KHIOPS)
def test_one_cell_costs_what_the_reference_says(adult, rows, width, null, khiops):
    assert null_cost(frequencies(adult[:rows], FIVE, width)) / UNIT == pytest.approx(null, abs=0.006)


@pytest.mark.parametrize("seed", [None, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3))])
@pytest.mark.parametrize(("rows", "width", "null", "khiops"), KHIOPS)
def test_the_gain_is_at_least_that_of_khiops(adult, rows, width, null, khiops, seed):
    found = cocluster(frequencies(adult[:rows], FIVE, width), seed)
    assert (found.null - found.best.cost) / UNIT >= 0.995 * (null - khiops)
    assert found.best.cost / UNIT <= khiops + 0.01


@pytest.mark.slow
def test_nine_columns_cost_no_more_than_the_best_known_grid(shared):
    with (shared / "data" / "adult.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter=";"))
    assert round(cocluster(frequencies(rows, tuple(rows[0]))).best.cost / UNIT) <= 526_621
