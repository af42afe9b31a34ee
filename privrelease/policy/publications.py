"""The log of publications as a policy names it."""

from __future__ import annotations

from typing import Final

__all__ = ["DEFAULT_LOG", "IN_LEDGER"]

#: The log of a policy that names none, next to it.
DEFAULT_LOG: Final = "publications.jsonl"

#: What stands in place of a path where the ledger keeps the log.
IN_LEDGER: Final = "ledger"
