"""Whole commands beside those of an earlier version, by turns in one run: CPU seconds, peak memory and the ratio, next to the ratio wanted.

`PRIVRELEASE_BEFORE=…/bin/privrelease` names the command of the earlier version, installed in an environment of its own. Each version has folders of
its own, since neither reads the other's state. A limit in seconds is of one quiet machine: here it is the ratio of that limit to what the
earlier version, a4653a8, took there. Arguments: words of the rows wanted, all by default; ``--quick``: without ten million rows. The first run after an
installation is in `benchmarks/first_run.py`, distinct rows are in `benchmarks/worst_cases.py`, suppressed cells of tables in `benchmarks/table_suppression.py`.
"""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import large_runs
import several_threats
import start
import statistics_scan
from measure import OUT, SHARED, by_turns, machine, print_table, standin

from policies import write_policy, write_statistics, write_table

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    #: Prepares a folder for a command of ours, and returns the arguments that are measured.
    Prepared: TypeAlias = Callable[[Path, list[str]], list[str]]

TURNS = 3
#: A row of one turn: its search takes the version before three minutes.
LONGEST = "run, stand-in, three threats that share more"
TEN_MILLION = 10_000_000
ATTACK = "attacks:\n  singling_out: {combine: 3}\n"


def _start(place: int) -> Prepared:
    def made(folder: Path, _program: list[str]) -> list[str]:
        _, arguments, _ = start.commands(folder)[place]
        return arguments

    return made


def _statistics(persons: str) -> Prepared:
    def made(folder: Path, program: list[str]) -> list[str]:
        (folder / "people.parquet").hardlink_to(statistics_scan.made(persons))
        policy = write_statistics(folder, "people", "people.parquet", groups=statistics_scan.GROUPS)
        subprocess.run([*program, "ledger", "init", policy.name], cwd=folder, check=True, capture_output=True)
        return ["run", policy.name, "--quiet"]

    return made


def _table(folder: Path, _program: list[str]) -> list[str]:
    """Make 2,000 persons in a table of 15 by 15 cells, most of them of few."""
    keys = {side: ", ".join(f"{side}{n}" for n in range(15)) for side in "ab"}
    draw = random.Random(1)  # noqa: S311 -- made-up data
    rows = "".join(f"a{int(15 * draw.random() ** 2)},b{int(15 * draw.random() ** 2)}\n" for _ in range(2_000))
    (folder / "table.csv").write_text("a,b\n" + rows, encoding="utf-8")
    return ["run", write_table(folder, "table", "table.csv", keys).name, "--quiet"]


def _singled_out(source: Path) -> Prepared:
    def made(folder: Path, _program: list[str]) -> list[str]:
        lines = source.read_text(encoding="utf-8").splitlines(keepends=True)
        (folder / "some.csv").write_text("".join(lines[:20_001]), encoding="utf-8")
        policy = write_policy(folder, "some", "some.csv", csv=True)
        text = policy.read_text(encoding="utf-8").replace(
            "occupation, salary-class]", "occupation]"
        )  # the attacker of the attack knows it too
        policy.write_text(text + ATTACK, encoding="utf-8")
        return ["run", policy.name, "--quiet"]

    return made


def _run(source: Path, *, csv: bool = False, known: tuple[tuple[int, ...], ...] = ()) -> Prepared:
    def made(folder: Path, _program: list[str]) -> list[str]:
        (folder / source.name).hardlink_to(source)
        policy = write_policy(folder, source.stem, source.name, csv=csv)
        if known:
            several_threats.know(policy, known)
        return ["run", policy.name, "--quiet", *(["--memory-limit", "1GiB"] if source.stem == "rows" else [])]

    return made


def rows(folder: Path, *, quick: bool) -> list[tuple[str, Prepared, str]]:
    """Return what is measured: its name, what prepares a folder and returns the arguments, and the ratio wanted."""
    adult = folder / "adult.csv"
    adult.write_bytes((SHARED / "data" / "adult.csv").read_bytes())
    big = folder / "standin.parquet"
    big.write_bytes(standin().read_bytes())
    found = [
        (name, _start(place), wanted)
        for place, (name, wanted) in enumerate(
            (("--help", ".75"), ("validate, 30 rows", "1"), ("run, 30 rows", ".5"), ("the same with one expectation", ".77"))
        )
    ]
    found += [
        ("run, Adult, 9 QIs, CSV", _run(adult, csv=True), "1; goal .57"),
        ("run, stand-in, 1,193,504 rows, 9 QIs", _run(big), "1; goal .69"),
        ("run, stand-in, two threats", _run(big, known=several_threats.THREATS["two"]), ".54"),
        ("run, stand-in, three threats", _run(big, known=several_threats.THREATS["three"]), ".41"),
        ("run, stand-in, three threats that know less", _run(big, known=several_threats.THREATS["three that know less"]), ""),
        (LONGEST, _run(big, known=several_threats.THREATS["three that share more"]), ""),
        ("run, table of 15 x 15 cells", _table, ""),
        ("run, Adult, 20,000 rows, singling out by three columns", _singled_out(adult), ""),
    ]
    if quick:
        return found
    return [
        *found,
        ("run, statistics, 10,000,000 persons of one row", _statistics("nobody"), "1"),
        ("run, statistics, 10,000,000 rows, 20 a person", _statistics("everybody, 20 rows each"), "1.2"),
        ("run, 10,000,000 rows, 9 QIs, limit 1 GiB", _run(folder / "rows.parquet"), "1"),
    ]


def main() -> None:
    """Print the table."""
    before = os.environ.get("PRIVRELEASE_BEFORE")
    if not before:
        print("set PRIVRELEASE_BEFORE to the command of an earlier version to compare with it")
        return
    OUT.mkdir(parents=True, exist_ok=True)
    words = [one for one in sys.argv[1:] if not one.startswith("-")]
    programs = {"now": [str(Path(sys.executable).with_name("privrelease"))], "before": [before]}
    table = []
    with tempfile.TemporaryDirectory(dir=OUT) as name:
        inputs = Path(name) / "inputs"
        inputs.mkdir()
        for number, (what, made, wanted) in enumerate(rows(inputs, quick="--quick" in sys.argv)):
            if words and not any(word in what for word in words):
                continue
            if "9 QIs, limit" in what:
                large_runs.write_rows(inputs / "rows.parquet", TEN_MILLION)
            commands, folders = {}, {}
            for one, program in programs.items():
                folders[one] = Path(name) / f"{one}{number}"
                folders[one].mkdir()
                commands[one] = [*program, *made(folders[one], program)]
            used = by_turns(commands, turns=1 if what == LONGEST else TURNS, cwd=folders)
            ratios = sorted(now.cpu / then.cpu for now, then in zip(used["now"], used["before"], strict=True))
            cpu = [f"{statistics.median(run.cpu for run in used[one]):.2f}" for one in programs]
            peak = [f"{max(run.peak_mib for run in used[one]):,.0f}" for one in programs]
            told = f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
            table.append((what, *cpu, told, wanted, *peak))
            print(" | ".join(table[-1]), flush=True)
    header = ("command", "CPU s", "before", "ratio", "wanted", "peak MiB", "before")
    print_table("Whole commands by turns with an earlier version", header, table)
    print(f"\n{machine()}; {TURNS} turns, medians, one turn of {LONGEST}; python {sys.argv[0]}")


if __name__ == "__main__":
    main()
