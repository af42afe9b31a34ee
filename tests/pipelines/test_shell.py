"""The shell in the pipeline templates really runs: exit codes and files for policies that pass, fail, check nothing and are broken."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.pipelines.conftest import GITHUB, GITLAB, loaded

ROOT = Path(__file__).parents[2]


@pytest.fixture
def reviewed(repository, policies):
    """A repository in which a change made one policy weaker, broke one, added one and removed one."""
    base = repository.commit(weaker=policies.failing, broken=policies.passing, gone=policies.passing)
    repository.commit(
        weaker=policies.passing, broken=policies.broken, gone=None, new=policies.passing.replace("id: made-up", "id: other")
    )
    return repository, base


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """A folder with a wheel of this tree, built as docs/pipelines.md says, but for the loops in C and a build environment of its own."""
    source, folder = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheels")
    shutil.copytree(ROOT / "privrelease", source / "privrelease", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE", "MANIFEST.in"):
        shutil.copy(ROOT / name, source)
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--wheel-dir",
        folder,
        source,
    ]
    subprocess.run(command, check=True, env={**os.environ, "PRIVRELEASE_BUILD_LOOPS": "no"})
    return folder


@pytest.mark.parametrize("service", ["github", "gitlab"])
def test_the_install_line_installs_the_wheel_that_lies_in_the_repository(repository, wheel, tmp_path, service):
    if service == "github":
        lines = {step["run"] for job in loaded(GITHUB)["jobs"].values() for step in job["steps"] if step.get("id") == "install"}
        settings = loaded(GITHUB)["env"]
    else:
        lines, settings = set(loaded(GITLAB)[".privrelease"]["before_script"]), loaded(GITLAB)["variables"]
    (line,) = lines
    place = {"PIP_TARGET": str(tmp_path / "installed"), "PIP_NO_DEPS": "1", "PIP_NO_INDEX": "1"}
    without = repository.shell(line, {**settings, **place})
    assert without.returncode != 0
    shutil.copytree(wheel, repository.folder / "wheels")
    done = repository.shell(line, {**settings, **place})
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "installed" / "privrelease" / "policy" / "loader.py").is_file()
    assert (tmp_path / "installed" / "privrelease" / "texts" / "en" / "codes" / "P.toml").is_file()


def test_a_pull_request_says_what_changed_and_stops_at_a_policy_that_is_broken(reviewed):
    repository, base = reviewed
    job = repository.github("review", {"github.event.pull_request.base.sha": base})
    assert job.codes == {"validate": 2, "diff": 2}
    assert "::error title=" in job.said
    assert "file=policies/broken.yaml" in job.said
    comment = repository.text("review/comment.md")
    assert "weaker | threats.t.highest\\_risk: 0.2 becomes 0.5 | policies/weaker.yaml:13:45 |" in comment
    assert "### `policies/new.yaml`\n\nA new policy" in comment
    assert "### `policies/gone.yaml`\n\nNo policy has this path any more." in comment
    assert "It cannot be compared" in comment
    assert comment in repository.summary
    assert str(repository.runner) not in comment
    found = [json.loads(path.read_text()) for path in sorted((repository.folder / "review" / "sarif").iterdir())]
    assert [log["runs"][0]["automationDetails"]["id"] for log in found] == ["privrelease/validate/policies/"]
    places = [
        one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for log in found for one in log["runs"][0]["results"]
    ]
    assert "policies/broken.yaml" in places
    assert [action.partition("@")[0] for action in job.uses[-2:]] == [
        "actions/upload-artifact",
        "github/codeql-action/upload-sarif",
    ]


@pytest.fixture
def stub(repository):
    """Put a program before others that notes its arguments and stdin, and ends with a code."""

    def made(name, code):
        program = repository.runner / "stubs" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(
            f'#!/bin/sh\necho "$@" >> "{program}.said"\ncat >> "{program}.said"\nexit {code}\n', encoding="utf-8"
        )
        program.chmod(0o755)
        return program.with_name(f"{name}.said"), f"{program.parent}{os.pathsep}{os.environ['PATH']}"

    return made


@pytest.mark.parametrize("code", [0, 1])
def test_the_comment_is_posted_and_what_cannot_be_posted_stops_nothing(repository, stub, code):
    (script,) = (step["run"] for step in loaded(GITHUB)["jobs"]["review"]["steps"] if step.get("id") == "comment")
    said, path = stub("gh", code)
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", script],
        env={"PATH": path, "PULL": "7"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert said.read_text() == "pr comment 7 --edit-last --create-if-none --body-file review/comment.md\n"
    assert ("::warning::" in done.stdout) is bool(code)


@pytest.mark.parametrize("code", [0, 22])
def test_gitlab_posts_a_note_with_a_token_that_no_argument_shows(reviewed, stub, code):
    repository, base = reviewed
    said, path = stub("curl", code)
    repository = replace(repository, programs=Path(f"{Path(path.split(os.pathsep)[0])}{os.pathsep}{repository.programs}"))
    where = {"CI_API_V4_URL": "https://example.org/api/v4", "CI_PROJECT_ID": "3", "CI_MERGE_REQUEST_IID": "7"}
    job = repository.gitlab(
        "privrelease-review", CI_MERGE_REQUEST_DIFF_BASE_SHA=base, PRIVRELEASE_NOTE_TOKEN="made-up", **where
    )
    assert job.code == 2
    arguments, stdin = said.read_text().splitlines()
    assert arguments.endswith("body@review/comment.md https://example.org/api/v4/projects/3/merge_requests/7/notes")
    assert (stdin, "made-up" in arguments) == ("PRIVATE-TOKEN: made-up", False)
    assert ("could not be posted" in job.said) is bool(code)


def test_a_pull_request_that_weakens_and_renames_a_policy_stops_too(repository, policies):
    base = repository.commit(one=policies.failing)
    repository.commit(one=None, two=policies.passing)
    values = {"github.event.pull_request.base.sha": base}
    assert repository.github("review", values, STOP_AT="weaker").codes == {"validate": 0, "diff": 1}
    assert "0.2 becomes 0.5" in repository.text("review/comment.md")


def test_a_pull_request_that_weakens_a_policy_stops_where_that_is_asked_for(repository, policies):
    base = repository.commit(one=policies.failing)
    repository.commit(one=policies.passing)
    values = {"github.event.pull_request.base.sha": base}
    assert repository.github("review", values, STOP_AT="never").codes == {"validate": 0, "diff": 0}
    repository.git("worktree", "remove", "--force", str(repository.runner / "base"))
    # it is the default
    assert repository.github("review", values).codes == {"validate": 0, "diff": 1}


@pytest.mark.parametrize("service", ["github", "gitlab"])
def test_a_parked_release_hides_no_failed_one_and_a_published_one_is_not_denied(repository, policies, service):
    """Case w08: of several policies the worst by the ranking of `run` decides, not the largest number."""
    waiting = (
        policies.passing.replace("id: made-up", "id: waiting").replace("out/r.csv", "out/w.csv") + "legal: {profile: gdpr}\n"
    )
    failing = policies.failing.replace("releases:\n", "  u: {dataset: d, knows: [g], highest_risk: 0.9}\nreleases:\n")
    failing += "  - {id: s, kind: microdata, from: d, protect: [u], output: {path: out/s.csv}}\n"
    repository.commit(a=failing, b=waiting, c=policies.passing.replace("id: made-up", "id: third").replace("out/r", "out/c"))
    job = repository.github("release", policies.secrets) if service == "github" else repository.gitlab("privrelease-release")
    said = repository.summary if service == "github" else job.said
    assert job.code == 1
    assert "a check failed, the report says why: r quarantined, s published (exit 1)" in said
    assert sorted(path.name for path in (repository.folder / "policies" / "out").glob("*.csv")) == ["c.csv", "s.csv"]
    assert "an approval or a review is missing: r parked (exit 5)" in said
    assert "released (exit 0)" in said


@pytest.mark.case("c01-exit-status")
def test_a_release_job_tells_pass_fail_nothing_checked_and_bad_policy_apart(repository, policies, case_input):
    (repository.folder / "policies" / "data" / "input.csv").write_bytes(case_input)
    named = {"fails": policies.failing, "nothing": policies.unchecked, "unknown": policies.broken}
    repository.commit(
        passes=policies.passing,
        **{
            name: text.replace("out/r.csv", f"out/{name}.csv").replace("made-up", f"made-up-{name}")
            for name, text in named.items()
        },
    )
    job = repository.github("release", policies.secrets)
    said = dict(
        line.removeprefix("**").split("**: ") for line in repository.summary.splitlines() if line.startswith("**policies/")
    )
    assert said["policies/passes.yaml"] == "released (exit 0)"
    assert said["policies/fails.yaml"] == "a check failed, the report says why: r quarantined (exit 1)"
    assert said["policies/nothing.yaml"].endswith(("(exit 1)", "(exit 2)"))
    assert said["policies/unknown.yaml"] == "the policy cannot be used (exit 2)"
    assert "gg" in job.said
    assert "did you mean g" in job.said
    assert job.code == 2
    out = repository.folder / "policies" / "out"
    assert sorted(path.name for path in out.glob("*.csv")) == ["r.csv"]
    reports = sorted((repository.folder / "report").glob("*.html"))
    assert len(reports) >= 2  # that of what failed is written, too
    logs = [json.loads(path.read_text()) for path in (repository.folder / "report" / "sarif").iterdir()]
    assert len(logs) == len({log["runs"][0]["automationDetails"]["id"] for log in logs}) == len(reports)
    pages = [path.read_text(encoding="utf-8") for path in reports]
    assert sum("Passes its policy" in page for page in pages) == 1
    assert all("not shown in this edition" in page for page in pages)
    assert "before:" not in job.said


def test_logs_hold_figures_of_the_source_only_where_that_is_asked_for(repository, policies):
    repository.commit(fails=policies.failing)
    job = repository.github("release", policies.secrets, EDITION="internal")
    assert job.codes == {"run": 1}
    assert "before:" in job.said
    (report,) = (repository.folder / "report").glob("*.html")
    assert "not shown in this edition" not in report.read_text(encoding="utf-8")


def test_a_job_that_finds_no_policy_checked_nothing_and_says_so(repository, policies):
    repository.commit()
    for job in (
        repository.github("release", policies.secrets),
        repository.gitlab("privrelease-release"),
    ):
        assert job.code == 2
        assert "no policy matches policies/*.yaml" in job.said


def test_gitlab_reviews_a_change(reviewed):
    repository, base = reviewed
    job = repository.gitlab("privrelease-review", CI_MERGE_REQUEST_DIFF_BASE_SHA=base)
    assert job.code == 2
    comment = repository.text("review/comment.md")
    assert "weaker | threats.t.highest" in comment
    assert "No policy has this path any more." in comment
    assert "It cannot be compared" in comment
    assert all("<testsuite" in path.read_text() for path in (repository.folder / "review" / "junit").iterdir())
    assert repository.git("worktree", "list").count("\n") == 0


def test_gitlab_releases_what_passes_and_reports_what_fails(repository, policies):
    repository.commit(passes=policies.passing, fails=policies.failing.replace("out/r.csv", "out/f.csv"))
    job = repository.gitlab("privrelease-release")
    assert job.code == 1
    assert "policies/passes.yaml: released (exit 0)" in job.said
    assert "policies/fails.yaml: a check failed" in job.said
    assert [path.name for path in (repository.folder / "policies" / "out").glob("*.csv")] == ["r.csv"]
    report = repository.folder / "report"
    assert len(list(report.glob("*.html"))) == len(list((report / "junit").iterdir())) == 2
    assert repository.text("report/summary.md").count("## ") == 2


def test_a_ledger_is_reached_by_the_variable_that_the_policy_names(repository, policies):
    repository.commit(counts=policies.counting)
    missing = repository.github("release", policies.secrets)
    assert missing.codes["run"] in {2, 3, 4}
    assert "exit" in missing.said
    url = f"sqlite:///{repository.runner / 'ledger.db'}"
    ready = repository.shell("privrelease ledger init policies/counts.yaml", {"PRIVACY_LEDGER_URL": url})
    assert ready.returncode == 0, ready.stderr
    charged = repository.github("release", {**policies.secrets, "secrets.PRIVACY_LEDGER_URL": url})
    assert charged.codes == {"run": 0}, charged.said
    assert url not in charged.said + repository.summary
    assert (repository.folder / "policies" / "out" / "counts.csv").is_file()


def test_a_state_folder_and_a_data_root_outside_the_checkout_are_used(repository, policies):
    elsewhere = repository.runner / "elsewhere"
    elsewhere.mkdir()
    (repository.folder / "policies" / "data").rename(elsewhere / "data")
    repository.commit(passes=policies.passing)
    state = repository.runner / "state"
    values = {"vars.PRIVRELEASE_DATA_ROOT": str(elsewhere), "vars.PRIVRELEASE_STATE": str(state)}
    job = repository.github("release", {**policies.secrets, **values})
    assert job.codes == {"run": 0}, job.said
    assert list(state.glob("runs/*/internal/audit.json"))


def test_the_pre_commit_hook_checks_every_file_and_ends_as_the_worst(repository, policies, hook):
    repository.programs = Path(sys.executable).parent
    repository.commit(one=policies.passing, two=policies.broken)
    command = shlex.split(hook["entry"])
    ends = []
    for names in (["one"], ["one", "two"], ["two", "one"]):
        files = [f"policies/{name}.yaml" for name in names]
        done = repository.shell(shlex.join([*command, *files]), {})
        ends.append(done.returncode)
    assert ends == [0, 2, 2]
    (repository.folder / "policies" / "approvers.yaml").write_text("approvers: []\n", encoding="utf-8")
    assert repository.shell(shlex.join([*command, "policies/approvers.yaml", "policies/one.yaml"]), {}).returncode == 0
    assert "policies/two.yaml:13" in done.stdout + done.stderr


def test_the_hook_is_for_policies_and_not_for_what_lies_below_them(hook):
    import re

    assert re.search(hook["files"], "policies/diabetes.yaml")
    assert not re.search(hook["files"], "policies/data/codes.yaml")
    assert {"id", "name", "entry", "language"} <= hook.keys()
    assert subprocess.run(["bash", "-n", "-c", hook["entry"]], check=False).returncode == 0
