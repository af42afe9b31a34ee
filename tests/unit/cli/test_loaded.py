"""What an audit of microdata loads: nothing that only statistics, tables, protecting, or the pages of a report need."""

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
        f"import sys\nfrom privrelease.cli.main import main\nassert main({AUDIT}) == 0\nprint('loaded', *sorted(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=desk.folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split())


def test_an_audit_of_microdata_loads_nothing_of_other_work(loaded):
    assert "privrelease.audit.microdata.audit" in loaded
    assert loaded.isdisjoint(UNUSED), sorted(loaded & set(UNUSED))
