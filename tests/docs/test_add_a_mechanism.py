"""What the page on adding a mechanism names exists, and every place that knows a mechanism's name is on the page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from privrelease.dp.mechanisms import MECHANISMS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "add-a-mechanism.md").read_text(encoding="utf-8")
PATHS = sorted(set(re.findall(r"`([\w./-]+\.(?:py|md|toml))`", PAGE)))
STEPS = [
    (path, name)
    for _, paths, names, _ in (row.strip("| ").split(" | ") for row in re.findall(r"^\| \d+ \|.*$", PAGE, re.MULTILINE))
    for path in re.findall(r"`([^`]+)`", paths)
    for name in re.findall(r"`([^`]+)`", names)
]


def test_the_page_names_files_and_steps():
    assert len(PATHS) >= 15
    assert len(STEPS) >= 15


@pytest.mark.parametrize("path", PATHS)
def test_every_file_that_the_page_names_exists(path):
    assert (ROOT / path).is_file()


@pytest.mark.parametrize(("path", "name"), STEPS)
def test_every_name_of_a_step_stands_in_its_file(path, name):
    assert re.search(rf"(?<!\w){re.escape(name)}(?!\w)", (ROOT / path).read_text(encoding="utf-8"))


DRAWING = [law for law in MECHANISMS if hasattr(law, "sample") or hasattr(law, "choose")]


def test_only_thresholding_draws_nothing_of_its_own():
    assert [law.__name__ for law in MECHANISMS if law not in DRAWING] == ["Thresholding"]


@pytest.mark.parametrize("law", DRAWING, ids=lambda law: law.__name__)
def test_every_mechanism_has_a_proof_note_as_the_page_says(law):
    note = (ROOT / (law.__module__.replace(".", "/") + ".py")).read_text(encoding="utf-8")
    for heading in ("Law", "Guarantee", "Sampler"):
        assert re.search(rf"^{heading}\b", note, re.MULTILINE), heading


def test_every_file_that_decides_by_a_mechanisms_name_is_on_the_page():
    written = re.compile(r"\"(?:dp\.mechanism\.)?discrete_(?:laplace|gaussian)\"")
    deciding = [
        path.relative_to(ROOT).as_posix()
        for path in sorted((ROOT / "privrelease").rglob("*.py"))
        if written.search(path.read_text(encoding="utf-8"))
    ]
    named = {*PATHS, "privrelease/dp/mechanisms/discrete_gaussian.py"}
    assert {path for path in deciding if path not in named} == set()


def test_the_test_that_the_page_tells_to_extend_exists():
    for name in re.findall(r"`(test_\w+)`", PAGE):
        assert f"def {name}(" in (ROOT / "tests" / "contract" / "dp" / "test_mechanisms.py").read_text(encoding="utf-8")
