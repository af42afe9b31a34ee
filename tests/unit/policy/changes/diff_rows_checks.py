"""What every change of checks and attacks must read as."""

from __future__ import annotations

from typing import Any

from tests.unit.policy.changes.diff_keys import Base, Row, rows
from tests.unit.policy.changes.diff_rows_data import DATA

CHECKED: Base = DATA | {"threats": {"t": DATA["threats"]["t"], "u": DATA["threats"]["u"]}}
C = "checks.c"


def checks(expect: str, key: str, first: Any, second: Any, verdicts: str, **takes: Any) -> list[Row]:
    """One key of one check."""
    given = takes.pop("given", ())
    check = {"release": "m", "expect": expect, **takes}
    return rows(CHECKED, f"{C}.{key}", (first, second), verdicts, given=((C, check), *given))


def columns(name: str, key: str, first: Any, second: Any, verdicts: str, **takes: Any) -> list[Row]:
    """One key of an expectation of one column."""
    return checks(f"expect_column_{name}", key, first, second, verdicts, **{"column": "sex", **takes})


def attacks(at: str, first: Any, second: Any, verdicts: str, **other: Any) -> list[Row]:
    return rows(ATTACKED, at, (first, second), verdicts, **other)


PAIR = {"column_A": "sex", "column_B": "town"}
DROPPED = (("releases.m.transform", [{"suppress": "cells", "limit": "0.05"}]),)
CHECKS: list[Row] = [
    *rows(CHECKED, "checks.new", ({"release": "m", "expect": "rows", "min": "10"}, None), "added S removed W"),
    *checks(
        "rows",
        "release",
        "m",
        "n",
        "altered W",
        min="10",
        given=(("releases.n", DATA["releases"]["m"] | {"output": "out/n.csv"}),),
    ),
    *checks("rows", "expect", "rows", "classes", "altered W", min="10"),
    *columns("values_to_be_unique", "on", "release", "source", "on W off W"),
    *checks("suppressed_cells", "max", "0.05", "0.1", "raised W lowered S", min="0"),
    *checks("suppressed_cells", "max", "0.05", None, "added S removed W", min="0.01"),
    *checks("suppressed_cells", "min", "0.01", "0.02", "added S raised S lowered W removed W", max="0.05"),
    *checks("rows", "severity", "warn", "error", "on S off W", min="10"),
    # the worst of all protected threats where none is named
    *checks("k", "threat", "t", "u", "added W altered W removed W", min="2", given=(("releases.m.protect", "[t, u]"),)),
    *checks("suppressed_cells", "column", "age", "sex", "added W altered W removed W", max="0.05"),
    # more columns together are never closer
    *checks("marginal_error", "columns", "[age]", "[age, sex]", "more S fewer W", max="0.05"),
    *checks("marginal_error", "columns", "[age, sex]", "[sex, age]", "reordered N", max="0.05"),
    *checks("l_diversity", "kind", "distinct", "entropy", "on S off W", column="sex", min="2"),
    *checks("l_diversity", "kind", "distinct", None, "added N removed N", column="sex", min="2"),
    *checks("l_diversity", "kind", "entropy", None, "added S removed W", column="sex", min="2"),
    *(
        Row(
            CHECKED,
            f"{C}.kind",
            *sides,
            "weaker",
            given=((C, {"release": "m", "expect": "l_diversity", "column": "sex", "min": "2"}),),
            beside=(f"{C}.c",),
            **{only: ((f"{C}.c", "2"),)},
        )
        for other in ("distinct", "entropy")
        for sides, only in (((other, "recursive"), "only_new"), (("recursive", other), "only_old"))
    ),
    *checks("l_diversity", "c", "2", "3", "raised W lowered S", column="sex", min="2", kind="recursive"),
    # places in an order are never further apart than values that are all equally far apart
    *checks("t_closeness", "distance", "ordered", "equal", "added W on S off W removed S", column="glucose", max="0.2"),
    *checks("t_closeness", "distance", "equal", None, "added S removed W", column="glucose", max="0.2"),
    *checks("rows", "description", "a", "b", "added N altered N removed N", min="10"),
]
EXPECTATIONS: list[Row] = [
    *columns("values_to_be_unique", "mostly", "0.9", "0.95", "added W raised S lowered W removed S"),
    *columns("values_to_be_in_set", "value_set", "[F]", "[F, M]", "more W fewer S"),
    *columns("values_to_be_in_set", "value_set", "[F, M]", "[M, F]", "reordered N"),
    *columns("values_to_not_be_in_set", "value_set", "[F]", "[F, M]", "more S fewer W"),
    *columns("distinct_values_to_contain_set", "value_set", "[F]", "[F, M]", "more S fewer W"),
    *columns("distinct_values_to_equal_set", "value_set", "[F]", "[F, M]", "more W fewer W"),
    *columns("values_to_be_between", "min_value", "2", "10", "added S altered S removed W", column="glucose", max_value="90"),
    *columns("values_to_be_between", "min_value", "10", "2", "altered W", column="glucose", max_value="90"),
    *columns("values_to_be_between", "max_value", "9", "10", "added S altered W removed W", column="glucose", min_value="1"),
    *columns("values_to_be_between", "max_value", "10", "9", "altered S", column="glucose", min_value="1"),
    *columns(
        "values_to_be_between", "strict_min", "false", "true", "added N on S off W removed N", column="glucose", min_value="1"
    ),
    *columns(
        "values_to_be_between", "strict_max", "false", "true", "added N on S off W removed N", column="glucose", max_value="1"
    ),
    *columns("value_lengths_to_equal", "value", "1", "2", "altered W"),
    *columns("values_to_match_regex", "regex", "a", "b", "altered W"),
    *columns("values_to_match_regex_list", "regex_list", "[a]", "[a, b]", "more W fewer S"),
    *columns("values_to_match_regex_list", "regex_list", "[a]", "[a, b]", "more S fewer W", match_on="all"),
    *columns("values_to_not_match_regex_list", "regex_list", "[a]", "[a, b]", "more S fewer W"),
    *columns("values_to_match_like_pattern", "like_pattern", "a", "b", "altered W"),
    *columns("values_to_match_like_pattern_list", "like_pattern_list", "[a]", "[a, b]", "more W fewer S"),
    *columns("values_to_not_match_like_pattern_list", "like_pattern_list", "[a]", "[a, b]", "more S fewer W"),
    *columns("values_to_match_regex_list", "match_on", "any", "all", "added N on S off W removed N", regex_list="[a, b]"),
    *columns("values_to_match_regex_list", "match_on", "all", None, "added S removed W", regex_list="[a, b]"),
    *columns("values_to_match_like_pattern", "escape", "'!'", "'#'", "added W altered W removed W", like_pattern="a"),
    *columns("values_to_match_strftime_format", "strftime_format", '"%d"', '"%m"', "altered W"),
    *columns("values_to_be_of_type", "type_", "category", "string", "altered W"),
    *columns("values_to_be_in_type_list", "type_list", "[category]", "[category, string]", "more W fewer S"),
    *checks("expect_column_pair_values_to_be_equal", "column_A", "sex", "town", "altered W", column_B="sex", given=DROPPED),
    *checks("expect_column_pair_values_to_be_equal", "column_B", "sex", "town", "altered W", column_A="sex", given=DROPPED),
    # several columns make rows unique more easily; a row in which more columns differ is harder to have
    *checks("expect_compound_columns_to_be_unique", "column_list", "[age, sex]", "[age, sex, glucose]", "more W fewer S"),
    *checks(
        "expect_select_column_values_to_be_unique_within_record",
        "column_list",
        "[glucose, weight]",
        "[glucose, weight, factor]",
        "more S fewer W",
    ),
    *checks("expect_table_columns_to_match_set", "column_set", "[age]", "[age, sex]", "more W fewer W"),
    *checks("expect_table_columns_to_match_set", "column_set", "[age]", "[age, sex]", "more S fewer W", exact_match="false"),
    *columns("to_exist", "column_index", "0", "1", "added S altered W removed W"),
    *checks("expect_table_columns_to_match_set", "exact_match", "false", "true", "on S off W", column_set="[age]"),
    # where it is not written, no other column may be there
    *checks("expect_table_columns_to_match_set", "exact_match", "true", None, "added N removed N", column_set="[age]"),
    *checks("expect_table_columns_to_match_set", "exact_match", "false", None, "added W removed S", column_set="[age]"),
    *checks(
        "expect_column_pair_values_a_to_be_greater_than_b",
        "or_equal",
        "true",
        "false",
        "added W on S off W removed S",
        column_A="weight",
        column_B="factor",
    ),
    *checks(
        "expect_column_pair_values_to_be_equal",
        "ignore_row_if",
        "neither",
        "either_value_is_missing",
        "added W altered W removed W",
        column_A="weight",
        column_B="factor",
    ),
    *checks(
        "expect_column_pair_values_to_be_in_set",
        "value_pairs_set",
        "[[F, x]]",
        "[[F, x], [M, x]]",
        "more W fewer S",
        **PAIR,
        given=DROPPED,
    ),
    *checks("expect_multicolumn_sum_to_equal", "sum_total", "1", "2", "raised W lowered W", column_list="[weight, factor]"),
    *columns("most_common_value_to_be_in_set", "ties_okay", "true", "false", "added W on S off W removed S", value_set="[F]"),
    *columns(
        "value_z_scores_to_be_less_than", "threshold", "2", "3", "raised W lowered S", column="glucose", double_sided="true"
    ),
    *columns("value_z_scores_to_be_less_than", "double_sided", "false", "true", "on S off W", column="glucose", threshold="3"),
    *columns(
        "quantile_values_to_be_between",
        "quantile_ranges.quantiles",
        "[0.5]",
        "[0.6]",
        "altered W",
        column="glucose",
        quantile_ranges={"value_ranges": "[[1, 2]]"},
    ),
    *columns(
        "quantile_values_to_be_between",
        "quantile_ranges.value_ranges",
        "[[1, 2]]",
        "[[1, 3]]",
        "altered W",
        column="glucose",
        quantile_ranges={"quantiles": "[0.5]"},
    ),
]
ATTACKED: Base = CHECKED | {
    "releases": DATA["releases"] | {"n": DATA["releases"]["m"] | {"output": "out/n.csv"}},
    "attacks": {
        "control": "data/control.csv",
        "singling_out": {"max_risk": "0.1"},
        "linkability": {"max_risk": "0.1"},
        "inference": {"target": "[glucose]", "max_risk": "0.1"},
        "record_linkage": {"max_risk": "0.1"},
        "membership": {"max_advantage": "0.1"},
    },
}
A = "attacks"
NOT_MEMBERSHIP = ((f"{A}.membership", None),)
ATTACKS: list[Row] = [
    *rows(CHECKED, A, ({"singling_out": {"max_risk": "0.1"}}, None), "added S removed W"),
    # every release where none is named
    *attacks(f"{A}.releases", "[m]", "[m, n]", "added W more S fewer W removed S"),
    # with a control a limit is easier to keep, and who knows how hard another file makes it
    *attacks(f"{A}.control", "data/a.csv", "data/b.csv", "added W altered W removed W", given=NOT_MEMBERSHIP),
    *attacks(f"{A}.sample", "100", "200", "raised S lowered W"),
    *attacks(f"{A}.confidence", "0.9", "0.95", "raised S lowered W"),
    *attacks(f"{A}.closest_record", "true", "false", "on N off N"),
    *(
        row
        for attack, needs in (
            ("singling_out", {}),
            ("linkability", {}),
            ("inference", {"target": "glucose"}),
            ("record_linkage", {}),
            ("membership", {}),
        )
        for row in (
            *attacks(f"{A}.{attack}", {**needs, "max_risk": "0.1"}, None, "added S removed W"),
            *(
                one
                for key in ("max_risk", "max_advantage")
                for one in attacks(
                    f"{A}.{attack}.{key}",
                    "0.1",
                    "0.2",
                    "added S raised W lowered S removed W",
                    given=(
                        (f"{A}.{attack}.max_risk", None),
                        (f"{A}.{attack}.max_advantage", None),
                        (f"{A}.{attack}.{'max_advantage' if key == 'max_risk' else 'max_risk'}", "0.3"),
                    ),
                )
            ),
        )
    ),
    # another predicate may match more or fewer records
    *attacks(f"{A}.singling_out.combine", "2", "3", "raised W lowered W"),
    *attacks(f"{A}.linkability.columns", "[[age], [glucose]]", "[[age, sex], [glucose]]", "added W altered W removed W"),
    *attacks(f"{A}.linkability.auxiliary", "data/a.csv", "data/b.csv", "added W altered W removed W"),
    *attacks(f"{A}.inference.target", "[glucose]", "[glucose, weight]", "more S fewer W"),
    *attacks(f"{A}.inference.target", "[glucose]", "[weight]", "altered W"),
    # the nearest record by more columns is another one: it may be further from the truth
    *(
        row
        for attack in ("inference", "record_linkage", "membership")
        for row in attacks(f"{A}.{attack}.knows", "[age]", "[age, sex]", "added W more W fewer W removed W")
    ),
    *attacks(f"{A}.inference.tolerance", "0.1", "0.2", "raised W lowered W"),
]
