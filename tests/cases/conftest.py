from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from tests import in_process

if TYPE_CHECKING:
    from pathlib import Path

    from tests.made_once import MadeOnce

HEAD = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: case
version: 1.0.0
title: Case
"""


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def last_line(self) -> str:
        return self.err.strip().splitlines()[-1]


@dataclass
class Case:
    """A folder with a case's input files and a policy, on which the real command line runs.

    ``anew``: in an interpreter started anew each time, else inside the process of the tests.
    """

    folder: Path
    expected: Path
    anew: bool
    made_once: MadeOnce
    environment: dict[str, str] = field(default_factory=dict)

    def policy(self, text: str, name: str = "policy.yaml") -> Path:
        path = self.folder / name
        path.write_text(HEAD + text, encoding="utf-8")
        return path

    def __call__(self, *arguments: str | Path) -> Ran:
        environment = {key: value for key, value in os.environ.items() if not key.startswith("PRIVRELEASE_")} | self.environment
        done = (_started_anew if self.anew else in_process.call)([*map(str, arguments)], self.folder, environment)
        assert "Traceback" not in done.stderr + done.stdout
        return Ran(done.returncode, done.stdout, done.stderr)

    def once(self, *arguments: str | Path) -> Ran:
        """Call a command, or copy what it did to the same folder before: for a state that tests start from."""
        return self.made_once(self.folder, (*map(str, arguments), self.environment), lambda: self(*arguments))

    def audit(self) -> dict[str, Any]:
        """The audit.json of the newest run, published, parked or in quarantine."""
        found = sorted(self.folder.glob(".privrelease/*/*/internal/audit.json"), key=lambda path: path.stat().st_mtime_ns)
        return json.loads(found[-1].read_text(encoding="utf-8"))

    def threat(self, name: str) -> dict[str, Any]:
        return next(threat for threat in self.audit()["threats"] if threat["name"] == name)

    def released(self, path: str) -> list[tuple[Any, ...]]:
        return duckdb.sql(f"FROM read_parquet('{self.folder / path}')").fetchall()

    def everything_written(self) -> bytes:
        """Every byte of every file that the runs left, but for the inputs."""
        return b"".join(
            path.read_bytes() for path in sorted(self.folder.rglob("*")) if path.is_file() and path.parent != self.folder
        )


def _started_anew(arguments: list[str], folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "privrelease.cli.main", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def case(request, shared, tmp_path, made_once) -> Case:
    """The case that the test file names in its module variable CASE or the test in a marker `case`; with a marker `anew`, each of its commands
    is an interpreter started anew, with a seed of hashes of its own.
    """
    marker = request.node.get_closest_marker("case")
    name = marker.args[0] if marker else request.module.CASE
    source = shared / "cases" / name
    folder = tmp_path / "case"
    folder.mkdir()
    for path in source.iterdir():
        if path.name not in {"case.yaml", "expected.yaml", "policy.yaml"}:
            shutil.copy(path, folder / path.name)
            (folder / path.name).chmod(0o644)
    return Case(folder, source / "expected.yaml", request.node.get_closest_marker("anew") is not None, made_once)
