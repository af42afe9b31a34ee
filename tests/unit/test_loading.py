"""What libraries only look for is absent while they load, and there for whoever needs it afterwards."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from importlib.metadata import version

import pytest

from privrelease.lean_imports import version_of

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


FUNCTIONS = """
import inspect
import sys
import pyarrow as pa
if sys.argv[1] == "later":
    from privrelease.lean_imports import arrow_alone
    arrow_alone()
import pyarrow.compute as pc
wrapped = [name for name in dir(pc) if callable(getattr(pc, name)) and getattr(pc, name).__module__ == "pyarrow.compute"]
print(len(wrapped) < 120 if sys.argv[1] == "later" else len(wrapped) > 280, file=sys.stderr)
for name in sorted({*pc.function_registry().list_functions(), "and_", "or_", "none_of_these"}):
    try:
        one = getattr(pc, name)
        assert one is getattr(pc, name)
        print(name, one.__name__, inspect.signature(one), one.__arrow_compute_function__)
    except AttributeError as error:
        print(name, error)
print(pc.equal(pa.array([1, 2]), 2).to_pylist(), pc.and_(True, False), pc.utf8_zfill(pa.array(["1"]), 3).to_pylist(), pc.index_in(pa.array([3]), value_set=pa.array([3])))
print(pc.equal(pc.field("a"), 2), pa.array([2, 1]).sort().to_pylist(), pa.table({"a": [1, 1]}).group_by("a").aggregate([("a", "sum")]).to_pylist())
from pyarrow.compute import utf8_lower
print(utf8_lower(pa.scalar("A")))
"""


def test_arrow_wraps_functions_when_they_are_asked_for_and_they_are_the_same() -> None:
    done = [
        subprocess.run([sys.executable, "-c", FUNCTIONS, when], capture_output=True, text=True, check=False)
        for when in ("later", "at once")
    ]
    assert [one.stderr for one in done] == ["True\n", "True\n"]
    assert done[0].stdout == done[1].stdout
    assert "divide divide (dividend, divisor" in done[0].stdout


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


NUMBERS = """
import sys
from privrelease.lean_imports import numbers_alone
numbers_alone()
import numpy as np
assert not np.ndarray.all.__doc__
import numpy.ma
import pandas
import scipy.stats
assert np.ma.masked_array([1, 2], [False, True]).sum() == 1 == pandas.Series([1, None]).sum()
assert np.sort(np.array([2, 1])).tolist() == [1, 2] and np.float64(2).as_integer_ratio() == (2, 1)
"""


def test_numpy_works_without_its_docstrings_and_so_do_those_that_build_on_it() -> None:
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", NUMBERS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


METHODS = """
import dataclasses
import inspect
from privrelease.lean_imports import _Method, methods_later

def made():
    @dataclasses.dataclass
    class Plain:
        a: int
        b: list = dataclasses.field(default_factory=list)
    @dataclasses.dataclass(frozen=True, slots=True, order=True)
    class Place:
        "A place."
        file: str
        line: int = 0
        def __post_init__(self):
            object.__setattr__(self, "line", self.line + 1)
    @dataclasses.dataclass(frozen=True)
    class Below:
        c: int = dataclasses.field(default=3, kw_only=True)
    @dataclasses.dataclass(frozen=True)
    class Further(Below):
        d: int = 4
    return Plain, Place, Below, Further

def of(work):
    try:
        return work()
    except Exception as error:
        return type(error), str(error)

def told(classes):
    Plain, Place, Below, Further = classes
    return [of(work) for work in (
        lambda: repr(Plain(1)), lambda: Plain(1) == Plain(1, []), lambda: hash(Plain(1)), lambda: Plain(), lambda: Plain(1, [2]).b,
        lambda: repr(Place("x")), lambda: Place("x") < Place("y"), lambda: Place("x") < 3, lambda: hash(Place("x")) == hash(Place("x")),
        lambda: setattr(Place("x"), "file", "y"), lambda: delattr(Place("x"), "file"), lambda: Place.__slots__, lambda: Place(1, 2, 3),
        lambda: repr(Below(c=4)), lambda: Below(4), lambda: repr(Further(5, c=6)), lambda: Further(5) == Further(5),
        lambda: Further(5) == Below(), lambda: setattr(Further(5), "d", 6), lambda: setattr(Further(5), "new", 6),
        lambda: str(inspect.signature(Further)), lambda: Plain.__eq__.__qualname__, lambda: Further.__init__.__qualname__,
        lambda: Place.__repr__.__qualname__, lambda: Place.__repr__.__name__, lambda: Place.__repr__.__module__,
        lambda: Place.__init__.__module__, lambda: Place.__doc__, lambda: repr(dataclasses.replace(Place("x"), file="z")),
        lambda: dataclasses.asdict(Further(5)), lambda: Plain.__match_args__, lambda: Plain.__hash__,
    )]

theirs = made()
with methods_later():
    ours = made()
after = made()
later = sys.version_info < (3, 13)
assert isinstance(vars(ours[0])["__init__"], _Method) == later
assert not isinstance(vars(after[0])["__init__"], _Method)
assert told(ours) == told(theirs) == told(after), [pair for pair in zip(told(ours), told(theirs)) if pair[0] != pair[1]]
assert not isinstance(vars(ours[0])["__init__"], _Method)  # compiled once, and put in its place
assert (ours[0].__doc__ == "Plain(...)") == later
assert theirs[0].__doc__ == after[0].__doc__ != "Plain(...)"
"""


def test_methods_of_dataclasses_are_compiled_when_they_are_called_and_are_the_same() -> None:
    done = subprocess.run([sys.executable, "-c", f"import sys\n{METHODS}"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["duckdb", "numpy", "pyarrow", "scipy", "sqlglot"])
def test_a_loaded_library_says_the_version_of_its_package(name: str) -> None:
    import_module(name)
    assert version_of(name) == version(name)


@pytest.mark.parametrize("name", ["duckdb-driver", "PyYAML"])
def test_the_package_of_a_library_that_is_not_loaded_says_its_version(name: str) -> None:
    assert version_of(name) == version(name)


LATER_METHODS = """
import sys
from privrelease.lean_imports import _Method, database_alone, dialect_alone, models_alone
models_alone()
dialect_alone()
database_alone()
from annotated_types import Interval
from duckdb._relation import Join
from sqlglot.diff import Move
assert all(isinstance(vars(one)["__init__"], _Method) for one in (Interval, Join, Move)) == (sys.version_info < (3, 13))
assert repr(Interval(gt=3)) == "Interval(gt=3, ge=None, lt=None, le=None)"
import duckdb
assert duckdb.sql("SELECT 1 AS a").join(duckdb.sql("SELECT 1 AS a"), "a").fetchall() == [(1,)]
"""


def test_libraries_whose_methods_are_compiled_later_work() -> None:
    done = subprocess.run([sys.executable, "-c", LATER_METHODS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
