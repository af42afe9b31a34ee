"""Results of pipelines name a policy as it is seen from the root of its repository, wherever the command ran."""

from __future__ import annotations

import json

import pytest

from privrelease.cli.ci_output import repository_root, seen_from
from privrelease.cli.main import main


@pytest.mark.parametrize("marker", ["folder", "file"])
def test_the_root_is_the_nearest_folder_with_a_repository(tmp_path, marker):
    inner = tmp_path / "project" / "policies"
    inner.mkdir(parents=True)
    assert repository_root(inner) is None or not str(repository_root(inner)).startswith(str(tmp_path))
    if marker == "folder":
        (tmp_path / "project" / ".git").mkdir()
    else:
        (tmp_path / "project" / ".git").write_text("gitdir: elsewhere", encoding="utf-8")  # a worktree
    assert repository_root(inner) == tmp_path / "project"


def test_a_path_outside_the_repository_stays_as_it_is(tmp_path):
    assert seen_from(tmp_path / "project", str(tmp_path / "other" / "p.yaml")) == str(tmp_path / "other" / "p.yaml")
    assert seen_from(tmp_path, None) is None


@pytest.mark.parametrize("form", ["sarif", "github"])
def test_a_command_in_a_folder_of_the_repository_names_the_path_from_its_root(tmp_path, monkeypatch, capsys, form):
    (tmp_path / ".git").mkdir()
    folder = tmp_path / "policies"
    folder.mkdir()
    (folder / "p.yaml").write_text(
        "apiVersion: privrelease/v1\nkind: ReleasePolicy\nid: p\nversion: 1.0.0\nnope: 1\n", encoding="utf-8"
    )
    monkeypatch.chdir(folder)
    with pytest.raises(SystemExit) as ended:
        raise SystemExit(main(["validate", "p.yaml", "--format", form]))
    assert ended.value.code == 2
    said = capsys.readouterr().out
    if form == "sarif":
        places = [
            one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in json.loads(said)["runs"][0]["results"]
        ]
        assert set(places) == {"policies/p.yaml"}
    else:
        assert "file=policies/p.yaml" in said
