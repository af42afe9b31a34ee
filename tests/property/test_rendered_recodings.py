"""Recodings as the database renders them: labels of representatives are, byte for byte, labels of values; random declarations and values."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from privrelease.disclosure.hierarchies.labels import ends, generalised, multiples, recoding_of
from privrelease.disclosure.hierarchies.names import read_as_others
from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.connection import Connection
from privrelease.engine.duckdb.writing.representatives import representative
from privrelease.engine.protocol.base import EngineSettings
from privrelease.relational.hierarchies import Coded, Dates, Generalised, Intervals, Prefixes, RoundedTo, SmallAreas, Tree
from privrelease.relational.schema import Column, ColumnType, Role
from tests.depth import depth

MAKES = {Generalised: generalised, Coded: ends, RoundedTo: multiples}
GRIDS = [Decimal(1), Decimal("0.25"), Decimal("0.001"), Decimal(10), None]
EXTREMES = [0, 1, -1, 2**53, -(2**53), 2**62 - 1, 2**62, -(2**62), 2**63 - 1, -(2**63)]


@pytest.fixture(scope="module")
def connection():
    found = Connection(EngineSettings(threads=1))
    yield found
    found.close()


def drawn(connection, recoding, column, values):
    """The representatives of values, by the database."""
    apart = None
    if getattr(recoding, "apart", None):
        apart = connection.fresh("apart")
        connection.register(apart, pa.table({"v": pa.array(sorted(recoding.apart))}))
    given_ = connection.fresh("given")
    connection.register(given_, pa.table({"c": values}))
    one = representative(recoding, column, sql.column("c", "s"), apart)
    found = connection.arrow(exp.select(sql.aliased(one, "v")).from_(sql.table(given_, alias="s"))).column(0).combine_chunks()
    for name in (given_, apart or given_):
        connection.unregister(name)
    return found.chunk(0) if isinstance(found, pa.ChunkedArray) else found


def agree(connection, declared, column, values):
    make, recoding = MAKES[type(declared)], recoding_of(declared)
    found = drawn(connection, recoding, column, values)
    known = found.drop_null()
    assert found.type == values.type
    made = make(declared, known).to_pylist()
    assert [None if not one.is_valid else made.pop(0) for one in found] == make(declared, values).to_pylist()
    # a representative represents itself, -0.0 and 0.0 being one
    again = drawn(connection, recoding, column, known)
    assert [one for one in again.to_pylist() if one is not None] == known.filter(again.is_valid()).to_pylist()


@st.composite
def numbers(draw):
    """A column of numbers, and values of it of every size."""
    grid = draw(st.sampled_from(GRIDS))
    if grid is None:
        column = Column("n", ColumnType.NUMBER, Role.QUASI)
        tenths = st.integers(-(10**4), 10**4).map(lambda one: one / 10)
        values = draw(st.lists(tenths | st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
        return column, pa.array(values), Decimal("0.1")
    units = draw(st.lists(st.integers(-3000, 3000) | st.sampled_from(EXTREMES), min_size=1, max_size=20))
    if grid == 1:
        return Column("n", ColumnType.INTEGER, Role.QUASI), pa.array(units, pa.int64()), grid
    digits, scale = draw(st.sampled_from([18, 38])), max(0, -grid.as_tuple().exponent)
    if digits == 18:
        units = [one for one in units if abs(one) < 10**12] or [0]
        column = Column("n", ColumnType.NUMBER, Role.QUASI, grid=grid)
        return column, pa.array([one * grid for one in units], pa.decimal128(18, scale)), grid
    # a grid of more decimals is held in 38 digits
    grid = Decimal("0.00000000001")
    return (
        Column("n", ColumnType.NUMBER, Role.QUASI, grid=grid),
        pa.array([one * grid for one in units], pa.decimal128(38, 11)),
        grid,
    )


def step_of(column):
    return Decimal(1) if column.type is ColumnType.INTEGER else column.grid


@settings(max_examples=depth(10, 25))
@given(
    found=numbers(),
    width=st.sampled_from([2, 3, 7, 10, 1000]),
    bottom=st.none() | st.integers(-50, 0),
    top=st.none() | st.integers(1, 60),
    write=st.sampled_from(["label", "low", "middle"]),
)
def test_intervals_by_width(connection, found, width, bottom, top, write):
    column, values, unit = found
    low, high = (None if one is None else one * unit for one in (bottom, top))
    write = "label" if low is not None else "low" if high is not None and write == "middle" else write
    declared = Generalised(Intervals((width * unit,), low, high, step_of(column)), 1, write)
    agree(connection, declared, column, values)


@settings(max_examples=depth(10, 25))
@given(
    found=numbers(),
    edges=st.lists(st.integers(-3000, 3000), min_size=2, max_size=40, unique=True),
    ends_=st.sampled_from([(False, False), (True, False), (False, True), (True, True)]),
    write=st.sampled_from(["label", "low"]),
)
def test_intervals_between_edges(connection, found, edges, ends_, write):
    column, values, unit = found
    listed = tuple(one * unit for one in sorted(edges))
    bottom, top = listed[0] if ends_[0] else None, listed[-1] if ends_[1] else None
    declared = Generalised(Intervals((listed,), bottom, top, step_of(column)), 1, "label" if ends_[0] else write)
    agree(connection, declared, column, values)


@settings(max_examples=depth(10, 25))
@given(found=numbers(), bottom=st.none() | st.integers(-50, 0), top=st.integers(1, 60), write=st.sampled_from(["label", "low"]))
def test_ends(connection, found, bottom, top, write):
    column, values, unit = found
    low = None if bottom is None else bottom * unit
    agree(connection, Coded(low, top * unit, "low" if low is None else "label", step_of(column)), column, values)
    if low is None:
        agree(connection, Coded(low, top * unit, write, step_of(column)), column, values)


@settings(max_examples=depth(10, 25))
@given(found=numbers(), to=st.sampled_from([2, 3, 5, 10, 1000]))
def test_multiples(connection, found, to):
    column, values, unit = found
    if step_of(column) is not None:
        agree(connection, RoundedTo(to * unit, unit), column, values)


FROM = datetime(1970, 1, 1)  # noqa: DTZ001  columns hold times without a zone
MOMENTS = st.integers(-62_135_596_800, 253_402_300_799).map(lambda one: FROM + timedelta(seconds=one))
EDGES = st.sampled_from(
    [
        (year, month, day)
        for year in (1, 9, 10, 1969, 1970, 2020, 2021, 9999)
        for month, day in ((1, 1), (1, 4), (12, 28), (12, 31))
    ]
)


@settings(max_examples=depth(10, 25))
@given(
    moments=st.lists(MOMENTS | EDGES.map(lambda one: datetime(*one)), min_size=1, max_size=20),  # noqa: DTZ001
    unit=st.sampled_from(["hour", "day", "week", "month", "quarter", "year", "decade"]),
    write=st.sampled_from(["label", "low", "middle"]),
)
def test_periods(connection, moments, unit, write):
    declared = Generalised(Dates((unit,)), 1, write)
    agree(connection, declared, Column("t", ColumnType.DATETIME, Role.QUASI), pa.array(moments, pa.timestamp("us")))
    if unit != "hour":
        agree(connection, declared, Column("t", ColumnType.DATE, Role.QUASI), pa.array([one.date() for one in moments]))


@pytest.mark.parametrize("unit", ["week", "month", "decade"])
def test_days_outside_the_calendar_have_no_representative(connection, unit):
    days = pa.array([-719_163, -719_162, 2_932_896, 2_932_897, 2_932_898, -(10**6)], pa.int32()).cast(pa.date32())
    agree(connection, Generalised(Dates((unit,)), 1), Column("t", ColumnType.DATE, Role.QUASI), days)


LETTERS = "013é\u0301C.\U0001f600"
CODES = st.lists(st.text(LETTERS, max_size=6), min_size=1, max_size=20)


@settings(max_examples=depth(10, 25))
@given(
    codes=CODES,
    lengths=st.sampled_from([(3, 2), (4, 1), (2,)]),
    fill=st.sampled_from(["", "*"]),
    small=st.none() | st.sets(st.text(LETTERS, min_size=3, max_size=3), max_size=20),
    names=st.none() | st.lists(st.text(LETTERS, min_size=1, max_size=4), min_size=1, max_size=6, unique=True),
)
def test_prefixes(connection, codes, lengths, fill, small, names):
    """Of each level; and a text that others would be written as is found among representatives as it is among values."""
    areas = {one[: lengths[0]] for one in codes if len(one) >= lengths[0]}
    listed = None if small is None or names is not None else SmallAreas(frozenset(small), frozenset(areas - small), "000")
    leaves = sorted({one[: lengths[-1]] for one in codes if len(one) >= lengths[0]})
    then = None
    if names is not None and leaves:
        then = Tree(tuple(leaves), (tuple(names[place % len(names)] for place in range(len(leaves))),))
    form = Prefixes(lengths, "" if then else fill, listed, then)
    column, values = Column("z", ColumnType.STRING, Role.QUASI), pa.array(codes)
    for level in range(1, len(lengths) + 1 + (then is not None)):
        agree(connection, Generalised(form, level), column, values)
    found = drawn(connection, recoding_of(Generalised(form, 1)), column, values).drop_null()
    long = pa.array([one for one in codes if len(one) >= lengths[0]], pa.string())
    assert read_as_others(form, found).true_count >= bool(read_as_others(form, long).true_count)
    assert bool(read_as_others(form, found).true_count) <= bool(read_as_others(form, values).true_count)
