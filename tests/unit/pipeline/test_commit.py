"""The commit of the repository that holds a policy: git is asked wherever it can find a repository, and not started elsewhere."""

from __future__ import annotations

import os
import subprocess

import pytest

from privrelease.pipeline import settings
from privrelease.pipeline.settings import commit_of


@pytest.fixture(autouse=True)
def _plain_git(monkeypatch, tmp_path):
    """Have git know no more than the folders of the test."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("HOME", str(tmp_path))


def git(folder, *words):
    named = ("-c", "user.name=n", "-c", "user.email=e@example.org")
    done = subprocess.run(["git", *named, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path):
    home = tmp_path / "home"
    (home / "policies" / "deep").mkdir(parents=True)
    policy = home / "policies" / "deep" / "policy.yaml"
    policy.write_text("id: a\n")
    git(home, "init", "-q")
    git(home, "add", ".")
    git(home, "commit", "-q", "-m", "first")
    return home, policy


def test_a_policy_below_the_top_of_a_repository_has_its_commit_and_says_when_it_differs(repository):
    home, policy = repository
    commit = git(home, "rev-parse", "HEAD")
    assert commit_of(policy) == commit
    policy.write_text("id: b\n")
    assert commit_of(policy) == f"{commit}-modified"


def test_a_policy_that_git_does_not_keep_has_none(repository):
    _, policy = repository
    other = policy.with_name("other.yaml")
    other.write_text("id: c\n")
    assert commit_of(other) is None


def test_a_policy_of_a_second_worktree_or_behind_a_link_is_found(repository, tmp_path):
    home, policy = repository
    commit = git(home, "rev-parse", "HEAD")
    git(home, "worktree", "add", "-q", str(tmp_path / "second"))
    assert (tmp_path / "second" / ".git").is_file()
    assert commit_of(tmp_path / "second" / "policies" / "deep" / "policy.yaml") == commit
    (tmp_path / "link").symlink_to(policy.parent)
    assert commit_of(tmp_path / "link" / "policy.yaml") == commit


def test_a_repository_that_a_variable_names_is_asked(repository, tmp_path, monkeypatch):
    home, policy = repository
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    git(home, "rev-parse", "HEAD")
    (home / ".git").rename(elsewhere / "kept.git")
    assert commit_of(policy) is None
    monkeypatch.setenv("GIT_DIR", str(elsewhere / "kept.git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(home))
    assert commit_of(policy) == git(home, "rev-parse", "HEAD")


def test_git_is_not_started_where_it_could_find_nothing(repository, tmp_path, monkeypatch):
    _, policy = repository
    asked = []

    def refuse(command, **_options):
        asked.append(command)
        raise OSError

    monkeypatch.setattr(settings.subprocess, "run", refuse)
    outside = tmp_path / "policy.yaml"
    outside.write_text("id: a\n")
    assert commit_of(outside) is None
    assert not asked
    assert commit_of(policy) is None
    assert len(asked) == 1
