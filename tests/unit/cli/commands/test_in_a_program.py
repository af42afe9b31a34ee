"""The command line called by a program, by no arguments, and by a Python without docstrings; the installed command loads its libraries leaner."""

from __future__ import annotations

import subprocess
import sys

#: What a command that reads data must leave as it is in the program that calls it, and as lean as can be where the process is its own.
AFTERWARDS = """
import gc, os, sys
from privrelease.cli.main import command, main
before = (gc.get_threshold(), dict(os.environ))
if sys.argv.pop(1) == "program":
    assert main(["validate", "policy.yaml", "--data"]) == 0
else:
    sys.argv[1:] = ["validate", "policy.yaml", "--data"]
    assert command() == 0
import signal
import numpy as np
import pyarrow.compute as pc
print("as it was", (gc.get_threshold(), dict(os.environ)) == before)
print("numpy describes", bool(np.ndarray.all.__doc__))
print("arrow lists", "utf8_reverse" in vars(pc))
print("ends by a signal", signal.getsignal(signal.SIGTERM) is signal.SIG_DFL)
"""


def after(desk, how: str) -> dict[str, str]:
    done = subprocess.run([sys.executable, "-c", AFTERWARDS, how], cwd=desk.folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = [line.rpartition(" ") for line in done.stdout.splitlines()]
    return {what: said for what, _, said in lines if said in {"True", "False"}}


def test_a_program_that_calls_the_command_line_keeps_its_libraries_whole(desk):
    assert set(after(desk, "program").values()) == {"True"}


def test_the_installed_command_loads_only_what_it_uses(desk):
    assert set(after(desk, "command").values()) == {"False"}


def test_the_installed_command_is_the_one_that_ends_with_its_process():
    from importlib.metadata import entry_points

    from privrelease.cli import main

    (found,) = [one for one in entry_points(group="console_scripts") if one.name == "privrelease"]
    assert found.load() is main.command


def test_without_a_command_the_first_steps_are_named_and_no_fault(desk):
    said = desk()
    assert said.code == 2
    assert said.out == ""
    assert "C101" not in said.err
    assert len(said.err.splitlines()) < 16
    assert "  privrelease init      write a starter policy from a data file" in said.err
    assert "`privrelease --help` lists all 22 commands" in said.err
    assert said.last == "exit 2: bad usage or bad policy: no command was given"


def test_a_group_without_a_command_lists_its_commands_and_no_fault(desk):
    said = desk("ledger")
    assert said.code == 2
    assert said.err.startswith("Usage: privrelease ledger")
    assert "C101" not in said.err


def test_the_first_steps_are_commands(desk):
    from privrelease.cli.main import _FIRST

    listed = desk("--help").out
    assert all(f"\n  {verb} " in listed for verb in _FIRST)


def test_help_is_the_same_without_docstrings():
    def said(*arguments: str) -> str:
        done = subprocess.run([sys.executable, *arguments, "--help"], capture_output=True, text=True, check=True)
        return done.stdout

    for command in ((), ("init",), ("ledger", "init")):
        assert said("-OO", "-m", "privrelease", *command) == said("-m", "privrelease", *command)
