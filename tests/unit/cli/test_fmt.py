from __future__ import annotations

import io
from types import SimpleNamespace

from .conftest import POLICY

JUMBLED = POLICY.replace("title: Made-up\n", "").replace("threats:\n", "title: Made-up   \nthreats:\n")


def test_check_writes_nothing_and_a_second_run_changes_nothing(desk):
    desk.policy(JUMBLED)
    said = desk("fmt", "policy.yaml", "--check")
    assert (said.code, said.out) == (1, "would change  policy.yaml\n")
    assert (desk.folder / "policy.yaml").read_text(encoding="utf-8") == JUMBLED
    assert desk("fmt", "policy.yaml").out == "changed  policy.yaml\n"
    text = (desk.folder / "policy.yaml").read_text(encoding="utf-8")
    assert text.index("title:") < text.index("datasets:")
    assert desk("diff", "policy.yaml", "policy.yaml").out == ""
    assert (desk("fmt", "policy.yaml").out, desk("fmt", "policy.yaml", "--check").code) == ("", 0)


def test_a_folder_is_formatted_and_other_files_are_passed_over(desk):
    (desk.folder / "policies").mkdir()
    (desk.folder / "policies" / "a.yaml").write_text(JUMBLED, encoding="utf-8")
    (desk.folder / "policies" / "approvers.yaml").write_text("b: 1\na: 2   \n", encoding="utf-8")
    assert desk("fmt", "policies").out == "changed  policies/a.yaml\n"
    assert (desk.folder / "policies" / "approvers.yaml").read_text(encoding="utf-8") == "b: 1\na: 2   \n"


def test_nothing_is_written_where_one_is_no_yaml(desk):
    desk.policy(JUMBLED)
    (desk.folder / "b.yaml").write_text("a: [", encoding="utf-8")
    said = desk("fmt", "policy.yaml", "b.yaml")
    assert (said.code, "b.yaml:1:" in said.err) == (2, True)
    assert (desk.folder / "policy.yaml").read_text(encoding="utf-8") == JUMBLED
    assert desk("fmt", "absent.yaml").code == 3


def test_a_policy_on_stdin_goes_to_stdout(desk, monkeypatch):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(JUMBLED.encode())))
    said = desk("fmt", "-")
    assert said.code == 0
    assert said.out.index("title:") < said.out.index("datasets:")


def test_a_policy_that_extends_another_or_has_environments_is_in_order_inside_too(desk):
    written = (
        "id: a\nextends: b.yaml\ndatasets:\n  d:\n    columns:\n      area:\n        type: category\n        role: quasi\n    source: x.csv\n"
        "environments:\n  prod:\n    releases:\n      - id: r\n        protect: [t]\n        kind: microdata\n    threats:\n      t:\n"
        "        highest_risk: 0.1\n        dataset: d\n"
    )
    (desk.folder / "p.yaml").write_text(written, encoding="utf-8")
    assert desk("fmt", "p.yaml").code == 0
    lines = [line.strip() for line in (desk.folder / "p.yaml").read_text(encoding="utf-8").splitlines()]
    for first, second in (
        ("source: x.csv", "columns:"),
        ("role: quasi", "type: category"),
        ("threats:", "releases:"),
        ("dataset: d", "highest_risk: 0.1"),
        ("kind: microdata", "protect: [t]"),
    ):
        assert lines.index(first) < lines.index(second), (first, second)
    assert desk("fmt", "--check", "p.yaml").code == 0
