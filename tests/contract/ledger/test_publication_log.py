"""The log of publications in each kind of database: another machine sees it, two write it at once, and a changed line is noticed."""

from __future__ import annotations

import os
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest

from privrelease.cli.main import main

HEAD = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: {id}
version: 1.0.0
title: Made-up
datasets:
  d:
    source: data.csv
    population: {population}
    unit: {{column: id, max_rows: 1}}
    unlisted_columns: drop
    columns:
      id: {{role: direct, type: string}}
      area: {{role: quasi, type: category, domain: [north, south]}}
"""
ROWS = (
    HEAD
    + """threats:
  t: {{dataset: d, knows: [area], highest_risk: 0.5}}
releases:
  - {{id: r, kind: microdata, from: d, protect: [t], output: out/{id}.csv}}
ledger: {{cap: {{epsilon: 1}}, url: LEDGER_URL}}
publications: ledger
"""
)
DATA = "id,area\n1,north\n2,north\n3,south\n4,south\n"


@pytest.fixture
def machine(durable, tmp_path, monkeypatch):
    """Give the folder of another machine, with the policy, the data and a state folder of its own; the ledger is shared."""
    monkeypatch.setenv("LEDGER_URL", durable.url)
    durable.create("1")
    if durable.kind == "sqlite":
        monkeypatch.setenv("LEDGER_URL", f"sqlite:///{tmp_path}/ledger.db")

    def made(name: str, policy: str = "made", population: str = "everybody", data: str = DATA):
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        (folder / "policy.yaml").write_text(ROWS.format(id=policy, population=population), encoding="utf-8")
        (folder / "data.csv").write_text(data, encoding="utf-8")
        return folder

    return made


def run(folder) -> int:
    return main(["run", str(folder / "policy.yaml"), "-q"])


def test_another_machine_is_parked_until_the_run_is_brought(machine, capsys):
    first = machine("first")
    assert run(first) == 0, capsys.readouterr().err
    second = machine("second", data=DATA + "5,south\n")
    assert run(second) == 5
    assert "published before, and not available here" in capsys.readouterr().err
    for brought in (first / ".privrelease" / "runs").iterdir():
        shutil.copytree(brought, second / ".privrelease" / "runs" / brought.name)
    shutil.copy(first / ".privrelease" / "digest.key", second / ".privrelease" / "digest.key")
    assert run(second) != 5
    assert "not available here" not in capsys.readouterr().err
    assert main(["ledger", "verify", str(first / "policy.yaml")]) == 0


#: Lines that a process runs first: it waits until all four are there.
TOGETHER = """
import pathlib, time
here, until = pathlib.Path.cwd(), time.monotonic() + 60
(here / "begun").touch()
while len(list(here.parent.glob("m*/begun"))) < 4:
    assert time.monotonic() < until, "the others never began"
    time.sleep(0.002)
"""


def test_of_several_that_publish_at_once_every_line_is_kept(machine, fork):
    """Each has its own persons and is a process of its own: the chain holds, and no line of a publication is lost."""
    from privrelease import api
    from privrelease.pipeline.publication_log import log_of
    from privrelease.release.publication_log import verified_lines

    folders = [machine(f"m{n}", policy=f"made-{n}", population=f"people-{n}") for n in range(4)]
    with ThreadPoolExecutor(4) as pool:
        runs = list(pool.map(lambda folder: fork(["run", "policy.yaml"], folder, dict(os.environ), TOGETHER), folders))
    assert [run.returncode for run in runs] == [0, 0, 0, 0], [run.stderr for run in runs]
    policy = api.load(folders[0] / "policy.yaml")
    log = log_of(policy.planned, policy.settings.store(policy.planned))
    lines = verified_lines(log.texts(), log.shown)
    assert len([line for line in lines if line.line.event == "published"]) == 4


def test_a_line_changed_in_the_database_is_noticed_before_any_work(machine, durable, capsys):
    first = machine("first")
    assert run(first) == 0
    assert run(first) == 0
    durable.tamper("UPDATE privrelease_publications SET line = replace(line, 'everybody', 'nobody') WHERE sequence = 0")
    assert run(first) == 3
    assert "R191" in capsys.readouterr().err
    durable.tamper("DELETE FROM privrelease_publications")
    assert run(first) == 3
    assert "R192" in capsys.readouterr().err
