"""Bad input of statistics through the real command line, with a real ledger: a clear error at its place, nothing spent, nothing released."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from privrelease.cli.main import main
from privrelease.ledger import database

POLICY = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: made
version: 1.0.0
title: Made-up
ledger: {cap: {epsilon: 10, delta: 1e-3}, url: "sqlite:///ledger.db"}
datasets:
  d:
    source: data.csv
    population: everybody
    unit: {column: id, max_rows: 1}
    columns:
      id: {role: direct, type: string}
      area: {role: quasi, type: category, domain: [north, south]}
      pay: {role: sensitive, type: integer, domain: [0, 200]}
      free: {role: sensitive, type: number, grid: 0.1}
releases:
  - id: s
    kind: statistics
    from: d
    budget: {epsilon: 1, delta: 1e-6}
    queries:
      - {id: one, sum: pay, by: [area], epsilon: 0.5}
      - {id: two, count: {where: "area = 'north'"}, epsilon: 0.5}
    output: out/s.csv
"""
#: A text that stands in the data and nowhere else: no message may show it.
SECRET = "zanzibar"
DATA = f"id,area,pay,free\n1,north,10,1.5\n2,south,20,2.5\n3,{SECRET},30,3.5\n"


@pytest.fixture
def folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text(DATA, encoding="utf-8")
    (tmp_path / "p.yaml").write_text(POLICY, encoding="utf-8")
    assert main(["ledger", "init", "p.yaml"]) == 0
    capsys.readouterr()
    return tmp_path


def spent(folder, capsys):
    """What a sound policy says of the ledger."""
    (folder / "sound.yaml").write_text(POLICY, encoding="utf-8")
    capsys.readouterr()
    assert main(["ledger", "status", "sound.yaml", "--format", "json"]) == 0
    (population,) = json.loads(capsys.readouterr().out)["populations"]
    return population["spent"]["epsilon"]


def nothing_left(folder):
    """No output, and no file with figures anywhere."""
    assert not (folder / "out").exists() or list((folder / "out").iterdir()) == []
    assert not list(folder.glob(".privrelease/**/s.csv"))


DOMAIN = "domain: [0, 200]"
BAD = [
    ("no bounds", ("sum: pay", "sum: free"), "DP111 free has no lower and upper bound", "domain: [lower, upper]"),
    ("equal bounds", (DOMAIN, "domain: [7, 7]"), "DP112 the bounds of pay are equal", "one value"),
    ("bounds swapped", (DOMAIN, "domain: [200, 0]"), "P402 the domain of pay ends before it starts", "write [0, 200]"),
    (
        "an infinite bound",
        (DOMAIN, "domain: [0, .inf]"),
        "p.yaml:15:57: P402 pay needs a whole number in its domain",
        "plain decimal number",
    ),
    ("delta 0 for a Gaussian", ("delta: 1e-6}\n", "delta: 0}\n"), "DP103 Gaussian noise needs a delta", "mechanism: laplace"),
    ("no delta for a Gaussian", (", delta: 1e-6}\n", "}\n"), "DP103 Gaussian noise needs a delta", "delta: 1e-6"),
    ("a delta of 1", ("delta: 1e-6}\n", "delta: 1}\n"), "DP104 delta must be", "1e-6"),
    ("a delta of 0.01", ("delta: 1e-6}\n", "delta: 0.01}\n"), "DP108 delta is 0.01 or more", "number of persons"),
    ("a delta below 0", ("delta: 1e-6}\n", "delta: -1e-6}\n"), "DP104 delta must not be negative", "may spend"),
    ("epsilon 0", ("area], epsilon: 0.5", "area], epsilon: 0"), "DP101 epsilon must be above 0", "epsilon: 0.5"),
    ("epsilon below 0", ("area], epsilon: 0.5", "area], epsilon: -1"), "DP101 epsilon must be above 0", "epsilon: 0.5"),
    (
        "epsilon 1e-300",
        ("area], epsilon: 0.5", "area], epsilon: 1e-300"),
        "p.yaml:23:50: P203 epsilon is too large or too close to 0",
        "between",
    ),
    ("epsilon as infinity", ("area], epsilon: 0.5", "area], epsilon: .inf"), "p.yaml:23:50: P203 epsilon must be finite", ""),
    ("a budget of 0", ("budget: {epsilon: 1,", "budget: {epsilon: 0,"), "DP101 epsilon must be above 0", "epsilon: 0.5"),
    ("a budget of 1000", ("budget: {epsilon: 1,", "budget: {epsilon: 1000,"), "DP102 epsilon is above 100", "0.000001 and 100"),
    (
        "more than the budget",
        ("area], epsilon: 0.5", "area], epsilon: 0.6"),
        "DP105 the queries ask for more epsilon",
        "raise the budget's epsilon",
    ),
    (
        "a key outside its domain",
        ("by: [area]", "by: [area], keys: {area: [east]}"),
        "P704 east is not a key of area",
        "domain",
    ),
    ("a unit that repeats with no maximum", (", max_rows: 1", ""), "DP121 the unit has no max_rows", "max_rows: 1"),
    ("a filter of an undeclared column", ("area = 'north'", "town = 'north'"), "P702", "town"),
    ("a filter that holds SQL", ("area = 'north'", "area = 'north'; DROP TABLE d"), "P702", ""),
    ("a filter that reads a table", ("area = 'north'", "area IN (SELECT area FROM d)"), "P702", ""),
    ("a filter that calls a function", ("area = 'north'", "read_text('data.csv') = 'north'"), "P702", ""),
    (
        "no ledger in the policy",
        ('ledger: {cap: {epsilon: 10, delta: 1e-3}, url: "sqlite:///ledger.db"}\n', ""),
        "L101",
        "ledger",
    ),
]


@pytest.mark.parametrize("bad", BAD, ids=[bad[0].replace(" ", "-") for bad in BAD])
def test_bad_policies_are_refused_with_what_is_wrong_and_what_to_write(folder, capsys, bad):
    name, (old, new), says, hint = bad
    assert POLICY.count(old) == 1, old
    text = POLICY.replace(old, new)
    if "Gaussian" in name:
        text = text.replace("epsilon: 0.5}\n    output", "epsilon: 0.5, mechanism: gaussian}\n    output")
    (folder / "p.yaml").write_text(text, encoding="utf-8")
    for command in ("validate", "run"):
        code = main([command, "p.yaml"])
        said = "".join(capsys.readouterr())
        assert SECRET not in said
        if command == "validate" and name == "no ledger in the policy":
            assert code == 0
            continue
        assert code == 2, said
        assert says in said
        assert hint in said
    nothing_left(folder)
    assert spent(folder, capsys) == "0"


def test_a_key_of_the_data_outside_its_domain_is_told_to_nobody(folder, capsys):
    """It is left out, as if it were not there: an error would tell that somebody has it."""
    assert main(["run", "p.yaml"]) == 0
    said = "".join(capsys.readouterr())
    assert SECRET not in said
    for path in (folder / "out").iterdir():
        assert SECRET not in path.read_text(encoding="utf-8")
    assert spent(folder, capsys) == "1"


def damaged(kind, folder):
    """The ledger is not as it should be; what the command must say."""
    path = folder / "ledger.db"
    if kind == "missing":
        path.unlink()
        return "L102"
    if kind == "empty":
        path.write_bytes(b"")
        return "L103"
    if kind == "no database":
        path.write_bytes(b"this was a ledger once" * 100)
        return "L103"
    if kind == "cut":
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        return "L103"
    assert kind == "a folder"
    path.unlink()
    path.mkdir()
    return "L10"


@pytest.mark.parametrize("kind", ["missing", "empty", "no database", "cut", "a folder"])
def test_a_ledger_that_is_none_stops_the_run_before_anything_is_drawn(folder, capsys, kind):
    kept = folder / "kept.db"
    shutil.copy(folder / "ledger.db", kept)
    code = damaged(kind, folder)
    assert main(["run", "p.yaml"]) == 4
    said = "".join(capsys.readouterr())
    assert code in said
    assert "hint: " in said
    nothing_left(folder)
    if (folder / "ledger.db").is_dir():
        (folder / "ledger.db").rmdir()
    shutil.copy(kept, folder / "ledger.db")
    assert spent(folder, capsys) == "0"


AS_NOBODY = """
import os, sys
from privrelease.cli.main import main
os.chdir(sys.argv[2])
assert main(["ledger", "init", "p.yaml"]) == 0
assert main(["run", "p.yaml"]) == 0
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
os.chdir(sys.argv[1])
sys.exit(main(["run", "p.yaml"]))
"""


def test_a_ledger_that_can_only_be_read_stops_the_run(capsys):
    """In a folder that anybody may enter, by a user who is not the superuser, whom nothing is read-only for."""
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    try:
        folder.chmod(0o777)
        (folder / "locked").mkdir()
        (folder / "data.csv").write_text(DATA, encoding="utf-8")
        (folder / "p.yaml").write_text(POLICY.replace("sqlite:///ledger.db", "sqlite:///locked/ledger.db"), encoding="utf-8")
        assert main(["ledger", "init", str(folder / "p.yaml")]) == 0
        (folder / "locked" / "ledger.db").chmod(0o444)
        (folder / "locked").chmod(0o555)
        shutil.rmtree(folder / ".privrelease", ignore_errors=True)
        warm = folder / "warm"  # everything is loaded before the superuser's rights go
        warm.mkdir()
        shutil.copy(folder / "data.csv", warm)
        (warm / "p.yaml").write_text(POLICY, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-c", AS_NOBODY, str(folder), str(warm)],
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 4, done.stderr
        assert "L104" in done.stderr
        assert SECRET not in done.stdout + done.stderr
        nothing_left(folder)
        assert main(["ledger", "status", str(folder / "p.yaml"), "--format", "json"]) == 0
        said = capsys.readouterr().out
        (population,) = json.loads(said[said.index("{") :])["populations"]
        assert population["spent"]["epsilon"] == "0"
    finally:
        (folder / "locked").chmod(0o755)
        shutil.rmtree(folder)


def test_an_older_copy_of_the_ledger_is_refused(folder, capsys):
    kept = folder / "kept.db"
    shutil.copy(folder / "ledger.db", kept)
    assert main(["run", "p.yaml"]) == 0
    before = (folder / "out" / "s.csv").resolve().read_bytes()
    shutil.copy(kept, folder / "ledger.db")
    assert main(["run", "p.yaml"]) == 4
    assert "L111" in capsys.readouterr().err
    assert (folder / "out" / "s.csv").resolve().read_bytes() == before


def test_a_clock_that_goes_backwards_stops_the_run(folder, capsys, monkeypatch):
    later = datetime.now(UTC) + timedelta(hours=2)
    with monkeypatch.context() as patch:
        patch.setattr(database, "utc_now", lambda: later)
        assert main(["run", "p.yaml"]) == 0
    before = (folder / "out" / "s.csv").resolve().read_bytes()
    capsys.readouterr()
    assert main(["run", "p.yaml"]) == 4
    assert "L113 the clock went backwards" in capsys.readouterr().err
    assert (folder / "out" / "s.csv").resolve().read_bytes() == before
