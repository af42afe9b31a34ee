"""Several policies, folders of them, and a policy on stdin, for validate, plan and diff."""

from __future__ import annotations

import io
from types import SimpleNamespace

import pytest

from tests.unit.cli.conftest import POLICY

BROKEN = POLICY.replace("highest_risk: 0.2", "highest_risk: 20")
APPROVERS = "approvers:\n  - name: Ann\n    roles: [dpo]\n    key: none\n"


@pytest.fixture
def folder(desk):
    """A folder with two policies, one of which extends a fragment, and with files that are none."""
    place = desk.folder / "policies"
    (place / "more").mkdir(parents=True)
    (place / ".privrelease").mkdir()
    (place / "data.csv").write_bytes((desk.folder / "data.csv").read_bytes())
    (place / "more" / "data.csv").write_bytes((desk.folder / "data.csv").read_bytes())
    for name, text in {
        "a.yaml": POLICY,
        "more/b.yml": POLICY.replace("id: made", "id: second\nextends: [base.yaml]").replace("out/r", "out/b"),
        "more/base.yaml": "apiVersion: privrelease/v1\nkind: ReleasePolicy\nreview: {next: 2027-01-01}\n",
        "approvers.yaml": APPROVERS,
        "notes.yaml": "# kind: ReleasePolicy\n- a list\n",
        ".privrelease/copy.yaml": BROKEN,
        "README.md": "kind: ReleasePolicy\n",
    }.items():
        (place / name).write_text(text, encoding="utf-8")
    return place


def given(monkeypatch, text):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(text.encode())))


def heads(out):
    return [line.partition(": ") for line in out.splitlines() if line.startswith("policies/")]


def test_a_folder_is_its_policies_and_other_files_are_passed_over(desk, folder):
    said = desk("validate", "policies")
    assert said.code == 0
    assert [(path, rest.partition(",")[0]) for path, _, rest in heads(said.out) if ":" not in path and "P" not in rest] == [
        ("policies/a.yaml", "valid"),
        ("policies/more/b.yml", "valid"),
    ]
    assert "passed over 3 files without a release policy" in said.err
    assert all(name in said.err for name in ("approvers.yaml", "notes.yaml", "base.yaml"))
    assert said.err.endswith("exit 0: 2 policies: every one is valid\n")


@pytest.mark.parametrize("text", [BROKEN, "kind: ReleasePolicy\n\tbroken", "{apiVersion: privrelease/v1, kind: ReleasePolcy}"])
def test_a_policy_with_an_error_is_not_taken_for_another_file(desk, folder, text):
    (folder / "c.yaml").write_text(text, encoding="utf-8")
    said = desk("validate", "policies")
    assert said.code == 2
    assert "policies/c.yaml:" in said.out
    assert "policies/a.yaml: valid" in said.out
    assert "3 policies: 1 cannot be used, first policies/c.yaml: " in said.err


def test_a_fragment_that_has_releases_is_a_policy_too(desk, folder):
    (folder / "more" / "base.yaml").write_text(BROKEN, encoding="utf-8")
    said = desk("validate", "policies")
    assert said.code == 2
    assert "policies/more/base.yaml:" in said.out


def test_a_file_named_by_name_is_a_policy_unless_only_policies_are_asked_for(desk, folder):
    assert desk("validate", "policies/a.yaml", "policies/approvers.yaml").code == 2
    said = desk("validate", "policies/a.yaml", "policies/approvers.yaml", "--only-policies")
    assert said.code == 0
    assert "passed over 1 file" in said.err
    none = desk("validate", "policies/approvers.yaml", "--only-policies")
    assert (none.code, none.out) == (0, "")
    assert "nothing was checked" in none.err
    assert desk("validate", "absent.yaml", "--only-policies").code == 2


@pytest.mark.parametrize("verb", ["validate", "plan"])
def test_a_folder_without_policies_is_refused(desk, verb):
    (desk.folder / "empty").mkdir()
    said = desk(verb, "empty")
    assert (said.code, said.out) == (2, "")
    assert "C162" in said.err


def test_forms_for_machines_hold_every_policy(desk, folder):
    (folder / "c.yaml").write_text(BROKEN, encoding="utf-8")
    found = desk("validate", "policies", "--format", "json").json
    assert found["valid"] is False
    assert [(one["policy"], one["valid"]) for one in found["policies"]] == [
        ("policies/a.yaml", True),
        ("policies/c.yaml", False),
        ("policies/more/b.yml", True),
    ]
    log = desk("validate", "policies", "--format", "sarif").json["runs"][0]
    assert log["automationDetails"]["id"] == "privrelease/validate/policies/"
    files = {one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in log["results"]}
    assert "policies/c.yaml" in files
    # one policy, one object: as it was
    assert desk("validate", "policies/a.yaml", "--format", "json").json["policy"] == "policies/a.yaml"


def test_a_policy_twice_is_looked_at_once(desk, folder):
    found = desk("validate", "policies/a.yaml", "policies", "./policies/a.yaml", "--format", "json").json
    assert [one["policy"] for one in found["policies"]] == ["policies/a.yaml", "policies/more/b.yml"]


def test_plan_explains_each_and_ends_as_the_worst(desk, folder):
    (folder / "c.yaml").write_text(BROKEN, encoding="utf-8")
    said = desk("plan", "policies")
    assert said.code == 2
    assert [line for line in said.out.splitlines() if line.startswith("== ")] == [
        "== policies/a.yaml",
        "== policies/c.yaml",
        "== policies/more/b.yml",
    ]
    assert "second 1.0.0" in said.out
    assert "3 policies; 1 of them not with 0: policies/c.yaml" in said.err
    found = desk("plan", "policies", "--format", "json").json["policies"]
    assert [(one["file"], one["exit_code"]) for one in found] == [
        ("policies/a.yaml", 0),
        ("policies/c.yaml", 2),
        ("policies/more/b.yml", 0),
    ]
    assert found[1]["findings"][0]["code"] == "P104"
    assert found[2]["releases"][0]["id"] == "r"
    assert "C163" in desk("plan", "policies", "--sweep", "epsilon=1", "--chart", "a.svg").err


def test_a_policy_on_stdin_is_read_from_the_working_folder(desk, monkeypatch):
    given(monkeypatch, POLICY)
    assert "made 1.0.0" in desk("plan", "-").out
    given(monkeypatch, POLICY)
    assert "forecast for release r: 13 rows" in desk("plan", "-", "--data").out
    given(monkeypatch, BROKEN)
    said = desk("validate", "-")
    assert said.code == 2
    assert said.out.startswith("-:16:")


def test_diff_compares_a_folder_with_a_folder(desk, folder):
    before = desk.folder / "before" / "policies"
    before.mkdir(parents=True)
    (before / "a.yaml").write_text(POLICY.replace("0.2", "0.1"), encoding="utf-8")
    (before / "gone.yaml").write_text(POLICY.replace("id: made", "id: gone"), encoding="utf-8")
    said = desk("diff", "before", "policies", "--fail-on", "weaker")
    assert said.code == 1
    assert "0.1 becomes 0.2" in said.out
    assert "A new policy" in said.out
    assert said.out.endswith("== policies/gone.yaml\nNo policy has this id or path any more.\n")
    page = desk("diff", "before", "policies", "--format", "markdown").out
    assert [line for line in page.splitlines() if line.startswith("#")] == [
        "### `policies/a.yaml`",
        "### `policies/more/b.yml`",
        "### `policies/gone.yaml`",
    ]
    found = desk("diff", "before", "policies", "--format", "json").json["policies"]
    assert [(one["file"], one["exit_code"], one["counts"]["weaker"]) for one in found] == [
        ("policies/a.yaml", 0, 1),
        ("policies/more/b.yml", 0, 0),
    ]
    # of policies that are only named, nothing is said to be gone
    assert "gone" not in desk("diff", "before", "policies/a.yaml", "policies/more/b.yml").out


def test_a_policy_that_cannot_be_compared_does_not_hide_the_others(desk, folder):
    before = desk.folder / "before" / "policies"
    before.mkdir(parents=True)
    for name in ("a", "c"):
        text = POLICY.replace("0.2", "0.1").replace("id: made", f"id: {'made' if name == 'a' else 'third'}")
        (before / f"{name}.yaml").write_text(text, encoding="utf-8")
    (folder / "c.yaml").write_text(BROKEN.replace("id: made", "id: third"), encoding="utf-8")
    said = desk("diff", "before", "policies", "--format", "github", "--fail-on", "weaker")
    assert said.code == 2
    assert "0.1 becomes 0.2" in said.out
    assert "file=policies/c.yaml" in said.out


def test_several_policies_are_compared_with_a_folder_alone(desk, folder):
    said = desk("diff", "policy.yaml", "policies")
    assert (said.code, said.out) == (2, "")
    assert "C164" in said.err


def test_diff_reads_stdin_as_the_other_file(desk, folder, monkeypatch):
    given(monkeypatch, POLICY.replace("0.2", "0.1"))
    said = desk("diff", "-", "policies/a.yaml", "--fail-on", "weaker")
    assert said.code == 1
    assert said.out == "policies/a.yaml:16:53: weaker: threats.t.highest_risk: 0.1 becomes 0.2\n"
    given(monkeypatch, POLICY)
    assert desk("diff", "policies/a.yaml", "-").out == ""
    given(monkeypatch, POLICY)
    assert "C165" in desk("diff", "-", "-").err
    given(monkeypatch, POLICY)
    assert "C165" in desk("diff", "policies", "-").err
