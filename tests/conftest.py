from __future__ import annotations

import os
from pathlib import Path

import pytest


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
