"""MODL grids of Adult next to those of khiops 11.0.1.1: `../shared/reference/formulations.md`, "MODL data-grid criterion".

khiops's own costs differ by its prior on the number of parts; what is compared is our criterion at its grids. The figures are recorded here;
`make test-oracle-synthesis` compares them with a khiops in an environment of its own (constraints/oracle_synthesis.txt).
"""

from __future__ import annotations

import csv
import gzip
import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from privrelease.synthesis.modl.frequencies import UNIT, Axis, Frequencies
from privrelease.synthesis.modl.grids import Grid, cost, null_cost
from privrelease.synthesis.modl.search import cocluster

ROOT = Path(__file__).resolve().parents[2]
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
    if seed is None:
        assert found.best.cost / UNIT <= khiops + 0.01


@pytest.mark.slow
def test_nine_columns_cost_no_more_than_the_best_known_grid(shared):
    with (shared / "data" / "adult.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter=";"))
    assert round(cocluster(frequencies(rows, tuple(rows[0]))).best.cost / UNIT) <= 526_621


#: Costs that khiops prints, in the order of KHIOPS.
PRINTED = (711_236.90, 710_775.17, 461_004.29, 461_309.00)


def test_khiops_still_finds_the_recorded_grids(adult, tmp_path):
    named = os.environ.get("PRIVRELEASE_ORACLE_SYNTHESIS")
    if not named:
        pytest.skip("khiops has no environment here: make test-oracle-synthesis")
    tables = [frequencies(adult[:rows], FIVE, width) for rows, width, *_ in KHIOPS]
    written = [
        {"cells": one.cells.tolist(), "counts": one.counts.tolist(), "ordered": [axis.ordered for axis in one.axes]}
        for one in tables
    ]
    (tmp_path / "tables.json").write_text(json.dumps(written), encoding="utf-8")
    command = [named, ROOT / "ci" / "oracle" / "khiops_figures.py", tmp_path / "tables.json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    for table, found, (*_, null, wanted), printed in zip(tables, json.loads(done.stdout), KHIOPS, PRINTED, strict=True):
        here = cost(table, Grid.of([np.array(parts) for parts in found["parts"]])) / UNIT
        assert here == pytest.approx(wanted, abs=0.01)
        assert found["cost"] == pytest.approx(printed, abs=0.01)
        assert here - found["cost"] == pytest.approx(6.87, abs=0.07)
        assert null - found["null"] == pytest.approx(17.35, abs=0.25)  # 17.56 of 48,842 rows, 17.15 of 32,561
        assert cocluster(table).best.cost / UNIT <= here + 0.01
