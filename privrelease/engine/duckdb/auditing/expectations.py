"""Counting what meets an expectation and what fails it: one aggregate each, exact, and without a value of a cell leaving the database.

A value that is missing is not looked at, except where missing values are what the expectation is about. Of rows with several columns, one that
is not ignored and lacks a value fails. Regular expressions are RE2's and are looked for anywhere in the text (``^`` and ``$`` are its ends);
patterns of SQL must match the whole text, case counts.

The part of the DuckDB engine that an auditor asks about expectations.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.auditing.great_expectations import evaluated
from privrelease.engine.protocol.base import ReleasedFile
from privrelease.relational.expectations import TYPES, Counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.duckdb.measuring.opening import Opened
    from privrelease.engine.protocol.base import Staged
    from privrelease.relational.expectations import Expectation
    from privrelease.relational.schema import ColumnType

__all__ = ["MOST_PLACES", "ExpectationQueries", "counted"]


Expr = exp.Expr
_Parameters: TypeAlias = dict[str, Any]

#: Places of failing rows that are reported at most.
MOST_PLACES: Final = 5
_PAIR: Final = {"both_values_are_missing": "all", "either_value_is_missing": "any", "neither": "none"}
_LIST: Final = {"all_values_are_missing": "all", "any_value_is_missing": "any", "never": "none"}


def counted(
    connection: Connection,
    of: Opened,
    types: Mapping[str, ColumnType],
    expectation: Expectation,
    *,
    places: bool = False,
) -> Counted:
    """Count. ``types``: of the columns as found; ``places``: say where rows fail."""
    form, parameters = expectation.form, _Parameters(expectation.parameters)
    if form.name == "expect_column_to_exist":
        return Counted(of.n_rows, of.n_rows, holds=_there(tuple(types), parameters))
    cells = [of.cell(name, "t") for name in expectation.columns] if form.name in _SEEN or not form.missing else []
    seen = _seen(form.name, cells, parameters)
    if form.name in _REPEATED:
        return _repeated(connection, of, cells, seen)
    fails = _FAILS.get(form.name)
    if fails is None:
        rows, looked_at = connection.row(_from(of).select(sql.count_all(), sql.count_all(where=seen)))
        if "type_" in parameters or "type_list" in parameters:
            names: tuple[str, ...] = (parameters["type_"],) if "type_" in parameters else parameters["type_list"]
            fits = any(types[expectation.columns[0]] in TYPES[name] for name in names)
            return Counted(int(rows), int(looked_at), 0 if fits else int(looked_at))
        return Counted(int(rows), int(looked_at))
    failing = exp.and_(
        seen.copy(), exp.Not(this=sql.call("coalesce", exp.Not(this=exp.paren(fails(cells, parameters))), exp.false()))
    )
    figures = [sql.count_all(), sql.count_all(where=seen), sql.count_all(where=failing)]
    rows, looked_at, failed = map(int, connection.row(_from(of).select(*figures)))
    where = _places(connection, of, failing) if places and failed else ()
    return Counted(rows, looked_at, failed, places=where)


def _from(of: Opened) -> exp.Select:
    return exp.Select().from_(of.rows("t", True), copy=False)


def _there(names: Sequence[str], parameters: _Parameters) -> bool:
    if parameters["column"] not in names:
        return False
    return "column_index" not in parameters or names.index(parameters["column"]) == parameters["column_index"]


def _places(connection: Connection, of: Opened, failing: Expr) -> tuple[int, ...]:
    """The first failing rows, from 1."""
    row = sql.column(of.row_number, "t")
    query = _from(of).select(row).where(failing.copy()).order_by(row.copy()).limit(MOST_PLACES)
    return tuple(int(place) + 1 for (place,) in connection.rows(query))


def _missing(cell: Expr) -> Expr:
    return exp.Is(this=cell.copy(), expression=exp.null())


def _known(cell: Expr) -> Expr:
    return exp.Not(this=_missing(cell))


#: Expectations that are about missing values: every row is looked at.
_SEEN: Final = frozenset({"expect_column_values_to_not_be_null", "expect_column_values_to_be_null"})


def _seen(name: str, cells: Sequence[Expr], parameters: _Parameters) -> Expr:
    """The condition of a row that is looked at."""
    if name in _SEEN or not cells:
        return exp.true()
    if len(cells) == 1 and "column_list" not in parameters:
        return _known(cells[0])
    choices = _LIST if "column_list" in parameters else _PAIR
    ignored = choices[str(parameters.get("ignore_row_if", next(iter(choices))))]
    if ignored == "none":
        return exp.true()
    known = [_known(cell) for cell in cells]
    return exp.paren(sql.any_of(known) if ignored == "all" else sql.all_of(known))


# values as nodes
def _value(value: object) -> Expr:
    match value:
        case bool():
            return exp.Boolean(this=value)
        case int():
            return sql.integer(value)
        case Decimal():
            return exp.Literal.number(f"{value:f}")
        case datetime():
            return sql.cast(sql.text(value.isoformat(" ")), "TIMESTAMP")
        case date():
            return sql.cast(sql.text(value.isoformat()), "DATE")
        case _:
            return sql.text(str(value))


def _outside(value: Expr, parameters: _Parameters) -> Expr:
    """Below the smallest or above the largest allowed value."""
    tests: list[Expr] = []
    if (least := parameters.get("min_value")) is not None:
        below = exp.LTE if parameters.get("strict_min") else exp.LT
        tests.append(below(this=value.copy(), expression=_value(least)))
    if (most := parameters.get("max_value")) is not None:
        above = exp.GTE if parameters.get("strict_max") else exp.GT
        tests.append(above(this=value.copy(), expression=_value(most)))
    return sql.any_of(tests)


def _in(cell: Expr, parameters: _Parameters) -> Expr:
    return exp.In(this=cell.copy(), expressions=[_value(value) for value in parameters["value_set"]])


def _regex(cell: Expr, pattern: str) -> Expr:
    return sql.call("regexp_matches", cell.copy(), sql.text(pattern))


def _like(cell: Expr, pattern: str, parameters: _Parameters) -> Expr:
    like = exp.Like(this=cell.copy(), expression=sql.text(pattern))
    return like if "escape" not in parameters else exp.Escape(this=like, expression=sql.text(parameters["escape"]))


def _not(test: Expr) -> Expr:
    return exp.Not(this=exp.paren(test))


def _lists(
    match: Callable[[Expr, str, _Parameters], Expr], key: str
) -> tuple[Callable[[Sequence[Expr], _Parameters], Expr], Callable[[Sequence[Expr], _Parameters], Expr]]:
    """Return the condition that fails a list of patterns: matching none (not all, with ``match_on: all``); matching any, where none may match."""

    def needed(cells: Sequence[Expr], parameters: _Parameters) -> Expr:
        tests = [match(cells[0], pattern, parameters) for pattern in parameters[key]]
        return _not(sql.all_of(tests) if parameters.get("match_on") == "all" else sql.any_of(tests))

    def refused(cells: Sequence[Expr], parameters: _Parameters) -> Expr:
        return sql.any_of([match(cells[0], pattern, parameters) for pattern in parameters[key]])

    return needed, refused


def _greater(cells: Sequence[Expr], parameters: _Parameters) -> Expr:
    holds = exp.GTE if parameters.get("or_equal") else exp.GT
    return _not(holds(this=cells[0].copy(), expression=cells[1].copy()))


def _pairs(cells: Sequence[Expr], parameters: _Parameters) -> Expr:
    tests = [
        exp.and_(exp.EQ(this=cells[0].copy(), expression=_value(a)), exp.EQ(this=cells[1].copy(), expression=_value(b)))
        for a, b in parameters["value_pairs_set"]
    ]
    return _not(sql.any_of(tests))


def _within(cells: Sequence[Expr], _: _Parameters) -> Expr:
    """Two known values of one row are equal."""
    tests = [
        sql.call("coalesce", exp.EQ(this=a.copy(), expression=b.copy()), exp.false())
        for place, a in enumerate(cells)
        for b in cells[place + 1 :]
    ]
    return sql.any_of(tests)


def _sum(cells: Sequence[Expr], parameters: _Parameters) -> Expr:
    total = cells[0].copy()
    for cell in cells[1:]:
        total = exp.Add(this=total, expression=cell.copy())
    return _not(exp.EQ(this=exp.paren(total), expression=_value(parameters["sum_total"])))


_REGEX, _NO_REGEX = _lists(lambda cell, pattern, _: _regex(cell, pattern), "regex_list")
_LIKE, _NO_LIKE = _lists(_like, "like_pattern_list")

#: What fails, as a condition over the cells; one that is neither true nor false fails.
_FAILS: Final[Mapping[str, Callable[[Sequence[Expr], _Parameters], Expr]]] = {
    "expect_column_values_to_not_be_null": lambda cells, _: _missing(cells[0]),
    "expect_column_values_to_be_null": lambda cells, _: _known(cells[0]),
    "expect_column_values_to_be_in_set": lambda cells, given: _not(_in(cells[0], given)),
    "expect_column_values_to_not_be_in_set": lambda cells, given: _in(cells[0], given),
    "expect_column_values_to_be_between": lambda cells, given: _outside(cells[0], given),
    "expect_column_value_lengths_to_be_between": lambda cells, given: _outside(sql.call("length", cells[0].copy()), given),
    "expect_column_value_lengths_to_equal": lambda cells, given: _not(
        exp.EQ(this=sql.call("length", cells[0].copy()), expression=_value(given["value"]))
    ),
    "expect_column_values_to_match_regex": lambda cells, given: _not(_regex(cells[0], given["regex"])),
    "expect_column_values_to_not_match_regex": lambda cells, given: _regex(cells[0], given["regex"]),
    "expect_column_values_to_match_regex_list": _REGEX,
    "expect_column_values_to_not_match_regex_list": _NO_REGEX,
    "expect_column_values_to_match_like_pattern": lambda cells, given: _not(_like(cells[0], given["like_pattern"], given)),
    "expect_column_values_to_not_match_like_pattern": lambda cells, given: _like(cells[0], given["like_pattern"], given),
    "expect_column_values_to_match_like_pattern_list": _LIKE,
    "expect_column_values_to_not_match_like_pattern_list": _NO_LIKE,
    "expect_column_values_to_match_strftime_format": lambda cells, given: _missing(
        sql.call("try_strptime", cells[0].copy(), sql.text(given["strftime_format"]))
    ),
    "expect_column_pair_values_to_be_equal": lambda cells, _: _not(exp.EQ(this=cells[0].copy(), expression=cells[1].copy())),
    "expect_column_pair_values_a_to_be_greater_than_b": _greater,
    "expect_column_pair_values_to_be_in_set": _pairs,
    "expect_select_column_values_to_be_unique_within_record": _within,
    "expect_multicolumn_sum_to_equal": _sum,
}

#: What fails where a value, or several together, stand in more than one row.
_REPEATED: Final = frozenset({"expect_column_values_to_be_unique", "expect_compound_columns_to_be_unique"})


def _repeated(connection: Connection, of: Opened, cells: Sequence[Expr], seen: Expr) -> Counted:
    named = [sql.aliased(cell.copy(), f"g{place}") for place, cell in enumerate(cells)]
    keys = [cell.copy() for cell in cells]
    groups = _from(of).select(*named, sql.aliased(sql.count_all(), "n")).where(seen.copy()).group_by(*keys)
    n = sql.column("n", "groups")
    several = exp.Filter(this=exp.Sum(this=n), expression=exp.Where(this=exp.GT(this=n.copy(), expression=sql.integer(1))))
    figures = [sql.call("coalesce", figure, sql.integer(0)) for figure in (exp.Sum(this=n.copy()), several)]
    looked_at, failing = connection.row(exp.select(*figures).from_(groups.subquery("groups"), copy=False))
    return Counted(of.n_rows, int(looked_at), int(failing))


def _types(of: Staged | ReleasedFile) -> dict[str, ColumnType]:
    return dict(of.columns) if isinstance(of, ReleasedFile) else {column.name: column.type for column in of.columns}


class ExpectationQueries(ABC):
    """See :class:`privrelease.engine.protocol.identifiers.ExpectationEngine`."""

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
