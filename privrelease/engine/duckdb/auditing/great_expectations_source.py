"""The data source and the classes of Great Expectations. Importing this module loads the library (2 to 4 seconds): it is imported where an
expectation is to be evaluated, never before.
"""

from __future__ import annotations

import contextlib
from itertools import count
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import duckdb_driver
import sqlalchemy as sa
from sqlalchemy.pool import StaticPool

from privrelease.lean_imports import later, silence

with silence(), later("altair", "scipy.stats"):
    import great_expectations as gx
    from great_expectations.datasource.fluent import SQLDatasource
    from great_expectations.exceptions import GreatExpectationsError
    from great_expectations.execution_engine import SqlAlchemyExecutionEngine
    from great_expectations.expectations import core
    from great_expectations.expectations.expectation import Expectation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from privrelease.engine.duckdb.connection import Connection

__all__ = ["REFUSALS", "InProcessDatasource", "InProcessEngine", "batch_of", "class_of"]

#: What the library raises where it refuses parameters or cannot evaluate. Its texts may hold cells: they are not read.
REFUSALS: Final = (
    GreatExpectationsError,
    ConnectionError,
    sa.exc.SQLAlchemyError,
    ValueError,
    TypeError,
    KeyError,
    AttributeError,
)


class InProcessEngine(SqlAlchemyExecutionEngine):  # type: ignore[misc]  # the library's base is untyped here
    """Reads every result before its connection is given back."""

    def execute_query(self, query: Any) -> Any:  # noqa: ANN401  SQLAlchemy's own
        """Run a query and hold its result."""
        with self.get_connection() as connection:
            return _held(self._execute_query_with_recovery(connection, query))

    def execute_query_in_transaction(self, query: Any) -> Any:  # noqa: ANN401  SQLAlchemy's own
        """Run a query in a transaction and hold its result."""
        with self.get_connection() as connection:
            result = _held(self._execute_query_with_recovery(connection, query))
            connection.commit()
            return result


def _held(result: Any) -> Any:  # noqa: ANN401  SQLAlchemy's own
    return result.freeze()() if result.returns_rows else result


_Kind: TypeAlias = "type[InProcessEngine]"


class InProcessDatasource(SQLDatasource):  # type: ignore[misc]  # the library's base is untyped here
    """An open connection as a data source. The library copies a source when it is added: the copy finds its connection by the name."""

    type: Literal["privrelease_duckdb"] = "privrelease_duckdb"

    @property
    def execution_engine_type(self) -> _Kind:
        """The engine's class."""
        return InProcessEngine

    def get_engine(self) -> sa.Engine:
        """Return the engine over the open connection."""
        engine: sa.Engine = _OPEN[self.name].engine
        return engine

    def get_execution_engine(self) -> InProcessEngine:
        """Return the engine that runs metrics: always the same, since one that is thrown away closes the connection."""
        return _OPEN[self.name]


#: Engines over the connections that are open now, by the name of their source.
_OPEN: Final[dict[str, InProcessEngine]] = {}
_NUMBERS: Final = count()


@contextlib.contextmanager
def batch_of(connection: Connection, view: str) -> Iterator[Any]:
    """Open a view as a batch of the library, over a cursor of its own."""
    engine = sa.create_engine(
        "duckdb://", poolclass=StaticPool, creator=lambda: duckdb_driver.ConnectionWrapper(connection.cursor())
    )
    name = f"privrelease{next(_NUMBERS)}"
    _OPEN[name] = InProcessEngine(engine=engine, create_temp_table=False)
    try:
        context = gx.get_context(mode="ephemeral")
        context.variables.progress_bars = {"globally": False, "metric_calculations": False}
        source = InProcessDatasource(name=name, connection_string="duckdb://")
        source._data_context = context  # noqa: SLF001  the library's own way of registering a source
        asset = context.add_datasource(datasource=source).add_table_asset(name=view, table_name=view)
        yield asset.add_batch_definition_whole_table("all").get_batch()
    finally:
        del _OPEN[name]
        engine.dispose()


def class_of(name: str) -> Any:  # noqa: ANN401  a class of the library
    """Return the library's class of an expectation."""
    return _CLASSES[name]


_KINDS: Final[list[Any]] = [kind for kind in vars(core).values() if isinstance(kind, type) and issubclass(kind, Expectation)]
_CLASSES: Final = {kind.expectation_type: kind for kind in _KINDS}
