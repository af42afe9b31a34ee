"""The walk of docs/your-own-data.md is walked: its commands in their order, on the file that its first one makes."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from privrelease.cli.main import main
from privrelease.examples import export

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "your-own-data.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
COMMANDS = [line for kind, text in BLOCKS if kind == "sh" for line in text.splitlines()]
PUBLISHED = ("out/rows.csv", "out/cases.csv", "out/costs.csv")


@pytest.fixture(scope="module")
def walked(tmp_path_factory):
    """What each command printed, and which files were there after it."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("walk")
        patch.chdir(folder)
        yield folder


def test_the_walk_ends_in_three_published_releases(walked, capsys):
    assert len(COMMANDS) <= 8
    said = ""
    for number, command in enumerate(COMMANDS, 1):
        words = shlex.split(command)
        if words[0] == "python":
            assert words[:3] == ["python", "-m", "privrelease.examples.export"]
            assert export.main(words[3:]) == 0
        else:
            assert main(words[1:]) == 0, command
        if words[1] == "init":
            said += Path("admissions.yaml").read_text(encoding="utf-8")
            (policy,) = (text for kind, text in BLOCKS if kind == "yaml")
            Path("admissions.yaml").write_text(policy, encoding="utf-8")
        assert all(Path(path).exists() for path in PUBLISHED) == (number >= len(COMMANDS) - 1), command
        captured = capsys.readouterr()
        said += captured.out
        assert "warn" not in captured.err, (command, captured.err)
    shown = {" ".join(line.strip("# ").split()) for line in said.splitlines()}
    assert [
        line for kind, text in BLOCKS if kind == "text" for line in text.splitlines() if " ".join(line.split()) not in shown
    ] == []
    assert captured.out.count("published  admissions/") == 3


def test_the_made_up_file_is_what_offices_export(walked):
    raw = (walked / "admissions.csv").read_bytes()
    with pytest.raises(UnicodeDecodeError):
        raw.decode("utf-8")
    lines = raw.decode("latin-1").splitlines()
    assert len(lines) == export.ROWS + 1 == 40_001
    assert re.fullmatch(r"F\d{6};\d{6};\d\d\.\d\d\.\d{4};\d{4};[mw];\w+;0\d{3};\w+;\w\d\d;\d+,\d", lines[1])
    released = (walked / "out" / "rows.csv").read_text(encoding="utf-8")
    assert "F0000" not in released
    assert released.startswith("Geburtsjahr,Geschlecht,Kanton,Diagnose\n")


def test_a_command_without_a_file_says_how_it_is_used(capsys):
    assert export.main([]) == 2
    assert "usage" in capsys.readouterr().err
