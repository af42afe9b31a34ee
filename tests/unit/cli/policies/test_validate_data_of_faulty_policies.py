"""``validate --data`` of a policy with errors: the data of every dataset that can be read is read nevertheless."""

from __future__ import annotations

from contextlib import ExitStack, nullcontext
from itertools import islice

import pytest

from privrelease.engine import open as engines
from privrelease.findings import Severity
from privrelease.policy.loader import check_policy
from privrelease.policy.sound_part import sound_part
from tests.depth import depth
from tests.unit.cli.conftest import POLICY
from tests.unit.cli.policies.test_validate_data import BOUNDED, STATISTICS, WRONG, faults

BOTH = {"D201": "data.csv:3:4", "D209": "data.csv:4:4"}
SECOND = """  e:
    source: other.csv
    columns:
      area: {role: quasi, type: category, domain: [north, south]}
threats:
"""
#: A second dataset, which no release reads.
TWO = BOUNDED.replace("threats:\n", SECOND)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("highest_risk: 0.2", "highest_risk: 2"),
        ("knows: [area, job]", "knows: [area, jop]"),
        ("kind: microdata", "kind: microdatum"),
        ("from: d", "from: f"),
        ("protect: [t]", "protect: [u]"),
        ("title: Made-up", "titel: Made-up"),
        ("transform: [{suppress: cells}]", "transform: [{swap: cells}]"),
        ("releases:\n", "ledger: 7\nreleases:\n"),
        ("output: {path: out/r.csv}", "output: {path: ../r.csv}"),
        ("id: made", "id: [made]"),
    ],
)
def test_data_of_a_sound_dataset_is_read_and_the_policy_decides_the_exit_code(desk, old, new):
    assert BOUNDED.count(old) == 1
    desk.policy(BOUNDED.replace(old, new))
    desk.data(WRONG)
    said = desk("validate", "policy.yaml", "--data")
    assert (said.code, faults(said)) == (2, BOTH)
    assert said.out.count("D209") == said.out.count("D201") == 1
    assert "P108" not in said.out
    lines = [line for line in said.out.splitlines() if not line.startswith("hint")]
    assert lines.index(next(line for line in lines if line.startswith("policy.yaml"))) == 0
    assert said.last.endswith(", and its data has 2 errors")
    value = desk("validate", "policy.yaml", "--data", "--format", "json").json
    assert value["valid"] is False
    assert {one["code"] for one in value["data"]} == set(BOTH)


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("title: Made-up", "title: Made-up\ntitle: Again", "policy.yaml:6:1: P103"),
        ("title: Made-up", "title: [Made-up", "policy.yaml:6:9: P102"),
        ("title: Made-up", "title: Made-up # \u0085", "policy.yaml:5:18: P102"),
    ],
)
def test_a_policy_whose_text_cannot_be_read_says_in_one_line_that_no_data_was(desk, old, new, place):
    assert BOUNDED.count(old) == 1
    desk.policy(BOUNDED.replace(old, new))
    desk.data(WRONG)
    said = desk("validate", "policy.yaml", "--data")
    assert said.code == 2
    assert "data.csv" not in said.out
    told = [line for line in said.out.splitlines() if "P108" in line]
    assert told == [f"{place.rpartition(' ')[0]} P108 info: no data was read: the text of the policy has errors"]
    assert "P108" not in desk("validate", "policy.yaml").out


def test_a_dataset_that_is_wrong_itself_is_passed_over_in_one_line(desk):
    desk.policy(TWO.replace("pay: {role: sensitive, type: integer,", "pay: {role: sensitive, type: integral,"))
    desk.data(WRONG)
    (desk.folder / "other.csv").write_text("area\nnorth\nwest\n", encoding="utf-8")
    said = desk("validate", "policy.yaml", "--data")
    assert said.code == 2
    told = [line for line in said.out.splitlines() if "P108" in line]
    assert told == ["policy.yaml:7:3: P108 info: the data of dataset d was not read: its declaration has errors"]
    assert "other.csv:3:1: D209" in said.out
    assert "data.csv" not in said.out


def test_without_an_error_a_dataset_that_no_release_reads_is_read_as_well(desk):
    """So an error more or less changes nothing of what is said of the data."""
    desk.policy(TWO.replace(", domain: [0, 9]", ""))
    (desk.folder / "other.csv").write_text("area\nnorth\nwest\n", encoding="utf-8")
    said = desk("validate", "policy.yaml", "--data")
    assert said.code == 3
    assert said.out.count("D209") == 1
    assert "other.csv:3:1: D209" in said.out


def test_where_noise_alone_reads_it_values_outside_a_domain_are_no_fault(desk):
    desk.policy(BOUNDED[: BOUNDED.index("  - id: r")] + STATISTICS.replace("sum: pay", "sum: pai"))
    desk.data(WRONG)
    said = desk("validate", "policy.yaml", "--data")
    assert (said.code, faults(said)) == (2, {"D201": "data.csv:3:4"})


def test_a_broken_hierarchy_does_not_hide_values_that_another_one_lacks(desk):
    """The labels of `job` lack a value; those of `area` contradict each other."""
    desk.policy(
        POLICY.replace(
            "area: {role: quasi, type: category}", "area: {role: quasi, type: category, hierarchy: {csv: areas.csv}}"
        )
        .replace("job: {role: quasi, type: category}", "job: {role: quasi, type: category, hierarchy: {csv: jobs.csv}}")
        .replace("[{suppress", "[{generalise: area}, {generalise: job}, {suppress")
    )
    (desk.folder / "areas.csv").write_text("north;a\nnorth;b\n", encoding="utf-8")
    (desk.folder / "jobs.csv").write_text("clerk;any\nother;any\n", encoding="utf-8")
    said = desk("validate", "policy.yaml", "--data")
    assert said.code == 2
    assert said.out.count("P573") == said.out.count("D256") == 1
    assert "column job" in said.out[said.out.index("D256") :]
    assert "smith" not in said.out + said.err


def test_a_text_that_is_no_policy_has_no_data(desk):
    for text in ("- a\n", "a: [\n", "datasets: 7\n", "", "apiVersion: privrelease/v1\n"):
        desk.policy(text)
        value = desk("validate", "policy.yaml", "--data", "--format", "json")
        assert value.code == 2
        assert "data" not in value.json


def _mangled(text: str):
    """Yield the policy once for each of its keys: without the line, with a value of another shape, with an unknown name."""
    lines = text.splitlines(keepends=True)
    for number, line in enumerate(lines):
        head, colon, _ = line.partition(":")
        if not colon or head.strip().startswith("#"):
            continue
        for instead in ("", f"{head}: [1, {{a: b}}]\n", line.replace(":", "x:", 1)):
            yield "".join((*lines[:number], instead, *lines[number + 1 :]))


@pytest.fixture
def one_engine(monkeypatch):
    """Engines under the same limits are one: to start one takes a quarter of reading a few rows, and each reading is into tables of its own."""
    opened = {}
    real = engines.open_engine
    with ExitStack() as stack:

        def open_engine(limits):
            if limits not in opened:
                opened[limits] = stack.enter_context(real(limits))
            return nullcontext(opened[limits])

        monkeypatch.setattr(engines, "open_engine", open_engine)
        yield


@pytest.mark.usefixtures("one_engine")
def test_whichever_key_is_broken_a_dataset_without_an_error_is_read(desk):
    """And nothing is said twice."""
    desk.policy()
    text = BOUNDED + STATISTICS
    path = desk.folder / "policy.yaml"
    tried = 0
    for broken in islice(_mangled(text), None, None, depth(2, 1)):
        path.write_text(broken, encoding="utf-8")
        loaded, findings = check_policy(path)
        if loaded is not None:
            continue
        tried += 1
        part = sound_part(path)
        if part is None:
            continue
        said = desk("validate", "policy.yaml", "--data")
        assert said.code == 2
        told = [line for line in said.out.splitlines() if not line.startswith("hint")]
        assert len(told) == len(set(told)), told
        own = [one.location.line for one in findings if one.severity is Severity.ERROR]
        inside = any(line in range(6, text[: text.index("threats:")].count("\n") + 1) for line in own)
        if not inside and "datasets:\n" in broken:
            assert part.loaded.policy.datasets, broken
    assert tried > depth(20, 40)
