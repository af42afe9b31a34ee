"""Our table of expectations against the classes of Great Expectations."""

from __future__ import annotations

import pytest

from privrelease.lean_imports import silence
from privrelease.relational.expectations import EXPECTATIONS, NOT_OFFERED, Expectation

#: What every expectation of the library has; none is a parameter of a policy.
COMMON = {
    "batch_id",
    "catch_exceptions",
    "condition_parser",
    "description",
    "id",
    "library_metadata",
    "meta",
    "notes",
    "rendered_content",
    "result_format",
    "row_condition",
    "severity",
    "windows",
}
#: Parameters that are left out, and why.
LEFT_OUT = {
    ("expect_column_quantile_values_to_be_between", "allow_relative_error"): "an estimate decides nothing",
    ("expect_table_column_count_to_be_between", "strict_min"): "the library does not read it",
    ("expect_table_column_count_to_be_between", "strict_max"): "the library does not read it",
}


@pytest.fixture(scope="module")
def library() -> dict[str, type]:
    with silence():
        from privrelease.engine.duckdb.auditing.great_expectations_source import _CLASSES
    return dict(_CLASSES)


def test_every_expectation_of_the_library_is_offered_or_refused_with_a_reason(library):
    # the library gives its deprecated name of compound uniqueness no name at all
    assert set(library) - {""} == (set(EXPECTATIONS) | set(NOT_OFFERED)) - {"expect_multicolumn_values_to_be_unique"}
    assert not set(EXPECTATIONS) & set(NOT_OFFERED)


@pytest.mark.parametrize("name", EXPECTATIONS)
def test_an_expectation_takes_the_parameters_of_the_library_and_needs_what_it_needs(library, name):
    fields = {key: field for key, field in library[name].__fields__.items() if key not in COMMON}
    form = EXPECTATIONS[name]
    assert set(fields) - set(form.parameters) <= {key for of, key in LEFT_OUT if of == name}
    assert set(form.parameters) <= set(fields)
    required = {key for key, field in fields.items() if field.required}
    # what the library leaves to a default that would check nothing must be written here
    assert required <= set(form.needs)
    assert set(form.needs) - required <= {"regex", "type_list", "column_list", "column_set"}


def test_the_columns_of_an_expectation_are_those_that_its_parameters_name():
    pair = Expectation("expect_column_pair_values_to_be_equal", (("column_A", "b"), ("column_B", "a")))
    listed = Expectation("expect_compound_columns_to_be_unique", (("column_list", ("x", "y")),))
    assert (pair.columns, listed.columns) == (("b", "a"), ("x", "y"))


def test_each_row_of_the_documentation_says_what_an_expectation_takes_and_who_decides():
    from pathlib import Path

    text = (Path(__file__).parents[3] / "docs" / "checks.md").read_text(encoding="utf-8")
    for form in EXPECTATIONS.values():
        decides = (
            "our count" if form.alone else "both" if form.counted or form.name == "expect_column_to_exist" else "the library"
        )
        needs, takes = (", ".join(names) or "—" for names in (form.needs, form.takes))
        assert f"| `{form.name}` | {needs} | {takes} | {decides} |" in text
