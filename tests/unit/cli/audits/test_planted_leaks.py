"""Leaks planted into what a run published: each fails the check that names it, and the command ends with 1.

The others stand with their kind: two releases that intersect (test_audit_against), a stored scale and an altered ledger
(test_statistics_against), a table whose totals give a cell back (test_run_tables).
"""

from __future__ import annotations

import hashlib

import pytest

AUDIT = ("audit", "policy.yaml", "--release", "r", "--file", "out/r.csv")


def newest(desk):
    return max((desk.folder / ".privrelease" / "runs").iterdir())


def edit(desk, old, new):
    path = desk.released.resolve()
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_a_direct_identifier_in_a_column_of_another_name_never_leaves(desk):
    text = (desk.folder / "data.csv").read_text(encoding="utf-8").splitlines()
    desk.data("\n".join([f"{text[0]},ref", *(f"{line},{line.split(',')[0]}" for line in text[1:])]) + "\n")
    policy = (desk.folder / "policy.yaml").read_text(encoding="utf-8")
    desk.policy(policy.replace("threats:", "      ref: {role: insensitive, type: string}\nthreats:"))
    said = desk.run()
    assert said.code == 1
    assert "A217 AUDIT-HIDDEN" in said.err
    assert "ref holds id" in said.err
    assert not desk.released.exists()


def with_note(desk, note):
    """The desk's data with ids that chance does not give, and a column that ``note`` makes of each row's number and id."""
    head, *lines = (desk.folder / "data.csv").read_text(encoding="utf-8").splitlines()
    lines = [(f"zk{1000 + 37 * n}q", line.split(",", 1)[1]) for n, line in enumerate(lines)]
    desk.data("\n".join([f"{head},note", *(f"{one},{rest},{note(n, one)}" for n, (one, rest) in enumerate(lines))]) + "\n")
    policy = (desk.folder / "policy.yaml").read_text(encoding="utf-8")
    desk.policy(policy.replace("threats:", "      note: {role: insensitive, type: string}\nthreats:"))
    return desk.run()


@pytest.mark.parametrize(
    ("note", "words"),
    [
        (lambda _, one: one.upper(), "in another spelling"),
        (lambda _, one: f"spoke to {one} at noon", "by its digits"),
        (lambda _, one: one[::-1], "backwards"),
        (lambda _, one: hashlib.sha256(one.encode()).hexdigest(), "as a plain hash"),
    ],
)
def test_a_direct_identifier_in_another_form_never_leaves(desk, note, words):
    said = with_note(desk, note)
    assert said.code == 1
    assert f"a direct identifier is released under another name: note holds id {words}" in said.err
    assert not desk.released.exists()


def test_identifiers_in_more_rows_than_shuffled_cells_would_meet_never_leave(desk):
    said = with_note(desk, lambda n, one: one if n < 6 else f"nothing {n}")
    assert said.code == 1
    assert "note holds id" in said.err


def test_identifiers_in_fewer_rows_are_a_warning_and_none_is_none(desk):
    said = with_note(desk, lambda n, one: f"saw {one}" if n < 2 else f"nothing {n}")
    assert said.code == 0
    assert "too few to distinguish from chance: note and id within other text" in said.err


def test_a_note_about_nobody_is_no_identifier(desk):
    said = with_note(desk, lambda n, _: f"nothing {n} of zk{n}q")
    assert said.code == 0
    assert "AUDIT-HIDDEN" not in said.err


@pytest.fixture
def published(desk):
    assert desk.run_once().code == 0
    return desk


def test_a_class_below_k_after_an_edit_from_outside(published):
    edit(published, "north,clerk,100\n", "north,smith,100\n")
    said = published(*AUDIT)
    assert said.code == 1
    assert "A101 highest_risk of threat t is 1 (k = 1)" in said.err
    assert "A202 AUDIT-DIGEST" in said.err


def test_a_cell_changed_instead_of_suppressed(published):
    """The class stays large; the person is now in another."""
    edit(published, "north,clerk,100\n", "south,clerk,100\n")
    said = published(*AUDIT)
    assert said.code == 1
    assert "A209 AUDIT-CHANGED" in said.err
    assert "1 in area" in said.err


def test_a_manifest_altered_after_the_decision_is_named_by_audit_and_by_verify(published):
    place = next((newest(published) / "outgoing").glob("*.manifest.json"))
    text = place.read_text(encoding="utf-8")
    place.write_text(text.replace('"version": "1.0.0"', '"version": "1.0.1"'), encoding="utf-8")
    said = published(*AUDIT)
    assert said.code == 1
    assert (
        f"A202 AUDIT-DIGEST Files are those of the manifest: {place.name} is not the manifest that was decided upon" in said.err
    )
    said = published("verify", str(newest(published)))
    assert said.code == 1
    assert "R160" in said.err
