"""The shell of the pipeline templates, run as the services run it: their steps in order, in a repository of its own, with the project that is
installed here. Steps that install it, and actions of others, are told and not run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]
GITHUB = ROOT / "ci" / "github" / "privrelease.yml"
GITLAB = ROOT / "ci" / "gitlab" / "privrelease.gitlab-ci.yml"
HOOKS = ROOT / ".pre-commit-hooks.yaml"

POLICY = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: made-up
version: 1.0.0
title: Made up
datasets:
  d:
    source: data/input.csv
    columns:
      id: {role: direct, type: string}
      g: {role: quasi, type: category}
threats:
  t: {dataset: d, knows: [g], highest_risk: 0.5}
releases:
  - {id: r, kind: microdata, from: d, protect: [t], output: {path: out/r.csv}}
"""
INPUT = "id,g\n1,a\n2,a\n3,b\n4,b\n"
COUNTING = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: counts
version: 1.0.0
title: Counts
datasets:
  d:
    source: data/input.csv
    snapshot: first
    population: made-up
    unit: {column: id, max_rows: 1}
    columns:
      id: {role: direct, type: string}
      g: {role: quasi, type: category, domain: [a, b]}
releases:
  - id: counts
    kind: statistics
    from: d
    budget: {epsilon: 1.0}
    queries:
      - {id: n, count: {}, epsilon: 1.0}
    output: {path: out/counts.csv}
ledger: {cap: {epsilon: 4.0}, url: PRIVACY_LEDGER_URL}
"""


def loaded(path: Path):
    return YAML(typ="safe").load(path)


@dataclass
class Job:
    """What a job did: exit code of each step that ran, what it said, the actions that it would have called."""

    codes: dict[str, int] = field(default_factory=dict)
    said: str = ""
    uses: list[str] = field(default_factory=list)

    @property
    def code(self) -> int:
        return next((code for code in self.codes.values() if code), 0)


@dataclass
class Repository:
    """A git repository with policies, a place for what a runner writes, and where its shell finds ``privrelease``."""

    folder: Path
    runner: Path
    programs: Path

    def git(self, *arguments: str) -> str:
        who = ("-c", "user.name=Made Up", "-c", "user.email=made.up@example.org")
        done = subprocess.run(["git", *who, *arguments], cwd=self.folder, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def commit(self, **policies: str | None) -> str:
        """Write, or remove, policies by name; return the commit."""
        for name, text in policies.items():
            path = self.folder / "policies" / f"{name}.yaml"
            if text is None:
                path.unlink()
            else:
                path.write_text(text, encoding="utf-8")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "Made up")
        return self.git("rev-parse", "HEAD")

    def shell(self, script: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
        """Run a script as GitHub and GitLab run it."""
        path = self.runner / "script.sh"
        path.write_text(script, encoding="utf-8")
        kept = {key: value for key, value in os.environ.items() if key in {"HOME", "LANG", "TMPDIR", "VIRTUAL_ENV"}}
        programs = os.pathsep.join([str(self.programs), str(Path(sys.executable).parent), os.environ["PATH"]])
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(path)],
            cwd=self.folder,
            env={**kept, "PATH": programs, **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    def text(self, path: str) -> str:
        return (self.folder / path).read_text(encoding="utf-8")

    @property
    def summary(self) -> str:
        return (self.runner / "summary.md").read_text(encoding="utf-8")

    def github(self, job: str, values: dict[str, str] | None = None, **environment: str) -> Job:
        """Run a job of the workflow: steps in order, after a failure only those that always run."""
        workflow = loaded(GITHUB)
        known = {"steps.install.outcome": "success", **(values or {})}
        base = {
            **workflow["env"],
            "GITHUB_STEP_SUMMARY": str(self.runner / "summary.md"),
            "RUNNER_TEMP": str(self.runner),
            "GITHUB_ACTIONS": "true",
        }
        (self.runner / "summary.md").touch()
        ran = Job()
        for step in workflow["jobs"][job]["steps"]:
            if ran.code and "always()" not in step.get("if", ""):
                continue
            if "uses" in step:
                ran.uses.append(step["uses"])
            elif step["id"] not in {"install", "comment"}:  # these reach for other machines
                own = {name: _filled(value, known) for name, value in step.get("env", {}).items()}
                done = self.shell(step["run"], {**base, **own, **environment})
                ran.codes[step["id"]] = done.returncode
                ran.said += done.stdout + done.stderr
        return ran

    def gitlab(self, job: str, **environment: str) -> Job:
        """Run the script of a job."""
        template = loaded(GITLAB)
        values = {**template["variables"], **template[job].get("variables", {}), **environment}
        done = self.shell("\n".join(template[job]["script"]), values)
        return Job({job: done.returncode}, done.stdout + done.stderr)


def _filled(value: str, known: dict[str, str]) -> str:
    """Put values in place of ${{ expressions }}; an expression that the test knows nothing of is an error."""
    return re.sub(r"\$\{\{\s*(.*?)\s*\}\}", lambda match: known[match[1]], value)


@pytest.fixture
def repository(tmp_path, fork) -> Repository:
    folder, runner = tmp_path / "repository", tmp_path / "runner"
    (folder / "policies" / "data").mkdir(parents=True)
    runner.mkdir()
    (folder / "policies" / "data" / "input.csv").write_text(INPUT, encoding="utf-8")
    (folder / ".gitignore").write_text("review/\nreport/\nout/\n.privrelease/\n", encoding="utf-8")
    one = Repository(folder, runner, fork.programs())
    one.git("init", "--quiet", "--initial-branch", "main")
    return one


#: What a repository without secrets and variables puts in place of their expressions.
UNSET = dict.fromkeys(
    (
        "secrets.PRIVACY_LEDGER_URL",
        "secrets.PRIVRELEASE_DIGEST_KEY",
        "vars.PRIVRELEASE_DATA_ROOT",
        "vars.PRIVRELEASE_STATE",
    ),
    "",
)


@pytest.fixture
def policies() -> SimpleNamespace:
    """Texts of policies: ``passing``, ``failing``, ``unchecked``, ``broken``, ``counting``; and ``secrets``, none of which is set."""
    return SimpleNamespace(
        passing=POLICY,
        failing=POLICY.replace("highest_risk: 0.5", "highest_risk: 0.2"),
        unchecked=POLICY.partition("threats:")[0]
        + "releases:\n  - {id: r, kind: microdata, from: d, output: {path: out/r.csv}}\n",
        broken=POLICY.replace("knows: [g]", "knows: [gg]"),
        counting=COUNTING,
        secrets=UNSET,
    )


@pytest.fixture
def case_input(shared) -> bytes:
    """The rows of case c01."""
    return (shared / "cases" / "c01-exit-status" / "input.csv").read_bytes()


@pytest.fixture
def hook():
    (one,) = loaded(HOOKS)
    return one
