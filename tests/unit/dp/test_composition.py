"""What draws cost together: hand-worked totals, parts, and claims that are below the truth."""

from __future__ import annotations

from fractions import Fraction

import pytest

from privrelease.dp.accountants import pld
from privrelease.dp.budget import Budget
from privrelease.dp.calibration import draws
from privrelease.dp.composition import Apart, Part, apart_of, check_apart, composed, covers, rho_of
from privrelease.dp.conversion import delta_of_rho
from privrelease.dp.domains import NumericDomain
from privrelease.dp.draws import Draw, Target
from privrelease.dp.mechanisms import DiscreteGaussian
from privrelease.dp.queries import Count, CountPersons, PrivateKeys, Setting, Variance
from privrelease.dp.sensitivity import Contribution, Neighbours, Sensitivity
from privrelease.errors import InputError
from privrelease.relational.filters import Comparison
from privrelease.units import Delta, Epsilon

WHOLE = Budget(Epsilon(1), Delta("1e-6"))
WOMEN, MEN, OTHERS = (Comparison("sex", "=", key) for key in "FMX")
YOUNG, OLD = Comparison("age", "<", 40), Comparison("age", ">=", 40)


def laplace(query, epsilon):
    exact = Fraction(epsilon)
    return Draw(query, Target("rows"), "discrete_laplace", Sensitivity.of_one_number(1), 1 / exact, Epsilon(exact))


def gaussian(query, epsilon="0.2", delta="1e-7", sensitivity=1):
    noise = DiscreteGaussian.for_one_number(sensitivity=sensitivity, epsilon=Fraction(epsilon), delta=Fraction(delta))
    one = Sensitivity.of_one_number(sensitivity)
    return Draw(query, Target("rows"), "discrete_gaussian", one, noise.scale, Epsilon(epsilon), Delta(delta))


def test_a_tenth_ten_times_is_one():
    ten = tuple(laplace(f"q{n}", "0.1") for n in range(10))
    found = composed(ten, "pure", WHOLE)
    assert (found.accountant, found.cost) == ("pure", Budget(Epsilon(1)))
    assert found.within(WHOLE)


def test_zcdp_totals_are_those_of_the_formula():
    several = tuple(gaussian(f"q{n}", sensitivity=3) for n in range(5))
    rho = sum(Fraction(9) / (2 * one.scale) for one in several)
    assert rho_of(several) == (rho, 0)
    found = composed(several, "zcdp", WHOLE)
    assert found.accountant == "zcdp"
    assert found.cost.delta == WHOLE.delta
    assert delta_of_rho(rho, found.cost.epsilon.value) <= WHOLE.delta.value
    assert delta_of_rho(rho, found.cost.epsilon.value * Fraction("0.999")) > WHOLE.delta.value


def test_the_rule_of_the_least_total_is_stated():
    few = (laplace("a", "0.5"), laplace("b", "0.5"))
    many = tuple(laplace(f"q{n}", "0.01") for n in range(300))
    assert composed(few, "pld", WHOLE).accountant == "approximate"
    assert composed(few, "pld", WHOLE).cost == Budget(Epsilon(1))
    assert [composed(many, rule, WHOLE).accountant for rule in ("approximate", "zcdp", "pld")] == ["approximate", "zcdp", "pld"]
    totals = [composed(many, rule, WHOLE).cost.epsilon for rule in ("approximate", "zcdp", "pld")]
    assert totals == sorted(totals, reverse=True)


def test_failures_of_a_selection_stay_inside_the_delta():
    private = CountPersons("k", PrivateKeys(("area",)))
    drawn = tuple(
        draw
        for n in range(6)
        for draw in draws(
            CountPersons(f"k{n}", private.by), Setting(Contribution(1)), Budget(Epsilon("0.1"), Delta("1e-7")), "gaussian"
        )
    )
    rho, failure = rho_of(drawn)
    assert failure == sum(draw.selection.delta() for draw in drawn) > 0
    found = composed(drawn, "zcdp", Budget(Epsilon(1), Delta("1e-6")))
    assert found.accountant == "zcdp"
    assert delta_of_rho(rho, found.cost.epsilon.value) + failure <= Fraction("1e-6")
    assert not covers(Budget(Epsilon(100), Delta(failure * Fraction("0.9"))), drawn, "zcdp")


def test_draws_that_are_charged_together_stay_together():
    domain = NumericDomain("0", "10", grid="1")
    drawn = draws(Variance("v", "x", domain), Setting(Contribution(1)), Budget(Epsilon(1), Delta("1e-6")), "gaussian")
    assert {draw.joint for draw in drawn} == {3}
    assert composed(drawn, "zcdp", WHOLE).within(Budget(Epsilon("1.01"), Delta("1e-6")))
    with pytest.raises(ValueError, match="drawn together"):
        composed(drawn[:2], "zcdp", WHOLE)


def test_pld_is_not_asked_for_what_it_has_no_bound_for():
    uneven = Draw(
        "u", Target("rows"), "discrete_gaussian", Sensitivity(3, 9, 3, 2), Fraction(10**5), Epsilon(1), Delta("1e-6"), size=4
    )
    found = composed((uneven, gaussian("a"), gaussian("b")), "pld", WHOLE)
    assert found.accountant == "zcdp"
    with pytest.raises(ValueError, match="known accountant"):
        covers(WHOLE, (uneven,), "moments")
    assert not covers(WHOLE, (uneven,), "pld")


def test_without_dp_accounting_pld_is_refused_with_what_to_install(monkeypatch):
    monkeypatch.setattr(pld, "find_spec", lambda name: None)
    with pytest.raises(InputError, match="D301 the PLD accountant needs dp-accounting") as refused:
        pld.check_available()
    assert refused.value.exit_code == 3
    assert "privrelease[dp]" in str(refused.value.hint)


# ------------------------------------------------------------------------------------------------------------------------- parts


def test_queries_of_one_filter_are_one_part_and_families_are_found_in_order():
    queries = [("a", WOMEN), ("b", YOUNG), ("c", MEN), ("d", None), ("e", OLD), ("f", WOMEN), ("g", OTHERS)]
    first, second = apart_of(queries, Setting(Contribution(1)))
    assert [part.queries for part in first.parts] == [("a", "f"), ("c",), ("g",)]
    assert [part.queries for part in second.parts] == [("b",), ("e",)]


def test_a_person_of_several_rows_is_in_as_many_parts_and_two_persons_in_twice_as_many():
    queries = [("a", WOMEN), ("b", MEN), ("c", OTHERS)]
    assert apart_of(queries, Setting(Contribution(2)))[0].most == 2
    assert apart_of(queries, Setting(Contribution(1), Neighbours.REPLACE))[0].most == 2
    assert apart_of(queries, Setting(Contribution(3))) == ()
    assert apart_of(queries, Setting(Contribution(2), Neighbours.REPLACE)) == ()


def test_parts_cost_the_dearest_of_as_many_as_a_person_is_in():
    three = (laplace("a", "0.1"), laplace("b", "0.3"), laplace("c", "0.2"), laplace("d", "0.05"))
    parts = tuple(Part((name,), where) for name, where in (("a", WOMEN), ("b", MEN), ("c", OTHERS)))
    for rows, total in ((1, "0.35"), (2, "0.55")):
        apart = (Apart(parts, rows, Neighbours.ADD_REMOVE),)
        assert composed(three, "pure", WHOLE, apart).cost == Budget(Epsilon(total))
    assert composed(three, "pure", WHOLE).cost == Budget(Epsilon("0.65"))


def test_of_some_of_the_queries_only_parts_that_save_something_are_left():
    parts = tuple(Part((name,), where) for name, where in (("a", WOMEN), ("b", MEN), ("c", OTHERS)))
    apart = Apart(parts, 2, Neighbours.ADD_REMOVE)
    assert apart.of({"a", "b"}) is None
    assert apart.of({"a", "b", "c", "d"}) == apart


def test_parts_that_may_overlap_are_refused_whoever_claims_them():
    two = (laplace("a", "0.3"), laplace("b", "0.3"))
    overlapping = (Apart((Part(("a",), WOMEN), Part(("b",), YOUNG)), 1, Neighbours.ADD_REMOVE),)
    with pytest.raises(ValueError, match="not proven to be disjoint"):
        composed(two, "pure", WHOLE, overlapping)
    with pytest.raises(ValueError, match="not proven to be disjoint"):
        covers(WHOLE, two, "pure", overlapping)
    with pytest.raises(ValueError, match="each in one part"):
        check_apart((Apart((Part(("a", "a"), WOMEN),), 1, Neighbours.ADD_REMOVE),), {"a"})


def test_a_count_under_a_filter_moves_by_what_its_part_says():
    (drawn,) = draws(Count("a", where="sex = 'F'"), Setting(Contribution(2)), Budget(Epsilon(1)))
    assert drawn.sensitivity.l1 == 2
