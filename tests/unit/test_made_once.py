"""A state that tests start from is what a command left, whoever asks for it, and no test reaches that of another."""

from __future__ import annotations

import os

import pytest

from tests.made_once import MadeOnce, contents


@pytest.fixture
def once(tmp_path):
    return MadeOnce(tmp_path / "kept")


@pytest.fixture
def folders(tmp_path):
    """Three folders of the same content."""
    made = [tmp_path / name for name in ("one", "two", "three")]
    for folder in made:
        folder.mkdir()
        (folder / "data.csv").write_text("id\n1\n", encoding="utf-8")
    return made


def command(folder, said):
    """What a run does: a folder that is closed, a file of random bytes, a link, and an input that is gone."""

    def make():
        (folder / ".state").mkdir(mode=0o711)
        (folder / ".state" / "digest.key").write_bytes(os.urandom(16))
        (folder / ".state" / "digest.key").chmod(0o600)
        (folder / "shown").symlink_to(".state")
        (folder / "data.csv").unlink()
        said.append(folder.name)
        return len(said)

    return make


def test_the_second_who_asks_gets_every_byte_mode_and_link_of_the_first(once, folders):
    said = []
    answers = [once(folder, "run", command(folder, said)) for folder in folders]
    assert (answers, said) == ([1, 1, 1], ["one"])
    assert len({contents(folder) for folder in folders}) == 1
    for folder in folders:
        assert (folder / ".state" / "digest.key").stat().st_mode & 0o777 == 0o600
        assert (folder / ".state").stat().st_mode & 0o777 == 0o711
        assert (folder / "shown").readlink().name == ".state"
        assert not (folder / "data.csv").exists()


def test_what_a_test_does_to_its_copy_reaches_no_other(once, folders):
    for folder in folders:
        once(folder, "run", command(folder, []))
        assert (folder / ".state" / "digest.key").stat().st_size == 16
        (folder / ".state" / "digest.key").write_bytes(b"")
        (folder / "shown").unlink()


@pytest.mark.parametrize(
    "change",
    [
        lambda folder, _: (folder / "data.csv").write_text("id\n2\n", encoding="utf-8"),
        lambda folder, _: (folder / "data.csv").chmod(0o600),
        lambda folder, _: (folder / "data.csv").rename(folder / "other.csv"),
        lambda folder, _: (folder / "empty").mkdir(),
        lambda folder, _: (folder / "more").symlink_to("data.csv"),
        lambda _, monkeypatch: monkeypatch.setenv("PKEY", "k" * 32),
    ],
    ids=["content", "mode", "name", "folder", "link", "environment"],
)
def test_another_folder_or_environment_is_another_question(once, folders, monkeypatch, change):
    one, two, _ = folders
    said = []
    once(one, "run", lambda: said.append("one"))
    change(two, monkeypatch)
    once(two, "run", lambda: said.append("two"))
    assert said == ["one", "two"]


def test_so_are_other_arguments(once, folders):
    one, two, _ = folders
    said = []
    once(one, ("run", "a"), lambda: said.append("one"))
    once(two, ("run", "b"), lambda: said.append("two"))
    assert said == ["one", "two"]


def test_what_failed_to_be_made_is_tried_again(once, folders):
    one, two, _ = folders

    def fails():
        raise ValueError

    with pytest.raises(ValueError):
        once(one, "run", fails)
    assert once(two, "run", lambda: 1) == 1
