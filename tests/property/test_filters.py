"""Filters: any text is either a filter over declared columns or refused; what is accepted means what Python says it means."""

from __future__ import annotations

import operator

from hypothesis import given, settings
from hypothesis import strategies as st

from privrelease.relational.filters import (
    Among,
    Both,
    Comparison,
    Either,
    FilterFault,
    Missing,
    Negated,
    columns_of,
    parse_filter,
)
from privrelease.relational.schema import ColumnType
from tests.depth import depth

COLUMNS = {
    "age": ColumnType.INTEGER,
    "sex": ColumnType.CATEGORY,
    "x": ColumnType.NUMBER,
    "on": ColumnType.BOOLEAN,
    "day": ColumnType.DATE,
}
PIECES = st.sampled_from(
    [
        "age",
        "sex",
        "x",
        '"on"',
        "day",
        '"age"',
        "'F'",
        "'it''s'",
        "1",
        "-2",
        "0.5",
        "1e3",
        "NULL",
        "true",
        "AND",
        "OR",
        "NOT",
        "IN",
        "BETWEEN",
        "IS",
        "=",
        "<>",
        "<",
        "<=",
        ">=",
        "(",
        ")",
        ",",
        ";",
        "--",
        "/*",
        "*/",
        "*",
        "+",
        "::",
        ".",
        "$1",
        "?",
        "SELECT",
        "FROM",
        "WHERE",
        "UNION",
        "LIMIT",
        "CASE",
        "WHEN",
        "THEN",
        "END",
        "EXISTS",
        "random()",
        "pg_sleep(9)",
        "read_csv('a')",
        "LIKE",
        "ESCAPE",
        "CAST",
        "AS",
        "DATE",
        "INTERVAL",
        "[",
        "]",
        "{",
        "}",
        "@",
        "#",
        "\\",
        "ATTACH",
        "COPY",
        "PRAGMA",
        "LATERAL",
        "QUALIFY",
        "OVER",
        "FILTER",
        "COLLATE",
        "ANY",
        "ALL",
        "\n",
    ]
)
OPERATORS = {"=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


@settings(max_examples=depth(150, 400), deadline=None)
@given(st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=14).map(" ".join)))
def test_any_text_is_a_filter_of_declared_columns_or_refused_in_words(text: str) -> None:
    said: tuple[str, str] | None = None
    found = None
    try:
        found = parse_filter(text, COLUMNS)
    except FilterFault as fault:
        said = fault.message, fault.hint
    assert all(said) if said is not None else columns_of(found) <= set(COLUMNS)


literals = st.one_of(
    st.integers(-5, 5).map(lambda n: ("age", n, str(n))),
    st.sampled_from(["F", "M", "it's"]).map(lambda s: ("sex", s, "'" + s.replace("'", "''") + "'")),
)


def trees(children):
    return st.one_of(
        children.map(lambda one: (Negated(one[0]), f"NOT ({one[1]})")),
        st.tuples(children, children).map(lambda two: (Both(two[0][0], two[1][0]), f"({two[0][1]}) AND ({two[1][1]})")),
        st.tuples(children, children).map(lambda two: (Either(two[0][0], two[1][0]), f"({two[0][1]}) OR ({two[1][1]})")),
    )


leaves = st.one_of(
    st.tuples(literals, st.sampled_from(sorted(OPERATORS))).map(
        lambda one: (Comparison(one[0][0], one[1], one[0][1]), f"{one[0][0]} {one[1]} {one[0][2]}")
    ),
    literals.map(lambda one: (Among(one[0], (one[1],)), f'"{one[0]}" IN ({one[2]})')),
    st.sampled_from(["age", "sex"]).map(lambda name: (Missing(name), f"{name} IS NULL")),
)


@settings(max_examples=depth(60, 150), deadline=None)
@given(st.recursive(leaves, trees, max_leaves=6))
def test_a_filter_that_is_written_is_read_back_the_same(pair) -> None:
    tree, text = pair
    assert parse_filter(text, COLUMNS) == tree
