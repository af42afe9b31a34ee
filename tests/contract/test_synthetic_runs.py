"""A synthetic release run again, planned, rehearsed, seeded or without a ledger: what is charged and what is published."""

from __future__ import annotations

from pathlib import Path

from privrelease import api
from privrelease.pipeline.settings import Settings
from privrelease.pipeline.spending import spendings
from tests.contract.test_synthetic import TEXT, people, start


def simple(folder: Path, **changes: str) -> Path:
    """A policy with a pure budget over the same persons."""
    people(folder / "people.csv")
    text = TEXT
    for old, new in (
        ("    discover: {region: {epsilon: 0.4, delta: 1e-7, at_most: 3}}\n", ""),
        ("[id, age, day, glucose, sex, region]", "[id, age, sex]"),
        ("bins: {age: {width: 25}, glucose: {edges: [50, 140, 400]}, day: {width: 700}}", "bins: {age: {width: 25}}"),
        ("    impossible: [\"sex = 'M' AND glucose >= 140\"]\n", ""),
        ("    holdout: 0.25\n", ""),
        ("budget: {epsilon: 4, delta: 1e-6}", "budget: {epsilon: 4}"),
        *changes.items(),
    ):
        assert old in text, old
        text = text.replace(old, new)
    policy = folder / "p.yaml"
    policy.write_text(text, encoding="utf-8")
    return policy


def test_a_second_run_is_served_from_the_ledger_and_draws_other_rows(tmp_path):
    policy = simple(tmp_path)
    start(policy)
    first = api.run(policy).releases[0]
    rows = (tmp_path / "out" / "syn.csv").read_bytes()
    second = api.run(policy).releases[0]
    assert (first.became, second.became) == ("published", "published"), second.error
    assert (tmp_path / "out" / "syn.csv").read_bytes() != rows
    budget = second.audit.statistics.budget
    assert (budget.charged_epsilon, budget.after_epsilon) == ("0", "4")
    assert first.audit.synthetic.figures == second.audit.synthetic.figures, "the same model"
    policy.write_text(policy.read_text().replace("    budget:", "    fresh: true\n    budget:"), encoding="utf-8")
    third = api.run(policy).releases[0]
    assert third.audit.statistics.budget.after_epsilon == "8"
    assert {one.id for one in third.audit.checks} >= {"AUDIT-EARLIER-BUDGET"}
    fourth = api.run(policy).releases[0]
    assert (fourth.became, fourth.error.code) == ("failed", "L120"), "the cap is 10"


def test_a_plan_knows_that_a_release_with_a_holdout_is_served_again(tmp_path):
    policy = simple(tmp_path)
    policy.write_text(policy.read_text().replace("    budget:", "    holdout: 0.25\n    budget:"), encoding="utf-8")
    start(policy)
    planned = api.load(policy).planned
    (before,) = spendings(planned, planned.releases, Settings())
    assert (before.stored, before.fits) == (0, True)
    assert not (tmp_path / ".privrelease" / "digest.key").exists(), "a plan makes no key"
    assert api.run(policy).releases[0].became == "published"
    (after,) = spendings(planned, planned.releases, Settings())
    assert (after.stored, after.spends) == (1, "epsilon 0")


def test_a_person_counts_once_and_rows_of_nobody_do_not_and_nothing_tells_so(tmp_path, capsys):
    policy = simple(tmp_path)
    data = tmp_path / "people.csv"
    head, *rows = data.read_text(encoding="utf-8").splitlines()
    nobodies = [row[row.index(",") :] for row in rows]
    data.write_text("\n".join([head, *rows, *rows, *nobodies]) + "\n", encoding="utf-8")
    start(policy)
    assert api.run(policy, dry_run=True).releases[0].became == "rehearsed"
    one = api.run(policy).releases[0]
    assert one.became == "published", one.error
    assert 0.7 * len(rows) < dict(one.audit.synthetic.figures)["noisy_total"] < 1.3 * len(rows), "not twice or thrice as many"
    assert "D60" not in "".join(capsys.readouterr())


def test_a_noisy_number_of_rows_has_the_limit_of_a_number_that_is_written(tmp_path, monkeypatch):
    policy = simple(tmp_path, **{"    rows: 400": "    rows: noisy"})
    start(policy)
    monkeypatch.setattr("privrelease.execute.synthetic.run.MOST_ROWS", 3)
    one = api.run(policy).releases[0]
    assert one.error.code == "D274"
    assert not list(tmp_path.glob("out/*.csv")), "nothing is published"


def test_no_ledger_a_dry_run_and_a_seed_publish_nothing(tmp_path):
    policy = simple(tmp_path)
    assert api.run(policy).releases[0].error.code == "L102"
    start(policy)
    rehearsed = api.run(policy, dry_run=True).releases[0]
    assert rehearsed.became == "rehearsed"
    seeded = api.run(policy, test_noise=7).releases[0]
    assert seeded.became == "quarantined"
    assert {one.id for one in seeded.audit.checks if one.outcome.value == "fail"} == {"AUDIT-SYN-NOISE"}
    assert not (tmp_path / "out" / "syn.csv").exists()
    (kept,) = (tmp_path / ".privrelease").rglob("syn.csv")
    assert kept.read_text(encoding="utf-8").startswith("not private: id,")
