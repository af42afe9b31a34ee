"""Measures of utility inside an audit: the stand-in protected by a run of ours, 1.2 million rows, nine quasi-identifiers, two threats.

CPU seconds of this process, medians. The second row makes age a number, so that its mean and quantiles are compared, too.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from measure import OUT, machine, print_table, standin, usage_of

from policies import write_policy
from privrelease.audit.microdata.audit import audit_microdata
from privrelease.audit.microdata.measurements import gather
from privrelease.audit.microdata.target import AuditTarget
from privrelease.audit.microdata.utility.measures import utility_measures
from privrelease.engine.open import open_engine
from privrelease.engine.protocol.base import EngineSettings
from privrelease.pipeline.settings import Settings
from privrelease.plan.model import MicrodataPlan

if TYPE_CHECKING:
    from collections.abc import Callable

    from privrelease.plan.model import Plan

SECOND = (
    "  insider: {dataset: rows, knows: [sex, age, race, marital-status, education], attacker: prosecutor, highest_risk: 0.2}\n"
)
RUNS = 5


def cpu(work: Callable[[], object]) -> float:
    """Return the CPU seconds of this process that ``work`` took."""
    before = time.process_time()
    work()
    return time.process_time() - before


def released(folder: Path, age: str) -> tuple[Plan, AuditTarget]:
    """Run a policy of two threats; return its plan and what was parked."""
    path = write_policy(folder, "utility", "standin.parquet", age=age)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("releases:\n", f"{SECOND}releases:\n").replace("[everyone]", "[everyone, insider]"), "utf-8")
    state = folder / "state"
    program = [sys.executable, "-m", "privrelease.cli.main", "run", str(path), "--state", str(state)]
    usage_of([*program, "--data-root", str(standin().parent), "--quiet"])
    _, plan = Settings(data_root=standin().parent, state=state).load(path)
    (run,) = (state / "runs").iterdir()
    (release,) = plan.releases
    assert isinstance(release, MicrodataPlan)
    files = tuple(replace(sink, path=run / "outgoing" / sink.path.name) for sink in release.sinks)
    return plan, AuditTarget(files, run / "internal" / "row_map.parquet", run=run.name)


def measured(age: str) -> tuple[float, float]:
    """Return CPU seconds of the measures of utility alone, and of the whole audit, reading the source included."""
    with tempfile.TemporaryDirectory(dir=OUT) as name:
        policy, target = released(Path(name), age)
        (plan,) = policy.releases
        assert isinstance(plan, MicrodataPlan)
        settings = EngineSettings(readable=(standin().parent, Path(name)))
        with open_engine(settings) as engine:
            evidence = gather(plan, target, engine)
            alone = [cpu(lambda: utility_measures(evidence, policy, engine)) for _ in range(RUNS)]

        def audited() -> None:
            with open_engine(settings) as engine:
                audit_microdata(plan, policy, target, engine=engine, audited_at="", versions={})

        whole = [cpu(audited) for _ in range(RUNS)]
        return statistics.median(alone), statistics.median(whole)


def main() -> None:
    """Print the table."""
    OUT.mkdir(parents=True, exist_ok=True)
    print(machine())
    rows = []
    for name, age in (("no numeric column", "category"), ("age as a number", "integer")):
        alone, whole = measured(age)
        rows.append((name, f"{alone:.2f}", f"{whole:.2f}", "3"))
    print_table(
        "Measures of utility, 1,193,504 rows, 9 QIs, two threats",
        ("columns", "measures, CPU s", "whole audit, CPU s", "limit"),
        rows,
    )


if __name__ == "__main__":
    main()
