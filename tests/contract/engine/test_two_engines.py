"""What the plain engine says of a table is what every other engine says: texts that look alike, -0.0, what is no number, 0 rows, 1 row."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from itertools import permutations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privrelease.audit.tables.table_recount import cells_of
from privrelease.engine.protocol.attacks import Drawn
from privrelease.engine.protocol.base import OutputColumn, OutputTable, Parts, PersonsFrom
from privrelease.engine.protocol.release_pairs import LinkedPersons, MapQuery, PatternQuery
from privrelease.relational.schema import Column, ColumnType, Role, Sink, SinkKind, SourceKind, TableSource
from privrelease.relational.tables import TableQuery
from tests.depth import depth

TYPES = {
    "a": ColumnType.CATEGORY,
    "n": ColumnType.INTEGER,
    "x": ColumnType.NUMBER,
    "d": ColumnType.DATE,
    "m": ColumnType.DATETIME,
    "b": ColumnType.BOOLEAN,
    "who": ColumnType.STRING,
    "w": ColumnType.NUMBER,
}
COLUMNS = [Column(name, type_, Role.DIRECT if name == "who" else Role.QUASI) for name, type_ in TYPES.items()]
#: Letters that look alike and are not equal: case, a blank, composed and decomposed, Latin and Cyrillic.
TEXTS = ["a", "A", "a ", "\u00e4", "a\u0308", "\u0430", "aa", "1", "01"]
KNOWN = ("a", "n", "x")
RELEASED = [name for name in TYPES if name != "w"]


def table(n, wide):
    rng = np.random.default_rng(n)

    def some(values):
        chosen = rng.integers(0, len(values), n)
        return [None if lost else values[one] for one, lost in zip(chosen.tolist(), rng.random(n) < 0.1, strict=True)]

    schema = {"a": pa.string(), "n": pa.int64(), "x": pa.float64(), "d": pa.date32(), "m": pa.timestamp("us"), "b": pa.bool_()}
    cells = {
        "a": some(TEXTS),
        "n": rng.permutation(n).tolist() if wide else some([-(2**40), -1, 0, 7]),
        "x": some([-0.0, 0.0, 0.1, -2.5, 1e300]),
        "d": [None if v is None else np.datetime64(v, "D").astype(object) for v in some([-1, 0, 18_000])],
        "m": some([-1, 0, 10**15 + 1]),
        "b": some([True, False]),
    }
    made = {name: pa.array(cells[name], kind) for name, kind in schema.items()}
    who = [f"p{v}" for v in rng.integers(0, max(1, n // 3), n)]
    return pa.table({**made, "who": pa.array(who, pa.string()), "w": pa.array(rng.integers(1, 9, n) / 4, pa.float64())})


def same(ours, theirs, path=""):
    """Assert that answers are equal; handles are an engine's own."""
    if isinstance(ours, np.ndarray):
        np.testing.assert_allclose(np.asarray(ours, np.float64), np.asarray(theirs, np.float64), rtol=1e-12, err_msg=path)
    elif is_dataclass(ours):
        for field in fields(ours):
            if field.name != "handle":
                same(getattr(ours, field.name), getattr(theirs, field.name), f"{path}.{field.name}")
    elif isinstance(ours, tuple):
        assert len(ours) == len(theirs), path
        for one, other in zip(ours, theirs, strict=True):
            same(one, other, path)
    elif isinstance(ours, float):
        assert ours == pytest.approx(theirs), path
    else:
        assert ours == theirs, path


def parts_of(found, linkable):
    """Two parts of every class (of every pair of a class and a person, where rows are linkable), one suppressed, some dropped."""
    counts, rng = found.table.counts, np.random.default_rng(3)
    if linkable:
        classes = found.table.pairs_class.astype(np.uint32)
        levels = (rng.integers(0, 2, (len(classes), 2)) * 255).astype(np.uint8)
        numbers = np.arange(len(classes), dtype=np.uint32)
        records = found.pair_rows * found.table.alike[found.table.pairs_person]
        return Parts(found.handle, classes, records, ("a", "n"), levels, rng.random(len(classes)) < 0.1, numbers)
    first = counts // 2
    records = np.stack([first, counts - first], axis=1).reshape(-1)
    classes = np.repeat(np.arange(len(counts), dtype=np.uint32), 2)
    levels = (rng.integers(0, 2, (len(classes), 2)) * 255).astype(np.uint8)
    return Parts(found.handle, classes, records, ("a", "n"), levels, rng.random(len(classes)) < 0.1)


def staged_in(engine, folder, cells):
    path = folder / "in.parquet"
    pq.write_table(cells, path)
    return engine.stage(TableSource("d", SourceKind.PARQUET, str(path), "in.parquet", tuple(COLUMNS)))


def written(engine, staged, folder, name, linkable, order):
    found = engine.classes(staged, KNOWN, unit="who", weight="w")
    columns = tuple(OutputColumn(one, TYPES[one], b"key" if one == "who" else None) for one in RELEASED)
    sink, row_map = Sink(SinkKind.PARQUET, folder / f"{name}.parquet", name), folder / f"{name}.map"
    engine.write(staged, OutputTable(columns, parts_of(found, linkable), (sink,), row_map, order=order))
    return found, sink, row_map


def decoded(path):
    read = pq.read_table(path)
    return pa.table({name: read.column(name).cast(read.schema.field(name).type) for name in read.column_names}).to_pylist()


@pytest.mark.parametrize("linkable", [False, True])
@pytest.mark.parametrize("n", [0, 1, 250])
def test_classes_and_what_is_written_are_the_same(both, tmp_path, n, linkable):
    compare_written(both, tmp_path, table(n, False), linkable, ("values", "source"))


def test_more_values_than_two_bytes_can_number_are_written_the_same(both, tmp_path):
    compare_written(both, tmp_path, table(66_000, True), False, ("values",))


def compare_written(both, tmp_path, cells, linkable, orders):
    for order in orders:
        told = []
        for number, engine in enumerate(both):
            staged = staged_in(engine, tmp_path, cells)
            found, sink, row_map = written(engine, staged, tmp_path, f"{order}{number}", linkable, order)
            told.append((found, [tuple(row.values()) for row in decoded(sink.path)], decoded(row_map)))
        same(*(found for found, _, _ in told))
        assert told[0][1] == told[1][1]
        assert told[0][2] == told[1][2]


@pytest.mark.parametrize("n", [0, 1, 250])
def test_what_is_measured_is_the_same(both, tmp_path, n):
    told = []
    for number, engine in enumerate(both):
        staged = staged_in(engine, tmp_path, table(n, False))
        _, sink, row_map = written(engine, staged, tmp_path, f"out{number}", True, "values")
        released = engine.hold(engine.open_release(sink, COLUMNS), staged)
        told.append(tuple(answers(engine, staged, released, row_map)))
    for ours, theirs in zip(*told, strict=True):
        same(ours, theirs, str(ours)[:60])


def answers(engine, staged, released, row_map):
    persons = PersonsFrom(staged, row_map, "who")
    yield engine.size_histogram(released, KNOWN, residual=True)
    yield engine.size_histogram(released, KNOWN, persons_from=persons, residual=True)
    yield engine.value_sizes(staged, list(TYPES), unit="who")
    yield engine.class_tables([staged, released], RELEASED[:-1])
    yield engine.changes(staged, released, row_map, RELEASED[:-1])
    yield engine.row_map_faults(staged, released, row_map)
    yield engine.unsorted_rows(released)
    yield engine.left_rows(staged, row_map, list(TYPES), "who")
    yield engine.unequal_rows(released, released, RELEASED)
    yield engine.token_facts(staged, released, row_map, "who")
    yield engine.unit_facts(staged, "who")
    yield engine.weighted_classes(staged, released, row_map, KNOWN, "w")
    yield engine.weighted_classes(staged, released, row_map, KNOWN, "w", "who")
    yield engine.text_counts(released, "a", TEXTS)
    for name in ("n", "x"):
        yield engine.number_counts(staged, name)
        yield engine.number_distances(staged, released, row_map, name)
    for one in engine.same_cells(staged, released, row_map, [("who", "a"), ("a", "a")]):
        yield one.compared, one.same
    grouped = engine.person_classes(staged, released, row_map, KNOWN, "who")
    yield grouped.table.codes, grouped.table.counts, sorted(grouped.table.alike.tolist())
    for unit in (None, "who"):
        asked = TableQuery(("a",), (tuple(TEXTS[:4]),), ("n",), unit=unit, largest=2)
        yield engine.table_cells(staged, asked)
        yield cells_of(engine.contributions(staged, asked), asked)
    for more in ({}, {"persons_from": persons}, {"unit": "who", "knows_rows": True}):
        found = engine.household_counts(released, "a", ("b",), **more)
        yield found.sizes, found.classes, found.largest
    records = engine.distinct_records([staged, released], [KNOWN, RELEASED[:4]], ["who", None])
    for one in records:
        yield one.rows, one.first, one.persons if one.persons is not None else 0
        yield tuple(column.codes for column in one.columns)
    yield engine.drawn_counts(records[0], Drawn(7, 5))
    beside = engine.beside_source(staged, released, KNOWN)
    yield tuple(sorted((one.kept, one.rows) for one in engine.patterns(beside, KNOWN)))
    yield engine.beyond_source(beside, ["a"], ["n", "x"])


def pairs_of(engine, staged, files, maps, mapped):
    """What is said of two releases, rows of the answers in one order; ``mapped``: the columns of which each may follow from each."""
    (first, second), persons = files, LinkedPersons(staged, *maps, "who")
    for most in (10**9, 0):
        links = engine.links_by_columns(first, second, ["b"], ["a", "n"], most)
        yield links.pairs, links.complete
    for links in (engine.links_by_maps(*maps), engine.links_by_place(first, second)):
        yield links.pairs
        for whose in (None, persons):
            for unlinked in (True, False):
                yield ordered(engine.combined_classes(first, second, links, ["a"], ["a", "n"], whose, unlinked=unlinked))
    yield ordered(engine.block_classes(first, second, ["b"], ["a"], ["n"]))
    yield ordered(engine.block_classes(first, second, ["a", "n"], ["b"], ["b"]))
    yield tuple(sorted(one.tolist()) for one in engine.only_in_one(first, second, ["a", "b", "n"], ["a", "n"]))
    yield engine.shared_values(staged, second, [("a", "a"), ("a", "b")])
    yield engine.same_coding(first, second, ["a", "b"])
    asked = PatternQuery(("a", "b"), ("n",))
    for of in (staged, second):
        yield tuple(sorted((str(one.keys), one.inside, one.rows, one.known) for one in engine.row_patterns(of, asked)))
    known = [(name, MapQuery(name, on, keys)) for name, on in permutations(mapped, 2) for keys in ((), ("a", "1"))]
    for of in (staged, second):
        maps = engine.column_maps(of, [query for _, query in known])
        yield [replace(one, handle="") for one in maps]
        looked_up = tuple((name, one.handle) for (name, _), one in zip(known, maps, strict=True) if one.handle)
        patterns = engine.row_patterns(second, replace(asked, maps=looked_up))
        yield tuple(sorted((str(one.keys), one.rows, one.known, str(one.within)) for one in patterns))


def ordered(found):
    return sorted(zip(*(getattr(found, field.name).tolist() for field in fields(found)), strict=True))


@pytest.mark.parametrize("n", [0, 1, 250])
def test_what_two_releases_say_is_the_same(both, tmp_path, n):
    told = []
    for number, engine in enumerate(both):
        staged = staged_in(engine, tmp_path, table(n, False))
        made = [
            written(engine, staged, tmp_path, f"{name}{number}", linkable, "values")
            for name, linkable in (("one", True), ("two", False))
        ]
        files = [engine.hold(engine.open_release(sink, COLUMNS), staged) for _, sink, _ in made]
        every = ("a", "n", "x", "b", "who")
        mapped = every if n > 1 else depth(("a", "x", "who"), every)
        told.append(list(pairs_of(engine, staged, files, [row_map for *_, row_map in made], mapped)))
    for ours, theirs in zip(*told, strict=True):
        assert ours == theirs
