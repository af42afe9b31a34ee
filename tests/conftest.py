from __future__ import annotations

import gc
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests.depth import depth
from tests.fork_server import ForkServer
from tests.made_once import MadeOnce
from tests.shared_database import SharedDatabase

if TYPE_CHECKING:
    from collections.abc import Iterator

# Tests run beside each other: more threads of linear algebra than cores wait for one another, and spend CPU on it. Before numpy is loaded.
for _library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

# Machines are shared: how fast examples are made or run is measured in benchmarks/, never judged by a test.
settings.register_profile("shared machine", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.load_profile("shared machine")


# What is collected stays until the end: looking through it for cycles, again and again, would take a quarter of the collection, and a second each
# time a test does it.
gc.disable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark the tests of modules that run a part of a sweep: the slow lane runs them whole."""
    for item in items:
        if getattr(getattr(item, "module", None), "depth", None) is depth:
            item.add_marker("sweep")


def pytest_collection_finish():
    """Let the collector of garbage leave alone what was collected, and look through what tests make."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(200_000, 10, 10)  # as the command line does: most of what is made stays
    gc.enable()


#: Lanes that are not run by themselves: the marker of a lane, and how to run it.
LANES = {"slow": "make test-slow"}


def pytest_terminal_summary(terminalreporter, config):
    """Say which lanes were left out, and why: a lane that is silently absent looks as if it had passed."""
    left_out = {}
    for report in terminalreporter.stats.get("skipped", []):
        reason = str(report.longrepr[2]) if isinstance(report.longrepr, tuple) else str(report.longrepr)
        if "lane " in reason:
            name, _, why = reason.partition("lane ")[2].partition(": ")
            left_out[name] = why
    asked = config.getoption("-m") or ""
    left_out |= {name: how for name, how in LANES.items() if f"not {name}" in asked}
    for name, why in sorted(left_out.items()):
        terminalreporter.write_line(f"lane left out: {name} ({why})")


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


@pytest.fixture(scope="session", autouse=True)
def no_waiting_for_the_disk() -> Iterator[None]:
    """No test looks at what a loss of power leaves; kills lose nothing that was written. Waiting for the disk takes half the time of a small run."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "fsync", lambda descriptor: None)
        yield


#: One instance of DuckDB for the engines of all tests that take part.
DATABASE = SharedDatabase()


@pytest.fixture(scope="session", autouse=True)
def shared_database() -> Iterator[None]:
    """Have engines opened in the shared instance where the test takes part."""
    from privrelease.engine.duckdb.connection import Connection

    own = Connection._open
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Connection, "_open", lambda self, settings: DATABASE.open(settings) or own(self, settings))
        yield


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Share the instance, but for tests of the engine itself and those that ask for an instance of their own; a fixture would cost each test more."""
    below = item.path.relative_to(item.config.rootpath).parts[:3]
    DATABASE.wanted = below[-1] != "engine" and item.get_closest_marker("own_database") is None


@pytest.fixture(scope="session")
def made_once(tmp_path_factory) -> MadeOnce:
    """States that several tests start from."""
    return MadeOnce(tmp_path_factory.mktemp("once"))


@pytest.fixture(scope="session")
def fork() -> Iterator[ForkServer]:
    """What runs the command line in a fork of a process that has loaded it."""
    server = ForkServer()
    yield server
    server.stop()
