"""A total below the sum is charged only where the ledger itself composes the recorded draws to it; and caps of single datasets."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from privrelease.dp.budget import Budget
from privrelease.dp.composition import Apart, Part, composed
from privrelease.dp.draws import Draw, Target
from privrelease.dp.mechanisms import DiscreteGaussian
from privrelease.dp.sensitivity import Neighbours, Sensitivity
from privrelease.errors import BudgetError
from privrelease.ledger.entries import claim_record, read_claim
from privrelease.ledger.verify import verify
from privrelease.relational.filters import Comparison
from privrelease.units import Delta, Epsilon

WHOLE = Budget(Epsilon(1), Delta("1e-5"))


def gaussian(query: str) -> Draw:
    noise = DiscreteGaussian.for_one_number(sensitivity=1, epsilon=Fraction("0.2"), delta=Fraction("1e-6"))
    one = Sensitivity.of_one_number(1)
    return Draw(query, Target("rows"), "discrete_gaussian", one, noise.scale, Epsilon("0.2"), Delta("1e-6"))


TEN = tuple(gaussian(f"g{number}") for number in range(10))


@pytest.mark.parametrize("rule", ["zcdp", "pld"])
def test_a_total_by_another_rule_is_charged_as_it_is(bench, claim, rule) -> None:
    bench.create("1", "1e-5")
    found = composed(TEN, rule, WHOLE)
    assert found.accountant == rule
    assert found.cost.epsilon < Epsilon("0.8")  # the sum is 2
    ledger = bench.open()
    ledger.reserve(claim(draws=TEN, cost=found.cost, accountant=rule))
    assert bench.open().balance("patients").spent == found.cost


@pytest.mark.parametrize("rule", ["pure", "approximate", "zcdp", "pld", "none", ""])
def test_a_claim_below_what_its_rule_gives_is_refused_and_nothing_is_spent(bench, claim, rule) -> None:
    bench.create("1", "1e-5")
    ledger = bench.open()
    cost = Budget(Epsilon("0.3"), Delta("1e-5"))
    with pytest.raises(ValueError, match=r"cost less than its draws|known accountant"):
        ledger.reserve(claim(draws=TEN, cost=cost, accountant=rule))
    assert ledger.balance("patients").spent.epsilon == Epsilon(0)


def test_a_hair_less_than_the_total_is_refused(bench, claim) -> None:
    bench.create("1", "1e-5")
    found = composed(TEN, "zcdp", WHOLE)
    less = Budget(Epsilon(found.exact.epsilon.value * Fraction("0.9999")), WHOLE.delta)
    with pytest.raises(ValueError, match="cost less than its draws"):
        bench.open().reserve(claim(draws=TEN, cost=less, accountant="zcdp"))


def parts(*wheres: Comparison, max_rows: int = 1, neighbours: Neighbours = Neighbours.ADD_REMOVE) -> Apart:
    return Apart(tuple(Part((f"q{n}",), where) for n, where in enumerate(wheres)), max_rows, neighbours)


WOMEN, MEN, YOUNG = Comparison("sex", "=", "F"), Comparison("sex", "=", "M"), Comparison("age", "<", 40)


def test_parts_that_exclude_each_other_cost_what_the_dearest_costs(bench, claim, draw, budget) -> None:
    bench.create("1")
    two = (draw("0.3", "q0"), draw("0.4", "q1"))
    ledger = bench.open()
    ledger.reserve(claim(draws=two, cost=budget("0.4"), apart=(parts(WOMEN, MEN),)))
    assert bench.open().balance("patients").spent == budget("0.4")
    with pytest.raises(ValueError, match="cost less than its draws"):
        ledger.reserve(claim(draws=two, cost=budget("0.39"), apart=(parts(WOMEN, MEN),)))


BAD_PARTS = [
    ("may overlap", parts(WOMEN, YOUNG), "proven to be disjoint"),
    ("one of them twice", parts(WOMEN, WOMEN), "proven to be disjoint"),
    ("two rows a person", parts(WOMEN, MEN, max_rows=2), "cost less than its draws"),
    ("two persons change", parts(WOMEN, MEN, neighbours=Neighbours.REPLACE), "cost less than its draws"),
    ("no row a person", parts(WOMEN, MEN, max_rows=0), "at least one row"),
    ("a query that was not drawn", parts(WOMEN, MEN, Comparison("sex", "=", "X")), "that were drawn"),
    (
        "a query in two parts",
        Apart((Part(("q0", "q1"), WOMEN), Part(("q1",), MEN)), 1, Neighbours.ADD_REMOVE),
        "each in one part",
    ),
]


@pytest.mark.parametrize(("apart", "says"), [case[1:] for case in BAD_PARTS], ids=[case[0] for case in BAD_PARTS])
def test_parts_that_are_none_do_not_count_in_parallel(bench, claim, draw, budget, apart, says) -> None:
    bench.create("1")
    two = (draw("0.3", "q0"), draw("0.4", "q1"))
    with pytest.raises(ValueError, match=says):
        bench.open().reserve(claim(draws=two, cost=budget("0.4"), apart=(apart,)))


def test_a_claim_with_parts_comes_back_from_its_record(claim, draw, budget) -> None:
    made = claim(draws=(draw("0.3", "q0"), draw("0.4", "q1")), cost=budget("0.4"), apart=(parts(WOMEN, MEN),))
    assert read_claim(json.loads(json.dumps(claim_record(made)))) == made
    assert "apart" not in claim_record(replace(made, apart=()))


def test_verify_composes_every_total_anew(durable, claim) -> None:
    durable.create("1", "1e-5")
    ledger = durable.open()
    found = composed(TEN, "pld", WHOLE)
    ledger.reserve(claim(draws=TEN, cost=found.cost, accountant="pld"))
    assert verify(durable.open()).problems == ()


def test_the_view_by_zcdp_counts_every_draw(bench, claim) -> None:
    bench.create("3", "1e-5")
    ledger = bench.open()
    ledger.reserve(claim(draws=TEN, cost=composed(TEN, "zcdp", WHOLE).cost, accountant="zcdp"))
    ledger.reserve(claim("0.1"))
    rho, failure = ledger.book().concentrated("patients")
    assert rho == sum(Fraction(1) / (2 * one.scale) for one in TEN) + Fraction("0.005")
    assert failure == 0


# ---------------------------------------------------------------------------------------------------------------------- datasets


def test_a_dataset_has_a_cap_of_its_own_beside_that_of_its_population(durable, budget, claim) -> None:
    durable.create("1", dataset_caps={"visits": budget("0.5", "1e-5")})
    ledger = durable.open()
    ledger.reserve(claim("0.4"))
    with pytest.raises(BudgetError, match=r"L120 the privacy budget of dataset visits .* there are epsilon 0.1"):
        ledger.reserve(claim("0.2"))
    ledger.reserve(claim("0.5", dataset="stays"))
    with pytest.raises(BudgetError, match="L120 the privacy budget of population patients"):
        ledger.reserve(claim("0.2", dataset="stays"))
    balance = durable.open().dataset_balance("visits")
    assert (balance.cap, balance.spent) == (budget("0.5", "1e-5"), budget("0.4"))


def test_the_policys_cap_of_a_dataset_holds_where_it_is_stricter(durable, budget, claim) -> None:
    durable.create("1", dataset_caps={"visits": budget("0.5", "1e-5")})
    strict, lax = ({"visits": budget(epsilon, "1e-5")} for epsilon in ("0.2", "0.9"))
    with pytest.raises(BudgetError, match=r"L120 the privacy budget of dataset visits .* the policy's cap"):
        durable.open(dataset_caps=strict).reserve(claim("0.3"))
    with pytest.raises(BudgetError, match=r"L120 the privacy budget of dataset visits .* the ledger's cap"):
        durable.open(dataset_caps=lax).reserve(claim("0.6"))
    durable.open(dataset_caps=strict).reserve(claim("0.2"))
