"""Whole commands beside those of an earlier version, by turns in one run: CPU seconds, peak memory and the ratio, next to the ratio wanted.

`PRIVRELEASE_BEFORE=…/bin/privrelease` names the command of the earlier version, installed in an environment of its own. Each version has folders of
its own, since neither reads the other's state. A limit in seconds is of one quiet machine: here it is the ratio of that limit to what the
earlier version, a4653a8, took there. Arguments: words of the rows wanted, all by default; ``--quick``: without ten million rows.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import large_runs
import several_threats
import start
from measure import OUT, SHARED, by_turns, machine, print_table, standin

from policies import write_policy

if TYPE_CHECKING:
    from collections.abc import Callable

TURNS = 3
TEN_MILLION = 10_000_000


def _start(place: int) -> Callable[[Path], list[str]]:
    def made(folder: Path) -> list[str]:
        _, arguments, _ = start.commands(folder)[place]
        return arguments

    return made


def _run(source: Path, *, csv: bool = False, known: tuple[tuple[int, ...], ...] = ()) -> Callable[[Path], list[str]]:
    def made(folder: Path) -> list[str]:
        (folder / source.name).hardlink_to(source)
        policy = write_policy(folder, source.stem, source.name, csv=csv)
        if known:
            several_threats.know(policy, known)
        return ["run", policy.name, "--quiet", *(["--memory-limit", "1GiB"] if source.stem == "rows" else [])]

    return made


def rows(folder: Path, *, quick: bool) -> list[tuple[str, Callable[[Path], list[str]], str]]:
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
    ]
    if not quick:
        found.append(("run, 10,000,000 rows, 9 QIs, limit 1 GiB", _run(folder / "rows.parquet"), "1"))
    return found


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
            if "10,000,000" in what:
                large_runs.write_rows(inputs / "rows.parquet", TEN_MILLION)
            commands, folders = {}, {}
            for one, program in programs.items():
                folders[one] = Path(name) / f"{one}{number}"
                folders[one].mkdir()
                commands[one] = [*program, *made(folders[one])]
            used = by_turns(commands, turns=TURNS, cwd=folders)
            ratios = sorted(now.cpu / then.cpu for now, then in zip(used["now"], used["before"], strict=True))
            cpu = [f"{statistics.median(run.cpu for run in used[one]):.2f}" for one in programs]
            peak = [f"{max(run.peak_mib for run in used[one]):,.0f}" for one in programs]
            told = f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
            table.append((what, *cpu, told, wanted, *peak))
            print(" | ".join(table[-1]), flush=True)
    header = ("command", "CPU s", "before", "ratio", "wanted", "peak MiB", "before")
    print_table("Whole commands by turns with an earlier version", header, table)
    print(f"\n{machine()}; {TURNS} turns, medians; python {sys.argv[0]}")


if __name__ == "__main__":
    main()
