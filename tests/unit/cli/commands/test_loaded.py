"""What an audit and a run of microdata load: nothing that only other kinds or, for an audit, protecting and the pages of a report need."""

import subprocess
import sys

import pytest

AUDIT = ["audit", "policy.yaml", "--release", "r", "--file", "out/r.csv"]
UNUSED = (
    "great_expectations",
    "jinja2",
    "pandas",
    "privrelease.dp.calibration",
    "privrelease.dp.composition",
    "privrelease.dp.mechanisms",
    "privrelease.dp.queries",
    "privrelease.execute.microdata.run",
    "privrelease.execute.microdata.suppression",
    "privrelease.plan.statistics.plan",
    "privrelease.disclosure.suppression",
    "privrelease.report.pages.html",
    "privrelease.report.sections.registry",
)


@pytest.fixture
def loaded(desk):
    assert desk("run", "policy.yaml").code == 0
    program = (
        f"import sys\nfrom privrelease.cli.main import command\nsys.argv[1:] = {AUDIT}\nassert command() == 0\n"
        "print('loaded', *sorted(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=desk.folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split())


def test_an_audit_of_microdata_loads_nothing_of_other_work(loaded):
    assert "privrelease.audit.microdata.audit" in loaded
    assert loaded.isdisjoint(UNUSED), sorted(loaded & set(UNUSED))


RUN = ["run", "policy.yaml"]
UNUSED_BY_A_RUN = (
    "cryptography",
    "great_expectations",
    "pandas",
    "privrelease.audit.checks.great_expectations",
    "privrelease.audit.microdata.expectations",
    "privrelease.audit.statistics",
    "privrelease.audit.synthetic",
    "privrelease.audit.tables",
    "privrelease.dp",
    "privrelease.execute.statistics",
    "privrelease.execute.synthetic",
    "privrelease.ledger",
    "privrelease.plan.statistics.plan",
    "privrelease.synthesis",
    "rich",
    "scipy",
    "sklearn",
    "sqlalchemy",
    "weasyprint",
)
#: Models of sections that the policy has not, and trees that sqlglot parses for functions of other databases.
READY = f"""
import sys
from privrelease.cli.main import command
sys.argv[1:] = {RUN}
assert command() == 0
from privrelease.lean_imports import _Template
from privrelease.policy.language import attacks, checks, legal, models, releases, statistics, synthetic, tables
from sqlglot.generators import duckdb
sections = (attacks.AttacksSpec, checks.Check, legal.Legal, models.Context, releases.PseudonymiseStep, statistics.StatisticsRelease,
    synthetic.SyntheticRelease, tables.TableRelease, tables.TableRules)
print("loaded", *sorted(sys.modules))
print("ready", *(one.__name__ for one in (*sections, models.Policy, releases.MicrodataRelease) if one.__pydantic_complete__))
print("later", type(vars(duckdb.DuckDBGenerator)["ZIPF_TEMPLATE"]) is _Template)
"""


def test_a_run_of_microdata_loads_nothing_of_other_kinds_and_makes_ready_what_its_policy_has(desk):
    done = subprocess.run([sys.executable, "-c", READY], cwd=desk.folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said = {
        line.split()[0]: line.split()[1:] for line in done.stdout.splitlines() if line.startswith(("loaded", "ready", "later"))
    }
    assert set(said["loaded"]).isdisjoint(UNUSED_BY_A_RUN), sorted(set(said["loaded"]) & set(UNUSED_BY_A_RUN))
    assert said["ready"] == ["Policy", "MicrodataRelease"]
    assert said["later"] == ["True"]


VALIDATE = """
import sys
from privrelease.cli.main import command
sys.argv[1:] = ["validate", "policy.yaml"]
assert command() == 0
print("loaded", *sorted(sys.modules))
"""
UNUSED_BY_VALIDATE = (
    "duckdb",
    "importlib.metadata",
    "numpy",
    "privrelease.dp",
    "privrelease.plan.statistics.explain",
    "pyarrow",
    "sqlglot",
)


def test_validating_rows_loads_no_engine_and_no_words_of_other_kinds(desk):
    done = subprocess.run([sys.executable, "-c", VALIDATE], cwd=desk.folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    loaded = set(done.stdout.splitlines()[-1].split())
    assert loaded.isdisjoint(UNUSED_BY_VALIDATE), sorted(loaded & set(UNUSED_BY_VALIDATE))
