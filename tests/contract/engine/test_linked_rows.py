"""Rows that a shared value leads to one source row, against agreements counted one by one."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privrelease.relational.schema import Column, ColumnType, Role, Sink, SinkKind

COLUMNS = [
    Column("id", ColumnType.STRING, Role.DIRECT),
    Column("a", ColumnType.CATEGORY, Role.QUASI),
    Column("n", ColumnType.INTEGER, Role.QUASI),
]


def linked(bench, source, released, columns, shuffles):
    staged = bench.engine.stage(bench.parquet(pa.Table.from_pylist(source), COLUMNS))
    path = bench.folder / "released.parquet"
    pq.write_table(pa.Table.from_pylist(released, pa.schema([("id", "string"), ("a", "string"), ("n", "int64")])), path)
    opened = bench.engine.open_release(Sink(SinkKind.PARQUET, path, "released"), COLUMNS)
    (found,) = bench.engine.identifier_matches(staged, opened, [("id", "id")], ["plain"])
    return found, bench.engine.linked_rows(staged, opened, found, columns, shuffles=shuffles, seed=1)


def test_a_missing_released_cell_agrees_with_any_and_a_missing_source_cell_with_a_missing_one_only(bench):
    source = [
        {"id": "anna", "a": "x", "n": 1},
        {"id": "berta", "a": "y", "n": 2},
        {"id": "clara", "a": None, "n": 3},
        {"id": "twins", "a": "x", "n": 4},
        {"id": "twins", "a": "x", "n": 4},
    ]
    released = [
        {"id": "clara", "a": "x", "n": 3},  # a value where the source has none
        {"id": "berta", "a": None, "n": 2},
        {"id": "anna", "a": "x", "n": 2},
        {"id": "twins", "a": "x", "n": 4},  # two source rows have it: it leads to neither
        {"id": "nobody", "a": "x", "n": 1},
    ]
    found, both = linked(bench, source, released, ["a", "n"], 4)
    assert (found.links, both.rows, both.agree) == (3, 3, 1)
    assert linked(bench, source, released, ["a"], 4)[1].agree == 2


@pytest.mark.parametrize("seed", range(3))
def test_chance_is_the_mean_over_shuffled_source_rows(bench, seed):
    rng = np.random.default_rng(seed)

    def some(values):
        return [None if v == 0 else v for v in values.tolist()]

    n, shuffles = 30, 5
    names = [f"person-{v}" for v in range(n)]
    source = [
        {"id": name, "a": a and f"v{a}", "n": b}
        for name, a, b in zip(names, some(rng.integers(0, 3, n)), some(rng.integers(0, 3, n)), strict=True)
    ]
    order = rng.permutation(n)
    released = [source[row] | ({"a": None} if rng.random() < 0.3 else {}) for row in order]
    found, counted = linked(bench, source, released, ["a", "n"], shuffles)
    links = sorted((int(row), place) for place, row in enumerate(order))
    draws = np.random.default_rng(1)
    agreements = []
    for shuffle in [np.arange(n), *(draws.permutation(n) for _ in range(shuffles))]:
        pairs = [(source[links[one][0]], released[links[place][1]]) for place, one in enumerate(shuffle)]
        agreements.append(sum(all(theirs[c] in (None, ours[c]) for c in ("a", "n")) for ours, theirs in pairs))
    assert (found.links, counted.rows, counted.agree) == (n, n, agreements[0])
    assert counted.by_chance == pytest.approx(sum(agreements[1:]) / shuffles)
