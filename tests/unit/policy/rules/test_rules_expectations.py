"""Rules of checks by names of Great Expectations and of figures that need a column: what breaks each, word for word, and what keeps it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.unit.policy.conftest import Folder

CHECK = "expect: suppressed_cells, max: 0.05"
IN_SET = "expect: expect_column_values_to_be_in_set, column: sex, value_set: [F, M]"
BETWEEN = "expect: expect_column_values_to_be_between, column: age, min_value: 18"
REGEX = "expect: expect_column_values_to_match_regex, column: sex, regex: '^F|M$'"
STRFTIME = "expect: expect_column_values_to_match_strftime_format, column: sex, strftime_format: '{}'"
STATISTICS = """\
  - id: numbers
    kind: statistics
    from: patients
    budget: {epsilon: 5}
    queries: [{id: n, count: true}]
    output: out/numbers.csv
"""
LEDGER = 'ledger: {cap: {epsilon: 9, delta: 1e-5}, url: "sqlite:///ledger.db"}\n'

#: What breaks, what is said, and what is close to it and sound.
RULES = [
    (
        "expect: expect_column_value_to_be_in_set, column: sex, value_set: [F, M]",
        (
            "p.yaml:29:48: P305 check expect_column_value_to_be_in_set does not exist\n"
            "hint: did you mean expect_column_values_to_be_in_set?"
        ),
        IN_SET,
    ),
    (
        "expect: expect_column_values_to_be_increasing, column: age",
        "p.yaml:29:48: P305 expect_column_values_to_be_increasing is not offered: the rows of a release are sorted by their values",
        BETWEEN,
    ),
    (
        "expect: unexpected_rows_expectation",
        "p.yaml:29:48: P305 unexpected_rows_expectation is not offered: no SQL is taken from a policy",
        "expect: expect_table_row_count_to_equal, value: 5",
    ),
    (
        "expect: expect_column_values_to_be_in_set, column: sex",
        "p.yaml:29:5: P450 expect_column_values_to_be_in_set needs value_set\nhint: it takes: column, value_set, mostly",
        IN_SET,
    ),
    (
        IN_SET + ", regex: F",
        "p.yaml:29:115: P450 expect_column_values_to_be_in_set takes no regex\nhint: it takes: column, value_set, mostly",
        IN_SET + ", mostly: 0.5",
    ),
    (
        IN_SET + ", max: 0.1",
        "p.yaml:29:115: P450 expect_column_values_to_be_in_set takes no max\nhint: it takes: column, value_set, mostly",
        IN_SET,
    ),
    (
        BETWEEN.replace(", min_value: 18", ""),
        "p.yaml:29:5: P418 UTIL-001 has no limit: nothing would be checked\nhint: write `min_value` or `max_value`",
        BETWEEN.replace("min_value", "max_value"),
    ),
    (
        BETWEEN.replace("18", "eighteen"),
        "p.yaml:29:108: P450 min_value needs a whole number, got eighteen\nhint: values are written as the column's type is",
        BETWEEN.replace("18", '"18"'),
    ),
    (
        BETWEEN.replace("age", "patient_id"),
        "p.yaml:29:92: P450 patient_id does not leave in release microdata\nhint: name a released column, or write `on: source`",
        REGEX.replace("sex", "patient_id") + ", on: source",
    ),
    (
        BETWEEN.replace("age", "sex"),
        (
            "p.yaml:29:92: P450 expect_column_values_to_be_between looks at numbers, days and times, and sex is of type category\n"
            "hint: name another column"
        ),
        BETWEEN.replace("age", "glucose"),
    ),
    (
        IN_SET + ", mostly: 0",
        "p.yaml:29:123: P104 mostly must be in (0, 1], got 0: nothing would be checked",
        IN_SET + ", mostly: 1e-3",
    ),
    (
        REGEX.replace("^F|M$", "[F"),
        (
            "p.yaml:29:105: P451 the regular expression does not compile: missing ]: [F\n"
            "hint: it is read by RE2: no look-around, no back-references"
        ),
        REGEX,
    ),
    (
        REGEX.replace("^F|M$", "(?<!F)M"),
        (
            "p.yaml:29:105: P451 the regular expression does not compile: invalid perl operator: (?<!\n"
            "hint: it is read by RE2: no look-around, no back-references"
        ),
        REGEX,
    ),
    (
        "expect: expect_column_values_to_be_of_type, column: age, type_: BIGINTEGER",
        "p.yaml:29:104: P450 type BIGINTEGER does not exist\nhint: did you mean INTEGER?",
        "expect: expect_column_values_to_be_of_type, column: age, type_: BIGINT",
    ),
    (
        "expect: expect_column_pair_values_to_be_equal, column_A: age, column_B: glucose, ignore_row_if: both_are_missing",
        (
            "p.yaml:29:136: P450 ignore_row_if must be both_values_are_missing, either_value_is_missing or neither, got both_are_missing\n"
            "hint: did you mean both_values_are_missing?"
        ),
        "expect: expect_column_pair_values_to_be_equal, column_A: age, column_B: glucose, ignore_row_if: neither",
    ),
    (
        "expect: expect_column_pair_values_to_be_equal, column_A: age, column_B: sex",
        (
            "p.yaml:29:112: P450 expect_column_pair_values_to_be_equal compares age, of type integer, with sex, of type category\n"
            "hint: name columns of the same type"
        ),
        "expect: expect_column_pair_values_to_be_equal, column_A: age, column_B: glucose",
    ),
    (
        STRFTIME.format("%Q%%%"),
        (
            "p.yaml:29:125: P451 the format holds %Q, which no date or time is read by\n"
            "hint: write e.g. %Y-%m-%d %H:%M:%S, and %% for a per cent sign"
        ),
        STRFTIME.format("%Y-%m-%d%%"),
    ),
    (
        STRFTIME.format("%Y%%%"),
        (
            "p.yaml:29:125: P451 the format holds %, which no date or time is read by\n"
            "hint: write e.g. %Y-%m-%d %H:%M:%S, and %% for a per cent sign"
        ),
        STRFTIME.format("%-d.%-m.%Y at %H:%M:%S.%f"),
    ),
    (
        "expect: expect_column_quantile_values_to_be_between, column: age, quantile_ranges: {quantiles: [0.5, 1], value_ranges: [[1, 9]]}",
        "p.yaml:29:106: P450 2 quantiles have 1 ranges\nhint: write one range for each quantile",
        "expect: expect_column_quantile_values_to_be_between, column: age, quantile_ranges: {quantiles: [0.5], value_ranges: [[1, null]]}",
    ),
    (
        "expect: expect_column_values_to_match_like_pattern, column: sex, like_pattern: F, escape: no",
        "p.yaml:29:130: P450 escape must be one character",
        "expect: expect_column_values_to_match_like_pattern, column: sex, like_pattern: F, escape: '!'",
    ),
    (
        "expect: k, min: 3, mostly: 0.5",
        "p.yaml:29:59: P450 k takes no mostly\nhint: remove it",
        "expect: k, min: 3",
    ),
    (
        "expect: k, min: 3, on: source",
        "p.yaml:29:59: P450 k takes no on\nhint: remove it",
        "expect: k, min: 3",
    ),
    (
        "expect: l_diversity, column: glucose, max: 2",
        "p.yaml:29:78: P418 l_diversity is limited by min, not by max\nhint: write `min`",
        "expect: l_diversity, column: glucose, min: 2",
    ),
    (
        "expect: l_diversity, min: 2",
        "p.yaml:29:5: P418 l_diversity needs a column\nhint: write `column`",
        "expect: l_diversity, column: glucose, min: 1.5, kind: entropy",
    ),
    (
        "expect: l_diversity, column: glucose, min: 2, kind: recursive",
        "p.yaml:29:5: P418 recursive l-diversity needs c\nhint: write `kind: recursive` and `c`, or neither",
        "expect: l_diversity, column: glucose, min: 2, kind: recursive, c: 3",
    ),
    (
        "expect: l_diversity, column: sex, threat: external, min: 2",
        "p.yaml:29:69: P418 sex is what the attacker of external knows already\nhint: name a sensitive column",
        "expect: l_diversity, column: glucose, threat: external, min: 2",
    ),
    (
        "expect: t_closeness, column: glucose, min: 0.1",
        "p.yaml:29:78: P418 t_closeness is limited by max, not by min\nhint: write `max`",
        "expect: t_closeness, column: glucose, max: 0.1, distance: equal",
    ),
    (
        "expect: marginal_error, max: 0.1",
        "p.yaml:29:5: P418 marginal_error needs columns\nhint: write `columns`",
        "expect: marginal_error, columns: [sex, age], max: 0.1",
    ),
]


@pytest.mark.parametrize(("breaks", "says", "keeps"), RULES, ids=[says.split(" ", 2)[2][:60] for _, says, _ in RULES])
def test_a_broken_rule_is_told_at_its_place_and_a_kept_one_is_not(
    folder: Folder, change: object, breaks: str, says: str, keeps: str
) -> None:
    told = [
        finding
        for finding in folder.check(change((CHECK, breaks)))
        if "P418 UTIL-001 has no limit" not in finding or "P418 UTIL" in says
    ]  # type: ignore[operator]
    assert told == [says]
    assert folder.check(change((CHECK, keeps))) == []  # type: ignore[operator]


def test_columns_that_do_not_exist_are_named_with_the_nearest(folder: Folder, change: object) -> None:
    broken = change((CHECK, "expect: expect_compound_columns_to_be_unique, column_list: [sexe, age]"))  # type: ignore[operator]
    (told,) = folder.check(broken)
    assert told.startswith("p.yaml:29:100: P302 ")
    assert "did you mean sex?" in told


@pytest.mark.parametrize(
    ("check", "says"),
    [
        (
            "release: numbers, expect: expect_column_values_to_be_in_set, column: sex, value_set: [F, M]",
            (
                "p.yaml:39:85: P302 column sex does not exist in the file of release numbers\n"
                "hint: its columns: query, group, value, low, high, mechanism, scale, epsilon, delta"
            ),
        ),
        (
            "release: numbers, on: source, expect: expect_column_values_to_be_in_set, column: sex, value_set: [F, M]",
            (
                "p.yaml:39:38: P452 MORE looks at the source of a release under differential privacy: what it finds must not decide\n"
                "hint: write `severity: warn`: it is reported in the internal edition only"
            ),
        ),
        (
            "release: numbers, severity: warn, on: source, expect: expect_column_values_to_be_in_set, column: sex, value_set: [F, M]",
            None,
        ),
    ],
)
def test_a_check_on_the_source_of_noisy_statistics_can_only_warn(
    folder: Folder, change: object, check: str, says: str | None
) -> None:
    text = change(
        ("checks:", STATISTICS + LEDGER + "checks:"), ("source: data", "population: p\n    snapshot: s\n    source: data")
    )  # type: ignore[operator]
    told = folder.check(text + f"  - {{id: MORE, {check}}}\n")
    assert told == ([] if says is None else [says])


TABLE = """\
  - id: cells
    kind: table
    from: patients
    by: [sex]
    measures: [{count: true}, {sum: age}]
    protect: {min_count: 3}
    output: out/cells.csv
"""


@pytest.mark.parametrize(
    ("check", "says"),
    [
        ("expect: expect_column_values_to_be_in_set, column: sex, value_set: [F, M]", None),
        ("expect: expect_column_values_to_be_between, column: sum_age, min_value: 0", None),
        (
            "expect: expect_column_values_to_be_between, column: age, min_value: 0",
            "p.yaml:37:84: P302 column age does not exist in the file of release cells\nhint: did you mean sum_age?",
        ),
        (
            "expect: expect_column_values_to_be_between, column: count, min_value: few",
            "p.yaml:37:102: P450 min_value needs a whole number, got few\nhint: values are written as the column's type is",
        ),
        (
            "on: source, expect: expect_column_values_to_not_be_null, column: sex",
            (
                "p.yaml:37:36: P418 MORE looks at the source, and release cells is of kind table: its file alone is looked at\n"
                "hint: remove `on`, or name a release of another kind"
            ),
        ),
        (
            "expect: k, min: 3",
            (
                "p.yaml:37:25: P418 k measures rows about persons, and release cells is of kind table\n"
                "hint: name a release of kind microdata"
            ),
        ),
    ],
)
def test_a_check_on_a_table_looks_at_the_columns_of_its_file(
    folder: Folder, change: object, check: str, says: str | None
) -> None:
    text = change(("checks:", TABLE + "checks:"))  # type: ignore[operator]
    told = folder.check(text + f"  - {{id: MORE, release: cells, {check}}}\n")
    assert told == ([] if says is None else [says])


def test_an_environment_may_ask_more_of_a_check_and_not_less(folder: Folder, change: object) -> None:
    text = change((CHECK, IN_SET + ", mostly: 0.9"))  # type: ignore[operator]
    for mostly, fits in (("0.95", True), ("0.8", False)):
        over = f"environments:\n  ci:\n    checks: [{{id: UTIL-001, release: microdata, {IN_SET}, mostly: {mostly}}}]\n"
        found = folder.check(text + over, env="ci")
        assert (found == []) is fits, found
