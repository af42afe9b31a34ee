"""Rows are staged and recoded in the order of their source, whatever asks of their cells, by several threads and over several groups of rows.

A join loses it: DuckDB makes one of ``IN`` and ``list_contains`` with five constants and more.
"""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from privrelease.engine.protocol.base import Recode
from privrelease.relational.recoding import Prefix
from privrelease.relational.schema import Column, ColumnFormat, ColumnType, Domain, Role, SourceKind, TableSource

ROWS = 300_000
MARKS = ("", "na", "NA", "n/a", "none", "-", ".", "?")
NUMBERS = tuple(str(n) for n in range(1_000_000, 1_000_008))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Return a CSV and a Parquet file, of which each row says its number in every column but the last."""
    folder, numbers = tmp_path_factory.mktemp("order"), np.arange(ROWS)
    texts = pa.array([f"t{n:06d}" for n in numbers])
    table = pa.table({"n": numbers, "x": numbers / 4, "t": texts, "k": pa.array([f"k{n % 9}" for n in numbers])})
    pa.csv.write_csv(table, folder / "rows.csv", pa.csv.WriteOptions(quoting_style="none"))
    pq.write_table(table, folder / "rows.parquet")
    return folder


def source(files, kind, domain=None):
    """Every column has more marks of missing values than DuckDB compares one by one."""
    marked, numbers = ColumnFormat(missing=MARKS), ColumnFormat(missing=NUMBERS)
    columns = (
        Column("n", ColumnType.INTEGER, Role.QUASI, format=numbers),
        Column("x", ColumnType.NUMBER, Role.QUASI, format=numbers, grid=Decimal("0.25")),
        Column("t", ColumnType.STRING, Role.QUASI, format=marked),
        Column("k", ColumnType.CATEGORY, Role.QUASI, domain, format=marked),
    )
    file = files / f"rows.{kind.value}"
    return TableSource("rows", kind, str(file), file.name, columns)


def cells(engine, staged, place=0):
    """The cells of a staged table in the order in which they are stored."""
    table = engine._staged[staged.handle].table
    return engine._connection._connection.execute(f"SELECT c{place} AS c FROM {table}").fetchnumpy()["c"]


@pytest.mark.parametrize("kind", [SourceKind.CSV, SourceKind.PARQUET])
def test_marks_of_missing_values_keep_the_order(engine, files, kind):
    staged = engine.stage(source(files, kind))
    assert np.array_equal(cells(engine, staged), np.arange(ROWS))
    assert np.array_equal(cells(engine, staged, 1).astype(float) * 4, np.arange(ROWS))


@pytest.mark.parametrize("kind", [SourceKind.CSV, SourceKind.PARQUET])
def test_rows_outside_a_list_are_left_out_of_the_order(engine, files, kind):
    listed = Domain(values=tuple(f"k{n}" for n in range(8)), outside="drop")
    staged = engine.stage(source(files, kind, listed))
    inside = np.arange(ROWS)[np.arange(ROWS) % 9 != 8]
    assert staged.n_rows == len(inside)
    assert np.array_equal(cells(engine, staged), inside)


def test_prefixes_beside_names_of_their_own_keep_the_order(engine, files):
    """Names that stand for themselves are looked up in a table."""
    staged = engine.stage(source(files, SourceKind.PARQUET))
    apart = frozenset(f"t{n:06d}" for n in range(0, ROWS, 1000))
    recode = Recode(
        Column("t", ColumnType.CATEGORY, Role.QUASI), lambda values: pc.utf8_slice_codeunits(values, 0, 4), Prefix(4, apart)
    )
    made = engine.recode(staged, (recode,))
    labels = cells(engine, made, 2)
    assert [str(label) for label in labels[::997]] == [f"t{n:06d}"[:4] for n in range(0, ROWS, 997)]
