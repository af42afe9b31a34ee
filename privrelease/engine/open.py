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
    from privrelease.relational.profile import FileProfile
    from privrelease.relational.schema import ColumnType, FileFormat, SourceKind

__all__ = [
    "columns_of_table",
    "libraries",
    "likely_encodings",
    "offered",
    "open_engine",
    "profile_file",
    "read_header",
    "tables_of",
]


def offered() -> frozenset[Offer]:
    """Return which optional parts the engine has that :func:`open_engine` opens, without opening it."""
    return frozenset(Offer)


def libraries() -> tuple[str, ...]:
    """Return the distributions whose versions matter for what the engine reads and counts, without loading it."""
    return ("duckdb", "sqlglot")


def open_engine(settings: EngineSettings) -> AbstractContextManager[AuditEngine]:
    """Open an engine within its limits. Raises InputError where a setting is not accepted or the temporary folder cannot be used."""
    from privrelease.engine.duckdb import DuckDBEngine

    return DuckDBEngine(settings)


def read_header(path: Path, format_: FileFormat | None = None) -> tuple[tuple[str, ColumnType | None], ...]:
    """Return the name and the declared type of every column of a data file, in order; no type for a CSV file, whose cells are texts."""
    from privrelease.engine.duckdb.reading import header

    return header.read_header(path, format_)


def profile_file(path: Path, kind: SourceKind, format_: FileFormat, table: str | None = None) -> FileProfile:
    """Return counts over the first rows of a data file, and never a cell. Raises InputError where it cannot be read as the format says."""
    from privrelease.engine.duckdb.reading import profile

    return profile.profile_file(path, kind, format_, table)


def tables_of(path: Path, kind: SourceKind) -> tuple[str, ...]:
    """Return the names of the tables and views of a database file. Raises InputError (D103)."""
    from privrelease.engine.duckdb.reading import profile

    return profile.tables_of(path, kind)


def columns_of_table(path: Path, kind: SourceKind, table: str) -> tuple[tuple[str, ColumnType | None], ...]:
    """Return name and declared type of every column of a table, in order. Raises InputError (D103, D116)."""
    from privrelease.engine.duckdb.reading import profile

    return profile.columns_of_table(path, kind, table)


def likely_encodings(path: Path) -> tuple[str, ...]:
    """Return the encodings that a text file may have: one where it can be proven, else the likely ones, the likeliest first."""
    from privrelease.engine.duckdb.reading import profile

    return profile.likely_encodings(path)
