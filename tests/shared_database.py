"""One DuckDB for the many engines that the tests of a process open: each gets an empty catalogue of its own in it, in a thirtieth of the time.

An instance of DuckDB takes 25 ms of CPU to register its functions, and a small run, of 300 ms, makes two. The statements, types and tables of an
engine, and the Python between, are the same in a catalogue as in an instance. What an instance adds is tested with instances: by tests of the engine
itself (`tests/unit/engine`, `tests/contract/engine`), with limits of memory or spill of their own, or marked `own_database`, and in every process.
"""

from __future__ import annotations

from itertools import count
from typing import Any

import duckdb

from privrelease.engine.protocol.base import EngineSettings

#: What the engine sets in an instance of its own, but for the folders that it may use: those of all tests are below the root.
SETTINGS = (
    "SET GLOBAL memory_limit = $1",
    "SET GLOBAL preserve_insertion_order = true",
    "SET GLOBAL python_enable_replacements = false",
    "SET enable_progress_bar = false",
    "SET GLOBAL default_collation = 'binary'",
    "SET GLOBAL TimeZone = 'UTC'",
    "SET GLOBAL allowed_directories = ['/']",
    "SET GLOBAL enable_external_access = false",
    "SET GLOBAL lock_configuration = true",
)


class Catalogue:
    """A connection to a shared instance that stands in an empty catalogue of its own, which goes when the connection is closed."""

    def __init__(self, instance: duckdb.DuckDBPyConnection, name: str) -> None:
        self._instance, self._name = instance, name
        self._before = attached(instance)
        instance.execute(f"ATTACH ':memory:' AS {name}")
        self._connection = self.cursor()
        self._open = True

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """Return another connection to the same catalogue."""
        cursor = self._instance.cursor()
        cursor.execute(f"USE {self._name}")
        return cursor

    def close(self) -> None:
        """Let go of the catalogue, and of database files that were attached meanwhile."""
        if not self._open:
            return
        self._open = False
        self._connection.close()
        for name in attached(self._instance) - self._before:
            self._instance.execute(f'DETACH "{name}"')


def attached(instance: duckdb.DuckDBPyConnection) -> set[str]:
    """Return the names of all catalogues of an instance."""
    return {name for (name,) in instance.execute("SELECT database_name FROM duckdb_databases()").fetchall()}


class SharedDatabase:
    """Instances by their limits. ``wanted``: the test that runs takes part."""

    def __init__(self) -> None:
        self.wanted = False
        self._instances: dict[tuple[str, int | None], duckdb.DuckDBPyConnection] = {}
        self._numbers = count(1)

    def open(self, settings: EngineSettings) -> Catalogue | None:
        """Return a catalogue under the limits, or nothing where a test has to do with the instance itself."""
        if not self.wanted or settings.max_temp_size is not None or settings.memory_limit != EngineSettings().memory_limit:
            return None
        limits = settings.memory_limit, settings.threads
        if limits not in self._instances:
            try:
                self._instances[limits] = self._instance(*limits)
            except duckdb.Error:  # the engine says so itself
                return None
        return Catalogue(self._instances[limits], f"tests_{next(self._numbers)}")

    def _instance(self, memory_limit: str, threads: int | None) -> duckdb.DuckDBPyConnection:
        off = dict.fromkeys(("autoinstall_known_extensions", "autoload_known_extensions", "allow_community_extensions"), False)
        made = duckdb.connect(":memory:", config=off | ({} if threads is None else {"threads": threads}))
        for statement in SETTINGS:
            made.execute(statement, [memory_limit] if "$1" in statement else None)
        return made
