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
