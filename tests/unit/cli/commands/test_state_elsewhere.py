"""A state folder outside the policy's folder: every verb works on the second and third run, from other folders too."""

from __future__ import annotations

import pytest

from tests.unit.cli.conftest import DATA


@pytest.fixture
def apart(desk, monkeypatch):
    """A project, and a folder of its own to stand in; the state is in a third."""
    project, here = desk.folder / "project", desk.folder / "here"
    project.mkdir()
    here.mkdir()
    for name in ("policy.yaml", "data.csv"):
        (desk.folder / name).rename(project / name)
    monkeypatch.chdir(here)
    return desk, project


def test_every_verb_works_after_the_first_run(apart, monkeypatch):
    desk, project = apart
    policy, state = "../project/policy.yaml", ("--state", "../state")
    assert desk("run", policy, *state).code == 0
    assert desk("run", policy, *state).code == 0
    monkeypatch.chdir(project)
    assert desk("run", "policy.yaml", "--state", str(desk.folder / "state")).code == 0
    assert (project / "out" / "r.csv").resolve().is_relative_to(desk.folder / "state")
    monkeypatch.chdir(desk.folder)
    for verb in (("validate",), ("plan",), ("show",), ("frontier", "--release", "r", "--state", "state")):
        said = desk(verb[0], "project/policy.yaml", *verb[1:])
        assert said.code == 0, said.err
    assert desk("diff", "project/policy.yaml", "project/policy.yaml").code == 0
    audited = desk(
        *("audit", "project/policy.yaml", "--release", "r", "--file", "project/out/r.csv", "--state", "state", "--against", "r")
    )
    assert audited.code == 0, audited.err
    gone = desk("withdraw", "project/policy.yaml", "r", "--reason", "wrong", "--state", "state")
    assert gone.code == 0, gone.err
    assert list((project / "out").iterdir()) == []
    assert desk("run", "project/policy.yaml", "--state", "state").code == 0
    assert (project / "out" / "r.csv").read_text(encoding="utf-8").startswith("area")


def test_another_state_folder_is_another_runner(apart):
    desk, project = apart
    policy = "../project/policy.yaml"
    assert desk("run", policy, "--state", "../state").code == 0
    (project / "data.csv").write_text(DATA.replace("0,north", "0,south", 1), encoding="utf-8")
    said = desk("run", policy, "--state", "../other")
    assert said.code == 5, said.err
    assert "A291" in said.err


def test_a_link_out_of_the_folder_that_shows_no_release_is_refused_as_before(desk):
    (desk.folder / "out").mkdir()
    (desk.folder / "out" / "r.csv").symlink_to("../../elsewhere.csv")
    said = desk.run()
    assert said.code == 2
    assert "P403" in said.err
