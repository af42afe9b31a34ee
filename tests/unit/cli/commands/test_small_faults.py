"""Faults that newcomers met: each message names the right thing, and each ending says what happened."""

from __future__ import annotations

import subprocess
import sys

import pytest

from privrelease.cli.commands import run as run_command
from tests.unit.cli.conftest import POLICY


def test_an_empty_policy_on_stdin_is_named_as_stdin(desk):
    (desk.folder / "p.yaml").write_text(POLICY, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "privrelease", "diff", "-", "p.yaml"],
        cwd=desk.folder,
        input="",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "-:1:1: P102 the file holds no policy: it is empty" in done.stderr
    assert "p.yaml:1:1" not in done.stderr


@pytest.mark.parametrize("tail", ["\t# a comment", "\t", " \t  # a comment"])
def test_a_tab_before_a_comment_is_a_blank(desk, tail):
    (desk.folder / "p.yaml").write_text(POLICY.replace("version: 1.0.0", f"version: 1.0.0{tail}"), encoding="utf-8")
    assert desk("validate", "p.yaml").code == 0


def test_a_tab_that_indents_is_refused_and_many_tabs_do_not_last(desk):
    (desk.folder / "p.yaml").write_text(POLICY.replace("    source:", "\tsource:"), encoding="utf-8")
    assert "P102 a tab cannot indent YAML" in desk("validate", "p.yaml").err + desk("validate", "p.yaml").out
    (desk.folder / "p.yaml").write_text(POLICY + "\t# one\n" * 1000 + "x: y\t# one\n" * 1000, encoding="utf-8")
    assert desk("validate", "p.yaml").code == 2


def test_a_command_of_the_ledger_that_does_not_exist_names_those_that_do(desk):
    said = desk("ledger", "show", "p.yaml")
    assert said.code == 2
    assert "the commands of `privrelease ledger` are export, forget, history, init" in said.err


def test_validate_names_the_release_in_every_line_about_a_synthetic_one(desk):
    synthetic = """\
  - id: s
    kind: synthetic
    from: d
    method: histogram
    columns: [area]
    rows: 100
    budget: {epsilon: 1, delta: 1e-6}
    output: {path: out/s.csv}
ledger: {cap: {epsilon: 4, delta: 1e-5}, url: "sqlite:///ledger.db"}
"""
    policy = POLICY.replace(
        "area: {role: quasi, type: category}", "area: {role: quasi, type: category, domain: [north, south, west]}"
    )
    (desk.folder / "p.yaml").write_text(policy + synthetic, encoding="utf-8")
    said = desk("validate", "p.yaml")
    assert said.code == 0
    lines = [line for line in said.out.splitlines() if "spends" in line or "expected absolute error" in line]
    assert len(lines) > 1
    assert all(line.startswith("release s: ") for line in lines)


def test_a_run_that_is_interrupted_after_a_publication_says_so(desk, monkeypatch):
    second = POLICY.partition("releases:\n")[2].replace("id: r", "id: second").replace("out/r.csv", "out/second.csv")
    (desk.folder / "p.yaml").write_text(POLICY + second, encoding="utf-8")
    told = run_command._tell

    def tell(result, ending, console):
        told(result, ending, console)
        raise KeyboardInterrupt

    monkeypatch.setattr(run_command, "_tell", tell)
    said = desk("run", "p.yaml")
    assert said.code == 3
    assert "interrupted; of the others nothing was published; before that: r (" in said.err
    assert desk("run", "p.yaml", "--release", "r").code in {0, 1}  # the only release had ended: its own code


def test_a_signal_after_the_command_ended_does_not_change_its_exit_code(tmp_path):
    late = """\
import os, signal, sys, atexit
from privrelease.cli import main as cli
sys.argv = ["privrelease", "--version"]
code = cli.command()
os.kill(os.getpid(), signal.SIGTERM)
sys.exit(code)
"""
    done = subprocess.run([sys.executable, "-c", late], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0


@pytest.mark.parametrize("sign", ["\t", ";", " "])
def test_a_hierarchy_may_have_a_tab_or_a_blank_between_its_labels(desk, sign):
    labels = "".join(f"{area}{sign}all\n" for area in ("north", "south", "west"))
    (desk.folder / "areas.txt").write_text(labels, encoding="utf-8")
    written = {"\t": '"\\t"', ";": '";"', " ": '" "'}[sign]
    coarser = POLICY.replace(
        "area: {role: quasi, type: category}",
        f"area: {{role: quasi, type: category, hierarchy: {{csv: areas.txt, delimiter: {written}}}}}",
    ).replace("[{suppress: cells}]", "[{generalise: area, level: 1}, {suppress: cells}]")
    (desk.folder / "p.yaml").write_text(coarser, encoding="utf-8")
    said = desk("validate", "p.yaml")
    assert said.code == 0, said.out + said.err


def test_a_hierarchy_with_no_sign_between_its_labels_is_refused(desk):
    coarser = POLICY.replace(
        "area: {role: quasi, type: category}",
        'area: {role: quasi, type: category, hierarchy: {csv: areas.txt, delimiter: ""}}',
    )
    (desk.folder / "p.yaml").write_text(coarser, encoding="utf-8")
    said = desk("validate", "p.yaml")
    assert said.code == 2
    assert "must be what stands between the fields of a line" in said.out + said.err


@pytest.mark.parametrize("verb", [("run",), ("run", "--dry-run"), ("show",)])
def test_a_policy_on_stdin_is_refused_by_its_reason_where_a_file_is_needed(desk, verb):
    said = desk(verb[0], "-", *verb[1:])
    assert said.code == 2
    assert "-: P101 the policy file is not taken from stdin here" in said.err
    assert "save it as a file" in said.err
    assert "does not exist" not in said.err
