"""Counts of an engine over rows of three columns."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privrelease.engine.duckdb import DuckDBEngine
from privrelease.engine.protocol.base import EngineSettings
from privrelease.execute.common.envelopes import EngineCounts
from privrelease.relational.aggregates import Bounding
from tests.unit.execute.common.envelope_examples import ASKED, SOURCE


@pytest.fixture
def counts_of(tmp_path):
    """Counts of an engine over rows of three columns."""
    schema = pa.schema([("sex", pa.string()), ("age", pa.int64()), ("note", pa.string())])
    path = tmp_path / "rows.parquet"
    with DuckDBEngine(EngineSettings(readable=(tmp_path,))) as engine:

        def made(rows):
            pq.write_table(pa.table(rows, schema=schema), path)
            return EngineCounts(engine, engine.stage(replace(SOURCE, path=str(path))), Bounding(None, 1, 5), ASKED)

        yield made


@pytest.fixture
def counts(counts_of):
    sexes, ages = ["F"] * 300 + ["M"] * 200 + [None] * 100, [30] * 300 + [70] * 250 + [None] * 50
    return counts_of({"sex": sexes, "age": ages, "note": ["a"] * 600})
