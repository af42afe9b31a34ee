from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from privrelease.errors import InputError
from privrelease.release import outputs as outputs_module
from privrelease.release import publications as publications_module
from privrelease.release.files import canonical_json, os_errors, write_atomically
from privrelease.release.runs import ReleaseName, RunState


@pytest.mark.parametrize("odd", ["", ".", "..", "a/b", "a\0b", ".hidden", "-flag", "a b", "a@b", "x" * 101, "e\u0301"])
def test_an_odd_id_cannot_name_a_release(odd):
    for make in (lambda: ReleaseName(odd, "r"), lambda: ReleaseName("p", odd), lambda: ReleaseName("p", "r", odd)):
        with pytest.raises(InputError, match="R110"):
            make()


@pytest.mark.parametrize("plain", ["a", "diabetes-registry-2026", "März", "1.2_b"])
def test_plain_ids_name_a_release(plain):
    assert ReleaseName(plain, plain).key == f"{plain}/{plain}"


def refused(desk, code, *names):
    with pytest.raises(InputError, match=code) as caught, desk.store.start(desk.name, desk.sinks(*names)):
        pytest.fail("the run must not begin")
    assert caught.value.exit_code == 3
    assert caught.value.hint


def test_an_output_path_that_is_a_folder_is_refused(desk):
    (desk.out / "data.csv").mkdir(parents=True)
    refused(desk, "R112")


def test_an_output_below_a_file_is_refused(desk):
    desk.out.write_bytes(b"a file")
    refused(desk, "R104")


def test_an_output_name_that_is_too_long_is_refused(desk):
    refused(desk, "R103", "x" * 251 + ".csv")


def test_a_companion_name_that_is_too_long_is_refused(desk):
    refused(desk, "R103", "x" * 250 + ".csv")


def test_an_output_inside_the_state_folder_is_refused(desk):
    refused(desk, "R113", "../.privrelease/current/data.csv")


def test_two_outputs_with_one_path_are_refused(desk):
    refused(desk, "R114", "data.csv", "x/../data.csv")


def test_an_output_that_is_another_outputs_manifest_is_refused(desk):
    refused(desk, "R114", "data.csv", "data.manifest.json")


def test_two_releases_that_share_a_companion_are_refused(desk):
    with pytest.raises(InputError, match="R114"):
        desk.store.check_outputs((desk.sinks("data.csv"), desk.sinks("data.parquet")))
    desk.store.check_outputs((desk.sinks("data.csv"), desk.sinks("other.parquet")))


def test_an_output_on_another_file_system_is_refused(desk):
    other = Path("/dev/shm")
    if not other.is_dir() or other.stat().st_dev == desk.folder.stat().st_dev:
        pytest.skip("no second file system here")
    refused(desk, "R111", str(other / "privrelease-test" / "data.csv"))


def test_a_read_only_folder_is_refused(desk, monkeypatch):
    monkeypatch.setattr(outputs_module.os, "access", lambda *_: False)  # root may write everywhere, so the answer is made
    refused(desk, "R101")


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (errno.ENOSPC, "R102"),
        (errno.EDQUOT, "R102"),
        (errno.EROFS, "R216"),
        (errno.EACCES, "R101"),
        (errno.ENAMETOOLONG, "R103"),
        (errno.ENOTDIR, "R104"),
        (errno.EIO, "R105"),
    ],
)
def test_operating_system_failures_are_told_in_words(number, code):
    with pytest.raises(InputError, match=f"{code} .* while testing"), os_errors("testing"):
        raise OSError(number, os.strerror(number), "name")


@pytest.mark.parametrize("step", ["flush", "write", "link", "switch"])
def test_a_full_disk_while_publishing_leaves_the_previous_release_and_the_new_one_parked(desk, monkeypatch, step):
    desk.publish(b"old")
    (desk.out / "data.csv").unlink()
    (desk.out / "data.csv").write_bytes(b"old")
    run = desk.park(b"new")

    def full(*_args, **_kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.MonkeyPatch.context() as patch:
        if step == "flush":
            patch.setattr(publications_module, "flush", full)
        elif step == "write":
            patch.setattr(Path, "symlink_to", full)
        elif step == "link":
            patch.setattr(publications_module, "keep_copy", full)
        else:
            patch.setattr(Path, "replace", full)
        with pytest.raises(InputError, match="R102"):
            desk.store.publish(run)
    desk.store.recover()
    assert desk.data() == b"old"
    assert desk.store.record(run).state is RunState.PARKED
    desk.store.publish(run)
    assert desk.data() == b"new"


def test_an_unknown_run_is_refused(desk):
    desk.park(b"1")
    for odd in ("nothing", "..", "", "../runs", "."):
        with pytest.raises(InputError, match="R123"):
            desk.store.publish(odd)


def test_a_run_is_published_once(desk):
    run = desk.publish(b"1")
    with pytest.raises(InputError, match="R122"):
        desk.store.publish(run)
    with pytest.raises(InputError, match="R122"):
        desk.store.quarantine(run, "late")


def test_an_atomic_write_that_fails_leaves_the_old_bytes_and_no_draft(tmp_path, monkeypatch):
    path = tmp_path / "m.json"
    write_atomically(path, b"old")

    def full(_handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_atomically(path, b"new")
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("m.json", b"old")]


def test_canonical_json_refuses_what_json_has_no_word_for():
    with pytest.raises(ValueError, match="JSON"):
        canonical_json(float("nan"))
