"""What attacks add to a whole `privrelease run` on the stand-in: nine columns, a control of 200,000 rows, 1,000 attempts of each attack."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from measure import OUT, control, machine, median_usage, print_table, standin

from policies import write_policy

#: No limit is set: what is measured is the work.
ATTACKS = """
attacks:
  control: control.parquet
  singling_out: {combine: 5}
  linkability: {columns: [[sex, age, race, education], [marital-status, occupation, workclass, native-country]]}
  inference: {target: salary-class}
  record_linkage: {}
  membership: {}
"""


def main() -> None:
    """Print the table."""
    import pyarrow.parquet as pq

    OUT.mkdir(parents=True, exist_ok=True)
    print(machine())
    with tempfile.TemporaryDirectory(dir=OUT) as name:
        folder = Path(name)
        program = [sys.executable, "-m", "privrelease.cli.main", "run"]
        rows = []
        pq.write_table(control(), folder / "control.parquet")
        for what, text in (("without attacks", ""), ("with five attacks", ATTACKS)):
            policy = write_policy(folder, "standin", "standin.parquet")
            policy.write_text(policy.read_text(encoding="utf-8") + text, encoding="utf-8")
            used = median_usage([*program, str(policy), "--data-root", str(standin().parent), "--quiet"])
            rows.append((what, f"{used.cpu:.2f}", f"{used.peak_mib:,.0f}"))
    print_table("Attacks, stand-in, 1,193,504 rows, 9 QIs, Parquet", ("run", "CPU s", "peak MiB"), rows)


if __name__ == "__main__":
    main()
