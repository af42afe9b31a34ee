"""``make demo`` on a new clone with a new environment, once everything is downloaded: seconds of the whole, and of which environment and demonstration.

What is pinned is downloaded first into a folder, from which pip then installs without looking at an index. The clone is of what is committed, with the
shared folder where one is found, so that both examples run. Wall seconds, as a newcomer waits: they mean something on a machine that does nothing else.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import OUT, ROOT, SHARED, machine, print_table

PINNED = ROOT / "constraints" / "run.txt"


def timed(command: list[str | Path], cwd: Path, environment: dict[str, str]) -> tuple[float, float]:
    """Run a command to its end; return its wall and CPU seconds."""
    began, before = time.perf_counter(), os.times()
    subprocess.run(command, cwd=cwd, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - began, used


def main() -> None:
    """Print the table."""
    OUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=OUT) as name:
        wheels, clone = Path(name) / "wheels", Path(name) / "clone"
        pip = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
            "--require-hashes",
        ]
        subprocess.run([*pip, "--dest", wheels, "--requirement", PINNED], check=True)
        subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
        environment = {
            **{
                key: value
                for key, value in os.environ.items()
                if key != "PYTHONDONTWRITEBYTECODE" and not key.startswith("PIP_")
            },
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(wheels),
            "PRIVRELEASE_SHARED": str(SHARED),
        }
        parts = {
            "virtual environment and packages": ["make", ".venv/.run"],
            "demonstration": ["make", "demo"],
        }
        used = {part: timed(command, clone, environment) for part, command in parts.items()}
    used["make demo"] = (sum(wall for wall, _ in used.values()), sum(cpu for _, cpu in used.values()))
    rows = [(part, f"{wall:.1f}", f"{cpu:.1f}", "45 s" if part == "make demo" else "") for part, (wall, cpu) in used.items()]
    print_table("make demo after download", ("part", "s", "CPU s", "limit"), rows)
    print(f"\n{machine()}; python {sys.argv[0]}")


if __name__ == "__main__":
    main()
