"""Which values of a column occur with which keys of another, worked out by hand, and how rows are looked up in that."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privrelease.engine.protocol.release_pairs import ColumnMap, MapQuery, PatternQuery
from privrelease.relational.filters import parse_filter
from privrelease.relational.schema import Column, ColumnType, Role, Sink, SinkKind

TYPES = {
    "place": ColumnType.CATEGORY,
    "region": ColumnType.CATEGORY,
    "fee": ColumnType.NUMBER,
    "year": ColumnType.INTEGER,
}
COLUMNS = [Column(name, type_, Role.QUASI) for name, type_ in TYPES.items()]
SCHEMA = pa.schema([("place", "string"), ("region", "string"), ("fee", "double"), ("year", "int64")])
#: A place, its region, a fee and a year.
ROWS = [
    ("ash", "east", 1.5, 1980),
    ("ash", "east", 2.5, 1981),
    ("ash", None, None, 1982),
    ("elm", "east", 1.5, 1983),
    ("oak", "west", 2.5, 1984),
    ("fir", None, 1.5, 1985),
    ("yew", "isle", 2.5, 1986),
    (None, "west", 1.5, 1987),
]


def table(rows):
    return pa.Table.from_pylist([dict(zip(TYPES, row, strict=True)) for row in rows], SCHEMA)


@pytest.fixture
def staged(bench):
    return bench.engine.stage(bench.parquet(table(ROWS), COLUMNS))


@pytest.fixture
def opened(bench):
    path = bench.folder / "released.parquet"
    pq.write_table(table([*ROWS, ("sorb", None, 1.5, 1988)]), path)
    return bench.engine.open_release(Sink(SinkKind.PARQUET, path, "released"), COLUMNS)


def asked(bench, of, *query):
    (found,) = bench.engine.column_maps(of, [MapQuery(*query)])
    return found


def test_places_determine_regions_and_regions_no_places(bench, staged):
    """Both known in five rows, of four places and three regions; isle is not listed and counts as one key. Of ash one region is missing."""
    found = asked(bench, staged, "place", "region", ("east", "west"))
    assert replace(found, handle="") == ColumnMap(4, 3, 5, True, False, "", ((-1,), (-1, 0), (0,), (1,), (2,)))


def test_regions_are_determined_by_places(bench, staged):
    found = asked(bench, staged, "region", "place", ("ash", "elm", "oak", "yew"))
    assert replace(found, handle="") == ColumnMap(3, 4, 5, False, True, "", ((-1, 2), (0, 1), (3,)))


def test_keys_that_are_not_listed_are_not_one_key_that_determines_a_value(bench, staged):
    """Of ash alone: elm, oak and yew are then one key, of three regions, of which none is determined by it."""
    found = asked(bench, staged, "region", "place", ("ash",))
    assert (found.keys, found.forward, found.backward) == (2, False, True)
    assert found.sets == ((-1, 1), (0, 1), (1,))


def test_columns_that_do_not_go_together_have_no_sets(bench, staged):
    found = asked(bench, staged, "fee", "place", ("ash", "elm", "oak", "yew", "fir"))
    assert found == ColumnMap(2, 5, 6, forward=False, backward=False)


def test_years_determine_the_rows_of_a_filter_and_a_missing_value_is_not_among_them(bench, staged):
    where = parse_filter("region = 'east'", TYPES)
    found = asked(bench, staged, "place", where)
    assert (found.values, found.keys, found.rows) == (5, 2, 7)
    assert not found.forward  # ash without a region is not among the rows of east
    assert not found.backward
    found = asked(bench, staged, "year", where)
    assert (found.forward, found.sets) == (True, ((0,), (1,)))


def test_rows_are_looked_up_by_what_they_show(bench, staged, opened):
    """Ash, fir and oak have sets of their own; a value that the source does not have, and a missing one, have none."""
    places = asked(bench, staged, "place", "region", ("east", "west"))
    years = asked(bench, staged, "year", parse_filter("year < 1984", TYPES))
    query = PatternQuery(("region",), ("fee",), maps=(("place", places.handle), ("year", years.handle)))
    found = {(one.keys, one.within): (one.rows, one.known) for one in bench.engine.row_patterns(opened, query)}
    assert found == {
        (("east",), (1, 0)): (2, (2,)),
        ((None,), (1, 0)): (1, (0,)),
        (("east",), (2, 0)): (1, (1,)),
        (("west",), (3, 1)): (1, (1,)),
        ((None,), (0, 1)): (1, (1,)),
        (("isle",), (4, 1)): (1, (1,)),
        (("west",), (None, 1)): (1, (1,)),
        ((None,), (None, None)): (1, (1,)),
    }


def test_numbers_of_a_grid_are_found_in_a_file_of_doubles(bench, opened):
    on_grid = [replace(one, grid=Decimal("0.5")) if one.name == "fee" else one for one in COLUMNS]
    staged = bench.engine.stage(bench.parquet(table(ROWS[:5]), on_grid, name="grid.parquet"))
    fees = asked(bench, staged, "fee", parse_filter("fee < 2", TYPES))
    assert (fees.values, fees.forward, fees.sets) == (2, True, ((0,), (1,)))
    found = bench.engine.row_patterns(opened, PatternQuery((), maps=(("fee", fees.handle),)))
    assert {one.within: one.rows for one in found} == {(0,): 5, (1,): 3, (None,): 1}


def test_many_rows_are_first_looked_at_in_part(bench):
    """A pair that the first rows rule out, and one that only the last row rules out."""
    many = [(f"p{i % 50}", f"r{i % 5}", float(i % 7), i) for i in range(25_000)]
    staged = bench.engine.stage(bench.parquet(table([*many, ("p0", "r1", 0.0, 0)]), COLUMNS))
    keys = tuple(f"r{i}" for i in range(5))
    found = asked(bench, staged, "place", "region", keys)
    assert found == ColumnMap(50, 5, 25_001, forward=False, backward=False)
    assert not asked(bench, staged, "fee", "region", keys).forward
    staged = bench.engine.stage(bench.parquet(table(many), COLUMNS, name="more.parquet"))
    found = asked(bench, staged, "place", "region", keys)
    assert (found.values, found.keys, found.rows, found.forward) == (50, 5, 25_000, True)
    assert found.sets == tuple((i,) for i in range(5))


#: Of each filter, whether it holds of a row of 1980 and of one of 1985, as far as the year says; the other columns are not shown.
PARTLY = {
    "year < 1984 AND region = 'east'": (None, False),
    "year < 1984 OR region = 'east'": (True, None),
    "NOT (year < 1984 OR fee > 2)": (False, None),
    "year < 1984 AND (fee IN (1.5, 2.5) OR NOT region = 'west')": (None, False),
    "region = 'east'": (None, None),
    "year < 1984 OR region IS NULL": (None, None),
}


@pytest.mark.parametrize("text", PARTLY)
def test_what_rows_show_of_a_filter_decides_as_far_as_it_goes(bench, text):
    """A filter that asks for missing values is open wherever one of its columns is not shown."""
    path = bench.folder / "years.parquet"
    pq.write_table(pa.table({"year": pa.array([1980, 1985], pa.int64())}), path)
    opened = bench.engine.open_release(Sink(SinkKind.PARQUET, path, "released"), [COLUMNS[3]])
    query = PatternQuery(("year",), (), parse_filter(text, TYPES), unseen=frozenset({"region", "fee"}))
    found = {one.keys: one.inside for one in bench.engine.row_patterns(opened, query)}
    assert (found["1980",], found["1985",]) == PARTLY[text]


def test_every_value_may_be_a_key_of_its_own(bench, staged):
    """Of the eight rows fee and place are known in six; 1.5 is of ash, elm and fir. Every year is of one place, and of one fee where it is known."""
    (fee,) = bench.engine.column_maps(staged, [MapQuery("fee", "place", each=True)])
    assert (fee.values, fee.keys, fee.rows, fee.forward, fee.backward, fee.handle, fee.sets) == (2, 5, 6, False, False, "", ())
    (year,) = bench.engine.column_maps(staged, [MapQuery("year", "fee", each=True)])
    assert (year.values, year.keys, year.rows, year.forward, year.backward) == (7, 2, 7, True, False)


def test_rows_of_a_source_are_grouped_by_several_filters(bench, staged):
    """Of 1980 and 1981, region and fee: the fee is missing once, where its comparison is not true."""
    filters = tuple(parse_filter(text, TYPES) for text in ("fee > 2", "year < 1983"))
    found = bench.engine.row_patterns(staged, PatternQuery(("region",), also=filters))
    assert {(one.keys, one.also): (one.inside, one.rows) for one in found} == {
        (("east",), (False, True)): (True, 1),
        (("east",), (True, True)): (True, 1),
        ((None,), (False, True)): (True, 1),
        (("east",), (False, False)): (True, 1),
        (("west",), (True, False)): (True, 1),
        ((None,), (False, False)): (True, 1),
        (("isle",), (True, False)): (True, 1),
        (("west",), (False, False)): (True, 1),
    }


def test_several_filters_are_open_each_where_its_own_column_is_not_shown(bench):
    path = bench.folder / "years.parquet"
    pq.write_table(pa.table({"year": pa.array([1980, 1985], pa.int64())}), path)
    opened = bench.engine.open_release(Sink(SinkKind.PARQUET, path, "released"), [COLUMNS[3]])
    filters = tuple(parse_filter(text, TYPES) for text in ("year < 1984 AND region = 'east'", "NOT (year < 1984 OR fee > 2)"))
    asked = PatternQuery(("year",), (), filters[0], unseen=frozenset({"region", "fee"}), also=filters)
    found = {one.keys[0]: (one.inside, one.also) for one in bench.engine.row_patterns(opened, asked)}
    assert found == {"1980": (None, (None, False)), "1985": (False, (False, None))}
