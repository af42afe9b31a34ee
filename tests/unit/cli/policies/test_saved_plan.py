"""`run --plan` runs exactly the plan that `plan -o` saved and a reviewer saw, or refuses."""

from __future__ import annotations

import json

import pytest

from tests.unit.cli.conftest import DATA, POLICY

STRICT = "environments: {strict: {threats: {t: {highest_risk: 0.1}}}}\n"


@pytest.fixture
def saved(desk):
    desk.policy(POLICY + STRICT)
    said = desk.once("plan", "policy.yaml", "--data", "-o", "plan.json")
    assert said.code == 0, said.err
    assert "plan.json is written" in said.last
    return desk


def refused(desk, *options):
    said = desk("run", "policy.yaml", "--plan", "plan.json", *options)
    assert said.code == 3, said.err
    assert not desk.released.exists()
    return said.err


def test_the_saved_plan_is_run(saved):
    said = saved("run", "policy.yaml", "--plan", "plan.json")
    assert said.code == 0, said.err
    assert saved.released.exists()


def test_it_holds_what_was_shown_and_no_cell(saved):
    value = json.loads((saved.folder / "plan.json").read_text(encoding="utf-8"))
    shown = saved("plan", "policy.yaml", "--data", "--format", "json").json
    assert (value["format"], value["version"], value["releases"]) == ("privrelease/plan", 1, ["r"])
    assert value["forecasts"] == shown.pop("forecasts")
    assert value["plan"] == shown
    assert "smith" not in json.dumps(value)


@pytest.mark.parametrize(
    "text",
    [
        POLICY + STRICT + "# a comment\n",
        (POLICY + STRICT).replace("  - id: r\n", "  # the rows\n  - id: r\n"),
    ],
)
def test_what_does_not_change_the_policy_does_not_matter(saved, text):
    saved.policy(text)
    assert saved("run", "policy.yaml", "--plan", "plan.json").code == 0


@pytest.mark.parametrize("what", ["data", "policy", "environment", "version", "file", "release", "key"])
def test_what_differs_is_refused_and_named(saved, monkeypatch, what):
    folder = saved.folder
    plan = folder / "plan.json"
    options = ()
    said = {
        "data": "release r reads other data: data.csv",
        "policy": "the policy says something else now",
        "environment": "it is of no environment, and the policy is run in environment strict",
        "version": "it was made by version 0.0.9",
        "file": "what it shows is not what the policy means: the file was altered",
        "release": "it is of release other",
        "key": "were digested under another key",
    }[what]
    if what == "data":
        saved.data(DATA.replace("101", "102"))
    elif what == "policy":
        saved.policy((POLICY + STRICT).replace("0.2", "0.25"))
    elif what == "environment":
        options = ("--env", "strict")
    elif what == "key":
        monkeypatch.setenv("PRIVRELEASE_DIGEST_KEY", "another key of digests")
    else:
        value = json.loads(plan.read_text(encoding="utf-8"))
        if what == "version":
            value["made_by"] = "0.0.9"
        elif what == "file":
            value["plan"]["releases"][0]["threats"] = []
        else:
            value["releases"] = ["other"]
            options = ("--release", "r")
        plan.write_text(json.dumps(value), encoding="utf-8")
    err = refused(saved, *options)
    assert "C169 the saved plan is not what would run" in err
    assert said in err


def test_another_policy_and_a_longer_list_of_approvers_are_refused(office):
    desk = office.desk
    assert desk("plan", "policy.yaml", "-o", "plan.json").code == 0
    office.list(office.person("ann", ["dpo"]), office.person("bob", ["steward", "dpo"]), office.person("eve", ["steward"]))
    assert "the list of approvers is another" in refused(desk)
    desk.policy(POLICY.replace("id: made", "id: other"))
    assert "it is of policy made" in refused(desk)


def test_data_that_changes_during_the_run_is_not_published(saved, monkeypatch):
    from privrelease.pipeline import run as pipeline

    prepare = pipeline.require_logged

    def slow(work):
        prepare(work)
        saved.data(DATA.replace("101", "102"))

    monkeypatch.setattr(pipeline, "require_logged", slow)
    assert "C169 release r read other data than the saved plan was made for" in refused(saved)
    monkeypatch.undo()
    assert [
        one["state"] for one in saved("list", str(saved.folder / ".privrelease"), "--all", "--format", "json").json["runs"]
    ] == ["failed"]


@pytest.mark.parametrize("text", [None, "{}", "no json", '{"format": "privrelease/plan", "version": 2}'])
def test_a_file_that_is_no_saved_plan_is_refused(saved, text):
    path = saved.folder / "plan.json"
    path.unlink() if text is None else path.write_text(text, encoding="utf-8")
    assert "C168" in refused(saved)


def test_a_saved_plan_is_not_written_over_and_is_about_one_policy(saved):
    assert "C130" in saved("plan", "policy.yaml", "-o", "plan.json").err
    assert saved("plan", "policy.yaml", "-o", "plan.json", "--force").code == 0
    assert "C131" in saved("plan", "policy.yaml", "-o", "data.csv", "--force").err
    assert "C163" in saved("plan", "policy.yaml", "policy.yaml", "-o", "other.json").err


def test_a_dry_run_of_a_saved_plan_checks_it_too(saved):
    assert saved("run", "policy.yaml", "--plan", "plan.json", "--dry-run").code == 0
    saved.data(DATA.replace("101", "102"))
    assert "C169" in refused(saved, "--dry-run")
