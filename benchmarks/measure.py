"""How the benchmarks measure: CPU seconds and peak memory of whole processes as the operating system accounts them, medians over runs."""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "benchmarks" / "out"
SHARED = Path(os.environ.get("PRIVRELEASE_SHARED") or ROOT.parent / "shared")


@dataclass(frozen=True, slots=True)
class Usage:
    """CPU seconds (user and system), peak resident MiB and exit code of one finished process."""

    cpu: float
    peak_mib: float
    exit_code: int


def usage_of(command: Sequence[str], *, cwd: Path | None = None, expect: int = 0) -> Usage:
    """Run a command to its end and return what it used; stop with its error output if it did not exit as expected.

    Python keeps what it compiled, as on any machine where the program is installed: an environment that forbids it would have every
    run compile every module again.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with (OUT / "stderr.txt").open("w+b") as errors, Path(os.devnull).open("wb") as nothing:
        process = subprocess.Popen(command, cwd=cwd, env=environment, stdout=nothing, stderr=errors)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != expect:
            errors.seek(0)
            sys.exit(f"{' '.join(command)} exited with {process.returncode}:\n{errors.read().decode(errors='replace')}")
    return Usage(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, process.returncode)


def median_usage(command: Sequence[str], *, runs: int = 3, cwd: Path | None = None) -> Usage:
    """Return the median CPU and the largest peak of ``runs`` runs after one that is not counted."""
    usage_of(command, cwd=cwd)
    measured = [usage_of(command, cwd=cwd) for _ in range(runs)]
    return Usage(statistics.median(one.cpu for one in measured), max(one.peak_mib for one in measured), 0)


def by_turns(
    commands: Mapping[str, Sequence[str]], *, turns: int, expect: int = 0, cwd: Mapping[str, Path] | None = None
) -> dict[str, list[Usage]]:
    """Return what ``turns`` runs of each command used, one of each in a turn, after one turn that is not counted. ``cwd``: a folder for each.

    The order is reversed in every other turn, so that what else the machine does meets all alike.
    """
    found: dict[str, list[Usage]] = {name: [] for name in commands}
    for turn in range(turns + 1):
        for name in sorted(commands, reverse=bool(turn % 2)):
            used = usage_of(commands[name], expect=expect, cwd=cwd[name] if cwd else None)
            if turn:
                found[name].append(used)
    return found


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a Markdown table."""
    print(f"\n### {title}\n")
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" * len(header))
    for row in rows:
        print("| " + " | ".join(row) + " |")


def machine() -> str:
    """Describe the machine in one line, without a name or a path."""
    model = next(
        (
            line.split(":", 1)[1].strip()
            for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
            if "model name" in line
        ),
        platform.machine(),
    )
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    return f"{model}, {os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()}, Python {platform.python_version()}"


def standin() -> Path:
    """Return the stand-in's Parquet file (1,193,504 rows x 9 columns), made once from the shared generator."""
    target = OUT / "standin.parquet"
    if not target.is_file():
        maker, adult = SHARED / "data" / "make_standin.py", SHARED / "data" / "adult.csv"
        if not maker.is_file():
            sys.exit("the stand-in needs the shared folder: set PRIVRELEASE_SHARED")
        OUT.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, str(maker), str(adult), str(OUT / "standin")], check=True)
    return target


def control(rows: int = 200_000) -> pa.Table:
    """Return other persons of the stand-in's population: rows drawn as its own are, by another seed."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.csv as pc

    adult = pc.read_csv(SHARED / "data" / "adult.csv", parse_options=pc.ParseOptions(delimiter=";"))
    drawn = np.random.default_rng(43)
    base, columns = drawn.integers(0, adult.num_rows, rows), {}
    for name in adult.column_names:
        other = drawn.integers(0, adult.num_rows, rows)
        columns[name] = adult[name].cast(pa.string()).take(pa.array(np.where(drawn.random(rows) < 0.1, other, base)))
    return pa.table(columns)
