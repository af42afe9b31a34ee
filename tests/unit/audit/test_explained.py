"""The conditions of ``audit/explained.py`` against an assignment of source rows that is searched for outright."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from privrelease.audit.microdata.source_consistency import explain
from privrelease.engine.duckdb import DuckDBEngine
from privrelease.engine.protocol.base import EngineSettings
from privrelease.relational.schema import Column, ColumnType, Role, Sink, SinkKind, SourceKind, TableSource
from privrelease.relational.treatments import AsIs

NAMES = ("a", "b", "c", "d")
LOOSE = ("a", "b", "c")


def without_source_row(released, source):
    """How many released rows no assignment gives a source row of its own; 0 stands for missing."""
    loose = np.array([name in LOOSE for name in NAMES])
    agree = (released[:, None, :] == source[None]) | ((released[:, None, :] == 0) & loose)
    found = maximum_bipartite_matching(csr_array(agree.all(axis=2).astype(np.int8)), perm_type="column")
    return int(np.count_nonzero(found < 0))


def stored(path, rows):
    table = {name: pa.array([int(cell) or None for cell in rows[:, place]], pa.int64()) for place, name in enumerate(NAMES)}
    pq.write_table(pa.table(table), path)


@pytest.fixture
def explained(tmp_path):
    columns = tuple(Column(name, ColumnType.INTEGER, Role.QUASI) for name in NAMES)
    usable = tuple(SimpleNamespace(name=name, treatment=AsIs()) for name in NAMES)
    plan = SimpleNamespace(unit=None, lossy=frozenset(LOOSE), columns=usable)
    number = iter(range(10**6))
    with DuckDBEngine(EngineSettings(readable=(tmp_path,), threads=1)) as engine:

        def ask(released, source):
            paths = [tmp_path / f"{next(number)}.parquet" for _ in range(2)]
            for path, rows in zip(paths, (source, released), strict=True):
                stored(path, rows)
            staged = engine.stage(TableSource("d", SourceKind.PARQUET, str(paths[0]), "d", columns))
            file = engine.hold(engine.open_release(Sink(SinkKind.PARQUET, paths[1], "r"), columns, marked=True), staged)
            return explain(SimpleNamespace(plan=plan, source=staged, main=file, usable=usable), engine)

        yield ask


def masked(rows, draw, share, columns):
    rows = rows.copy()
    for column in columns:
        rows[draw.random(len(rows)) < share, column] = 0
    return rows


@pytest.mark.parametrize("seed", range(12))
def test_what_was_only_dropped_and_suppressed_is_always_explained(explained, seed):
    draw = np.random.default_rng(seed)
    source = masked(draw.integers(1, 4, (12, 4)), draw, 0.1, range(4))
    released = masked(draw.permutation(source)[: draw.integers(1, 13)], draw, 0.3, range(3))
    found = explained(released, source)
    assert (found.recoded, found.over, found.rows) == ((), (), 0)
    assert found.tried == found.patterns == len(np.unique(released[:, :3] > 0, axis=0))


@pytest.mark.parametrize("seed", range(30))
def test_what_fails_has_no_assignment_and_what_holds_on_nested_sets_has_one(explained, seed):
    draw = np.random.default_rng(100 + seed)
    source = draw.integers(1, 4, (10, 4))
    released = draw.permutation(source)[:8]
    for _ in range(draw.integers(1, 4)):
        released[draw.integers(8), draw.integers(4)] = draw.integers(1, 5)
    released = masked(released, draw, 0.4, (0,) if seed % 2 else range(3))
    left = without_source_row(released, source)
    found = explained(released, source)
    assert bool(found.over or found.recoded) == bool(found.rows)
    assert found.rows <= left  # never more than is certain
    if found.nested:
        assert bool(found.rows) == bool(left)
    assert found.nested or not seed % 2
