"""Approvals: who may sign for which role, with which key, and what is published by them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.unit.cli.conftest import APPROVALS, POLICY, signed


def test_a_release_waits_for_every_required_approval_and_is_then_published_without_running_again(office):
    run = office.run()
    assert not office.desk.released.exists()
    assert office.publish(run).code == 5
    assert office.approve(run, "ann", "dpo").code == 0
    said = office.publish(run)
    assert said.code == 5
    assert "steward" in said.last
    assert office.approve(run, "bob", "steward").code == 0
    before = (office.internal(run).parent / "outgoing" / "r.csv").read_bytes()
    (office.desk.folder / "data.csv").unlink()
    assert office.publish(run).code == 0
    assert office.desk.released.read_bytes() == before
    page = (office.internal(run) / "report.html").read_text(encoding="utf-8")
    assert "Approved by" in page
    assert "<bdi>ann</bdi>" in page
    rendered = office.desk("report", str(office.internal(run).parent))
    outside = office.desk("report", str(office.internal(run).parent), "--edition", "recipient")
    assert "<bdi>ann</bdi>" in rendered.out
    assert "<bdi>ann</bdi>" not in outside.out


def test_the_same_key_does_not_sign_for_two_roles(office):
    run = office.run()
    assert office.approve(run, "bob", "steward").code == 0
    said = office.approve(run, "bob", "dpo")
    assert said.code == 3
    assert "signed already for steward" in said.err


@pytest.mark.parametrize(
    ("dates", "why"),
    [
        ({"revoked": "2020-01-01"}, "revoked"),
        ({"valid_until": "2020-01-01"}, "was valid until"),
        ({"valid_from": "2999-01-01"}, "valid from"),
    ],
)
def test_a_key_that_may_not_sign_makes_no_approval_and_its_earlier_ones_do_not_count(office, dates, why):
    run = office.run()
    assert office.approve(run, "ann", "dpo").code == 0
    office.approve(run, "bob", "steward")
    office.list(office.person("ann", ["dpo"], **dates), office.person("bob", ["steward"]), office.person("eve", ["dpo"]))
    said = office.approve(run, "ann", "dpo")
    assert said.code == 3
    assert why in said.err
    said = office.publish(run)
    assert said.code == 5
    assert "dpo" in said.last
    assert office.approve(run, "eve", "dpo").code == 0
    assert office.publish(run).code == 0


def test_a_key_that_is_not_listed_or_lacks_the_role_approves_nothing(office):
    run = office.run()
    office.person("mallory", ["dpo"])
    assert office.approve(run, "mallory", "dpo").code == 3
    assert office.approve(run, "ann", "steward").code == 3
    assert not list((office.internal(run)).glob("approvals/*"))


def test_an_approval_by_the_owner_of_an_open_waiver_does_not_count(office):
    waived = """checks:
  - {id: U-1, release: r, expect: rows, min: 1000}
waivers: [{check: U-1, release: r, reason: known, owner: "role:steward", approved_by: ann, expires: 2999-12-31}]
"""
    office.desk.policy(POLICY + waived + APPROVALS)
    run = office.run()
    said = office.approve(run, "bob", "steward")
    assert said.code == 3
    assert "owns an open waiver" in said.err


def test_a_waiver_that_expired_since_the_run_lets_nothing_be_approved_or_published(office, monkeypatch):
    waived = """checks:
  - {id: U-1, release: r, expect: rows, min: 1000}
waivers: [{check: U-1, release: r, reason: known, owner: carol, approved_by: ann, expires: 2998-12-31}]
"""
    office.desk.policy(POLICY + waived + APPROVALS)
    run = signed(office)
    late = datetime(2999, 1, 1, tzinfo=UTC)
    monkeypatch.setattr("privrelease.release.store.now", lambda: late)
    for said in (office.approve(run, "ann", "dpo"), office.publish(run)):
        assert said.code == 1
        assert "the waiver of check U-1 expired on 2998-12-31" in said.err
    assert not office.desk.released.exists()
    monkeypatch.setattr("privrelease.release.store.now", lambda: late - timedelta(days=1))
    assert office.publish(run).code == 0


@pytest.mark.parametrize("stop", ["signoff.json", "report.html", "state.json"])
def test_a_sign_off_that_was_stopped_half_way_can_be_made_again(office, monkeypatch, stop):
    """Whatever was written last: the release is still what was decided upon, and no approval is lost."""
    import privrelease.release.runs
    import privrelease.release.store

    run = office.run()
    write = privrelease.release.store.write_atomically
    wrote = []

    def stopping(path, content, **more):
        wrote.append(path.name)
        if path.name == stop and (stop != "state.json" or wrote.count(stop) == 2):
            raise KeyboardInterrupt
        write(path, content, **more)

    for module in (privrelease.release.store, privrelease.release.runs):
        monkeypatch.setattr(module, "write_atomically", stopping)
    assert office.approve(run, "ann", "dpo").code != 0
    monkeypatch.undo()
    monkeypatch.chdir(office.desk.folder)
    assert office.approve(run, "ann", "dpo").code == 0
    assert office.approve(run, "bob", "steward").code == 0
    assert office.publish(run).code == 0
    assert "<bdi>bob</bdi>" in (office.internal(run) / "report.html").read_text(encoding="utf-8")


def test_a_list_without_anybody_for_a_required_role_stops_the_run_before_it_reads(office):
    office.list(office.person("ann", ["dpo"]))
    said = office.desk.run()
    assert said.code == 3
    assert "steward" in said.err
    assert not (office.desk.folder / ".privrelease" / "runs").exists()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (None, "R150"),
        ("approvers: []\n", "R150"),
        ("approvers: [{name: a, roles: [dpo], key: nothing}]\n", "R140"),
        ("a: b: c", "R150"),
    ],
)
def test_a_file_of_keys_that_is_none_is_told_with_its_place(office, text, code):
    path = office.desk.folder / "approvers.yaml"
    path.unlink()
    if text is not None:
        path.write_text(text, encoding="utf-8")
    said = office.desk.run()
    assert said.code == 3
    assert code in said.err
    assert "approvers.yaml" in said.err


def test_one_key_under_two_names_is_refused(office):
    office.list(office.person("ann", ["dpo"]), office.person("ann", ["steward"]).replace("name: ann", "name: other"))
    said = office.desk.run()
    assert said.code == 3
    assert "R151" in said.err


def test_a_run_that_failed_its_audit_cannot_be_approved(office):
    office.desk.policy((POLICY + APPROVALS).replace("    transform: [{suppress: cells}]\n", ""))
    assert office.desk.run().code == 1
    run = max(path.name for path in (office.desk.folder / ".privrelease" / "quarantine").iterdir())
    said = office.approve(run, "ann", "dpo")
    assert said.code == 3


def test_a_review_is_published_only_where_somebody_can_approve_it(desk):
    desk.policy(POLICY + "legal: {profile: gdpr}\n")
    assert desk.run().code == 5
    run = max(path.name for path in (desk.folder / ".privrelease" / "runs").iterdir())
    assert desk("publish", "policy.yaml", run).code == 5
    assert not desk.released.exists()


def test_a_withdrawn_release_shows_nothing_and_keeps_the_reason(desk):
    desk.run()
    assert desk.released.exists()
    assert desk("withdraw", "policy.yaml", "r", "--reason", " ").code == 2
    said = desk("withdraw", "policy.yaml", "r", "--reason", "wrong codes")
    assert said.code == 0
    assert not desk.released.exists()
    (run,) = (desk.folder / ".privrelease" / "runs").iterdir()
    assert "wrong codes" in (run / "internal" / "state.json").read_text(encoding="utf-8")
    assert desk("withdraw", "policy.yaml", "r", "--reason", "again").code == 3


@pytest.mark.parametrize(
    ("role", "hint"), [("dpoo", "did you mean dpo?"), ("auditor", "write --role with one of these"), ("../x", "")]
)
def test_a_role_that_the_policy_does_not_require_is_bad_usage_and_says_which_there_are(office, role, hint):
    office.list(office.person("ann", ["dpo", "auditor"]), office.person("bob", ["steward"]))
    run = office.run()
    said = office.approve(run, "ann", role)
    assert said.code == 2
    assert f"C126 the policy requires no approval as {role}, but as: dpo, steward" in said.err
    assert hint in said.err
    assert not (office.internal(run) / "approvals").exists()


def test_a_person_with_two_keys_does_not_sign_for_two_roles(office):
    """As after a rotation, where old and new key of a person are listed: four eyes are four eyes."""
    new = office.person("new", ["dpo", "steward"]).replace("name: new", 'name: " ANN"')
    office.list(office.person("ann", ["dpo", "steward"]), new, office.person("bob", ["steward"]))
    run = office.run()
    assert office.approve(run, "ann", "dpo").code == 0
    said = office.approve(run, "new", "steward")
    assert said.code == 3
    assert "signed already for dpo" in said.err
    assert office.approve(run, "new", "dpo").code == 0, "the new key may sign for the role that the old one signed for"
    assert office.approve(run, "bob", "steward").code == 0
    assert office.publish(run).code == 0


def test_approvals_in_two_roles_by_keys_that_turn_out_to_be_one_persons_count_once(office):
    office.list(office.person("ann", ["dpo"]), office.person("bob", ["steward"]))
    run = signed(office)
    office.list(office.person("ann", ["dpo"]), office.person("bob", ["steward"]).replace("name: bob", "name: Ann"))
    said = office.publish(run)
    assert said.code == 5
    assert "R166 the approval as steward does not count: Ann signed for another role already" in said.err
    assert "is not approved by: steward" in said.last


def test_validate_says_what_a_run_would_meet_outside_the_policy(office):
    desk = office.desk
    assert desk("validate", "policy.yaml").err == "exit 0: the policy is valid\n"
    (desk.folder / "approvers.yaml").unlink()
    waived = (
        POLICY
        + APPROVALS
        + (
            "checks: [{id: C-1, release: r, expect: dropped_rows, max: 0.5}]\n"
            "waivers: [{check: C-1, release: r, reason: made up, owner: eve, approved_by: ann, expires: 2020-01-01}]\n"
        )
    )
    desk.policy(waived)
    said = desk("validate", "policy.yaml", "--format", "json")
    assert said.code == 0
    found = [(one["code"], one["severity"], one["line"] > 0) for one in said.json["findings"]]
    assert ("R150", "warn", True) in found
    assert ("P611", "warn", True) in found
    assert desk("validate", "policy.yaml", "--fail-on", "warn").code == 1
    office.list(office.person("ann", ["dpo"]))
    desk.policy(POLICY + APPROVALS)
    said = desk("validate", "policy.yaml")
    assert (said.code, "R152 no one can sign for the required role steward" in said.out) == (3, True)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("approvers: []\n", "R150"),
        ("approvers: [{name: a, roles: [dpo], key: nothing}]\n", "R140"),
        ("a: b: c", "R150"),
    ],
)
def test_validate_refuses_the_list_of_approvers_that_every_run_refuses(office, text, code):
    """One verdict and one exit code, and the data is read nevertheless where that was asked for."""
    desk = office.desk
    (desk.folder / "approvers.yaml").write_text(text, encoding="utf-8")
    ran, dry = desk.run(), desk("run", "policy.yaml", "--dry-run")
    said = desk("validate", "policy.yaml", "--data", "--format", "json")
    assert (ran.code, dry.code, said.code) == (3, 3, 3)
    assert [(one["code"], one["severity"]) for one in said.json["findings"]] == [(code, "error")]
    assert (said.json["valid"], said.json["data"]) == (False, [])
    assert "the list of approvers has 1 error" in said.err
