"""A policy is followed by its id, and the approvers that it names are compared too."""

from __future__ import annotations

import pytest

from tests.unit.cli.conftest import APPROVALS, POLICY

WEAKER = POLICY.replace("highest_risk: 0.2", "highest_risk: 0.5")


def before(desk, **policies):
    for name, text in policies.items():
        path = desk.folder / "base" / "policies" / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def now(desk, name, text):
    path = desk.folder / "policies" / f"{name}.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return f"policies/{name}.yaml"


def test_a_renamed_policy_is_compared_with_the_one_of_its_id(desk):
    before(desk, old=POLICY, another=POLICY.replace("id: made", "id: another"))
    said = desk("diff", "base", now(desk, "new", WEAKER), "--fail-on", "weaker")
    assert said.code == 1
    assert "0.2 becomes 0.5" in said.out


def test_a_policy_whose_id_changes_in_place_is_compared_with_the_file_that_was_there(desk):
    before(desk, one=POLICY)
    said = desk("diff", "base", now(desk, "one", WEAKER.replace("id: made", "id: renamed")), "--fail-on", "weaker")
    assert said.code == 1
    assert "breaking: id" in said.out


def test_a_new_policy_is_called_new_in_every_form(desk):
    before(desk, one=POLICY)
    new = now(desk, "two", POLICY.replace("id: made", "id: second"))
    assert desk("diff", "base", new).out == "A new policy: there is nothing to compare it with.\n"
    assert desk("diff", "base", new, "--format", "markdown").code == 0
    assert desk("diff", "base", new, "--format", "json").json["changes"] == []


def test_of_several_policies_of_one_id_the_one_whose_path_is_gone_is_compared(desk):
    before(desk, kept=WEAKER, moved=POLICY)
    now(desk, "kept", WEAKER)
    said = desk("diff", "base", now(desk, "here", WEAKER), "--fail-on", "weaker")
    assert said.code == 1
    assert "0.2 becomes 0.5" in said.out


def test_several_policies_of_one_id_and_none_at_the_path_are_refused(desk):
    before(desk, a=POLICY, b=POLICY)
    said = desk("diff", "base", now(desk, "c", WEAKER))
    assert said.code == 2
    assert "C145" in said.err


@pytest.fixture
def signed(office):
    """Two folders with one policy and a file of approvers each."""
    desk = office.desk
    people = {name: office.person(name, roles) for name, roles in (("ann", ["dpo"]), ("bob", ["steward"]), ("eve", ["dpo"]))}

    def told(old, new):
        for folder, listed in (("one", old), ("two", new)):
            home = desk.folder / folder
            home.mkdir(exist_ok=True)
            (home / "policy.yaml").write_text(POLICY + APPROVALS, encoding="utf-8")
            if listed is not None:
                (home / "approvers.yaml").write_text("approvers:\n" + "".join(listed), encoding="utf-8")
        return desk("diff", "one/policy.yaml", "two/policy.yaml", "--fail-on", "weaker")

    return told, people, office


def test_an_approver_more_is_weaker_and_one_less_is_stricter(signed):
    told, people, _ = signed
    two, three = [people["ann"], people["bob"]], list(people.values())
    more, fewer = told(two, three), told(three, two)
    assert (more.code, fewer.code) == (1, 0)
    assert "weaker: approvals.keys: eve may sign as dpo with a new key" in more.out
    assert "stricter: approvals.keys: eve may no longer sign" in fewer.out


@pytest.mark.parametrize(
    ("old", "new", "effect"),
    [
        ({}, {"valid_until": "2030-01-01"}, "stricter"),
        ({"valid_until": "2030-01-01"}, {"valid_until": "2031-01-01"}, "weaker"),
        ({"valid_from": "2026-01-01"}, {}, "weaker"),
        ({}, {"revoked": "2026-05-01"}, "stricter"),
        ({"revoked": "2026-05-01"}, {}, "weaker"),
    ],
)
def test_the_days_of_a_key_are_compared(signed, old, new, effect):
    told, people, office = signed
    said = told([people["bob"], office.person("ann", ["dpo"], **old)], [people["bob"], office.person("ann", ["dpo"], **new)])
    assert f"{effect}: approvals.keys" in said.out
    assert said.code == (effect == "weaker")


def test_a_role_more_is_weaker_and_the_same_list_is_no_change(signed):
    told, people, office = signed
    same = [people["ann"], people["bob"]]
    assert "nothing changed" in told(same, list(reversed(same))).err
    said = told(same, [people["bob"], office.person("ann", ["dpo", "steward"])])
    assert "weaker: approvals.keys: ann may sign as steward too" in said.out


def test_a_list_that_one_side_lacks_is_not_taken_for_the_same(signed):
    told, people, _ = signed
    said = told(list(people.values()), None)
    assert said.code == 1
    assert "cannot be read" in said.out
