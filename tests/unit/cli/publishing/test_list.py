"""Releases and their states; runs named by id or folder."""

from __future__ import annotations

import shutil
from types import SimpleNamespace

import pytest

from tests.unit.cli.conftest import APPROVALS, DATA, POLICY, Desk, Office


class Unheard:
    """What a module's fixture says is of no interest."""

    @staticmethod
    def readouterr():
        return SimpleNamespace(out="", err="")


@pytest.fixture(scope="module")
def life(tmp_path_factory, made_once):
    """A folder in which one release has lived: superseded, published; and one run each that waits and that failed. Runs by state."""
    folder = tmp_path_factory.mktemp("life")
    office = Office(Desk(folder, Unheard(), made_once))
    office.desk.policy(POLICY + APPROVALS)
    office.desk.data(DATA)
    office.list(office.person("ann", ["dpo"]), office.person("bob", ["steward", "dpo"]))
    runs = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for state in ("superseded", "published"):
            runs[state] = run = office.run()
            for name, role in (("ann", "dpo"), ("bob", "steward")):
                assert office.approve(run, name, role).code == 0
            assert office.publish(run).code == 0
        runs["parked"] = office.run()
        office.desk.policy(POLICY.replace("version: 1.0.0", "version: 1.1.0").replace("[{suppress: cells}]", "[]") + APPROVALS)
        assert office.desk.run().code == 1
    (quarantined,) = (folder / ".privrelease" / "quarantine").iterdir()
    office.desk.policy(POLICY + APPROVALS)
    return folder, runs | {"quarantined": quarantined.name}


@pytest.fixture
def lived(life, tmp_path, capsys, monkeypatch, made_once):
    """A copy of that folder; (office, runs by state)."""
    folder, runs = life
    copy = tmp_path / "life"
    shutil.copytree(folder, copy, symlinks=True)
    monkeypatch.chdir(copy)
    return Office(Desk(copy, capsys, made_once)), runs


def rows(said):
    return {line.split()[0]: line for line in said.out.splitlines()}


def test_releases_are_listed_with_state_time_version_and_place(lived):
    office, runs = lived
    said = office.desk("list", "policy.yaml")
    assert said.code == 0, said.err
    found = rows(said)
    assert list(found) == ["state", "quarantined", "parked", "published"]
    assert all(runs[state] in found[state] for state in ("quarantined", "parked", "published"))
    assert found["published"].split()[1] == "made/r"
    assert found["published"].endswith("  out/r.csv")
    assert found["parked"].endswith(f"  .privrelease/runs/{runs['parked']}")
    assert found["quarantined"].endswith(f"  .privrelease/quarantine/{runs['quarantined']}")
    assert (" 1.1.0 " in found["quarantined"], " 1.0.0 " in found["published"]) == (True, True)
    assert "not shown: 1 superseded; --all shows them" in said.err
    assert said.err.endswith("exit 0: 1 parked, 1 published, 1 quarantined\n")
    assert runs["superseded"] in rows(office.desk("list", "policy.yaml", "--all"))["superseded"]
    # a state folder, and a folder of a run, name the same; nothing of a policy of another id
    assert office.desk("list", ".privrelease").out == said.out
    (office.desk.folder / "other.yaml").write_text(POLICY.replace("id: made", "id: other"), encoding="utf-8")
    assert office.desk("list", "other.yaml").out == ""


def test_a_run_is_shown_with_its_history(lived):
    office, runs = lived
    run = runs["published"]
    said = office.desk("list", "policy.yaml", run)
    assert "state     published\n" in said.out
    assert "policy    made 1.0.0, sha256 " in said.out
    assert f"audit     .privrelease/runs/{run}/internal/audit.json\n" in said.out
    assert [line.split()[3] for line in said.out.splitlines() if line.startswith("history")][-1] == "published"
    assert office.desk("list", f".privrelease/runs/{run}").out == said.out
    value = office.desk("list", "policy.yaml", run, "--format", "json").json
    assert (value["run"], value["state"], value["policy_version"], value["where"]) == (run, "published", "1.0.0", ["out/r.csv"])
    assert [one["state"] for one in value["history"]][:2] == ["running", "parked"]
    every = office.desk("list", "policy.yaml", "--format", "json", "--all").json
    assert {one["state"]: one["run"] for one in every["runs"]} == runs


def test_a_run_is_shown_with_the_approvals_that_it_has_and_lacks(office):
    run = office.run()
    said = office.desk("list", "policy.yaml", run)
    assert "missing   approval as dpo, steward\n" in said.out
    assert said.last == f"exit 0: run {run} is parked; not approved as: dpo, steward"
    assert office.approve(run, "ann", "dpo").code == 0
    said = office.desk("list", "policy.yaml", run)
    assert "approved  as dpo by ann, 20" in said.out
    assert "missing   approval as steward\n" in said.out
    assert office.approve(run, "bob", "steward").code == 0
    said = office.desk("list", "policy.yaml", run)
    assert "missing   none: it can be published\n" in said.out
    assert said.last == f"exit 0: run {run} is parked, and approved by all who must"
    assert office.publish(run).code == 0
    said = office.desk("list", "policy.yaml", run)
    assert "approved  as steward by bob, 20" in said.out
    assert "missing" not in said.out + said.err
    value = office.desk("list", "policy.yaml", run, "--format", "json").json
    assert ([by["role"] for by in value["approvals"]], value["missing"]) == (["dpo", "steward"], None)


def test_a_run_is_withdrawn_by_its_id_or_folder_if_it_is_the_published_one(lived):
    office, runs = lived
    desk = office.desk
    for other in ("superseded", "parked"):
        said = desk("withdraw", "policy.yaml", runs[other], "--reason", "made up")
        assert (said.code, f"run {runs[other]} is {other}, not published" in said.err) == (3, True), said.err
    assert desk.released.exists()
    said = desk("withdraw", "policy.yaml", f".privrelease/runs/{runs['published']}", "--reason", "made up")
    assert said.code == 0, said.err
    assert not desk.released.exists()
    found = rows(desk("list", "policy.yaml"))
    assert runs["published"] in found["withdrawn"]
    assert "C103" in desk("withdraw", "policy.yaml", "20000101T000000-absent", "--reason", "made up").err


def test_a_run_of_another_policy_is_not_withdrawn(lived):
    office, runs = lived
    (office.desk.folder / "other.yaml").write_text(POLICY.replace("id: made", "id: other"), encoding="utf-8")
    said = office.desk("withdraw", "other.yaml", runs["published"], "--reason", "made up")
    assert (said.code, "C166" in said.err) == (2, True)
    assert "is of another policy" in office.desk("list", "other.yaml", runs["published"]).err


def test_a_run_is_approved_and_published_by_its_folder_from_anywhere(office, monkeypatch):
    run = office.run()
    office.desk.folder.joinpath("below").mkdir()
    monkeypatch.chdir(office.desk.folder / "below")
    folder = f"../.privrelease/runs/{run}"
    for name, role in (("ann", "dpo"), ("bob", "steward")):
        said = office.desk("approve", "../policy.yaml", folder + "/", "--role", role, "--key", f"../{name}.key")
        assert f"run {run} as {role}" in said.out, said.err
    assert office.desk("publish", "../policy.yaml", folder).code == 0
    assert office.desk.released.exists()


def test_a_folder_of_another_state_folder_is_refused(office):
    run = office.run()
    shutil.copytree(office.desk.folder / ".privrelease" / "runs" / run, office.desk.folder / "away" / run)
    said = office.desk("publish", "policy.yaml", f"away/{run}", "--state", ".privrelease")
    assert (said.code, "R226" in said.err) == (3, True)
    assert not office.desk.released.exists()


def test_a_run_that_exists_twice_is_decided_upon_by_no_command(lived):
    office, runs = lived
    state = office.desk.folder / ".privrelease"
    shutil.copytree(state / "quarantine" / runs["quarantined"], state / "runs" / runs["quarantined"])
    for words in (
        ("publish", "policy.yaml", runs["quarantined"]),
        ("approve", "policy.yaml", f".privrelease/runs/{runs['quarantined']}", "--role", "dpo", "--key", "ann.key"),
        ("withdraw", "policy.yaml", runs["quarantined"], "--reason", "made up"),
        ("list", "policy.yaml", runs["quarantined"]),
    ):
        said = office.desk(*words)
        assert said.code == 3, words
        assert f"R225 run {runs['quarantined']} exists twice: in runs (quarantined) and in quarantine (quarantined)" in said.err
    said = office.desk("list", "policy.yaml")
    assert said.code == 3
    assert said.out.count(runs["quarantined"]) == 4  # both rows, each with its folder
    # other releases go on
    assert office.desk.run().code == 5


def test_a_list_says_what_was_killed_half_way_and_changes_nothing(lived, monkeypatch):
    from privrelease.release.publications import Publications

    office, runs = lived

    def stop(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Publications, "_unlink", stop)
        office.desk("withdraw", "policy.yaml", "r", "--reason", "made up")
    record = office.internal(runs["published"]) / "state.json"
    before = record.read_bytes()
    assert runs["published"] in rows(office.desk("list", "policy.yaml"))["withdrawn"]
    assert record.read_bytes() == before


def test_a_record_that_cannot_be_read_is_named_and_hides_no_other(lived):
    office, runs = lived
    (office.internal(runs["parked"]) / "state.json").write_text("{}", encoding="utf-8")
    said = office.desk("list", "policy.yaml")
    assert (said.code, "R126" in said.err) == (3, True)
    assert runs["published"] in rows(said)["published"]
    found = office.desk("list", "policy.yaml", "--format", "json").json["unreadable"]
    assert [(one["folder"], one["code"]) for one in found] == [(f".privrelease/runs/{runs['parked']}", "R126")]


def test_without_a_state_folder_there_is_an_error_and_without_runs_nothing(desk):
    said = desk("list", "policy.yaml")
    assert (said.code, "R227" in said.err) == (3, True)
    assert desk("list", "absent.yaml").code == 2
    desk.data(DATA.replace("id,", "nr,"))
    assert desk.run().code != 0
    said = desk("list", "policy.yaml")
    assert (said.code, said.out) == (0, "")
    assert "no run is published" in said.err


def test_a_folder_that_has_a_state_folder_is_listed_as_that(lived):
    desk = lived[0].desk
    assert desk("list", ".", "--format", "json").json == desk("list", ".privrelease", "--format", "json").json
