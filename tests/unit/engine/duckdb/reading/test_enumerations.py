"""Columns of texts are looked at together in a small file and one by one in a large one: the same codes, warnings and refusals."""

from __future__ import annotations

import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import privrelease.engine.duckdb.reading.enumerations as enumerations
from privrelease.errors import InputError
from privrelease.relational.schema import Column, ColumnFormat, ColumnType, Role, SourceKind, TableSource

TEXTS = ["ann", "Ann", "ann ", "\u00e9", "e\u0301", "", " ", "NA", "x", "y", None]
COLUMNS = (
    Column("who", ColumnType.STRING, Role.DIRECT),
    Column("area", ColumnType.CATEGORY, Role.QUASI, format=ColumnFormat(missing=("", "NA"))),
    Column("job", ColumnType.CATEGORY, Role.QUASI, format=ColumnFormat(normalise=("nfc", "trim"))),
    Column("note", ColumnType.STRING, Role.INSENSITIVE, format=ColumnFormat(aliases=(("x", "y"),))),
)


def staged(engine, values, source):
    """What staging makes of a source: cells, values of each enumeration and warnings; or the codes that refuse it."""
    try:
        found = engine.stage(source)
    except InputError as error:
        return sorted(one.code for one in error.findings or (error,))
    table = engine._staged[found.handle]
    run = engine._connection._connection.execute
    codes = [None if one is None else run(f"SELECT unnest(enum_range(NULL::{one}))::VARCHAR").fetchall() for one in table.coded]
    assert table.few == (True,) * len(COLUMNS)
    return values(found), codes, [str(one) for one in found.warnings]


@pytest.mark.parametrize("seed", range(6))
def test_few_rows_are_read_as_many_are(engine, values, tmp_path, monkeypatch, seed):
    drawn = random.Random(seed)
    texts = [*TEXTS, *(["a\0b"] if seed == 5 else [])]
    rows = {column.name: pa.array([drawn.choice(texts) for _ in range(40)], pa.string()) for column in COLUMNS}
    if seed == 4:
        rows["job"] = pa.nulls(40, pa.string())
    pq.write_table(pa.table(rows), tmp_path / "in.parquet")
    source = TableSource("d", SourceKind.PARQUET, str(tmp_path / "in.parquet"), "in.parquet", COLUMNS, unit="who")
    together = staged(engine, values, source)
    monkeypatch.setattr(enumerations, "_SAMPLES", ((39, 39), (122_880, 30_000)))
    monkeypatch.setattr(enumerations, "_glance", None)  # it is not asked where rows are many
    assert staged(engine, values, source) == together
    assert (together == ["D113"] * len(together)) == (seed == 5)
    assert seed == 5 or any("D253" in one for one in together[2])
