"""The interface for Python: six functions that return values, whatever else is imported, and print nothing."""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
import subprocess
import sys
import types

import pytest

import privrelease
from privrelease import api
from privrelease.audit.document.model import AuditResult, Outcome
from privrelease.errors import InputError, PolicyError, UsageError
from privrelease.pipeline.results import ReleaseResult, RunResult

DATA = "id,area,job\n" + "".join(f"{n},{'north' if n < 6 else 'south'},clerk\n" for n in range(12)) + "12,west,smith\n"
POLICY = {
    "apiVersion": "privrelease/v1",
    "kind": "ReleasePolicy",
    "id": "made",
    "version": "1.0.0",
    "title": "Computed",
    "datasets": {
        "d": {
            "source": "data.csv",
            "unit": {"column": "id", "max_rows": 1},
            "columns": {
                "id": {"role": "direct", "type": "string"},
                "area": {"role": "quasi", "type": "category"},
                "job": {"role": "quasi", "type": "category"},
            },
        }
    },
    "threats": {"t": {"dataset": "d", "knows": ["area", "job"], "highest_risk": 0.2}},
    "releases": [
        {
            "id": "r",
            "kind": "microdata",
            "from": "d",
            "protect": ["t"],
            "transform": [{"suppress": "cells"}],
            "output": {"path": "out/r.csv"},
        }
    ],
}
TEXT = """\
apiVersion: privrelease/v1
kind: ReleasePolicy
id: made
version: 1.0.0
title: Computed
datasets:
  d:
    source: data.csv
    unit: {column: id, max_rows: 1}
    columns:
      id: {role: direct, type: string}
      area: {role: quasi, type: category}
      job: {role: quasi, type: category}
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
SECOND = """\
  - id: s
    kind: microdata
    from: d
    protect: [t]
    output: {path: out/s.csv}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text(DATA, encoding="utf-8")
    (tmp_path / "p.yaml").write_text(TEXT, encoding="utf-8")
    return tmp_path


@pytest.fixture
def silent(capfd):
    yield
    assert capfd.readouterr() == ("", "")


def test_after_every_module_is_imported_each_name_is_a_function_and_works(folder, silent):
    # in a process of its own: some modules of examples and of optional extras may not be importable here, and are passed over
    program = """
import importlib, pkgutil, sys, privrelease
names = [one.name for one in pkgutil.walk_packages(privrelease.__path__, "privrelease.")]
for name in names:
    try:
        importlib.import_module(name)
    except ImportError as error:
        assert not str(error.name).startswith("privrelease"), error
from privrelease import api
policy = api.load("p.yaml")
lines = api.plan(policy).as_lines()
result = api.run(policy)
again = api.audit(policy, "out/r.csv")
changes = api.diff(policy, "p.yaml")
page = api.report(result)
sys.stderr.write(f"{len(names) > 300} {len(lines) > 5} {result.published} {again.decision.outcome.value} {changes} {page[:5]}")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "True True True pass () <!doc"


def test_no_name_of_the_interface_is_a_module_of_the_package():
    rooms = {one.name for one in pkgutil.iter_modules(privrelease.__path__)}
    assert importlib.import_module("privrelease.api") is api
    assert "api" in rooms
    for name in api.__all__:
        assert not isinstance(getattr(api, name), types.ModuleType)
        assert not hasattr(privrelease, name) or name in rooms  # a room never hides a name: those are in the module `api`


def test_a_mapping_says_what_a_file_says(folder, silent):
    from_file, from_mapping = api.load("p.yaml"), api.load(POLICY)
    assert from_mapping.sha256 == from_file.sha256
    assert from_mapping.loaded.policy == from_file.loaded.policy
    assert (from_mapping.id, from_mapping.version, from_mapping.releases) == ("made", "1.0.0", ("r",))
    assert str(from_mapping) == "made 1.0.0: Computed"


def test_a_mapping_is_run_in_the_folder_that_is_named(folder, tmp_path_factory, monkeypatch, silent):
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    result = api.run(api.load(POLICY, folder=folder))
    assert result["r"].became == "published"
    assert (folder / "out" / "r.csv").is_file()


def test_a_fault_of_a_mapping_is_placed_in_what_it_stands_for(folder):
    threats = {"t": {**POLICY["threats"]["t"], "highest_risk": 20}}
    with pytest.raises(PolicyError, match="<mapping>:") as caught:
        api.load({**POLICY, "threats": threats})
    assert [finding.code for finding in caught.value.findings] == ["P104"]


def test_a_loaded_policy_is_taken_as_it_is_and_loaded_again_for_another_environment(folder, silent):
    (folder / "p.yaml").write_text(TEXT + "environments: {strict: {threats: {t: {highest_risk: 0.1}}}}\n", encoding="utf-8")
    policy = api.load("p.yaml")
    assert api.load(policy) is policy
    strict = api.load(policy, env="strict")
    assert strict.settings.environment == "strict"
    assert strict.planned.releases[0].threats[0].thresholds.k == 10
    assert policy.planned.releases[0].threats[0].thresholds.k == 5


def test_a_data_root_that_is_named_at_the_run_counts(folder, tmp_path_factory, silent):
    home = tmp_path_factory.mktemp("home")
    (home / "p.yaml").write_text(TEXT, encoding="utf-8")
    assert api.run(home / "p.yaml", data_root=folder)["r"].became == "published"


def test_the_plan_is_the_text_of_the_command(folder, capsys):
    from privrelease.cli.main import main

    assert main(["plan", "p.yaml", "-q"]) == 0
    assert capsys.readouterr().out == f"{api.plan('p.yaml')}\n"


def test_a_run_returns_what_became_of_each_release_and_is_short_as_text_and_escaped_as_html(folder, silent):
    (folder / "p.yaml").write_text(TEXT + SECOND, encoding="utf-8")
    result = api.run("p.yaml")
    assert isinstance(result, RunResult)
    assert [(one.release, one.became, one.decision) for one in result.releases] == [
        ("r", "published", "pass"),
        ("s", "quarantined", "fail"),
    ]
    assert not result.published
    lines = str(result).splitlines()
    assert lines[0] == "made 1.0.0"
    assert "  threat t: holds, k 6 (before: 1)" in lines
    assert "  threat t: does not hold, k 1 (before: 1)" in lines
    assert str(result["s"]).splitlines()[0] == "release s: fail, quarantined"
    assert result._repr_html_().count("<tr>") == 3
    harmful = ReleaseResult("<script>", "failed", "<b>")
    assert "<script>" not in harmful._repr_html_()
    assert "&lt;script&gt;" in harmful._repr_html_()
    with pytest.raises(KeyError):
        result["other"]


def test_the_files_of_a_run_are_those_of_the_command_line(folder, silent):
    result = api.run("p.yaml")["r"]
    assert sorted(result.files) == ["audit", "manifest", "out/r.csv", "recipient report", "report"]
    assert (
        json.loads((folder / ".privrelease" / "runs" / str(result.run) / "internal" / "audit.json").read_bytes())["identity"][
            "run"
        ]
        == result.run
    )


def test_what_stops_one_release_stands_in_its_result(folder, silent):
    (folder / "data.csv").unlink()
    result = api.run("p.yaml")["r"]
    assert (result.became, result.decision, result.audit) == ("failed", "stopped", None)
    assert isinstance(result.error, InputError)
    assert result.error.code in str(result)
    with pytest.raises(InputError, match="C301"):
        api.report(result)


def test_a_release_that_the_policy_lacks_is_refused(folder):
    with pytest.raises(UsageError, match="C103"):
        api.run("p.yaml", release="other")
    with pytest.raises(UsageError, match="C103"):
        api.audit("p.yaml", "data.csv", release="other")


def test_progress_is_told_to_whoever_asks(folder, silent):
    steps = []
    api.run("p.yaml", progress=lambda step, _: steps.append(step))
    assert {"read", "write", "audit"} <= set(steps)


def test_a_file_is_audited_under_the_release_that_it_is_an_output_of(folder, silent):
    (folder / "p.yaml").write_text(TEXT + SECOND, encoding="utf-8")
    api.run("p.yaml", release="r")
    found = api.audit("p.yaml", "out/r.csv")
    assert (found.identity.release, found.decision.outcome) == ("r", Outcome.PASS)
    (folder / "other.csv").write_text("area,job\nwest,smith\n", encoding="utf-8")
    with pytest.raises(UsageError, match="C103"):
        api.audit("p.yaml", "other.csv")
    assert api.audit("p.yaml", ["other.csv"], release="s").decision.outcome is Outcome.FAIL


def test_policies_are_compared_with_policies_and_audits_with_audits(folder, silent):
    looser = {**POLICY, "threats": {"t": {**POLICY["threats"]["t"], "highest_risk": 0.25}}}
    assert [(one.effect, one.subject) for one in api.diff("p.yaml", looser)] == [("weaker", "threats.t.highest_risk")]
    assert api.diff("p.yaml", POLICY) == ()
    result = api.run("p.yaml")["r"]
    other = api.run(looser)["r"]
    assert isinstance(result.audit, AuditResult)
    changed = api.diff(result, other)
    assert changed == api.diff(result.files["audit"], str(other.files["audit"]))
    assert "policy_sha256" in [one.what for one in changed]
    with pytest.raises(UsageError, match="C142"):
        api.diff("p.yaml", result)


def test_a_change_in_an_environment_alone_is_found(folder, silent):
    (folder / "p.yaml").write_text(TEXT + "environments: {strict: {threats: {t: {highest_risk: 0.1}}}}\n", encoding="utf-8")
    (folder / "new.yaml").write_text(TEXT + "environments: {strict: {threats: {t: {highest_risk: 0.15}}}}\n", encoding="utf-8")
    assert [one.effect for one in api.diff("p.yaml", "new.yaml")] == ["weaker"]
    with pytest.raises(UsageError, match="C143"):
        api.diff(api.load("p.yaml", env="strict"), "new.yaml")


def test_a_report_has_forms_and_editions_and_is_of_one_release(folder, silent):
    (folder / "p.yaml").write_text(TEXT + SECOND, encoding="utf-8")
    result = api.run("p.yaml")
    with pytest.raises(UsageError, match="C103"):
        api.report(result)
    assert api.report(result, release="r", form="text") == api.report(result["r"], form="text")
    page = (folder / ".privrelease" / "runs" / str(result["r"].run) / "internal" / "report.html").read_text(encoding="utf-8")
    said = re.sub(r'<p class="standing">[^\n]*</p>\n', "", page)
    assert said != page, "the page of the run says what became of it"
    assert api.report(result["r"].audit) == said
    assert api.report(result["r"], edition="recipient") != page
    with pytest.raises(UsageError, match="C106"):
        api.report(result["r"], form="pdf")
