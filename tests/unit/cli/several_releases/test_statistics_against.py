"""Statistics of the same persons beside each other, from the command line: what all cost together, and questions asked anew."""

from __future__ import annotations

import shutil

import pytest

from tests.unit.cli.conftest import POLICY_HEAD

POLICY = (
    POLICY_HEAD
    + """\
    snapshot: first
    population: everybody
    unit: {column: id, max_rows: 1}
    columns:
      id: {role: direct, type: string}
      area: {role: quasi, type: category, domain: [north, south]}
releases:
  - id: s
    kind: statistics
    from: d
    budget: {epsilon: 1}
    queries: [{id: n, count: {}, by: [area], epsilon: 1}]
    output: {path: out/s.csv}
ledger: {cap: {epsilon: 2.5}, url: "sqlite:///ledger.db"}
"""
)
DATA = "id,area\n" + "".join(f"p{n},{'north' if n % 3 else 'south'}\n" for n in range(60))
AUDIT = ("audit", "policy.yaml", "--release", "s", "--file", "out/s.csv")


@pytest.fixture
def statistics(desk):
    desk.data(DATA)
    desk.policy(POLICY)
    assert desk.once("ledger", "init", "policy.yaml").code == 0
    assert desk.run_once().code == 0
    return desk


def checks(document):
    return {check["id"]: check["outcome"] for check in document["checks"] if check["id"].startswith("AUDIT-EARLIER")}


def message(document, name):
    return next(check["message"] for check in document["checks"] if check["id"] == name)


def newest(desk):
    return max((desk.folder / ".privrelease" / "runs").iterdir())


def test_the_same_answer_again_costs_nothing_and_is_no_new_question(statistics):
    assert statistics.run().code == 0
    said = statistics(
        *AUDIT, "--format", "json", "--against", min((statistics.folder / ".privrelease" / "runs").iterdir()).name
    )
    assert said.code == 0, said.err
    assert checks(said.json) == {"AUDIT-EARLIER-BUDGET": "pass", "AUDIT-EARLIER-REPEATED": "pass"}
    assert "together cost epsilon 1, " in message(said.json, "AUDIT-EARLIER-BUDGET")


def test_a_question_asked_anew_is_told_with_what_its_average_is_worth(statistics):
    statistics.policy(POLICY.replace("epsilon: 1}]", "epsilon: 1, fresh: true}]"))
    said = statistics.run_once()
    assert said.code == 0, said.err
    assert "AUDIT-EARLIER-REPEATED" in said.err
    assert "n 2 times: the average has 71% of the noise" in said.err


def test_the_ledger_counts_what_it_knows_once(statistics):
    statistics.policy(POLICY.replace("epsilon: 1}]", "epsilon: 1, fresh: true}]"))
    first = newest(statistics).name
    assert statistics.run_once().code == 0
    said = statistics(*AUDIT, "--format", "json", "--against", first)
    assert said.code == 0, said.err
    assert "together cost epsilon 2, " in message(said.json, "AUDIT-EARLIER-BUDGET")


def test_a_release_that_the_ledger_does_not_know_is_added_and_breaks_the_cap(statistics):
    """Somebody else answered the same persons' questions, and no ledger of ours was charged."""
    text = (statistics.folder / "out" / "s.csv").read_text(encoding="utf-8")
    (statistics.folder / "theirs.csv").write_text(text.replace(",1,0\n", ",2,0\n"), encoding="utf-8")
    assert text != (statistics.folder / "theirs.csv").read_text(encoding="utf-8")
    said = statistics(*AUDIT, "--format", "json", "--against", "theirs.csv")
    assert said.code == 1
    assert checks(said.json)["AUDIT-EARLIER-BUDGET"] == "fail"
    assert "epsilon 3, delta 0, of which the ledger does not know theirs.csv: more than the cap of epsilon 2.5" in said.err
    assert "A284" in said.err


def test_a_ledger_altered_after_it_was_charged_fails_the_check_of_the_ledger(statistics):
    import sqlite3

    with sqlite3.connect(statistics.folder / "ledger.db") as ledger:
        for (trigger,) in ledger.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            ledger.execute(f'DROP TRIGGER "{trigger}"')
        tables = [name for (name,) in ledger.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        altered = 0
        for table in tables:
            columns = [row[1] for row in ledger.execute(f'PRAGMA table_info("{table}")')]
            for column in columns:
                altered += ledger.execute(
                    f'UPDATE "{table}" SET "{column}" = replace("{column}", ?, ?) WHERE typeof("{column}") = \'text\' AND "{column}" LIKE ?',
                    ('"epsilon":"1"', '"epsilon":"0"', '%"epsilon":"1"%'),
                ).rowcount
        assert altered
    said = statistics(*AUDIT)
    assert said.code == 1
    assert "AUDIT-DP-LEDGER" in said.err
    assert "the ledger cannot be believed (L110)" in said.err


def test_a_stored_scale_that_is_not_the_claims_is_named(statistics):
    path = (statistics.folder / "out" / "s.csv").resolve()
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    cells = lines[1].split(",")
    cells[-3] = str(float(cells[-3]) / 2)
    path.write_text("\n".join([lines[0], ",".join(cells), *lines[2:]]) + "\n", encoding="utf-8")
    said = statistics(*AUDIT)
    assert said.code == 1
    assert "A236 AUDIT-DP-SCALE" in said.err
    assert "A232 AUDIT-DP-DIGEST" in said.err


def test_without_the_ledger_the_policys_cap_is_compared(statistics):
    text = (statistics.folder / "out" / "s.csv").read_text(encoding="utf-8")
    (statistics.folder / "theirs.csv").write_text(text.replace(",1,0\n", ",2,0\n"), encoding="utf-8")
    shutil.move(statistics.folder / "ledger.db", statistics.folder / "elsewhere.db")
    said = statistics(*AUDIT, "--format", "json", "--against", "theirs.csv")
    assert said.code == 1
    assert "the ledger is not available" in said.err
    assert checks(said.json)["AUDIT-EARLIER-BUDGET"] == "fail"
