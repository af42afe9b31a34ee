"""The demonstration behind ``make demo``: makes the example registry, runs its policy, and the census where its data is found."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from privrelease.cli.exit import worst
from privrelease.cli.main import main as program
from privrelease.examples.registry import write_example
from privrelease.lean_imports import own_process

__all__ = ["main"]

ROOT = Path(__file__).resolve().parents[2]


def census_data() -> Path | None:
    """Return the census extract, from ``$PRIVRELEASE_SHARED`` or the folder ``shared`` next to the repository; None where
    absent.
    """
    shared = Path(os.environ.get("PRIVRELEASE_SHARED") or ROOT.parent / "shared")
    path = shared / "data" / "adult.csv"
    return path if path.is_file() else None


def command(*words: str | Path) -> int:
    """Run the command line, in this process: what one command has loaded serves the next; return its exit code."""
    typed = [str(word.relative_to(ROOT)) if isinstance(word, Path) else word for word in words]
    sys.stderr.write(f"\n$ privrelease {' '.join(typed)}\n")
    sys.stderr.flush()
    return program([str(word) for word in words])


def main() -> int:
    """Run the examples; return the worst exit code."""
    own_process()
    policies = ROOT / "policies"
    write_example(policies / "data")
    if not (policies / "privacy-ledger.db").is_file():
        command("ledger", "init", policies / "diabetes.yaml")
    patients_code = command("run", policies / "diabetes.yaml")
    census = census_data()
    if census is None:
        sys.stderr.write(
            "\nThe first example is done. The second, of a census, is optional: it needs the public UCI Adult extract as adult.csv "
            "in the folder data of a folder that PRIVRELEASE_SHARED names ($PRIVRELEASE_SHARED/data/adult.csv).\n"
        )
        return patients_code
    return worst([patients_code, command("run", policies / "census.yaml", "--data-root", str(census.parent))])


if __name__ == "__main__":
    sys.exit(main())
