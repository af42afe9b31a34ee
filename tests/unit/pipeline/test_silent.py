"""The pipeline and the interface for Python print nothing, log nothing and never exit."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3] / "privrelease"
MODULES = (*sorted((ROOT / "pipeline").rglob("*.py")), ROOT / "api.py")
TERMINALS = {"typer", "rich", "click", "logging", "warnings", "getpass"}
STREAMS = {"stdout", "stderr", "stdin", "exit", "argv"}


def faults(source: str) -> list[str]:
    """Names of what a module prints with or ends the process by."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name) and node.id in {"print", "input", "exit", "quit", "SystemExit", "breakpoint"}:
            found.append(node.id)
        elif isinstance(node, ast.Attribute) and node.attr in STREAMS and isinstance(node.value, ast.Name):
            found += [node.attr] if node.value.id == "sys" else []
        elif isinstance(node, ast.Import):
            found += [one.name for one in node.names if one.name.partition(".")[0] in TERMINALS]
        elif isinstance(node, ast.ImportFrom):
            found += [str(node.module)] if str(node.module).partition(".")[0] in {*TERMINALS} else []
            found += [one.name for one in node.names if node.module == "sys" and one.name in STREAMS]
            found += [str(node.module)] if str(node.module).startswith("privrelease.cli") else []
    return found


def test_there_are_modules_to_look_at():
    assert len(MODULES) >= 15


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_module_prints_nothing_and_ends_nothing(path):
    assert faults(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "source",
    [
        "print(1)",
        "import sys\nsys.stdout.write('a')",
        "from sys import stderr",
        "import rich.table",
        "from typer import echo",
        "raise SystemExit(1)",
        "import sys\nsys.exit(1)",
        "from privrelease.cli.console import Console",
        "import logging",
    ],
)
def test_each_way_of_printing_is_found(source):
    assert faults(source)
