"""Rows as tuples of declared cells, and persons put aside: against plain Python over the same rows."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest

from privrelease.relational.aggregates import BinKey, Bounding, ColumnKey
from privrelease.relational.schema import Column, ColumnType, Role, SourceKind, TableSource

COLUMNS = (
    Column("id", ColumnType.STRING, Role.DIRECT),
    Column("age", ColumnType.INTEGER, Role.QUASI),
    Column("sex", ColumnType.CATEGORY, Role.QUASI),
    Column("day", ColumnType.DATE, Role.QUASI),
)
ROWS = [
    (f"p{i}", "" if i % 7 == 0 else str(i % 130 - 5), ("F", "M", "X", "")[i % 4], f"2020-01-{1 + i % 28:02d}")
    for i in range(300)
]
KEYS = (
    BinKey("age", (Fraction(0), Fraction(50), Fraction(101)), missing=True),
    BinKey("day", (Fraction(18262), Fraction(18272), Fraction(18290)), missing=True),
    ColumnKey("sex", ("F", "M"), missing=True, strays=True),
)


def staged(engine, folder, rows, name="a.csv"):
    path = folder / name
    path.write_text("id,age,sex,day\n" + "".join(",".join(row) + "\n" for row in rows), encoding="utf-8")
    return engine.stage(TableSource("d", SourceKind.CSV, str(path), name, COLUMNS))


@pytest.fixture
def engine(bench):
    return bench.engine


def plain(row):
    """The cells of a row: values outside a range in the nearest bin, others outside a list as missing."""
    age = 2 if row[1] == "" else int(int(row[1]) >= 50)
    day = int(int(row[3][-2:]) - 1 >= 10)
    return age, day, {"F": 0, "M": 1}.get(row[2], 2)


def test_every_row_is_in_one_tuple_of_cells(engine, tmp_path):
    table = staged(engine, tmp_path, ROWS)
    for bounding in (Bounding(None, 1, 5), Bounding("id", 1, 5)):
        found = engine.coded_rows(table, bounding, KEYS)
        counted: Counter[tuple[int, ...]] = Counter()
        for cells, rows in zip(map(tuple, found.codes.tolist()), found.rows.tolist(), strict=True):
            counted[cells] += rows  # values that share a cell, such as strays and missing ones, come apart
        assert counted == Counter(map(plain, ROWS))


def kept(engine, folder, rows, name, unit="id", key=b"k" * 32, share=Fraction(1, 4)):
    stay, aside = engine.divided(staged(engine, folder, rows, name), unit, share, key)
    persons = [set(), set()]
    for part, found in zip((stay, aside), persons, strict=True):
        for block in engine.value_rows(part, "id"):
            found.update(block.values.to_pylist())
    assert stay.n_rows + aside.n_rows == len(rows)
    return persons


@pytest.mark.parametrize("unit", ["id", None])
def test_who_is_put_aside_depends_on_nobody_else(engine, tmp_path, unit):
    stay, aside = kept(engine, tmp_path, ROWS, "a.csv", unit)
    assert not stay & aside
    assert 40 <= len(aside) <= 115
    without = kept(engine, tmp_path, ROWS[1:], "b.csv", unit)
    assert without == [stay - {"p0"}, aside - {"p0"}]
    assert kept(engine, tmp_path, ROWS[::-1], "c.csv", unit) == [stay, aside]
    assert kept(engine, tmp_path, ROWS, "d.csv", unit, key=b"j" * 32)[1] != aside
