"""Releases of one source together, through the real command line."""

from __future__ import annotations

import shutil

import pytest

CASE = "e01-two-extracts-joined-on-a-pseudonym"
KEY = {"PKEY": "k" * 40, "OTHER": "o" * 40}


@pytest.fixture
def e01(case, shared):
    shutil.copy(shared / "cases" / CASE / "policy.yaml", case.folder / "policy.yaml")
    (case.folder / "policy.yaml").chmod(0o644)
    case.environment.update(KEY)
    return case


def changed(case, *pairs):
    path = case.folder / "policy.yaml"
    text = path.read_text(encoding="utf-8")
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")


def test_two_extracts_that_share_a_pseudonym_are_joined_on_it_and_the_second_fails(e01):
    ran = e01("run", "policy.yaml")
    assert ran.code == 1
    assert "AUDIT-EARLIER-INTERSECT" in ran.err
    assert "with a (run" in ran.err
    assert "50 persons can be singled out among fewer than 5 (smallest 1)" in ran.err
    assert "judged together and holds" not in ran.out + ran.err
    assert (e01.folder / "out" / "a.csv").exists()
    assert not (e01.folder / "out" / "b.csv").exists()
    again = e01("run", "policy.yaml", "--release", "a")
    assert again.code == 0, again.err


@pytest.mark.parametrize(
    "pairs",
    [
        pytest.param(
            [
                (
                    "columns: [pid, reg, diag], protect: [all], transform: [{pseudonymise: [pid], key: PKEY}",
                    "columns: [pid, reg, diag], protect: [all], transform: [{pseudonymise: [pid], key: OTHER}",
                )
            ],
            id="other key",
        ),
        pytest.param(
            [
                (
                    "columns: [pid, age, sex], protect: [all], transform: [{pseudonymise: [pid], key: PKEY}, ",
                    "columns: [age, sex], protect: [all], transform: [",
                )
            ],
            id="one without it",
        ),
    ],
)
def test_where_nothing_links_the_files_that_is_said_and_no_one_is_told_that_they_hold_together(e01, pairs):
    changed(e01, *pairs)
    ran = e01("run", "policy.yaml")
    assert ran.code == 0, ran.err
    section = e01.audit()["sections"]["7"]
    assert [one["looked"] for one in section["releases"]] == ["nothing_shared"]
    assert section["verdict"] == "unlinked"
    for name in ("b.report.html",):
        page = (e01.folder / "out" / name).read_text(encoding="utf-8")
        assert "Nothing in the files links their records" in page
        assert "and holds" not in page


def test_another_order_and_another_name_of_the_policy_change_nothing(e01):
    assert e01("run", "policy.yaml", "--release", "b").code == 0
    changed(e01, ("id: e01", "id: renamed"), ("title: two extracts", "title: others"))
    ran = e01("run", "policy.yaml", "--release", "a")
    assert ran.code == 1
    assert "with b (run" in ran.err
