"""Keys are made for their owner alone."""

from __future__ import annotations

import stat

from privrelease.cli.main import main


def test_keygen_makes_the_folder_of_the_key_for_its_owner_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["keygen", "-o", "new/keys/dpo.key"]) == 0
    assert {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("new", "new/keys")} == {0o700}
    assert stat.S_IMODE((tmp_path / "new/keys/dpo.key").stat().st_mode) == 0o600
    assert (tmp_path / "new/keys/dpo.key.pub").is_file()


def test_keygen_tells_who_names_the_file_without_o_how_it_is_named(desk):
    said = desk("keygen", "dpo.key")
    assert (said.code, said.out) == (2, "")
    assert "C125 the file of the key is named with -o\nhint: write `privrelease keygen -o dpo.key`" in said.err
    assert not list(desk.folder.glob("*.key*"))
    shown = desk("keygen", "--help").out
    assert "Usage: privrelease keygen [OPTIONS] [-o FILE]" in shown
    assert "Example:\n    privrelease keygen -o keys/dpo.key\n" in shown
