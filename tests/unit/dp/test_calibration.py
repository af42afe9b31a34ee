from __future__ import annotations

import inspect
import math
from fractions import Fraction

import pytest

from privrelease.dp import calibration
from privrelease.dp import queries as q
from privrelease.dp.budget import Budget
from privrelease.dp.domains import Bins, CategoryDomain, NumericDomain
from privrelease.dp.sensitivity import Contribution, Neighbours
from privrelease.errors import PolicyError
from privrelease.units import Delta, Epsilon

X = NumericDomain(0, 100)
GLUCOSE = NumericDomain("50", "400", grid="0.1")
REGION = q.PublicKeys(("region",), (CategoryDomain(["N", "E", "S", "W"]),))
SURNAME = q.PrivateKeys(("surname",))
ONE = q.Setting(Contribution(1))
BUDGET = Budget(Epsilon(1), Delta("1e-6"))


def shape(draws):
    return [(d.target.figure, d.mechanism, d.sensitivity.l1, d.size) for d in draws]


def all_queries():
    return [
        q.Count("count"),
        q.Count("filtered", where="x > 1"),
        q.CountPersons("persons", where="x > 1"),
        q.Sum("sum", "glucose", GLUCOSE),
        q.Mean("mean", "glucose", GLUCOSE),
        q.Mean("mean_by", "glucose", GLUCOSE, by=REGION),
        q.Variance("variance", "glucose", GLUCOSE),
        q.Quantile("median", "age", NumericDomain(18, 85)),
        q.Quantile("quartile_by", "age", NumericDomain(18, 85), by=REGION, at=Fraction(1, 4)),
        q.Histogram("histogram", "age", Bins.of_width(NumericDomain(18, 85), 10)),
        q.Histogram("histogram_by", "age", Bins.of_width(NumericDomain(18, 85), 10), by=REGION),
        q.Mode("mode", "diagnosis", CategoryDomain(["negative", "positive"])),
        q.Count("by", by=REGION),
        q.Count("keys", by=SURNAME),
        q.Mean("mean_keys", "glucose", GLUCOSE, by=SURNAME),
        q.Quantile("median_keys", "age", NumericDomain(18, 85), by=SURNAME),
    ]


SETTINGS = [
    ONE,
    q.Setting(Contribution(3, 2)),
    q.Setting(Contribution(1), Neighbours.REPLACE),
    q.Setting(Contribution(1, exactly_one=True), Neighbours.REPLACE),
    q.Setting(Contribution(3), Neighbours.REPLACE),
]


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize("query", all_queries(), ids=lambda query: query.id)
def test_the_draws_of_a_query_cost_exactly_its_epsilon_and_at_most_its_delta(query, setting, noise):
    draws = calibration.draws(query, setting, BUDGET, noise)
    paid = [d for d in draws if d.mechanism != "public"]
    spent = sum((d.epsilon.value for d in draws), Fraction(0))
    assert spent == (1 if paid else 0)
    assert sum((d.delta.value for d in draws), Fraction(0)) <= BUDGET.delta.value
    if noise == "laplace" and not isinstance(query.by, q.PrivateKeys):
        assert all(d.delta.value == 0 for d in draws)


def test_the_count_under_a_mean_is_listed_and_charged():
    draws = calibration.draws(q.Mean("mean", "x", X), ONE, Budget(Epsilon("0.6")))
    assert shape(draws) == [("sum", "discrete_laplace", 50, 1), ("rows", "discrete_laplace", 1, 1)]
    assert [str(d.epsilon) for d in draws] == ["0.3", "0.3"]
    assert draws[0].target.centre == 50


def test_no_scale_can_depend_on_a_number_of_rows():
    # case d04: the two files of 2 rows and of 1 row give the same draws, since no function takes the number
    for function in (calibration.draws, calibration._figures, calibration._draw, calibration._gaussian, calibration._joint_rho):
        assert not {"n", "rows", "n_rows", "count", "size"} & set(inspect.signature(function).parameters)


def test_scales_of_count_and_sum():
    # as in case d03, where each gets half of the budget
    count, sums = (calibration.draws(query, ONE, Budget(Epsilon("0.6")))[0] for query in (q.Count("c"), q.Sum("s", "x", X)))
    assert math.isclose(count.scale, 1.6666666666666667)
    assert math.isclose(sums.scale, 166.66666666666669)


def test_a_variance_takes_three_draws_and_half_the_range_of_squares():
    draws = calibration.draws(q.Variance("v", "x", X), ONE, Budget(Epsilon("0.9")))
    assert shape(draws) == [
        ("sum", "discrete_laplace", 50, 1),
        ("squares", "discrete_laplace", 1250, 1),
        ("rows", "discrete_laplace", 1, 1),
    ]
    assert draws[1].target.offset == 1250
    assert draws[1].grid == 1


def test_a_grouped_count_costs_once_when_each_person_is_in_one_region():
    # case d12: one draw of four numbers; scale 3 / 0.5 where a person is in up to three regions
    (alone,) = calibration.draws(q.Count("n", by=REGION), ONE, Budget(Epsilon("0.5")))
    (thrice,) = calibration.draws(q.Count("n", by=REGION), q.Setting(Contribution(3, 3)), Budget(Epsilon("0.5")))
    assert (alone.size, alone.scale, str(alone.epsilon)) == (4, 2, "0.5")
    assert (thrice.size, thrice.scale, str(thrice.epsilon)) == (4, 6, "0.5")


def test_replace_doubles_a_histogram():
    bins = Bins.of_width(NumericDomain(0, 100), 10)
    (add,) = calibration.draws(q.Histogram("h", "x", bins), ONE, BUDGET)
    (replace,) = calibration.draws(q.Histogram("h", "x", bins), q.Setting(Contribution(1), Neighbours.REPLACE), BUDGET)
    assert (add.scale, replace.scale) == (1, 2)
    assert (add.sensitivity.l2_squared, replace.sensitivity.l2_squared) == (1, 2)


def test_numbers_that_are_public_under_replace_are_listed_and_free():
    exactly = q.Setting(Contribution(1, exactly_one=True), Neighbours.REPLACE)
    sums, rows = calibration.draws(q.Mean("m", "x", X, complete=True), exactly, Budget(Epsilon("0.5")))
    assert (sums.sensitivity.l1, str(sums.epsilon)) == (100, "0.5")
    assert (rows.mechanism, rows.epsilon) == ("public", Epsilon(0))
    # a missing value or a filter makes the number of rows private again
    assert [d.mechanism for d in calibration.draws(q.Mean("m", "x", X), exactly, BUDGET)] == ["discrete_laplace"] * 2
    assert calibration.draws(q.Count("c", where="x > 1"), exactly, BUDGET)[0].sensitivity.l1 == 1
    assert (
        calibration.draws(q.Sum("s", "x", X, complete=True), q.Setting(Contribution(1), Neighbours.REPLACE), BUDGET)[
            0
        ].sensitivity.l1
        == 100
    )


def test_private_keys_take_a_selection_and_its_count_is_not_drawn_twice():
    (selection,) = calibration.draws(q.Count("n", by=SURNAME), ONE, BUDGET)
    assert (selection.target.figure, selection.threshold, selection.size) == ("persons", 15, None)
    draws = calibration.draws(q.Mean("m", "x", X, by=SURNAME), ONE, BUDGET)
    assert [(d.target.figure, d.threshold is not None) for d in draws] == [("persons", True), ("sum", False)]
    several = calibration.draws(q.Count("n", by=SURNAME), q.Setting(Contribution(2)), BUDGET)
    assert [d.target.figure for d in several] == ["persons", "rows"]
    assert several[0].groups == 2


def test_gaussian_noise_on_one_number_is_calibrated_by_its_exact_delta_and_on_more_by_zcdp():
    (one,) = calibration.draws(q.Count("c"), ONE, BUDGET, "gaussian")
    (more,) = calibration.draws(q.Count("c", by=REGION), q.Setting(Contribution(2)), BUDGET, "gaussian")
    assert one.noise.delta(1, Fraction(1)) <= 1e-6 < one.noise.delta(1, Fraction("0.9999"))
    from privrelease.dp.conversion import delta_of_rho

    assert delta_of_rho(more.noise.rho(4), Fraction(1)) <= Fraction("1e-6")
    assert more.sensitivity.l2_squared == 4


def test_the_most_frequent_category_takes_half_the_scale_where_people_only_come():
    query = q.Mode("m", "d", CategoryDomain(["a", "b"]))
    (add,) = calibration.draws(query, ONE, BUDGET)
    (replace,) = calibration.draws(query, q.Setting(Contribution(1), Neighbours.REPLACE), BUDGET)
    assert (add.scale, add.monotone) == (1, True)
    assert (replace.scale, replace.monotone) == (2, False)


@pytest.mark.parametrize(
    "query", [q.Mean("m", "x", X), q.Variance("v", "x", X), q.Mean("mk", "x", X, by=SURNAME)], ids=lambda query: query.id
)
def test_gaussians_of_one_query_share_its_budget_by_zcdp_and_need_less_noise(query):
    from privrelease.dp.accountants import PldAccountant, ZcdpAccountant

    together = calibration.draws(query, ONE, BUDGET, "gaussian")
    assert {d.joint for d in together} == {len(together)}
    each = Budget(Epsilon(Fraction(1, len(together))), Delta(Fraction(1, 10**6 * (len(together) + (query.by is not None)))))
    for draw in together:
        alone = calibration._gaussian(draw.sensitivity, each.epsilon, each.delta)
        assert draw.scale < alone.scale * Fraction(8, 10)
    for accountant in (ZcdpAccountant(), PldAccountant()):
        for draw in together:
            accountant = accountant.compose(draw.event)  # noqa: PLW2901 - composing returns a new one
        assert Fraction("0.7") < accountant.epsilon(BUDGET.delta).value <= 1


@pytest.mark.parametrize(
    ("query", "noise", "budget", "code"),
    [
        (q.Count("c"), "gaussian", Budget(Epsilon(1)), "DP103"),
        (q.Count("c", by=SURNAME), "laplace", Budget(Epsilon(1)), "DP103"),
        (q.Count("c"), "laplace", Budget(Epsilon(0)), "DP101"),
        (q.Count("c"), "laplace", Budget(Epsilon("1e-300")), "DP102"),
        (q.Count("c"), "gaussian", Budget(Epsilon(1), Delta(1)), "DP104"),
        (
            q.Histogram("h", "x", Bins(range(5001)), by=q.PublicKeys(("k",), (CategoryDomain([str(i) for i in range(5000)]),))),
            "laplace",
            BUDGET,
            "DP123",
        ),
    ],
)
def test_a_budget_that_gives_no_draw_is_named(query, noise, budget, code):
    with pytest.raises(PolicyError) as caught:
        calibration.draws(query, ONE, budget, noise)
    assert caught.value.findings[0].code == code
    assert query.id in caught.value.findings[0].subject


@pytest.mark.parametrize("at", [Fraction(0), Fraction(1), Fraction(-1, 2), Fraction(3, 2)])
def test_a_quantile_outside_of_0_to_1_is_named(at):
    with pytest.raises(PolicyError, match="DP119"):
        q.Quantile("median", "x", X, at=at)


def test_too_many_candidates_or_cells_are_named():
    with pytest.raises(PolicyError, match="DP123"):
        q.Quantile("median", "x", NumericDomain(0, 1 << 30))
    many = CategoryDomain([str(i) for i in range(5000)])
    with pytest.raises(PolicyError, match="DP123"):
        q.PublicKeys(("a", "b"), (many, many))


def test_queries_are_frozen():
    with pytest.raises(AttributeError):
        q.Count("c").where = "x > 1"
