"""Expectations of a table by Great Expectations' own names: which there are, and what each takes. Values alone; no library is needed.

Left out: what takes SQL, another table or a schema of JSON from the policy, what needs the order of rows (a release is sorted by its values),
and what guesses a limit from the data. A test compares this table with the classes of Great Expectations.
Source: Great Expectations 1.24, ``great_expectations.expectations.core``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from privrelease.relational.schema import ColumnType
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["EXPECTATIONS", "NOT_OFFERED", "TYPES", "Counted", "Expectation", "ExpectationForm", "named"]

#: What a bound or a value is: of the column's own type, a whole number, a share, a number.
Kind = Literal["column", "whole", "share", "number"]


@dataclass(frozen=True, slots=True)
class ExpectationForm:
    """One expectation.

    ``needs``: parameters that must be there; ``takes``: that may. ``counted``: values, or rows, are looked at one by one, so that a share of
    them may fail (``mostly``) and failing ones are counted. ``alone``: Great Expectations cannot evaluate it on DuckDB: our count alone
    decides. ``values``: what its bounds and values are. ``of``: the columns that it can look at. ``missing``: it looks at missing
    values too.
    """

    name: str
    needs: tuple[str, ...]
    takes: tuple[str, ...] = ()
    counted: bool = False
    alone: bool = False
    values: Kind = "column"
    of: Literal["any", "text", "number", "ordered"] = "any"
    missing: bool = False

    @property
    def parameters(self) -> tuple[str, ...]:
        """Every parameter that may be written."""
        return (*self.needs, *self.takes)

    @property
    def a_bound_is_needed(self) -> bool:
        """Return True if one of ``min_value`` and ``max_value`` must be there."""
        return "min_value" in self.takes


@dataclass(frozen=True, slots=True)
class Expectation:
    """An expectation with its parameters, typed: texts, int, Decimal, bool, date, datetime, and tuples of these."""

    name: str
    parameters: tuple[tuple[str, object], ...] = ()

    @property
    def form(self) -> ExpectationForm:
        """Return what there is to know of all expectations of this name."""
        return EXPECTATIONS[self.name]

    @property
    def named(self) -> Mapping[str, object]:
        """The parameters by name."""
        return dict(self.parameters)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it looks at.

        >>> Expectation("expect_column_pair_values_to_be_equal", (("column_A", "a"), ("column_B", "b"))).columns
        ('a', 'b')
        """
        return named(self.parameters)


@dataclass(frozen=True, slots=True)
class Counted:
    """The native counts of an expectation: ``looked_at`` of ``rows`` (values, or rows), ``failing`` of those, and where the
    first failing rows are.

    ``failing`` None: nothing is counted of it, only whether it ``holds`` (None: the engine does not decide that).
    """

    rows: int
    looked_at: int
    failing: int | None = None
    holds: bool | None = None
    places: tuple[int, ...] = ()


def named(parameters: Iterable[tuple[str, object]]) -> tuple[str, ...]:
    """Return the columns that parameters name, in their order, each once."""
    found: list[str] = []
    for key, value in parameters:
        if key in {"column", "column_A", "column_B"}:
            found.append(str(value))
        elif key in {"column_list", "column_set"} and isinstance(value, tuple):
            found += map(str, value)
    return tuple(dict.fromkeys(found))


_BOUNDS: Final = ("min_value", "max_value", "strict_min", "strict_max")
_C: Final = ("column",)


def _of_column(name: str, *needs: str, takes: tuple[str, ...] = (), **other: object) -> ExpectationForm:
    return ExpectationForm(f"expect_column_{name}", (*_C, *needs), takes, **other)  # type: ignore[arg-type]  # fields by name


def _values(name: str, *needs: str, takes: tuple[str, ...] = (), **other: object) -> ExpectationForm:
    return _of_column(name, *needs, takes=(*takes, "mostly"), counted=True, **other)


_FORMS: Final = (
    # every value of a column
    _values("values_to_not_be_null", missing=True),
    _values("values_to_be_null", missing=True),
    _values("values_to_be_unique"),
    _values("values_to_be_in_set", "value_set"),
    _values("values_to_not_be_in_set", "value_set"),
    _values("values_to_be_between", takes=_BOUNDS, of="ordered"),
    _values("value_lengths_to_be_between", takes=_BOUNDS, values="whole", of="text"),
    _values("value_lengths_to_equal", "value", values="whole", of="text"),
    _values("values_to_match_regex", "regex", alone=True, of="text"),
    _values("values_to_not_match_regex", "regex", alone=True, of="text"),
    _values("values_to_match_regex_list", "regex_list", takes=("match_on",), alone=True, of="text"),
    _values("values_to_not_match_regex_list", "regex_list", alone=True, of="text"),
    _values("values_to_match_like_pattern", "like_pattern", takes=("escape",), alone=True, of="text"),
    _values("values_to_not_match_like_pattern", "like_pattern", takes=("escape",), alone=True, of="text"),
    _values("values_to_match_like_pattern_list", "like_pattern_list", takes=("match_on", "escape"), alone=True, of="text"),
    _values("values_to_not_match_like_pattern_list", "like_pattern_list", takes=("escape",), alone=True, of="text"),
    _values("values_to_match_strftime_format", "strftime_format", alone=True, of="text"),
    _values("values_to_be_of_type", "type_", alone=True),
    _values("values_to_be_in_type_list", "type_list", alone=True),
    # rows, by several columns
    ExpectationForm(
        "expect_column_pair_values_to_be_equal", ("column_A", "column_B"), ("ignore_row_if", "mostly"), counted=True
    ),
    ExpectationForm(
        "expect_column_pair_values_a_to_be_greater_than_b",
        ("column_A", "column_B"),
        ("or_equal", "ignore_row_if", "mostly"),
        counted=True,
        of="ordered",
    ),
    ExpectationForm(
        "expect_column_pair_values_to_be_in_set",
        ("column_A", "column_B", "value_pairs_set"),
        ("ignore_row_if", "mostly"),
        counted=True,
    ),
    ExpectationForm("expect_compound_columns_to_be_unique", ("column_list",), ("ignore_row_if", "mostly"), counted=True),
    ExpectationForm(
        "expect_select_column_values_to_be_unique_within_record", ("column_list",), ("ignore_row_if", "mostly"), counted=True
    ),
    ExpectationForm(
        "expect_multicolumn_sum_to_equal",
        ("column_list", "sum_total"),
        ("ignore_row_if", "mostly"),
        counted=True,
        of="number",
    ),
    # one figure of a column
    _of_column("distinct_values_to_be_in_set", "value_set"),
    _of_column("distinct_values_to_contain_set", "value_set"),
    _of_column("distinct_values_to_equal_set", "value_set"),
    _of_column("most_common_value_to_be_in_set", "value_set", takes=("ties_okay",)),
    _of_column("unique_value_count_to_be_between", takes=_BOUNDS, values="whole"),
    _of_column("proportion_of_unique_values_to_be_between", takes=_BOUNDS, values="share"),
    _of_column("proportion_of_non_null_values_to_be_between", takes=_BOUNDS, values="share", missing=True),
    _of_column("min_to_be_between", takes=_BOUNDS, of="ordered"),
    _of_column("max_to_be_between", takes=_BOUNDS, of="ordered"),
    _of_column("mean_to_be_between", takes=_BOUNDS, values="number", of="number"),
    _of_column("median_to_be_between", takes=_BOUNDS, values="number", of="number"),
    _of_column("stdev_to_be_between", takes=_BOUNDS, values="number", of="number"),
    _of_column("sum_to_be_between", takes=_BOUNDS, values="number", of="number"),
    _of_column("quantile_values_to_be_between", "quantile_ranges", values="number", of="number"),
    _of_column("value_z_scores_to_be_less_than", "threshold", "double_sided", takes=("mostly",), of="number"),
    # the table
    _of_column("to_exist", takes=("column_index",), missing=True),
    ExpectationForm("expect_table_row_count_to_equal", ("value",), values="whole", missing=True),
    ExpectationForm("expect_table_row_count_to_be_between", (), _BOUNDS, values="whole", missing=True),
    ExpectationForm("expect_table_column_count_to_equal", ("value",), values="whole", missing=True),
    ExpectationForm("expect_table_column_count_to_be_between", (), _BOUNDS[:2], values="whole", missing=True),
    ExpectationForm("expect_table_columns_to_match_ordered_list", ("column_list",), missing=True),
    ExpectationForm("expect_table_columns_to_match_set", ("column_set",), ("exact_match",), missing=True),
)

#: Every expectation that a policy can name.
EXPECTATIONS: Final[Mapping[str, ExpectationForm]] = {form.name: form for form in _FORMS}

_OF_ROWS: Final = "the rows of a release are sorted by their values"
_OF_TYPES: Final = "write expect_column_values_to_be_of_type"

#: Those of Great Expectations that a policy cannot name, and why.
NOT_OFFERED: Final[Mapping[str, str]] = {
    "expect_column_kl_divergence_to_be_less_than": "write distribution_shift",
    "expect_column_type_to_be": _OF_TYPES,
    "expect_column_values_to_be_dateutil_parseable": "a guessing reader decides nothing: write strftime_format",
    "expect_column_values_to_be_decreasing": _OF_ROWS,
    "expect_column_values_to_be_increasing": _OF_ROWS,
    "expect_column_values_to_be_json_parseable": "no column of a release holds JSON",
    "expect_column_values_to_match_json_schema": "no column of a release holds JSON",
    "expect_column_values_to_not_be_outliers": "its limit would come from the data: write min_value and max_value",
    "expect_multicolumn_values_to_be_equal": "write expect_column_pair_values_to_be_equal",
    "expect_multicolumn_values_to_be_unique": "write expect_compound_columns_to_be_unique",
    "expect_query_results_to_match_comparison": "no SQL is taken from a policy",
    "expect_table_row_count_to_equal_other_table": "a release is one table",
    "unexpected_rows_expectation": "no SQL is taken from a policy",
}

#: Names of types that a check of types may ask for: those of the policy, and of SQL.
TYPES: Final[Mapping[str, frozenset[ColumnType]]] = {
    **{kind.value: frozenset({kind}) for kind in ColumnType},
    **dict.fromkeys(("VARCHAR", "TEXT"), frozenset({ColumnType.STRING, ColumnType.CATEGORY})),
    **dict.fromkeys(("INTEGER", "BIGINT"), frozenset({ColumnType.INTEGER})),
    **dict.fromkeys(("DOUBLE", "DECIMAL"), frozenset({ColumnType.NUMBER})),
    "DATE": frozenset({ColumnType.DATE}),
    "TIMESTAMP": frozenset({ColumnType.DATETIME}),
    "BOOLEAN": frozenset({ColumnType.BOOLEAN}),
}
