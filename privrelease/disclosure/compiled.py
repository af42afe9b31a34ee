"""numba, loaded without the linear algebra that no loop here uses.

At its first import numba looks for BLAS by importing ``scipy.linalg``, which costs a quarter of a CPU second in every run; where that
module is absent it goes on without. So for the length of the import it is: None in ``sys.modules`` is how Python says that a module
cannot be had. Whoever needs scipy afterwards, or had it before, is not touched.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

__all__ = ["numba", "types"]


@contextmanager
def _without(name: str) -> Iterator[None]:
    """Make ``import name`` fail inside, unless the module is loaded already."""
    modules: dict[str, ModuleType | None] = sys.modules  # type: ignore[assignment]  # typeshed does not know the None that the import system does
    if name in modules:
        yield
        return
    modules[name] = None
    try:
        yield
    finally:
        del modules[name]


with _without("scipy.linalg"):
    import numba
    import numba.np.arraymath
    from numba import types
