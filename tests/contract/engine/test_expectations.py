"""Counts of expectations against a loop over rows, and against what Great Expectations says of the same rows."""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from privrelease.engine.protocol.base import Offer, OutputColumn
from privrelease.relational.expectations import EXPECTATIONS, Expectation
from privrelease.relational.schema import Column, ColumnType, Role, SinkKind

COLUMNS = [
    Column("sex", ColumnType.CATEGORY, Role.INSENSITIVE),
    Column("a b", ColumnType.INTEGER, Role.INSENSITIVE),
    Column('q"%', ColumnType.INTEGER, Role.INSENSITIVE),
    Column("g", ColumnType.NUMBER, Role.INSENSITIVE, grid=Decimal("0.5")),
    Column("day", ColumnType.DATE, Role.INSENSITIVE),
    Column("ok", ColumnType.BOOLEAN, Role.INSENSITIVE),
    Column("mail", ColumnType.STRING, Role.INSENSITIVE),
]
NAMES = [column.name for column in COLUMNS]
Row = dict[str, Any]


@pytest.fixture(autouse=True)
def offered(request):
    """Skip what an engine without expectations cannot be asked."""
    if "bench" in request.fixturenames:
        request.getfixturevalue("bench").needs(Offer.EXPECTATIONS)


def rows_of(seed: int, size: int = 12) -> list[Row]:
    rng = np.random.default_rng(seed)

    def maybe(values: list[Any]) -> Any:
        return None if rng.random() < 0.25 else values[int(rng.integers(len(values)))]

    return [
        {
            "sex": maybe(["F", "M", "X"]),
            "a b": maybe([0, 1, 2, 10, 11]),
            'q"%': maybe([0, 1, 2, 10]),
            "g": maybe([Decimal("0.0"), Decimal("0.5"), Decimal("1.5"), Decimal("-2.0")]),
            "day": maybe([date(2020, 1, 1), date(2020, 2, 29), date(2021, 1, 1)]),
            "ok": maybe([True, False]),
            "mail": maybe(["a@b", "x", "ä@", "a\nb", "A%", "2020-01-01"]),
        }
        for _ in range(size)
    ]


def csv_of(rows: list[Row]) -> str:
    def cell(value: Any) -> str:
        if value is None:
            return ""
        text = str(value).lower() if isinstance(value, bool) else str(value)
        return '"' + text.replace('"', '""') + '"'

    head = ",".join('"' + name.replace('"', '""') + '"' for name in NAMES)
    return "\n".join([head, *(",".join(cell(row[name]) for name in NAMES) for row in rows)]) + "\n"


# what meets an expectation, one row at a time
def within(value: Any, least: Any, most: Any, *, strict_min: bool = False, strict_max: bool = False) -> bool:
    low = least is None or (value > least if strict_min else value >= least)
    high = most is None or (value < most if strict_max else value <= most)
    return low and high


def like(text: str, pattern: str, escape: str | None = None) -> bool:
    out, place = "", 0
    while place < len(pattern):
        sign = pattern[place]
        if sign == escape:
            place += 1
            out += re.escape(pattern[place])
        else:
            out += {"%": ".*", "_": "."}.get(sign, re.escape(sign))
        place += 1
    return re.fullmatch(out, text, re.DOTALL) is not None


#: name, parameters, what a value (or the values of a row) must meet; None where equal ones fail.
ONE: list[tuple[str, dict[str, Any], Any]] = [
    ("values_to_be_in_set", {"column": "sex", "value_set": ("F", "M")}, lambda v: v in {"F", "M"}),
    ("values_to_be_in_set", {"column": "a b", "value_set": (0, 1)}, lambda v: v in {0, 1}),
    ("values_to_be_in_set", {"column": "g", "value_set": (Decimal("0.5"),)}, lambda v: v == Decimal("0.5")),
    ("values_to_be_in_set", {"column": "day", "value_set": (date(2020, 2, 29),)}, lambda v: v == date(2020, 2, 29)),
    ("values_to_be_in_set", {"column": "ok", "value_set": (True,)}, lambda v: v),
    ("values_to_not_be_in_set", {"column": "sex", "value_set": ("X",)}, lambda v: v != "X"),
    ("values_to_be_between", {"column": 'q"%', "min_value": 1, "max_value": 9}, lambda v: within(v, 1, 9)),
    ("values_to_be_between", {"column": "g", "max_value": Decimal("0.5"), "strict_max": True}, lambda v: v < Decimal("0.5")),
    (
        "values_to_be_between",
        {"column": "day", "min_value": date(2020, 1, 1), "strict_min": True},
        lambda v: v > date(2020, 1, 1),
    ),
    ("value_lengths_to_be_between", {"column": "mail", "min_value": 2, "max_value": 3}, lambda v: 2 <= len(v) <= 3),
    ("value_lengths_to_equal", {"column": "mail", "value": 2}, lambda v: len(v) == 2),
    ("values_to_match_regex", {"column": "mail", "regex": "^.+@.+$"}, lambda v: re.search(r"\A.+@.+\Z", v) is not None),
    ("values_to_match_regex", {"column": "mail", "regex": "a.b"}, lambda v: re.search("a.b", v) is not None),
    ("values_to_not_match_regex", {"column": "mail", "regex": "(?i)^a"}, lambda v: not v.lower().startswith("a")),
    (
        "values_to_match_regex_list",
        {"column": "mail", "regex_list": ("@", "a"), "match_on": "all"},
        lambda v: "@" in v and "a" in v,
    ),
    ("values_to_match_regex_list", {"column": "mail", "regex_list": ("@", "a")}, lambda v: "@" in v or "a" in v),
    ("values_to_not_match_regex_list", {"column": "mail", "regex_list": ("@", "x")}, lambda v: "@" not in v and "x" not in v),
    ("values_to_match_like_pattern", {"column": "mail", "like_pattern": "_@%"}, lambda v: like(v, "_@%")),
    (
        "values_to_not_match_like_pattern",
        {"column": "mail", "like_pattern": "%!%", "escape": "!"},
        lambda v: not like(v, "%!%", "!"),
    ),
    (
        "values_to_match_like_pattern_list",
        {"column": "mail", "like_pattern_list": ("a%", "x")},
        lambda v: like(v, "a%") or v == "x",
    ),
    (
        "values_to_not_match_like_pattern_list",
        {"column": "mail", "like_pattern_list": ("a%", "x")},
        lambda v: not like(v, "a%") and v != "x",
    ),
    ("values_to_match_strftime_format", {"column": "mail", "strftime_format": "%Y-%m-%d"}, lambda v: v == "2020-01-01"),
    ("values_to_be_of_type", {"column": "mail", "type_": "VARCHAR"}, lambda _: True),
    ("values_to_be_of_type", {"column": "a b", "type_": "number"}, lambda _: False),
    ("values_to_be_in_type_list", {"column": "day", "type_list": ("DATE", "string")}, lambda _: True),
    ("values_to_be_unique", {"column": "a b"}, None),
    ("values_to_be_unique", {"column": "mail"}, None),
]
PAIR = {"column_A": "a b", "column_B": 'q"%'}
LIST = {"column_list": ("a b", 'q"%')}
#: name, parameters, what the values of a row must meet.
SEVERAL: list[tuple[str, dict[str, Any], Any]] = [
    ("expect_column_pair_values_to_be_equal", PAIR, lambda a, b: a is not None and a == b),
    ("expect_column_pair_values_a_to_be_greater_than_b", PAIR, lambda a, b: None not in (a, b) and a > b),
    ("expect_column_pair_values_a_to_be_greater_than_b", PAIR | {"or_equal": True}, lambda a, b: None not in (a, b) and a >= b),
    (
        "expect_column_pair_values_to_be_in_set",
        PAIR | {"value_pairs_set": ((0, 0), (1, 2))},
        lambda a, b: (a, b) in {(0, 0), (1, 2)},
    ),
    ("expect_multicolumn_sum_to_equal", LIST | {"sum_total": Decimal(2)}, lambda a, b: None not in (a, b) and a + b == 2),
    ("expect_select_column_values_to_be_unique_within_record", LIST, lambda a, b: None in (a, b) or a != b),
    ("expect_compound_columns_to_be_unique", LIST, None),
]
IGNORED = {
    "both_values_are_missing": lambda a, b: a is None and b is None,
    "either_value_is_missing": lambda a, b: a is None or b is None,
    "neither": lambda _a, _b: False,
}
LISTS = dict(zip(("all_values_are_missing", "any_value_is_missing", "never"), IGNORED.values(), strict=True))


def brute(values: list[Any], meets: Any) -> tuple[int, int]:
    """Values looked at, and those of them that fail."""
    if meets is None:
        return len(values), sum(values.count(value) > 1 for value in values)
    return len(values), sum(not meets(*value) if isinstance(value, tuple) else not meets(value) for value in values)


def places_of(engine: Any, bench: Any, rows: list[Row]) -> list[Any]:
    """The same rows as a source, a released Parquet and a released CSV file."""
    staged = engine.stage(bench.csv(csv_of(rows), COLUMNS))
    sinks = [bench.sink(SinkKind.PARQUET), bench.sink(SinkKind.CSV)]
    bench.write(staged, *sinks, columns=tuple(OutputColumn(column.name, column.type) for column in COLUMNS))
    return [staged, *(engine.open_release(sink, COLUMNS) for sink in sinks)]


@pytest.mark.parametrize("seed", range(2))
def test_counts_are_those_of_a_loop_over_rows_wherever_the_rows_are(bench, seed):
    rows = rows_of(seed)
    for of in places_of(bench.engine, bench, rows):
        for name, parameters, meets in ONE:
            expectation = Expectation(f"expect_column_{name}", tuple(parameters.items()))
            values = [row[parameters["column"]] for row in rows if row[parameters["column"]] is not None]
            counted = bench.engine.count_expectation(of, expectation)
            assert (counted.rows, counted.looked_at, counted.failing) == (len(rows), *brute(values, meets)), (name, parameters)
        for name, parameters, meets in SEVERAL:
            for ignored, skips in (LISTS if "column_list" in parameters else IGNORED).items():
                expectation = Expectation(name, tuple((parameters | {"ignore_row_if": ignored}).items()))
                pairs = [(row["a b"], row['q"%']) for row in rows]
                seen = [pair for pair in pairs if not skips(*pair)]
                counted = bench.engine.count_expectation(of, expectation)
                assert (counted.rows, counted.looked_at, counted.failing) == (len(rows), *brute(seen, meets)), (name, ignored)


@pytest.mark.parametrize("column", NAMES)
def test_missing_values_are_counted_over_all_rows(bench, column):
    rows = rows_of(7)
    missing = sum(row[column] is None for row in rows)
    staged = bench.engine.stage(bench.csv(csv_of(rows), COLUMNS))
    for name, failing in (("not_be_null", missing), ("be_null", len(rows) - missing)):
        counted = bench.engine.count_expectation(staged, Expectation(f"expect_column_values_to_{name}", (("column", column),)))
        assert (counted.looked_at, counted.failing) == (len(rows), failing)


def test_the_places_of_failing_rows_count_from_one_and_are_at_most_five(bench):
    rows = [row | {"sex": "X" if place % 2 else "F"} for place, row in enumerate(rows_of(1))]
    staged = bench.engine.stage(bench.csv(csv_of(rows), COLUMNS))
    expectation = Expectation("expect_column_values_to_be_in_set", (("column", "sex"), ("value_set", ("F",))))
    assert bench.engine.count_expectation(staged, expectation, places=True).places == (2, 4, 6, 8, 10)
    assert bench.engine.count_expectation(staged, expectation).places == ()


def test_every_counted_expectation_is_compared_with_a_loop():
    told = {f"expect_column_{name}" for name, _, _ in ONE} | {name for name, _, _ in SEVERAL}
    told |= {"expect_column_values_to_not_be_null", "expect_column_values_to_be_null"}
    assert told == {form.name for form in EXPECTATIONS.values() if form.counted}


# what Great Expectations says
@pytest.mark.parametrize("seed", [3])
def test_great_expectations_says_the_same_wherever_it_can_be_asked(bench, seed):
    rows = rows_of(seed)
    asked, wanted = [], []
    staged = bench.engine.stage(bench.csv(csv_of(rows), COLUMNS))
    for name, parameters, _ in [(f"expect_column_{name}", p, m) for name, p, m in ONE] + SEVERAL:
        form = EXPECTATIONS[name]
        if form.alone:
            continue
        skips = ("ignore_row_if", "any_value_is_missing" if "column_list" in parameters else "either_value_is_missing")
        expectation = Expectation(name, (*parameters.items(), *([skips] if "ignore_row_if" in form.takes else [])))
        counted = bench.engine.count_expectation(staged, expectation)
        assert counted.failing is not None
        for mostly in (1.0, 0.5):
            asked.append((expectation, mostly))
            wanted.append(counted.failing <= (1 - mostly) * counted.looked_at)
    assert list(bench.engine.great_expectations(staged, asked)) == wanted
    assert {True, False} == set(wanted)


def figures(rows: list[Row]) -> list[tuple[str, dict[str, Any], bool]]:
    """Expectations of one figure, each once where it holds and once where it does not."""
    ages = sorted(row["a b"] for row in rows if row["a b"] is not None)
    sexes = {row["sex"] for row in rows} - {None}
    mean, total = Decimal(sum(ages)) / len(ages), Decimal(sum(ages))
    known = Decimal(len(ages)) / len(rows)
    unique = Decimal(len(set(ages))) / len(ages)
    median, spread = Decimal(str(float(np.median(ages)))), Decimal(str(round(float(np.std(ages, ddof=1)), 9)))
    hair = Decimal("0.001")
    most = max(sexes, key=lambda sex: sum(row["sex"] == sex for row in rows))
    ties = [sex for sex in sexes if sum(row["sex"] == sex for row in rows) == sum(row["sex"] == most for row in rows)]

    def around(name: str, figure: Decimal, column: str = "a b") -> list[tuple[str, dict[str, Any], bool]]:
        fits = {"column": column, "min_value": figure - hair, "max_value": figure + hair}
        return [(name, fits, True), (name, {"column": column, "min_value": figure + hair}, False)]

    return [
        *around("expect_column_mean_to_be_between", mean),
        *around("expect_column_median_to_be_between", median),
        *around("expect_column_stdev_to_be_between", spread),
        *around("expect_column_sum_to_be_between", total),
        *around("expect_column_proportion_of_non_null_values_to_be_between", known),
        *around("expect_column_proportion_of_unique_values_to_be_between", unique),
        ("expect_column_min_to_be_between", {"column": "a b", "min_value": ages[0]}, True),
        ("expect_column_min_to_be_between", {"column": "a b", "min_value": ages[0] + 1}, False),
        ("expect_column_max_to_be_between", {"column": "day", "max_value": date(2021, 1, 1)}, True),
        ("expect_column_max_to_be_between", {"column": "day", "max_value": date(2019, 1, 1)}, False),
        (
            "expect_column_unique_value_count_to_be_between",
            {"column": "sex", "min_value": len(sexes), "max_value": len(sexes)},
            True,
        ),
        ("expect_column_unique_value_count_to_be_between", {"column": "sex", "max_value": len(sexes) - 1}, False),
        ("expect_column_distinct_values_to_be_in_set", {"column": "sex", "value_set": ("F", "M", "X", "Y")}, True),
        ("expect_column_distinct_values_to_be_in_set", {"column": "sex", "value_set": ("Y",)}, False),
        ("expect_column_distinct_values_to_contain_set", {"column": "sex", "value_set": tuple(sexes)}, True),
        ("expect_column_distinct_values_to_contain_set", {"column": "sex", "value_set": ("Y",)}, False),
        ("expect_column_distinct_values_to_equal_set", {"column": "sex", "value_set": tuple(sexes)}, True),
        ("expect_column_distinct_values_to_equal_set", {"column": "sex", "value_set": (*sexes, "Y")}, False),
        ("expect_column_most_common_value_to_be_in_set", {"column": "sex", "value_set": tuple(ties), "ties_okay": True}, True),
        ("expect_column_most_common_value_to_be_in_set", {"column": "sex", "value_set": ("Y",)}, False),
        (
            "expect_column_quantile_values_to_be_between",
            {"column": "a b", "quantile_ranges": ((Decimal("0.5"),), ((Decimal(0), None),))},
            True,
        ),
        (
            "expect_column_quantile_values_to_be_between",
            {"column": "a b", "quantile_ranges": ((Decimal("0.5"),), ((Decimal(99), None),))},
            False,
        ),
        (
            "expect_column_value_z_scores_to_be_less_than",
            {"column": "a b", "threshold": Decimal(9), "double_sided": True},
            True,
        ),
        (
            "expect_column_value_z_scores_to_be_less_than",
            {"column": "a b", "threshold": Decimal("0.01"), "double_sided": True},
            False,
        ),
        ("expect_column_to_exist", {"column": "a b", "column_index": 1}, True),
        ("expect_column_to_exist", {"column": "a b", "column_index": 2}, False),
        ("expect_table_row_count_to_equal", {"value": len(rows)}, True),
        ("expect_table_row_count_to_equal", {"value": len(rows) + 1}, False),
        ("expect_table_row_count_to_be_between", {"min_value": len(rows)}, True),
        ("expect_table_row_count_to_be_between", {"max_value": len(rows) - 1}, False),
        ("expect_table_column_count_to_equal", {"value": 7}, True),
        ("expect_table_column_count_to_equal", {"value": 6}, False),
        ("expect_table_column_count_to_be_between", {"max_value": 7}, True),
        ("expect_table_column_count_to_be_between", {"max_value": 6}, False),
        ("expect_table_columns_to_match_ordered_list", {"column_list": tuple(NAMES)}, True),
        ("expect_table_columns_to_match_ordered_list", {"column_list": tuple(NAMES[::-1])}, False),
        ("expect_table_columns_to_match_set", {"column_set": tuple(NAMES[::-1])}, True),
        ("expect_table_columns_to_match_set", {"column_set": tuple(NAMES[:2])}, False),
        ("expect_table_columns_to_match_set", {"column_set": tuple(NAMES[:2]), "exact_match": False}, True),
    ]


def test_expectations_of_one_figure_hold_and_fail_as_the_figure_says(bench):
    rows = rows_of(11)
    staged = bench.engine.stage(bench.csv(csv_of(rows), COLUMNS))
    cases = figures(rows)
    asked = [(Expectation(name, tuple(parameters.items())), 1.0) for name, parameters, _ in cases]
    said = bench.engine.great_expectations(staged, asked)
    wrong = [(case, one) for case, one in zip(cases, said, strict=True) if one is not case[2]]
    assert wrong == []
    assert {name for name, _, _ in cases} == {form.name for form in EXPECTATIONS.values() if not form.counted}
    assert all(len({holds for name, _, holds in cases if name == one}) == 2 for one, _, _ in cases)


def test_what_the_library_cannot_evaluate_is_none_and_stops_nothing(bench):
    staged = bench.engine.stage(bench.csv(csv_of(rows_of(1)), COLUMNS))
    unknown = Expectation("expect_column_values_to_match_regex", (("column", "mail"), ("regex", "a")))
    sound = Expectation("expect_table_row_count_to_equal", (("value", 12),))
    assert bench.engine.great_expectations(staged, [(unknown, 1.0), (sound, 1.0)]) == (None, True)


def test_pairs_of_our_two_ways_agree_on_every_pair_of_columns_of_numbers(bench):
    rows = rows_of(5)
    staged = bench.engine.stage(bench.csv(csv_of(rows), COLUMNS))
    for a, b in combinations(["a b", 'q"%', "g"], 2):
        expectation = Expectation("expect_compound_columns_to_be_unique", (("column_list", (a, b)),))
        keys = [(row[a], row[b]) for row in rows if row[a] is not None or row[b] is not None]
        assert bench.engine.count_expectation(staged, expectation).failing == sum(keys.count(key) > 1 for key in keys)
