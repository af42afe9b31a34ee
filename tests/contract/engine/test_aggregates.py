"""Aggregates of statistics against counting by hand, on tables with missing values, outliers, repeated persons and undeclared keys."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import date
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise, product

import pyarrow as pa
import pytest

from privrelease.relational.aggregates import Aggregate, BinKey, Bounding, ColumnKey, Measure
from privrelease.relational.filters import parse_filter
from privrelease.relational.schema import Column, ColumnType, Role

I, N, C, B, D = (  # noqa: E741 - one letter a type keeps the table readable
    ColumnType.INTEGER,
    ColumnType.NUMBER,
    ColumnType.CATEGORY,
    ColumnType.BOOLEAN,
    ColumnType.DATE,
)
COLUMNS = [
    Column("id", ColumnType.STRING, Role.DIRECT),
    Column("age", I, Role.QUASI),
    Column("sex", C, Role.QUASI),
    Column("x", N, Role.SENSITIVE, grid=Decimal("0.1")),
    Column("on", B, Role.QUASI),
    Column("day", D, Role.QUASI),
]
TYPES = {column.name: column.type for column in COLUMNS}
TENTH = Fraction(1, 10)


def table(seed=0, n=400, persons=400):
    r = random.Random(seed)
    return [
        {
            "id": f"p{i if persons >= n else r.randrange(persons)}",
            "age": None if r.random() < 0.1 else r.choice([r.randint(0, 99), -(2**62), 2**62]),
            "sex": r.choice(["F", "M", "X", "it's", None]),
            "x": None if r.random() < 0.1 else r.choice([r.randint(-50, 500) / 10, 1e9, -1e9]),
            "on": r.choice([True, False, None]),
            "day": date(2021, 1, r.randint(1, 28)),
        }
        for i in range(n)
    ]


def staged(bench, rows, columns=COLUMNS):
    arrow = pa.Table.from_pylist(
        rows,
        schema=pa.schema(
            [
                ("id", pa.string()),
                ("age", pa.int64()),
                ("sex", pa.string()),
                ("x", pa.float64()),
                ("on", pa.bool_()),
                ("day", pa.date32()),
            ]
        ),
    )
    return bench.engine.stage(bench.parquet(arrow, columns))


def run(bench, rows, *asked, unit=None, max_rows=1, salt=5):
    return asked_of(bench, staged(bench, rows), *asked, unit=unit, max_rows=max_rows, salt=salt)


def asked_of(bench, table, *asked, unit=None, max_rows=1, salt=5):
    """The same of rows that are staged already, to be asked with several salts."""
    return [plain(found) for found in bench.engine.aggregates(table, Bounding(unit, max_rows, salt), asked)]


def plain(found):
    """Figures as tuples, which compare as a whole."""
    return replace(found, figures=tuple(tuple(figure.tolist()) for figure in found.figures))


def steps(x, low, high):
    return max(low, min(high, round(x * 10)))


SUM = Measure("sum", "x", -50, 500, 225, grid=TENTH)
SQUARES = Measure("squares", "x", -50, 500, 225, 1000, TENTH)
ROWS = Measure("rows")


def test_counts_sums_and_squares_are_those_of_clamped_values_by_declared_key(bench):
    rows = table()
    (found,) = run(bench, rows, Aggregate((ROWS, SUM, SQUARES), (ColumnKey("sex", ("M", "F", "Z")),), complete=("x",)))
    for cell, key in enumerate(("M", "F", "Z")):
        xs = [steps(row["x"], -50, 500) - 225 for row in rows if row["sex"] == key and row["x"] is not None]
        assert [figure[cell] for figure in found.figures] == [len(xs), sum(xs), sum(x * x - 1000 for x in xs)]
    assert found.figures[0][2] == 0


@pytest.mark.parametrize(
    ("text", "keeps"),
    [
        ("sex = 'F'", lambda row: row["sex"] == "F"),
        ("sex = 'it''s'", lambda row: row["sex"] == "it's"),
        ("sex = 'never seen'", lambda row: False),
        ("sex <> 'F'", lambda row: row["sex"] not in ("F", None)),
        ("NOT sex IN ('F', 'gone')", lambda row: row["sex"] not in ("F", None)),
        ("age BETWEEN 18 AND 65", lambda row: row["age"] is not None and 18 <= row["age"] <= 65),
        ("x >= 12.5", lambda row: row["x"] is not None and row["x"] >= 12.5),
        ("x IS NULL OR age < 0", lambda row: row["x"] is None or (row["age"] is not None and row["age"] < 0)),
        ("\"on\" = true AND day >= '2021-01-15'", lambda row: row["on"] is True and row["day"].day >= 15),
        ("NOT (sex = 'F' AND x > 0)", None),
    ],
)
def test_a_filter_keeps_the_rows_where_it_is_true(bench, text, keeps):
    keeps = keeps or negation
    rows = table(1)
    (found,) = run(bench, rows, Aggregate((ROWS,), where=parse_filter(text, TYPES)))
    assert found.figures == ((sum(map(keeps, rows)),),)


def negation(row):
    """Three-valued logic: NOT (a AND b)."""
    left = None if row["sex"] is None else row["sex"] == "F"
    right = None if row["x"] is None else row["x"] > 0
    return left is False or right is False


@pytest.mark.parametrize("edges", [(0, 10, 20, 30), (-5, 0, 7, Fraction("20.05"), 1000), (0, 100)])
def test_bins_hold_their_lower_edge_and_outliers_go_to_the_ends(bench, edges):
    rows = table(2)
    key = BinKey("x", tuple(map(Fraction, edges)), TENTH)
    (found,) = run(bench, rows, Aggregate((ROWS,), (ColumnKey("on", ("false", "true")), key), complete=("x",)))
    wanted = []
    for on, i in product((False, True), range(len(edges) - 1)):
        inside = [
            row
            for row in rows
            if row["on"] is on
            and row["x"] is not None
            and (i == 0 or Fraction(str(row["x"])) >= edges[i])
            and (i == len(edges) - 2 or Fraction(str(row["x"])) < edges[i + 1])
        ]
        wanted.append(len(inside))
    assert found.figures == (tuple(wanted),)


def test_whole_numbers_are_keys_and_bins_too(bench):
    rows = [{**row, "age": i % 7} for i, row in enumerate(table(3))]
    by_age, binned = run(
        bench,
        rows,
        Aggregate((ROWS,), (ColumnKey("age", ("6", "0", "9")),)),
        Aggregate((ROWS,), (BinKey("age", (Fraction(0), Fraction(3), Fraction(6))),)),
    )
    ages = [row["age"] for row in rows]
    assert by_age.figures == ((ages.count(6), ages.count(0), 0),)
    assert binned.figures == ((sum(age < 3 for age in ages), sum(age >= 3 for age in ages)),)


def test_steps_are_counted_by_cell(bench):
    rows = table(4)
    measure = Measure("steps", "x", 0, 100, grid=TENTH)
    one, grouped = run(
        bench,
        rows,
        Aggregate((measure,), complete=("x",)),
        Aggregate((measure,), (ColumnKey("sex", ("F", "none")),), complete=("x",)),
    )
    for (step, count), kept in (
        (one.steps[0], lambda row: True),
        (grouped.steps[0], lambda row: row["sex"] == "F"),
        (grouped.steps[1], lambda row: False),
    ):
        wanted: dict[int, int] = {}
        for row in rows:
            if row["x"] is not None and kept(row):
                wanted[steps(row["x"], 0, 100)] = wanted.get(steps(row["x"], 0, 100), 0) + 1
        assert dict(zip(step.tolist(), count.tolist(), strict=True)) == wanted


def test_private_keys_are_those_in_the_data_in_ascending_order(bench):
    rows = table(5)
    (found,) = run(bench, rows, Aggregate((Measure("persons"), SUM), (ColumnKey("sex", None),), complete=("x",)))
    assert found.keys == (("F",), ("M",), ("X",), ("it's",))
    assert found.figures[0] == tuple(sum(row["sex"] == key and row["x"] is not None for row in rows) for (key,) in found.keys)


@pytest.mark.parametrize("m", [1, 2, 5])
def test_a_person_counts_with_at_most_max_rows_rows(bench, m):
    rows = table(6, persons=60)
    found, persons = run(
        bench, rows, Aggregate((ROWS,)), Aggregate((Measure("persons"),), (ColumnKey("sex", ("F",)),)), unit="id", max_rows=m
    )
    counts: dict[str, int] = {}
    for row in rows:
        counts[row["id"]] = counts.get(row["id"], 0) + 1
    assert found.figures == ((sum(min(m, count) for count in counts.values()),),)
    assert persons.figures[0][0] <= len({row["id"] for row in rows if row["sex"] == "F"})


@pytest.mark.parametrize("m", [1, 3])
def test_a_person_who_leaves_moves_every_figure_by_at_most_its_sensitivity_whatever_the_salt(bench, m):
    rows = table(7, n=120, persons=12)
    without = [row for row in rows if row["id"] != "p3"]
    asked = Aggregate((ROWS, SUM, SQUARES), (ColumnKey("sex", ("F", "M", "X")),), complete=("x",))
    parts = staged(bench, rows), staged(bench, without)
    for salt in range(5):
        (before,), (after,) = (asked_of(bench, part, asked, unit="id", max_rows=m, salt=salt) for part in parts)
        changes = [
            sum(abs(one - other) for one, other in zip(left, right, strict=True))
            for left, right in zip(before.figures, after.figures, strict=True)
        ]
        assert changes[0] <= m
        assert changes[1] <= m * 275
        assert changes[2] <= m * (275**2 - 1000)


def test_a_person_is_in_at_most_max_groups_groups(bench):
    rows = [{**row, "id": "p", "sex": sex} for row, sex in zip(table(8, n=40), "FMXZ" * 10, strict=True)]
    keys, held = ("F", "M", "X", "Z"), staged(bench, rows)
    for salt in range(20):
        (found,) = asked_of(
            bench, held, Aggregate((ROWS,), (ColumnKey("sex", keys),), max_groups=2), unit="id", max_rows=40, salt=salt
        )
        assert sorted(found.figures[0]) == [0, 0, 10, 10]


def test_which_rows_of_a_person_count_is_chosen_by_the_salt(bench):
    rows = [{**row, "id": "p", "sex": sex} for row, sex in zip(table(9, n=4), "FMXZ", strict=True)]
    asked = Aggregate((ROWS,), (ColumnKey("sex", ("F", "M", "X", "Z")),))
    held = staged(bench, rows)
    chosen = [asked_of(bench, held, asked, unit="id", salt=salt)[0].figures[0] for salt in range(64)]
    assert {figures.index(1) for figures in chosen} == {0, 1, 2, 3}
    assert all(sum(figures) == 1 for figures in chosen)


def test_rows_without_a_person_are_left_out(bench):
    rows = [{**row, "id": None if i % 2 else row["id"]} for i, row in enumerate(table(10))]
    (found,) = run(bench, rows, Aggregate((ROWS,)), unit="id")
    assert found.figures == ((200,),)


def test_many_aggregates_in_one_scan_are_those_of_one_each(bench):
    rows = table(11, persons=150)
    keys = (ColumnKey("sex", ("F", "M")),)
    asked = (
        Aggregate((ROWS,), keys),
        Aggregate((ROWS, SUM), keys, complete=("x",)),
        Aggregate((Measure("persons"),), keys, where=parse_filter("age > 30", TYPES)),
        Aggregate((ROWS,)),
    )
    together = run(bench, rows, *asked, unit="id", max_rows=400)
    alone = [run(bench, rows, one, unit="id", max_rows=400)[0] for one in asked]
    assert [one.figures for one in together] == [one.figures for one in alone]


def test_sums_beyond_64_bits_are_exact(bench):
    rows = [{**row, "age": 2**39 if i % 2 else -(2**39)} for i, row in enumerate(table(12))]
    measure = Measure("squares", "age", -(2**39), 2**39)
    (found,) = run(bench, rows, Aggregate((Measure("sum", "age", -(2**39), 2**39), measure), complete=("age",)))
    assert found.figures == ((0,), (400 * 2**78,))


def test_an_empty_table_has_every_declared_cell(bench):
    (found,) = run(bench, [], Aggregate((ROWS, SUM, SQUARES), (ColumnKey("sex", ("F", "M")),)))
    assert found.figures == ((0, 0), (0, 0), (0, 0))


@pytest.mark.parametrize("edges", [(0, 10, 20, 30), (-5, 0, 7, Fraction("20.05"), 40), (0, 100), (-5, 50)])
@pytest.mark.parametrize("closed", [True, False])
def test_values_outside_all_bins_go_to_bins_of_their_own(bench, edges, closed):
    rows = table(13)
    key = BinKey("x", tuple(map(Fraction, edges)), TENTH, closed, outside=True)
    (found,) = run(bench, rows, Aggregate((ROWS,), (key,), complete=("x",)))
    xs = [Fraction(str(row["x"])) for row in rows if row["x"] is not None]
    last = edges[-1]
    above = [x for x in xs if x > last or (x == last and not closed)]
    inner = [sum(low <= x < high or (closed and x == last == high) for x in xs) for low, high in pairwise(edges)]
    assert found.figures == ((sum(x < edges[0] for x in xs), *inner, len(above)),)
    assert sum(found.figures[0]) == len(xs)
    assert found.figures[0][0] > 0
    assert above


def test_undeclared_keys_are_counted_under_the_key_for_the_rest_and_rows_without_a_key_are_not(bench):
    rows = table(14)
    by_sex, by_age, both = run(
        bench,
        rows,
        Aggregate((ROWS,), (ColumnKey("sex", ("M", "never"), "other"),)),
        Aggregate((ROWS,), (ColumnKey("age", tuple(map(str, range(50))), "other"),)),
        Aggregate((ROWS,), (ColumnKey("sex", ("F",), "other"), ColumnKey("on", ("false", "true")))),
    )
    sexes = [row["sex"] for row in rows]
    assert by_sex.figures == ((sexes.count("M"), 0, sum(sex not in ("M", None) for sex in sexes)),)
    ages = [row["age"] for row in rows if row["age"] is not None]
    assert by_age.figures[0][-1] == sum(age not in range(50) for age in ages)
    assert sum(by_age.figures[0]) == len(ages)
    wanted = [
        sum((sex == "F") is is_f and sex is not None and row["on"] is on for sex, row in zip(sexes, rows, strict=True))
        for is_f in (True, False)
        for on in (False, True)
    ]
    assert both.figures == (tuple(wanted),)


def test_a_person_with_several_undeclared_keys_is_one_person_of_the_rest_in_one_group(bench):
    rows = [{**row, "id": "p", "sex": sex} for row, sex in zip(table(15, n=40), "FMXZ" * 10, strict=True)]
    keys = (ColumnKey("sex", ("F",), "other"),)
    (persons,) = run(bench, rows, Aggregate((Measure("persons"),), keys), unit="id", max_rows=40)
    assert persons.figures == ((1, 1),)
    held = staged(bench, rows)
    for salt in range(8):
        (found,) = asked_of(bench, held, Aggregate((ROWS,), keys, max_groups=1), unit="id", max_rows=40, salt=salt)
        assert sorted(found.figures[0]) in ([0, 10], [0, 30])


@pytest.mark.parametrize("other", [None, "other"])
@pytest.mark.parametrize("without", [True, False])
def test_rows_without_a_key_are_counted_in_the_last_cell_whether_there_are_any_or_not(bench, other, without):
    rows = [row for row in table(24) if without or None not in (row["sex"], row["x"])]
    edges = (0, 10, 30)
    keys = (
        ColumnKey("sex", ("F", "M"), other, missing=True),
        BinKey("x", tuple(map(Fraction, edges)), TENTH, outside=True, missing=True),
    )
    (found,) = run(bench, rows, Aggregate((ROWS,), keys))

    def sex(row):
        cells = ["F", "M", *([] if other is None else [other]), None]
        return cells.index(row["sex"]) if row["sex"] in cells else None if other is None else 2

    def x(row):
        value = row["x"]
        return 4 if value is None else 0 if value < 0 else 1 if value < 10 else 2 if value <= 30 else 3

    wanted = [[0] * 5 for _ in range(keys[0].size)]
    for row in rows:
        if sex(row) is not None:
            wanted[sex(row)][x(row)] += 1
    assert (keys[0].size, keys[1].size) == (3 if other is None else 4, 5)
    assert found.figures == (tuple(n for line in wanted for n in line),)
    assert (sum(wanted[-1]) > 0) is without


def test_numbers_that_are_not_finite_are_missing_and_every_row_has_a_cell(bench):
    rows = [
        {**row, "x": x}
        for row, x in zip(table(25, n=6), [float("nan"), float("inf"), -float("inf"), None, 5.0, 25.0], strict=True)
    ]
    columns = [replace(column, grid=None) for column in COLUMNS]
    found = bench.engine.aggregates(
        staged(bench, rows, columns),
        Bounding(None, 1, 5),
        (Aggregate((ROWS,), (BinKey("x", (Fraction(0), Fraction(10), Fraction(30)), missing=True),)),),
    )
    assert found[0].figures[0].tolist() == [1, 1, 4]


def test_missing_keys_are_one_group_of_a_person(bench):
    rows = [{**row, "id": "p", "sex": sex} for row, sex in zip(table(26, n=40), ["F", None, "M", None] * 10, strict=True)]
    keys = (ColumnKey("sex", ("F", "M"), missing=True),)
    (persons,) = run(bench, rows, Aggregate((Measure("persons"),), keys), unit="id", max_rows=40)
    assert persons.figures == ((1, 1, 1),)
    held = staged(bench, rows)
    for salt in range(8):
        (found,) = asked_of(bench, held, Aggregate((ROWS,), keys, max_groups=1), unit="id", max_rows=40, salt=salt)
        assert sorted(found.figures[0]) in ([0, 0, 10], [0, 0, 20])


def test_steps_of_missing_keys_are_those_of_the_last_cell(bench):
    rows = table(27)
    measure = Measure("steps", "x", -50, 500, grid=TENTH)
    (found,) = run(bench, rows, Aggregate((measure,), (ColumnKey("sex", ("F",), missing=True),), complete=("x",)))
    for (step, count), key in zip(found.steps, ("F", None), strict=True):
        xs = [steps(row["x"], -50, 500) for row in rows if row["sex"] == key and row["x"] is not None]
        assert step.tolist() == sorted(set(xs))
        assert count.tolist() == [xs.count(one) for one in sorted(set(xs))]


def test_keys_of_the_data_have_no_cell_for_missing_ones():
    with pytest.raises(ValueError, match="declared keys"):
        ColumnKey("sex", None, missing=True)


def test_figures_are_64_bit_integers_and_pythons_own_only_beyond(bench):
    rows = table(28, n=50)
    wide = Measure("squares", "age", -(2**62), 2**62)
    small, large = bench.engine.aggregates(
        staged(bench, rows),
        Bounding(None, 1, 5),
        (
            Aggregate((ROWS, SUM), complete=("x",)),
            Aggregate(
                (wide,), complete=("age",), where=parse_filter("age > 100 AND id = 'p0'", TYPES | {"id": ColumnType.STRING})
            ),
        ),
    )
    assert [figure.dtype.name for figure in small.figures] == ["int64", "int64"]
    assert large.figures[0].size == 1
    assert large.figures[0].tolist() == [sum(row["age"] ** 2 for row in rows if row["id"] == "p0" and (row["age"] or 0) > 100)]


def test_steps_of_undeclared_keys_are_those_of_one_cell(bench):
    rows = table(16)
    measure = Measure("steps", "x", -50, 500, grid=TENTH)
    (found,) = run(bench, rows, Aggregate((measure,), (ColumnKey("sex", ("F",), "other"),), complete=("x",)))
    for (step, count), inside in zip(found.steps, (True, False), strict=True):
        xs = [
            steps(row["x"], -50, 500)
            for row in rows
            if row["sex"] is not None and row["x"] is not None and (row["sex"] == "F") is inside
        ]
        assert step.tolist() == sorted(set(xs))
        assert count.tolist() == [xs.count(one) for one in sorted(set(xs))]


def test_with_one_row_each_the_rows_that_count_are_as_many_as_persons_whatever_a_person_is_replaced_by(bench):
    """What makes the number of rows public under replace: bounding leaves exactly one row of everybody who has any."""
    rows = table(17, n=60, persons=20)
    persons = {row["id"] for row in rows}
    for held in (1, 2, 7):
        new = [{**row, "id": "new"} for row in table(18, n=held)]
        replaced = [row for row in rows if row["id"] != "p3"] + new
        for salt in range(3):
            for part in (rows, replaced):
                assert run(bench, part, Aggregate((ROWS,)), unit="id", salt=salt)[0].figures == ((len(persons),),)


def test_one_run_keeps_the_same_rows_of_a_person_for_every_query(bench):
    """On which parallel composition rests: a person of many rows is in one part where one row is kept, and in at most two where two are."""
    rows = table(7, n=400, persons=40)
    wheres = ("sex = 'F'", "sex = 'M'", "sex = 'X'", "sex = 'it''s'", "sex IS NULL")
    asked = [Aggregate((ROWS, Measure("persons")), where=parse_filter(text, TYPES)) for text in wheres]
    asked += [Aggregate((SUM,), where=parse_filter(text, TYPES), complete=("x",)) for text in wheres[:2]]
    for most in (1, 2):
        for salt in range(5):
            found = run(bench, rows, *asked, unit="id", max_rows=most, salt=salt)
            assert sum(one.figures[0][0] for one in found[:5]) == 40 * most
            persons = sum(one.figures[1][0] for one in found[:5])
            assert persons == 40 if most == 1 else 40 <= persons <= 80


def test_a_missing_value_counts_as_the_number_that_stands_for_it(bench):
    rows = table(19)
    filled = [steps(0.5 if row["x"] is None else row["x"], -50, 500) for row in rows]
    sums, by_step = run(
        bench,
        rows,
        Aggregate((ROWS, replace(SUM, fill=5), replace(SQUARES, fill=5))),
        Aggregate((Measure("steps", "x", -50, 500, grid=TENTH, fill=5),)),
    )
    assert None in [row["x"] for row in rows]
    assert sums.figures == ((400,), (sum(x - 225 for x in filled),), (sum((x - 225) ** 2 - 1000 for x in filled),))
    ((step, count),) = by_step.steps
    assert step.tolist() == sorted(set(filled))
    assert count.tolist() == [filled.count(one) for one in sorted(set(filled))]
