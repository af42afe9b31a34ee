from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from privrelease.errors import InputError
from privrelease.release.runs import ReleaseName, RunState
from privrelease.release.store import ReleaseStore


def test_a_published_path_shows_the_file_and_its_manifest(desk):
    run = desk.publish(b"a\n1\n")
    assert desk.shown() == {"data.csv": b"a\n1\n", "data.manifest.json": desk.store.folder(run).manifest().canonical()}
    assert desk.store.record(run).state is RunState.PUBLISHED
    assert not (desk.out / "data.csv").readlink().is_absolute()


def test_the_next_release_supersedes_the_last(desk):
    first = desk.publish(b"1")
    second = desk.publish(b"2")
    assert desk.data() == b"2"
    assert [record.state for record in desk.store.records()] == [RunState.SUPERSEDED, RunState.PUBLISHED]
    assert desk.store.current(desk.name).id == second != first


def test_a_parked_release_shows_nothing(desk):
    desk.park(b"1")
    assert desk.shown() == {}


def test_an_undecided_or_failed_release_cannot_be_published(desk):
    for outcome in (None, "fail"):
        run = desk.park(b"1", outcome=outcome)
        with pytest.raises(InputError, match="not audited"):
            desk.store.publish(run)
    assert desk.shown() == {}


def test_quarantine_leaves_the_previous_release_as_it_was(desk):
    desk.publish(b"old")
    before = desk.shown()
    run = desk.park(b"bad", outcome="fail")
    folder = desk.store.quarantine(run, "highest_risk exceeded")
    assert desk.shown() == before
    assert folder.path.parent.name == "quarantine"
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    assert stat.S_IMODE(folder.outgoing.stat().st_mode) == 0o700
    assert desk.store.record(run).history[-1].reason == "highest_risk exceeded"


@pytest.mark.parametrize("change", ["content", "size", "manifest", "extra", "missing", "link"])
def test_what_changed_after_the_audit_is_not_published(desk, change):
    desk.publish(b"old")
    run = desk.park(b"new")
    folder = desk.store.folder(run)
    file = folder.data[0]
    if change == "content":
        file.write_bytes(b"nEw")
    elif change == "size":
        file.write_bytes(b"newer")
    elif change == "manifest":
        content = folder.manifest_path.read_text()
        folder.manifest_path.write_text(content.replace('"rows": 1', '"rows": 2'))
    elif change == "extra":
        (folder.outgoing / "more.csv").write_bytes(b"x")
    elif change == "missing":
        file.unlink()
    else:
        (folder.internal / "aside").write_bytes(b"new")
        file.unlink()
        file.symlink_to("../internal/aside")
    with pytest.raises(InputError, match=r"R12[04]"):
        desk.store.publish(run)
    assert desk.data() == b"old"


def test_a_recipient_report_is_shown_beside_the_data(desk):
    run = desk.park(b"1", outcome=None)
    desk.store.folder(run).recipient_report.write_text("<html>")
    desk.store.decide(run, "pass")
    desk.store.publish(run)
    assert desk.shown()["data.report.html"] == b"<html>"
    desk.publish(b"2")
    assert "data.report.html" not in desk.shown()


def test_the_file_of_an_older_tool_is_kept_and_replaced_only_at_success(desk):
    desk.out.mkdir()
    (desk.out / "data.csv").write_bytes(b"old")
    run = desk.park(b"new")
    assert not (desk.out / "data.csv").is_symlink()
    desk.store.publish(run)
    assert desk.data() == b"new"
    assert [path.read_bytes() for path in (desk.store.state / "replaced").rglob("data.csv")] == [b"old"]


def test_a_foreign_link_is_replaced_and_its_target_stays(desk, tmp_path):
    desk.out.mkdir()
    (tmp_path / "elsewhere.csv").write_bytes(b"theirs")
    (desk.out / "data.csv").symlink_to(tmp_path / "elsewhere.csv")
    desk.publish(b"new")
    assert desk.data() == b"new"
    assert (tmp_path / "elsewhere.csv").read_bytes() == b"theirs"
    assert [path.read_text() for path in (desk.store.state / "replaced").rglob("data.csv.link")] == [
        f"{tmp_path}/elsewhere.csv\n"
    ]


def test_several_outputs_change_together(desk):
    desk.publish(b"1", "a/data.csv", "b/data.csv", "c.csv")
    assert {name: content for name, content in desk.shown().items() if name.endswith(".csv")} == {
        "a/data.csv": b"1",
        "b/data.csv": b"1",
        "c.csv": b"1",
    }
    targets = {os.path.realpath(desk.out / name).rsplit("/", 1)[0] for name in ("a/data.csv", "b/data.csv", "c.csv")}
    assert len(targets) == 1


def test_a_path_that_the_policy_no_longer_names_shows_nothing(desk):
    desk.publish(b"1", "data.csv")
    desk.publish(b"2", "other.csv")
    assert set(desk.shown()) == {"other.csv", "other.manifest.json"}


def test_policies_and_environments_share_a_state_folder_without_meeting(desk):
    names = [ReleaseName("a", "microdata"), ReleaseName("b", "microdata"), ReleaseName("a", "microdata", "ci")]
    for index, name in enumerate(names):
        desk.publish(f"{index}".encode(), f"{index}.csv", name=name)
    assert [desk.shown()[f"{index}.csv"] for index in range(3)] == [b"0", b"1", b"2"]


def test_a_renamed_release_takes_its_path_over(desk):
    desk.publish(b"1", name=ReleaseName("registry", "old-name"))
    desk.publish(b"2", name=ReleaseName("registry", "new-name"))
    assert desk.data() == b"2"


def test_withdrawing_takes_the_paths_away_and_records_why(desk):
    run = desk.publish(b"1")
    record = desk.store.withdraw(desk.name, "wrong extract")
    assert desk.shown() == {}
    assert (record.state, record.history[-1].reason) == (RunState.WITHDRAWN, "wrong extract")
    assert desk.store.folder(run).data[0].exists()
    with pytest.raises(InputError, match="R127"):
        desk.store.withdraw(desk.name, "again")


def test_a_moved_project_still_shows_its_release(desk, tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    here = type(desk)(project)
    here.publish(b"1")
    there = type(desk)(project.rename(tmp_path / "moved"))
    assert there.data() == b"1"
    there.publish(b"2")
    assert there.data() == b"2"


def test_published_files_have_the_modes_of_ordinary_files_and_internals_stay_closed(desk):
    folder = desk.store.folder(desk.publish(b"1"))
    assert stat.S_IMODE(folder.data[0].stat().st_mode) == 0o644
    assert stat.S_IMODE(folder.outgoing.stat().st_mode) == 0o755
    assert stat.S_IMODE(folder.internal.stat().st_mode) == 0o700
    parked = desk.store.folder(desk.park(b"2"))
    assert stat.S_IMODE(parked.path.stat().st_mode) == 0o700


def test_the_state_folder_keeps_itself_out_of_git(desk):
    desk.park(b"1")
    assert (desk.store.state / ".gitignore").read_text() == "*\n"


def test_links_lead_right_where_folders_are_links_themselves(desk, tmp_path):
    (tmp_path / "far" / "deep").mkdir(parents=True)
    project = tmp_path / "project"
    (tmp_path / "far" / "deep" / "project").mkdir()
    project.symlink_to(tmp_path / "far" / "deep" / "project")
    (tmp_path / "elsewhere").mkdir()
    here = type(desk)(project)
    here.out.symlink_to(tmp_path / "elsewhere")
    here.publish(b"1")
    first = here.data()
    here.publish(b"2")
    assert (first, here.data()) == (b"1", b"2")
    here.store.withdraw(here.name, "done")
    assert here.shown() == {}


def test_a_state_folder_may_be_named_relatively_and_lie_elsewhere(desk, tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    desk.store = ReleaseStore(Path("../states/registry"))
    desk.publish(b"1")
    monkeypatch.chdir(tmp_path)
    assert desk.data() == b"1"
    desk.publish(b"2")
    assert desk.data() == b"2"
    assert (tmp_path / "states" / "registry" / "lock").exists()


def test_a_strict_umask_keeps_the_published_files_closed(desk):
    os.umask(0o077)
    folder = desk.store.folder(desk.publish(b"1"))
    assert stat.S_IMODE(folder.data[0].stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.outgoing.stat().st_mode) == 0o700


def test_the_default_state_folder_lies_beside_the_policy(tmp_path):
    assert ReleaseStore.beside(tmp_path / "policy.yaml").state == tmp_path / ".privrelease"
