"""The auditor's own questions, each one aggregate: rows that did not leave, files that differ, identifiers in disguise.

Like :mod:`privrelease.engine.duckdb.measuring.released_file`, nothing here is shared with coding and writing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.auditing.persons import person_classes, unit_facts, weighted_classes
from privrelease.engine.duckdb.auditing.residual_metadata import leftovers
from privrelease.engine.duckdb.auditing.row_map import opened_map
from privrelease.engine.duckdb.auditing.rows import linked_rows
from privrelease.engine.duckdb.measuring.numbers import number_counts, number_distances
from privrelease.engine.duckdb.measuring.opening import Opened
from privrelease.engine.duckdb.measuring.released_file import joined, value_pairs, value_rows
from privrelease.engine.duckdb.reading.enumerations import MOST_CODED
from privrelease.engine.protocol.audit import LeftRows, PersonClasses, SameCells, TokenFacts, UnitFacts
from privrelease.relational.schema import ColumnType

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa
    from numpy.typing import NDArray

    from privrelease.disclosure.classes.equivalence_classes import ClassTable
    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.protocol.audit import ValuePairs, ValueRows
    from privrelease.engine.protocol.base import ReleasedFile, Staged
    from privrelease.engine.protocol.identifiers import IdentifierMatches, LinkedRows, OwnMatches
    from privrelease.relational.schema import Sink

__all__ = ["AuditQueries"]

Expr = exp.Expr

_SHORTEST_HASH = 16


def _missing(cell: Expr) -> Expr:
    return exp.Is(this=cell.copy(), expression=exp.null())


def _there(cell: Expr) -> Expr:
    return exp.Not(this=_missing(cell))


def _distinct(*cells: Expr, where: Expr | None = None) -> Expr:
    count = exp.Count(this=exp.Distinct(expressions=[cell.copy() for cell in cells]))
    return count if where is None else exp.Filter(this=count, expression=exp.Where(this=where.copy()))


def _text(cell: Expr) -> Expr:
    return sql.cast(cell, "VARCHAR")


def held(connection: Connection, released: Opened, source: Opened, recoded: Collection[str] = ()) -> Opened:
    """Copy a released file into memory, texts as codes of the source's enumerations where that loses none: asked many questions, read once.

    A text that the source's enumeration lacks would become missing: the texts are counted, and such a column stays text. Texts of ``recoded``
    columns, which are few labels as a rule, are codes of an enumeration of their own.
    """
    made = {name: _enumeration(connection, released, name) for name in recoded}
    own = {name: one[0] for name, one in made.items() if one is not None}
    counts = {name: one[1:] for name, one in made.items() if one is not None}
    texts = [name for name in released.names if name in source.enums and name not in released.enums and name not in recoded]
    alike = {name: source.enums[name] for name in texts}
    given = dict(zip(alike, _counts(connection, released, alike), strict=True))
    while True:
        copy = _copied(connection, released, {**alike, **own})
        kept = dict(zip(alike, _counts(connection, copy, alike), strict=True))
        lossy = [name for name in alike if kept[name] != given[name]]
        if not lossy:
            return replace(copy, counts=counts)
        connection.drop("TABLE", copy.rows("t", False).name)
        alike = {name: enum for name, enum in alike.items() if name not in lossy}


def _enumeration(connection: Connection, of: Opened, name: str) -> tuple[str, pa.Array, NDArray[np.int64]] | None:
    """Make an enumeration of the texts of a column; its values and the rows of each. None where there are too many, or one that no enumeration holds."""
    import pyarrow as pa

    cell = of.key(name, "t")
    there = exp.Not(this=exp.Is(this=cell.copy(), expression=exp.null()))
    counted = (
        exp.select(sql.aliased(cell, "v"), sql.aliased(sql.count_all(), "n"))
        .from_(of.rows("t", False), copy=False)
        .where(there, copy=False)
    )
    found = connection.arrow(counted.group_by(cell.copy()).order_by(sql.column("v")).limit(MOST_CODED + 1))
    values = pa.concat_arrays(found.column(0).chunks) if found.column(0).num_chunks else pa.array([], pa.string())
    if (
        not pa.types.is_string(values.type)
        or not 0 < len(values) <= MOST_CODED
        or any("\0" in value for value in values.to_pylist())
    ):
        return None
    given, made = connection.fresh("values"), connection.fresh("e")
    connection.register(given, pa.table({"v": values}))
    connection.run(sql.create_enum(made, exp.select(sql.column("v")).from_(sql.table(given), copy=False)))
    connection.unregister(given)
    return made, values, np.asarray(found.column(1), np.int64)


def _counts(connection: Connection, of: Opened, names: Iterable[str]) -> list[int]:
    figures = [exp.Count(this=of.key(name, "t")) for name in names]
    return (
        [int(found) for found in connection.row(exp.select(*figures).from_(of.rows("t", False), copy=False))] if figures else []
    )


def _copied(connection: Connection, released: Opened, enums: Mapping[str, str]) -> Opened:
    name = connection.fresh("h")
    cells = [
        sql.aliased(
            sql.try_cast_enum(released.key(column, "t"), enums[column]) if column in enums else released.key(column, "t"),
            f"c{place}",
        )
        for place, column in enumerate(released.names)
    ]
    connection.run(sql.create_table(name, exp.select(*cells).from_(released.rows("t", False), copy=False)))
    return Opened(
        lambda alias, _: sql.table(name, alias=alias),
        {column: f"c{place}" for place, column in enumerate(released.names)},
        released.texts | frozenset(enums),
        "rowid",
        released.n_rows,
        {**released.enums, **enums},
    )


def _texts(released: ReleasedFile, names: Collection[str]) -> tuple[str, ...]:
    texts = {ColumnType.STRING, ColumnType.CATEGORY}
    return tuple(name for name, kind in released.columns if name in names and kind in texts)


def left_rows(connection: Connection, source: Opened, row_map: Path, columns: Sequence[str], unit: str | None) -> LeftRows:
    """Count the source rows that the row map does not name."""
    given, left = connection.fresh("given"), connection.fresh("left")
    connection.run(sql.create_table(left, exp.select(sql.aliased(sql.cast(exp.null(), "BIGINT"), "row")).limit(0, copy=False)))
    with opened_map(connection, row_map, stored=False) as mapped:
        for first, times in mapped.times("s", source.n_rows):
            connection.register(given, {"row": np.flatnonzero(times == 0) + first})
            connection.run(exp.insert(exp.select(sql.column("row")).from_(sql.table(given), copy=False), sql.table(left)))
            connection.unregister(given)
    on = exp.EQ(this=sql.column(source.row_number, "s"), expression=sql.column("row", "m"))
    rows = exp.Select().from_(source.rows("s", True), copy=False).join(sql.table(left, alias="m"), on=on, copy=False)
    figures = [sql.count_all(), *(exp.Count(this=source.key(name, "s")) for name in columns)]
    if unit is not None:
        figures.append(_distinct(source.key(unit, "s")))
    found = [int(figure) for figure in connection.row(rows.select(*figures))]
    connection.drop("TABLE", left)
    cells = tuple(zip(columns, found[1 : 1 + len(columns)], strict=True))
    return LeftRows(found[0], found[-1] if unit is not None else None, cells)


def unequal_rows(connection: Connection, first: Opened, second: Opened, columns: Sequence[str]) -> int:
    """Count positions at which the files do not hold the same row."""
    on = exp.EQ(this=sql.column(first.row_number, "a"), expression=sql.column(second.row_number, "b"))
    rows = (
        exp.Select().from_(first.rows("a", True), copy=False).join(second.rows("b", True), on=on, join_type="inner", copy=False)
    )
    same = [exp.NullSafeEQ(this=first.cell(name, "a"), expression=second.cell(name, "b")) for name in columns]
    (equal,) = connection.row(rows.select(sql.count_all(where=sql.all_of(same))))
    return max(first.n_rows, second.n_rows) - int(equal)


def text_counts(connection: Connection, of: Opened, column: str, values: Sequence[str]) -> tuple[tuple[int, ...], int]:
    """Count the rows of each of ``values`` (compared as text, letter by letter), and the rows that hold any value."""
    cell = of.cell(column, "t")
    by_value = exp.select(sql.aliased(cell, "v"), sql.aliased(sql.count_all(), "n")).from_(of.rows("t", False), copy=False)
    found = by_value.where(_there(cell)).group_by(cell.copy()).subquery("g")
    rows = sql.column("n", "g")
    figures: list[Expr] = [exp.Sum(this=rows.copy())]
    for value in values:
        same = exp.EQ(this=sql.column("v", "g"), expression=sql.text(value))
        figures.append(exp.Filter(this=exp.Sum(this=rows.copy()), expression=exp.Where(this=same)))
    known, *counts = (int(one or 0) for one in connection.row(exp.select(*figures).from_(found, copy=False)))
    return tuple(counts), known


def token_facts(connection: Connection, source: Opened, released: Opened, row_map: Path, column: str) -> TokenFacts:
    """Compare tokens with the values they represent: once per distinct pair, so hashing costs by person, not by row."""
    before, after = _text(source.cell(column, "s")), _text(released.cell(column, "t"))
    rows = joined(released, row_map, source).select(
        sql.aliased(before, "v"), sql.aliased(after, "t"), sql.aliased(sql.count_all(), "n")
    )
    pairs = rows.group_by(before.copy(), after.copy())
    value, token = sql.column("v", "p"), sql.column("t", "p")
    both = exp.and_(_there(value), _there(token))
    one = exp.NEQ(this=exp.paren(_missing(value)), expression=exp.paren(_missing(token)))
    long_enough = exp.GTE(this=sql.call("length", token), expression=sql.integer(_SHORTEST_HASH))
    hashes = [
        sql.call("starts_with", sql.call(name, value.copy()), sql.call("lower", token.copy()))
        for name in ("md5", "sha1", "sha256")
    ]
    figures = [
        _distinct(value, where=both),
        _distinct(token, where=both),
        sql.count_all(where=both.copy()),
        sql.call(
            "coalesce", exp.Filter(this=exp.Sum(this=sql.column("n", "p")), expression=exp.Where(this=one)), sql.integer(0)
        ),
        sql.count_all(where=exp.EQ(this=value.copy(), expression=token.copy())),
        sql.count_all(where=exp.and_(both.copy(), long_enough, sql.any_of(hashes))),
    ]
    found = connection.row(exp.select(*figures).from_(pairs.subquery("p"), copy=False))
    return TokenFacts(column, *(int(figure) for figure in found))


class AuditQueries(ABC):
    """The auditor's half of the DuckDB engine; see :class:`privrelease.engine.protocol.audit.AuditEngine`."""

    _connection: Connection
    _released: dict[str, Opened]

    @abstractmethod
    def _opened(self, of: Staged | ReleasedFile) -> Opened: ...

    def _side(self, of: Staged | ReleasedFile | None) -> Opened | None:
        return None if of is None else self._opened(of)

    def hold(self, released: ReleasedFile, source: Staged, recoded: Collection[str] = ()) -> ReleasedFile:
        """Copy a released file into memory, to be asked many questions."""
        copy = replace(released, handle=f"{released.handle}-held")
        self._released[copy.handle] = held(
            self._connection, self._opened(released), self._opened(source), _texts(released, recoded)
        )
        return copy

    def leftovers(self, sink: Sink) -> tuple[str, ...]:
        """Say what a file holds besides its rows."""
        return leftovers(self._connection, sink)

    def left_rows(self, source: Staged, row_map: Path, columns: Sequence[str], unit: str | None) -> LeftRows:
        """Count the source rows that did not leave."""
        return left_rows(self._connection, self._opened(source), row_map, columns, unit)

    def unequal_rows(self, first: ReleasedFile, second: ReleasedFile, columns: Sequence[str]) -> int:
        """Count positions at which two files hold different rows."""
        return unequal_rows(self._connection, self._opened(first), self._opened(second), columns)

    def same_cells(
        self, source: Staged, released: ReleasedFile, row_map: Path, pairs: Sequence[tuple[str, str]]
    ) -> tuple[SameCells, ...]:
        """Compare pairs of columns row by row."""
        if not pairs:
            return ()
        from privrelease.engine.duckdb.auditing.identifiers import same_cells

        return same_cells(self._connection, self._opened(source), self._opened(released), row_map, pairs)

    def identifier_matches(
        self, source: Staged, released: ReleasedFile, pairs: Sequence[tuple[str, str]], forms: Sequence[str]
    ) -> tuple[IdentifierMatches, ...]:
        """Look for identifiers in other forms."""
        from privrelease.engine.duckdb.auditing.identifiers import identifier_matches

        return identifier_matches(self._connection, self._opened(source), self._opened(released), pairs, forms)

    def linked_rows(
        self,
        source: Staged,
        released: ReleasedFile,
        found: IdentifierMatches,
        columns: Sequence[str],
        *,
        shuffles: int,
        seed: int,
    ) -> LinkedRows:
        """Count links whose rows agree."""
        sides = self._opened(source), self._opened(released)
        return linked_rows(self._connection, *sides, found.handle, columns, shuffles=shuffles, seed=seed)

    def own_identifiers(self, source: Staged, pairs: Sequence[tuple[str, str]], forms: Sequence[str]) -> tuple[OwnMatches, ...]:
        """Compare columns of the source row by row in other forms."""
        from privrelease.engine.duckdb.auditing.identifiers import own_identifiers

        return own_identifiers(self._connection, self._opened(source), pairs, forms)

    def token_facts(self, source: Staged, released: ReleasedFile, row_map: Path, column: str) -> TokenFacts:
        """Compare a pseudonym column with its source."""
        return token_facts(self._connection, self._opened(source), self._opened(released), row_map, column)

    def value_pairs(
        self, source: Staged, released: ReleasedFile, row_map: Path, columns: Sequence[str]
    ) -> Iterator[ValuePairs]:
        """Yield the distinct pairs of a source cell and the released one."""
        return value_pairs(self._connection, self._opened(source), self._opened(released), row_map, columns)

    def value_rows(self, of: Staged | ReleasedFile, column: str) -> Iterator[ValueRows]:
        """Yield the distinct values of a column with the rows of each."""
        return value_rows(self._connection, self._opened(of), column)

    def unit_facts(self, source: Staged, unit: str) -> UnitFacts:
        """Count persons."""
        return unit_facts(self._connection, self._opened(source), unit)

    def person_classes(
        self, source: Staged | None, released: ReleasedFile | None, row_map: Path | None, columns: Sequence[str], unit: str
    ) -> PersonClasses:
        """Collapse rows to classes by persons."""
        return person_classes(self._connection, self._side(source), self._side(released), row_map, columns, unit)

    def weighted_classes(
        self,
        source: Staged,
        released: ReleasedFile | None,
        row_map: Path | None,
        columns: Sequence[str],
        weight: str,
        unit: str | None = None,
    ) -> ClassTable:
        """Collapse rows to classes with sums of sampling weights."""
        return weighted_classes(self._connection, self._opened(source), self._side(released), row_map, columns, weight, unit)

    def number_counts(self, of: Staged | ReleasedFile, column: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Count a numeric column by value."""
        return number_counts(self._connection, self._opened(of), column)

    def text_counts(self, of: Staged | ReleasedFile, column: str, values: Sequence[str]) -> tuple[tuple[int, ...], int]:
        """Count a column of texts by some values."""
        return text_counts(self._connection, self._opened(of), column, values)

    def number_distances(
        self, source: Staged, released: ReleasedFile, row_map: Path, column: str
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Count distances of released numbers from their source."""
        return number_distances(self._connection, self._opened(source), self._opened(released), row_map, column)
