"""Agreement of margins against the general least-squares solution, which knows nothing of interactions."""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np
import pytest

from privrelease.dp.consistency import NoisyTable, agree

SIZES = {"a": 3, "b": 2, "c": 4}


def design(keys, names):
    """One row per cell of the table, one column per cell of the joint table."""
    cells = list(product(*(range(SIZES[name]) for name in names)))
    rows = list(product(*(range(SIZES[key]) for key in keys)))
    return np.array(
        [[float(all(cell[names.index(k)] == v for k, v in zip(keys, row, strict=True))) for cell in cells] for row in rows]
    )


FAMILIES = [
    [()],
    [("a",), ()],
    [("a",), ("b",)],
    [("b", "a"), ("a",), ()],
    [("a", "b"), ("b", "c"), ("a",)],
    [("c", "a", "b"), ("a", "b"), ("b", "c"), ("c",), ()],
    [("a", "b"), ("a", "b")],
]


@pytest.mark.parametrize("family", FAMILIES, ids=str)
def test_it_is_the_weighted_least_squares_solution_and_its_variance(family):
    rng = np.random.default_rng(5)
    names = sorted({key for keys in family for key in keys})
    tables = [
        NoisyTable(
            keys,
            tuple(SIZES[k] for k in keys),
            tuple(int(v) for v in rng.integers(-20, 100, prod(SIZES[k] for k in keys))),
            float(v),
        )
        for keys, v in zip(family, rng.uniform(0.5, 30, len(family)), strict=True)
    ]
    blocks = [design(table.keys, names) for table in tables]
    whole = np.vstack(blocks)
    weights = np.concatenate([np.full(len(block), table.variance**-0.5) for block, table in zip(blocks, tables, strict=True)])
    values = np.concatenate([table.values for table in tables])
    solution = np.linalg.lstsq(whole * weights[:, None], values * weights, rcond=None)[0]
    spread = np.linalg.pinv((whole * weights[:, None]).T @ (whole * weights[:, None]))
    for found, block in zip(agree(tables), blocks, strict=True):
        assert found.values == pytest.approx(block @ solution, abs=1e-8)
        assert found.deviation**2 == pytest.approx(np.diag(block @ spread @ block.T).max(), rel=1e-8)


def test_totals_agree_and_no_figure_is_noisier_than_before():
    rng = np.random.default_rng(6)
    tables = [
        NoisyTable((), (), (1000,), 8.0),
        NoisyTable(("b", "a"), (2, 3), tuple(int(v) for v in rng.integers(100, 200, 6)), 8.0),
        NoisyTable(("a",), (3,), (300, 310, 290), 2.0),
    ]
    total, cells, by_a = agree(tables)
    assert cells.values.reshape(2, 3).sum(axis=0) == pytest.approx(by_a.values)
    assert by_a.values.sum() == pytest.approx(total.values[0])
    for found, table in zip((total, cells, by_a), tables, strict=True):
        assert found.deviation <= table.variance**0.5 + 1e-12


def test_a_key_with_other_values_in_another_table_is_refused():
    with pytest.raises(ValueError, match="same values"):
        agree([NoisyTable(("a",), (2,), (1, 2), 1.0), NoisyTable(("a",), (3,), (1, 2, 3), 1.0)])
    with pytest.raises(ValueError, match="a value for each cell"):
        NoisyTable(("a",), (2,), (1,), 1.0)
    with pytest.raises(ValueError, match="positive variance"):
        NoisyTable((), (), (1,), 0.0)
