"""The arithmetic half of the shared d cases: what the pure room states, against the figures of the case files."""

from __future__ import annotations

import csv
import math
from fractions import Fraction

import pytest
from ruamel.yaml import YAML

from privrelease.dp import calibration
from privrelease.dp import queries as q
from privrelease.dp.accountants import ApproximateAccountant
from privrelease.dp.accountants.events import Charged, Parallel, Together
from privrelease.dp.budget import Budget, Request, split
from privrelease.dp.domains import CategoryDomain, NumericDomain
from privrelease.dp.draws import charge_then_draw
from privrelease.dp.mechanisms import DiscreteGaussian, DiscreteLaplace, Thresholding
from privrelease.dp.randomness import SystemRandomness
from privrelease.dp.sensitivity import Contribution
from privrelease.errors import PolicyError
from privrelease.units import Delta, Epsilon

ONE = q.Setting(Contribution(1))
X = NumericDomain(0, 100)


@pytest.fixture
def values(shared, request):
    (folder,) = (shared / "cases").glob(f"{request.node.callspec.params['case']}-*")
    return YAML(typ="safe").load((folder / "expected.yaml").read_text(encoding="utf-8"))["values"]


def column(shared, case, name):
    (folder,) = (shared / "cases").glob(f"{case}-*")
    with (folder / "input.csv").open(encoding="utf-8", newline="") as stream:
        return [row[name] for row in csv.DictReader(stream)]


@pytest.mark.parametrize("case", ["d01"])
def test_a_sum_without_bounds_names_the_column(case):
    with pytest.raises(PolicyError, match="lower and upper bound of duration are missing"):
        q.Sum("sum", "duration", NumericDomain(None, None, column="duration"))


@pytest.mark.parametrize("case", ["d03"])
def test_one_budget_for_several_statistics(case, values):
    whole = Budget(Epsilon("1.2"))
    count, total = split(whole, [Request("count"), Request("sum")])
    shared_draws = values["draws_shared"]
    assert float(count.epsilon.value) == shared_draws["count"]
    assert float(total.epsilon.value) == shared_draws["sum"]
    (rows,), (sums,) = calibration.draws(q.Count("count"), ONE, count), calibration.draws(q.Sum("sum", "x", X), ONE, total)
    assert math.isclose(rows.scale, shared_draws["scale_count"])
    assert math.isclose(sums.scale, shared_draws["scale_sum"])
    queries = [q.Count("count"), q.Sum("sum", "x", X), q.Mean("mean", "x", X)]
    spent, drawn = ApproximateAccountant(), 0
    for query, budget in zip(
        queries, split(whole, [Request("count"), Request("sum"), Request("mean", share=Fraction(2))]), strict=True
    ):
        for draw in calibration.draws(query, ONE, budget):
            spent, drawn = spent.compose(draw.event), drawn + 1
            assert float(draw.epsilon.value) == values["draws_separate"]["each"]
    assert drawn == values["draws_separate"]["n"]
    assert spent.spent_epsilon == Epsilon("1.2")
    whole_each = [draw for query in queries for draw in calibration.draws(query, ONE, whole)]
    assert float(sum(draw.epsilon.value for draw in whole_each)) == values["per_statistic_totals"]["avg_own_draws_split"]


@pytest.mark.parametrize("case", ["d05"])
def test_a_key_of_one_person_is_not_published_and_a_listed_key_without_rows_is(case, values, shared):
    surnames = column(shared, "d05", "surname")
    keys = sorted(set(surnames))
    budget = Budget(Epsilon(1), Delta("1e-6"))
    (found,) = calibration.draws(q.Count("by", by=q.PrivateKeys(("surname",))), ONE, budget)
    assert found.threshold == values["geometric_threshold_ge"]
    assert float(found.selection.delta()) <= values["p_single_person_key"]
    drawn = charge_then_draw([(found, [surnames.count(key) for key in keys])], lambda _: None, SystemRandomness())[0].values
    shown = {key for key, value in zip(keys, drawn, strict=True) if value is not None}
    assert shown <= {"Adler", "Brock"}
    listed = CategoryDomain(["Adler", "Brock", "Cole", "Zyx"])
    (draw,) = calibration.draws(q.Count("by", by=q.PublicKeys(("surname",), (listed,))), ONE, Budget(Epsilon(1)))
    exact = [surnames.count(key) for key in listed.values]
    released = charge_then_draw([(draw, exact)], lambda _: None, SystemRandomness())[0].values
    assert len(released) == values["B_row_count"]
    assert all(value is not None for value in released)
    assert math.isclose(draw.noise.probability(0), 0.4621, abs_tol=1e-4)


@pytest.mark.parametrize("case", ["d06"])
def test_at_or_above_and_above(case, values):
    noise = DiscreteLaplace(Fraction(1))
    at_or_above, above = Thresholding(noise, 5).delta(), Thresholding(noise, 6).delta()
    assert math.isclose(at_or_above, values["delta_if_ge"], rel_tol=1e-5)
    assert math.isclose(above, values["delta_if_gt"], rel_tol=1e-5)
    assert math.isclose(at_or_above / above, values["ratio"], rel_tol=1e-6)


@pytest.mark.parametrize("case", ["d08"])
def test_a_gaussian_is_judged_by_its_own_delta(case, values):
    delta = Fraction("1e-5")
    large = DiscreteGaussian.for_one_number(sensitivity=1, epsilon=Fraction(10), delta=delta)
    small = DiscreteGaussian.for_one_number(sensitivity=1, epsilon=Fraction("0.5"), delta=delta)
    assert math.isclose(math.sqrt(large.scale), 0.49901, abs_tol=1e-5)
    assert math.isclose(math.sqrt(small.scale), 7.03095, abs_tol=1e-5)
    assert large.delta(1, Fraction(10)) <= 1e-5
    textbook = DiscreteGaussian(Fraction(str(values["A_sigma_textbook"])) ** 2)
    assert math.isclose(textbook.delta(1, Fraction(10)), 7.7e-5, rel_tol=1e-2)
    for sigma in (values["A_sigma_min"], 0.51, 0.6, 0.75, 1.0):
        assert DiscreteGaussian(Fraction(str(sigma)) ** 2).delta(1, Fraction(10)) <= 1e-5
    assert DiscreteGaussian(Fraction(str(values["B_sigma_textbook"])) ** 2).delta(1, Fraction("0.5")) <= 1e-5


@pytest.mark.parametrize("case", ["d09"])
def test_a_constant_for_missing_values_and_bounds_are_finite(case):
    for bad in ("nan", "inf", "-inf"):
        with pytest.raises(PolicyError, match="not a finite number"):
            NumericDomain(0, bad, column="x")


@pytest.mark.parametrize("case", ["d12"])
def test_a_grouped_count_costs_once_or_three_times(case, values):
    regions = q.PublicKeys(("region",), (CategoryDomain(["N", "E", "S", "W"]),))
    (alone,) = calibration.draws(q.Count("n", by=regions), ONE, Budget(Epsilon("0.5")))
    assert alone.scale == 2
    assert float(ApproximateAccountant().compose(alone.event).spent_epsilon.value) == values["A_cost"]
    # the same by parts: four counts at 0.5, a person in at most three of them
    (cell,) = calibration.draws(q.Count("n", where="region = 'N'"), ONE, Budget(Epsilon("0.5")))
    in_one, in_three = (ApproximateAccountant().compose(Parallel((cell.event,) * 4, parts)) for parts in (1, 3))
    assert float(in_one.spent_epsilon.value) == values["A_cost"]
    assert float(in_three.spent_epsilon.value) == values["B_cost"]
    (thrice,) = calibration.draws(q.Count("n", by=regions), q.Setting(Contribution(3, 3)), Budget(Epsilon("0.5")))
    assert float(thrice.scale) == values["B_scale_for_total_0.5"]
    further = Charged(Together(()), Fraction("0.5"), Fraction(0))
    assert in_three.compose(further).spent_epsilon.value - in_three.spent_epsilon.value == Fraction("0.5")
