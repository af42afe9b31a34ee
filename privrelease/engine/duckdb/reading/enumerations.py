"""Enumerations of a source's texts: each column of few values becomes codes, and texts that look alike are found on the way.

Of few rows all columns are looked at by one query; of many, the distinct values of each are stored, since they are asked several times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.reading.look_alike import holds_nul, look_alike, plain_form
from privrelease.findings import Finding
from privrelease.relational.schema import Role
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.duckdb.reading.converted import Conversion
    from privrelease.engine.duckdb.reading.raw_source import Raw
    from privrelease.relational.schema import TableSource

__all__ = ["COUNTED_TOGETHER", "MOST_CODED", "enumerations", "present_cells"]

#: (first rows that are looked at, most distinct values of a column of few).
_SAMPLES = ((20_480, 2_560), (122_880, 30_000))
COUNTED_TOGETHER = 32
#: A text column with more distinct values is stored as text, not as codes.
MOST_CODED = 65_535


@dataclass(frozen=True, slots=True)
class _Texts:
    """Figures of a column of texts: present cells; of its values how many hold NUL, and have another plain form (of rows, where they are few);
    the number of values, 0 where it was not asked for.
    """

    cells: int
    nul: int
    unlike: int
    values: int = 0


def enumerations(
    connection: Connection, source: TableSource, raw: Raw, conversions: list[Conversion]
) -> tuple[tuple[str | None, ...], tuple[bool, ...], list[Finding], set[int], dict[int, int]]:
    """Make enumerations; return their names, which columns have few values, warnings, the columns without NUL, and cells per enumeration."""
    clean, cells, warnings = set[int](), dict[int, int](), list[Finding]()
    coded: list[str | None] = [None] * len(conversions)
    few, small = _few(connection, raw, conversions)
    texts = [i for i, one in enumerate(conversions) if one.text and (few[i] or _watched(source, i))]
    glance = _glance(connection, source, raw, conversions, texts) if small else {}
    for i in texts:
        stored = None if i in glance and not glance[i].unlike else connection.fresh("values")
        seen = glance[i] if stored is None else _stored(connection, source, raw, conversions, i, stored)
        if not seen.nul:
            clean.add(i)
        if stored is not None and seen.unlike:  # where every value has its plain form already, no two have the same
            warning = look_alike(
                connection,
                source.columns[i],
                stored,
                seen.values,
                person=_is_person(source, i),
                place=source.place_of(source.columns[i].name),
            )
            warnings += [] if warning is None else [warning]
        if seen.values <= MOST_CODED:
            coded[i] = connection.fresh("e")
            cells[i] = seen.cells
            values = (
                _values(raw, conversions, i).distinct(copy=False)
                if stored is None
                else exp.select(sql.column("v")).from_(sql.table(stored), copy=False)
            )
            connection.run(sql.create_enum(str(coded[i]), values.order_by(sql.column("v"), copy=False)))
        few[i] = coded[i] is not None
        if stored is not None:
            connection.drop("TABLE", stored)
    return tuple(coded), tuple(few), warnings, clean, cells


def _is_person(source: TableSource, place: int) -> bool:
    return source.columns[place].name == source.unit


def _watched(source: TableSource, place: int) -> bool:
    """Return whether texts of a column that look alike are told: of persons, and of columns that the policy does not normalise."""
    column = source.columns[place]
    return _is_person(source, place) or (column.role is Role.QUASI and set(column.format.normalise) != {"nfc", "trim"})


def _figures(cell: exp.Expr, source: TableSource, place: int) -> list[exp.Expr]:
    """Count what holds NUL, and what has another plain form where that is told."""
    nul = sql.count_all(where=holds_nul(cell))
    if not _watched(source, place):
        return [nul, sql.integer(0)]
    return [
        nul,
        sql.count_all(where=exp.NEQ(this=plain_form(cell.copy(), person=_is_person(source, place)), expression=cell.copy())),
    ]


def _glance(
    connection: Connection, source: TableSource, raw: Raw, conversions: list[Conversion], texts: Sequence[int]
) -> dict[int, _Texts]:
    """Count in the rows themselves, for many columns by one query."""
    found: dict[int, _Texts] = {}
    for low in range(0, len(texts), COUNTED_TOGETHER):
        some = texts[low : low + COUNTED_TOGETHER]
        figures = [
            figure for i in some for figure in (exp.Count(this=sql.column(f"p{i}")), *_figures(sql.column(f"p{i}"), source, i))
        ]
        counts = connection.row(exp.select(*figures).from_(present_cells(raw, conversions, some), copy=False))
        found |= {i: _Texts(*map(int, counts[3 * at : 3 * at + 3])) for at, i in enumerate(some)}
    return found


def _values(raw: Raw, conversions: list[Conversion], place: int) -> exp.Select:
    """Select the present cells of a column as ``v``."""
    cell = sql.column(f"p{place}")
    rows = present_cells(raw, conversions, [place])
    return (
        exp.select(sql.aliased(cell, "v"))
        .from_(rows, copy=False)
        .where(exp.Not(this=exp.Is(this=cell.copy(), expression=exp.null())), copy=False)
    )


def _stored(
    connection: Connection, source: TableSource, raw: Raw, conversions: list[Conversion], place: int, into: str
) -> _Texts:
    """Store the distinct values of a column as ``v``, and count in them."""
    cell, there = sql.column(f"p{place}"), _values(raw, conversions, place)
    n: exp.Expr = exp.Sum(this=sql.column("n"))
    if conversions[place].present.key == "column":  # a reader knows how many cells it gives as they are
        rows = present_cells(raw, conversions, [place])
        distinct, n = there.distinct(), exp.select(exp.Count(this=cell.copy())).from_(rows, copy=False).subquery(copy=False)
    else:
        distinct = there.select(sql.aliased(sql.count_all(), "n")).group_by(cell)
    connection.run(sql.create_table(into, distinct))
    figures = [sql.count_all(), n, *_figures(sql.column("v"), source, place)]
    n_values, n_cells, n_nul, n_unlike = connection.row(exp.select(*figures).from_(sql.table(into), copy=False))
    return _Texts(int(n_cells or 0), int(n_nul), int(n_unlike), int(n_values))


def _few(connection: Connection, raw: Raw, conversions: list[Conversion]) -> tuple[list[bool], bool]:
    """Guess from the first rows which columns have few values: a glance settles most, only the others are looked at longer. Return also whether the
    rows themselves are so few.

    Rows that are fewer than the values allowed need no count of values, which is the slowest query on a small file.
    """
    n_rows = raw.n_rows
    if n_rows is None:
        some = (
            exp.select(sql.aliased(sql.integer(1), "one"))
            .from_(raw.rows.copy(), copy=False)
            .limit(_SAMPLES[0][1] + 1, copy=False)
        )
        (n_rows,) = connection.row(exp.select(sql.count_all()).from_(some.subquery("some"), copy=False))
    if n_rows <= _SAMPLES[0][1]:
        return [True] * len(conversions), n_rows <= MOST_CODED
    few = [False] * len(conversions)
    open_ = list(range(len(conversions)))
    for rows, most in _SAMPLES:
        for start in range(0, len(open_), COUNTED_TOGETHER):
            places = open_[start : start + COUNTED_TOGETHER]
            numbers = [_values_of(sql.column(f"p{i}"), rows) for i in places]
            counts = connection.row(exp.select(*numbers).from_(present_cells(raw, conversions, places, rows=rows), copy=False))
            for i, count in zip(places, counts, strict=True):
                few[i] = (count or 0) <= most  # NULL where there is no row
        open_ = [i for i in open_ if not few[i]]
    return few, False


def _values_of(cell: exp.Expr, rows: int) -> exp.Expr:
    """Count the values of a sample: of a short one as a list, in a third of the time of COUNT(DISTINCT), of a long one without holding all its cells."""
    if rows > _SAMPLES[0][0]:
        return exp.Count(this=exp.Distinct(expressions=[cell]))
    return sql.call("list_unique", sql.call("list", cell))


def present_cells(raw: Raw, conversions: list[Conversion], places: Iterable[int], *, rows: int | None = None) -> exp.Subquery:
    """Return the present cells of some columns as ``p{i}``, of all rows or the first ``rows``."""
    cells = exp.select(*(sql.aliased(conversions[i].present.copy(), f"p{i}") for i in places)).from_(
        raw.rows.copy(), copy=False
    )
    return (cells if rows is None else cells.limit(rows, copy=False)).subquery("present", copy=False)
