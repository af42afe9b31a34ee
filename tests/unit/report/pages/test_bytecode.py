"""Compiled templates are kept as compiled modules are, and never taken for another text."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from jinja2 import Environment, FileSystemLoader

from privrelease.report.pages.bytecode import TemplateCode


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)
    (tmp_path / "page.html.j2").write_text("one {{ value }}", encoding="utf-8")
    return tmp_path


def rendered(folder, options="", *, compiles=True):
    environment = Environment(loader=FileSystemLoader(folder), bytecode_cache=TemplateCode(options), autoescape=True)
    if not compiles:
        environment.compile = None
    return environment.get_template("page.html.j2").render(value="<1>")


def kept(folder):
    return sorted(path.name for path in folder.rglob("*.pyc*"))


def test_the_second_process_compiles_nothing(folder):
    assert rendered(folder) == rendered(folder, compiles=False) == "one &lt;1&gt;"
    assert kept(folder) == [f"page.html.{sys.implementation.cache_tag}.pyc"]


def test_another_text_or_other_options_are_compiled_again(folder):
    rendered(folder)
    with pytest.raises(TypeError):
        rendered(folder, "other", compiles=False)
    (folder / "page.html.j2").write_text("two", encoding="utf-8")
    assert rendered(folder) == "two"


@pytest.mark.parametrize("content", [b"", b"j2", b"\x00" * 200])
def test_a_damaged_file_is_compiled_again(folder, content):
    rendered(folder)
    next(folder.rglob("*.pyc")).write_bytes(content)
    assert rendered(folder) == "one &lt;1&gt;"


def test_nothing_is_kept_where_python_keeps_nothing_or_the_folder_cannot_be_written(folder, monkeypatch):
    (folder / "__pycache__").write_text("a file where the folder would be", encoding="utf-8")
    assert rendered(folder) == "one &lt;1&gt;"
    Path(folder / "__pycache__").unlink()
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert rendered(folder) == "one &lt;1&gt;"
    assert kept(folder) == []
