"""An envelope over an engine and a ledger, end to end: what a method sees is noisy, and what the ledger keeps is its draws."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privrelease.dp.budget import Budget
from privrelease.dp.envelope import Reserved, Score
from privrelease.dp.queries import Setting
from privrelease.dp.randomness import TestRandomness
from privrelease.dp.sensitivity import Contribution
from privrelease.engine.duckdb import DuckDBEngine
from privrelease.engine.protocol.base import EngineSettings
from privrelease.errors import BudgetError, InternalError, PolicyError
from privrelease.execute.common.envelopes import EngineCounts, marginal, open_envelope
from privrelease.ledger.memory import MemoryLedger
from privrelease.ledger.protocol import Claim
from privrelease.relational.aggregates import Aggregate, BinKey, Bounding, ColumnKey, Measure
from privrelease.relational.schema import Column, ColumnType, Role, SourceKind, TableSource
from privrelease.units import Delta, Epsilon, Rho

COLUMNS = (Column("sex", ColumnType.CATEGORY, Role.QUASI), Column("age", ColumnType.INTEGER, Role.QUASI))
SEX = ColumnKey("sex", ("F", "M"), missing=True)
AGE = BinKey("age", (Fraction(0), Fraction(50), Fraction(100)), missing=True)
ROWS = (Measure("rows"),)
ASKED = {
    "sex": Aggregate(ROWS, (SEX,)),
    "age x sex": Aggregate(ROWS, (AGE, SEX)),
    "codes": Aggregate((Measure("persons"),), (ColumnKey("sex", None),)),
}
COST = Budget(Epsilon(8), Delta("1e-5"))


@pytest.fixture
def counts(tmp_path):
    rows = {"sex": ["F"] * 300 + ["M"] * 200 + [None] * 100, "age": [30] * 300 + [70] * 250 + [None] * 50}
    schema = pa.schema([("sex", pa.string()), ("age", pa.int64())])
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table(rows, schema=schema), path)
    with DuckDBEngine(EngineSettings(readable=(tmp_path,))) as engine:
        staged = engine.stage(TableSource("d", SourceKind.PARQUET, str(path), path.name, COLUMNS))
        yield EngineCounts(engine, staged, Bounding(None, 1, 5), ASKED)


def claimed(**changes):
    base = {
        "population": "p",
        "dataset": "d",
        "release": "r",
        "policy_sha256": "ab" * 32,
        "draws": (),
        "cost": COST,
        "queries": ("q",),
    }
    return Claim(**(base | changes))


def test_a_method_that_looks_before_it_asks_receives_noise_and_leaves_its_draws_in_the_ledger(counts):
    ledger, reserved = MemoryLedger(COST), Reserved.of(COST, Delta("1e-6"))
    joint, sex = marginal("age x sex", ASKED["age x sex"]), marginal("sex", ASKED["sex"])
    part = Rho(reserved.rho.value / 4)
    with open_envelope(claimed(), reserved, Setting(Contribution(1)), counts, ledger, TestRandomness(3)) as lent:
        assert ledger.balance("p").spent == COST
        noisy = lent.envelope.measure(sex, part)
        assert np.abs(noisy - [300, 200, 100]).max() <= 12
        assert noisy.tolist() != [300, 200, 100]
        # the model: what was measured, and independence; the joint is what it fits worst
        model = np.rint(noisy / 3).astype(np.int64)
        place = lent.envelope.select([sex, joint], [Score(noisy), Score(np.tile(model, 3))], part)
        assert place == 1
        found = lent.envelope.measure(joint, part)
        assert np.abs(found - [300, 0, 0, 0, 200, 50, 0, 0, 50]).max() <= 12
        assert set(lent.envelope.discover("codes", part, Delta("1e-6"))) == {("F",), ("M",)}
        lent.answers["q"] = found.tobytes()
        assert not lent.envelope.private
    assert ledger.answer("q") == found.tobytes()
    (draws,) = ledger.book().from_envelope.values()
    assert [draw.query for draw in draws] == ["sex", "sex|age x sex", "age x sex", "codes"]
    assert reserved.covers(draws)
    assert ledger.balance("p").spent == COST


def test_a_method_that_fails_leaves_its_envelope_spent_and_no_answer(counts):
    ledger = MemoryLedger(COST)

    def fail():
        with open_envelope(claimed(), Reserved.of(COST), Setting(Contribution(1)), counts, ledger, TestRandomness(3)) as lent:
            lent.answers["q"] = b"1"
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert ledger.balance("p").spent == COST
    assert ledger.answer("q") is None
    assert not ledger.book().from_envelope


def test_an_envelope_larger_than_the_cap_opens_nothing(counts):
    ledger = MemoryLedger(Budget(Epsilon(1), Delta("1e-5")))
    with (
        pytest.raises(BudgetError, match="L120"),
        open_envelope(claimed(), Reserved.of(COST), Setting(Contribution(1)), counts, ledger, TestRandomness(3)),
    ):
        raise AssertionError
    assert not counts._known
    assert ledger.claims == ()


def test_an_envelope_is_asked_for_declared_counts_only(counts):
    ledger = MemoryLedger(COST)
    for ask in (
        lambda envelope: envelope.measure(marginal("age", Aggregate(ROWS, (AGE,))), Rho(Fraction(1, 10))),
        lambda envelope: envelope.discover("sex", Rho(Fraction(1, 10)), Delta("1e-7")),
    ):
        with (
            pytest.raises(InternalError, match="R212"),
            open_envelope(
                claimed(cost=Budget(Epsilon(4), Delta("5e-6"))),
                Reserved.of(Budget(Epsilon(4), Delta("5e-6")), Delta("1e-6")),
                Setting(Contribution(1)),
                counts,
                ledger,
                TestRandomness(3),
            ) as lent,
        ):
            ask(lent.envelope)


def test_a_query_of_more_cells_than_can_be_measured_is_refused():
    wide = ColumnKey("sex", tuple(map(str, range(4_000))), missing=True)
    with pytest.raises(PolicyError, match="DP123"):
        marginal("wide", Aggregate(ROWS, (wide, wide)))
