"""Distinct records of tables for the attacks, in one coding, and single rows of them by number: rows themselves stay in the database."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.measuring.dictionaries import encoded, in_one_coding
from privrelease.engine.duckdb.reading.parquet_source import scan_parquet
from privrelease.engine.protocol.attacks import CodedColumn, DistinctRecords, SharedPersons
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.duckdb.measuring.opening import Opened
    from privrelease.engine.protocol.attacks import Drawn
    from privrelease.engine.protocol.base import ReleasedFile, Staged

__all__ = ["RecordQueries", "numbers_of"]

Expr = exp.Expr

_STEP, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_WORD = 1 << 64


@dataclass(frozen=True, eq=False, slots=True)
class _Kept:
    """The records of a table in the database: ``groups``, a table of their cells ``c0``, ``c1``, …, and ``order``, (u,) its row of each record."""

    of: Opened
    columns: tuple[str, ...]
    unit: str | None
    groups: str
    order: NDArray[np.int64]
    ends: NDArray[np.int64]

    def same(self, alias: str | None = None) -> Expr:
        """Return the condition that a row has the cells of a group ``g``: a row ``t`` of the table, or one of what :func:`_rows` selects."""
        return sql.all_of(
            [
                exp.NullSafeEQ(
                    this=self.of.key(name, "t") if alias is None else sql.column(f"c{place}", alias),
                    expression=sql.column(f"c{place}", "g"),
                )
                for place, name in enumerate(self.columns)
            ]
        )

    @property
    def place(self) -> NDArray[np.int64]:
        """The record of each row of ``groups``."""
        place = np.empty(len(self.order), np.int64)
        place[self.order] = np.arange(len(self.order))
        return place


class RecordQueries(ABC):
    """The attacks' part of the DuckDB engine; see :class:`privrelease.engine.protocol.attacks.AttackEngine`."""

    _connection: Connection
    _records: dict[str, _Kept]

    @abstractmethod
    def _opened(self, of: Staged | ReleasedFile) -> Opened: ...

    def distinct_records(
        self,
        of: Sequence[Staged | ReleasedFile],
        columns: Sequence[Sequence[str]],
        units: Sequence[str | None],
        apart: tuple[int, Collection[str]] | None = None,
    ) -> tuple[DistinctRecords, ...]:
        """Collapse each table over its columns."""
        own, names_apart = (-1, ()) if apart is None else apart
        tables = [self._opened(one) for one in of]
        groups = [_grouped(self._connection, *asked) for asked in zip(tables, map(tuple, columns), units, strict=True)]
        coded: list[dict[str, CodedColumn]] = [{} for _ in tables]
        for name in dict.fromkeys(name for names in columns for name in names):
            there, kept = [place for place, names in enumerate(columns) if name in names], name in names_apart
            alike = [place for place in there if not kept or place != own]
            for sides in (alike, [own] if kept and own in there else []):
                cells = [_cells(self._connection, groups[side], f"c{list(columns[side]).index(name)}") for side in sides]
                if not cells:
                    continue
                codes, distinct = in_one_coding(cells)
                values = numbers_of(distinct)
                for side, one in zip(sides, codes, strict=True):
                    coded[side][name] = CodedColumn(name, one, values, distinct if kept else None)
        return tuple(self._kept(*each) for each in zip(tables, map(tuple, columns), units, groups, coded, strict=True))

    def _kept(
        self, of: Opened, columns: tuple[str, ...], unit: str | None, groups: str, coded: Mapping[str, CodedColumn]
    ) -> DistinctRecords:
        names = ["n", "f", *(["p", "q"] if unit is not None else [])]
        found = self._connection.arrays(exp.select(*map(sql.column, names)).from_(sql.table(groups), copy=False))
        figures = [np.asarray(found[name], np.int64) for name in names]
        by_name = [coded[name].codes for name in sorted(columns, reverse=True)]
        order = np.lexsort(by_name).astype(np.int64) if by_name else np.arange(len(figures[0]), dtype=np.int64)
        rows, first, *persons = (figure[order] for figure in figures)
        kept = _Kept(of, columns, unit, groups, order, np.cumsum(rows))
        self._records[groups] = kept
        ordered = tuple(replace(coded[name], codes=coded[name].codes[order]) for name in columns)
        return DistinctRecords(groups, ordered, rows, first, np.stack(persons) if persons else None)

    def drawn_counts(self, records: DistinctRecords, part: Drawn) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
        """Count the rows of a part of a table by record."""
        kept = self._records[records.handle]
        rows = _rows(kept.of, kept.columns, kept.unit)
        word = sql.aliased(_word(sql.column("r", "t"), part.seed), "w")
        drawn = exp.select(exp.Star(), word).from_(rows.subquery("t"), copy=False)
        if kept.unit is None:
            chosen = drawn.order_by(sql.column("w")).limit(part.most).subquery("t")
        else:
            person = sql.column("person", "d")
            first = (
                exp.select(sql.aliased(person, "one"))
                .from_(drawn.subquery("d"), copy=False)
                .group_by(person.copy(), copy=False)
            )
            first = first.order_by(exp.Min(this=sql.column("w", "d"))).limit(part.most)
            chosen = rows.copy().subquery("t")
        select = exp.select(sql.aliased(sql.column("rowid", "g"), "g"), *_figures(kept.unit)).from_(chosen, copy=False)
        select = select.join(sql.table(kept.groups, alias="g"), on=kept.same("t"))
        if kept.unit is not None:
            on = exp.EQ(this=sql.column("person", "t"), expression=sql.column("one", "first"))
            select = select.join(first.subquery("first"), on=on)
        found = self._connection.arrays(select.group_by(sql.column("rowid", "g")))
        at = kept.place[np.asarray(found["g"], np.int64)]
        counts, persons = np.zeros(len(kept.order), np.int64), np.zeros((2, len(kept.order)), np.int64)
        counts[at] = found["n"]
        if kept.unit is None:
            return counts, None
        persons[0, at], persons[1, at] = found["p"], found["q"]
        return counts, persons

    def records_at(self, records: DistinctRecords, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Find the records of some rows."""
        kept = self._records[records.handle]
        rowed = (
            exp.Select()
            .from_(kept.of.rows("t", True), copy=False)
            .join(sql.table(kept.groups, alias="g"), on=kept.same(), copy=False)
        )
        return kept.place[self._asked(rowed, sql.column(kept.of.row_number, "t"), sql.column("rowid", "g"), rows)]

    def rows_at(self, records: DistinctRecords, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Find the rows at some places of the order of records."""
        kept = self._records[records.handle]
        record = np.searchsorted(kept.ends, places, side="right")
        offset = places - (kept.ends[record] - records.rows[record])
        given = self._given({"i": np.arange(len(places)), "a": kept.order[record], "o": offset})
        wanted = (
            exp.select(sql.aliased(sql.column("a"), "a"))
            .distinct(copy=False)
            .from_(sql.table(given), copy=False)
            .subquery("wanted", copy=False)
        )
        row = sql.column(kept.of.row_number, "t")
        number = exp.Window(
            this=exp.RowNumber(),
            partition_by=[sql.column("rowid", "g")],
            order=exp.Order(expressions=[exp.Ordered(this=row.copy())]),
        )
        rows = exp.select(sql.aliased(row, "r"), sql.aliased(sql.column("rowid", "g"), "g"), sql.aliased(number, "number"))
        rows = rows.from_(kept.of.rows("t", True)).join(sql.table(kept.groups, alias="g"), on=kept.same())
        rows = rows.join(wanted, on=exp.EQ(this=sql.column("rowid", "g"), expression=sql.column("a", "wanted")))
        on = exp.and_(
            exp.EQ(this=sql.column("g", "rows"), expression=sql.column("a", "v")),
            exp.EQ(
                this=sql.column("number", "rows"),
                expression=exp.Add(this=sql.column("o", "v"), expression=sql.integer(1)),
            ),
        )
        select = exp.select(sql.column("i", "v"), sql.column("r", "rows")).from_(rows.subquery("rows"), copy=False)
        found = self._connection.arrays(select.join(sql.table(given, alias="v"), on=on))
        self._connection.unregister(given)
        return _in_place(found["i"], found["r"], len(places))

    def persons_at(self, of: Staged, unit: str, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Find the persons of some rows."""
        opened = self._opened(of)
        given = self._given({"i": np.arange(len(rows)), "a": rows})
        row = sql.column(opened.row_number, "t")
        person = opened.key(unit, "t")
        asked = exp.select(sql.aliased(sql.column("i", "v"), "i"), sql.aliased(person, "person")).from_(
            opened.rows("t", True), copy=False
        )
        asked = asked.join(sql.table(given, alias="v"), on=exp.EQ(this=row.copy(), expression=sql.column("a", "v")))
        select = exp.select(sql.aliased(sql.column("i", "asked"), "i"), sql.aliased(exp.Min(this=row), "p"))
        select = select.from_(opened.rows("t", True)).join(
            asked.subquery("asked"), on=exp.NullSafeEQ(this=person.copy(), expression=sql.column("person", "asked"))
        )
        found = self._connection.arrays(select.group_by(sql.column("i", "asked")))
        self._connection.unregister(given)
        return _in_place(found["i"], found["p"], len(rows))

    def source_rows(self, row_map: Path, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Follow a row map from some output rows."""
        mapped = exp.Select().from_(scan_parquet([row_map], alias="m"), copy=False)
        return self._asked(mapped, sql.column("output_row", "m"), sql.column("source_row", "m"), rows)

    def shared_persons(self, first: Staged, second: Staged, unit: str) -> SharedPersons:
        """Find persons of a table in another one."""
        kinds = [next(column.type for column in one.columns if column.name == unit) for one in (first, second)]
        sides = [self._opened(one) for one in (first, second)]
        ours, theirs = (side.cell(unit, "t") for side in sides)
        if kinds[0] is not kinds[1]:
            ours, theirs = sql.cast(ours, "VARCHAR"), sql.cast(theirs, "VARCHAR")
        row = sql.column(sides[1].row_number, "t")
        persons = exp.select(sql.aliased(theirs, "person"), sql.aliased(exp.Min(this=row), "p")).from_(
            sides[1].rows("t", True), copy=False
        )
        persons = persons.group_by(theirs.copy())
        shared = exp.select(sql.aliased(sql.column(sides[0].row_number, "t"), "r"), sql.column("p", "persons"))
        shared = shared.from_(sides[0].rows("t", True)).join(
            persons.subquery("persons"), on=exp.EQ(this=ours, expression=sql.column("person", "persons"))
        )
        name = self._connection.fresh("shared")
        self._connection.run(sql.create_table(name, shared.order_by(sql.column("r"))))
        distinct = exp.Count(this=exp.Distinct(expressions=[sql.column("p")]))
        rows, people = self._connection.row(exp.select(sql.count_all(), distinct).from_(sql.table(name), copy=False))
        return SharedPersons(name, int(people), int(rows))

    def shared_at(self, shared: SharedPersons, places: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return some of the shared rows."""
        rows = exp.Select().from_(sql.table(shared.handle, alias="t"), copy=False)
        first, second = (self._asked(rows, sql.column("rowid", "t"), sql.column(side, "t"), places) for side in "rp")
        return first, second

    def _given(self, columns: Mapping[str, NDArray[Any]]) -> str:
        given = self._connection.fresh("given")
        self._connection.register(given, {name: np.ascontiguousarray(one, np.int64) for name, one in columns.items()})
        return given

    def _asked(self, rows: exp.Select, key: Expr, wanted: Expr, asked: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return ``wanted`` of the row whose ``key`` is each of ``asked``; -1 where there is none."""
        given = self._given({"i": np.arange(len(asked)), "a": asked})
        joined = rows.join(sql.table(given, alias="v"), on=exp.EQ(this=key, expression=sql.column("a", "v")))
        found = self._connection.arrays(joined.select(sql.aliased(sql.column("i", "v"), "i"), sql.aliased(wanted, "x")))
        self._connection.unregister(given)
        return _in_place(found["i"], found["x"], len(asked))


def _in_place(place: Any, found: Any, size: int) -> NDArray[np.int64]:  # noqa: ANN401 - columns as DuckDB gives them
    ordered = np.full(size, -1, np.int64)
    ordered[np.asarray(place, np.int64)] = found
    return ordered


def _grouped(connection: Connection, of: Opened, columns: tuple[str, ...], unit: str | None) -> str:
    """Store the distinct records with the figures of each; return the table's name."""
    keys = [sql.column(f"c{place}", "t") for place in range(len(columns))]
    select = exp.select(*keys, *_figures(unit)).from_(_rows(of, columns, unit).subquery("t"), copy=False)
    some = exp.GT(this=sql.count_all(), expression=sql.integer(0))
    name = connection.fresh("records")
    select = select.group_by(*(key.copy() for key in keys)) if keys else select.having(some)
    connection.run(sql.create_table(name, select))
    return name


def _figures(unit: str | None) -> list[Expr]:
    """Rows and least row of a group of rows ``t``, and the lowest and highest number of their persons."""
    row, person = sql.column("r", "t"), sql.column("person", "t")
    figures = [sql.aliased(sql.count_all(), "n"), sql.aliased(exp.Min(this=row), "f")]
    if unit is not None:
        figures += [sql.aliased(exp.Min(this=person), "p"), sql.aliased(exp.Max(this=person.copy()), "q")]
    return figures


def _rows(of: Opened, columns: Sequence[str], unit: str | None) -> exp.Select:
    """Select the cells ``c0``, ``c1``, … of the rows of a table, their number ``r`` and, with a unit, that of their person."""
    row = sql.column(of.row_number, "t")
    named = [sql.aliased(of.key(name, "t"), f"c{place}") for place, name in enumerate(columns)]
    rows = exp.select(*named, sql.aliased(row, "r")).from_(of.rows("t", True), copy=False)
    if unit is None:
        return rows
    person = of.key(unit, "t")
    first = exp.select(sql.aliased(person, "one"), sql.aliased(exp.Min(this=row.copy()), "person")).from_(
        of.rows("t", True), copy=False
    )
    first = first.group_by(person.copy())
    rows = rows.join(first.subquery("first"), on=exp.NullSafeEQ(this=person.copy(), expression=sql.column("one", "first")))
    return rows.select(sql.column("person", "first"))


def _word(row: Expr, seed: int) -> Expr:
    """Return SplitMix64's number of a row, in whole numbers of 128 bits."""

    def number(value: int) -> Expr:
        return sql.cast(sql.text(str(value)), "UHUGEINT")

    def within(value: Expr) -> Expr:
        return exp.Mod(this=exp.paren(value), expression=number(_WORD))

    def mixed(value: Expr, shift: int) -> Expr:
        halved = exp.IntDiv(this=value.copy(), expression=number(1 << shift))
        return sql.call("xor", sql.cast(value, "UBIGINT"), sql.cast(halved, "UBIGINT"))

    counted = exp.paren(exp.Add(this=sql.cast(row, "UHUGEINT"), expression=number(1)))
    word = within(exp.Add(this=exp.Mul(this=counted, expression=number(_STEP)), expression=number(seed)))
    for shift, factor in ((30, _FIRST), (27, _SECOND)):
        word = within(exp.Mul(this=sql.cast(mixed(word, shift), "UHUGEINT"), expression=number(factor)))
    return mixed(word, 31)


def _cells(connection: Connection, groups: str, column: str) -> tuple[NDArray[Any], Any]:
    return encoded(connection.arrow(exp.select(sql.column(column)).from_(sql.table(groups), copy=False)).column(0))


def numbers_of(values: Any) -> NDArray[np.float64] | None:  # noqa: ANN401 - Arrow has no types
    """Return the numbers that values represent, code 0 as nan; None where they are names."""
    import pyarrow as pa

    kind = values.type
    if pa.types.is_date(kind):
        values = values.cast(pa.date32()).cast(pa.int32())
    elif pa.types.is_timestamp(kind):
        values = values.cast(pa.timestamp("us")).cast(pa.int64())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        return None
    return np.concatenate(([np.nan], np.asarray(values.cast(pa.float64(), safe=False), np.float64)))
