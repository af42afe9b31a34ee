"""Distinct records in one coding over tables of several kinds, and single rows of them by number, against dictionaries of rows."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privrelease.audit.attacks.sampling import Draws
from privrelease.engine.protocol.attacks import Drawn
from privrelease.engine.protocol.base import PersonsFrom
from privrelease.relational.schema import Column, ColumnType, Role, SinkKind

DECLARED = [
    Column("id", ColumnType.STRING, Role.DIRECT),
    Column("sex", ColumnType.CATEGORY, Role.QUASI),
    Column("age", ColumnType.INTEGER, Role.QUASI),
    Column("pay", ColumnType.NUMBER, Role.SENSITIVE),
    Column("born", ColumnType.DATE, Role.SENSITIVE),
    Column("alive", ColumnType.BOOLEAN, Role.SENSITIVE),
]
NAMES = [column.name for column in DECLARED]
FIRST = "id,sex,age,pay,born,alive\nb,M,40,1.5,2001-01-02,true\na,,9,,2001-01-01,false\nb,F,,-0.0,,\n"
SECOND = "id,sex,age,pay,born,alive\nc,X,10,0.0,2000-12-31,true\n"


def by_row(records, engine, rows):
    """The codes of each column, row by row."""
    at = engine.records_at(records, np.arange(rows))
    return {column.name: column.codes[at].tolist() for column in records.columns}


@pytest.fixture
def coded(bench):
    tables = [bench.engine.stage(bench.csv(text, DECLARED)) for text in (FIRST, SECOND)]
    found = bench.engine.distinct_records(tables, [NAMES, NAMES], [None, None])
    return [by_row(records, bench.engine, table.n_rows) for records, table in zip(found, tables, strict=True)], found[0]


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        ("id", [2, 1, 2], [3]),
        ("sex", [2, 0, 1], [3]),
        ("age", [3, 1, 0], [2]),
        ("pay", [2, 0, 1], [1]),
        ("born", [3, 2, 0], [1]),
        ("alive", [2, 1, 0], [2]),
    ],
)
def test_codes_ascend_over_all_tables_and_missing_is_none(coded, name, first, second):
    assert [codes[name] for codes in coded[0]] == [first, second]


def test_numbers_and_dates_have_the_values_of_their_codes(coded):
    values = {column.name: column.values for column in coded[1].columns}
    assert values["sex"] is None
    assert values["alive"] is None
    assert np.isnan(values["age"][0])
    assert values["age"][1:].tolist() == [9, 10, 40]
    assert values["pay"][1:].tolist() == [0, 1.5]
    assert np.diff(values["born"][1:]).tolist() == [1, 1]


def test_a_released_file_is_coded_with_its_source_whatever_its_width(bench):
    staged = bench.engine.stage(bench.csv(FIRST, DECLARED))
    sink = bench.sink(name="theirs")
    pq.write_table(pa.table({"age": pa.array([40.0, None, 10.0]), "sex": pa.array(["F", "Q", None])}), sink.path)
    released = bench.engine.open_release(sink, DECLARED)
    names = ["sex", "age"]
    found = bench.engine.distinct_records([staged, released], [names, names], [None, None])
    ours, theirs = (by_row(records, bench.engine, 3) for records in found)
    assert (ours["sex"], theirs["sex"]) == ([2, 0, 1], [1, 3, 0])
    assert (ours["age"], theirs["age"]) == ([3, 1, 0], [3, 0, 2])


def test_a_csv_file_of_one_column_and_a_table_without_a_row_are_coded(bench):
    staged = bench.engine.stage(bench.csv("id,sex,age,pay,born,alive\n", DECLARED))
    sink = bench.sink(SinkKind.CSV)
    sink.path.write_text("age\n7\n", encoding="utf-8")
    released = bench.engine.open_release(sink, DECLARED)
    empty, one = bench.engine.distinct_records([staged, released], [["age"], ["age"]], ["id", None])
    assert (empty.rows.tolist(), empty.first.tolist(), empty.persons.tolist()) == ([], [], [[], []])
    assert (one.rows.tolist(), one.columns[0].codes.tolist()) == ([1], [1])
    without, both = bench.engine.distinct_records([staged, released], [[], []], [None, None])
    assert (without.rows.tolist(), both.rows.tolist()) == ([], [1])


ROWS = [Column("id", ColumnType.STRING, Role.DIRECT), *(Column(name, ColumnType.CATEGORY, Role.QUASI) for name in "ab")]


def some_rows(seed, n):
    """Rows with few values, many of them missing; some have no person."""
    rng = np.random.default_rng(seed)

    def some(prefix, high):
        return [None if v == 0 else f"{prefix}{v}" for v in rng.integers(0, high, n).tolist()]

    return [
        dict(zip(("id", "a", "b"), row, strict=True))
        for row in zip(some("p", n // 4 + 1), some("a", 4), some("b", 3), strict=True)
    ]


def first_rows(rows, name):
    found = {}
    for place, row in enumerate(rows):
        found.setdefault(row[name], place)
    return found


def opened(bench, rows, name="out"):
    sink = bench.sink(name=name)
    pq.write_table(pa.Table.from_pylist(rows, pa.schema([(key, "string") for key in ("id", "a", "b")])), sink.path)
    return bench.engine.open_release(sink, ROWS)


def staged_rows(bench, rows, name):
    table = pa.Table.from_pylist(rows, pa.schema([(key, "string") for key in ("id", "a", "b")]))
    return bench.engine.stage(bench.parquet(table, ROWS, name=name))


def in_order(records):
    """The records' cells as codes, columns by name: ascending."""
    return np.stack([column.codes for column in sorted(records.columns, key=lambda one: one.name)], axis=1).tolist()


@pytest.mark.parametrize("seed", range(3))
def test_records_have_their_rows_their_first_row_and_their_persons(bench, seed):
    rows = some_rows(seed, 80)
    staged = staged_rows(bench, rows, "d.parquet")
    (found,) = bench.engine.distinct_records([staged], [("b", "a")], ["id"])
    assert in_order(found) == sorted(in_order(found))
    assert len({tuple(one) for one in in_order(found)}) == len({(row["a"], row["b"]) for row in rows})
    person = first_rows(rows, "id")
    at = bench.engine.records_at(found, np.arange(len(rows)))
    assert Counter(at.tolist()) == dict(enumerate(found.rows.tolist()))
    for record in range(len(found.rows)):
        mine = [place for place in range(len(rows)) if at[place] == record]
        assert len({(rows[place]["a"], rows[place]["b"]) for place in mine}) == 1
        assert found.first[record] == mine[0]
        theirs = [person[rows[place]["id"]] for place in mine]
        assert found.persons[:, record].tolist() == [min(theirs), max(theirs)]
    asked = np.array([79, 0, 5, 5])
    assert bench.engine.persons_at(staged, "id", asked).tolist() == [person[rows[place]["id"]] for place in asked]


@pytest.mark.parametrize("seed", range(3))
def test_rows_are_found_by_their_place_among_the_records(bench, seed):
    rows = some_rows(seed, 60)
    released = opened(bench, rows)
    (found,) = bench.engine.distinct_records([released], [("a", "b")], [None])
    expected = sorted(range(60), key=lambda place: ((rows[place]["a"] or ""), (rows[place]["b"] or ""), place))
    assert bench.engine.rows_at(found, np.arange(60)).tolist() == expected
    assert bench.engine.rows_at(found, np.array([59, 3, 3])).tolist() == [expected[59], expected[3], expected[3]]


@pytest.mark.parametrize("most", [1, 7, 1000])
def test_a_part_is_drawn_by_the_numbers_of_its_rows_and_of_its_persons_first_ones(bench, most):
    rows, draws = some_rows(4, 90), Draws.of("part")
    staged = staged_rows(bench, rows, "d.parquet")
    order = draws.order(90).tolist()
    alone, shared = bench.engine.distinct_records([staged, staged], [("a", "b")] * 2, [None, "id"])
    at = bench.engine.records_at(alone, np.arange(90)).tolist()
    counts, persons = bench.engine.drawn_counts(alone, Drawn(draws.seed, most))
    assert persons is None
    assert counts.tolist() == np.bincount([at[row] for row in order[:most]], minlength=len(alone.rows)).tolist()
    chosen = list(dict.fromkeys(rows[row]["id"] for row in order))[:most]
    mine = [row for row in range(90) if rows[row]["id"] in chosen]
    counts, persons = bench.engine.drawn_counts(shared, Drawn(draws.seed, most))
    assert counts.tolist() == np.bincount([at[row] for row in mine], minlength=len(alone.rows)).tolist()
    number = first_rows(rows, "id")
    for record in np.flatnonzero(counts).tolist():
        theirs = [number[rows[row]["id"]] for row in mine if at[row] == record]
        assert persons[:, record].tolist() == [min(theirs), max(theirs)]


def test_persons_of_one_table_are_found_in_another_and_a_missing_one_in_none(bench):
    ours, theirs = some_rows(1, 50), some_rows(2, 50)
    first, second = staged_rows(bench, ours, "a.parquet"), staged_rows(bench, theirs, "b.parquet")
    number = first_rows(theirs, "id")
    expected = [(place, number[row["id"]]) for place, row in enumerate(ours) if row["id"] is not None and row["id"] in number]
    found = bench.engine.shared_persons(first, second, "id")
    assert (found.rows, found.persons) == (len(expected), len({person for _, person in expected}))
    listed = np.arange(found.rows)[::-1]
    sides = bench.engine.shared_at(found, listed)
    assert list(zip(*(side.tolist() for side in sides), strict=True)) == expected[::-1]


def test_output_rows_are_led_to_their_source_rows(bench):
    staged = bench.engine.stage(bench.csv(FIRST, DECLARED))
    _, row_map = bench.write(staged, bench.sink(), dropped=[False, True, False], order="source")
    assert bench.engine.source_rows(row_map, np.array([1, 0, 1, 7])).tolist() == [2, 0, 2, -1]


def households(rows, person, names, *, knows_rows):
    """Count households by composition: rows of dictionaries, ``person`` their owners."""
    values = [tuple(row[name] for name in names) for row in rows]
    crowd = {value: len({one for one, other in zip(person, values, strict=True) if other == value}) for value in set(values)}
    members = {}
    for row, one, value in zip(rows, person, values, strict=True):
        if row["id"] is not None:
            members.setdefault(row["id"], {}).setdefault(one, []).append(value)
    kept = (lambda one: tuple(sorted(one, key=str))) if knows_rows else (lambda one: tuple(sorted(set(one), key=str)))
    found = {house: sorted((kept(one) for one in people.values()), key=str) for house, people in members.items()}
    sizes = Counter(Counter(map(str, found.values())).values())
    crowds = {house: tuple(sorted(min(crowd[v] for v in one) for one in people)) for house, people in found.items()}
    others = {}
    for row, one, value in zip(rows, person, values, strict=True):
        if row["id"] is None and members:
            others.setdefault(one, []).append(value)
    alone = Counter(Counter(str(kept(one)) for one in others.values()).values())
    return sizes, max(map(len, found.values()), default=0), set(crowds.values()), alone


@pytest.mark.parametrize("knows_rows", [False, True])
@pytest.mark.parametrize("names", [("a", "b"), ("b",), ()])
@pytest.mark.parametrize("n", [0, 1, 120])
def test_households_are_counted_by_the_values_of_their_members(bench, n, names, knows_rows):
    """The column ``id`` names the household; a person is named by the file, by its source, or is a row."""
    rows = some_rows(n, n) if n else []
    whose = [None if place % 11 == 0 else f"w{place % 37}" for place in range(n)]
    table = pa.Table.from_pylist(rows, pa.schema([(key, "string") for key in ("id", "a", "b")]))
    declared = [*ROWS, Column("who", ColumnType.STRING, Role.DIRECT)]
    staged = bench.engine.stage(bench.parquet(table.append_column("who", pa.array(whose, "string")), declared))
    sink, alone = bench.sink(), bench.sink(name="alone")
    pq.write_table(table.append_column("who", pa.array(whose, "string")), sink.path)
    pq.write_table(table, alone.path)
    row_map = bench.folder / "map.parquet"
    pq.write_table(pa.table({"source_row": np.arange(n), "output_row": np.arange(n)}), row_map)
    released, other = bench.engine.open_release(sink, declared), bench.engine.open_release(alone, ROWS)
    for of, persons, more in (
        (other, list(range(n)), {}),
        (released, whose, {"unit": "who"}),
        (other, whose, {"persons_from": PersonsFrom(staged, row_map, "who")}),
    ):
        found = bench.engine.household_counts(of, "id", names, knows_rows=knows_rows, **more)
        sizes, largest, crowds, alone = households(rows, persons, names, knows_rows=knows_rows)
        assert dict(zip(found.alone_sizes.tolist(), found.alone_classes.tolist(), strict=True)) == alone
        assert dict(zip(found.sizes.tolist(), found.classes.tolist(), strict=True)) == sizes
        assert found.largest == largest
        kinds = {}
        for kind, crowd, members in zip(found.kind.tolist(), found.crowd.tolist(), found.members.tolist(), strict=True):
            kinds.setdefault(kind, []).extend([crowd] * members)
        assert {tuple(sorted(one)) for one in kinds.values()} == crowds
        assert len(kinds) == len(crowds)
