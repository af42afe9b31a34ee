from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Machines are shared: how fast examples are made or run is measured in benchmarks/, never judged by a test.
settings.register_profile("shared machine", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.load_profile("shared machine")


def shared_folder() -> Path | None:
    """The folder that holds data/, cases/ and reference/: `$PRIVRELEASE_SHARED`, else `../shared` beside the repository."""
    named = os.environ.get("PRIVRELEASE_SHARED")
    folder = Path(named) if named else Path(__file__).resolve().parents[2] / "shared"
    return folder if (folder / "cases").is_dir() else None


@pytest.fixture(scope="session")
def shared() -> Path:
    folder = shared_folder()
    if folder is None:
        pytest.skip("shared reference files not found: set PRIVRELEASE_SHARED")
    return folder
