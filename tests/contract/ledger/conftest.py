"""Ledgers of every kind behind one interface: in memory, a SQLite file, a PostgreSQL server that the tests start and stop."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from privrelease.dp.budget import Budget
from privrelease.dp.draws import Draw, Target
from privrelease.dp.envelope_records import Reserved
from privrelease.dp.sensitivity import Sensitivity
from privrelease.ledger.memory import MemoryLedger
from privrelease.ledger.open import create_ledger, open_ledger
from privrelease.ledger.protocol import Claim
from privrelease.ledger.verify import verify
from privrelease.units import Delta, Epsilon, Rho

HERE = Path(__file__).parent


def budget_of(epsilon: str, delta: str = "0") -> Budget:
    return Budget(Epsilon(epsilon), Delta(delta))


def count_draw(epsilon: str, query: str = "n") -> Draw:
    """A count with the noise that its epsilon pays for."""
    exact = Fraction(epsilon)
    return Draw(query, Target("rows"), "discrete_laplace", Sensitivity.of_one_number(1), 1 / exact, Epsilon(exact))


def count_claim(epsilon: str = "0.1", delta: str = "0", **changes: Any) -> Claim:
    base: dict[str, Any] = {
        "population": "patients",
        "dataset": "visits",
        "release": "registry/counts",
        "policy_sha256": "ab" * 32,
        "draws": (count_draw(epsilon),),
        "cost": budget_of(epsilon, delta),
        "queries": ("q1", "q2"),
        "run": "r1",
    }
    return Claim(**(base | changes))


def whole_claim(epsilon: str, **changes: Any) -> Claim:
    """A claim of an envelope, a tenth of whose delta is for discovered keys."""
    cost = budget_of(epsilon, "1e-6")
    held = Reserved.of(cost, Delta("1e-7"))
    return count_claim(epsilon, draws=(), cost=cost, accountant="zcdp", envelope=held, **changes)


def served_asking(version: int = 1, epsilon: str = "0.4"):
    """The description of a method over one column of three cells and its keys, for the envelope of ``whole_claim``."""
    from privrelease.dp.queries import Setting
    from privrelease.dp.sensitivity import Contribution
    from privrelease.execute.common.asking import Asking, Method, canonical
    from privrelease.relational.aggregates import Aggregate, ColumnKey, Measure
    from privrelease.relational.schema import Column, ColumnType, Role, SourceKind, TableSource

    rows = Aggregate((Measure("rows"),), (ColumnKey("a", ("0", "1"), missing=True),))
    persons = Aggregate((Measure("persons"),), (ColumnKey("a", None),))
    held = whole_claim(epsilon).envelope
    assert held is not None
    source = TableSource("visits", SourceKind.CSV, "/a.csv", "a.csv", (Column("a", ColumnType.CATEGORY, Role.QUASI),))
    return Asking(Method("looks", version), held, Setting(Contribution(1)), source, None, canonical((rows, persons)))


class Ones:
    """Exact counts of 1 everywhere, and two keys, one of them of many persons."""

    def __init__(self, asking=None):
        from privrelease.relational.aggregates import Bounding

        self.bounding = Bounding(None, 1, 5)
        self.asked = {} if asking is None else asking.asked

    def rows(self, query):
        import numpy as np

        return np.ones(query.size, np.int64)

    def persons(self, query):
        import numpy as np

        assert query == "persons by a"
        return (("0",), ("1",)), np.array([1, 1000])


def looks(ledger, asking, counts, claim, said=lambda *_: None):
    """One run of a method that looks: what it saw as plain data, and its open envelope; ``said`` hears how far it came."""
    from privrelease.dp.envelope import Score
    from privrelease.dp.randomness import SystemRandomness
    from privrelease.execute.common.envelopes import marginal, open_envelope

    with open_envelope(claim, asking, counts, ledger, SystemRandomness()) as lent:
        if lent.reservation is not None:
            said("reserved", lent.reservation.id)
        part, cells = Rho(asking.reserved.rho.value / 3), marginal("a", asking.asked["a"])
        noisy = lent.envelope.measure(cells, part)
        place = lent.envelope.select([cells, cells], [Score(noisy), Score(0 * noisy)], part)
        keys = lent.envelope.discover("persons by a", part, Delta("1e-8"))
        said("measured")
    return [noisy.tolist(), place, sorted([*key, count] for key, count in keys.items())], lent


@pytest.fixture
def look(envelope_claim):
    """Runs a method that looks against a ledger: what it saw, and whether it was served."""

    def run(ledger, said=lambda *_: None, version=1):
        asking = served_asking(version)
        seen, lent = looks(ledger, asking, Ones(asking), envelope_claim("0.4", snapshot="2026", content="k1:aa"), said)
        return seen, lent.served is not None

    return run


@pytest.fixture
def envelope_claim():
    return whole_claim


@pytest.fixture
def ones():
    return Ones()


@pytest.fixture
def budget():
    return budget_of


@pytest.fixture
def draw():
    return count_draw


@pytest.fixture
def claim():
    return count_claim


@dataclass
class Bench:
    """Makes and opens one ledger. ``url`` None: in memory, where closing and opening again would forget."""

    kind: str
    url: str | None
    folder: Path
    kept: MemoryLedger | None = field(default=None)

    def create(self, epsilon: str = "1", delta: str = "1e-5", **more: Any) -> str:
        if self.url is None:
            self.kept = MemoryLedger(budget_of(epsilon, delta))
            return "memory"
        datasets = {"visits": "patients", "stays": "patients", "staff": "employees"}
        caps = {"patients": budget_of(epsilon, delta), "employees": budget_of(epsilon, delta)}
        return create_ledger(self.url, populations=caps, datasets=datasets, folder=self.folder, **more)

    def open(self, **more: Any) -> Any:
        if self.url is None:
            assert self.kept is not None
            return self.kept
        return open_ledger(self.url, folder=self.folder, **more)

    def run(self, script: str, *arguments: str) -> subprocess.Popen[str]:
        """Start one of the scripts beside this file on the ledger, in a process of its own."""
        command = [sys.executable, str(HERE / script), str(self.url), str(self.folder), *arguments]
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def tamper(self, *statements: str) -> None:
        """Change the database behind the ledger's back."""
        import sqlalchemy

        from privrelease.ledger.locations import place_of

        assert self.url is not None
        engine = place_of(self.url, self.folder, os.environ).engine()
        with engine.begin() as connection:
            for statement in statements:
                connection.execute(sqlalchemy.text(statement))


def server_binaries() -> Path | None:
    """The newest server of the distribution, else one on the path."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3].partition(".")[0]))
    if found:
        return found[-1].parent
    named = shutil.which("initdb")
    return None if named is None else Path(named).parent


def unprivileged() -> dict[str, Any]:
    """PostgreSQL refuses root: who runs it instead."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            user = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    pytest.skip("no unprivileged user to run a PostgreSQL server as")


@pytest.fixture(scope="session")
def server():
    """The URL of a PostgreSQL server of our own, on a socket in a folder of its own."""
    pytest.importorskip("psycopg", reason="no psycopg: PostgreSQL ledgers are not tested")
    binaries = server_binaries()
    if binaries is None:
        pytest.skip("no PostgreSQL server on this machine: PostgreSQL ledgers are not tested")
    who = unprivileged()
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
    folder.chmod(0o755)
    data = folder / "data"
    data.mkdir(mode=0o700)
    if who:
        os.chown(folder, who["user"], who["group"])
        os.chown(data, who["user"], who["group"])
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder, **who}
    initdb = [binaries / "initdb", "-D", data, "-U", "dpo", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C"]
    subprocess.run(initdb, check=True, **quiet)
    options = ["-c", "listen_addresses=", "-c", "shared_buffers=16MB", "-c", "max_connections=100"]
    process = subprocess.Popen([binaries / "postgres", "-D", data, "-k", folder, *options], **quiet)
    try:
        ready = [binaries / "pg_isready", "-h", folder, "-q", "-t", "5"]
        for _ in range(200):
            if subprocess.run(ready, check=False).returncode == 0:
                break
            assert process.poll() is None, "the PostgreSQL server did not start"
            time.sleep(0.05)
        yield f"postgresql://dpo@/postgres?host={folder}"
    finally:
        process.send_signal(3)  # SIGQUIT: at once
        process.wait()
        shutil.rmtree(folder)


def bench_of(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> Bench:
    if kind == "memory":
        return Bench(kind, None, tmp_path)
    if kind == "sqlite":
        return Bench(kind, "sqlite:///ledger.db", tmp_path)
    bench = Bench(kind, request.getfixturevalue("server"), tmp_path)
    bench.tamper(
        "DROP TABLE IF EXISTS privrelease_ledger",
        "DROP TABLE IF EXISTS privrelease_entries",
        "DROP TABLE IF EXISTS privrelease_answers",
        "DROP TABLE IF EXISTS privrelease_publications",
    )
    return bench


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def bench(request, tmp_path) -> Bench:
    return bench_of(request.param, request, tmp_path)


@pytest.fixture(params=["sqlite", "postgresql"])
def durable(request, tmp_path) -> Bench:
    return bench_of(request.param, request, tmp_path)


@pytest.fixture
def racing(tmp_path):
    """A bench on any URL."""
    return lambda url: Bench("sqlite", url, tmp_path)


@pytest.fixture
def filled(durable, claim):
    """A ledger of seven entries."""
    durable.create("1")
    ledger = durable.open()
    for number in range(3):
        ledger.commit(ledger.reserve(claim("0.1", queries=(f"q{number}",))), {f"q{number}": b"12"})
    return durable


@pytest.fixture
def problems():
    """What `verify` finds in whatever is there, opened without looking."""

    def found_in(bench) -> list[str]:
        from privrelease.ledger.database import DatabaseLedger
        from privrelease.ledger.locations import place_of

        found = verify(DatabaseLedger(place_of(bench.url, bench.folder, os.environ)))
        return [problem.message for problem in found.problems]

    return found_in
