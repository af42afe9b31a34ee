"""Files altered after they were signed for: found by name, neither approved nor published."""

from __future__ import annotations

import json

import pytest

from privrelease.release.signing import SigningKey
from tests.unit.cli.conftest import POLICY, signed


def public_keys(office, *names):
    """The options that name their public keys."""
    options = []
    for name in names:
        public = office.desk.folder / f"{name}.pub"
        public.write_text(SigningKey.load(office.desk.folder / f"{name}.key").public.pem, encoding="utf-8")
        options += ["--key", str(public)]
    return options


def edit(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def altered_manifest(office, run):
    edit(office.internal(run).parent / "outgoing" / "r.manifest.json", '"release": "r"', '"release": "q"')
    return "r.manifest.json"


def altered_audit(office, run):
    edit(office.internal(run) / "audit.json", '"checks_passed"', '"checks_passed" ')
    return "audit.json"


def altered_output(office, run):
    edit(office.internal(run).parent / "outgoing" / "r.csv", "clerk", "clark")
    return "r.csv"


def altered_approval(office, run):
    path = next((office.internal(run) / "approvals").glob("dpo-*"))
    document = json.loads(path.read_text(encoding="utf-8"))
    payload = document["payload"]
    document["payload"] = payload[:60] + ("A" if payload[60] != "A" else "B") + payload[61:]
    path.write_text(json.dumps(document), encoding="utf-8")
    return path.name


def altered_audit_and_record(office, run):
    """Who can write the record too is found out by the signature."""
    from privrelease.release.digests import sha256_of

    before = sha256_of(office.internal(run) / "audit.json")
    altered_audit(office, run)
    edit(office.internal(run) / "state.json", before, sha256_of(office.internal(run) / "audit.json"))
    return "about another audit"


def altered_report(office, run):
    edit(office.internal(run).parent / "outgoing" / "r.report.html", "</h1>", "!</h1>")
    return "r.report.html"


def altered_internal_report(office, run):
    edit(office.internal(run) / "report.html", "</h1>", "!</h1>")
    return "internal/report.html"


def removed_report(office, run):
    (office.internal(run).parent / "outgoing" / "r.report.html").unlink()
    return "r.report.html"


def linked_report(office, run):
    path = office.internal(run).parent / "outgoing" / "r.report.html"
    path.rename(office.desk.folder / "elsewhere.html")
    path.symlink_to(office.desk.folder / "elsewhere.html")
    return "r.report.html"


def added_file(office, run):
    (office.internal(run).parent / "outgoing" / "notes.txt").write_text("made up", encoding="utf-8")
    return "another file is next to it"


def altered_report_and_record(office, run):
    """Who can write the record too is found out by the signature."""
    from privrelease.release.digests import sha256_of

    page = office.internal(run).parent / "outgoing" / "r.report.html"
    before = sha256_of(page)
    altered_report(office, run)
    edit(office.internal(run) / "state.json", before, sha256_of(page))
    return "about another report"


@pytest.mark.parametrize(
    "plant",
    [
        altered_manifest,
        altered_audit,
        altered_output,
        altered_approval,
        altered_audit_and_record,
        altered_report,
        altered_internal_report,
        removed_report,
        linked_report,
        added_file,
        altered_report_and_record,
    ],
    ids=lambda f: f.__name__,
)
def test_what_was_altered_after_signing_fails_by_name_and_is_not_published(office, plant):
    run = signed(office)
    folder = office.internal(run).parent
    keys = public_keys(office, "ann", "bob")
    assert office.desk("verify", str(folder), *keys).code == 0
    name = plant(office, run)
    verified = office.desk("verify", str(folder), *keys)
    assert verified.code == 1
    assert name in verified.err
    said = office.publish(run)
    assert said.code == 1
    assert name in said.err
    assert not office.desk.released.exists()


def test_nobody_approves_by_a_report_that_is_not_the_one_of_the_run(office):
    run = office.run()
    altered_internal_report(office, run)
    said = office.approve(run, "ann", "dpo")
    assert said.code == 1
    assert "internal/report.html is not the report that was decided upon" in said.err
    assert not (office.internal(run) / "approvals").exists()


def test_a_policy_that_was_changed_since_the_run_publishes_nothing(office):
    run = signed(office)
    office.desk.policy(POLICY)
    said = office.publish(run)
    assert said.code == 1
    assert "policy.yaml is not the policy that was run" in said.err


def test_two_who_approve_at_the_same_moment_do_not_call_each_others_report_altered(office, monkeypatch):
    """The record is read, then another process signs off: page and record both change, and belong together again."""
    import privrelease.release.tamper_check as looking

    run = office.run()
    plain, others = looking.sha256_of, []

    def slow(path):
        if path.name == "report.html" and path.parent.name == "internal" and not others:
            others.append("bob")
            others.append(office.approve(run, "bob", "steward").code)
        return plain(path)

    monkeypatch.setattr(looking, "sha256_of", slow)
    said = office.approve(run, "ann", "dpo")
    assert (said.code, others) == (0, ["bob", 0]), said.err
    assert office.publish(run).code == 0
