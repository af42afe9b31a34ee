"""The hook under pre-commit itself, in a git repository: which files it is given, and what becomes of a commit."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.pipelines.conftest import HOOKS


@pytest.fixture
def guarded(repository, hook):
    """A repository whose commits pre-commit checks.

    The hook is taken from the manifest; only its language differs, since an environment of its own would install the package from an index.
    """
    repository.programs = Path(sys.executable).parent
    config = {"repos": [{"repo": "local", "hooks": [{**hook, "language": "system"}]}]}
    (repository.folder / ".pre-commit-config.yaml").write_text(json.dumps(config), encoding="utf-8")
    repository.environment = {"PRE_COMMIT_HOME": str(repository.runner / "pre-commit")}
    done = repository.shell("pre-commit install", repository.environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return repository


def commit(guarded):
    done = guarded.shell(
        "git add --all && git -c user.name=Test -c user.email=test@example.org commit --message Changed", guarded.environment
    )
    return done.returncode, done.stdout + done.stderr


def test_a_policy_with_an_error_is_not_committed_and_its_line_is_named(guarded, policies):
    policy = guarded.folder / "policies" / "one.yaml"
    policy.write_text(policies.passing, encoding="utf-8")
    code, said = commit(guarded)
    assert code == 0, said
    assert "validate release policies" in said
    assert "Passed" in said
    first = guarded.git("rev-parse", "HEAD")
    policy.write_text(policies.broken, encoding="utf-8")
    code, said = commit(guarded)
    assert code == 1
    assert "policies/one.yaml:13" in said
    assert "Failed" in said
    assert guarded.git("rev-parse", "HEAD") == first


def test_a_commit_without_policies_runs_no_hook(guarded):
    (guarded.folder / "notes.txt").write_text("no policy\n", encoding="utf-8")
    code, said = commit(guarded)
    assert code == 0, said
    assert "no files to check" in said


def test_the_manifest_of_hooks_is_one_that_pre_commit_reads(repository):
    repository.programs = Path(sys.executable).parent
    done = repository.shell(f"pre-commit validate-manifest {HOOKS}", {"PRE_COMMIT_HOME": str(repository.runner / "pre-commit")})
    assert done.returncode == 0, done.stdout + done.stderr
