"""What the attacker is granted of columns that go with group columns, worked out by hand on few rows."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import pytest

from privrelease.audit.comparison.earlier.granted_maps import SourceColumns, granted_maps
from privrelease.audit.comparison.earlier.rows_and_table import RowsOut, TableShown, cells_by_rows
from privrelease.engine.protocol.base import EngineSettings, ReleasedFile, Staged
from privrelease.errors import InputError
from privrelease.relational.filters import parse_filter
from privrelease.relational.schema import Column, ColumnType, Role, SourceKind, TableSource
from tests.contract.engine.plain import PlainEngine, Table

NAMES = ("home", "place", "region", "fee")
TYPES = {**dict.fromkeys(NAMES, ColumnType.CATEGORY), "fee": ColumnType.INTEGER}
REGIONS = ("east", "west")

#: Two households and three places; each household lives in one place, and each place lies in one region.
ROWS = [
    ("h1", "ash", "east", 1),
    ("h1", "ash", "east", 2),
    ("h2", "elm", "east", 3),
    ("h2", "elm", "east", 4),
    ("h3", "oak", "west", 5),
    ("h4", "oak", "west", 6),
]


class Bench:
    """The plain engine, with a source of made rows and a file that shows some of them."""

    def __init__(self, sensitive=()):
        self.engine, self.sensitive = PlainEngine(EngineSettings()), frozenset(sensitive)

    def _held(self, rows, names):
        cells = {name: [row[NAMES.index(name)] for row in rows] for name in names}
        return self.engine._named(Table(cells, {name: TYPES[name] for name in names}, len(rows)))

    def source(self, rows=ROWS):
        columns = tuple(Column(name, TYPES[name], Role.SENSITIVE if name in self.sensitive else Role.QUASI) for name in NAMES)
        staged = Staged(self._held(rows, NAMES), columns, len(rows))
        return SimpleNamespace(sensitive=self.sensitive, staged=lambda _: (staged,))

    def out(self, names, rows=ROWS, *, source=None, lossy=(), tokens=(), left_out=0):
        file = ReleasedFile(self._held(rows, names), tuple((name, TYPES[name]) for name in names), len(rows))
        return RowsOut(file, frozenset(names) - {*tokens}, frozenset(lossy), left_out, frozenset(tokens), source)

    def learnt(self, rows, table):
        found = cells_by_rows(table, rows, self.engine)
        assert found.agree
        return {next(iter(cell))[1]: set(figures) for cell, figures in found.known.items() if cell}


def cell(name, key):
    return frozenset({(name, key)})


def by_region(east=None, west=None, **more):
    """A table of counts by region; None where suppressed."""
    figures = {"east": east, "west": west}
    shown = {cell("region", key): {"count": None if n is None else Fraction(n)} for key, n in figures.items()}
    return TableShown(("region",), (REGIONS,), shown, **more)


def test_the_place_gives_the_region_where_the_source_is_known():
    bench = Bench()
    rows = bench.out(("place",), source=bench.source())
    assert bench.learnt(rows, by_region()) == {"east": {"count"}, "west": {"count"}}
    assert bench.learnt(bench.out(("place",)), by_region()) == {"east": set(), "west": set()}


def test_a_value_of_a_row_in_one_cell_is_in_its_sum():
    bench = Bench()
    shown = {cell("region", key): {"sum_fee": None} for key in REGIONS}
    table = TableShown(("region",), (REGIONS,), shown, {"sum_fee": "fee"})
    found = cells_by_rows(table, bench.out(("place", "fee"), source=bench.source()), bench.engine)
    assert (set(found.known.values()), found.narrowed) == ({frozenset({"sum_fee"})}, frozenset())
    without = cells_by_rows(table, bench.out(("place", "fee")), bench.engine)
    assert (set(without.known.values()), without.narrowed) == ({frozenset()}, {"sum_fee"})


def test_the_region_gives_the_place_by_subtraction():
    """Of four rows of the east two are in ash, which is printed: two are in elm. Oak is the whole west."""
    bench = Bench()
    places = ("ash", "elm", "oak")
    shown = {cell("place", key): {"count": Fraction(2) if key == "ash" else None} for key in places}
    rows = bench.out(("region",), source=bench.source())
    found = bench.learnt(rows, TableShown(("place",), (places,), shown))
    assert found == {"ash": set(), "elm": {"count"}, "oak": {"count"}}


def test_rows_that_show_both_stand_for_the_source():
    """The fourth row has lost its region, and another of its place shows it; the fifth is of no place that is shown with one."""
    bench = Bench()
    seen = [*ROWS[:3], ("h2", "elm", None, 4), ("h3", "oak", "west", 5), ("h4", "oak", "west", 6), ("h4", "ash", "east", 7)]
    rows = bench.out(("place", "region"), seen, lossy=("region",))
    assert bench.learnt(rows, by_region()) == {"east": {"count"}, "west": {"count"}}
    alone = bench.out(("place", "region"), [*seen, ("h9", "fir", None, 9)], lossy=("region",))
    assert bench.learnt(alone, by_region()) == {"east": set(), "west": set()}


@pytest.mark.parametrize("tokens", [(), ("home",)])
def test_a_household_gives_the_region_of_its_members_only_where_one_shows_it(tokens):
    """Four households of six rows are no map; the second row of h1 is in the region of the first, and who h4 is tells no one."""
    bench = Bench()
    seen = [ROWS[0], ("h1", None, None, 2), *ROWS[2:]]
    rows = bench.out(("home", "region"), seen, lossy=("region",), tokens=tokens, source=bench.source())
    assert bench.learnt(rows, by_region()) == {"east": {"count"}, "west": {"count"}}
    seen = [*ROWS[:5], ("h4", None, None, 6)]
    rows = bench.out(("home", "region"), seen, lossy=("region",), tokens=tokens, source=bench.source())
    assert bench.learnt(rows, by_region()) == {"east": set(), "west": set()}
    assert bench.learnt(bench.out(("home",), tokens=tokens, source=bench.source()), by_region()) == {
        "east": set(),
        "west": set(),
    }


def test_a_household_of_two_regions_gives_none():
    bench = Bench()
    of_two = [*ROWS[:5], ("h1", "oak", "west", 6)]
    seen = [*of_two[:1], ("h1", None, None, 2), *of_two[2:]]
    rows = bench.out(("home", "region"), seen, lossy=("region",), source=bench.source(of_two))
    assert bench.learnt(rows, by_region()) == {"east": set(), "west": set()}


def test_amounts_of_which_each_is_of_one_row_are_no_map():
    bench = Bench()
    assert bench.learnt(bench.out(("fee",), source=bench.source()), by_region()) == {"east": set(), "west": set()}


@pytest.mark.parametrize(
    ("sensitive", "known"), [((), True), (("place",), True), (("region",), False), (("place", "region"), True)]
)
def test_what_is_sensitive_follows_from_what_is_sensitive_alone(sensitive, known):
    bench = Bench(sensitive)
    found = bench.learnt(bench.out(("place",), source=bench.source()), by_region())
    assert found == dict.fromkeys(REGIONS, {"count"} if known else set())


def test_a_missing_region_of_a_place_leaves_its_rows_open():
    """One person of oak has no region: a row of oak is in the west or in no cell. Of ash and elm it is known that none lacks it."""
    bench = Bench()
    rows = bench.out(("place",), source=bench.source([*ROWS, ("h5", "oak", None, 7)]))
    assert bench.learnt(rows, by_region()) == {"east": {"count"}, "west": set()}


def test_two_columns_of_a_table_that_protects_groups_of_one_key_are_kept_apart():
    bench = Bench()
    keys = (("ash", "elm", "oak"), REGIONS)
    shown = {frozenset({("place", p), ("region", r)}): {"count": None} for p in keys[0] for r in keys[1]}
    rows = bench.out(("place",), source=bench.source())
    for apart, known in (((), {"count"}), ((frozenset({"place", "region"}),), set())):
        table = TableShown(("place", "region"), keys, shown, apart=apart)
        found = cells_by_rows(table, rows, bench.engine)
        assert found.known[frozenset({("place", "ash"), ("region", "east")})] == known


def test_a_map_of_another_state_that_does_not_fit_takes_nothing_away():
    """By the map of today elm is in the west, where the table of before prints two, whom the rows show: the row of elm would be in no cell.
    Where the table prints all four as well, that is not so either, and the rows say what they say without a map.
    """
    bench = Bench()
    today = [(home, place, "west" if place == "elm" else "east", fee) for home, place, _, fee in ROWS]
    seen = [("h1", "ash", "east", 1), ("h2", "elm", None, 3), ("h3", "oak", "west", 5), ("h4", "oak", "west", 6)]
    rows = bench.out(("place", "region"), seen, lossy=("region",), source=bench.source(today))
    without = bench.out(("place", "region"), seen, lossy=("region",))
    assert bench.learnt(rows, by_region(west=2)) == {"east": {"count"}, "west": set()}
    assert bench.learnt(without, by_region(west=2)) == {"east": set(), "west": set()}
    table = by_region(west=2)
    table = replace(table, printed={**table.printed, frozenset(): {"count": Fraction(4)}})
    assert bench.learnt(rows, table) == bench.learnt(without, table) == {"east": {"count"}, "west": set()}


def test_nothing_is_asked_of_a_table_that_hides_nothing_or_of_rows_that_show_all():
    class Deaf(PlainEngine):
        def column_maps(self, *_):
            raise AssertionError

    bench = Bench()
    bench.engine = Deaf(EngineSettings())
    assert cells_by_rows(by_region(4, 2), bench.out(("place",)), bench.engine).agree
    assert bench.learnt(bench.out(("region",)), by_region()) == {"east": {"count"}, "west": {"count"}}


class Stages:
    """An engine that stages what it is asked for, or refuses columns that the file does not have."""

    def __init__(self, there):
        self.there, self.asked = there, []

    def stage(self, source):
        names = tuple(column.name for column in source.columns)
        self.asked.append(names)
        if not {*names} <= self.there:
            raise InputError("D107", "no such column")
        return names


def test_columns_that_the_policy_does_not_declare_are_read_where_the_file_has_them():
    declared = tuple(
        Column(name, TYPES[name], Role.SENSITIVE if name == "region" else Role.QUASI) for name in ("place", "region")
    )
    source = TableSource("d", SourceKind.CSV, "/d.csv", "d.csv", declared[:1], unread=declared[1:], unlisted_columns="drop")
    wanted = {"region": ColumnType.STRING, "home": ColumnType.CATEGORY}
    for there, expected in (({"region", "home"}, [("region", "home")]), ({"region"}, [("region", "home"), ("region",)])):
        engine = Stages(there)
        columns = SourceColumns(engine, (source,))
        assert columns.sensitive == {"region"}
        assert columns.staged(wanted) == columns.staged(wanted) == (expected[-1],)
        assert engine.asked == expected
    assert SourceColumns(Stages({"home"}), (source,), readable=False).staged(wanted) == ()
    assert SourceColumns(Stages(set()), (source,)).staged({"fee": ColumnType.INTEGER}) == ()
    assert SourceColumns(Stages(set()), (source,)).also(source).also(source).staged(wanted) == ()


def test_no_source_and_no_column_in_common_say_nothing():
    bench = Bench()
    lacking = bench.source([*ROWS, ("h5", "oak", None, 7)])
    assert granted_maps(by_region(), bench.out(("place",)), [0], bench.engine) == ()
    assert granted_maps(by_region(), bench.out((), source=lacking), [0], bench.engine) == ()


def test_a_region_that_no_row_lacks_is_granted_whatever_rows_show():
    """It is so of the listed regions alone: one row without a region, or of one that is not listed, is enough that it says nothing."""
    bench = Bench()
    (found,) = granted_maps(by_region(), bench.out((), source=bench.source()), [0], bench.engine)
    assert (found.column, found.side, found.handle, found.sets) == ("region", 0, "", ())
    for other in (None, "north"):
        source = bench.source([*ROWS, ("h5", "oak", other, 7)])
        assert granted_maps(by_region(), bench.out((), source=source), [0], bench.engine) == ()


@pytest.mark.parametrize(("other", "known"), [("west", {"count"}), (None, set()), ("north", set())])
def test_rows_that_show_no_region_are_counted_where_none_lacks_one(other, known):
    """Seven rows of the households and four in the east, which is printed: three are in the west where none can be in no cell, else at most three."""
    bench = Bench()
    rows = [*ROWS, ("h5", "oak", other, 7)]
    assert bench.learnt(bench.out(("fee",), rows, source=bench.source(rows)), by_region(east=4)) == {
        "east": set(),
        "west": known,
    }
    assert bench.learnt(bench.out(("fee",), rows), by_region(east=4)) == {"east": set(), "west": set()}


def test_rows_of_a_filter_may_be_in_no_cell_though_none_lacks_a_region():
    bench = Bench()
    table = by_region(east=4, where=parse_filter("home = 'h1' OR home = 'h2'", TYPES))
    assert bench.learnt(bench.out(("fee",), source=bench.source()), table) == {"east": set(), "west": set()}


def test_a_row_that_lost_its_region_is_in_one_of_the_two():
    """Three rows show the east and two the west. Where two are printed of the west the one that shows none is the fourth of the east, and vice versa."""
    bench = Bench()
    seen = [("h1", None, None, 1), *ROWS[1:]]
    rows = bench.out(("region",), seen, lossy=("region",), source=bench.source())
    assert bench.learnt(rows, by_region(east=4)) == {"east": set(), "west": {"count"}}
    assert bench.learnt(rows, by_region(west=2)) == {"east": {"count"}, "west": set()}
    without = bench.out(("region",), seen, lossy=("region",))
    assert bench.learnt(without, by_region(west=2)) == {"east": set(), "west": set()}


def test_a_table_of_another_state_in_which_rows_lack_a_region_is_not_contradicted():
    """The table prints five of the six rows in all: one had no region then, and nothing follows for the west, which has one or two."""
    bench = Bench()
    table = by_region(east=None)
    table = replace(table, printed={**table.printed, frozenset(): {"count": Fraction(5)}})
    assert bench.learnt(bench.out(("fee",), source=bench.source()), table) == {"east": set(), "west": set()}
