"""The table of package weights names what the program asks for."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "installation.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| ([a-z0-9-]+) \| [0-9.]+ \| ([0-9.]+) \| (.+) \|$", PAGE, re.MULTILINE)


def test_every_heavy_package_that_the_program_asks_for_is_in_the_table_and_no_other():
    asked = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    names = {re.sub(r"[._]", "-", re.split(r"[<>=~\[ ]", one)[0]).lower() for one in asked}
    listed = {name for name, _, by in ROWS if "privrelease" in by.split(", ")}
    assert listed <= names
    assert names - listed <= {"duckdb-driver"}  # among the smaller ones


def test_the_table_counts_every_package_of_the_lock_but_the_one_that_builds():
    locked = re.findall(r"^([a-z0-9-]+)==", (ROOT / "constraints" / "run.txt").read_text(encoding="utf-8"), re.MULTILINE)
    smaller, every = (int(re.search(pattern, PAGE)[1]) for pattern in (r"\| (\d+) smaller ones", r"\| all (\d+) \|"))
    assert len(ROWS) + smaller == every == len(set(locked) - {"setuptools"})


def test_the_table_is_sorted_by_weight_and_adds_up():
    sizes = [float(size) for _, size, _ in ROWS]
    assert sizes == sorted(sizes, reverse=True)
    rest = float(re.search(r"smaller ones \| \| ([0-9.]+)", PAGE)[1])
    total = float(re.search(r"\| all \d+ \| \| ([0-9.]+)", PAGE)[1])
    assert abs(sum(sizes) + rest - total) < 0.05 * (len(sizes) + 2)
