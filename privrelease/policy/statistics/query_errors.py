"""What is wrong with a query, told at its place inside the release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

__all__ = ["Fault", "FaultError", "fail"]


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong, at a path inside the release (``whole``: inside the policy)."""

    code: str
    message: str
    path: tuple[str | int, ...]
    hint: str | None = None
    whole: bool = False
    key: bool = False
    warn: bool = False


class FaultError(Exception):
    """Stops the resolution of one query; the others go on."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


def fail(code: str, message: str, *path: str | int, hint: str | None = None, key: bool = False) -> NoReturn:
    """Raise a fault at a path inside the query."""
    raise FaultError(Fault(code, message, path, hint, key=key))
