"""Rules of datasets: domains, grids, formats, sources."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.policy.rules.rule_table import SOURCE, Rule, named

if TYPE_CHECKING:
    from collections.abc import Callable

RULES = [
    Rule(
        "a domain that ends before it starts",
        (("domain: [18, 85]", "domain: [85, 18]"),),
        [
            "p.yaml:12:41: P402 the domain of age ends before it starts: [85, 18]\nhint: write [18, 85]",
        ],
        (("domain: [18, 85]", "domain: [18, 18]"),),
    ),
    Rule(
        "a domain of the wrong type",
        (("domain: [18, 85]", "domain: [18, old]"),),
        [
            "p.yaml:12:54: P402 age needs a whole number in its domain, got old",
        ],
        (("domain: [18, 85]", "domain: [-5, 85]"),),
    ),
    Rule(
        "a range of texts",
        (("domain: [F, M]", "domain: {range: [F, M]}"),),
        [
            "p.yaml:13:42: P402 sex is of type category: it has no range\nhint: write `domain: [a, b, …]`",
        ],
        (("domain: [F, M]", "domain: {values: [F, M]}"),),
    ),
    Rule(
        "a value twice in a domain",
        (("domain: [F, M]", "domain: [F, M, F]"),),
        [
            "p.yaml:13:57: P408 F appears twice in the domain of sex\nhint: remove one",
        ],
        (("domain: [F, M]", "domain: [F, M, f]"),),
    ),
    Rule(
        "an empty domain",
        (("domain: [F, M]", "domain: []"),),
        [
            "p.yaml:13:42: P402 the domain of sex is empty: no value could be read",
        ],
        (("domain: [F, M]", "domain: [F]"),),
    ),
    Rule(
        "a bound off the grid",
        (("domain: [50, 400]", "domain: [50.05, 400]"),),
        [
            "p.yaml:14:57: P402 50.05 is not on the grid 0.1 of glucose",
        ],
        (("domain: [50, 400]", "domain: [50.1, 400]"),),
    ),
    Rule(
        "a grid on a text",
        (("type: category, domain: [F, M]", "type: category, grid: 1"),),
        [
            "p.yaml:13:48: P402 sex has a grid but is not a number\nhint: remove `grid`, or write `type: number`",
        ],
        (("type: category, domain: [F, M]", "type: number, grid: 1"),),
    ),
    Rule(
        "outside of no domain",
        (("type: category, domain: [F, M]", "type: category, outside: drop"),),
        [
            "p.yaml:13:51: P402 sex says what happens outside a domain but has none\nhint: write `domain`",
        ],
        (("type: category, domain: [F, M]", "type: category, domain: [F], outside: drop"),),
    ),
    Rule(
        "a date format on a number",
        (("type: integer, domain", "format: {date: '%d.%m.%Y'}, type: integer, domain"),),
        [
            "p.yaml:12:41: P401 age is of type integer: date says nothing about it\nhint: remove it, or correct the type",
        ],
        (("type: integer, domain: [18, 85]", "format: {date: '%d.%m.%Y'}, type: date"),),
    ),
    Rule(
        "a date format that depends on the machine",
        (("    unit:", "    format: {date: '%x'}\n    unit:"),),
        [
            "p.yaml:9:20: P203 date must be a date format such as %d.%m.%Y\nhint: allowed: %Y %y %m %d %H %M %S %f %j %b %B %%",
        ],
        (("    unit:", "    format: {date: '%d.%m.%y'}\n    unit:"),),
    ),
    Rule(
        "one sign for two things",
        (("    unit:", "    format: {decimal: ',', thousands: ','}\n    unit:"),),
        [
            "p.yaml:9:5: P401 format decimal and thousands must differ",
        ],
        (("    unit:", "    format: {decimal: ',', thousands: '.', delimiter: ;}\n    unit:"),),
    ),
    Rule(
        "an encoding that nobody knows",
        (("    unit:", "    format: {encoding: utf-9}\n    unit:"),),
        [
            (
                "p.yaml:9:5: P401 format encoding is unknown: utf-9\n"
                "hint: write utf-8, latin-1, cp1252, utf-16 or another encoding of Python"
            ),
        ],
        (("    unit:", "    format: {encoding: cp1252}\n    unit:"),),
    ),
    Rule(
        "columns that differ only in case",
        (("      sex:", "      Age: {role: insensitive, type: string}\n      sex:"),),
        [
            "p.yaml:13:7: P409 columns age and Age differ only in case\nhint: rename one of them in the source: an engine that folds case would take one for the other",
        ],
        (("      sex:", "      age2: {role: insensitive, type: string}\n      sex:"),),
    ),
    Rule(
        "a database without a table",
        ((SOURCE, "data/patients.duckdb"),),
        [
            "p.yaml:8:13: P404 a duckdb file needs `table`\nhint: write `source: {duckdb: data/patients.duckdb, table: …}`",
        ],
        ((SOURCE, "data/patients.duckdb\n    table: visits"),),
    ),
    Rule(
        "a table of a csv file",
        ((SOURCE, SOURCE + "\n    table: visits"),),
        [
            "p.yaml:8:13: P404 a csv file has no tables\nhint: remove `table`",
        ],
        ((SOURCE, "{duckdb: data/patients.csv, table: visits}"),),
    ),
    Rule(
        "a suffix of two meanings",
        ((SOURCE, "data/patients.db"),),
        [
            "p.yaml:8:13: P404 the kind of file does not follow from the suffix of data/patients.db\nhint: write `source: {csv: …}`, or parquet, duckdb, sqlite",
        ],
        ((SOURCE, SOURCE + ".gz"),),
    ),
    Rule(
        "a source outside",
        ((SOURCE, "../patients.csv"),),
        [
            "p.yaml:8:13: P403 ../patients.csv is outside the policy's folder\nhint: move it below, or name its folder with --data-root",
        ],
        ((SOURCE, "data/../patients.csv"),),
    ),
]


@pytest.mark.parametrize("rule", RULES, ids=named)
def test_a_broken_rule_is_told_at_its_place_and_a_kept_one_is_not(rule: Rule, tried: Callable[[Rule], None]) -> None:
    tried(rule)
