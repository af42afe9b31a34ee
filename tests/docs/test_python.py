"""Every block of the page on use from Python runs, shows what the page shows, and the package itself prints nothing."""

from __future__ import annotations

import os
import re
import shutil
import sys
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest

from privrelease import api

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
CODE = [block for kind, block in BLOCKS if kind == "python"]


@dataclass(frozen=True)
class Walk:
    said: tuple[str, ...]
    """What each block showed by its own `print`."""
    printed: str
    """What reached the process's own stdout and stderr meanwhile."""
    names: dict[str, object]


@contextmanager
def redirected(stream):
    """Lead stdout and stderr, of Python and of libraries that write to the process's own, to a file."""
    sys.stdout.flush()
    sys.stderr.flush()
    before = os.dup(1), os.dup(2)
    os.dup2(stream.fileno(), 1)
    os.dup2(stream.fileno(), 2)
    try:
        with redirect_stdout(stream), redirect_stderr(stream):
            yield
    finally:
        for own, kept in enumerate(before, 1):
            os.dup2(kept, own)
            os.close(kept)


@pytest.fixture(scope="module")
def walk(tmp_path_factory) -> Walk:
    """Run the blocks one after the other in a folder with the example's policy, as the cells of a notebook."""
    folder = tmp_path_factory.mktemp("python")
    (folder / "policies").mkdir()
    shutil.copy(ROOT / "policies" / "diabetes.yaml", folder / "policies")
    lines: list[str] = []
    names: dict[str, object] = {"print": lambda *values: lines.append(" ".join(map(str, values)))}
    said = []
    out = folder / "printed.txt"
    with pytest.MonkeyPatch.context() as patch, out.open("w", encoding="utf-8") as stream, redirected(stream):
        patch.chdir(folder)
        for number, block in enumerate(CODE):
            lines.clear()
            exec(compile(block, f"docs/python.md, block {number + 1}", "exec"), names)
            said.append("\n".join(lines))
    return Walk(tuple(said), out.read_text(encoding="utf-8"), names)


def test_every_block_shows_what_the_page_shows(walk):
    shown = [(BLOCKS[place - 1][1], block) for place, (kind, block) in enumerate(BLOCKS) if kind == "text"]
    assert len(shown) == len(CODE)
    for code, block in shown:
        said = walk.said[CODE.index(code)].splitlines()
        for line in block.splitlines():
            assert line.rstrip() in [one.rstrip() for one in said], line


def test_the_package_prints_nothing(walk):
    assert walk.printed == ""


def test_the_run_of_the_page_shows_decision_threats_and_where_the_report_is(walk):
    microdata = walk.names["result"]["microdata"]
    assert (microdata.decision, microdata.became) == ("pass", "published")
    assert [(threat.name, threat.holds) for threat in microdata.audit.threats] == [("external", True), ("insider", True)]
    assert Path(microdata.files["report"]).read_text(encoding="utf-8").startswith("<!doctype html>")


def test_the_page_names_every_function_of_the_interface():
    functions = {name for name in api.__all__ if name.islower()}
    assert {name for name in functions if f"`api.{name}(" in PAGE} == functions
    assert {name for name in functions if any(f"api.{name}(" in block for block in CODE)} == functions
