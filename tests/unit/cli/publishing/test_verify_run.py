"""`privrelease verify RUN`: what the keys at hand vouch for, what is signed by others, and what was altered."""

from __future__ import annotations

import base64
import json

import pytest

from privrelease.release.signing import SigningKey
from tests.unit.cli.conftest import Office, signed
from tests.unit.cli.publishing.test_altered_after_signing import public_keys


def envelope(office: Office, run: str, role: str):
    return next((office.internal(run) / "approvals").glob(f"{role}-*"))


def resealed(path, *, keyid=None, **changes):
    """Write an approval anew that says something else, under the old signature."""
    document = json.loads(path.read_text(encoding="utf-8"))
    payload = json.loads(base64.b64decode(document["payload"])) | changes
    document["payload"] = base64.b64encode(json.dumps(payload).encode()).decode()
    if keyid is not None:
        document["signatures"][0]["keyid"] = keyid
    path.write_text(json.dumps(document), encoding="utf-8")


def verified(office, run, *keys, form="text"):
    return office.desk("verify", str(office.internal(run).parent), *keys, "--format", form)


def test_an_approval_by_a_key_that_was_not_given_is_told_as_such_and_is_no_alteration(office):
    run = signed(office)
    said = verified(office, run, *public_keys(office, "ann"))
    assert said.code == 0, said.err
    assert "approved as dpo by ann" in said.out
    assert "not verified: approval as steward by bob" in said.out
    assert "1 approval verified by the keys given, 1 approval by keys that were not given is not verified" in said.last
    assert "altered" not in said.out + said.err
    told = verified(office, run, *public_keys(office, "ann"), form="json").json
    bob = SigningKey.load(office.desk.folder / "bob.key").public.id
    assert [one["role"] for one in told["approvals"]] == ["dpo"]
    assert told["unverified"] == [{"role": "steward", "approver": "bob", "key": bob}]
    assert (told["altered"], told["keys_without_approval"]) == ([], [])


def test_without_a_key_no_approval_is_called_verified(office):
    run = signed(office)
    said = verified(office, run)
    assert said.code == 0
    assert "approved as" not in said.out
    assert said.out.count("not verified: approval as") == 2
    assert "2 approvals by keys that were not given are not verified" in said.last


def test_a_key_that_approved_nothing_of_the_run_fails_by_its_name(office):
    run = signed(office)
    office.person("eve", ["dpo"])
    said = verified(office, run, *public_keys(office, "ann", "eve"))
    assert said.code == 1
    assert f"no approval of run {run} is signed by eve.pub" in said.last
    assert "approved as dpo by ann" in said.out


@pytest.mark.parametrize("hidden", [False, True], ids=["under_its_key", "under_another_keys_id"])
def test_an_approval_that_says_something_else_under_the_old_signature_does_not_hold(office, hidden):
    """Also where it claims to be by a key that nobody gave: then the key whose approval is gone is named."""
    run = signed(office)
    resealed(envelope(office, run, "dpo"), approver="mallory", keyid="0" * 64 if hidden else None)
    said = verified(office, run, *public_keys(office, "ann", "bob"))
    assert said.code == 1
    assert ("ann.pub" if hidden else "says that a given key signed it") in said.err
    assert "approved as dpo" not in said.out


def test_an_approval_of_other_bytes_is_an_alteration_whoever_signed_it(office):
    run = signed(office)
    resealed(envelope(office, run, "steward"), run="another", keyid="0" * 64)
    said = verified(office, run, *public_keys(office, "ann"))
    assert said.code == 1
    assert "about another run" in said.err


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"payload": "e30=", "payloadType": "x", "signatures": [7]}', "[" * 100_000]
)
def test_a_file_that_is_no_approval_is_an_alteration(office, content):
    run = signed(office)
    (office.internal(run) / "approvals" / "a.dsse.json").write_text(content, encoding="utf-8")
    for keys in ((), public_keys(office, "ann")):
        said = verified(office, run, *keys)
        assert said.code == 1
        assert "approval a.dsse.json is not a signed approval" in said.err


def test_a_run_is_named_by_its_id_and_its_state_and_decision_are_said(office):
    run = signed(office)
    said = office.desk("verify", run)
    assert said.code == 0, said.err
    assert said.out.startswith("state      parked\ndecision   pass\n")
    assert f"run {run} (parked, decision pass) is as it was decided upon" in said.last
    assert office.publish(run).code == 0
    told = office.desk("verify", run, "--state", ".privrelease", "--format", "json").json
    assert (told["run"], told["state"], told["outcome"]) == (run, "published", "pass")
    assert office.desk("withdraw", "policy.yaml", run, "--reason", "made up").code == 0
    assert verified(office, run).out.startswith("state      withdrawn\n")


@pytest.mark.parametrize("more", [(), ("--state", "elsewhere")])
def test_a_name_of_nothing_is_called_no_path_and_no_run(office, more):
    signed(office)
    said = office.desk("verify", "20000101T000000-absent", *more)
    assert said.code == 2
    assert said.err.startswith("C174 20000101T000000-absent is no file, no folder and no run of the state folder")


def test_what_to_do_about_an_altered_file_depends_on_whether_it_is_published(office):
    run = signed(office)
    output = office.internal(run).parent / "outgoing" / "r.csv"
    whole = output.read_bytes()
    output.write_bytes(whole + b"x")
    assert "run the release again; nothing was published" in verified(office, run).err
    output.write_bytes(whole)
    assert office.publish(run).code == 0
    output.chmod(0o644)
    output.write_bytes(whole + b"x")
    said = verified(office, run)
    assert said.code == 1
    assert "R161 r.csv" in said.err
    assert "the release is published: restore the file from a copy, or withdraw the release and run it again" in said.err
    assert office.desk("withdraw", "policy.yaml", run, "--reason", "made up").code == 0
    assert "this run is no longer published" in verified(office, run).err
