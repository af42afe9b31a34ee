"""Great Expectations on the open, locked connection: a data source of its own, since the stock one reads results after the connection is closed.

It sees one view with columns ``c0``, ``c1``, … so that no name of a policy is put into its SQL, is asked for a boolean, and keeps silent: its
results, logs and error texts hold cells. It needs no network, writes no file, and its usage statistics are off.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.lean_imports import silence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.duckdb.measuring.opening import Opened
    from privrelease.relational.expectations import Expectation

__all__ = ["evaluated"]

_COLUMNS: Final = frozenset({"column", "column_A", "column_B"})
_LISTS: Final = frozenset({"column_list", "column_set"})


def evaluated(connection: Connection, of: Opened, expectations: Sequence[tuple[Expectation, float]]) -> tuple[bool | None, ...]:
    """Return whether each expectation holds; None where the library could not say."""
    with silence():
        from privrelease.engine.duckdb.auditing.great_expectations_source import REFUSALS, batch_of, class_of

        view = connection.fresh("expected")
        names = {name: f"c{place}" for place, name in enumerate(of.names)}
        cells = [sql.aliased(of.cell(name, "t"), neutral) for name, neutral in names.items()]
        rows = exp.select(*cells).from_(of.rows("t", False), copy=False)
        connection.run(exp.Create(this=sql.table(view), kind="VIEW", expression=rows))
        try:
            with batch_of(connection, view) as batch:
                return tuple(_holds(batch, class_of(one.name), _given(one, mostly, names)) for one, mostly in expectations)
        except REFUSALS:  # the batch itself could not be opened
            return (None,) * len(expectations)
        finally:
            connection.drop("VIEW", view)


def _holds(batch: Any, kind: Any, given: dict[str, Any]) -> bool | None:  # noqa: ANN401  the library's own types load with it
    from privrelease.engine.duckdb.auditing.great_expectations_source import REFUSALS

    try:
        result = batch.validate(kind(**given), result_format="BOOLEAN_ONLY")
    except REFUSALS:
        return None
    if result.success:
        return True
    return None if _failed(result.exception_info) else False


def _failed(info: Any) -> bool:  # noqa: ANN401  one mapping, or one for each metric
    """Return True if an evaluation ended in an exception, of which nothing but that is read."""
    if not isinstance(info, dict) or not info:
        return False
    if "raised_exception" in info:
        return bool(info["raised_exception"])
    return any(bool(one.get("raised_exception")) for one in info.values() if isinstance(one, dict))


def _given(expectation: Expectation, mostly: float, names: dict[str, str]) -> dict[str, Any]:
    """The parameters as the library takes them: neutral names of columns, floats for decimals, lists."""
    given: dict[str, Any] = {}
    for key, value in expectation.parameters:
        if key in _COLUMNS:
            given[key] = names.get(str(value), "absent")
        elif key in _LISTS and isinstance(value, tuple):
            given[key] = [names.get(str(name), f"absent{place}") for place, name in enumerate(value)]
        elif key == "quantile_ranges" and isinstance(value, tuple):
            given[key] = {"quantiles": _plain(value[0]), "value_ranges": _plain(value[1])}
        else:
            given[key] = _plain(value)
    if "mostly" in expectation.form.parameters:
        given["mostly"] = mostly
    return given


def _plain(value: Any) -> Any:  # noqa: ANN401  values of any column
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return float(value) if isinstance(value, Decimal) else value
