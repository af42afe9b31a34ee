from __future__ import annotations

import os
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from privrelease.errors import InputError
from privrelease.release import publications as publications_module
from privrelease.release.runs import ReleaseName, RunFolder, RunState
from privrelease.release.store import ReleaseStore


class Killed(BaseException):
    """Stands for a kill: nothing of the program runs after it."""


def steps_of_publication(monkeypatch, stop_at):
    """Let every system call that changes a name count, and the one numbered `stop_at` never happen (nor any after it)."""
    count = 0

    def counting(real):
        def call(*args, **kwargs):
            nonlocal count
            count += 1
            if stop_at is not None and count >= stop_at:
                raise Killed
            return real(*args, **kwargs)

        return call

    for name in ("replace", "symlink_to", "unlink", "mkdir", "chmod", "rename"):
        monkeypatch.setattr(Path, name, counting(getattr(Path, name)))
    monkeypatch.setattr(os, "link", counting(os.link))
    return lambda: count


def publish_stopped_at(desk, run, stop_at):
    with pytest.MonkeyPatch.context() as patch:
        counted = steps_of_publication(patch, stop_at)
        with suppress(Killed):
            desk.store.publish(run)
        return counted()


@pytest.mark.parametrize("before", ["nothing", "release", "regular", "other"])
def test_publication_stopped_at_any_step_shows_the_old_release_or_the_new(tmp_path, desk, before):
    def situation(folder):
        folder.mkdir()
        here = type(desk)(folder)
        if before == "regular":
            for name in ("data.csv", "b/data.csv"):
                (here.out / name).parent.mkdir(parents=True, exist_ok=True)
                (here.out / name).write_bytes(b"old")
        elif before != "nothing":
            here.publish(b"old", "data.csv", "b/data.csv", name=ReleaseName("registry", "other") if before == "other" else None)
        return here

    def data(here):
        return {name: content for name, content in here.shown().items() if name.endswith(".csv") and content is not None}

    here = situation(tmp_path / "whole")
    steps = publish_stopped_at(here, here.park(b"new", "data.csv", "b/data.csv"), None)
    assert steps > 8
    old = {} if before == "nothing" else {"data.csv": b"old", "b/data.csv": b"old"}
    new = {"data.csv": b"new", "b/data.csv": b"new"}
    assert data(here) == new
    seen = []
    for stop_at in range(1, steps + 1):
        here = situation(tmp_path / str(stop_at))
        run = here.park(b"new", "data.csv", "b/data.csv")
        publish_stopped_at(here, run, stop_at)
        after = data(here)
        assert after in (old, new), f"step {stop_at}"
        seen.append(after == new)
        here.store.recover()
        assert data(here) == after
        assert here.store.record(run).state is (RunState.PUBLISHED if after == new else RunState.PARKED)
        here.publish(b"next", "data.csv", "b/data.csv")
        assert data(here) == {"data.csv": b"next", "b/data.csv": b"next"}
        assert [
            record.run for record in here.store.records() if record.state is RunState.PUBLISHED and record.name == here.name
        ] == [here.store.current(here.name).id]
        assert not list((here.store.state / "scratch").iterdir())
    assert seen == sorted(seen)
    assert not seen[0]


def killed_run(desk, moment):
    """Start a run in another process and have it killed at `moment`."""
    script = f"""
import os, signal, sys
from pathlib import Path
sys.path.insert(0, {str(Path(__file__).parent)!r})
from conftest import Desk, manifests
desk = Desk(Path({str(desk.folder)!r}))
with desk.store.start(desk.name, desk.sinks()) as run:
    (run.temporary / "spill").write_bytes(b"rows")
    for path in run.data:
        path.write_bytes(b"rows")
    if {moment!r} == "running":
        os.kill(os.getpid(), signal.SIGKILL)
    desk.store.park(run, *manifests(run, desk.name))
    if {moment!r} == "parked":
        os.kill(os.getpid(), signal.SIGKILL)
    desk.store.decide(run.id, "fail" if {moment!r} == "failed" else "pass")
    os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True)
    assert done.returncode == -9, done.stderr.decode()
    (record,) = desk.store.records()
    return record.run


@pytest.mark.parametrize("moment", ["running", "parked"])
def test_a_run_killed_before_its_decision_is_abandoned_and_its_data_removed(desk, moment):
    run = killed_run(desk, moment)
    assert desk.store.recover() == (run,)
    folder = desk.store.folder(run)
    assert desk.store.record(run).state is RunState.ABANDONED
    assert sorted(path.name for path in folder.path.rglob("*")) == ["internal", "lock", "state.json"]
    assert desk.store.recover() == ()


def test_a_run_killed_after_a_failed_audit_goes_to_quarantine(desk):
    run = killed_run(desk, "failed")
    desk.store.recover()
    assert desk.store.folder(run).path.parent.name == "quarantine"
    assert desk.store.record(run).state is RunState.QUARANTINED


def test_a_run_killed_after_a_passed_audit_can_still_be_published(desk):
    run = killed_run(desk, "passed")
    assert desk.store.recover() == ()
    assert not desk.store.folder(run).temporary.exists()
    desk.store.publish(run)
    assert desk.data() == b"rows"


def test_a_live_run_is_left_alone(desk):
    with desk.store.start(desk.name, desk.sinks()) as run:
        run.data[0].write_bytes(b"rows")
        assert desk.store.recover() == ()
        with ReleaseStore(desk.store.state).start(ReleaseName("registry", "second"), desk.sinks("second.csv")):
            assert run.data[0].read_bytes() == b"rows"


def test_a_folder_that_a_kill_left_without_record_is_removed(desk):
    desk.park(b"1")
    stray = desk.store.state / "runs" / "20260101T000000000000-abcdef"
    (stray / "internal").mkdir(parents=True)
    desk.store.recover()
    assert not stray.exists()


@pytest.mark.parametrize("failure", [InputError("D111", "m"), KeyboardInterrupt(), RuntimeError("m")])
def test_a_run_that_raises_keeps_nothing_but_its_record(desk, failure):
    desk.publish(b"old")
    with pytest.raises(type(failure)), desk.store.start(desk.name, desk.sinks()) as run:  # noqa: PT012 -- the block is the run
        run.data[0].write_bytes(b"rows")
        (run.temporary / "spill").write_bytes(b"rows")
        raise failure
    assert desk.data() == b"old"
    record = desk.store.record(run.id)
    assert record.state is RunState.FAILED
    assert record.history[-1].reason == f"stopped by {getattr(failure, 'code', type(failure).__name__)}"
    assert not run.outgoing.exists()
    assert not run.temporary.exists()


def test_a_run_that_ends_without_a_release_keeps_nothing_but_its_record(desk):
    with desk.store.start(desk.name, desk.sinks()) as run:
        run.data[0].write_bytes(b"rows")
    assert desk.store.record(run.id).state is RunState.FAILED
    assert not run.outgoing.exists()


def test_of_two_runs_at_once_both_finish_and_the_last_publisher_wins_whole(desk):
    names = ("data.csv", "b/data.csv", "c.csv")
    desk.publish(b"old", *names)
    mixed = []
    stop = threading.Event()

    def watch():
        while not stop.is_set():
            # one readlink decides for all files of a release
            folder = (desk.store.state / "current" / desk.name.key).resolve()
            contents = {(folder / file).read_bytes() for file in ("data.csv", "2-data.csv", "c.csv")}
            if len(contents) != 1:
                mixed.append(contents)

    def run(content):
        for _ in range(5):
            type(desk)(desk.folder).publish(content, *names)

    watcher = threading.Thread(target=watch)
    publishers = [threading.Thread(target=run, args=(content,)) for content in (b"one", b"two")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(publications_module.os, "umask", lambda _mask: 0o022)
        watcher.start()
        for thread in publishers:
            thread.start()
        for thread in publishers:
            thread.join()
    stop.set()
    watcher.join()
    assert not mixed
    contents = {content for name, content in desk.shown().items() if name.endswith(".csv")}
    assert len(contents) == 1
    states = [record.state for record in desk.store.records()]
    assert states.count(RunState.PUBLISHED) == 1
    assert states.count(RunState.SUPERSEDED) == 10


def test_withdrawal_stopped_after_its_moment_is_settled(desk):
    run = desk.publish(b"1")
    (desk.store.state / "current" / desk.name.key).unlink()
    desk.store.recover()
    assert desk.store.record(run).state is RunState.WITHDRAWN
    assert desk.shown() == {}


def test_a_run_folder_names_what_is_in_it(tmp_path):
    run = RunFolder(tmp_path / "20260101T000000000000-abcdef")
    assert run.id == "20260101T000000000000-abcdef"
    with pytest.raises(InputError, match="R123"):
        run.record()
