"""The files that a policy's hierarchies name are compared too: a label that stands for fewer values is no change of the policy's text."""

from __future__ import annotations

import io
from types import SimpleNamespace

import pytest

from tests.unit.cli.conftest import POLICY

COLUMN = "area: {role: quasi, type: category}"
FORMS = {
    "csv": ("{csv: f.csv}", "a;X\nb;X\n", "a;a1\nb;b1\n", "csv"),
    "parents": ("{parents: f.csv}", "a;X\nb;X\n", "a;Y\nb;Z\n", "parents"),
    "small": ("{prefix: [1], small: {file: f.csv, above: 9, label: '00'}}", "a,n\nx,5\n", "a,n\nx,50\n", "small.file"),
    "then": ("{prefix: [1], then: {parents: f.csv}}", "a;X1\nb;X1\n", "a;Y1\nb;Z1\n", "then.parents"),
}


@pytest.fixture
def sides(desk):
    assert COLUMN in POLICY

    def write(hierarchy, **contents):
        for folder, content in contents.items():
            (desk.folder / folder).mkdir(exist_ok=True)
            text = POLICY.replace(COLUMN, f"{COLUMN[:-1]}, hierarchy: {hierarchy}}}")
            (desk.folder / folder / "p.yaml").write_text(text, encoding="utf-8")
            (desk.folder / folder / "f.csv").write_bytes(content.encode())
        return desk

    return write


@pytest.mark.parametrize("form", FORMS)
def test_other_content_of_a_hierarchy_file_is_weaker_and_names_the_file(sides, form):
    hierarchy, old, new, key = FORMS[form]
    desk = sides(hierarchy, one=old, two=new, same=old.replace("\n", "\r\n"))
    said = desk("diff", "one/p.yaml", "two/p.yaml", "--fail-on", "weaker")
    assert said.code == 1
    assert f"columns.area.hierarchy.{key}: f.csv has other content" in said.out
    assert "weaker: " in said.out
    assert "nothing changed" in desk("diff", "one/p.yaml", "same/p.yaml", "--fail-on", "weaker").err
    (only,) = desk("diff", "one/p.yaml", "two/p.yaml", "--format", "json").json["changes"]
    assert only["effect"] == "weaker"
    for written in ("markdown", "github"):
        assert "f.csv has other content" in desk("diff", "one/p.yaml", "two/p.yaml", "--format", written).out


def test_a_policy_on_stdin_has_no_files_beside_it_to_compare(sides, monkeypatch):
    desk = sides(FORMS["csv"][0], one=FORMS["csv"][1])
    text = (desk.folder / "one" / "p.yaml").read_bytes()
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(text)))
    said = desk("diff", "-", "one/p.yaml", "--fail-on", "weaker")
    assert said.code == 1
    assert "weaker: " in said.out
    assert "f.csv was not compared: one policy is read from stdin" in said.out
