"""Progress of an execution: reported to a callback, never printed here."""

from __future__ import annotations

from typing import Protocol

__all__ = ["Progress", "silent"]


class Progress(Protocol):
    """Called at the beginning of a step, and with the share of it that is done where that is known."""

    def __call__(self, step: str, fraction: float | None, /) -> None:
        """Take note."""
        ...


def silent(_step: str, _fraction: float | None, /) -> None:
    """Take no note."""
