from __future__ import annotations

import json
import re
from xml.etree import ElementTree as ET

import pytest

from tests.unit.cli.conftest import POLICY


def test_validate_prints_sarif_that_points_at_the_policys_line(desk):
    desk.policy(POLICY.replace("highest_risk: 0.2", "highest_risk: 20"))
    said = desk("validate", str(desk.folder / "policy.yaml"), "--format", "sarif")
    assert said.code == 2
    (result,) = said.json["runs"][0]["results"]
    line = result["locations"][0]["physicalLocation"]["region"]["startLine"]
    assert POLICY.splitlines()[line - 1].lstrip().startswith("t: {dataset")


def test_results_link_to_the_documentation_where_its_address_is_set(desk, monkeypatch):
    desk.policy(POLICY.replace("highest_risk: 0.2", "highest_risk: 20"))
    command = ("validate", str(desk.folder / "policy.yaml"), "--format", "sarif")
    monkeypatch.setenv("PRIVRELEASE_DOCS", "https://docs.example.org")
    (rule,) = desk(*command).json["runs"][0]["tool"]["driver"]["rules"]
    assert rule["helpUri"] == "https://docs.example.org/codes.md#p104"
    monkeypatch.setenv("PRIVRELEASE_DOCS", "javascript:alert(1)")
    said = desk(*command)
    assert (said.code, said.out) == (2, "")
    assert "C161" in said.err


def test_validate_prints_junit_and_annotations_of_the_same_fault(desk):
    desk.policy(POLICY.replace("highest_risk: 0.2", "highest_risk: 20"))
    junit = ET.fromstring(desk("validate", str(desk.folder / "policy.yaml"), "--format", "junit").out)
    assert junit.get("failures") == "1"
    lines = desk("validate", str(desk.folder / "policy.yaml"), "--format", "github").out.splitlines()
    assert [line.split(" ")[0] for line in lines] == ["::error"]


def test_a_run_prints_one_form_and_nothing_else_on_stdout(desk, monkeypatch, tmp_path):
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    assert desk.run("--format", "sarif").json["version"] == "2.1.0"
    root = ET.fromstring(desk.run("--format", "junit").out)
    assert root.get("failures") == "0"
    said = desk.run("--format", "github")
    assert said.code == 0
    assert all(line.startswith("::") for line in said.out.splitlines())
    assert summary.read_text(encoding="utf-8").startswith("## ✅ r")


def test_a_run_that_was_stopped_is_told_in_every_form(desk):
    desk.data("id,area,job\n1,north,clerk\n")
    results = desk.run("--format", "sarif").json["runs"][0]["results"]
    assert [result["level"] for result in results] == ["error"]
    assert ET.fromstring(desk.run("--format", "junit").out).get("failures") == "1"


def test_what_fails_in_a_run_stands_in_its_json_as_in_its_other_forms(desk):
    desk.policy(POLICY.replace("    transform: [{suppress: cells}]\n", ""))
    (release,) = desk.run("--format", "json").json["releases"]
    found = {one["code"]: one for one in release["findings"]}
    assert (found["A101"]["severity"], found["A101"]["subject"]) == ("error", "threats.t")
    assert POLICY.splitlines()[found["A101"]["line"] - 1].lstrip().startswith("t: {dataset")
    results = desk.run("--format", "sarif").json["runs"][0]["results"]
    assert sorted(result["ruleId"] for result in results) == sorted(one["code"] for one in release["findings"])


def test_an_audit_names_the_place_of_what_it_finds(desk):
    assert desk.run_once().code == 0
    desk.released.write_text(desk.released.read_text(encoding="utf-8").replace("north", "south", 1), encoding="utf-8")
    said = desk("audit", "policy.yaml", "--release", "r", "--file", "out/r.csv")
    assert said.code == 1
    line = next(line for line in said.err.splitlines() if "A209 AUDIT-CHANGED" in line)
    assert re.match(r"policy\.yaml:\d+:\d+: A209 ", line)


@pytest.mark.parametrize("form", ["sarif", "github"])
def test_forms_for_recipients_say_that_a_release_failed(desk, form):
    desk.policy(POLICY.replace("    transform: [{suppress: cells}]\n", ""))
    assert desk.run_once().code == 1
    (run,) = (desk.folder / ".privrelease" / "quarantine").iterdir()
    said = desk("report", str(run), "--edition", "recipient", "--format", form)
    assert "highest risk of threat t does not hold its limit" in said.out
    assert "A101" in said.out


@pytest.mark.parametrize(("form", "begins"), [("json", "{"), ("github", "::error title=P301,"), ("markdown", "")])
def test_a_policy_that_cannot_be_compared_is_told_in_the_form_of_the_diff(desk, form, begins):
    (desk.folder / "other.yaml").write_text(POLICY.replace("from: d", "from: nothing"), encoding="utf-8")
    said = desk("diff", "policy.yaml", "other.yaml", "--format", form)
    assert said.code == 2
    assert said.out.startswith(begins)
    assert "P301" in said.out


def test_a_policy_that_cannot_be_planned_is_told_as_json(desk):
    desk.policy(POLICY.replace("from: d", "from: nothing"))
    (finding,) = desk("plan", "policy.yaml", "--format", "json").json["findings"]
    assert finding["code"] == "P301"


@pytest.mark.parametrize("verb", ["run", "audit"])
def test_what_stops_a_command_before_its_work_is_told_in_every_form(desk, verb):
    desk.policy(POLICY.replace("from: d", "from: nothing"))
    words = (verb, str(desk.folder / "policy.yaml"), *(("--release", "r", "--file", "x.csv") if verb == "audit" else ()))
    (finding,) = desk(*words, "--format", "json").json["findings"]
    assert finding["code"] == "P301"
    assert finding["file"] == str(desk.folder / "policy.yaml")
    assert finding["line"] > 1
    (result,) = desk(*words, "--format", "sarif").json["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == finding["line"]
    assert ET.fromstring(desk(*words, "--format", "junit").out).get("failures") == "1"
    said = desk(*words, "--format", "github")
    assert said.out.startswith("::error title=P301,")
    assert said.code == 2
    assert desk(*words).out == ""


@pytest.mark.parametrize("form", ["sarif", "junit", "github", "markdown", "in-toto", "dpv"])
def test_report_renders_the_form_from_the_runs_folder(desk, form):
    desk.run_once()
    (run,) = (desk.folder / ".privrelease" / "runs").iterdir()
    said = desk("report", str(run), "--format", form)
    assert said.code == 0
    assert said.out or form == "github"  # nothing to annotate


def test_plan_takes_no_form_that_it_cannot_print(desk):
    assert desk("plan", str(desk.folder / "policy.yaml"), "--format", "sarif").code == 2


def key_pair(desk):
    assert desk("keygen", "-o", str(desk.folder / "dpo.key")).code == 0
    return desk.folder / "dpo.key", desk.folder / "dpo.key.pub"


def test_a_key_pair_is_closed_and_never_overwritten(desk):
    private, public = key_pair(desk)
    assert private.stat().st_mode & 0o777 == 0o600
    before = private.read_bytes(), public.read_bytes()
    assert desk("keygen", "-o", str(private)).code == 3
    private.unlink()
    assert desk("keygen", "-o", str(private)).code == 3
    assert public.read_bytes() == before[1]


def test_a_signed_attestation_verifies_and_names_an_altered_file(desk, monkeypatch):
    desk.run_once()
    private, public = key_pair(desk)
    (run,) = (desk.folder / ".privrelease" / "runs").iterdir()
    envelope, data = desk.folder / "r.dsse.json", desk.folder / "out" / "r.csv"
    monkeypatch.setenv("MADE_UP_KEY", private.read_text(encoding="utf-8"))
    assert desk("sign", str(run), "--key-env", "MADE_UP_KEY", "-o", str(envelope)).code == 0
    arguments = ("verify", str(envelope), "--key", str(public), "--file")
    assert desk(*arguments, str(data)).code == 0
    altered = desk.folder / "altered.csv"
    altered.write_bytes(data.read_bytes() + b"x")
    said = desk(*arguments, str(altered))
    assert said.code == 1
    assert "altered.csv" in said.last


def test_an_altered_attestation_fails_and_so_does_another_key(desk):
    desk.run_once()
    private, public = key_pair(desk)
    (run,) = (desk.folder / ".privrelease" / "runs").iterdir()
    envelope = desk.folder / "r.dsse.json"
    desk("sign", str(run), "--key", str(private), "-o", str(envelope))
    document = json.loads(envelope.read_text(encoding="utf-8"))
    document["payload"] = document["payload"][:40] + ("A" if document["payload"][40] != "A" else "B") + document["payload"][41:]
    forged = desk.folder / "forged.json"
    forged.write_text(json.dumps(document), encoding="utf-8")
    assert desk("verify", str(forged), "--key", str(public)).code == 1
    desk("keygen", "-o", str(desk.folder / "other.key"))
    assert desk("verify", str(envelope), "--key", str(desk.folder / "other.key.pub")).code == 1


def test_signing_takes_exactly_one_key_and_no_open_file(desk):
    desk.run_once()
    private, _ = key_pair(desk)
    (run,) = (desk.folder / ".privrelease" / "runs").iterdir()
    assert desk("sign", str(run)).code == 2
    private.chmod(0o644)
    assert desk("sign", str(run), "--key", str(private)).code == 3


def test_only_a_release_with_a_claim_of_differential_privacy_can_be_registered(desk):
    desk.run_once()
    (run,) = (desk.folder / ".privrelease" / "runs").iterdir()
    said = desk("report", str(run), "--format", "dp-deployment")
    assert said.code == 3
    assert "C304" in said.err


def test_an_altered_run_is_not_signed(desk):
    desk.run_once()
    private, _ = key_pair(desk)
    (run,) = (desk.folder / ".privrelease" / "runs").iterdir()
    path = run / "internal" / "audit.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"checks_passed"', '"checks_passed" '), encoding="utf-8")
    said = desk("sign", str(run), "--key", str(private))
    assert said.code == 1
    assert "audit.json" in said.last
    assert said.out == ""
