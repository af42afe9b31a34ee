"""Statistics, identifiers in other forms and several joined releases: the plain engine says what every other engine says."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from privrelease.engine.assignment_protocol import JoinedUnit, SharedColumn
from privrelease.engine.protocol.base import OutputColumn, OutputTable
from privrelease.engine.protocol.identifiers import FORMS
from privrelease.engine.protocol.release_pairs import PatternQuery
from privrelease.relational.aggregates import Aggregate, BinKey, Bounding, ColumnKey, Measure
from privrelease.relational.filters import parse_filter
from privrelease.relational.schema import Column, ColumnType, Role, Sink, SinkKind, SourceKind, TableSource
from privrelease.relational.tables import Membership, TableQuery
from tests.contract.engine.test_two_engines import COLUMNS, TEXTS, TYPES, parts_of, same, table
from tests.depth import depth

GRID = Fraction(1, 10)
ON_GRID = [replace(one, grid=Decimal("0.1")) if one.name == "x" else one for one in COLUMNS]
FILTERS = (
    "NOT (a = 'a' AND n > 0)",
    "x IS NULL OR b = true",
    "n IN (-1, 7) AND d <= '2019-04-14'",
    "m > '1970-01-01 00:00:00'",
)


def staged_in(engine, folder, cells, columns):
    path = folder / "in.parquet"
    pq.write_table(cells, path)
    return engine.stage(TableSource("d", SourceKind.PARQUET, str(path), "in.parquet", tuple(columns)))


def on_grid(n):
    """The rows of the other comparison, without a number that no grid holds."""
    made = table(n, False)
    x = made.column("x")
    return made.set_column(made.column_names.index("x"), "x", pc.if_else(pc.greater(x, 100), 25.5, x))


def filtered(number):
    return parse_filter(FILTERS[number], TYPES)


def figures(engine, staged):
    """Figures that no choice of rows decides: of all rows, and of all rows of each person."""
    by_text = (ColumnKey("a", ("a", "A", "\u00e4"), "rest", missing=True), ColumnKey("b", ("true", "false")))
    bins = (
        BinKey("x", tuple(map(Fraction, (-3, 0, 1))), GRID, outside=True, missing=True),
        BinKey("d", (Fraction(0), Fraction(9))),
    )
    moments = (BinKey("m", (Fraction(-1), Fraction(0), Fraction(10**9)), closed=False, outside=True),)
    rows, persons = Measure("rows"), Measure("persons")
    sums = (Measure("sum", "x", -30, 9, 4, grid=GRID), Measure("squares", "n", -(2**40), 2**40, 3, 5, fill=2))
    asked = [
        *(Aggregate((rows, persons), keys) for keys in ((), by_text, bins, moments)),
        *(Aggregate((rows, *sums), by_text, filtered(number), ("x",)) for number in range(len(FILTERS))),
        Aggregate((persons, rows), (ColumnKey("a", None), ColumnKey("n", None)), filtered(0)),
        Aggregate((Measure("steps", "x", -30, 9, grid=GRID),), by_text, complete=("x",)),
        Aggregate((Measure("steps", "x", -30, 9, grid=GRID, fill=1),)),
    ]
    for unit in (None, "who"):
        bounding = Bounding(unit, 10**6, 9)
        yield from engine.aggregates(staged, bounding, asked)
        for keys in (by_text, bins, (*moments, by_text[0])):
            found, counted = engine.coded_rows(staged, bounding, keys), Counter()
            for cells, n in zip(map(tuple, found.codes.tolist()), found.rows.tolist(), strict=True):
                counted[cells] += n
            yield counted


def entries(found):
    """Contributions without the numbers of persons: those of one person stay together."""
    own = {}
    times = [1] * len(found.cells) if found.alike is None else found.alike.tolist()
    for cell, who, n, times_, *more in zip(
        found.cells.tolist(),
        found.persons.tolist(),
        found.rows.tolist(),
        times,
        *found.sums.tolist(),
        *found.known.tolist(),
        strict=True,
    ):
        own.setdefault((who, times_), []).append((cell, n, *more))
    counted = Counter()
    for (_, times_), lines in own.items():
        counted[tuple(sorted(lines))] += times_
    return counted, found.left_out


@pytest.mark.parametrize("n", [0, 1, 250])
def test_statistics_and_contributions_are_the_same(both, tmp_path, n):
    told = []
    for engine in both:
        staged = staged_in(engine, tmp_path, on_grid(n), ON_GRID)
        before = staged_in(engine, tmp_path, on_grid(max(n - 9, 0)), ON_GRID)
        said = list(figures(engine, staged))
        for unit in (None, "who"):
            asked = TableQuery(("a", "b"), (tuple(TEXTS[:4]), ("true",)), ("n",), unit=unit, where=filtered(0))
            wider = replace(asked, others=True, members=(Membership(filtered(1), (("b", ("true",)),)),), where=None)
            said += [entries(engine.contributions(staged, one)) for one in (asked, wider)]
            said.append(entries(engine.changed_contributions(staged, before, replace(asked, where=None))))
            members = (Membership(filtered(1), (("b", ("true",)),)),)
            finer = (("a", ((TEXTS[0], "true"), (TEXTS[1], "true"), (TEXTS[2], "false"))),)
            by_b = replace(asked, by=("b",), keys=(("true", "false"),), where=None, members=members)
            said.append(entries(engine.changed_contributions(staged, before, by_b, replace(by_b, by=("a",), recoded=finer))))
            said.append(entries(engine.changed_contributions(staged, before, replace(by_b, by=(), keys=()))))
        told.append(said)
    for ours, theirs in zip(*told, strict=True):
        same(ours, theirs, str(ours)[:60])


NAMES = [
    "Anna Berg",
    "BERG, ANNA",
    "\u00d6st-Ley 12",
    "Stra\u00df",
    "0012",
    "12.0",
    "4711",
    "a",
    "",
    "x 4711 y",
    "anna.berg@b",
    "greb anna",
]
PERSONS = [Column("id", ColumnType.STRING, Role.DIRECT), Column("t", ColumnType.STRING, Role.QUASI)]


def test_identifiers_in_other_forms_are_found_alike(both, tmp_path):
    hashed = ["2b1d8d3c2b5c7f0e", "anna"]
    ids = [*NAMES, *NAMES[:3], None, "Clara Wu"]
    texts = ["see Anna Berg 7", None, *NAMES, "ostley12", "gnaB", *hashed][: len(ids)]
    path = tmp_path / "in.parquet"
    pq.write_table(pa.table({"id": pa.array(ids), "t": pa.array(texts)}), path)
    released = tmp_path / "released.parquet"
    pq.write_table(
        pa.table({"t": pa.array([*NAMES[::-1], None, "Ley \u00d6st 12 and wu clara", "anna"]), "id": pa.array([*ids[:15]])}),
        released,
    )
    told = []
    for engine in both:
        staged = engine.stage(TableSource("d", SourceKind.PARQUET, str(path), "in.parquet", tuple(PERSONS)))
        opened = engine.open_release(Sink(SinkKind.PARQUET, released, "released"), PERSONS)
        found = engine.identifier_matches(staged, opened, [("id", "t"), ("id", "id")], FORMS)
        linked = [engine.linked_rows(staged, opened, one, ["t"], shuffles=3, seed=5) for one in found]
        told.append((found, tuple(linked), engine.own_identifiers(staged, [("id", "t")], FORMS)))
    assert {one.form for one in told[0][0]} >= {"plain", "folded", "digits", "part"}
    for ours, theirs in zip(*told, strict=True):
        same(ours, theirs)


def released_twice(engine, staged, folder):
    """Two releases of the same rows, suppressed in other cells; some rows are in one of them only."""
    files, maps = [], []
    for number, linkable in enumerate((True, False)):
        found = engine.classes(staged, ("a", "n", "x"), unit="who")
        parts = parts_of(found, linkable)
        parts = replace(parts, dropped=np.roll(parts.dropped, number))
        columns = tuple(OutputColumn(name, TYPES[name]) for name in ("a", "n", "b"))
        sink, row_map = Sink(SinkKind.PARQUET, folder / f"{number}.parquet", "one"), folder / f"{number}.map"
        engine.write(staged, OutputTable(columns, parts, (sink,), row_map))
        files.append(engine.open_release(sink, COLUMNS))
        maps.append(row_map)
    return files, maps


def of_joined(engine, staged, files, maps):
    yield engine.differing(tuple(files), tuple(maps), ["a", "n", "b"])
    exact = [SharedColumn("a", (0, 1)), SharedColumn("b", (0, 1), exact=False)]
    ways = (exact, exact[1:], [SharedColumn(None, (0, 1))])
    if staged.n_rows < 2:
        ways = depth(ways[:1], ways)
    for unit in (None, JoinedUnit(staged, "who", together=False), JoinedUnit(staged, "who", together=True)):
        for shared in ways:
            joined = engine.join_releases(files, maps, shared, unit)
            yield len(joined.vectors)
            for most in (10**9, 3):
                found = engine.agreement(joined, 1, most)
                if found is None:
                    yield None
                    continue
                yield sorted(found.first.tolist()), sorted(found.second.tolist())
                yield sorted((int(found.first[kind]), int(found.second[rest])) for kind, rest in found.pairs.tolist())
            for knows in (False, True):
                one = engine.candidates(joined, joined.vectors, [["a", "n"], ["b"]], knows_rows=knows)
                figures = (one.persons.tolist(), one.alone.tolist(), one.candidates.tolist(), one.lost.tolist())
                yield sorted(zip(*figures, strict=True))
    for number in range(2):
        asked = PatternQuery(
            ("b",),
            ("a",),
            parse_filter(("NOT (a = 'a' AND n > 0)", "n IS NULL OR a = 'A'")[number], TYPES),
            frozenset({"a", "n"}),
            also=(parse_filter("n > 0 OR a = 'a'", TYPES),),
        )
        patterns = engine.row_patterns(files[0], asked)
        yield sorted((str(one.keys), str(one.inside), str(one.also), one.rows, one.known) for one in patterns)


@pytest.mark.parametrize("n", [0, 1, 150])
def test_joined_releases_are_the_same(both, tmp_path, n):
    told = []
    for number, engine in enumerate(both):
        folder = tmp_path / str(number)
        folder.mkdir()
        staged = staged_in(engine, tmp_path, table(n, False), COLUMNS)
        told.append(list(of_joined(engine, staged, *released_twice(engine, staged, folder))))
    for ours, theirs in zip(*told, strict=True):
        assert ours == theirs
