"""The extension is the one of these sources, refuses arguments that it would misread, and is done without where it cannot be loaded."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from privrelease.loops import INTERFACE, compiled

ROOT = Path(__file__).resolve().parents[3]
SOLVE = """
import sys, warnings
import numpy as np
from fractions import Fraction
{before}
from privrelease.disclosure.classes.equivalence_classes import ClassTable
from privrelease.disclosure.suppression.cell_suppression import suppress_cells
from privrelease.disclosure.suppression.problem import Problem, Requirement
from privrelease.disclosure.risk.thresholds import Thresholds
rows = np.random.default_rng(7).integers(0, 4, (300, 4))
codes, counts = np.unique(rows, axis=0, return_counts=True)
table = ClassTable(tuple("abcd"), np.ascontiguousarray(codes, np.int32), counts)
known = Requirement("one", (0, 1, 2, 3), Thresholds(highest=Fraction(1, 5)))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for _ in range(2):
        solution = suppress_cells(Problem(table, (known,), (Fraction(1),) * 4))
from privrelease import loops
print(loops.running(), loops.fell_back(), [str(one.message).split(":")[0] for one in caught])
print(solution.lost_cells.tolist(), solution.records.tolist())
"""
NO_EXTENSION = "sys.modules['privrelease.loops.compiled'] = None"


def run(before: str = "", loops: str = "") -> tuple[str, str]:
    code = SOLVE.format(before=before)
    environment = {**os.environ, "PRIVRELEASE_LOOPS": loops}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        return "failed", done.stderr
    first, rest = done.stdout.split("\n", 1)
    return first, rest


def test_the_extension_was_built_from_these_sources():
    spec = importlib.util.spec_from_file_location("setup_of_the_package", ROOT / "setup.py")
    setup = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(setup)
    assert setup.digest() == compiled.SOURCES, "build it again: pip install --no-deps --no-build-isolation --editable ."
    assert compiled.INTERFACE == INTERFACE


def test_without_the_extension_the_plain_loops_find_the_same_and_say_so_once():
    compiled_says, compiled_solution = run()
    plain_says, plain_solution = run(NO_EXTENSION)
    assert compiled_says == "compiled False []"
    assert plain_says == "plain True ['the compiled loops cannot be loaded']"
    assert compiled_solution == plain_solution


def test_plain_loops_that_were_asked_for_say_nothing():
    assert run(loops="plain")[0] == "plain False []"


def test_an_extension_of_another_version_is_not_used():
    other = "import types\nsys.modules['privrelease.loops.compiled'] = types.SimpleNamespace(INTERFACE=0)"
    assert run(other)[0].startswith("plain True")


@pytest.mark.parametrize(("before", "loops", "code"), [("", "fast", "C186"), (NO_EXTENSION, "compiled", "C187")])
def test_a_choice_that_cannot_be_met_stops(before, loops, code):
    assert code in run(before, loops)[1]


KEYS, KEPT, TABLE = np.zeros((1, 3), np.uint64), np.zeros((1, 1), np.uint64), np.zeros(16, np.uint64)


@pytest.mark.parametrize(
    "arguments",
    [
        (KEYS, KEPT),
        (KEYS, KEPT, TABLE, TABLE),
        (KEYS[0], KEPT, TABLE),
        (KEYS.astype(np.int64), KEPT, TABLE),
        (KEYS, KEPT, TABLE.astype(np.float64)),
        (KEYS, KEPT, TABLE.astype(np.uint32)),
        (KEYS, KEPT, 3),
    ],
)
def test_arguments_of_another_type_shape_or_number_are_refused(arguments):
    with pytest.raises(TypeError):
        compiled.count_distinct(*arguments)


def test_arrays_that_are_strided_or_must_not_be_written_are_refused():
    fixed = TABLE.copy()
    fixed.flags.writeable = False
    with pytest.raises((BufferError, ValueError)):
        compiled.count_distinct(KEYS, KEPT, fixed)
    with pytest.raises((BufferError, ValueError)):
        compiled.count_distinct(np.zeros((1, 6), np.uint64)[:, ::2], KEPT, TABLE)
