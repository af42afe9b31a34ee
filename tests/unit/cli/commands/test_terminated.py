"""A command that is terminated ends as one that is interrupted, and leaves nothing of what it began."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

POLICY = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: made-up
version: 1.0.0
title: Made up
datasets:
  d:
    source: patients.csv
    format: {encoding: utf-16}
    columns:
      patient_id: {role: direct, type: string}
      age: {role: quasi, type: integer}
    unlisted_columns: drop
threats:
  t: {dataset: d, knows: [age], highest_risk: 0.5}
releases:
  - {id: r, kind: microdata, from: d, protect: [t], output: {path: out/r.csv}}
"""


def test_a_run_that_is_terminated_leaves_no_row(tmp_path):
    rows = "".join(f"p{n},{20 + n % 60}\n" for n in range(400_000))
    (tmp_path / "patients.csv").write_text("patient_id,age\n" + rows, encoding="utf-16")
    (tmp_path / "p.yaml").write_text(POLICY, encoding="utf-8")
    command = [sys.executable, "-m", "privrelease", "run", "p.yaml", "--dry-run"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    runs = tmp_path / ".privrelease" / "runs"
    for _ in range(3_000):
        if runs.is_dir() and any(runs.glob("*/internal/tmp/*/*")):
            break
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGTERM)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 3
    assert said.endswith("exit 3: input or environment: interrupted; nothing was published by what was interrupted\n")
    assert not list(runs.glob("*"))
