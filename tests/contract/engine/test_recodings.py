"""Declared recodings on every engine: what is released equals what is made of every value, whichever way an engine takes."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import privrelease.engine.duckdb.reading.enumerations as enumerations
from privrelease.disclosure.hierarchies.labels import ends, generalised, multiples, recoding_of
from privrelease.engine.protocol.base import Recode
from privrelease.errors import InputError
from privrelease.relational.hierarchies import Coded, Dates, Generalised, Intervals, Prefixes, RoundedTo, SmallAreas, Tree
from privrelease.relational.recoding import Lookup
from privrelease.relational.schema import ColumnFormat, ColumnType
from tests.contract.engine.conftest import column
from tests.contract.engine.plain_recoding import representative

WHOLE = [-(2**40), -41, -40, -21, -20, -7, -1, 0, 1, 9, 10, 19, 20, 49, 89, 90, 2**40, None]
TENTHS = [-0.3, -0.1, 0.0, 0.1, 0.2, 0.3, 0.7, 0.30000000000000004, 1.0, 12.9, 89.99, 90.0, 1e300, None]
QUARTERS = [None if one is None else Decimal(one) / 4 for one in (-81, -80, -3, -2, -1, 0, 1, 2, 3, 6, 10, 14, 359, 360, None)]
DAYS = [date(1, 1, 1), date(1582, 10, 15), date(1969, 12, 31), date(1970, 1, 1), date(2020, 12, 31), date(2021, 1, 3), None]
DAYS += [date(2021, 1, 4), date(2024, 2, 29), date(9999, 12, 31)]
TIMES = [datetime(one.year, one.month, one.day, 23, 59, 59) for one in DAYS if one is not None and 1677 < one.year < 2262]  # noqa: DTZ001
CODES = ["02139", "021", "02é39", "99", "3100", "3200", "0213", "C18.7", None]
LONG = [one for one in CODES if one is not None and len(one) >= 4]
AREAS = Prefixes((3, 2), "*", SmallAreas(frozenset({"021"}), frozenset({"02é", "310", "320", "C18"}), "000"))
THEN = Prefixes((3, 2), then=Tree(("02", "31", "32", "C1"), (("low", "mid", "mid", "high"), ("all",) * 4)))
NAMES = Tree(tuple(str(one) for one in WHOLE if one is not None), (tuple("ab"[place % 2] for place in range(17)), ("*",) * 17))
ENDS = {"bottom": Decimal(-20), "top": Decimal(90)}
EDGES = tuple(map(Decimal, (-20, -5, 0, 10, 90)))
CASES = [
    *(
        (WHOLE, ColumnType.INTEGER, None, Generalised(Intervals((Decimal(7),), step=Decimal(1)), 1, write))
        for write in ("label", "low", "middle")
    ),
    (WHOLE, ColumnType.INTEGER, None, Generalised(Intervals((Decimal(7), Decimal(14)), **ENDS, step=Decimal(1)), 2)),
    (WHOLE, ColumnType.INTEGER, None, Generalised(Intervals((EDGES,), **ENDS, step=Decimal(1)), 1)),
    (WHOLE, ColumnType.INTEGER, None, Generalised(Intervals((EDGES,), step=Decimal(1)), 1)),
    (WHOLE, ColumnType.INTEGER, None, Generalised(NAMES, 1)),
    (WHOLE, ColumnType.INTEGER, None, Coded(Decimal(-20), Decimal(90), "label", Decimal(1))),
    (WHOLE, ColumnType.INTEGER, None, Coded(None, Decimal(90), "low", Decimal(1))),
    (WHOLE, ColumnType.INTEGER, None, RoundedTo(Decimal(20), Decimal(1))),
    (QUARTERS, ColumnType.NUMBER, Decimal("0.25"), Generalised(Intervals((Decimal("0.75"),), **ENDS, step=Decimal("0.25")), 1)),
    (QUARTERS, ColumnType.NUMBER, Decimal("0.25"), Coded(Decimal(-20), Decimal(90), "label", Decimal("0.25"))),
    (QUARTERS, ColumnType.NUMBER, Decimal("0.25"), RoundedTo(Decimal("0.5"), Decimal("0.25"))),
    (TENTHS, ColumnType.NUMBER, None, Generalised(Intervals((Decimal("0.1"),), Decimal(-1), Decimal(90)), 1)),
    (TENTHS[:-2], ColumnType.NUMBER, None, Generalised(Intervals((Decimal("0.1"),)), 1, "middle")),
    (TENTHS, ColumnType.NUMBER, None, Coded(None, Decimal(1))),
    *((DAYS, ColumnType.DATE, None, Generalised(Dates((unit,)), 1)) for unit in ("week", "month", "quarter", "year", "decade")),
    *((TIMES, ColumnType.DATETIME, None, Generalised(Dates((unit,)), 1, "low")) for unit in ("hour", "day", "week", "decade")),
    (CODES, ColumnType.CATEGORY, None, Generalised(Prefixes((3, 2), "*"), 2)),
    (LONG, ColumnType.CATEGORY, None, Generalised(AREAS, 2)),
    *((LONG, ColumnType.CATEGORY, None, Generalised(THEN, level)) for level in (1, 3, 4)),
]
MAKES = {Generalised: generalised, Coded: ends, RoundedTo: multiples}


@pytest.mark.parametrize("few", [True, False])
def test_what_is_released_is_what_is_made_of_every_value(bench, monkeypatch, few):
    if not few:
        monkeypatch.setattr(enumerations, "_SAMPLES", ((122_880, 0),))
        monkeypatch.setattr(enumerations, "MOST_CODED", 0)
    refused = 0
    for number, (values, type_, grid, declared) in enumerate(CASES):
        make = partial(MAKES[type(declared)], declared)
        kind = pa.decimal128(18, 2) if grid is not None else {ColumnType.DATETIME: pa.timestamp("us")}.get(type_)
        given = pa.array(values * 3, kind)
        made, asked = make(given.drop_null()), []
        out = column("v", ColumnType.CATEGORY if pa.types.is_string(made.type) else type_, grid=grid)
        recode = Recode(out, lambda of, to=asked, make=make: to.append(of) or make(of), recoding_of(declared))
        source = column("v", type_, grid=grid, format=ColumnFormat(missing=()))
        staged = bench.engine.stage(bench.parquet({"v": given}, [source], name=f"in{number}.parquet"))
        if made.null_count:
            refused += 1
            with pytest.raises(InputError) as caught:
                bench.engine.recode(staged, (recode,))
            assert caught.value.code == "D256"
            continue
        written, _ = bench.write(
            bench.engine.recode(staged, (recode,)), bench.sink(name=f"out{number}"), map_name=f"map{number}", order="source"
        )
        known = iter(made.to_pylist())
        expected = [None if one is None else next(known) for one in given.to_pylist()]
        found = pq.read_table(written.paths[0])["v"].to_pylist()
        assert found == [float(one) if isinstance(one, Decimal) and isinstance(found[0], float) else one for one in expected], (
            declared
        )
        if not few:
            assert sum(map(len, asked)) <= representatives(values, recode.recoding, grid, type_), declared
    assert refused == 3  # outside all edges, a decade before the year 10, a text that is too short


def representatives(values, recoding, grid, type_):
    """How many values labels are made of: none where they are listed, and the representatives alone."""
    if isinstance(recoding, Lookup):
        return 0
    cells = [one for one in values if one is not None]
    if type_ is ColumnType.DATETIME:
        cells = [(one - datetime(1970, 1, 1)) // timedelta(microseconds=1) * 1000 for one in cells]  # noqa: DTZ001
    return len({representative(recoding, cell, Decimal(1) if type_ is ColumnType.INTEGER else grid) for cell in cells} - {None})
