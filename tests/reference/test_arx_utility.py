"""Non-uniform entropy beside ARX 3.9.2: `../shared/reference/arx.md`, "Cell suppression", and its fixtures of full-domain generalisation."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from privrelease.audit.microdata.utility.entropy import bits, entropy_loss, kept
from privrelease.audit.microdata.utility.granularity import coarseness, granularity
from privrelease.audit.microdata.utility.value_counts import ValueCounts

#: quasi-identifiers, suppressed cells and NUE as ARX prints it: in both outputs the cells are those of records below k = 5, all of age
FIGURES = [(2, 22, 0.999721), (3, 425, 0.988551)]
#: ARX's own test of full-domain generalisation with k = 5 and no suppression: levels in header order, and the bits lost
LEVELS, LOST_BITS = (1, 2, 1, 1, 3, 2, 2, 1, 1), 407289.5388925293


@pytest.fixture(scope="module")
def adult_rows(shared: Path) -> tuple[list[str], np.ndarray]:
    with (shared / "data" / "adult.csv").open(newline="") as stream:
        names, *rows = csv.reader(stream, delimiter=";")
    return names, np.array(rows)


@pytest.mark.parametrize(("q", "cells", "nue"), FIGURES)
def test_entropy_among_suppressed_cells_is_what_arx_prints(adult_rows, q, cells, nue):
    rows = adult_rows[1][:, :q]
    _, group, sizes = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    few = sizes[group] < 5
    assert few.sum() == cells
    columns = []
    for place in range(q):
        _, codes = np.unique(rows[:, place], return_inverse=True)
        before = np.concatenate([[0], np.bincount(codes)])
        gone = few if place == 1 else np.zeros(len(rows), bool)  # age
        after = np.concatenate([[gone.sum()], np.bincount(codes[~gone], minlength=len(before) - 1)])
        columns.append(entropy_loss(ValueCounts(str(place), before, after)))
    assert kept([(loss.suppressed, loss.most) for loss in columns]) == pytest.approx(nue, abs=5e-7)
    assert kept([(loss.whole_file, loss.most) for loss in columns]) < nue


def generalised(shared: Path, name: str, level: int) -> dict[str, str]:
    with (shared / "data" / f"adult_hierarchy_{name}.csv").open(newline="") as stream:
        return {row[0]: row[level] for row in csv.reader(stream, delimiter=";")}


def test_entropy_of_the_whole_file_under_generalisation_is_that_of_arx(shared, adult_rows):
    names, rows = adult_rows
    lost = 0.0
    for place, (name, level) in enumerate(zip(names, LEVELS, strict=True)):
        values, records = np.unique(rows[:, place], return_counts=True)
        to = generalised(shared, name, level)
        _, group = np.unique([to[value] for value in values], return_inverse=True)
        lost += bits(records, records, np.bincount(group, weights=records)[group])
    assert lost == pytest.approx(LOST_BITS, abs=1e-6)


def test_granularity_under_full_suppression_is_nothing_and_of_leaves_everything(shared, adult_rows):
    names, rows = adult_rows
    for level, expected in ((0, 1), (-1, 0)):
        parts = []
        for place, name in enumerate(names):
            values, records = np.unique(rows[:, place], return_counts=True)
            to = generalised(shared, name, level)
            _, group = np.unique([to[value] for value in values], return_inverse=True)
            parts.append(coarseness(records, np.bincount(group)[group], len(values)))
        assert granularity(parts) == expected
