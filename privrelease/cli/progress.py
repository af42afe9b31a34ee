"""Progress of an execution, in words, on stderr."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from privrelease.cli.console import Console

__all__ = ["Steps"]

_WORDS = {
    "read": "reading the source",
    "classes": "collapsing rows to classes",
    "suppress": "choosing cells to suppress",
    "sweep": "protecting at each threshold",
    "write": "writing the release",
    "manifest": "describing the release",
    "audit": "auditing what was written",
}


class Steps:
    """Says when a step begins; smaller steps, and the share that is done, only where more is asked for."""

    def __init__(self, console: Console, release: str) -> None:
        self._console = console
        self._release = release
        self._last = ""

    def __call__(self, step: str, fraction: float | None, /) -> None:
        """Take note of a step, and of the share of it that is done where that is known."""
        words = _WORDS.get(step, step)
        if step != self._last:
            self._last = step
            self._console.log(f"{self._release}: {words}", level=0 if step in _WORDS else 1)
        elif fraction is not None:
            self._console.log(f"{self._release}: {words}: {fraction:.0%}", level=2)
