from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.cli.conftest import POLICY

WEAKER = POLICY.replace("highest_risk: 0.2", "highest_risk: 0.5")


def two(desk, old=POLICY, new=WEAKER):
    (desk.folder / "old.yaml").write_text(old, encoding="utf-8")
    (desk.folder / "new.yaml").write_text(new, encoding="utf-8")
    return "old.yaml", "new.yaml"


def test_a_weaker_policy_is_told_with_its_line_and_fails_where_asked(desk):
    files = two(desk)
    said = desk("diff", *files)
    assert said.code == 0
    assert said.out == "new.yaml:16:53: weaker: threats.t.highest_risk: 0.2 becomes 0.5\n"
    assert desk("diff", *files, "--fail-on", "weaker").code == 1
    assert desk("diff", *files, "--fail-on", "breaking").code == 1
    assert desk("diff", *reversed(files), "--fail-on", "breaking").code == 0


def test_a_breaking_change_fails_where_breaking_ones_are_asked_for_only(desk):
    files = two(desk, new=POLICY.replace("out/r.csv", "out/s.csv"))
    assert desk("diff", *files, "--fail-on", "weaker").code == 0
    assert desk("diff", *files, "--fail-on", "breaking").code == 1


def test_an_environment_that_tightens_less_stops_where_weaker_changes_do(desk):
    over = "environments: {{prod: {{threats: {{t: {{highest_risk: {}}}}}}}}}\n"
    files = two(desk, old=POLICY + over.format("0.1"), new=POLICY + over.format("0.2"))
    said = desk("diff", *files, "--fail-on", "weaker")
    assert said.code == 1
    assert "weaker: environments.prod: threats.t.highest_risk: 0.1 becomes 0.2" in said.out
    assert desk("diff", *files, "--env", "prod", "--fail-on", "weaker").code == 1


def test_every_form_of_a_diff_names_the_change(desk):
    files = two(desk)
    value = desk("diff", *files, "--format", "json").json
    assert value["counts"] == {"weaker": 1, "breaking": 0, "stricter": 0, "neutral": 0}
    assert value["changes"][0]["line"] == 16
    assert "threats.t.highest" in desk("diff", *files, "--format", "markdown").out.replace("\\", "")
    assert desk("diff", *files, "--format", "github").out.startswith("::warning title=weaker,file=new.yaml,line=16")


def test_a_pipeline_reads_paths_from_the_root_of_the_repository(desk, monkeypatch):
    """GitHub looks for the files of annotations and comments there, wherever the command runs."""
    (desk.folder / ".git").mkdir()
    (desk.folder / "policies").mkdir()
    files = two(desk)
    for name in files:
        (desk.folder / name).rename(desk.folder / "policies" / name)
    monkeypatch.chdir("policies")
    assert desk("diff", *files, "--format", "github").out.startswith("::warning title=weaker,file=policies/new.yaml,line=16")
    assert "policies/new.yaml:16:53" in desk("diff", *files, "--format", "markdown").out
    assert desk("diff", *files).out.startswith("new.yaml:16:53")
    (desk.folder / "policies" / "new.yaml").write_text(POLICY + "wrong: 1\n", encoding="utf-8")
    assert "file=policies/new.yaml" in desk("diff", *files, "--format", "github").out


def test_the_second_release_says_what_changed_since_the_first_and_diff_says_the_same(desk):
    desk.run_once()
    desk.policy(POLICY.replace("highest_risk: 0.2", "highest_risk: 0.5"))
    desk.run()
    runs = sorted((desk.folder / ".privrelease" / "runs").iterdir())
    first, second = (json.loads((run / "internal" / "audit.json").read_text(encoding="utf-8")) for run in runs)
    assert "since" not in first
    assert second["since"]["run"] == runs[0].name
    assert "Since the previous release" in (runs[1] / "internal" / "report.html").read_text(encoding="utf-8")
    outside = next((runs[1] / "outgoing").glob("*.report.html")).read_text(encoding="utf-8")
    assert "Since the previous release" not in outside
    said = desk("diff", str(runs[0]), str(runs[1]), "--format", "json")
    assert said.json["changes"] == second["since"]["changes"]
    assert any(change["what"] == "highest_risk_limit" and change["effect"] == "worse" for change in said.json["changes"])
    assert desk("diff", str(runs[0]), str(runs[1]), "--fail-on", "weaker").code == 1
    assert desk("diff", str(runs[0]), str(runs[1]), "--format", "markdown").out.startswith("| Effect")


@pytest.fixture
def audits(desk):
    """Two audits of one release, as files; a threshold of the second is laxer."""
    written = (Path(__file__).parents[4] / "reports" / "diabetes-microdata" / "audit.json").read_text(encoding="utf-8")
    (desk.folder / "one.json").write_text(written, encoding="utf-8")
    value = json.loads(written)
    value["threats"][0]["verdicts"][0]["threshold"].update(exact="1/2", value=0.5)
    (desk.folder / "two.json").write_text(json.dumps(value), encoding="utf-8")
    return desk


def altered(desk, change, name="bad.json"):
    from privrelease.audit.document.schema import audit_bytes, read_audit

    value = json.loads(audit_bytes(read_audit(desk.folder / "two.json")))
    change(value)
    (desk.folder / name).write_text(json.dumps(value), encoding="utf-8")
    return name


def test_audits_are_told_in_every_form(audits):
    said = audits("diff", "one.json", "two.json")
    assert "worse: Highest risk, limit external: 20 % -> 50 %" in said.out.splitlines()
    value = audits("diff", "one.json", "two.json", "--format", "json").json
    assert value["counts"] == {
        effect: sum(change["effect"] == effect for change in value["changes"]) for effect in ("worse", "better", "changed")
    }
    lines = audits("diff", "one.json", "two.json", "--format", "github").out.splitlines()
    assert "::warning title=worse::Highest risk, limit external: 20 %25 -> 50 %25" in lines
    assert all(line.startswith(("::warning", "::notice")) for line in lines)


@pytest.mark.parametrize("form", ["text", "json", "markdown", "github"])
def test_one_audit_twice_changed_nothing(audits, form):
    said = audits("diff", "one.json", "one.json", "--format", form, "--fail-on", "weaker")
    assert said.code == 0
    assert "nothing changed" in said.err
    assert form != "text" or said.out == ""


def test_an_audit_and_a_policy_are_not_compared(audits):
    for files in (("one.json", "policy.yaml"), ("policy.yaml", "one.json")):
        said = audits("diff", *files)
        assert (said.code, "C142 one.json is read as an audit, policy.yaml as a policy" in said.err) == (2, True)
    assert audits("diff", "one.json", "two.json", "--env", "ci").code == 2
    for files in (("one.json", "no.json"), ("one.json", "nothing"), ("no.json", "one.json")):
        said = audits("diff", *files)
        assert (said.code, "C301" in said.err) == (3, True)


def test_the_edition_for_recipients_is_not_compared_with_the_internal_one(audits):
    from privrelease.report.forms.json_report import read_audit, render_json
    from privrelease.report.view.edition import Edition

    audit = read_audit(audits.folder / "one.json")
    (audits.folder / "outside.json").write_bytes(render_json(audit, Edition.RECIPIENT))
    said = audits("diff", "one.json", "outside.json")
    assert (said.code, "C144 outside.json is the edition for recipients" in said.err) == (2, True)
    assert audits("diff", "outside.json", "outside.json").code == 0


DAMAGES = {
    "an older version": lambda value: value.update(version=0),
    "another format": lambda value: value.update(format="other"),
    "a section of others": lambda value: value.update({"waivers": {"waivers": "Secretname"}}),
    "privacy of others": lambda value: value.update({"statistics": {"Secretname": 1}}),
    "attacks of others": lambda value: value.update({"attacks": "Secretname"}),
    "a table of others": lambda value: value.update({"table": {"Secretname": 1}}),
    "a sign-off of others": lambda value: value.update({"signoff": {"Secretname": 1}}),
    "changes of others": lambda value: value.update({"since": "Secretname"}),
    "a key of others": lambda value: value.update(Secretname="x"),
    "a figure that is a text": lambda value: value["threats"][0]["after"]["k"].update(exact="Secretname"),
    "a figure over nothing": lambda value: value["threats"][0]["after"]["k"].update(exact="1/0"),
    "a figure without end": lambda value: value["threats"][0]["after"]["k"].update(exact="1e999999999"),
    "no number": lambda value: value["threats"][0]["after"]["k"].update(exact=None, value=float("nan")),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_audit_is_an_input_fault_that_repeats_nothing_of_it(audits, damage):
    name = altered(audits, damage)
    for files in ((name, "one.json"), ("one.json", name)):
        said = audits("diff", *files)
        assert said.code == 3
        assert "bad.json: C302" in said.err
        assert "Secretname" not in said.err + said.out


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"[" * 50_000, b'[{"name": "Secretname"}]', b'{"Secretname": 1}'])
def test_a_file_of_others_is_no_audit_and_not_repeated(audits, content):
    (audits.folder / "other.json").write_bytes(content)
    said = audits("diff", "one.json", "other.json")
    assert (said.code, "Secretname" in said.err + said.out) == (3, False)


def test_names_of_an_audit_start_no_line_and_no_command_of_their_own(audits):
    name = altered(audits, lambda value: value["checks"][0].update(id="a\n::error::x\x1b[31m|b"))
    text = audits("diff", "two.json", name).out
    assert "\x1b" not in text
    assert all(line.startswith(("worse: ", "better: ", "changed: ")) for line in text.splitlines())
    lines = audits("diff", "two.json", name, "--format", "github").out.splitlines()
    assert not [line for line in lines if line.startswith("::error")]
    rows = audits("diff", "two.json", name, "--format", "markdown").out.splitlines()
    assert all(line.startswith("|") for line in rows)


def test_a_run_goes_on_where_the_audit_before_it_is_damaged(desk):
    desk.run_once()
    (run,) = (desk.folder / ".privrelease" / "runs").iterdir()
    path = run / "internal" / "audit.json"
    value = json.loads(path.read_text(encoding="utf-8"))
    value["waivers"] = {"waivers": "Secretname"}
    path.chmod(0o600)
    path.write_text(json.dumps(value), encoding="utf-8")
    desk.policy(POLICY.replace("highest_risk: 0.2", "highest_risk: 0.5"))
    said = desk.run()
    assert said.code == 0
    assert "changes since the previous release are not shown" in said.err
    assert "Secretname" not in said.err + said.out


@pytest.mark.parametrize(
    "section",
    ["since", "earlier", "sensitive", "attacks", "statistics", "table", "utility_measures", "waivers", "signoff", "sections"],
)
def test_no_section_of_others_is_a_fault_of_ours_where_it_is_rendered(audits, section):
    name = altered(audits, lambda value: value.update({section: {"Secretname": 1}}))
    said = audits("report", name, "-o", "out")
    assert said.code in {0, 3}
    assert "Secretname" not in said.err + said.out


def test_a_change_that_a_later_version_tells_is_shown_by_its_name(audits):
    change = {"what": "of_later", "before": "a", "after": "b", "effect": "changed"}
    facts = {"run": None, "audited_at": "2027-01-01T00:00:00Z", "changes": [change]}
    name = altered(audits, lambda value: value.update({"since": facts}))
    assert audits("report", name, "-o", "out").code == 0
    assert any("of_later" in path.read_text(encoding="utf-8") for path in audits.folder.glob("out*") if path.is_file())
