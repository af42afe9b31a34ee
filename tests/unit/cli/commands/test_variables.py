"""Options by environment variables, the module as a command, and completion of shells."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import cast

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from privrelease.cli.main import _command_for, _for_call, app, main
from privrelease.cli.variables import NEVER, SHARED, flag_of, name_variables, options_of
from tests.unit.cli.conftest import POLICY


@pytest.fixture(scope="module")
def options():
    command = cast("TyperGroup", get_command(app))
    name_variables(command)
    return {(verb, flag_of(option)): option for verb, option in options_of(command)}


def test_every_option_has_a_variable_but_those_that_weaken_a_run(options):
    without = {named for named, option in options.items() if option.envvar is None}
    weakening = {(verb, flag) for verb, flag in options if ("*", flag) in NEVER or (verb, flag) in NEVER}
    assert without == weakening
    assert not [named for named, option in options.items() if option.allow_from_autoenv]
    for known in (
        ("run", "--test-noise"),
        ("audit", "--force"),
        ("audit", "--source"),
        ("verify", "--key"),
        ("ledger raise", "--epsilon"),
    ):
        assert known in without


def test_every_verb_can_be_quiet(options):
    verbs = {verb for verb, _ in options if verb not in {"", "ledger"}}
    assert verbs == {verb for verb, flag in options if flag == "--quiet"}


def test_the_tree_for_one_call_has_that_verb_whole_and_the_others_by_name():
    whole, lean = (get_command(one).commands for one in (app, _for_call(["run", "policy.yaml"])))
    assert list(lean) == list(whole)
    assert [(one.name, one.get_short_help_str()) for one in lean.values()] == [
        (one.name, one.get_short_help_str()) for one in whole.values()
    ]
    assert len(lean["run"].params) == len(whole["run"].params)
    assert not lean["audit"].params
    assert get_command(_for_call(["ledger", "init"])).commands["ledger"].commands.keys() == whole["ledger"].commands.keys()
    assert _for_call(["rum"]) is _for_call([]) is app


def test_the_tree_of_a_verb_is_read_once_and_no_call_changes_it(tmp_path, monkeypatch, capsys):
    """Arguments and variables of one call are none of the next."""
    monkeypatch.chdir(tmp_path)
    tree = _command_for("validate")
    first = [(one.name, one.envvar, one.default) for one in tree.commands["validate"].params]
    said = []
    for state in ("one", None):
        with monkeypatch.context() as patched:
            if state is not None:
                patched.setenv("PRIVRELEASE_THREADS", "none of these")
            assert main(["validate", "absent.yaml"]) != 0
            said.append(capsys.readouterr().err)
    assert "PRIVRELEASE_THREADS" in said[0]
    assert "PRIVRELEASE_THREADS" not in said[1]
    assert _command_for("validate") is tree
    assert [(one.name, one.envvar, one.default) for one in tree.commands["validate"].params] == first


def test_every_exception_is_an_option_and_no_variable_is_given_to_two(options):
    assert {flag for verb, flag in NEVER if verb == "*"} <= {flag for _, flag in options} | {"--help"}
    assert {one for one in NEVER if one[0] != "*"} <= options.keys()
    names = [
        (option.envvar, flag if flag in SHARED else (verb, flag)) for (verb, flag), option in options.items() if option.envvar
    ]
    assert len({name for name, _ in names}) == len(set(names))
    assert all(name.startswith("PRIVRELEASE_") and name.replace("_", "").isalnum() and name.isupper() for name, _ in names)


def test_a_variable_sets_an_option_and_the_command_line_wins(desk, monkeypatch):
    monkeypatch.setenv("PRIVRELEASE_VALIDATE_FORMAT", "json")
    assert desk("validate", "policy.yaml").json["valid"] is True
    assert desk("validate", "policy.yaml", "--format", "text").out.startswith("release r")
    monkeypatch.setenv("PRIVRELEASE_VALIDATE_FORMAT", "")
    assert desk("validate", "policy.yaml").out.startswith("release r")


def test_a_variable_that_cannot_be_read_is_named(desk, monkeypatch):
    monkeypatch.setenv("PRIVRELEASE_VALIDATE_FORMAT", "zebra")
    said = desk("validate", "policy.yaml")
    assert said.code == 2
    assert "PRIVRELEASE_VALIDATE_FORMAT" in said.err


@pytest.mark.parametrize("value", ["abc", "", "1e3", "9" * 30])
def test_an_epoch_that_no_library_can_read_is_named(desk, monkeypatch, value):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", value)
    said = desk("validate", "policy.yaml")
    assert said.code == 2
    assert said.err.startswith("C173 SOURCE_DATE_EPOCH is not a number of seconds since 1970\nhint: ")
    assert desk("validate", "--help").code == 0
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    assert desk("validate", "policy.yaml").code == 0


def test_a_variable_that_is_not_utf8_is_named(desk, monkeypatch):
    monkeypatch.setenv("PRIVRELEASE_STATE", "st\udcff")
    said = desk("run", "policy.yaml")
    assert said.code == 2
    assert said.err.startswith("C173 PRIVRELEASE_STATE is not UTF-8\nhint: ")
    assert desk("fmt", "policy.yaml", "--check").code != 70


@pytest.mark.parametrize(
    ("words", "place"),
    [
        (("run", "p\udcff.yaml"), 2),
        (("run", "policy.yaml", "--state", "st\udcff"), 4),
        (("withdraw", "policy.yaml", "r", "--reason=a\udcffb"), 4),
    ],
)
def test_an_argument_that_is_not_utf8_is_refused_before_any_work(desk, words, place):
    said = desk(*words)
    assert said.code == 2
    assert said.err.startswith(f"C173 argument {place} is not UTF-8\nhint: ")
    assert not (desk.folder / ".privrelease").exists()


def test_a_run_uses_variables_and_nothing_that_weakens_it_comes_from_one(desk, monkeypatch):
    desk.policy(POLICY + "environments: {strict: {threats: {t: {highest_risk: 0.1}}}}\n")
    monkeypatch.setenv("PRIVRELEASE_STATE", str(desk.folder / "kept"))
    monkeypatch.setenv("PRIVRELEASE_ENV", "strict")
    monkeypatch.setenv("PRIVRELEASE_VERSION", "1")
    said = desk.run()
    assert said.code == 0
    assert "k = 10" in desk("plan", "policy.yaml").out
    assert not (desk.folder / ".privrelease").exists()
    (run,) = (desk.folder / "kept" / "runs").iterdir()
    there = desk.folder / "there.html"
    there.write_text("kept", encoding="utf-8")
    for name in ("PRIVRELEASE_FORCE", "PRIVRELEASE_REPORT_FORCE"):
        monkeypatch.setenv(name, "1")
        assert f"C172 {name} sets no option of report" in desk("report", str(run), "-o", "there.html").err
        monkeypatch.delenv(name)
    assert "C130" in desk("report", str(run), "-o", "there.html").err
    assert there.read_text(encoding="utf-8") == "kept"
    assert desk("report", str(run), "-o", "there.html", "--force").code == 0


def test_help_names_the_variables(desk):
    out = " ".join(desk("run", "--help").out.split())
    assert "PRIVRELEASE_STATE" in out
    assert "PRIVRELEASE_RUN_FORMAT" in out
    assert "PRIVRELEASE_STATE for every command" in " ".join(desk("--help").out.split())


def as_module(*words, **variables):
    command = [sys.executable, "-m", "privrelease", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **variables}, cwd="/")


def test_the_package_is_a_command():
    done = as_module("explain", "P403")
    assert (done.returncode, done.stderr) == (0, "exit 0: 1 code is explained\n")
    assert done.stdout.startswith("P403: ")


def test_a_shell_completes_verbs_and_options():
    asked = {"COMP_WORDS": "privrelease val", "COMP_CWORD": "1", "_PRIVRELEASE_COMPLETE": "complete_bash"}
    done = as_module(**asked)
    assert (done.returncode, done.stdout.split(), done.stderr) == (0, ["validate"], "")


def test_a_shell_that_is_not_known_is_refused(capsys, monkeypatch):
    monkeypatch.setenv("_PRIVRELEASE_COMPLETE", "complete_zebra")
    assert main([]) == 2
    assert capsys.readouterr().err.endswith("there is no completion for this shell\n")


def test_a_variable_without_its_verb_is_refused_and_not_passed_over(capsys, monkeypatch):
    monkeypatch.setenv("PRIVRELEASE_DRY_RUN", "1")
    assert main(["run", "policy.yaml"]) == 2
    said = capsys.readouterr().err
    assert "C172 PRIVRELEASE_DRY_RUN sets no option of run\nhint: write PRIVRELEASE_RUN_DRY_RUN, or unset it" in said
    assert main(["explain", "P403"]) == 0


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("PRIVRELEASE_RUN_DRYRUN", "write PRIVRELEASE_RUN_DRY_RUN, or unset it"),
        ("PRIVRELEASE_DRYRUN", "write PRIVRELEASE_RUN_DRY_RUN, or unset it"),
        ("PRIVRELEASE_RUN_STATE", "write PRIVRELEASE_STATE, or unset it"),
        ("PRIVRELEASE_DATAROOT", "write PRIVRELEASE_DATA_ROOT, or unset it"),
        ("PRIVRELEASE_RUN_DRY", "`privrelease run --help` names the variables there are; unset it"),
        (
            "PRIVRELEASE_RUN_TEST_NOISE",
            "no variable sets --test-noise, so that none weakens a run: give it on the command line; unset it",
        ),
        (
            "PRIVRELEASE_TESTNOISE",
            "no variable sets --test-noise, so that none weakens a run: give it on the command line; unset it",
        ),
    ],
)
def test_a_variable_that_is_nearly_one_of_the_verbs_is_refused(capsys, monkeypatch, name, hint):
    monkeypatch.setenv(name, "1")
    assert main(["run", "policy.yaml"]) == 2
    assert f"C172 {name} sets no option of run\nhint: {hint}" in capsys.readouterr().err


@pytest.mark.parametrize(
    "name",
    [
        "PRIVRELEASE_RUN_SIGNING_KEY",
        "PRIVRELEASE_VALIDATE_FORMAT",
        "PRIVRELEASE_PLANS",
        "PRIVRELEASE_RUN_DRYRUN=",
    ],
)
def test_other_variables_are_let_alone(capsys, monkeypatch, name):
    name, empty, _ = name.partition("=")
    monkeypatch.setenv(name, "" if empty else "json")
    assert main(["run", "missing.yaml"]) == 2
    assert "C172" not in capsys.readouterr().err


def test_a_variable_of_a_group_is_refused_by_the_verb_that_it_is_nearly_of(capsys, monkeypatch):
    monkeypatch.setenv("PRIVRELEASE_LEDGER_STATUS_FORMATS", "json")
    assert main(["ledger", "status", "policy.yaml"]) == 2
    assert "C172 PRIVRELEASE_LEDGER_STATUS_FORMATS sets no option of ledger status" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("variable", "value", "code", "written"),
    [
        ("PRIVRELEASE_MEMORY_LIMIT", "much", "C102 --memory-limit is not a size", ("--memory-limit", "much")),
        ("PRIVRELEASE_VALIDATE_PROFILE", "hipaa", "C117 --profile is gdpr: no other is known", ("--profile=hipaa",)),
    ],
)
def test_a_refused_value_of_a_variable_names_the_variable(desk, monkeypatch, variable, value, code, written):
    """Whoever reads the message wrote no such option, and finds the value by the name of the variable."""
    monkeypatch.setenv(variable, value)
    said = desk("validate", "policy.yaml", "--data")
    assert said.code == 2
    assert f"{code} (it is set by the variable {variable})\n" in said.err
    assert f"{code}\n" in desk("validate", "policy.yaml", "--data", *written).err
    monkeypatch.delenv(variable)
    assert f"{code}\n" in desk("validate", "policy.yaml", "--data", *written).err


@pytest.mark.parametrize(
    ("verb", "variable", "value", "refused"),
    [
        ("run", "PRIVRELEASE_TEMP", "absent", "C104 --temp is not a folder: absent"),
        ("run", "PRIVRELEASE_RUN_RELEASE", "other", "C103 the policy has no release other"),
        ("run", "PRIVRELEASE_ENV", "other", "policy.yaml: P501 environment other does not exist"),
        ("validate", "PRIVRELEASE_ENV", "other", "policy.yaml: P501 environment other does not exist"),
        ("hierarchy", "PRIVRELEASE_MEMORY_LIMIT", "much", "C102 --memory-limit is not a size"),
        ("frontier", "PRIVRELEASE_MEMORY_LIMIT", "much", "C102 --memory-limit is not a size"),
    ],
)
def test_a_value_that_the_policy_or_the_machine_has_not_names_its_variable(desk, monkeypatch, verb, variable, value, refused):
    """As above, where the message names no option, and where a release has begun only if the folder is there."""
    monkeypatch.setenv(variable, value)
    said = desk(verb, "policy.yaml", *(("--column", "area") if verb == "hierarchy" else ()))
    assert said.code == 2
    assert f"{refused} (it is set by the variable {variable})\n" in said.out + said.err
    assert not (desk.folder / ".privrelease").exists()
