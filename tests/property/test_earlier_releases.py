"""Two releases side by side, against brute force on tiny tables: every pairing of their rows that an attacker cannot rule out is tried."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from privrelease.engine.duckdb.engine import DuckDBEngine
from privrelease.engine.protocol.base import EngineSettings
from privrelease.engine.protocol.release_pairs import LinkedPersons
from privrelease.relational.schema import Column, ColumnType, Role, Sink, SinkKind, SourceKind, TableSource
from tests.depth import depth

COLUMNS = (
    Column("sex", ColumnType.CATEGORY, Role.QUASI),
    Column("area", ColumnType.CATEGORY, Role.QUASI),
    Column("pay", ColumnType.INTEGER, Role.SENSITIVE),
)
SCHEMA = pa.schema([("sex", pa.string()), ("area", pa.string()), ("pay", pa.int64())])
NAMES = tuple(SCHEMA.names)
KNOWN = ("sex", "area")

SOURCE = st.lists(st.tuples(st.sampled_from("FM"), st.sampled_from("ns"), st.integers(1, 3)), min_size=1, max_size=5)
SETTINGS = settings(max_examples=depth(8, 20), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@st.composite
def releases(draw):
    """A source and two releases of it: (source row, cells), quasi-identifiers missing here and there, rows in any order."""
    source = draw(SOURCE)
    made = []
    for _ in range(2):
        cells = [tuple(None if place < 2 and draw(st.booleans()) else cell for place, cell in enumerate(row)) for row in source]
        made.append(draw(st.permutations(list(enumerate(cells)))))
    return source, made


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pairs")
    with DuckDBEngine(EngineSettings(readable=(folder,), writable=(), threads=1)) as one:
        yield one, folder


def put(folder, engine, rows, name):
    """Write a release and its row map; open it."""
    path = folder / f"{name}.parquet"
    cells = [row for _, row in rows]
    pq.write_table(pa.table({column: [row[place] for row in cells] for place, column in enumerate(NAMES)}, schema=SCHEMA), path)
    row_map = pa.table({"source_row": [number for number, _ in rows], "output_row": list(range(len(rows)))})
    pq.write_table(row_map, folder / f"{name}-map.parquet")
    return engine.open_release(Sink(SinkKind.PARQUET, path, name), COLUMNS)


def both(engine, made):
    on, folder = engine
    first, second = (put(folder, on, rows, name) for rows, name in zip(made, ("first", "second"), strict=True))
    return on, first, second, folder / "first-map.parquet", folder / "second-map.parquet"


def known(row):
    return row[:2]


@SETTINGS
@given(releases())
def test_who_links_every_record_sees_classes_of_pairs(engine, given_):
    _, made = given_
    on, first, second, *maps = both(engine, made)
    links = on.links_by_maps(*maps)
    classes = on.combined_classes(first, second, links, KNOWN, KNOWN)
    before, after = dict(made[0]), dict(made[1])
    pairs = Counter((known(before[row]), known(after[row])) for row in before)
    ones, twos = Counter(map(known, before.values())), Counter(map(known, after.values()))
    found = sorted(zip(classes.linked.tolist(), classes.first.tolist(), classes.second.tolist(), classes.residual, strict=True))
    assert found == sorted(
        (size, ones[one], twos[two], all(cell is None for cell in one + two)) for (one, two), size in pairs.items()
    )
    assert not classes.unlinked_first.any()
    assert not classes.unlinked_second.any()


def agree(one, two, exact, loose):
    return all(one[place] == two[place] for place in exact) and all(
        one[place] == two[place] or None in {one[place], two[place]} for place in loose
    )


@SETTINGS
@given(releases())
def test_links_hold_and_bounds_are_met_in_every_pairing_that_cannot_be_ruled_out(engine, given_):
    _, made = given_
    on, first, second, *_ = both(engine, made)
    links = on.links_by_columns(first, second, ["pay"], ["sex", "area"], 10**6)
    classes = on.combined_classes(first, second, links, KNOWN, KNOWN)
    assert links.complete
    bounds = sorted(zip((classes.linked + np.minimum(classes.unlinked_first, classes.unlinked_second)).tolist(), strict=True))
    before, after = ([row for _, row in rows] for rows in made)
    partners = [[two for two in after if agree(one, two, [2], [0, 1])] for one in before]
    back = [[one for one in before if agree(one, two, [2], [0, 1])] for two in after]
    linked = [
        (one, mine[0])
        for one, mine in zip(before, partners, strict=True)
        if len(mine) == 1 and len(back[after.index(mine[0])]) == 1
    ]
    assert links.pairs == len(linked)
    most: Counter[tuple[object, object]] = Counter()
    for order in permutations(range(len(after))):
        pairing = [(one, after[place]) for one, place in zip(before, order, strict=True)]
        if not all(agree(one, two, [2], [0, 1]) for one, two in pairing):
            continue
        assert all(pairing.count(pair) >= linked.count(pair) for pair in set(linked))
        together = Counter((known(one), known(two)) for one, two in pairing)
        for pair, size in together.items():
            most[pair] = max(most[pair], size)
    mine = sorted(most[pair] for pair in {(known(one), known(two)) for one, two in linked})
    assert len(mine) == len(bounds)
    assert all(size <= bound for size, (bound,) in zip(mine, bounds, strict=True))


@SETTINGS
@given(releases())
def test_with_too_many_pairs_only_rows_alone_in_either_release_are_linked(engine, given_):
    _, made = given_
    on, first, second, *_ = both(engine, made)
    links = on.links_by_columns(first, second, ["pay"], ["sex", "area"], 0)
    before, after = (Counter(row for _, row in rows) for rows in made)
    assert links.pairs == sum(before[row] == after[row] == 1 for row in before)
    assert not links.complete


@SETTINGS
@given(releases(), st.integers(0, 4))
def test_blocks_of_equal_rows_make_pairs_of_classes_certain(engine, given_, cut):
    """By hand for every block: rows of one pay. Where all of them say one thing in one release, each of the other has it too."""
    _, made = given_
    made = [made[0], made[1][cut:] or made[1]]
    on, first, second, *_ = both(engine, made)
    classes = on.block_classes(first, second, ["pay"], KNOWN, KNOWN)
    before, after = ([row for _, row in rows] for rows in made)
    common = {row[2] for row in before} & {row[2] for row in after}
    held = [{pay: {known(row) for row in rows if row[2] == pay} for pay in common} for rows in (before, after)]
    certain = {
        (one, two)
        for pay in common
        if 1 in {len(held[0][pay]), len(held[1][pay])}
        for one in held[0][pay]
        for two in held[1][pay]
    }
    wanted = []
    for one, two in certain:
        there = {pay for pay in common if one in held[0][pay] and two in held[1][pay]}
        mine = [row for row in before if known(row) == one], [row for row in after if known(row) == two]
        linked = min(sum(row[2] in there for row in rows) for rows in mine)
        apart = [sum(row[2] not in common for row in rows) for rows in mine]
        wanted.append((linked, len(mine[0]), len(mine[1]), *apart, all(cell is None for cell in one + two)))
    found = zip(
        classes.linked.tolist(),
        classes.first.tolist(),
        classes.second.tolist(),
        classes.unlinked_first.tolist(),
        classes.unlinked_second.tolist(),
        classes.residual.tolist(),
        strict=True,
    )
    assert sorted(found) == sorted(wanted)


@SETTINGS
@given(releases(), st.integers(0, 4))
def test_what_only_one_release_has_is_a_difference_of_multisets(engine, given_, cut):
    _, made = given_
    on, first, second, *_ = both(engine, [made[0], made[1][cut:] or made[1]])
    before, after = Counter(row for _, row in made[0]), Counter(row for _, row in (made[1][cut:] or made[1]))
    left, joined = on.only_in_one(first, second, NAMES, KNOWN)
    for found, rest in ((left, before - after), (joined, after - before)):
        classes: Counter[object] = Counter()
        for row, times in rest.items():
            if known(row) != (None, None):
                classes[known(row)] += times
        assert sorted(found.tolist()) == sorted(classes.values())


def test_a_column_written_otherwise_is_not_one_that_both_show(engine):
    rows = [(0, ("F", "n", 1)), (1, ("M", "s", 2))]
    other = [(0, ("female", None, 1)), (1, ("male", None, 2))]
    on, first, second, *_ = both(engine, [rows, other])
    assert on.same_coding(first, second, NAMES) == ("pay",)


def test_rows_are_linked_by_their_place_where_both_keep_the_order_of_the_source(engine):
    rows = [(0, ("F", None, 1)), (1, ("F", None, 1))]
    other = [(0, (None, "n", 1)), (1, (None, "s", 1))]
    on, first, second, *_ = both(engine, [rows, other])
    links = on.links_by_place(first, second)
    assert on.combined_classes(first, second, links, KNOWN, KNOWN).linked.tolist() == [1, 1]


def test_several_rows_of_a_person_count_once(engine):
    on, folder = engine
    (folder / "source.csv").write_text("id,sex,area,pay\np,F,n,1\np,F,n,2\nq,F,n,3\n", encoding="utf-8")
    columns = (Column("id", ColumnType.STRING, Role.DIRECT), *COLUMNS)
    staged = on.stage(TableSource("d", SourceKind.CSV, str(folder / "source.csv"), "source.csv", columns))
    rows = [(number, ("F", "n", number + 1)) for number in range(3)]
    on, first, second, *maps = both(engine, [rows, rows])
    persons = LinkedPersons(staged, *maps, "id")
    classes = on.combined_classes(first, second, on.links_by_maps(*maps), KNOWN, KNOWN, persons)
    assert (classes.linked.tolist(), classes.first.tolist(), classes.second.tolist()) == ([2], [2], [2])
