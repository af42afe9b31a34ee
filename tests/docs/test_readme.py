"""Every command of the README runs, and every excerpt of output in it is what the command prints."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from privrelease.examples.registry import write_example

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def printed(tmp_path_factory, fork) -> str:
    """Run every shell block in order in a folder with the example policies, and return all that was printed."""
    folder = tmp_path_factory.mktemp("readme")
    (folder / "policies").mkdir()
    shutil.copy(ROOT / "policies" / "diabetes.yaml", folder / "policies")
    write_example(folder / "policies" / "data")
    (folder / "data").mkdir()
    (folder / "data" / "visits.csv").write_text("id,visit,ward\n1,2026-01-01,a\n", encoding="utf-8")
    path = os.pathsep.join([str(fork.programs()), str(Path(sys.executable).parent), os.environ["PATH"]])
    said = []
    for kind, block in BLOCKS:
        if kind != "sh":
            continue
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", block],
            cwd=folder,
            env=os.environ | {"PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        said.append(done.stdout)
    return "\n".join(said)


def test_the_readme_has_commands():
    assert sum(kind == "sh" for kind, _ in BLOCKS) >= 2


def test_every_command_of_the_readme_runs_and_prints_what_the_readme_shows(printed):
    excerpts = [block for kind, block in BLOCKS if kind == "text"]
    assert excerpts
    for line in (line.rstrip() for excerpt in excerpts for line in excerpt.splitlines()):
        assert line in [said.rstrip() for said in printed.splitlines()], line


def test_the_policy_in_the_readme_is_part_of_the_example():
    example = (ROOT / "policies" / "diabetes.yaml").read_text(encoding="utf-8").splitlines()
    shown = [line for kind, block in BLOCKS if kind == "yaml" for line in block.splitlines() if line.strip()]
    assert shown
    assert [line for line in shown if line not in example] == []


def test_every_link_of_the_readme_leads_somewhere():
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", README):
        assert (ROOT / target).exists(), target
