"""The walk of docs/your-own-data.md is walked: its commands in their order, on the file that its first one makes."""

from __future__ import annotations

import re
import shlex
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import pytest

from privrelease.cli.main import main
from privrelease.examples import export
from privrelease.policy.output.layout import canonical_layout

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "your-own-data.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
COMMANDS = [line for kind, text in BLOCKS if kind == "sh" for line in text.splitlines()]
(POLICY,) = (text for kind, text in BLOCKS if kind == "yaml")
TEXTS = [text.splitlines() for kind, text in BLOCKS if kind == "text"]
#: What the page shows of a file of few rows.
FEW = next(block for block in TEXTS if block[0].startswith("fails:"))
PUBLISHED = ("out/rows.csv", "out/cases.csv", "out/costs.csv")


def lines_of(said: str) -> set[str]:
    return {" ".join(line.strip("# ").split()) for line in said.splitlines()}


@dataclass
class Walk:
    """A folder in which the commands of the page were called, in their order, and what they said."""

    folder: Path
    said: str = ""
    last: str = ""


@pytest.fixture(scope="module")
def walk(tmp_path_factory):
    """Call the commands of the page, whichever test asks first."""
    made = Walk(tmp_path_factory.mktemp("walk"))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made.folder)
        for number, command in enumerate(COMMANDS, 1):
            words = shlex.split(command)
            with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
                if words[0] == "python":
                    assert words[:3] == ["python", "-m", "privrelease.examples.export"]
                    assert export.main(words[3:]) == 0
                else:
                    assert main(words[1:]) == 0, command
            if words[1] == "init":
                made.said += Path("admissions.yaml").read_text(encoding="utf-8")
                Path("admissions.yaml").write_text(POLICY, encoding="utf-8")
            assert all(Path(path).exists() for path in PUBLISHED) == (number >= len(COMMANDS) - 1), command
            assert "warn" not in err.getvalue(), (command, err.getvalue())
            made.last = out.getvalue()
            made.said += made.last
        yield made


def test_the_walk_ends_in_three_published_releases(walk):
    assert len(COMMANDS) <= 8
    shown = lines_of(walk.said)
    assert [line for block in TEXTS for line in block if line not in FEW and " ".join(line.split()) not in shown] == []
    assert walk.last.count("published  admissions/") == 3


def test_a_file_of_few_rows_ends_in_a_failed_audit_as_the_page_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert export.main(["whole.csv"]) == 0
    first = Path("whole.csv").read_bytes().splitlines(keepends=True)[:13]
    Path("admissions.csv").write_bytes(b"".join(first))
    Path("admissions.yaml").write_text(POLICY, encoding="utf-8")
    assert main(["run", "admissions.yaml", "--dry-run"]) == 4
    assert main(["ledger", "init", "admissions.yaml"]) == 0
    assert main(["plan", "admissions.yaml", "--data"]) == 1
    assert "R170" in capsys.readouterr().err
    assert main(["run", "admissions.yaml", "--dry-run"]) == 1
    said = capsys.readouterr()
    assert set(FEW) <= lines_of(said.out)
    assert not Path("out").exists()


def test_the_policy_of_the_page_is_written_as_fmt_writes_it():
    assert canonical_layout(POLICY) == POLICY


def test_the_made_up_file_is_what_offices_export(walk):
    raw = (walk.folder / "admissions.csv").read_bytes()
    with pytest.raises(UnicodeDecodeError):
        raw.decode("utf-8")
    lines = raw.decode("latin-1").splitlines()
    assert len(lines) == export.ROWS + 1 == 40_001
    assert re.fullmatch(r"F\d{6};\d{6};\d\d\.\d\d\.\d{4};\d{4};[mw];\w+;0\d{3};\w+;\w\d\d;\d+,\d", lines[1])
    released = (walk.folder / "out" / "rows.csv").read_text(encoding="utf-8")
    assert "F0000" not in released
    assert released.startswith("Geburtsjahr,Geschlecht,Kanton,Diagnose\n")


def test_a_command_without_a_file_says_how_it_is_used(capsys):
    assert export.main([]) == 2
    assert "usage" in capsys.readouterr().err
