"""Rules of outputs: where files may go."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.policy.rules.rule_table import SOURCE, TABLE, Rule, named

if TYPE_CHECKING:
    from collections.abc import Callable

OUT = "out/patients.parquet"

RULES = [
    Rule(
        "above the policy",
        ((OUT, "../patients.parquet"),),
        [
            "p.yaml:27:13: P403 ../patients.parquet is outside the policy's folder\nhint: move it below, or name its folder with --data-root",
        ],
        ((OUT, "out/../patients.parquet"),),
    ),
    Rule(
        "somewhere else on the machine",
        ((OUT, "/etc/patients.parquet"),),
        [
            "p.yaml:27:13: P403 /etc/patients.parquet is outside the policy's folder\nhint: move it below, or name its folder with --data-root",
        ],
        ((OUT, "etc/patients.parquet"),),
    ),
    Rule(
        "over the source",
        ((OUT, SOURCE),),
        [
            "p.yaml:27:13: P405 data/patients.csv would overwrite the source data/patients.csv\nhint: publish somewhere else",
        ],
        ((OUT, "data/patients-protected.csv"),),
    ),
    Rule(
        "over the source by another name",
        ((OUT, "data/../data/Patients.CSV"),),
        [
            "p.yaml:27:13: P405 data/../data/Patients.CSV would overwrite the source data/patients.csv, which differs only in case\nhint: publish somewhere else",
        ],
        ((OUT, "data2/patients.csv"),),
    ),
    Rule(
        "into a pattern of sources",
        (
            (SOURCE, "data/*.csv"),
            (OUT, "data/out.csv"),
        ),
        [
            "p.yaml:27:13: P405 data/out.csv would become part of the source data/*.csv\nhint: publish somewhere else",
        ],
        (
            (SOURCE, "data/*.csv"),
            (OUT, "data/out.parquet"),
        ),
    ),
    Rule(
        "over the policy",
        ((OUT, "{path: p.yaml, format: csv}"),),
        [
            "p.yaml:27:20: P405 p.yaml would overwrite the policy\nhint: publish somewhere else",
        ],
        ((OUT, "{path: q.yaml, format: csv}"),),
    ),
    Rule(
        "into the state folder",
        ((OUT, ".privrelease/x.csv"),),
        [
            "p.yaml:27:13: P405 .privrelease/x.csv is inside the state folder .privrelease\nhint: publish somewhere else",
        ],
        ((OUT, "privrelease/x.csv"),),
    ),
    Rule(
        "a kind that nobody writes",
        ((OUT, "out/patients.xlsx"),),
        [
            "p.yaml:27:13: P404 the kind of file does not follow from the suffix of out/patients.xlsx\nhint: write `format: csv`, `parquet` or `duckdb`",
        ],
        ((OUT, "{path: out/patients.xlsx, format: csv}"),),
    ),
    Rule(
        "a folder",
        ((OUT, "{path: out/, format: csv}"),),
        [
            "p.yaml:27:20: P404 out/ is a folder\nhint: name a file",
        ],
        ((OUT, "{path: out, format: csv}"),),
    ),
    Rule(
        "two outputs at one place",
        ((OUT, "[out/a.csv, out/A.csv]"),),
        [
            "p.yaml:27:25: P405 out/A.csv and out/a.csv differ only in case, so some systems take them for one\nhint: give each a path of its own",
        ],
        ((OUT, "[out/a.csv, out/b.csv]"),),
    ),
    Rule(
        "two outputs at one path",
        ((OUT, "[out/a.csv, out/b/../a.csv]"),),
        [
            "p.yaml:27:25: P405 two outputs go to out/a.csv\nhint: give each a path of its own",
        ],
        ((OUT, "[out/a.csv, b/a.csv]"),),
    ),
    Rule(
        "a name that is read in another direction",
        ((OUT, '"out/r\\u202Evsc.csv"'),),
        [
            "p.yaml:27:13: P420 out/r?vsc.csv holds an invisible character (U+202E)\nhint: give it a short name of letters that can be seen",
        ],
        ((OUT, "out/rückgabe-Ж-表.csv"),),
    ),
    Rule(
        "a name with a space of no width",
        ((OUT, '"out/r\\u200B.csv"'),),
        [
            "p.yaml:27:13: P420 out/r?.csv holds an invisible character (U+200B)\nhint: give it a short name of letters that can be seen",
        ],
        ((OUT, '"out/r .csv"'),),
    ),
    Rule(
        "a name with a control character",
        ((OUT, '"out/r\\u0007.csv"'),),
        [
            "p.yaml:27:13: P203 output is not a path: no control characters, at most 1000 characters",
        ],
        ((OUT, '"out/r7.csv"'),),
    ),
    Rule(
        "a name longer than file systems take",
        ((OUT, f"out/{'r' * 197}.csv"),),
        [
            f"p.yaml:27:13: P420 out/{'r' * 33}... has a name of 201 bytes, more than 200\nhint: give it a short name of letters that can be seen",
        ],
        ((OUT, f"out/{'r' * 196}.csv"),),
    ),
    Rule(
        "into a hidden folder",
        ((OUT, "{path: .git/hooks/x, format: csv}"),),
        [
            "p.yaml:27:20: P421 .git/hooks/x is hidden: .git begins with a dot\nhint: publish where it is seen",
        ],
        ((OUT, "{path: ./git/../hooks/x, format: csv}"),),
    ),
    Rule(
        "over the manifest beside it",
        ((OUT, "[out/a.csv, {path: out/a.manifest.json, format: csv}]"),),
        [
            "p.yaml:27:32: P422 out/a.manifest.json is where the manifest of release microdata goes\nhint: give it another name",
        ],
        ((OUT, "[out/a.csv, {path: out/b.manifest.json, format: csv}]"),),
    ),
    Rule(
        "two releases with one manifest",
        (("checks:\n", TABLE.replace("admissions.csv", "Patients.csv") + "checks:\n"),),
        [
            "p.yaml:35:13: P422 releases microdata and admissions would both have patients.manifest.json beside them, but for case\nhint: let the names differ before the suffix, or the folders",
        ],
        (("checks:\n", TABLE.replace("out/admissions.csv", "tables/patients.csv") + "checks:\n"),),
    ),
    Rule(
        "inside a source",
        ((OUT, "data/patients.csv/r.csv"),),
        [
            "p.yaml:27:13: P405 data/patients.csv/r.csv lies inside the source data/patients.csv\nhint: publish somewhere else",
        ],
        ((OUT, "data/patients/r.csv"),),
    ),
    Rule(
        "one sign between cells and in numbers",
        ((OUT, "{path: out/a.csv, decimal: ','}"),),
        [
            'p.yaml:27:40: P744 delimiter and decimal sign are both ,\nhint: write `delimiter: ";"` where the decimal sign is a comma',
        ],
        ((OUT, "{path: out/a.csv, decimal: ',', delimiter: ';'}"),),
    ),
    Rule(
        "no sign of any csv file",
        ((OUT, "{path: out/a.csv, delimiter: /}"),),
        ["""p.yaml:27:42: P744 no CSV file is cut into cells by /\nhint: write "," or ";" or "|" or "\\t\""""],
        ((OUT, '{path: out/a.csv, delimiter: "\\t"}'),),
    ),
    Rule(
        "signs of a csv file for another kind",
        ((OUT, "[{path: out/a.parquet, delimiter: ';'}, {path: out/a.duckdb, decimal: '.'}]"),),
        [
            "p.yaml:27:47: P745 a parquet file has no delimiter\nhint: remove `delimiter`, or publish a CSV file",
            "p.yaml:27:83: P745 a duckdb file has no decimal\nhint: remove `decimal`, or publish a CSV file",
        ],
        ((OUT, "[{path: out/a, format: csv, delimiter: '|'}, {path: out/a.parquet}]"),),
    ),
    Rule(
        "one output inside another",
        ((OUT, "[out.csv, out.csv/b.csv]"),),
        [
            "p.yaml:27:23: P405 out.csv/b.csv and out.csv lie inside each other\nhint: publish somewhere else",
        ],
        ((OUT, "[out.csv, out/b.csv]"),),
    ),
]


@pytest.mark.parametrize("rule", RULES, ids=named)
def test_a_broken_rule_is_told_at_its_place_and_a_kept_one_is_not(rule: Rule, tried: Callable[[Rule], None]) -> None:
    tried(rule)
