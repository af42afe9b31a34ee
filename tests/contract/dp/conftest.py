from __future__ import annotations

import csv
from pathlib import Path

import pytest

from privrelease.cli.main import main
from privrelease.ledger.memory import MemoryLedger
from privrelease.pipeline import spending
from tests.statistical.door import data_of, planted

ROWS = [("p1", "a", "u", "1", "0.5"), ("p2", "b", "v", "5", "1"), ("p3", "c", "v", "-2", "1.5"), ("p4", "a", "u", "3", "0")]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def ledger(monkeypatch):
    """A ledger in memory, for runs with the system's noise that publish."""
    found = MemoryLedger()
    monkeypatch.setattr(spending, "_ledger", lambda *_: found)
    return found


def published(policy, data=None):
    """Run, publish, and return the rows of the file; None where nothing was published."""
    Path("p.yaml").write_text(policy, encoding="utf-8")
    Path("data.csv").write_text(data_of(ROWS) if data is None else data, encoding="utf-8")
    if main(["run", "p.yaml", "-q"]) != 0:
        return None
    with Path("out/s.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def fails(check, *faults):
    """Whether a check holds as built, and not with the fault."""
    assert check()
    with planted(*faults):
        return not check()
