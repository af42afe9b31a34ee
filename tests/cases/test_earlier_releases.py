"""Releases about persons of whom something was published before, through the real command line."""

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
    section = e01.audit()["earlier"]
    assert [one["looked"] for one in section["releases"]] == ["nothing_shared"]
    assert section["verdict"] == "unlinked"
    for name in ("b.report.html",):
        page = (e01.folder / "out" / name).read_text(encoding="utf-8")
        assert "Nothing in the files links their records" in page
        assert "and holds" not in page


@pytest.mark.anew
def test_another_order_and_another_name_of_the_policy_change_nothing(e01):
    assert e01("run", "policy.yaml", "--release", "b").code == 0
    changed(e01, ("id: e01", "id: renamed"), ("title: two extracts", "title: others"))
    ran = e01("run", "policy.yaml", "--release", "a")
    assert ran.code == 1
    assert "with b (run" in ran.err


@pytest.mark.case("e03-no-earlier-releases-known")
def test_a_fresh_state_folder_parks_the_next_release_and_says_how_to_bring_the_runs(case):
    """e03: publish, delete the state folder (as on a fresh runner), publish a version with one more person."""
    policy = (case.expected.parent / "policy.yaml").read_text(encoding="utf-8")
    (case.folder / "policy.yaml").write_text(policy, encoding="utf-8")
    first = case("run", "policy.yaml")
    assert first.code == 0, first.err
    assert "No earlier release of the same persons was known" in (case.folder / "out/m.report.html").read_text(encoding="utf-8")
    shutil.rmtree(case.folder / ".privrelease")
    source = case.folder / "input.csv"
    header, row, *_ = source.read_text(encoding="utf-8").splitlines()
    cells = row.split(",")
    cells[header.split(",").index("id")] = "joined"
    source.write_text(source.read_text(encoding="utf-8").rstrip("\n") + "\n" + ",".join(cells) + "\n", encoding="utf-8")
    second = case("run", "policy.yaml")
    assert second.code == 5, second.err
    assert "A291" in second.err
    assert "--state" in second.err
    assert case.audit()["earlier"]["verdict"] == "unknown"
    (parked,) = case.folder.glob(".privrelease/runs/*")
    editions = [parked / "internal" / "report.html", parked / "outgoing" / "m.report.html"]
    for edition in editions:
        page = edition.read_text(encoding="utf-8")
        assert "judged together with earlier releases of the same persons, and holds" not in page
    assert "not all of them were available" in editions[1].read_text(encoding="utf-8")
    assert "published before, and not available" in editions[0].read_text(encoding="utf-8")
