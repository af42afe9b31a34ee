"""What an auditor asks of an engine about expectations: counts of its own, and what Great Expectations says of the same rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privrelease.engine.protocol.base import ReleasedFile, Staged
    from privrelease.relational.expectations import Counted, Expectation

__all__ = ["ExpectationEngine"]


class ExpectationEngine(Protocol):
    """An engine that counts what meets an expectation. No answer holds a value of a cell."""

    def count_expectation(self, of: Staged | ReleasedFile, expectation: Expectation, *, places: bool = False) -> Counted:
        """Count what is looked at and what fails; ``places``: say where the first failing rows are (from 1)."""
        ...

    def great_expectations(
        self, of: Staged | ReleasedFile, expectations: Sequence[tuple[Expectation, float]]
    ) -> tuple[bool | None, ...]:
        """Have Great Expectations evaluate expectations, each with the share that must meet it; None: it could not evaluate one.

        The library is loaded by the first call. It is asked whether an expectation holds and for nothing else: its other results, and
        the texts of its errors, hold cells.
        """
        ...
