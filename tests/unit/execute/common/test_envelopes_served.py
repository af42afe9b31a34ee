"""An envelope over an engine and a ledger, asked again: the same question of the same data is free, and any other is charged."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest

from privrelease.dp.budget import Budget
from privrelease.dp.envelope_records import Reserved
from privrelease.dp.queries import Setting
from privrelease.dp.sensitivity import Contribution, Neighbours
from privrelease.errors import BudgetError, InternalError
from privrelease.execute.common.asking import Method, canonical
from privrelease.execute.common.envelopes import marginal, stored_transcript
from privrelease.ledger.memory import MemoryLedger
from privrelease.relational.aggregates import Aggregate
from privrelease.relational.filters import parse_filter
from privrelease.relational.schema import ColumnFormat, ColumnType, Domain, Role
from privrelease.units import Delta, Epsilon, Rho
from tests.unit.execute.common.envelope_examples import (
    AGE,
    ASKED,
    ASKING,
    CODES,
    COLUMNS,
    COST,
    MAY_ASK,
    OTHER_EDGES,
    ROWS,
    SEX,
    SOURCE,
    TRIES,
    claimed,
    method,
    run,
)


@pytest.fixture
def served_once(counts):
    ledger = MemoryLedger(Budget(Epsilon(100), Delta("1e-3")))
    return counts, ledger, run(counts, ledger)[0]


SWAPPED = tuple(reversed(COLUMNS))
OTHER_ORDER = canonical((Aggregate(ROWS, (replace(SEX, values=("F", "M")),)), Aggregate(ROWS, (AGE, SEX)), CODES))


@pytest.mark.parametrize(
    ("asking", "changes"),
    [
        (ASKING, {}),
        (ASKING, {"run": "r2", "release": "other/title", "policy_sha256": "cd" * 32}),
        (replace(ASKING, asked=OTHER_ORDER), {}),
        (replace(ASKING, source=replace(SOURCE, path="/elsewhere.parquet", label="elsewhere", columns=SWAPPED)), {}),
        (replace(ASKING, source=replace(SOURCE, columns=(*COLUMNS[:2], replace(COLUMNS[2], role=Role.INSENSITIVE)))), {}),
        (replace(ASKING, method=Method("tries", 1, {"shares": ("1/4",) * 4})), {}),
        (ASKING, {"dataset": "d"}),
    ],
)
def test_the_same_question_of_the_same_data_is_free_whatever_it_is_called(served_once, asking, changes):
    counts, ledger, seen = served_once
    entries = len(ledger.book().entries)
    for seed in (4, 5):
        found, lent = run(counts, ledger, asking, seed=seed, **changes)
        assert found == seen
        assert (lent.reservation, lent.served.compared, lent.served.transcript.run) == (None, True, "r1")
    assert len(ledger.book().entries) == entries
    assert ledger.balance("p").spent == COST


@pytest.mark.parametrize(
    ("asking", "changes"),
    [
        (replace(ASKING, method=replace(TRIES, version=2)), {}),
        (replace(ASKING, method=replace(TRIES, name="others")), {}),
        (replace(ASKING, method=replace(TRIES, settings={"shares": ["1/4", "1/4", "1/4", "1/8"]})), {}),
        (replace(ASKING, reserved=Reserved.of(Budget(Epsilon(7), Delta("1e-5")), Delta("1e-6"))), {}),
        (replace(ASKING, reserved=Reserved.of(COST, Delta("2e-6"))), {}),
        (replace(ASKING, setting=Setting(Contribution(1), Neighbours.REPLACE)), {}),
        (replace(ASKING, setting=Setting(Contribution(2))), {}),
        (replace(ASKING, asked=canonical((*MAY_ASK, Aggregate(ROWS, (AGE,))))), {}),
        (replace(ASKING, asked=canonical((CODES, Aggregate(ROWS, (replace(AGE, edges=OTHER_EDGES), SEX)), MAY_ASK[2]))), {}),
        (
            replace(
                ASKING,
                asked=canonical(
                    (*MAY_ASK[:2], replace(MAY_ASK[2], where=parse_filter("age > 20", {"age": ColumnType.INTEGER})))
                ),
            ),
            {},
        ),
        (
            replace(
                ASKING,
                source=replace(
                    SOURCE, columns=(COLUMNS[0], replace(COLUMNS[1], domain=Domain(low=0, high=90, outside="drop")), COLUMNS[2])
                ),
            ),
            {},
        ),
        (
            replace(
                ASKING, source=replace(SOURCE, columns=(replace(COLUMNS[0], format=ColumnFormat(missing=("?",))), *COLUMNS[1:]))
            ),
            {},
        ),
        (ASKING, {"snapshot": "2027"}),
        (ASKING, {"snapshot": "2027", "content": "k1:bb"}),
        (ASKING, {"population": "q", "content": "k1:cc", "dataset": "e"}),
    ],
)
def test_whatever_decides_an_answer_makes_another_question_that_is_charged(served_once, asking, changes):
    counts, ledger, _ = served_once
    _, lent = run(counts, ledger, asking, seed=4, **changes)
    assert lent.served is None
    assert lent.reservation is not None
    spent = [entry for entry in ledger.book().entries if entry.kind == "reserve"]
    assert len(spent) == 2
    _, lent = run(counts, ledger, asking, seed=5, **changes)
    assert lent.served is not None
    assert len([entry for entry in ledger.book().entries if entry.kind == "reserve"]) == 2


def test_fresh_draws_and_pays_and_its_answers_are_the_ones_that_are_kept(served_once):
    counts, ledger, seen = served_once
    found, lent = run(counts, ledger, fresh=True, seed=9)
    assert found != seen
    assert lent.served is None
    assert ledger.balance("p").spent.epsilon.value == 16
    assert run(counts, ledger)[0] == found


def test_data_that_changed_under_its_label_is_refused_and_nothing_is_spent(served_once):
    counts, ledger, _ = served_once
    with pytest.raises(BudgetError, match="L131"):
        run(counts, ledger, content="k1:bb")
    assert ledger.balance("p").spent == COST


def test_data_under_another_digest_key_is_served_by_its_label_and_says_so(served_once):
    counts, ledger, seen = served_once
    found, lent = run(counts, ledger, content="k2:ee")
    assert (found, lent.served.compared) == (seen, False)
    assert stored_transcript(ASKING, claimed(content=None), ledger) is not None  # a plan asks before anything was read
    assert (
        run(counts, ledger, content="k2:ee", dataset="another", population="p")[1].served is None
    )  # another table of the population


def test_data_without_a_snapshot_is_drawn_and_charged_each_time(counts):
    ledger = MemoryLedger()
    for number in (1, 2):
        _, lent = run(counts, ledger, snapshot=None, seed=number)
        assert lent.served is None
        assert ledger.balance("p").spent.epsilon.value == 8 * number
    assert not ledger.book().answers


def test_answers_that_retention_forgot_are_drawn_and_charged_again(counts):
    now = [datetime(2026, 1, 1, tzinfo=UTC)]
    ledger = MemoryLedger(clock=lambda: now[0])
    seen, _ = run(counts, ledger)
    now[0] += timedelta(days=20)
    assert ledger.forget("policy", "P30D") == 0
    assert run(counts, ledger, seed=4)[0] == seen
    now[0] += timedelta(days=20)
    assert ledger.forget("policy", "P30D") == 1
    found, lent = run(counts, ledger, seed=4)
    assert found != seen
    assert lent.reservation is not None
    assert ledger.balance("p").spent.epsilon.value == 16


def test_a_method_that_asks_otherwise_under_the_same_description_is_refused_at_no_cost(served_once):
    counts, ledger, _ = served_once
    joint = marginal("age x sex", ASKED["age x sex"])

    def later(envelope):
        seen = method(envelope)
        envelope.measure(joint, Rho(Fraction(1, 10**6)))
        return seen

    def fewer(envelope):
        sex = envelope.measure(marginal("sex", ASKED["sex"]), Rho(envelope.reserved.rho.value / 4))
        return sex, 0, sex, {}

    def stubborn(envelope):
        seen = method(envelope)
        with pytest.raises(BudgetError, match="L138"):
            envelope.measure(joint, Rho(Fraction(1, 10**6)))
        return seen

    for ask, match in ((later, "L138"), (fewer, "L138"), (stubborn, "R210")):
        with pytest.raises((BudgetError, InternalError), match=match):
            run(counts, ledger, ask=ask)
    assert len([entry for entry in ledger.book().entries if entry.kind in {"reserve", "commit"}]) == 2
