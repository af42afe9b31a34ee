"""The one place that makes engines: everything else asks for one by its settings and knows its protocol.

A second engine is a branch here. No other module imports :mod:`privrelease.engine.duckdb`, which a contract of the gate checks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.engine.protocol.base import Offer

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from privrelease.engine.protocol.audit import AuditEngine
    from privrelease.engine.protocol.base import EngineSettings
    from privrelease.relational.schema import ColumnType, FileFormat

__all__ = ["offered", "open_engine", "read_header"]


def offered() -> frozenset[Offer]:
    """Return which optional parts the engine has that :func:`open_engine` opens, without opening it."""
    return frozenset(Offer)


def open_engine(settings: EngineSettings) -> AbstractContextManager[AuditEngine]:
    """Open an engine within its limits. Raises InputError where a setting is not accepted or the temporary folder cannot be used."""
    from privrelease.engine.duckdb import DuckDBEngine

    return DuckDBEngine(settings)


def read_header(path: Path, format_: FileFormat | None = None) -> tuple[tuple[str, ColumnType | None], ...]:
    """Return the name and the declared type of every column of a data file, in order; no type for a CSV file, whose cells are texts."""
    from privrelease.engine.duckdb.reading import header

    return header.read_header(path, format_)
