"""numba, loaded without the linear algebra that no loop here uses, and its compiled loops without the compiler.

At its first import numba looks for BLAS by importing ``scipy.linalg``, and at its first call for ``cffi``, which costs a third of a CPU
second in every run; where those are absent it goes on without. So for as long as it looks for them they are
(:mod:`privrelease.lean_imports`). Whoever needs them afterwards, or had them before, is not touched.

Before it takes a loop from its cache numba sets up all that compiling would need. :func:`loop` does so only where it must compile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from privrelease.lean_imports import without

with without("scipy"):
    import numba
    from numba import types
    from numba.core.caching import FunctionCache, NullCache
    from numba.core.runtime.nrt import rtsys
    from numba.core.typeinfer import register_dispatcher

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["loop", "numba", "types"]

_Loop = TypeVar("_Loop", bound="Callable[..., Any]")


def _set_up(target_context: Any) -> None:  # noqa: ANN401 # numba's types
    with without("scipy"), without("cffi"):
        target_context.refresh()


class _Ready(FunctionCache):
    """The cache on disk, which sets up the compiler only for what it does not hold."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:  # noqa: ANN401 # numba's types
        """Return the compiled code of a signature, None where there is none yet."""
        rtsys.initialize(target_context)  # what allocates arrays; the setting up begins with it, too
        found = self._load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        if found is None:
            _set_up(target_context)
        return found


class _Unkept(NullCache):
    """No cache: the compiler is set up for everything."""

    def load_overload(self, sig: Any, target_context: Any) -> None:  # noqa: ANN401 # numba's types
        """Hold nothing."""
        del sig
        _set_up(target_context)


def _cache_of(function: Callable[..., Any]) -> NullCache | FunctionCache:
    try:
        return _Ready(function)  # type: ignore[no-untyped-call]
    except (RuntimeError, OSError):  # numba finds no folder that it may write
        return _Unkept()


def loop(result: Any = None, *arguments: Any) -> Callable[[_Loop], _Loop]:  # noqa: ANN401 # numba's types
    """Compile a function, without the interpreter lock, from the on-disk cache; where no cache folder is writable, without a cache.

    With the types of its ``result`` and ``arguments`` it is compiled at once, else at its first call.

    >>> @loop()
    ... def twice(value):
    ...     return 2 * value
    >>> twice(21)
    42
    """

    def decorate(function: _Loop) -> _Loop:
        compiled: Any = numba.njit(nogil=True)(function)
        if compiled is function:  # numba is told not to compile
            return function
        compiled._cache = _cache_of(function)  # noqa: SLF001 - where `cache=True` puts numba's own
        if arguments:
            with register_dispatcher(compiled):
                compiled.compile(result(*arguments))
            compiled.disable_compile()
        done: _Loop = compiled
        return done

    return decorate
