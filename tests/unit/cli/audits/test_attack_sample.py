"""Who is attacked follows from the data and the key of digests: no wording of a policy chooses another sample."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.unit.cli.conftest import POLICY

COLUMNS = """      area: {role: quasi, type: category}
      job: {role: quasi, type: category}
"""
ATTACKED = (
    POLICY.replace("highest_risk: 0.2", "highest_risk: 1")
    + """attacks:
  sample: 23
  singling_out: {combine: 2}
  linkability: {columns: [[area, job], [pay]]}
  record_linkage: {knows: [area, job]}
  inference: {target: pay, knows: [area, job]}
"""
)


def rows(shift=0):
    """120 persons: by area and job in classes of one to five, all pays different."""
    return "id,area,job,pay\n" + "".join(
        f"{n},a{n * n % 31},j{n % 3},{100 + (n * 37 + (n == 5) * shift) % 500}\n" for n in range(120)
    )


@pytest.fixture
def figures(desk, monkeypatch):
    """Run a policy on data; give what the attacks found, without the words that the policy chose."""
    monkeypatch.setenv("PRIVRELEASE_DIGEST_KEY", "a made-up key of digests")

    def run(policy=ATTACKED, data=None, *, name="r"):
        desk.data(rows() if data is None else data)
        desk.policy(policy)
        before = set(desk.folder.glob(".privrelease/*/*/internal/audit.json"))
        said = desk.run_once()
        assert said.code in {0, 1, 5}, said.err
        (made,) = set(desk.folder.glob(".privrelease/*/*/internal/audit.json")) - before
        audit = json.loads(made.read_bytes())
        assert audit["identity"]["release"] == name
        run.findings = {one["code"]: one["message"] for one in audit["findings"]}
        return [
            (one["attack"], *(_counts(one[side]) for side in ("main", "baseline", "control")))
            for one in audit["attacks"]["attacks"]
        ]

    return run


def _counts(rate):
    return None if rate is None else (rate["successes"], rate["attempts"], rate["rate"]["value"]["exact"])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("title: Made-up", "title: Another title"),
        ("version: 1.0.0", "version: 1.0.1"),
        ("attacks:\n", "checks: [{id: C-1, release: r, expect: suppressed_cells, max: 1}]\nattacks:\n"),
        ("t: {dataset", "u: {dataset"),
        ("out/r.csv", "out/other.csv"),
    ],
    ids=["title", "version", "check", "threat", "output"],
)
def test_words_of_the_policy_choose_no_other_sample(figures, old, new):
    changed = ATTACKED.replace(old, new).replace("protect: [t]", "protect: [u]" if new.startswith("u:") else "protect: [t]")
    assert changed != ATTACKED
    first = figures()
    assert figures(changed) == first


def test_neither_does_the_name_of_the_release(figures):
    first = figures()
    assert figures(ATTACKED.replace("- id: r", "- id: s"), name="s") == first


def test_nor_the_order_of_the_columns(figures):
    """Rows are released in the order of their values, which follows the order of the columns."""
    swapped = "".join(reversed(COLUMNS.splitlines(keepends=True)))
    first = figures()
    assert figures(ATTACKED.replace(COLUMNS, swapped)) == first


def test_other_data_and_another_key_choose_another_sample(figures, monkeypatch):
    first = figures()
    assert figures(data=rows(shift=1)) != first
    monkeypatch.setenv("PRIVRELEASE_DIGEST_KEY", "another made-up key of digests")
    assert figures() != first
    assert "A305" in figures.findings
    assert "the key of digests, which chooses who is attacked, is another than that of r (run " in figures.findings["A305"]


def test_the_same_key_is_not_reported(figures):
    figures()
    figures(ATTACKED.replace("title: Made-up", "title: Another title"))
    assert "A305" not in figures.findings


def test_a_new_key_beside_the_log_of_publications_is_reported(figures, desk, monkeypatch):
    """The state folder is new as well: only the log knows the earlier publication."""
    logged = ATTACKED + "publications: publications.jsonl\n"
    figures(logged)
    shutil.rmtree(desk.folder / ".privrelease")
    monkeypatch.setenv("PRIVRELEASE_DIGEST_KEY", "another made-up key of digests")
    figures(logged)
    assert "A305" in figures.findings
