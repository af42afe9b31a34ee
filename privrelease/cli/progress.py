"""Progress of an execution, in words, on stderr."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from privrelease.cli.console import Console
    from privrelease.engine.protocol.audit import AuditEngine
    from privrelease.engine.protocol.base import EngineSettings
    from privrelease.pipeline.settings import Settings
    from privrelease.pipeline.world import World

__all__ = ["Steps", "world_of"]

_WORDS = {
    "read": "reading the source",
    "fit": "measuring and fitting",
    "draw": "drawing rows",
    "classes": "collapsing rows to classes",
    "suppress": "choosing cells to suppress",
    "needless": "printing cells again that are not needed",
    "joint": "seeking the suppression that loses least",
    "sweep": "protecting at each threshold",
    "write": "writing the release",
    "manifest": "describing the release",
    "audit": "auditing what was written",
}

#: The share of a step from which the rest is estimated.
_TOLD = 0.05


class Steps:
    """Says when a step begins; smaller steps, and the share that is done, only where more is asked for."""

    def __init__(self, console: Console, release: str) -> None:
        self._console = console
        self._release = release
        self._last = ""
        self._begun = 0.0

    def __call__(self, step: str, fraction: float | None, /) -> None:
        """Take note of a step, and of the share of it that is done where that is known."""
        words = _WORDS.get(step, step)
        if step != self._last:
            self._last, self._begun = step, time.monotonic()
            self._console.log(f"{self._release}: {words}", level=0 if step in _WORDS else 1)
        elif fraction is not None:
            self._console.log(f"{self._release}: {words}: {fraction:.0%}{self._left(fraction)}", level=2)

    def _left(self, fraction: float) -> str:
        """Return the estimated time that a step still takes, in words; nothing where too little of it is done."""
        if not _TOLD <= fraction < 1:
            return ""
        return f", about {(time.monotonic() - self._begun) * (1 - fraction) / fraction:.0f} s left"


def world_of(settings: Settings, console: Console) -> World:
    """Return the world of a command: its settings, and progress on its console."""
    from privrelease.pipeline.world import World

    return World(
        settings, open_engine=_engine, progress=lambda release: Steps(console, release), log=console.log, notice=console.say
    )


def _engine(settings: EngineSettings) -> AbstractContextManager[AuditEngine]:
    from privrelease.engine.open import open_engine
    from privrelease.lean_imports import arrow_of_a_command, database_alone, dialect_alone

    arrow_of_a_command()
    dialect_alone()
    database_alone()
    return open_engine(settings)
