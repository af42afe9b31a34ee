from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from privrelease.cli.main import main
from privrelease.release.signing import SigningKey

if TYPE_CHECKING:
    from pathlib import Path

    from tests.made_once import MadeOnce

DATA = (
    "id,area,job,pay\n"
    + "".join(f"{n},{'north' if n < 6 else 'south'},clerk,{100 + n}\n" for n in range(12))
    + "12,west,smith,900\n"
)
#: How a made-up policy of one dataset begins; its columns, and all else, follow.
POLICY_HEAD = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: made
version: 1.0.0
title: Made-up
datasets:
  d:
    source: data.csv
"""
APPROVALS = "approvals: {required: [dpo, steward], keys: approvers.yaml}\n"
POLICY = (
    POLICY_HEAD
    + """\
    unit: {column: id, max_rows: 1}
    columns:
      id: {role: direct, type: string}
      area: {role: quasi, type: category}
      job: {role: quasi, type: category}
      pay: {role: sensitive, type: integer}
threats:
  t: {dataset: d, knows: [area, job], highest_risk: 0.2}
releases:
  - id: r
    kind: microdata
    from: d
    protect: [t]
    transform: [{suppress: cells}]
    output: {path: out/r.csv}
"""
)

#: Every row is a person of its own.
PERSONS = "unit: {column: id, max_rows: 1}"


def marked_policy(
    *, risk: str, pay: str = "integer", steps: str = "{suppress: cells}", unit: str = PERSONS, form: str = "csv"
) -> str:
    """A policy over marks of missing and suppressed values, as files of other tools have them."""
    return f"""{POLICY_HEAD}\
    {unit}
    format: {{missing: ["", "NA"], suppression_mark: "*"}}
    columns:
      id: {{role: direct, type: string}}
      area: {{role: quasi, type: category}}
      age: {{role: quasi, type: integer}}
      pay: {{role: sensitive, type: {pay}}}
threats:
  t: {{dataset: d, knows: [area, age], highest_risk: {risk}}}
releases:
  - id: r
    kind: microdata
    from: d
    protect: [t]
    order: source
    transform: [{steps}]
    output: {{path: out/r.{form}}}
"""


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str

    @property
    def last(self) -> str:
        return self.err.splitlines()[-1]

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True)
class Desk:
    """A folder with made-up data and a policy, on which commands run in this process."""

    folder: Path
    capture: pytest.CaptureFixture[str]
    made_once: MadeOnce

    def policy(self, text: str = POLICY) -> None:
        (self.folder / "policy.yaml").write_text(text, encoding="utf-8")

    def data(self, text: str) -> None:
        (self.folder / "data.csv").write_text(text, encoding="utf-8")

    def __call__(self, *arguments: str) -> Said:
        self.capture.readouterr()
        code = main(list(arguments))
        captured = self.capture.readouterr()
        assert "Traceback" not in captured.out + captured.err
        return Said(code, captured.out, captured.err)

    def run(self, *options: str) -> Said:
        return self("run", "policy.yaml", *options)

    def once(self, *arguments: str) -> Said:
        """Call a command, or copy what it did to the same folder before: for a state that tests start from."""
        assert self.folder.samefile("."), "the state would be copied away from under the process"
        return self.made_once(self.folder, arguments, lambda: self(*arguments))

    def run_once(self, *options: str) -> Said:
        return self.once("run", "policy.yaml", *options)

    @property
    def released(self) -> Path:
        return self.folder / "out" / "r.csv"


@pytest.fixture
def desk(tmp_path, capsys, monkeypatch, made_once) -> Desk:
    monkeypatch.chdir(tmp_path)
    made = Desk(tmp_path, capsys, made_once)
    made.policy()
    made.data(DATA)
    return made


#: Keys of people by their names.
KEYS: dict[str, SigningKey] = {}


@dataclass(frozen=True)
class Office:
    """A desk whose policy needs two approvals, and the keys of those who give them."""

    desk: Desk

    def person(self, name, roles, **dates):
        """An entry of the list of approvers; a person has the same key in every test, as tests that start from one state do."""
        path = self.desk.folder / f"{name}.key"
        if not path.exists():
            KEYS.setdefault(name, SigningKey.generate()).save(path)
        pem = SigningKey.load(path).public.pem.strip().replace("\n", "\n      ")
        more = "".join(f"\n    {key}: {value}" for key, value in dates.items())
        return f"  - name: {name}\n    roles: [{', '.join(roles)}]\n    key: |\n      {pem}{more}\n"

    def list(self, *people):
        (self.desk.folder / "approvers.yaml").write_text("approvers:\n" + "".join(people), encoding="utf-8")

    def run(self):
        """Return a run that waits for approval: a copy, where a test had it before."""
        said = self.desk.run_once()
        assert said.code == 5, said.err
        return max(path.name for path in (self.desk.folder / ".privrelease" / "runs").iterdir())

    def approve(self, run, name, role):
        return self.desk("approve", "policy.yaml", run, "--role", role, "--key", f"{name}.key")

    def publish(self, run):
        return self.desk("publish", "policy.yaml", run)

    def internal(self, run):
        return self.desk.folder / ".privrelease" / "runs" / run / "internal"


@pytest.fixture
def office(desk):
    desk.policy(POLICY + APPROVALS)
    made = Office(desk)
    made.list(made.person("ann", ["dpo"]), made.person("bob", ["steward", "dpo"]))
    return made


def signed(office):
    """Return a run that both have approved: a copy, where a test had it before."""
    run = office.run()
    for name, role in (("ann", "dpo"), ("bob", "steward")):
        office.desk.once("approve", "policy.yaml", run, "--role", role, "--key", f"{name}.key")
    return run
