"""The first run after an installation beside the runs that follow: CPU seconds of 30 rows, in a new environment of a new clone.

The clone is of what is committed, and its environment is made as `make .venv/.run` makes it. What the first run does once (compile a template, fill a
cache) is what it takes beyond the median of the later ones. `PRIVRELEASE_BEFORE=…/bin/privrelease` names the command of an earlier version that
compiles its loops with numba when they are first used: it begins with an empty cache, as after its installation, by turns with ours.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import OUT, ROOT, machine, print_table, usage_of
from start import commands

LATER = 3
LIMIT = "0.2"


def first_and_later(program: str, folder: Path) -> tuple[float, float]:
    """Return the CPU seconds of the first run of a program, and the median of the later ones."""
    folder.mkdir()
    commands(folder)
    used = [usage_of([program, "run", "little.yaml", "--quiet"], cwd=folder).cpu for _ in range(1 + LATER)]
    return used[0], statistics.median(used[1:])


def main() -> None:
    """Print the table."""
    OUT.mkdir(parents=True, exist_ok=True)
    before = os.environ.get("PRIVRELEASE_BEFORE")
    rows = []
    with tempfile.TemporaryDirectory(dir=OUT) as name:
        clone = Path(name) / "clone"
        subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        subprocess.run(["make", ".venv/.run"], cwd=clone, env=environment, check=True, capture_output=True)
        found = {"now": first_and_later(str(clone / ".venv" / "bin" / "privrelease"), Path(name) / "now")}
        if before:
            os.environ["NUMBA_CACHE_DIR"] = str(Path(name) / "numba")
            found["before"] = first_and_later(before, Path(name) / "before")
        for version, (first, later) in found.items():
            rows.append((version, f"{first:.2f}", f"{later:.2f}", f"{first - later:.2f}", LIMIT if version == "now" else ""))
    print_table("First run after an installation, 30 rows", ("version", "first, CPU s", "later", "beyond them", "limit"), rows)
    print(f"\n{machine()}; python {sys.argv[0]}")


if __name__ == "__main__":
    main()
