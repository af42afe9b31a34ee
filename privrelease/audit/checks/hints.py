"""Remedies that several checks share. Every check and every other finding states its own, so that no finding lacks a way to act on it."""

from __future__ import annotations

from typing import Final

__all__ = ["AGAIN", "EDITED", "FAULT", "NOT_MADE_HINT"]

AGAIN: Final = "run the release again and publish what that run makes"
EDITED: Final = f"do not publish this file: it is not what the run made; {AGAIN}"
FAULT: Final = f"the file was altered after the run, or this is a fault of ours: {AGAIN}; report it if it stays"

#: Of a check of the policy, or of the limit of an attack, that could not be made.
NOT_MADE_HINT: Final = "hand over what it lacks, or have a person decide without it"
