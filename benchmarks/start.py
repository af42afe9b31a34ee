"""Start-up: CPU seconds of `privrelease --help` and of rendering one report, beside a bare interpreter in the same run."""

from __future__ import annotations

import sys
from pathlib import Path

from measure import OUT, ROOT, machine, median_usage, print_table


def main() -> None:
    """Print the table."""
    OUT.mkdir(parents=True, exist_ok=True)
    print(machine())
    program = str(Path(sys.executable).with_name("privrelease"))
    ours = median_usage([program, "--help"], runs=7).cpu
    bare = median_usage([sys.executable, "-c", "pass"], runs=7).cpu
    audit = ROOT / "tests" / "golden" / "report" / "audit.json"
    report = median_usage([program, "report", str(audit), "-o", str(OUT / "report.html"), "--force"], runs=7).cpu
    print_table(
        "Start-up",
        ("command", "CPU s", "limit"),
        [
            ("privrelease --help", f"{ours:.3f}", "0.3"),
            ("privrelease report audit.json", f"{report:.3f}", "1"),
            ("python -c pass", f"{bare:.3f}", ""),
        ],
    )


if __name__ == "__main__":
    main()
