"""The policy's key `publications`: a file, the ledger, and places where a log would be lost or given away."""

from __future__ import annotations

import pytest

from tests.unit.cli.conftest import POLICY
from tests.unit.cli.publishing.test_publication_log import MORE, STATISTICS, forget, lines


def test_the_ledger_can_keep_the_log(desk):
    named = POLICY.replace("source: data.csv", "source: data.csv\n    population: q")
    desk.policy(STATISTICS)
    assert desk("ledger", "init", "policy.yaml").code == 0
    desk.policy(named + 'ledger: {cap: {epsilon: 3}, url: "sqlite:///ledger.db"}\npublications: ledger\n')
    assert desk.run().code == 0
    assert desk.run().code == 0
    assert not (desk.folder / "publications.jsonl").exists()
    assert desk("ledger", "verify", "policy.yaml").code == 0
    forget(desk)
    desk.data(MORE)
    said = desk.run()
    assert said.code == 5
    assert "A291" in said.err


def test_statistics_have_lines_and_are_the_ledgers_matter(desk):
    desk.policy(STATISTICS)
    desk("ledger", "init", "policy.yaml")
    assert desk.run().code == 0
    assert desk.run().code == 0
    assert [line["kind"] for line in lines(desk)] == ["statistics", "statistics"]


@pytest.mark.parametrize(
    ("written", "code"),
    [
        ("ledger", "P520"),
        (".privrelease/log.jsonl", "P521"),
        ("out/r.csv", "P522"),
        ("out/r.report.html", "P522"),
        ("policy.yaml", "P522"),
        ("data.csv", "P522"),
        ("out/log.jsonl", "P523"),
        ("../log.jsonl", "P403"),
    ],
)
def test_a_log_that_would_be_lost_or_given_away_is_refused(desk, written, code):
    desk.policy(POLICY + f"publications: {written}\n")
    said = desk("validate", "policy.yaml")
    assert said.code == 2
    assert code in said.err + said.out
