"""`hierarchy` prints levels, numbers of labels and the smallest label, and no value."""

from __future__ import annotations

import csv
import io
from collections import Counter

import pytest

import privrelease.policy.hierarchies.files as files
from tests.unit.cli.conftest import POLICY, POLICY_HEAD

DATA = "id,area,job,pay\n" + "".join(f"{n},zaunkoenig-{n % 7},pip-{n % 3},{n * 11}\n" for n in range(40))
TREE = "".join(f"zaunkoenig-{n};{'quod' if n < 3 else 'yttrium'};all\n" for n in range(7))


@pytest.fixture
def hand(desk):
    desk.data(DATA)
    text = POLICY.replace(
        "area: {role: quasi, type: category}", "area: {role: quasi, type: category, hierarchy: {csv: tree.csv}}"
    )
    text = text.replace(
        "pay: {role: sensitive, type: integer}",
        "pay: {role: sensitive, type: integer, domain: [0, 500], hierarchy: {widths: [50, 100], top: 400}}",
    )
    desk.policy(text)
    (desk.folder / "tree.csv").write_text(TREE)
    return desk


def test_levels_and_numbers_of_labels_are_told_without_data(hand):
    said = hand("hierarchy", "policy.yaml", "--column", "area", "--format", "json")
    assert (said.code, [(one["level"], one["labels"], one["smallest"]) for one in said.json]) == (
        0,
        [(0, 7, None), (1, 2, None), (2, 1, None)],
    )
    said = hand("hierarchy", "policy.yaml", "--column", "pay", "--format", "json")
    # 0 to 399 in fifties and hundreds, and 400+
    assert [(one["level"], one["name"], one["labels"]) for one in said.json] == [
        (0, "as it is", 501),
        (1, "intervals of 50", 9),
        (2, "intervals of 100", 5),
    ]


def test_labels_of_the_data_and_the_smallest_of_each_level_are_those_of_a_count(hand):
    rows = list(csv.DictReader(io.StringIO(DATA)))
    chains = {line.split(";")[0]: line.split(";") for line in TREE.splitlines()}
    expected = []
    for level in range(3):
        sizes = Counter(chains[row["area"]][level] for row in rows)
        expected.append((level, len(sizes), min(sizes.values())))
    said = hand("hierarchy", "policy.yaml", "--column", "area", "--data", "--format", "json")
    assert [(one["level"], one["labels"], one["smallest"]) for one in said.json] == expected
    for option in ((), ("--format", "json")):
        said = hand("hierarchy", "policy.yaml", "--column", "area", "--data", *option)
        assert not any(name in said.out + said.err for name in ("zaunkoenig", "quod", "yttrium"))


def test_a_column_without_a_hierarchy_is_told_with_those_that_have_one(hand):
    said = hand("hierarchy", "policy.yaml", "--column", "job")
    assert said.code == 2
    assert (
        "C134 there is no column job with a hierarchy\nhint: name the dataset with --dataset; with a hierarchy: area of d, pay of d"
        in said.err
    )


BOTH = (
    POLICY_HEAD
    + """\
    population: made
    unit: {column: id, max_rows: 1}
    columns:
      id: {role: direct, type: string}
      age: {role: quasi, type: integer, domain: [20, 39], hierarchy: {widths: [10]}}
      town: {role: quasi, type: category, domain: [A, B]}
tables: {min_count: 5}
threats:
  T: {dataset: d, knows: [age, town], highest_risk: 0.2}
releases:
  - {id: rows, kind: microdata, from: d, protect: [T], transform: [{generalise: age}, {suppress: cells}], output: out/rows.csv}
  - {id: table, kind: table, from: d, by: [age], measures: [{count: true}], output: out/table.csv}
"""
)


@pytest.mark.parametrize(
    ("first", "second", "check"), [("rows", "table", "AUDIT-EARLIER-ROWS"), ("table", "rows", "AUDIT-EARLIER-INTERSECT")]
)
def test_labels_beside_a_table_are_left_to_a_person_whichever_is_first(desk, first, second, check):
    """A label counts persons of several cells together, and all of these cells but the suppressed one may be printed."""
    desk.data("id,age,town\n" + "".join(f"{n},{20 + n % 3},{'AB'[n % 2]}\n" for n in range(60)) + "60,25,A\n61,25,A\n")
    desk.policy(BOTH)
    assert desk.run("--release", first).code == 0
    said = desk.run("--release", second)
    assert said.code == 5
    assert f"{check} " in said.out + said.err
    assert "what recoded values (age) disclose" in said.out + said.err
    assert not (desk.folder / "out" / f"{second}.csv").exists()


def test_a_value_without_a_label_stops_it(hand):
    (hand.folder / "tree.csv").write_text(TREE.replace("zaunkoenig-6;yttrium;all\n", ""))
    said = hand("hierarchy", "policy.yaml", "--column", "area", "--data")
    assert said.code == 3
    assert "D256 column area: 1 value is not covered by its transform step (rows 7, 14, 21, 28, 35)" in said.err


@pytest.mark.parametrize("command", [("hierarchy", "policy.yaml", "--column", "area"), ("validate", "policy.yaml")])
def test_a_long_file_is_said_to_be_read_once_on_stderr(hand, monkeypatch, command):
    monkeypatch.setattr(files, "_LONG", len(TREE) - 1)
    for more, lines in (((), 1), (("--quiet",), 0)):
        files._made.cache_clear()
        said = hand(*command, *more)
        assert (said.code, said.err.count("reading tree.csv (0 MiB)\n"), "reading" in said.out) == (0, lines, False)
    monkeypatch.setattr(files, "_LONG", len(TREE))
    files._made.cache_clear()
    assert "reading" not in hand(*command).err
