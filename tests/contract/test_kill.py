"""Kill -9 at any moment of a run: the previous release or the new one, whole, and the next run clears up.

One process imports everything, makes what every run would make again, and forks a real run for each kill, so that a kill costs half a second
and not three.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privrelease.release.runs import RunState
from privrelease.release.store import ReleaseStore
from tests import fork_server

RUNNER = """
import gc, json, os, signal, sys, time
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, sys.argv[1])
import fork_server

fork_server.load()

import numpy as np

import privrelease.engine.duckdb.engine as engine_module
from privrelease.disclosure.classes.equivalence_classes import ClassTable
from privrelease.disclosure.suppression.cell_suppression import suppress_cells
from privrelease.disclosure.suppression.problem import Problem, Requirement
from privrelease.disclosure.risk.thresholds import Thresholds
from privrelease.cli.main import main
from privrelease.execute.microdata.run import run_microdata
from privrelease.execute.common.scope import engine_settings, release_name
from privrelease.plan.model import MicrodataPlan, Plan, ReleasedColumn, SuppressStep, ThreatPlan
from privrelease.relational.schema import Column, ColumnType, Role, Sink, SinkKind, SourceKind, TableSource
from privrelease.release.store import ReleaseStore

EVENTS = {"os.rename", "os.symlink", "os.link", "os.chmod", "os.remove", "os.mkdir", "os.rmdir", "fcntl.flock"}


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def run(folder, source, spec):
    kinds = {"age": "integer", "sex": "category", "region": "category", "job": "category", "x": "integer"}
    columns = tuple(Column(n, ColumnType(t), Role.SENSITIVE if n == "x" else Role.QUASI) for n, t in kinds.items())
    table = TableSource("people", SourceKind.PARQUET, str(folder / source), source, columns)
    threat = ThreatPlan("t", ("age", "sex", "region", "job"), Thresholds(highest=Fraction(1, 5)))
    sinks = tuple(Sink(SinkKind(e), folder / "out" / f"data.{e}", f"out/data.{e}") for e in ("parquet", "csv"))
    released = tuple(ReleasedColumn(c.name, c.type, c.role) for c in columns)
    plan = MicrodataPlan("microdata", table, released, (threat,), sinks, suppress=SuppressStep())
    policy = Plan("registry", "1", folder / "p.yaml", "0" * 64, "Registry", (plan,))
    store = ReleaseStore(folder / ".privrelease")
    phase = ["start", 0]

    def hook(event, _args):
        if event in EVENTS:
            phase[1] += 1
            if spec.get("phase") == phase[0] and spec["event"] == phase[1]:
                die()

    sys.addaudithook(hook)

    def progress(step, _fraction):
        if spec.get("step") == step:
            die()

    with (
        store.start(release_name(plan, policy), plan.sinks) as run,
        engine_module.DuckDBEngine(engine_settings(plan, run, threads=2)) as engine,
    ):
        phase[:] = "execute", 0
        run_microdata(plan, policy, engine=engine, store=store, run=run, progress=progress, environment={})
        progress("parked", None)
        store.decide(run.id, "pass")
        progress("decided", None)
        phase[:] = "publish", 0
        store.publish(run.id)
        published = phase[1]
        phase[:] = "end", 0
    return published


def warm():
    # the solver's compiled code is loaded once, before forking
    classes = ClassTable(("a", "b"), np.array([[1, 1], [1, 2]], np.int32), np.array([1, 1]))
    requirement = Requirement("t", (0, 1), Thresholds(highest=Fraction(1, 2)))
    suppress_cells(Problem(classes, (requirement,), (Fraction(1), Fraction(1))))


warm()
# a collection of garbage in a child would look through, and copy, all that was loaded
gc.collect()
gc.freeze()
for line in sys.stdin:
    spec = json.loads(line)
    folder = Path(spec["folder"])
    begin = time.monotonic()
    back, front = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if "command" in spec:
                os.chdir(folder)
                sys.stdout = sys.stderr = open(os.devnull, "w")
                os._exit(main(spec["command"]))
            os.write(front, str(run(folder, spec["source"], spec)).encode())
            os._exit(0)
        except BaseException:
            import traceback
            traceback.print_exc()
            os._exit(1)
    os.close(front)
    if "after" in spec:
        time.sleep(spec["after"])
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    answer = {"status": os.waitstatus_to_exitcode(status), "seconds": time.monotonic() - begin, "events": os.read(back, 9).decode()}
    os.close(back)
    print(json.dumps(answer), flush=True)
"""

POLICY = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: registry
version: 1.0.0
title: Registry
datasets:
  people:
    source: SOURCE
    columns:
      age: {role: quasi, type: integer}
      sex: {role: quasi, type: category}
      region: {role: quasi, type: category}
      job: {role: quasi, type: category}
      x: {role: sensitive, type: integer}
threats:
  t: {dataset: people, knows: [age, sex, region, job], attacker: prosecutor, highest_risk: 0.2}
releases:
  - id: microdata
    kind: microdata
    from: people
    protect: [t]
    recipients_hold_previous: false
    transform: [{suppress: cells}]
    output: {path: out/data.parquet}
"""


class Registry:
    """A project folder whose runs are forked and killed; `versions` are the bytes that a whole run makes of each source."""

    def __init__(self, folder: Path, rows: int, process: subprocess.Popen[str]) -> None:
        self.folder = folder
        self.process = process
        folder.mkdir()
        self.out = folder / "out"
        self.versions: dict[str, dict[str, bytes]] = {}
        self.files = {"data.parquet", "data.csv"}
        self.companions = {"data.manifest.json"}
        self.commanded = False
        self.store = ReleaseStore(folder / ".privrelease")
        for number, name in enumerate(("a.parquet", "b.parquet")):
            pq.write_table(people(number, rows), folder / name)
            (folder / f"{name}.yaml").write_text(POLICY.replace("SOURCE", name))

    def by_command(self) -> None:
        """Let runs be those of the command line, with audit and report, and not of the library."""
        self.commanded = True
        self.files = {"data.parquet"}
        self.companions = {"data.manifest.json", "data.report.html"}

    def run(self, source: str, **spec) -> dict:
        if self.commanded:
            spec["command"] = ["run", f"{source}.yaml"]
        self.process.stdin.write(json.dumps({"folder": str(self.folder), "source": source} | spec) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def shown(self) -> str | None:
        """Which source's release is shown, None for none; anything between fails."""
        found = {path.name: path for path in self.out.iterdir()} if self.out.exists() else {}
        assert set(found) <= self.files | self.companions
        whole = {name: path.read_bytes() for name, path in found.items() if path.exists()}
        if not whole:
            return None
        assert set(whole) == self.files | self.companions
        manifest = json.loads(whole.pop("data.manifest.json"))
        assert whole.pop("data.report.html", b"</html>").rstrip().endswith(b"</html>")
        assert {output["file"]: output["sha256"] for output in manifest["outputs"]} == {
            name: hashlib.sha256(content).hexdigest() for name, content in whole.items()
        }
        (source,) = [source for source, version in self.versions.items() if version == whole]
        return source

    def learn(self) -> float:
        """Publish both sources once, to know their bytes; returns the seconds of the faster run."""
        seconds = math.inf
        for source in ("b.parquet", "a.parquet"):
            answer = self.run(source)
            assert answer["status"] == 0
            self.versions[source] = {name: (self.out / name).read_bytes() for name in self.files}
            seconds = min(seconds, answer["seconds"])
        return seconds

    def check_clean(self) -> None:
        """After a whole run: nothing of the killed ones but their records."""
        records = self.store.records()
        assert [record.state for record in records].count(RunState.PUBLISHED) == 1
        for record in records:
            folder = self.store.folder(record.run)
            assert not folder.temporary.exists()
            if record.state is RunState.ABANDONED:
                assert sorted(path.name for path in folder.path.rglob("*")) == ["internal", "lock", "state.json"]
            else:
                assert record.state in {RunState.PUBLISHED, RunState.SUPERSEDED, RunState.PARKED}
        assert not list((self.store.state / "scratch").iterdir())
        assert {path.name for path in self.folder.iterdir()} - {"publications.jsonl"} == {
            "a.parquet",
            "b.parquet",
            "a.parquet.yaml",
            "b.parquet.yaml",
            "out",
            ".privrelease",
        }


def people(seed: int, n: int) -> pa.Table:
    draw = np.random.default_rng(seed)
    words = np.array(["north", "south", "east", "west", "centre", "coast", "hills", "river", "lake"])
    return pa.table(
        {
            "age": draw.integers(18, 86, n),
            "sex": words[draw.integers(0, 2, n)],
            "region": words[draw.integers(0, 4, n)],
            "job": words[draw.integers(0, 9, n)],
            "x": draw.integers(0, 1000, n),
        }
    )


@pytest.fixture(scope="module")
def runner():
    """The process that forks the runs."""
    command = [sys.executable, "-W", "ignore", "-c", RUNNER, str(Path(fork_server.__file__).parent)]
    environment = {**os.environ, **fork_server.ALONE}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as process:
        yield process
        process.stdin.close()


@pytest.fixture
def registry(tmp_path, runner):
    return Registry(tmp_path / "registry", 2_000, runner)


def kill(registry: Registry, **spec) -> str:
    """Run the source that is not shown, kill it, and say what is shown then: old or new."""
    before = registry.shown()
    source = next(name for name in ("b.parquet", "a.parquet") if name != before)
    answer = registry.run(source, **spec)
    after = registry.shown()
    assert after in {before, source}
    if answer["status"] == 0:
        assert after == source
        return "whole"
    assert answer["status"] == -9, answer
    return "new" if after == source else "old"


#: After every so many events of a publication and at the last two; in the slow lane at each.
EVENTS = pytest.mark.parametrize("each", [8, pytest.param(1, marks=pytest.mark.slow)])


@pytest.mark.parametrize("moments", [10, pytest.param(60, marks=pytest.mark.slow)])
def test_a_run_killed_after_any_time_leaves_one_whole_release(registry, moments):
    registry.by_command()
    seconds = registry.learn()
    seen = [kill(registry, after=seconds * (number + 0.5) / moments) for number in range(moments)]
    assert "old" in seen
    assert registry.run("b.parquet")["status"] == 0
    assert registry.shown() == "b.parquet"
    registry.check_clean()


def test_a_run_killed_at_any_step_leaves_the_previous_release(registry):
    registry.learn()
    for step in ("digest", "read", "classes", "suppress", "write", "manifest", "parked", "decided"):
        assert kill(registry, step=step) == "old", step
    for event in range(1, 16, 4):
        assert kill(registry, phase="start", event=event) == "old"
    assert registry.run("b.parquet")["status"] == 0
    registry.check_clean()


@EVENTS
def test_a_run_killed_while_it_replaces_a_release_leaves_the_old_or_the_new_one(registry, each):
    registry.learn()
    events = int(registry.run("b.parquet")["events"])
    seen = [kill(registry, phase="publish", event=event) for event in (*range(1, events - 2, each), events - 1, events)]
    assert {"old", "new"} <= set(seen)
    assert registry.run("b.parquet")["status"] == 0
    registry.check_clean()


@EVENTS
def test_a_run_killed_while_it_publishes_for_the_first_time_leaves_nothing_or_the_whole(registry, each):
    registry.learn()
    name = registry.store.records()[0].name
    registry.store.withdraw(name, "to begin with nothing")
    events = int(registry.run("a.parquet")["events"])
    seen = []
    for event in (*range(1, events - 2, each), events - 1, events):
        if registry.shown():
            registry.store.withdraw(name, "to begin with nothing")
        seen.append(kill(registry, phase="publish", event=event))
    assert {"old", "new"} <= set(seen)
    assert registry.run("b.parquet")["status"] == 0
