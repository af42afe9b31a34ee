"""How far a sweep goes: a small part of it whenever the tests run, the whole of it in the slow lane.

``make test`` draws the few examples, tables or runs that a test names first; ``make test-slow`` sets ``PRIVRELEASE_TESTS=whole`` and runs every module
that asks :func:`depth` with the larger number, besides the tests marked slow. The few are never so few that a planted fault passes: where a
test plants one, the number holds for the fault.
"""

from __future__ import annotations

import os
from typing import TypeVar

WHOLE = os.environ.get("PRIVRELEASE_TESTS") == "whole"
T = TypeVar("T")


def depth(few: T, whole: T) -> T:
    """What a test takes of a sweep: a number of examples or repetitions, or the cases themselves."""
    return whole if WHOLE else few
