from __future__ import annotations

import os
import resource
import subprocess
import sys
from hashlib import sha256

import pytest

import privrelease
from privrelease.cli.console import harmless
from privrelease.cli.exit import MEANINGS, ended, ending_of
from privrelease.errors import InputError
from tests.unit.cli.conftest import POLICY

COMMANDS = ("init", "validate", "plan", "run", "audit", "report", "show", "schema")
CELL = "a made-up cell 7731"


def failing(error):
    def command():
        raise error

    return command


def test_every_documented_exit_code_has_a_meaning():
    assert sorted(MEANINGS) == [0, 1, 2, 3, 4, 5, 70]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ValueError(CELL), 70),
        (KeyError(CELL), 70),
        (RecursionError(CELL), 70),
        (MemoryError(CELL), 3),
        (OSError(28, "No space left on device"), 3),
        (KeyboardInterrupt(), 3),
        (InputError(code="D1", message="known"), 3),
    ],
)
def test_whatever_is_raised_becomes_a_documented_code_without_a_cell(error, code):
    ending = ended(failing(error))
    assert ending.code == code
    assert CELL not in ending.said + ending.last_line


def test_an_engines_message_is_never_shown_since_it_may_hold_a_cell():
    import duckdb

    for error, code in (
        (duckdb.ConversionException(CELL), 70),
        (duckdb.OutOfMemoryException(CELL), 3),
        (duckdb.IOException(CELL), 3),
    ):
        ending = ending_of(error)
        assert ending.code == code
        assert CELL not in ending.said + ending.last_line


def test_a_fault_of_ours_names_its_place_and_leaves_a_file_without_values(tmp_path):
    def command():
        return harmless(7731)

    ending = ended(command, crash_folder=tmp_path)
    assert ending.code == 70
    assert "AttributeError in privrelease/cli/console.py:" in ending.said
    kept = (tmp_path / "crash.txt").read_text(encoding="utf-8")
    assert "console.py" in kept
    assert "7731" not in kept


def test_no_crash_file_is_written_into_a_folder_that_does_not_exist(tmp_path):
    ended(failing(ValueError()), crash_folder=tmp_path / "none")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["rnu"],
        ["run"],
        ["run", "a.yaml", "--fial-on", "warn"],
        ["run", "a.yaml", "--format", "xml"],
        ["run", "a", "--threads", "0"],
    ],
)
def test_bad_usage_is_exit_two_and_says_so_last(desk, arguments):
    said = desk(*arguments)
    assert said.code == 2
    assert said.last.startswith("exit 2: bad usage or bad policy")


def test_a_memory_limit_needs_a_unit(desk):
    said = desk.run("--memory-limit", "lots")
    assert said.code == 2
    assert "4GiB" in said.err


def test_the_version_is_printed(desk):
    said = desk("--version")
    assert (said.code, said.out) == (0, f"privrelease {privrelease.__version__}\n")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_an_example_in_its_help(desk, command):
    said = desk(command, "--help")
    assert said.code == 0
    assert f"privrelease {command}" in " ".join(said.out.split())
    assert "Example" in said.out


def test_help_lists_the_commands():
    done = subprocess.run([sys.executable, "-m", "privrelease.cli.main", "--help"], capture_output=True, text=True, check=True)
    assert all(command in done.stdout for command in COMMANDS)


def test_help_loads_no_heavy_library():
    code = (
        "import sys; from privrelease.cli.main import main; main(['--help']); "
        "print([name for name in ('duckdb', 'numpy', 'pydantic', 'jinja2', 'sqlglot', 'numba', 'pyarrow') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_reader_that_goes_away_is_no_traceback():
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "privrelease.cli.main", "schema", "policy"],
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(write)
    assert done.returncode == 3
    assert done.stderr.splitlines() == ["exit 3: input or environment: the reader of stdout went away"]


def test_what_a_terminal_would_obey_is_written_out():
    assert harmless("name\x1b]0;title\x07 \u202eabc\u200b\n\tend") == "name\\x1b]0;title\\x07 \\u202eabc\\u200b\n\tend"


def test_names_from_a_policy_cannot_command_the_terminal(desk):
    desk.policy((desk.folder / "policy.yaml").read_text(encoding="utf-8").replace("title: Made-up", 'title: "\\e[31mred"'))
    said = desk("plan", "policy.yaml")
    assert "\x1b" not in said.out


@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("Query interrupted")])
def test_an_interruption_stops_every_release_not_only_the_one_that_runs(desk, monkeypatch, error):
    from privrelease.pipeline import run

    asked = []

    def interrupted(_work, release):
        asked.append(release.id)
        raise error

    text = (desk.folder / "policy.yaml").read_text(encoding="utf-8")
    second = text[text.index("  - id: r") :].replace("id: r", "id: s").replace("out/r.csv", "out/s.csv")
    desk.policy(text + second)
    monkeypatch.setattr(run, "_one", interrupted)
    said = desk.run()
    assert said.code == 3
    assert asked == ["r"]
    assert "interrupted" in said.last


def test_a_fault_in_one_release_does_not_stop_the_next(desk, monkeypatch):
    from privrelease.pipeline import run

    one = run._one

    def faulty(work, release):
        if release.id == "r":
            raise ValueError(CELL)
        return one(work, release)

    text = (desk.folder / "policy.yaml").read_text(encoding="utf-8")
    second = text[text.index("  - id: r") :].replace("id: r", "id: s").replace("out/r.csv", "out/s.csv")
    desk.policy(text + second)
    monkeypatch.setattr(run, "_one", faulty)
    said = desk.run("--format", "json")
    assert said.code == 70
    assert [(one["release"], one["became"]) for one in said.json["releases"]] == [("r", "failed"), ("s", "published")]
    assert CELL not in said.out + said.err
    assert (desk.folder / "out/s.csv").exists()


SPILLING = POLICY.replace(
    "      pay: {role: sensitive, type: integer}\n",
    "      pay: {role: sensitive, type: integer}\n      note: {role: insensitive, type: string}\n",
)


def test_a_disk_that_fills_while_rows_are_spilled_ends_with_three_names_the_folder_and_loses_nothing(desk):
    """RLIMIT_FSIZE stands in for a disk that others fill: a file of the engine cannot grow, though it may spill as much as it likes."""
    desk.policy(SPILLING)
    areas, notes = ("north", "south"), (sha256(b"a note %d" % n).hexdigest() for n in range(400_000))
    many = [f"{n},{areas[n % 2]},clerk,{1000 + n % 97},{note}\n" for n, note in enumerate(notes)]
    head = "id,area,job,pay,note\n"
    desk.data(head + "".join(many[:12]))
    assert desk.run().code == 0
    before = {path.name: path.read_bytes() for path in (desk.folder / "out").iterdir()}
    desk.data(head + "".join(many))
    (temporary := desk.folder / "spill").mkdir()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, hard))
    try:
        said = desk.run("--memory-limit", "40MB", "--threads", "1", "--temp", str(temporary))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert said.code == 3
    assert "D120 the engine's temporary folder is full" in said.err
    assert "free space on its disk" in said.err
    assert {path.name: path.read_bytes() for path in (desk.folder / "out").iterdir()} == before
    assert list(temporary.iterdir()) == []
