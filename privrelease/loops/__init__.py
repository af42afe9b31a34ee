"""Inner loops in C where the extension is installed, the same loops in plain Python and numpy where it is not.

A room that has a loop keeps its plain form, and takes the compiled one from :func:`extension` where there is one. Both give the same
values, so a release has the same bytes with either; ``PRIVRELEASE_LOOPS=plain`` asks for the plain ones, ``compiled`` refuses to go on
without the extension.
"""

from __future__ import annotations

import os
import warnings
from functools import cache
from typing import TYPE_CHECKING, Literal

from privrelease.errors import InputError

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["INTERFACE", "PLAIN", "extension", "fell_back", "running"]

#: What a loop takes and means; the extension states the number it was built with. Raised with every change of a signature.
INTERFACE = 6

#: How the warning of a missing extension begins.
PLAIN = "the compiled loops cannot be loaded"

_VARIABLE = "PRIVRELEASE_LOOPS"


@cache
def extension() -> ModuleType | None:
    """Return the compiled loops; None where the plain ones are to run, with a RuntimeWarning, once, unless they were asked for.

    Raises InputError: C186 for an unknown value of ``PRIVRELEASE_LOOPS``, C187 where it is ``compiled`` and they cannot be loaded.
    """
    wanted = os.environ.get(_VARIABLE, "")
    if wanted not in {"", "plain", "compiled"}:
        raise InputError(
            code="C186",
            message=f"{_VARIABLE} is neither `plain` nor `compiled`",
            hint="remove it for the loops that are installed",
        )
    if wanted == "plain":
        return None
    why = "the extension is not installed"
    try:
        from privrelease.loops import compiled
    except ImportError as error:
        if error.name is None:  # it is there, and the system's loader does not take it
            why = "the extension does not fit this system"
    else:
        if compiled.INTERFACE == INTERFACE:
            return compiled
        why = "the extension is of another version"
    hint = "install a wheel for this system, or install from source where a C compiler is found"
    if wanted == "compiled":
        raise InputError(code="C187", message=f"{PLAIN}: {why}", hint=hint)
    warnings.warn(f"{PLAIN}: {why}; plain ones do the same work more slowly ({hint})", RuntimeWarning, stacklevel=2)
    return None


def running() -> Literal["compiled", "plain"]:
    """Return which loops this process runs."""
    return "plain" if extension() is None else "compiled"


def fell_back() -> bool:
    """Return whether plain loops ran in this process though no one asked for them."""
    return extension.cache_info().currsize > 0 and extension() is None and os.environ.get(_VARIABLE) != "plain"
