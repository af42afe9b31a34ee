"""The demonstration behind ``make demo``: makes the example registry, runs its policy, and the census where its data is found."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from privrelease.examples.registry import write_registry

__all__ = ["main"]

ROOT = Path(__file__).resolve().parents[2]


def census_data() -> Path | None:
    """Return the census extract, from ``$PRIVRELEASE_SHARED`` or the folder ``shared`` beside the repository; None where absent."""
    shared = Path(os.environ.get("PRIVRELEASE_SHARED") or ROOT.parent / "shared")
    path = shared / "data" / "adult.csv"
    return path if path.is_file() else None


def run(policy: Path, *options: str) -> int:
    """Run the command line on a policy, as a user would; return its exit code."""
    sys.stderr.write(f"\n$ privrelease run {policy.relative_to(ROOT)} {' '.join(options)}\n")
    sys.stderr.flush()
    command = [sys.executable, "-m", "privrelease.cli.main", "run", str(policy), *options]
    return subprocess.run(command, check=False).returncode  # noqa: S603 -- our own command line


def main() -> int:
    """Run the examples; return the worst exit code."""
    policies = ROOT / "policies"
    patients = policies / "data" / "patients.parquet"
    if not patients.is_file():
        write_registry(patients)
    worst = run(policies / "diabetes.yaml")
    census = census_data()
    if census is None:
        sys.stderr.write(
            "\nThe census example needs adult.csv: set PRIVRELEASE_SHARED to the folder that holds data/adult.csv.\n"
        )
        return worst
    return max(worst, run(policies / "census.yaml", "--data-root", str(census.parent)))


if __name__ == "__main__":
    sys.exit(main())
