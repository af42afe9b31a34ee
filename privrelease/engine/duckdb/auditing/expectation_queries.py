"""The part of the DuckDB engine that an auditor asks about expectations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from privrelease.engine.duckdb.auditing.expectations import counted
from privrelease.engine.duckdb.auditing.great_expectations import evaluated
from privrelease.engine.protocol.base import ReleasedFile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.duckdb.measuring.opening import Opened
    from privrelease.engine.protocol.base import Staged
    from privrelease.relational.expectations import Counted, Expectation
    from privrelease.relational.schema import ColumnType

__all__ = ["ExpectationQueries"]


def _types(of: Staged | ReleasedFile) -> dict[str, ColumnType]:
    return dict(of.columns) if isinstance(of, ReleasedFile) else {column.name: column.type for column in of.columns}


class ExpectationQueries(ABC):
    """See :class:`privrelease.engine.protocol.expectations.ExpectationEngine`."""

    _connection: Connection

    @abstractmethod
    def _opened(self, of: Staged | ReleasedFile) -> Opened: ...

    def count_expectation(self, of: Staged | ReleasedFile, expectation: Expectation, *, places: bool = False) -> Counted:
        """Count what is looked at and what fails."""
        return counted(self._connection, self._opened(of), _types(of), expectation, places=places)

    def great_expectations(
        self, of: Staged | ReleasedFile, expectations: Sequence[tuple[Expectation, float]]
    ) -> tuple[bool | None, ...]:
        """Have Great Expectations evaluate expectations."""
        return evaluated(self._connection, self._opened(of), expectations) if expectations else ()
