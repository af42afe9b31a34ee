from __future__ import annotations

import pytest

from privrelease.examples import demo, export


@pytest.mark.parametrize(("codes", "whole"), [((0, 0), 0), ((5, 1), 1), ((5, 0), 5), ((1, 5), 1), ((3, 5), 3), ((0, -9), -9)])
def test_the_demonstration_ends_as_a_run_of_several_releases_does(monkeypatch, tmp_path, codes, whole):
    (tmp_path / "policies" / "data").mkdir(parents=True)
    (tmp_path / "policies" / "data" / "patients.parquet").touch()
    (tmp_path / "policies" / "privacy-ledger.db").touch()
    given = iter(codes)
    monkeypatch.setattr(demo, "ROOT", tmp_path)
    monkeypatch.setattr(demo, "census_data", lambda: tmp_path / "adult.csv")
    monkeypatch.setattr(demo, "command", lambda *_: next(given))
    assert demo.main() == whole


@pytest.mark.parametrize("arguments", [[], ["--help"], ["a.csv", "b.csv"]])
def test_what_makes_the_raw_file_writes_none_without_its_name(monkeypatch, tmp_path, capsys, arguments):
    monkeypatch.chdir(tmp_path)
    assert export.main(arguments) == 2
    assert "usage: python -m privrelease.examples.export FILE" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
