"""Values of `privrelease.api` are plain values: pickled and copied they are the same, in this process and in another."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from privrelease import api
from privrelease.errors import BudgetError, InputError, PolicyError, UsageError
from privrelease.findings import Finding, Location
from privrelease.pipeline.kinds import KINDS
from privrelease.policy.language.kinds import KINDS as LANGUAGE
from tests.unit.cli.conftest import DATA, POLICY

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "policies").glob("*.yaml"))
FINDINGS = (Finding("D201", "a cell does not fit", location=Location("a.csv", 3, 4)), Finding("D209", "is outside"))
ELSEWHERE = """
import pickle, sys
from privrelease import api
policy, explained, planned = pickle.load(sys.stdin.buffer)
again = api.load(sys.argv[1])
print((policy, explained, planned) == (again, api.plan(again), again.planned), policy.kinds[0] is again.kinds[0])
"""


def pickled(value):
    return pickle.loads(pickle.dumps(value))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
@pytest.mark.parametrize("again", [pickled, copy.deepcopy, copy.copy])
def test_a_policy_and_its_plan_are_the_same_again(path, again):
    policy = api.load(path)
    assert again(policy) == policy
    assert again(policy.planned) == policy.planned
    assert again(api.plan(policy)) == api.plan(policy)
    assert str(api.plan(again(policy))) == str(api.plan(policy))


def test_a_pickled_policy_is_read_by_another_process():
    policy = api.load(EXAMPLES[-1])
    given = pickle.dumps((policy, api.plan(policy), policy.planned))
    done = subprocess.run([sys.executable, "-c", ELSEWHERE, EXAMPLES[-1]], input=given, capture_output=True, check=False)
    assert done.stdout == b"True True\n", done.stderr.decode()


@pytest.mark.parametrize("again", [pickled, copy.deepcopy])
def test_the_result_of_a_run_is_the_same_again_and_a_copied_policy_runs(tmp_path, again):
    (tmp_path / "data.csv").write_text(DATA, encoding="utf-8")
    (tmp_path / "policy.yaml").write_text(POLICY, encoding="utf-8")
    result = api.run(again(api.load(tmp_path / "policy.yaml")))
    assert result.published
    assert again(result) == result
    assert again(result["r"].audit) == result["r"].audit
    assert str(again(result)) == str(result)
    (tmp_path / "data.csv").unlink()
    stopped = api.run(tmp_path / "policy.yaml")
    assert str(again(stopped)) == str(stopped)
    assert str(again(stopped)["r"].error) == str(stopped["r"].error)


@pytest.mark.parametrize("kinds", [KINDS, LANGUAGE], ids=["pipeline", "language"])
@pytest.mark.parametrize("again", [pickled, copy.deepcopy, copy.copy])
def test_a_kind_of_release_is_itself_again(kinds, again):
    assert all(again(kind) is kind for kind in kinds)


@pytest.mark.parametrize(
    "error",
    [
        InputError("D201", "wrong", hint="correct it", location=Location("a.csv", 3, 4), findings=FINDINGS),
        InputError(code="D101", message="absent", hint="check the path"),
        PolicyError(FINDINGS),
        UsageError("C101", "cannot be understood"),
        BudgetError("L101", "refused", location=Location("p.yaml", 1, 1)),
    ],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize("again", [pickled, copy.deepcopy, copy.copy])
def test_an_error_is_the_same_again(error, again):
    found = again(error)
    assert type(found) is type(error)
    assert (str(found), found.args, vars(found)) == (str(error), error.args, vars(error))
