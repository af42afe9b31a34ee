"""Every benchmark of the repository, one after the other, each in a process of its own. `make bench` prints this."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPTS = (
    "start.py",
    "first_run.py",
    "before.py",
    "solver.py",
    "lower_bound.py",
    "several_threats.py",
    "worst_cases.py",
    "risk_audit.py",
    "full_audit.py",
    "utility.py",
    "frontier.py",
    "whole_runs.py",
    "large_runs.py",
    "attacks.py",
    "generalisation.py",
    "noise.py",
    "statistics_scan.py",
    "joints.py",
    "table_suppression.py",
    "wide_files.py",
)


def main() -> int:
    """Run every script; return the worst exit code."""
    folder = Path(__file__).parent
    return max(
        subprocess.run([sys.executable, str(folder / script), *sys.argv[1:]], check=False).returncode for script in SCRIPTS
    )


if __name__ == "__main__":
    sys.exit(main())
