"""An attestation is about data, manifest and recipients' report; `verify` names what differs and has one verdict."""

from __future__ import annotations

import base64
import json

import pytest

NAMES = ["out/r.csv", "out/r.manifest.json", "out/r.report.html"]


@pytest.fixture
def attested(desk):
    """A published release, its attestation, and a recipient's copies of the three files."""
    assert desk.run_once().code == 0
    (run,) = (desk.folder / ".privrelease" / "runs").iterdir()
    desk("keygen", "-o", "a.key")
    assert desk("sign", str(run), "--key", "a.key", "-o", "r.dsse.json").code == 0
    copies = desk.folder / "theirs"
    copies.mkdir()
    for name in NAMES:
        path = desk.folder / name
        (copies / path.name).write_bytes(path.read_bytes())

    def verify(*files, form="text"):
        given = [part for name in files for part in ("--file", f"theirs/{name}")]
        return desk("verify", "r.dsse.json", "--key", "a.key.pub", *given, "--format", form)

    return desk, run, copies, verify


def payload(path):
    return json.loads(base64.b64decode(json.loads(path.read_text(encoding="utf-8"))["payload"]))


def test_the_statement_has_data_manifest_and_report_as_subjects(attested):
    desk, run, _, verify = attested
    assert [one["name"] for one in payload(desk.folder / "r.dsse.json")["subject"]] == NAMES
    said = verify("r.csv", "r.manifest.json", "r.report.html")
    assert said.code == 0, said.err
    assert said.out.count("is what was attested") == 3
    assert "PASSED" in said.out
    statement = json.loads(desk("report", str(run), "--format", "in-toto").out)
    assert [one["name"] for one in statement["subject"]] == NAMES
    # the audit of a run is the run's, by its file too
    assert desk("sign", str(run / "internal" / "audit.json"), "--key", "a.key", "-o", "again.json").code == 0
    assert payload(desk.folder / "again.json") == payload(desk.folder / "r.dsse.json")


@pytest.mark.parametrize("name", ["r.csv", "r.manifest.json", "r.report.html"])
def test_each_altered_file_is_named_and_the_one_verdict_is_failed(attested, name):
    _, _, copies, verify = attested
    (copies / name).write_bytes((copies / name).read_bytes() + b" ")
    said = verify("r.csv", "r.manifest.json", "r.report.html")
    assert said.code == 1
    assert "PASSED" not in said.out + said.err
    assert f"theirs/{name} differs from what was attested" in said.out
    assert said.out.count("is what was attested") == 2
    value = verify("r.csv", "r.manifest.json", "r.report.html", form="json").json
    assert value["result"] == "FAILED"
    assert value["altered"] == [f"theirs/{name}"]


def test_one_attested_file_does_not_pass_for_another(attested):
    _, _, copies, verify = attested
    (copies / "r.report.html").write_bytes((copies / "r.manifest.json").read_bytes())
    said = verify("r.report.html")
    assert said.code == 1
    assert "theirs/r.report.html differs" in said.out


def test_files_that_were_not_given_are_named(attested):
    *_, verify = attested
    said = verify("r.csv")
    assert said.code == 0
    assert "not given: out/r.manifest.json, out/r.report.html" in said.last
    assert "no file was compared" in verify().last


def test_a_file_that_was_never_attested_fails(attested):
    _, _, copies, verify = attested
    (copies / "more.csv").write_text("x", encoding="utf-8")
    said = verify("r.csv", "more.csv")
    assert said.code == 1
    assert "theirs/more.csv is not among what was attested" in said.out
    assert "PASSED" not in said.out
