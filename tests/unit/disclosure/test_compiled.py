"""The compiled loops load without scipy's linear algebra, and leave it to those who need it."""

from __future__ import annotations

import subprocess
import sys

LOAD = """
import sys
{before}
from privrelease.disclosure.compiled import numba
assert numba.njit(lambda x: x + 1)(1) == 2
assert ("scipy.linalg" in sys.modules) is {loaded}, "scipy.linalg"
assert "cffi" not in sys.modules
import scipy.linalg
assert scipy.linalg.norm([3.0, 4.0]) == 5.0
"""


def _runs(code: str) -> None:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_compiled_loops_do_not_load_linear_algebra_and_leave_it_usable() -> None:
    _runs(LOAD.format(before="", loaded=False))


def test_linear_algebra_loaded_before_stays_loaded() -> None:
    _runs(LOAD.format(before="import scipy.linalg", loaded=True))
