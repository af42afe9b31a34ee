from __future__ import annotations

from pathlib import Path

import pytest

from privrelease.report.forms.json_report import read_audit


@pytest.fixture(scope="session")
def audit():
    """The hand-made audit of tests/golden: two threats, every section that microdata has."""
    return read_audit(Path(__file__).parents[2] / "golden" / "report" / "audit.json")
