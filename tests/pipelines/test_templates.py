"""The pipeline templates as texts: valid by the services' schemas, with few rights, pinned, and without a place where a text becomes a command."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]
GITHUB = ROOT / "ci" / "github" / "privrelease.yml"
GITLAB = ROOT / "ci" / "gitlab" / "privrelease.gitlab-ci.yml"


def loaded(path):
    return YAML(typ="safe").load(path)


def scripts():
    for name, job in loaded(GITHUB)["jobs"].items():
        for step in job["steps"]:
            if "run" in step:
                yield pytest.param(step["run"], id=f"github-{name}-{step['id']}")
    for name, job in loaded(GITLAB).items():
        for key in ("before_script", "script"):
            if isinstance(job, dict) and key in job:
                yield pytest.param("\n".join(job[key]), id=f"gitlab-{name}-{key}")


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        ("vendor.github-workflows", GITHUB),
        ("custom.github-workflows-require-timeout", GITHUB),
        ("vendor.gitlab-ci", GITLAB),
    ],
)
def test_a_template_is_valid_by_the_schema_of_its_service(schema, path):
    program = Path(sys.executable).parent / "check-jsonschema"
    done = subprocess.run([program, "--builtin-schema", schema, path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("script", list(scripts()))
def test_every_script_is_well_formed_and_takes_no_expression(script):
    assert subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True, check=False).stderr == ""
    assert "${{" not in script


def test_a_workflow_has_no_right_but_those_that_a_job_names():
    workflow = loaded(GITHUB)
    assert workflow["permissions"] == {}
    least = {"contents": "read", "security-events": "write"}
    assert {name: job["permissions"] for name, job in workflow["jobs"].items()} == {
        "review": {**least, "pull-requests": "write"},
        "release": least,
    }


def test_every_action_is_pinned_to_a_whole_version():
    used = [step["uses"] for job in loaded(GITHUB)["jobs"].values() for step in job["steps"] if "uses" in step]
    assert used
    assert [one for one in used if not re.fullmatch(r"[\w./-]+@v\d+\.\d+\.\d+", one)] == []


def test_no_checkout_leaves_a_token_behind():
    steps = [step for job in loaded(GITHUB)["jobs"].values() for step in job["steps"]]
    checkouts = [step for step in steps if "checkout" in step.get("uses", "")]
    assert [step["with"]["persist-credentials"] for step in checkouts] == [False, False]


def test_secrets_are_seen_by_the_step_that_releases_and_by_no_other():
    holders = [
        (name, step.get("id"))
        for name, job in loaded(GITHUB)["jobs"].items()
        for step in job["steps"]
        if "secrets." in str(step)
    ]
    assert holders == [("release", "run")]
    assert "secrets." not in str({key: value for key, value in loaded(GITHUB).items() if key != "jobs"})


def test_what_is_shown_is_the_recipient_edition_until_someone_says_otherwise():
    assert loaded(GITHUB)["env"]["EDITION"] == loaded(GITLAB)["variables"]["EDITION"] == "recipient"


def test_the_settings_of_both_templates_are_the_same():
    assert loaded(GITHUB)["env"] == loaded(GITLAB)["variables"]


def test_the_templates_install_the_version_that_they_lie_beside():
    from privrelease import __version__

    assert loaded(GITHUB)["env"]["INSTALL"] == f"wheels/privrelease-{__version__}-*.whl"
