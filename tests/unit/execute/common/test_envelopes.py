"""An envelope over an engine and a ledger, end to end: what a method sees is noisy, the ledger keeps its draws, and what it saw is free again."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import stats

from privrelease.dp.budget import Budget
from privrelease.dp.conversion import delta_of_rho
from privrelease.dp.envelope import Envelope, Score
from privrelease.dp.envelope_records import Reserved, Transcript
from privrelease.dp.queries import Setting
from privrelease.dp.randomness import TestRandomness
from privrelease.dp.sensitivity import Contribution, Neighbours
from privrelease.engine.duckdb import DuckDBEngine
from privrelease.engine.protocol.base import EngineSettings
from privrelease.errors import BudgetError, InternalError, PolicyError
from privrelease.execute.common.asking import Asking, Method, canonical
from privrelease.execute.common.envelopes import EngineCounts, marginal, open_envelope, stored_transcript
from privrelease.ledger.memory import MemoryLedger
from privrelease.ledger.protocol import Claim
from privrelease.relational.aggregates import Aggregate, BinKey, Bounding, ColumnKey, Measure
from privrelease.relational.filters import parse_filter
from privrelease.relational.schema import Column, ColumnFormat, ColumnType, Domain, Role, SourceKind, TableSource
from privrelease.units import Delta, Epsilon, Rho

COLUMNS = (
    Column("sex", ColumnType.CATEGORY, Role.QUASI),
    Column("age", ColumnType.INTEGER, Role.QUASI),
    Column("note", ColumnType.STRING, Role.DIRECT),
)
SEX = ColumnKey("sex", ("M", "F"), missing=True)
AGE = BinKey("age", (Fraction(0), Fraction(50), Fraction(100)), missing=True)
ROWS = (Measure("rows"),)
OTHER_EDGES = (Fraction(0), Fraction(40), Fraction(100))
CODES = Aggregate((Measure("persons"),), (ColumnKey("sex", None),))
MAY_ASK = (CODES, Aggregate(ROWS, (SEX, AGE)), Aggregate(ROWS, (SEX,)))
ASKED = canonical(MAY_ASK)
COST = Budget(Epsilon(8), Delta("1e-5"))
HELD = Reserved.of(COST, Delta("1e-6"))
SOURCE = TableSource("d", SourceKind.PARQUET, "/somewhere/rows.parquet", "rows.parquet", COLUMNS)
TRIES = Method("tries", 1, {"shares": ["1/4", "1/4", "1/4", "1/4"]})
ASKING = Asking(TRIES, HELD, Setting(Contribution(1)), SOURCE, None, ASKED)


@pytest.fixture
def counts_of(tmp_path):
    """Counts of an engine over rows of three columns."""
    schema = pa.schema([("sex", pa.string()), ("age", pa.int64()), ("note", pa.string())])
    path = tmp_path / "rows.parquet"
    with DuckDBEngine(EngineSettings(readable=(tmp_path,))) as engine:

        def made(rows):
            pq.write_table(pa.table(rows, schema=schema), path)
            return EngineCounts(engine, engine.stage(replace(SOURCE, path=str(path))), Bounding(None, 1, 5), ASKED)

        yield made


@pytest.fixture
def counts(counts_of):
    sexes, ages = ["F"] * 300 + ["M"] * 200 + [None] * 100, [30] * 300 + [70] * 250 + [None] * 50
    return counts_of({"sex": sexes, "age": ages, "note": ["a"] * 600})


def claimed(**changes):
    base = {
        "population": "p",
        "dataset": "d",
        "release": "policy/synthetic",
        "policy_sha256": "ab" * 32,
        "draws": (),
        "cost": COST,
        "snapshot": "2026",
        "content": "k1:aa",
        "run": "r1",
    }
    return Claim(**(base | changes))


def method(envelope):
    """Measures sex, asks for what its model fits worst, measures that; then the keys that are there."""
    joint, sex = marginal("age x sex", ASKED["age x sex"]), marginal("sex", ASKED["sex"])
    part = Rho(envelope.reserved.rho.value / 4)
    noisy = envelope.measure(sex, part)
    # the model: what was measured, and independence
    model = np.rint(noisy / 3).astype(np.int64)
    place = envelope.select([sex, joint], [Score(noisy), Score(np.tile(model, 3))], part)
    found = envelope.measure([sex, joint][place], part)
    return noisy, place, found, envelope.discover("persons by sex", part, Delta("1e-6"))


def plain(seen):
    return seen[0].tolist(), seen[1], seen[2].tolist(), seen[3]


def run(counts, ledger, asking=ASKING, *, fresh=False, seed=3, ask=method, **changes):
    """One run of a method: what it saw, and its open envelope."""
    held = replace(
        counts, asked=asking.asked, _known={}, bounding=Bounding(asking.unit, asking.setting.contribution.max_rows, 5)
    )
    with open_envelope(claimed(**changes), asking, held, ledger, TestRandomness(seed), fresh=fresh) as lent:
        seen = ask(lent.envelope)
    assert (lent.served is None) or not held._known  # nothing exact was counted
    return plain(seen), lent


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


# ---------------------------------------------------------------------------------------------------------------- serving again


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
