"""Staging: a source becomes a typed table of the engine, rows in source order, or an error that holds every kind of misfit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.errors import fault, raise_all
from privrelease.engine.duckdb.reading.conversion import conversion_of
from privrelease.engine.duckdb.reading.domains import outside_domain
from privrelease.engine.duckdb.reading.enumerations import COUNTED_TOGETHER, enumerations, present_cells
from privrelease.engine.duckdb.reading.look_alike import holds_nul
from privrelease.engine.duckdb.storage_types import storage_type
from privrelease.engine.protocol.base import Staged
from privrelease.findings import Finding, Location, Severity, pluralise
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.duckdb.reading.converted import Conversion
    from privrelease.engine.duckdb.reading.raw_source import Raw
    from privrelease.relational.schema import Column, ColumnType, TableSource

__all__ = ["StagedTable", "stage"]

#: Columns that one query converts.
_STORED_TOGETHER = 256
_OUTSIDE, _NUL = -1, -2
_FURTHER = {
    _OUTSIDE: (
        "D209",
        "is outside the declared domain",
        (
            "add the value to `domain`, correct the source, or write `outside: drop` to leave such rows out. A domain bounds statistics, while rows and "
            "tables refuse values outside it: for a narrower one in statistics alone, declare a second dataset over the same file"
        ),
    ),
    _NUL: ("D113", "holds a NUL character", "remove it in the source: a CSV file cannot carry it"),
}


@dataclass(frozen=True, slots=True)
class StagedTable:
    """A typed table: declared column ``i`` is ``c{i}``; ``coded[i]`` names its enumeration (values in ascending order), or is None.

    ``few[i]``: the column seems to have few distinct values, so that rows may be held as codes. ``whole``: every value of the enumerations is in
    some row, since none was left out.
    """

    table: str
    columns: tuple[Column, ...]
    coded: tuple[str | None, ...]
    few: tuple[bool, ...]
    n_rows: int
    whole: bool = False

    def floating(self, stored: str) -> bool:
        """Tell whether a stored column (``c{i}``) holds doubles, where -0.0 and 0.0 are one value."""
        return storage_type(self.columns[int(stored.removeprefix("c"))]) == "DOUBLE"

    def ordinal(self, name: str) -> int:
        """Return the ordinal of the column of that exact name; KeyError where there is none."""
        for place, column in enumerate(self.columns):
            if column.name == name:
                return place
        raise KeyError(name)

    def type_of(self, name: str) -> ColumnType:
        """Return the type of the column of that exact name; KeyError where there is none."""
        return self.columns[self.ordinal(name)].type


def stage(connection: Connection, source: TableSource, raw: Raw, *, any_digits: bool = False) -> tuple[StagedTable, Staged]:
    """Convert, check and store. Raises InputError D115 (physical type), D201-D209 (cells), all columns at once."""
    conversions = _conversions(source, raw, any_digits=any_digits)
    coded, few, warnings, clean, cells = enumerations(connection, source, raw, conversions)
    name = connection.fresh("s")
    values = [sql.aliased(_stored(source.columns[i], one, coded[i], i), f"c{i}") for i, one in enumerate(conversions)]
    _store(connection, raw, conversions, values, name)
    codes = [exp.Count(this=sql.column(f"c{i}")) for i in cells]
    rows, *stored = connection.row(exp.select(sql.count_all(), *codes).from_(sql.table(name), copy=False))
    if stored != list(cells.values()):
        message = "a text of the source has no code"
        raise fault(message)
    staged = StagedTable(name, source.columns, coded, few, int(rows), whole=True)
    suspects = [] if raw.empty_is_null else [i for i, one in enumerate(conversions) if one.text and i not in clean]
    if not any_digits:  # numbers in a file that we wrote, or that is audited, are compared by what they are worth
        warnings += _zeros(connection, source, raw, conversions)
        warnings += _no_numbers(connection, source, raw, conversions)
    marks = _checked(connection, source, raw, conversions, staged, suspects)
    dropped = 0
    drops = [test for i, column in enumerate(source.columns) if (test := outside_domain(column, f"c{i}", "drop")) is not None]
    if drops:
        staged, dropped = _without(connection, staged, drops)
    return staged, Staged(staged.table, source.columns, staged.n_rows, dropped, tuple(warnings), marks)


def _store(connection: Connection, raw: Raw, conversions: list[Conversion], values: list[exp.Expr], into: str) -> None:
    """Store the values; of very many columns in several tables first, since planning takes time with the square of the expressions."""
    if len(values) <= _STORED_TOGETHER:
        connection.run(
            sql.create_table(into, exp.select(*values).from_(present_cells(raw, conversions, range(len(values))), copy=False))
        )
        return
    whole = exp.Select()
    parts: list[str] = []
    for low in range(0, len(values), _STORED_TOGETHER):
        places = range(low, min(low + _STORED_TOGETHER, len(values)))
        part = connection.fresh("part")
        rows = exp.select(*(values[i] for i in places)).from_(present_cells(raw, conversions, places), copy=False)
        connection.run(sql.create_table(part, rows))
        whole = whole.select(*(sql.column(f"c{i}", part) for i in places))
        whole = sql.positional(whole, sql.table(part)) if parts else whole.from_(sql.table(part))
        parts.append(part)
    connection.run(sql.create_table(into, whole))
    for part in parts:
        connection.drop("TABLE", part)


def _conversions(source: TableSource, raw: Raw, *, any_digits: bool) -> list[Conversion]:
    conversions: list[Conversion] = []
    findings: list[Finding] = []
    for i, column in enumerate(source.columns):
        one = conversion_of(
            column, raw.cells[i], raw.physical[i], f"p{i}", empty_is_null=raw.empty_is_null, any_digits=any_digits
        )
        if isinstance(one, str):
            bare = raw.physical[i].partition("(")[0]
            message = f"the column {column.name} holds {bare}, which does not become {column.type.value} without loss"
            findings.append(Finding("D115", message, location=Location(source.label), hint=one, subject=column.name))
        else:
            conversions.append(one)
    raise_all(findings)
    return conversions


def _stored(column: Column, one: Conversion, coded: str | None, place: int) -> exp.Expr:
    if coded is not None:
        # A text without a code is a fault, never a missing value: codes are counted later, since a cast that may fail is slow on dictionaries.
        return sql.try_cast_enum(sql.column(f"p{place}"), coded)
    return one.value.copy() if one.text else sql.cast(one.value.copy(), storage_type(column))


def _zeros(connection: Connection, source: TableSource, raw: Raw, conversions: list[Conversion]) -> list[Finding]:
    """Warn of numbers written with zeros before them: a code that is read as a number loses them, and two codes may become one."""
    written = [(i, one.zeros) for i, one in enumerate(conversions) if one.zeros is not None]
    if not written:
        return []
    cells: list[int] = []
    for low in range(0, len(written), COUNTED_TOGETHER):
        some = written[low : low + COUNTED_TOGETHER]
        counts = [sql.count_all(where=zeros.copy()) for _, zeros in some]
        cells += connection.row(exp.select(*counts).from_(present_cells(raw, conversions, [i for i, _ in some]), copy=False))
    return [
        Finding(
            "D251",
            f"{pluralise(int(n), 'cell')} of the column {source.columns[i].name} {'has' if n == 1 else 'have'} zeros before the number, which are "
            f"not kept: as {source.columns[i].type.value}, 007 and 7 are one value",
            severity=Severity.WARN,
            location=source.place_of(source.columns[i].name),
            hint="declare `type: string` (or `category`) where these are codes: codes are texts",
            subject=source.columns[i].name,
        )
        for (i, _), n in zip(written, cells, strict=True)
        if n
    ]


def _no_numbers(connection: Connection, source: TableSource, raw: Raw, conversions: list[Conversion]) -> list[Finding]:
    """Warn of cells that say that they are no number, or infinite: they are read as missing, which the policy does not say."""
    said = [(i, one.no_number) for i, one in enumerate(conversions) if one.no_number is not None]
    if not said:
        return []
    cells: list[int] = []
    for low in range(0, len(said), COUNTED_TOGETHER):
        counts = [sql.count_all(where=test.copy()) for _, test in said[low : low + COUNTED_TOGETHER]]
        cells += connection.row(exp.select(*counts).from_(raw.rows.copy(), copy=False))
    return [
        Finding(
            "D270",
            f"{pluralise(int(n), 'row')} of the column {source.columns[i].name} {'has' if n == 1 else 'have'} no number (nan) or an infinite one: read "
            "as missing",
            severity=Severity.WARN,
            location=source.place_of(source.columns[i].name),
            hint='declare these words for the column where they mean that (`format: {missing: ["", nan]}`), or correct them in the source',
            subject=source.columns[i].name,
        )
        for (i, _), n in zip(said, cells, strict=True)
        if n
    ]


# checks
def _checked(
    connection: Connection,
    source: TableSource,
    raw: Raw,
    conversions: list[Conversion],
    staged: StagedTable,
    suspects: list[int],
) -> tuple[tuple[str, int], ...]:
    """Compare what was present with what was stored, and values with their domains; look for NUL in the texts of ``suspects``; return
    the suppressed marks per column.
    """
    typed = [i for i, one in enumerate(conversions) if not one.text and one.faults]
    marked = [i for i, one in enumerate(conversions) if one.mark is not None]
    outside = {
        i: test for i, column in enumerate(source.columns) if (test := outside_domain(column, f"c{i}", "error")) is not None
    }
    faulty: dict[int, exp.Expr] = {}
    before: tuple[int, ...] = ()
    if typed or marked:
        counts: list[exp.Expr] = [exp.Count(this=conversions[i].present.copy()) for i in typed]
        counts += [sql.count_all(where=mark.copy()) for i in marked if (mark := conversions[i].mark) is not None]
        before = connection.row(exp.select(*counts).from_(raw.rows.copy(), copy=False))
    nul = {i: holds_nul(sql.cast(sql.column(f"c{i}"), "VARCHAR")) for i in suspects}
    if typed or outside or nul:
        stored: list[exp.Expr] = [exp.Count(this=sql.column(f"c{i}")) for i in typed]
        stored += [sql.count_all(where=test.copy()) for test in (*outside.values(), *nul.values())]
        after = connection.row(exp.select(*stored).from_(sql.table(staged.table), copy=False))
        for place, i in enumerate(typed):
            if after[place] != before[place]:
                faulty[i] = sql.when(
                    *(
                        (
                            exp.and_(
                                exp.Not(this=exp.Is(this=sql.column(f"p{i}"), expression=exp.null())),
                                exp.Is(this=sql.column(f"c{i}"), expression=exp.null()),
                                fault.test.copy(),
                            ),
                            sql.integer(rank),
                        )
                        for rank, fault in enumerate(conversions[i].faults)
                    )
                )
        beyond = [i for place, i in enumerate(outside) if after[len(typed) + place]]
        holding = [i for place, i in enumerate(nul) if after[len(typed) + len(outside) + place]]
        if faulty or beyond or holding:
            tests = [*((i, _OUTSIDE, outside[i]) for i in beyond), *((i, _NUL, nul[i]) for i in holding)]
            _raise(connection, source, raw, conversions, staged, faulty, tests)
    return tuple((source.columns[i].name, int(before[len(typed) + place])) for place, i in enumerate(marked))


def _raise(
    connection: Connection,
    source: TableSource,
    raw: Raw,
    conversions: list[Conversion],
    staged: StagedTable,
    faulty: dict[int, exp.Expr],
    further: list[tuple[int, int, exp.Expr]],
) -> None:
    """``faulty``: per column the rank of its fault; ``further``: (column, key of :data:`_FURTHER`, condition)."""
    findings: list[Finding] = []
    for i in sorted({*faulty, *(place for place, _, _ in further)}):
        column = source.columns[i]
        kinds: list[tuple[int, int, str, str, str]] = []
        tests = [sql.when((test, sql.integer(key))) for place, key, test in further if place == i]
        for test in [*tests, *([faulty[i]] if i in faulty else [])]:
            numbered = exp.select(
                sql.aliased(exp.Window(this=exp.RowNumber()), "r"), sql.column(f"p{i}"), sql.column(f"c{i}")
            ).from_(present_cells(raw, conversions, [i]), copy=False)
            joined = sql.positional(numbered, sql.table(staged.table))
            kind = exp.select(sql.column("r"), sql.aliased(test.copy(), "kind")).from_(joined.subquery("both"), copy=False)
            totals = exp.select(sql.column("kind"), exp.Min(this=sql.column("r")), sql.count_all()).from_(
                kind.subquery("kinds"), copy=False
            )
            totals = totals.where(exp.Not(this=exp.Is(this=sql.column("kind"), expression=exp.null()))).group_by(
                sql.column("kind")
            )
            for rank, first, cells in connection.rows(totals):
                if rank < 0:
                    kinds.append((int(first) - 1, int(cells), *_FURTHER[int(rank)]))
                else:
                    fault = conversions[i].faults[int(rank)]
                    kinds.append((int(first) - 1, int(cells), fault.code, fault.message, fault.hint))
        for row, cells, code, message, hint in sorted(kinds):
            place, words = raw.place(row, i)
            many = f"; {cells} cells in all, this is the first" if cells > 1 else ""
            text = f"the column {column.name}{words}: a cell {message}{many}"
            findings.append(Finding(code, text, location=place, hint=hint, subject=column.name))
    raise_all(findings)


def _without(connection: Connection, staged: StagedTable, drops: list[exp.Expr]) -> tuple[StagedTable, int]:
    """Leave out the rows that meet one of the conditions (unknown counts as inside).

    The conditions are asked beforehand, and put in the order of the rows: of a list DuckDB makes a join, after which rows have lost it.
    """
    keep = exp.Not(this=sql.call("coalesce", exp.or_(*drops), exp.false()))
    name, kept = connection.fresh("s"), connection.fresh("kept")
    asked = (
        exp.select(sql.aliased(keep, "k")).from_(sql.table(staged.table), copy=False).order_by(sql.column("rowid"), copy=False)
    )
    connection.run(sql.create_table(kept, asked))
    columns = [sql.column(f"c{place}", staged.table) for place in range(len(staged.columns))]
    rows = sql.positional(exp.select(*columns).from_(sql.table(staged.table), copy=False), sql.table(kept)).where(
        sql.column("k", kept)
    )
    connection.run(sql.create_table(name, rows))
    connection.drop("TABLE", kept)
    connection.drop("TABLE", staged.table)
    (rows,) = connection.row(exp.select(sql.count_all()).from_(sql.table(name), copy=False))
    return StagedTable(name, staged.columns, staged.coded, staged.few, int(rows)), staged.n_rows - int(rows)
