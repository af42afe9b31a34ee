"""numba, loaded without the linear algebra that no loop here uses.

At its first import numba looks for BLAS by importing ``scipy.linalg``, and at its first call for ``cffi``, which costs a third of a CPU
second in every run; where those are absent it goes on without. So for the length of the import they are
(:mod:`privrelease.loading`). Whoever needs them afterwards, or had them before, is not touched.
"""

from __future__ import annotations

from privrelease.loading import without

__all__ = ["numba", "types"]

with without("scipy.linalg"), without("cffi"):
    import numba
    import numba.core.typing.cffi_utils
    import numba.np.arraymath
    from numba import types
