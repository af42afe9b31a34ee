"""Kill -9 at random moments of a run of many rows: the previous release stays whole, and the next start leaves no spill file of a dead run.

Moments are CPU seconds of the run, drawn evenly over a share of what a whole one takes, so that they do not depend on what else the machine does.
Arguments: rows (10,000,000), kills (50), the share (0.5: the earlier half, where files are read, sorted and written), a memory limit (256MiB, so
that much is spilled). It ends with an error where anything but the whole previous release is shown, or a spill folder stays.
"""

from __future__ import annotations

import hashlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from large_runs import write_rows
from measure import OUT, machine, usage_of

from policies import write_policy

_TICKS = os.sysconf("SC_CLK_TCK")


def shown(folder: Path) -> dict[str, str]:
    """Return the digests of what is published."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted((folder / "out").iterdir())}


def killed(command: list[str], moment: float, spill: Path) -> tuple[bool, bool]:
    """Start a run and kill it after ``moment`` CPU seconds; return whether it was killed before its end, and whether it had spilled."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    spilled = False
    while process.poll() is None:
        try:
            used = (
                sum(map(int, Path(f"/proc/{process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[11:13]))
                / _TICKS
            )
        except OSError:  # it has just ended
            break
        if used >= moment:
            spilled = any(path.stat().st_size for path in spill.rglob("*") if path.is_file())
            process.send_signal(signal.SIGKILL)
            break
        time.sleep(0.02)
    return process.wait() == -signal.SIGKILL, spilled


def main() -> None:
    """Print how many runs were killed, and how many of them had spilled."""
    given = dict(enumerate(sys.argv[1:]))
    rows, kills, share = int(given.get(0, 10_000_000)), int(given.get(1, 50)), float(given.get(2, 0.5))
    OUT.mkdir(parents=True, exist_ok=True)
    print(machine())
    with tempfile.TemporaryDirectory(dir=OUT) as name:
        folder = Path(name)
        spill = folder / "spill"
        spill.mkdir()
        write_rows(folder / "rows.parquet", rows)
        policy = write_policy(folder, "rows", "rows.parquet")
        command = [sys.executable, "-m", "privrelease.cli.main", "run", str(policy), "--data-root", str(folder)]
        command += ["--temp", str(spill), "--memory-limit", str(given.get(3, "256MiB")), "--quiet"]
        whole = usage_of(command)
        before = shown(folder)
        draw = random.Random(rows)  # noqa: S311 - moments, no secret
        told = []
        for _ in range(kills):
            told.append(killed(command, draw.uniform(0, share * whole.cpu), spill))
            if shown(folder) != before:
                sys.exit(f"kill {len(told)}: what is shown is not the previous release")
            if len(told) % 10 == 0:
                print(f"{len(told)} of {kills}", flush=True)
        left = [path.name for path in spill.iterdir()]
        usage_of(
            [
                sys.executable,
                "-m",
                "privrelease.cli.main",
                "plan",
                str(policy),
                "--data",
                "--data-root",
                str(folder),
                "--temp",
                str(spill),
            ]
        )
        if any(path.name in left for path in spill.iterdir()):
            sys.exit("a spill folder of a dead run is still there after the next start")
    dead = [spilled for ended, spilled in told if ended]
    print(f"{rows:,} rows, {whole.cpu:.1f} CPU s a run: {len(dead)} of {kills} killed, {sum(dead)} of them had spilled")
    print(
        f"{len(left)} spill folders of dead runs before the next start, none after it; every time the previous release was whole"
    )


if __name__ == "__main__":
    main()
