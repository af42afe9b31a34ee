from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from privrelease.policy.output.starter import starter_policy
from privrelease.relational.schema import ColumnType

if TYPE_CHECKING:
    from tests.unit.policy.conftest import Folder


def test_a_starter_loaded_as_it_is_lists_everything_that_is_open(folder: Folder) -> None:
    assert folder.check(starter_policy(["id", "age", "NO"], "data/patients.csv")) == [
        "p.yaml:22:17: P205 role of id is not decided: write direct, quasi, sensitive or insensitive",
        "p.yaml:23:18: P205 role of age is not decided: write direct, quasi, sensitive or insensitive",
        "p.yaml:24:19: P205 role of NO is not decided: write direct, quasi, sensitive or insensitive",
        (
            "p.yaml:27:3: P410 external sets no threshold: nothing would be protected\n"
            "hint: write `highest_risk`, `average_risk` or `records_at_risk`"
        ),
        "p.yaml:29:5: P203 knows must not be empty",
    ]


def test_a_starter_calls_no_column_safe() -> None:
    text = starter_policy(["a", "b"], "x.csv")
    said = "\n".join(line.split("#")[0] for line in text.splitlines())
    assert "insensitive" not in said
    assert said.count("role: ,") == 2


def test_a_starter_that_is_decided_loads(folder: Folder) -> None:
    text = starter_policy(["id", "age"], "data/my file.csv")
    text = text.replace("id: {role: ,", "id: {role: direct,").replace("age: {role: ,", "age: {role: quasi,")
    text = text.replace("knows: []", "knows: [age]").replace("highest_risk:  ", "highest_risk: 0.2 ")
    loaded, findings = folder.load(text)
    assert [finding.code for finding in findings] == ["P610"]
    assert loaded is not None
    assert loaded.policy.datasets["my-file"].source.path == "data/my file.csv"


def test_declared_types_are_taken_over_and_others_keep_every_cell(folder: Folder) -> None:
    text = starter_policy(["a", "b"], "x.parquet", types={"b": ColumnType.INTEGER})
    assert "a: {role: , type: string}" in text
    assert "b: {role: , type: integer}" in text
    assert "output: out/x.parquet" in text


def test_the_table_of_a_database_is_named(folder: Folder) -> None:
    findings = folder.check(starter_policy(["a"], "x.duckdb", table="my visits"))
    assert not [finding for finding in findings if "table" in finding]


@pytest.mark.parametrize(
    "name",
    [
        "a: b",
        "#",
        "- x",
        "{a}",
        '"',
        "'",
        "\\",
        "null",
        "~",
        "123",
        " a ",
        "é",
        "a\tb",
        "\u2028",
        "%",
        "*a",
        "&a",
        "!t",
        "[",
        "?",
    ],
)
def test_a_column_of_any_name_is_written_so_that_it_is_read_as_that_name(name: str, folder: Folder) -> None:
    findings = folder.check(starter_policy([name, "other"], "x.csv"))
    assert not [finding for finding in findings if " P10" in finding]
    undecided = [finding for finding in findings if " P205 " in finding or "is not a column name" in finding]
    assert len(undecided) >= 2


def test_a_header_that_names_a_column_twice_is_told(folder: Folder) -> None:
    findings = folder.check(starter_policy(["a", "A", "a"], "x.csv"))
    assert "p.yaml:24:7: P103 duplicate key a (lines 22 and 24)\nhint: keep one of the two" in findings
    assert any("P409 columns a and A differ only in case" in finding for finding in findings)
