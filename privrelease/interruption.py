"""A person's Ctrl-C or a pipeline's SIGTERM, remembered: what is raised for it can be lost in a library, what was asked for is not.

An exception that a signal raises inside a callback of a library is dropped there, or comes out as an error of that library. The command would go on to
publish. The command line therefore notes the signal too (:func:`ask`), and whatever cannot be taken back asks first (:func:`heed`): the next
release, a charge of the budget, a publication.
"""

from __future__ import annotations

__all__ = ["ask", "asked", "forget", "heed", "is_interruption"]

_ASKED: list[bool] = []


def ask() -> None:
    """Note that this process was asked to stop."""
    _ASKED.append(True)


def asked() -> bool:
    """Return whether this process was asked to stop."""
    return bool(_ASKED)


def forget() -> None:
    """Begin anew: a command that follows another one in the same process was not asked to stop.

    >>> ask()
    >>> asked()
    True
    >>> forget()
    >>> asked()
    False
    """
    _ASKED.clear()


def heed() -> None:
    """Raise KeyboardInterrupt where this process was asked to stop; called before what cannot be taken back."""
    if _ASKED:
        raise KeyboardInterrupt


def is_interruption(error: Exception) -> bool:
    """Return whether a request to stop is behind an error: it was asked for, or the engine says so by this very text.

    >>> is_interruption(RuntimeError("Query interrupted")), is_interruption(ValueError("Query interrupted"))
    (True, False)
    """
    return asked() or (isinstance(error, RuntimeError) and str(error) == "Query interrupted")
