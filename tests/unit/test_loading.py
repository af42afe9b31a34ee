"""What libraries only look for is absent while they load, and there for whoever needs it afterwards."""

from __future__ import annotations

import subprocess
import sys

ALONE = """
import sys
import numpy as np
from privrelease.lean_imports import arrow_alone
arrow_alone()
import pyarrow as pa
column = pa.chunked_array([pa.array([1, None]), pa.array([3])])
assert np.asarray(column.fill_null(2)).tolist() == [1, 2, 3]
assert pa.array(["a"]).dictionary_encode().to_pylist() == ["a"]
assert "pandas" not in sys.modules
assert column.to_pandas().sum() == 4
assert "pandas" in sys.modules
"""


def test_arrow_needs_no_pandas_and_finds_it_when_asked() -> None:
    done = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


LATER = """
import sys
from privrelease.engine.duckdb.auditing import great_expectations_source as source
seldom = [name for name in sys.modules if name.partition(".")[0] == "altair" or name.startswith("scipy.stats.")]
assert seldom == ["altair"], seldom
from great_expectations.expectations.core import expect_column_kl_divergence_to_be_less_than as rare
assert rare.stats.entropy([0.5, 0.5], [0.5, 0.5]) == 0
assert "scipy.stats._entropy" in sys.modules
assert rare.alt.Chart.__name__ == "Chart"
assert not [finder for finder in sys.meta_path if type(finder).__module__ == "privrelease.lean_imports"]
"""


def test_great_expectations_loads_what_few_expectations_use_when_they_use_it() -> None:
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", LATER], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


TEMPLATES = """
import importlib
from privrelease.lean_imports import _Template, dialect_alone
dialect_alone()
from sqlglot import parse_one
from sqlglot.generators import duckdb as module
ASKED = "SELECT SEQ4(), MINHASH(3, a), RANDSTR(3, 4)"
later = {name for name, value in vars(module.DuckDBGenerator).items() if isinstance(value, _Template)}
assert len(later) > 15, later
found = {name: getattr(module.DuckDBGenerator(), name).sql() for name in later} | {"base": module._SEQ_BASE.copy().sql()}
written = parse_one(ASKED, dialect="snowflake").sql(dialect="duckdb")
importlib.reload(module)
assert found == {name: getattr(module.DuckDBGenerator, name).sql() for name in later} | {"base": module._SEQ_BASE.sql()}
assert not isinstance(module._SEQ_BASE, _Template)
assert written == module.DuckDBGenerator(dialect="duckdb").generate(parse_one(ASKED, dialect="snowflake"))
"""


def test_templates_of_the_dialect_are_parsed_when_they_are_used_and_are_the_same() -> None:
    done = subprocess.run([sys.executable, "-c", TEMPLATES], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


PLUGINS = """
import os
import sys
from privrelease.lean_imports import models_alone
os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
models_alone()
from pydantic import BaseModel
class Made(BaseModel):
    rows: int
assert Made(rows="3").rows == 3
assert "importlib.metadata" not in sys.modules
del os.environ["PYDANTIC_DISABLE_PLUGINS"]
from pydantic.plugin import _loader
from types import SimpleNamespace
import importlib.metadata as real
assert real.__spec__ is not None
asked = []
real.entry_points = lambda **wanted: asked.append(wanted) or [SimpleNamespace(value="x:y", name="y", load=lambda: "plugin")]
assert list(_loader.get_plugins()) == ["plugin"]
assert asked == [{"group": "pydantic"}]
"""


def test_pydantic_finds_its_plugins_where_they_are_not_disabled() -> None:
    done = subprocess.run([sys.executable, "-c", PLUGINS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
