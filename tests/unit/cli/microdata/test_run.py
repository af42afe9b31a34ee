from __future__ import annotations

import json

import pytest

from privrelease.cli.exit import worst

CHECK = "checks:\n  - {id: U1, release: r, expect: suppressed_cells, max: 0, severity: SEVERITY}\n"
SECOND = """  - id: s
    kind: microdata
    from: d
    protect: [t]
    transform: [{suppress: cells, limit: 0}]
    output: {path: out/s.csv}
"""


@pytest.fixture
def policy(desk):
    return (desk.folder / "policy.yaml").read_text(encoding="utf-8")


def only_run(desk):
    found = [path for home in ("runs", "quarantine") for path in (desk.folder / ".privrelease" / home).glob("*")]
    assert len(found) == 1
    return found[0]


def test_a_run_that_passes_publishes_and_says_where_everything_is(desk):
    said = desk.run_once()
    assert said.code == 0
    assert said.last == "exit 0: release r is published; 2 checks not asked for"
    assert "PASS" in said.out
    assert "report.html" in said.out
    assert "r: reading the source" in said.err
    rows = desk.released.read_text(encoding="utf-8").splitlines()
    assert rows[0] == "area,job,pay"
    assert (desk.folder / "out/r.manifest.json").is_file()
    assert "edition for recipients" in (desk.folder / "out/r.report.html").read_text(encoding="utf-8")
    assert "internal edition" in (only_run(desk) / "internal/report.html").read_text(encoding="utf-8")


def test_a_run_that_fails_goes_to_quarantine_with_its_report_and_publishes_nothing(desk, policy):
    desk.policy(policy.replace("    transform: [{suppress: cells}]\n", ""))
    said = desk.run_once()
    assert said.code == 1
    assert said.last.startswith("exit 1: a check failed: release r: ")
    assert "FAIL" in said.out
    assert not desk.released.exists()
    folder = only_run(desk)
    assert folder.parent.name == "quarantine"
    assert "Fails its policy" in (folder / "internal/report.html").read_text(encoding="utf-8")
    assert not list(folder.glob("outgoing/*.report.html"))


def test_a_missing_legal_field_parks_the_release_for_review(desk, policy):
    desk.policy(policy + "legal: {profile: gdpr, controller: {name: Made-up}}\n")
    said = desk.run()
    assert said.code == 5
    assert "review" in said.out.lower()
    assert not desk.released.exists()
    assert json.loads((only_run(desk) / "internal/state.json").read_bytes())["history"][-1]["state"] == "parked"
    assert "parked in" in said.out


def test_a_warning_counts_only_where_it_is_asked_to(desk, policy):
    desk.policy(policy + CHECK.replace("SEVERITY", "warn"))
    assert desk.run().code == 0
    assert desk.released.exists()


def test_with_fail_on_warn_a_warning_keeps_the_release_from_leaving(desk, policy):
    desk.policy(policy + CHECK.replace("SEVERITY", "warn"))
    said = desk.run("--fail-on", "warn")
    assert said.code == 1
    assert "--fail-on warn" in said.last
    assert not desk.released.exists()
    assert only_run(desk).parent.name == "quarantine"


def test_each_release_stands_alone_and_the_worst_exit_code_is_given(desk, policy):
    desk.policy(policy + SECOND)
    said = desk.run()
    assert said.code == 1
    assert desk.released.exists()
    assert not (desk.folder / "out/s.csv").exists()
    assert "release r: PASS" in said.out
    assert "release s: FAIL" in said.out
    assert said.last == "exit 1: a check failed: s"


def test_releases_that_end_alike_are_named_together(desk, policy):
    desk.policy(
        policy.replace("id: r\n", "id: q\n")
        + SECOND
        + SECOND.replace("s\n", "t\n").replace("id: s", "id: t").replace("out/s.csv", "out/t.csv")
    )
    assert desk.run().last == "exit 1: a check failed: s, t"


def test_one_release_can_be_chosen_and_a_misspelt_one_is_refused_with_a_suggestion(desk, policy):
    desk.policy(policy.replace("id: r\n", "id: first\n") + SECOND)
    assert desk.run("--release", "first").code == 0
    refused = desk.run("--release", "frist")
    assert refused.code == 2
    assert "did you mean first" in refused.err


def test_a_source_that_cannot_be_read_is_exit_three_and_says_that_there_is_no_report(desk):
    (desk.folder / "data.csv").unlink()
    said = desk.run()
    assert said.code == 3
    assert "no report" in said.err
    assert not desk.released.exists()


def test_the_summary_lists_what_was_stopped_beside_what_ran(desk, policy):
    other = SECOND.replace("from: d", "from: e").replace("protect: [t]", "protect: [u]")
    lines = policy.replace(
        "threats:\n",
        "  e: {source: none.csv, columns: {area: {role: quasi, type: category}}}\nthreats:\n  u: {dataset: e, knows: [area], highest_risk: 0.2}\n",
    )
    desk.policy(lines + other)
    said = desk.run()
    assert said.code == 3
    assert "release r: PASS" in said.out
    (why,) = [
        line
        for line in said.out.partition("release s: STOPPED (input or environment)\n")[2].splitlines()
        if "failed" not in line
    ]
    assert why.strip() in said.err
    assert said.last == "exit 3: input or environment: s"
    assert desk.run("--format", "json").json["releases"][1]["became"] == "failed"


def test_a_misfit_is_told_by_its_place_without_its_cell(desk):
    desk.data("id,area,job,pay\n1,north,clerk,zzz-cell\n")
    said = desk.run()
    assert said.code == 3
    assert "data.csv:2:" in said.err
    assert "zzz-cell" not in said.err + said.out


@pytest.mark.parametrize("rows", ["", "1,north,clerk,5\n"])
def test_no_row_or_one_row_is_never_a_pass_with_a_class_of_one(desk, rows):
    desk.data(f"id,area,job,pay\n{rows}")
    said = desk.run()
    assert said.code == 1
    assert not desk.released.exists()


def test_quiet_says_only_the_last_line_and_json_goes_to_stdout(desk):
    said = desk.run("-q", "--format", "json")
    assert said.err.splitlines() == [said.last]
    (release,) = said.json["releases"]
    assert (release["release"], release["became"], release["exit_code"]) == ("r", "published", 0)
    assert release["checks"]
    assert release["files"]["out/r.csv"] == str(desk.released)


def test_an_empty_digest_key_is_none_and_is_told(desk, monkeypatch):
    monkeypatch.setenv("PRIVRELEASE_DIGEST_KEY", "")
    said = desk("run", "policy.yaml")
    assert said.code == 0, said.err
    assert "PRIVRELEASE_DIGEST_KEY is empty: the key in the state folder is used" in said.err
    audited = desk("audit", "policy.yaml", "--release", "r", "--file", str(desk.released))
    assert "audited with its manifest, row map and source" in audited.err


def test_the_state_folder_can_be_named(desk, tmp_path):
    assert desk.run("--state", str(tmp_path / "elsewhere")).code == 0
    assert list((tmp_path / "elsewhere/runs").glob("*/internal/audit.json"))
    assert not (desk.folder / ".privrelease").exists()


def test_without_a_recipient_edition_none_is_written(desk, policy):
    desk.policy(policy + "report: {editions: [internal]}\n")
    assert desk.run().code == 0
    assert not (desk.folder / "out/r.report.html").exists()


def test_a_bad_policy_is_exit_two_with_every_error(desk, policy):
    desk.policy(policy.replace("highest_risk: 0.2", "highest_risk: 20").replace("role: sensitive", "role: sensitiv"))
    said = desk.run()
    assert said.code == 2
    assert said.err.count("policy.yaml:") >= 2
    assert "2 errors" in said.last


def test_the_worst_code_is_the_one_that_leaves_least_known():
    assert worst([0, 5, 1, 3, 70]) == 70
    assert worst([0, 1, 3]) == 3
    assert worst([5, 1]) == 1
    assert worst([]) == 0
