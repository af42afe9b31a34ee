"""The whole audit of a file of 1.2 million rows, as `privrelease audit` makes it: two threats over nine columns, with and without checks.

CPU seconds of whole processes, source read and led back row by row. What loading Great Expectations costs is measured apart and taken off:
that is held against the limit. The column of the audit alone leaves out starting Python and importing what every audit uses, too.
"""

from __future__ import annotations

import shutil
import sys
from statistics import median

from measure import OUT, machine, print_table, standin, usage_of

from policies import COLUMNS

ROUNDS = 7
CLI = (sys.executable, "-m", "privrelease.cli.main")
START = (
    "from privrelease.lean_imports import arrow_alone; arrow_alone();"
    "import privrelease.cli.main, privrelease.cli.commands.audit, privrelease.pipeline.previous.published, privrelease.pipeline.previous.named, privrelease.policy.loader, privrelease.plan.build,"
    "privrelease.execute.common.scope, privrelease.release.store, privrelease.audit.microdata.audit, privrelease.engine.duckdb,"
    "privrelease.disclosure.classes.tries, privrelease.report.forms.text, pyarrow.compute, pyarrow.parquet"
)
LOADING = "import privrelease.engine.duckdb.auditing.great_expectations_source"

OWN = """
  - {id: LOSS, release: microdata, expect: suppressed_cells, max: 0.5}
  - {id: CLASSES, release: microdata, expect: k, min: 5}
  - {id: DIVERSE, release: microdata, expect: l_diversity, threat: neighbour, column: salary-class, min: 1}
  - {id: CLOSE, release: microdata, expect: t_closeness, threat: neighbour, column: salary-class, max: 1}
  - {id: MARGIN, release: microdata, expect: marginal_error, columns: [sex, education], max: 0.5}
  - {id: SHIFT, release: microdata, expect: distribution_shift, column: age, max: 0.5}
  - {id: WORDS, release: microdata, expect: expect_column_values_to_match_regex, column: occupation, regex: "^[A-Z]"}
"""
LIBRARY = """
  - {id: SEX, release: microdata, expect: expect_column_values_to_be_in_set, column: sex, value_set: [Female, Male]}
  - {id: RACE, release: microdata, expect: expect_column_values_to_not_be_null, column: race, mostly: 0.5}
  - {id: PAY, release: microdata, expect: expect_column_distinct_values_to_be_in_set, column: salary-class, value_set: ["<=50K", ">50K"]}
  - {id: ROWS, release: microdata, expect: expect_table_row_count_to_be_between, min_value: 1}
  - {id: FORM, release: microdata, expect: expect_table_columns_to_match_set, column_set: [sex, age, race], exact_match: false}
"""


def policy(checks: str) -> str:
    """Write the policy; all have the same release, so that one run serves all audits."""
    columns = "\n".join(f"      {column}: {{role: quasi, type: category}}" for column in COLUMNS)
    return f"""apiVersion: privrelease/v1
kind: ReleasePolicy
id: benchmark-audit
version: 1.0.0
title: Benchmark audit
datasets:
  rows:
    source: standin.parquet
    unlisted_columns: drop
    columns:
{columns}
threats:
  everyone: {{dataset: rows, knows: [{", ".join(COLUMNS)}], highest_risk: 0.2}}
  neighbour: {{dataset: rows, knows: [{", ".join(COLUMNS[:4])}], highest_risk: 0.1}}
releases:
  - {{id: microdata, kind: microdata, from: rows, protect: [everyone, neighbour], transform: [{{suppress: cells}}], output: {{path: out/audited.parquet}}}}
{"checks:" if checks else ""}{checks}"""


def main() -> None:
    """Print the table."""
    OUT.mkdir(parents=True, exist_ok=True)
    print(machine())
    folder = OUT / "full_audit"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    shutil.copy(standin(), folder / "standin.parquet")
    paths = {}
    for name, checks in (("none", ""), ("own", OWN), ("all", OWN + LIBRARY)):
        paths[name] = folder / f"{name}.yaml"
        paths[name].write_text(policy(checks), encoding="utf-8")
    usage_of((*CLI, "run", str(paths["none"])), cwd=folder)
    commands = {
        "loading": (sys.executable, "-c", LOADING),
        "engine": (sys.executable, "-c", "import privrelease.engine.duckdb.engine, sqlalchemy"),
        "start": (sys.executable, "-c", START),
    }
    for name, path in paths.items():
        target = str(folder / "out" / "audited.parquet")
        commands[name] = (*CLI, "audit", str(path), "--release", "microdata", "--file", target)
    # one of each by turns: a machine whose speed changes changes it for all
    rounds = [{name: usage_of(command, cwd=folder) for name, command in commands.items()} for _ in range(ROUNDS + 1)][1:]
    spent = [one["loading"].cpu - one["engine"].cpu for one in rounds]
    rows = []
    for name, words in (
        ("none", "no checks"),
        ("own", "7 checks of our own count"),
        ("all", "12 checks, 5 of Great Expectations"),
    ):
        beyond = [one[name].cpu - (taken if name == "all" else 0) for one, taken in zip(rounds, spent, strict=True)]
        alone = [used - one["start"].cpu for one, used in zip(rounds, beyond, strict=True)]
        peak = max(one[name].peak_mib for one in rounds)
        middle = (f"{median(part):.2f}" for part in ([one[name].cpu for one in rounds], beyond))
        rows.append((words, *middle, "3", f"{median(alone):.2f}", f"{peak:.0f}"))
    header = ("audit with", "process, CPU s", "beyond loading Great Expectations", "limit", "the audit alone", "peak MiB")
    print_table("Whole audit, 1,193,504 rows, 9 QIs, two threats", header, rows)
    start = median(one["start"].cpu for one in rounds)
    print(f"\nLoading Great Expectations: {median(spent):.2f} CPU s. Starting and importing: {start:.2f} CPU s.")


if __name__ == "__main__":
    main()
