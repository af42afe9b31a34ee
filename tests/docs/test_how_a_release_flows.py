"""The page on the flow of a release names ten boxes, files that exist, and what comes out of them by its name there or beside."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "how-a-release-flows.md").read_text(encoding="utf-8")
PATHS = sorted(set(re.findall(r"`(privrelease/[\w./]+)`", PAGE)))
BOXES = [row.strip("| ").split(" | ") for row in re.findall(r"^\| \d+ .*\|$", PAGE, re.MULTILINE)]


def test_there_are_ten_boxes_in_the_order_of_the_picture():
    (picture,) = re.findall(r"^ 1 command.*$", PAGE, re.MULTILINE)
    assert [box[0] for box in BOXES] == [step.strip() for step in picture.split("─▶")]
    assert [int(box[0].split()[0]) for box in BOXES] == list(range(1, 11))


def test_every_box_names_a_file_and_the_page_many():
    assert all(re.fullmatch(r"`privrelease/[\w/]+\.py`", box[1]) for box in BOXES)
    assert len(PATHS) >= 20


@pytest.mark.parametrize("path", PATHS)
def test_every_file_that_the_page_names_exists(path):
    assert (ROOT / path).is_dir() if path.endswith("/") else (ROOT / path).is_file()


@pytest.mark.parametrize(("path", "name"), [(box[1].strip("`"), box[3].strip("`")) for box in BOXES if box[3].startswith("`")])
def test_what_comes_out_of_a_box_is_known_in_its_file(path, name):
    assert re.search(rf"\b{name}\b", (ROOT / path).read_text(encoding="utf-8"))


def test_the_boxes_are_called_in_this_order():
    run = (ROOT / "privrelease" / "pipeline" / "run.py").read_text(encoding="utf-8")
    assert [run.index(call) for call in ("store.start(", "kind.execute(", "decision.outcome", "store.publish(")] == sorted(
        run.index(call) for call in ("store.start(", "kind.execute(", "decision.outcome", "store.publish(")
    )
