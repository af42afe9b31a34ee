"""The compiled loops load without scipy's linear algebra, and leave it to those who need it."""

from __future__ import annotations

import os
import subprocess
import sys

LOAD = """
import sys
{before}
from privrelease.disclosure.compiled import loop
assert loop()(lambda x: x + 1)(1) == 2
assert ("scipy.linalg" in sys.modules) is {loaded}, "scipy.linalg"
assert "cffi" not in sys.modules
import scipy.linalg
assert scipy.linalg.norm([3.0, 4.0]) == 5.0
"""


JOIN = """
import sys
import numpy as np
from privrelease.disclosure.classes.tries import build_trie, compatible_sums
trie, rows = build_trie(np.array([[1, 1], [1, 0], [2, 1]], np.int32)), np.arange(3)
assert compatible_sums(trie, rows, rows, np.array([1, 10, 100])).tolist() == [11, 11, 100]
assert ("numba.np.linalg" in sys.modules) is {compiler}, "the compiler"
assert "scipy" not in sys.modules and "cffi" not in sys.modules
{after}
"""
ANOTHER = """
assert compatible_sums(trie, rows, rows, np.array([0.5, 10, 100])).tolist() == [10.5, 10.5, 100]
assert "numba.np.linalg" in sys.modules
"""


def _runs(code: str, **environment: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stderr


def test_the_compiled_loops_do_not_load_linear_algebra_and_leave_it_usable() -> None:
    _runs(LOAD.format(before="", loaded=False))


def test_linear_algebra_loaded_before_stays_loaded() -> None:
    _runs(LOAD.format(before="import scipy.linalg", loaded=True))


def test_a_loop_in_the_cache_runs_without_the_compiler_and_one_that_is_not_brings_it(tmp_path) -> None:
    folder = str(tmp_path)
    _runs(JOIN.format(compiler=True, after=""), NUMBA_CACHE_DIR=folder)
    _runs(JOIN.format(compiler=False, after=ANOTHER), NUMBA_CACHE_DIR=folder)


def test_loops_run_as_they_are_where_numba_is_told_not_to_compile() -> None:
    _runs(JOIN.format(compiler=False, after=""), NUMBA_DISABLE_JIT="1")
