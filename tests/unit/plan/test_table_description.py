"""What a run keeps of a table is the plan of it: all but its outputs, and where its source is."""

from __future__ import annotations

import json
from dataclasses import fields, replace

import pytest
from pydantic import ValidationError

from privrelease.disclosure.tables.rules import CellRules
from privrelease.plan.build import build_plan
from privrelease.plan.tables.description import described, plan_described, plan_of_same_source
from privrelease.plan.tables.plan import TablePlan
from privrelease.policy.loader import load_policy
from privrelease.relational.filters import parse_filter
from privrelease.relational.schema import ColumnType
from privrelease.release.table_description import TableDescription

POLICY = """\
apiVersion: privrelease/v1
kind: ReleasePolicy
id: wards
version: 1.0.0
title: Wards
datasets:
  d:
    source: d.csv
    format: {delimiter: ";", decimal: ",", date: "%d.%m.%Y", missing: [NA], encoding: latin-1}
    population: P
    snapshot: 2026-Q3
    unit: {column: id, max_rows: 3}
    unlisted_columns: drop
    columns:
      id: {role: direct, type: string}
      ward: {role: quasi, type: category, domain: [A, B], format: {aliases: {a: A}, normalise: [nfc, trim]}}
      sex: {role: sensitive, type: category, domain: [f, m]}
      age: {role: quasi, type: integer, domain: [18, 85], outside: drop}
      born: {role: quasi, type: date}
      cost: {role: insensitive, type: number, domain: [0, 400], grid: 0.01}
      other: {role: insensitive, type: string, category: special}
releases:
  - id: cells
    kind: table
    from: d
    by: [ward, sex]
    where: "born > '1950-01-02' AND NOT (cost >= 10.5 OR age IN (20, 21)) AND ward IS NOT NULL"
    impossible: "ward = 'A' AND sex = 'm'"
    measures: [{count: true}, {sum: cost}, {mean: cost}]
    round_up: 5
    margins: true
    protect: &rules {min_count: 5, dominance: [2, 0.85], p_percent: 0.1, interval: 0.05, class_disclosure: false}
    output: out/cells.csv
  - {id: plain, kind: table, from: d, by: [sex], measures: [{count: true}], margins: false, protect: *rules, output: out/plain.csv}
"""
#: Fields of a plan that say where things are and who gets them; columns are compared by themselves.
ELSEWHERE = {
    "source",
    "sinks",
    "snapshot",
    "population_id",
    "recipients",
    "recipients_hold_previous",
    "checks",
    "location",
    "lists",
    "prefer",
}


@pytest.fixture
def plans(tmp_path):
    (tmp_path / "p.yaml").write_text(POLICY, encoding="utf-8")
    return build_plan(load_policy(tmp_path / "p.yaml")).releases


@pytest.mark.parametrize("number", [0, 1])
def test_a_description_gives_the_plan_back(plans, number):
    plan = plans[number]
    kept = TableDescription.model_validate_json(described(plan).model_dump_json())
    assert kept == described(plan)
    again = plan_described(kept, plan.source.path)
    for one in fields(TablePlan):
        if one.name not in ELSEWHERE:
            assert getattr(again, one.name) == getattr(plan, one.name), one.name
    bare = [
        [replace(column, category=None, links=None) for column in side] for side in (plan.source.columns, plan.source.unread)
    ]
    assert again.source == replace(plan.source, columns=tuple(bare[0]), unread=tuple(bare[1]), location=None)
    assert (again.class_check, again.columns, again.query) == (plan.class_check, plan.columns, plan.query)
    assert described(again) == kept


def test_a_description_says_nothing_of_where_files_are(plans, tmp_path):
    assert str(tmp_path) not in described(plans[0]).model_dump_json()


def test_a_table_of_the_same_source_is_read_under_the_rules_of_another(plans):
    cells, plain = plans[0], replace(plans[1], rules=CellRules(3))
    found = plan_of_same_source(described(cells), plain)
    assert (found.where, found.keys, found.measures, found.round_up) == (cells.where, cells.keys, cells.measures, 5)
    assert found.rules == plain.rules
    assert {column.name for column in found.source.columns} >= {"ward", "sex", "cost", "born", "age", "id"}
    lacking = tuple(column for column in plain.source.declared if column.name != "born")
    assert (
        plan_of_same_source(described(cells), replace(plain, source=replace(plain.source, columns=lacking, unread=()))) is None
    )
    texts = tuple(replace(column, type=ColumnType.STRING) for column in plain.source.declared)
    assert plan_of_same_source(described(cells), replace(plain, source=replace(plain.source, columns=texts, unread=()))) is None


@pytest.mark.parametrize(
    "change",
    [
        {"by": ["ward"]},
        {"by": ["ward", "none"]},
        {"keys": [["A"], []]},
        {"where": ["=", "none", ["text", "A"]]},
        {"where": ["=", "ward", ["text"]]},
        {"where": "ward = 'A'"},
        {"round_up": 0},
        {"rules": {"min_count": 2}},
        {"rules": {"min_count": 3, "p_percent": "1/0"}},
        {"measures": []},
        {"measures": [{"kind": "sum", "name": "sum_cost"}]},
        {"measures": [{"kind": "sum", "name": "sum_none", "column": "none"}]},
        {"measures": [{"kind": "count", "name": "count", "grid": "0"}]},
        {"more": 1},
    ],
)
def test_what_is_no_description_is_refused(plans, change):
    written = {**json.loads(described(plans[0]).model_dump_json()), **change}
    with pytest.raises(ValidationError):
        TableDescription.model_validate(written)


def test_a_filter_is_kept_as_it_was_written(plans):
    types = {column.name: column.type for column in plans[0].source.declared}
    where = parse_filter("age BETWEEN 20 AND 30 OR cost = -0.5", types)
    plan = replace(plans[0], where=where)
    assert plan_described(described(plan), "d.csv").where == where
