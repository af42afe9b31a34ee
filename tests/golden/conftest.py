from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


def pytest_addoption(parser):
    parser.addoption("--update-golden", action="store_true", help="write the golden files anew instead of comparing")


@pytest.fixture
def golden(request):
    """Compare bytes with a golden file, or write it anew with --update-golden (`make golden`)."""
    update = request.config.getoption("--update-golden", default=False)

    def check(path: Path, content: bytes) -> None:
        if update:
            path.write_bytes(content)
        assert path.read_bytes() == content, f"{path.name} differs: if that is meant, run `make golden` and review the diff"

    return check
