"""An envelope over an engine and a ledger, end to end: what a method sees is noisy, the ledger keeps its draws, and what it saw is free again."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from privrelease.dp.budget import Budget
from privrelease.dp.conversion import delta_of_rho
from privrelease.dp.envelope import Envelope
from privrelease.dp.envelope_records import Reserved, Transcript
from privrelease.dp.queries import Setting
from privrelease.dp.randomness import TestRandomness
from privrelease.dp.sensitivity import Contribution
from privrelease.errors import BudgetError, InternalError, PolicyError
from privrelease.execute.common.asking import Method, canonical
from privrelease.execute.common.envelopes import marginal, open_envelope
from privrelease.ledger.memory import MemoryLedger
from privrelease.relational.aggregates import Aggregate, ColumnKey
from privrelease.units import Delta, Epsilon, Rho
from tests.unit.execute.common.envelope_examples import AGE, ASKED, ASKING, COST, HELD, MAY_ASK, ROWS, SEX, claimed, method, run


def test_a_method_that_looks_before_it_asks_receives_noise_and_leaves_its_draws_in_the_ledger(counts):
    ledger = MemoryLedger(COST)
    (sex, place, joint, codes), lent = run(counts, ledger)
    assert ledger.balance("p").spent == COST
    assert np.abs(np.array(sex) - [300, 200, 100]).max() <= 12  # declared keys are sorted: F, M, missing
    assert sex != [300, 200, 100]
    assert place == 1  # the joint is what the model fits worst
    assert np.abs(np.array(joint) - [300, 0, 0, 0, 200, 50, 0, 0, 50]).max() <= 12
    assert set(codes) == {("F",), ("M",)}
    assert not lent.envelope.private
    (draws,) = ledger.book().from_envelope.values()
    assert [draw.query for draw in draws] == ["sex", "sex|age x sex", "age x sex", "persons by sex"]
    assert HELD.covers(draws)
    (key,) = ledger.book().answers
    transcript = Transcript.from_bytes(ledger.answer(key))
    assert tuple(one.draw for one in transcript.answers) == draws
    assert (transcript.run, transcript.reservation) == ("r1", int(lent.reservation.id))


# ----------------------------------------------------------------------------------------------------------- empirical privacy


def lower_bound(there, here, epsilon):
    """A lower bound on delta at ``epsilon`` from how often an event was seen: Clopper-Pearson at alpha 1e-9 on both probabilities."""
    low = float(stats.beta.ppf(5e-10, there.sum(), there.size - there.sum() + 1)) if there.any() else 0.0
    high = float(stats.beta.isf(5e-10, here.sum() + 1, here.size - here.sum())) if not here.all() else 1.0
    return low - np.exp(epsilon) * high


def seen_of(counts_of, *, without, faulty=False, runs=3_000):
    """What envelopes of rho 1/2 measure of sex in 80 rows, with so many rows more that have none; ``faulty``: a cell where the data has one."""
    rows = 80 + without
    asked = canonical([Aggregate(ROWS, (replace(SEX, missing=without > 0 or not faulty),))])
    counts = replace(
        counts_of({"sex": ["F", "M"] * 40 + [None] * without, "age": [30] * rows, "note": ["a"] * rows}), asked=asked
    )
    held, source, query = Reserved(Rho(Fraction(1, 2)), Delta(0)), TestRandomness(7 + without), marginal("sex", asked["sex"])
    lent = (Envelope(held, Setting(Contribution(1)), counts, lambda _: None, source) for _ in range(runs))
    return [envelope.measure(query, held.rho) for envelope in lent]


def test_a_person_without_a_key_stays_within_the_claim_and_a_cell_that_only_the_data_makes_does_not(counts_of):
    claim = float(delta_of_rho(Fraction(1, 2), Fraction(2)))
    there, here = (seen_of(counts_of, without=without) for without in (1, 0))
    assert {len(noisy) for noisy in (*there, *here)} == {3}
    assert lower_bound(*(np.array([noisy[2] >= 3 for noisy in seen]) for seen in (there, here)), 2) <= claim
    there, here = (seen_of(counts_of, without=without, faulty=True) for without in (1, 0))
    assert lower_bound(*(np.array([len(noisy) == 3 for noisy in seen]) for seen in (there, here)), 2) > claim


# -------------------------------------------------------------------------------------------------------------- what goes wrong


def test_a_method_that_fails_leaves_its_envelope_spent_and_no_answer_and_the_next_run_reserves_by_itself(counts):
    ledger = MemoryLedger()

    def fail(envelope):
        method(envelope)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run(counts, ledger, ask=fail)
    assert ledger.balance("p").spent == COST
    assert not ledger.book().answers
    assert not ledger.book().from_envelope
    _, lent = run(counts, ledger)
    assert lent.served is None
    assert ledger.balance("p").spent.epsilon.value == 16
    assert list(ledger.book().waiting) == [1]  # the first stays as it was


def test_a_method_that_swallows_a_failed_draw_is_committed_and_never_served(counts):
    ledger = MemoryLedger()
    broken = replace(counts, _known={"sex": np.zeros(7, np.int64)})

    def swallow(envelope):
        with pytest.raises(InternalError, match="R211"):
            envelope.measure(marginal("sex", ASKED["sex"]), Rho(Fraction(1, 10)))

    with open_envelope(claimed(), ASKING, broken, ledger, TestRandomness(3)) as lent:
        swallow(lent.envelope)
    (draws,) = ledger.book().from_envelope.values()
    assert len(draws) == 1
    assert not ledger.book().answers


def test_an_envelope_larger_than_the_cap_opens_nothing(counts):
    ledger = MemoryLedger(Budget(Epsilon(1), Delta("1e-5")))
    with pytest.raises(BudgetError, match="L120"):
        run(counts, ledger, ask=lambda _: pytest.fail("lent"))
    assert not counts._known
    assert ledger.claims == ()


@pytest.mark.parametrize(
    "ask",
    [
        lambda lent: lent.measure(marginal("age", Aggregate(ROWS, (AGE,))), Rho(Fraction(1, 10))),
        lambda lent: lent.discover("sex", Rho(Fraction(1, 10)), Delta("1e-7")),
    ],
)
def test_an_envelope_is_asked_for_declared_counts_only(counts, ask):
    with pytest.raises(InternalError, match="R212"):
        run(counts, MemoryLedger(), ask=ask)


def test_descriptions_that_are_not_those_of_the_counts_are_refused_before_anything_is_reserved(counts):
    ledger = MemoryLedger()
    for asking in (
        replace(ASKING, asked=canonical(MAY_ASK[:2])),
        replace(ASKING, unit="note"),
        replace(ASKING, setting=Setting(Contribution(2))),
    ):
        with pytest.raises(InternalError, match="R215"), open_envelope(claimed(), asking, counts, ledger, TestRandomness(3)):
            raise AssertionError
    assert ledger.claims == ()


def test_aggregates_have_one_form_and_one_name_each():
    assert list(ASKED) == ["age x sex", "persons by sex", "sex"]
    assert [key.column for key in ASKED["age x sex"].keys] == ["age", "sex"]
    assert ASKED["sex"].keys[0].values == ("F", "M")
    odd = (ColumnKey("a x b", ("1",)), ColumnKey("c", ("1",)), ColumnKey("a", ("1",)), ColumnKey('"', ("1",)))
    assert list(canonical([Aggregate(ROWS, odd)])) == ['"\\"" x a x "a x b" x c']
    with pytest.raises(InternalError, match="R214"):
        canonical((Aggregate(ROWS, (SEX,)), Aggregate(ROWS, (replace(SEX, missing=False),))))
    with pytest.raises(InternalError, match="R213"):
        replace(ASKING, asked={"sex": Aggregate(ROWS, (SEX,))})  # its keys are not sorted


@pytest.mark.parametrize("settings", [{"a": 0.5}, {"a": [1, {"b": 1e-9}]}, {1: "a"}, {"a": Fraction(1, 2)}])
def test_settings_of_a_method_are_exact(settings):
    with pytest.raises(TypeError, match="exact"):
        Method("m", 1, settings)


def test_a_query_of_more_cells_than_can_be_measured_is_refused():
    wide = ColumnKey("sex", tuple(map(str, range(8_000))), missing=True)
    with pytest.raises(PolicyError, match="DP123"):
        marginal("wide", Aggregate(ROWS, (wide, wide)))
