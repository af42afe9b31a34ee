"""Intervals of figures that are printed because they are large hold the truth as often as they claim among those that are printed.

The oracle sums the law of the noise itself, written here again, over every figure that can be printed, for every kind of selection: no sampling
and no function of the product but the one that makes the rows of the file.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product
from math import exp

import pytest

from privrelease.dp import queries as q
from privrelease.dp.budget import Budget
from privrelease.dp.calibration import draws
from privrelease.dp.domains import CategoryDomain, NumericDomain
from privrelease.dp.mechanisms import DiscreteGaussian, DiscreteLaplace
from privrelease.dp.selected_intervals import selected_interval
from privrelease.dp.sensitivity import Contribution
from privrelease.execute.statistics.figures import Noisy, agreed, figures_of
from privrelease.plan.statistics.plan import StatisticPlan
from privrelease.units import Delta, Epsilon
from tests.depth import depth

#: Few persons, where the selection matters, and every ninth number above.
COUNTS = depth([*range(1, 33), *range(38, 201, 9)], range(1, 201))
LEAST = 0.95


def law(draw, reach):
    """The masses of a noise from -reach to reach, up to a factor; logarithms until the last, so that none is lost."""
    scale = float(draw.scale)
    if draw.mechanism == "discrete_laplace":
        return {x: -abs(x) / scale for x in range(-reach, reach + 1)}
    return {x: -x * x / (2 * scale) for x in range(-reach, reach + 1)}


def reach_of(draw):
    scale = float(draw.scale)
    return int(30 * scale if draw.mechanism == "discrete_laplace" else 8 * scale**0.5) + 20


def plan_of(query, epsilon="1", delta="1e-6", noise="laplace", rows=1, post=()):
    budget = Budget(Epsilon(epsilon), Delta(delta))
    drawn = draws(query, q.Setting(Contribution(rows)), budget, noise)
    return StatisticPlan(query.id, "f", query, None, budget, drawn, noise, post=post)


def rows_of(plan, numbers, min_count=None):
    """The rows of these numbers, drawn together in one release."""
    private = isinstance(plan.keys, q.PrivateKeys)
    drawn = Noisy((tuple(numbers),), tuple((str(n),) for n in numbers) if private else ())
    rows = figures_of(plan, drawn, min_count=min_count)
    assert len(rows) == len(numbers)
    return rows


class Rows(dict):
    """By number its row, which no other number of the release changes: computed once for all truths."""

    def __init__(self, plan, numbers, min_count=None):
        super().__init__(zip(numbers, rows_of(plan, numbers, min_count), strict=True))


def coverage(plan, truth, least, min_count=None, rows=None):
    """P(the interval holds the truth | the row is printed) of a figure that is its own count; ``least``: the smallest printed number."""
    draw = plan.shown
    top = max(truth, least) + reach_of(draw)
    logs = {
        truth + x: value
        for x, value in law(draw, top - truth if truth < least else reach_of(draw)).items()
        if truth + x >= least
    }
    shift = max(logs.values())
    numbers = sorted(logs)
    found = rows_of(plan, numbers, min_count) if rows is None else [rows[number] for number in numbers]
    held = printed = 0.0
    for number, row in zip(numbers, found, strict=True):
        mass = exp(logs[number] - shift)
        assert row.value == number
        assert row.low <= row.value <= row.high
        printed += mass
        held += mass * (row.low <= truth <= row.high)
    return held / printed


def cells(n):
    """A query that has so many cells, so that every number that can be drawn is one row."""
    return q.PublicKeys(("g",), (CategoryDomain([str(k) for k in range(n)]),))


# ----------------------------------------------------------------------------------------------------------- the figure's own noise decided


@pytest.mark.parametrize(("noise", "epsilon"), [("laplace", "1"), ("laplace", "0.3"), ("gaussian", "1"), ("gaussian", "3")])
def test_counts_by_private_keys(noise, epsilon):
    plan = plan_of(q.Count("k", q.PrivateKeys(("name",))), epsilon, noise=noise)
    least = plan.draws[0].threshold
    rows = Rows(plan, range(least, max(least, COUNTS[-1]) + reach_of(plan.shown) + 1))
    assert min(coverage(plan, truth, least, rows=rows) for truth in COUNTS) >= LEAST
    for truth in (1, least, COUNTS[-1]):
        assert coverage(plan, truth, least) == coverage(plan, truth, least, rows=rows), "a row depends on other numbers"


def test_the_measured_case_keys_of_eleven_persons(shared):
    """Case d15: 282 of 20,000 such keys were printed, and no interval held 11."""
    assert next((shared / "cases").glob("d15-*")).is_dir()
    plan = plan_of(q.Count("k", q.PrivateKeys(("name",))))
    assert plan.draws[0].threshold == 15
    for truth in (1, 11, 12, 13):
        assert coverage(plan, truth, 15) >= LEAST
    (row,) = figures_of(plan, Noisy(((15,),), (("a",),)))
    assert (row.low, row.value) == (1, 15)


@pytest.mark.parametrize("private", [False, True])
@pytest.mark.parametrize(("noise", "epsilon"), [("laplace", "0.4"), ("laplace", "2"), ("gaussian", "0.7")])
def test_counts_under_a_minimum(noise, epsilon, private):
    keys = q.PrivateKeys(("name",)) if private else cells(1)
    draw = plan_of(q.Count("n", keys), epsilon, noise=noise).draws[0]
    reach = reach_of(draw)
    least = max(10, draw.threshold or 0)
    numbers = range(least, max(least, COUNTS[-1]) + reach + 1)

    def plan_for(size):
        asked = q.Count("n", keys if private else cells(size))
        return plan_of(asked, epsilon, noise=noise, post=("non_negative", "integer"))

    rows = Rows(plan_for(len(numbers)), numbers, 10)
    found = {truth: coverage(plan_for(len(numbers)), truth, least, 10, rows) for truth in COUNTS[::4]}
    assert min(found.values()) >= LEAST, found
    for truth in (1, COUNTS[::4][-1]):
        size = sum(truth - reach <= number <= max(truth, least) + reach for number in numbers)
        assert coverage(plan_for(size), truth, least, 10) == found[truth], "a row depends on other numbers"


def test_a_cell_of_three_under_ten_begins_at_zero():
    plan = plan_of(q.Count("n", cells(2)), "0.4")
    first, second = figures_of(plan, Noisy(((9, 10),)), min_count=10)
    assert (first.value, first.low, first.high) == (None, None, None)
    assert (second.low, second.value) == (0, 10)


def test_an_interval_over_all_draws_is_found_out():
    """The interval y ± h, as it was: among the figures that are printed it holds too seldom."""
    noise = DiscreteLaplace(Fraction(5, 2))
    width = noise.half_width(Fraction(95, 100))
    masses = {y: exp(-abs(y - 3) / 2.5) for y in range(10, 120)}
    held = sum(mass for y, mass in masses.items() if abs(y - 3) <= width)
    assert held / sum(masses.values()) < 0.4


@pytest.mark.parametrize(
    "noise",
    [
        DiscreteLaplace(Fraction(1, 3)),
        DiscreteLaplace(Fraction(40)),
        DiscreteGaussian(Fraction(1, 2)),
        DiscreteGaussian(Fraction(900)),
    ],
)
@pytest.mark.parametrize("least", [0, 1])
def test_the_interval_holds_its_figure_and_both_ends_grow_with_it(noise, least):
    width = noise.half_width(Fraction(95, 100))
    found = [
        selected_interval(noise, threshold=12, noisy=y, least=least, confidence=Fraction(95, 100))
        for y in range(12, 12 + 5 * width + 5)
    ]
    assert all(low <= y <= high for y, (low, high) in enumerate(found, 12))
    assert found == sorted(found)
    assert [high for _, high in found] == sorted(high for _, high in found)
    assert found[-1] == (12 + 5 * width + 4 - width, 12 + 5 * width + 4 + width)  # far above, the threshold changes nothing
    assert found[0][0] == least


# ------------------------------------------------------------------------------------------------------------------ another's noise decided


def joint_coverage(plan, truths, true, min_count=None):
    """The same for figures of several independent draws: every pair of noises, weighted."""
    named = [draw for draw in plan.draws if draw.noise is not None]
    laws = [law(draw, reach_of(draw)) for draw in named]
    combinations = list(product(*laws))
    numbers = [tuple(truths[str(draw.target.figure)] + one[at] for one in combinations) for at, draw in enumerate(named)]
    masses = [exp(sum(own[x] for own, x in zip(laws, one, strict=True))) for one in combinations]
    kept = [
        at
        for at in range(len(combinations))
        if all(draw.threshold is None or column[at] >= draw.threshold for draw, column in zip(named, numbers, strict=True))
    ]
    private = isinstance(plan.keys, q.PrivateKeys)
    keys = tuple((str(at),) for at in kept) if private else ()
    rows = figures_of(plan, Noisy(tuple(tuple(column[at] for at in kept) for column in numbers), keys), min_count=min_count)
    held = printed = 0.0
    for at, row in zip(kept, rows, strict=True):
        if row.value is None:
            continue
        printed += masses[at]
        held += masses[at] * (row.low is None or row.low <= true <= row.high)
    return held / printed


def size(plan):
    total = 1
    for draw in plan.draws:
        total *= 2 * reach_of(draw) + 1 if draw.noise is not None else 1
    return total


@pytest.mark.parametrize("truth", [1, 2, 5, 11, 40, 200])
def test_means_under_a_minimum_whose_count_decides(truth):
    pay = NumericDomain("0", "4")
    sketch = plan_of(q.Mean("m", "pay", pay, cells(1)), "4")
    plan = plan_of(q.Mean("m", "pay", pay, cells(size(sketch))), "4")
    total = -truth  # every value is 1, the centre 2
    assert joint_coverage(plan, {"sum": total, "rows": truth}, 1, min_count=10) >= LEAST


@pytest.mark.parametrize("truth", [1, 3, 8, 30])
@pytest.mark.parametrize("figure", ["sum", "mean"])
def test_sums_and_means_by_private_keys(truth, figure):
    pay = NumericDomain("0", "2")
    asked = (q.Sum if figure == "sum" else q.Mean)("s", "pay", pay, q.PrivateKeys(("g",)))
    plan = plan_of(asked, "5", "1e-3")
    centred = {"sum": 2 * truth, "mean": truth}[figure]  # every value is 2
    assert joint_coverage(plan, {"persons": truth, "sum": centred}, 2 * truth if figure == "sum" else 2) >= LEAST


@pytest.mark.parametrize("truth", [1, 4, 30])
def test_rows_by_private_keys_that_persons_select(truth):
    plan = plan_of(q.Count("c", q.PrivateKeys(("g",))), "6", "1e-3", rows=2)
    assert [str(draw.target.figure) for draw in plan.draws] == ["persons", "rows"]
    assert joint_coverage(plan, {"persons": truth, "rows": 2 * truth}, 2 * truth) >= LEAST
    assert joint_coverage(plan, {"persons": truth, "rows": 2 * truth}, 2 * truth, min_count=4) >= LEAST


def test_what_private_keys_print_is_the_figure_and_not_the_count_that_selects_the_keys():
    plan = plan_of(q.Sum("s", "pay", NumericDomain("0", "200"), q.PrivateKeys(("g",))))
    (row,) = figures_of(plan, Noisy(((30,), (1234,)), (("a",),)))
    assert (row.value, row.scale) == (1234, 400)
    counted = plan_of(q.Count("c", q.PrivateKeys(("g",))), rows=3)
    (row,) = figures_of(counted, Noisy(((90,), (250,)), (("a",),)))
    assert row.value == 250


# ------------------------------------------------------------------------------------------------------------------ counts that agree


@cache
def tables(epsilon="4"):
    sex = q.PublicKeys(("sex",), (CategoryDomain(["F", "M"]),))
    made = [plan_of(q.Count("all"), epsilon), plan_of(q.Count("by", sex), epsilon)]
    return [StatisticPlan(one.id, "f", one.query, None, one.budget, one.draws, agrees="t") for one in made]


def released(numbers, min_count):
    plans = tables()
    answers = {"all": Noisy(((numbers[0],),)), "by": Noisy((tuple(numbers[1:]),))}
    together = agreed(plans, answers, min_count=min_count)
    return [
        row
        for plan in plans
        for row in figures_of(plan, answers[plan.id], min_count=min_count, agreement=together.get(plan.id))
    ]


def test_a_count_left_blank_is_no_difference_of_counts_that_agree():
    for numbers in product(range(8, 15), repeat=3):
        rows = released((numbers[0] + 10, *numbers[1:]), 10)
        own = [None if number < 10 else number for number in (numbers[0] + 10, *numbers[1:])]
        values = [row.value for row in rows]
        if None in own:  # each keeps its own noise: a difference of the others is the blank one but for noise that nobody knows
            assert values == own
        elif values != own:
            assert min(values) >= 10
            assert abs(values[0] - values[1] - values[2]) <= Fraction(3, 10**6)
    agreeing = [row.value for row in released((30, 14, 13), 10)]
    assert agreeing != [30, 14, 13]
    assert [row.value for row in released((18, 10, 10), 10)] == [18, 10, 10]  # agreed ones would be below 10, and left blank


@pytest.mark.parametrize("cells_of", depth([(3, 3), (9, 40)], [(3, 3), (8, 12), (10, 10), (9, 40), (1, 1)]))
def test_counts_that_agree_under_a_minimum(cells_of):
    scale = float(tables()[0].draws[0].scale)
    reach = int(18 * scale)
    truths = (sum(cells_of), *cells_of)
    least = 10
    held, printed = [0.0] * 3, [0.0] * 3
    noises = range(-reach, reach + 1)
    starts = [[x for x in noises if truth + x >= 0] for truth in truths]
    for one in product(*starts):
        mass = exp(-sum(map(abs, one)) / scale)
        if mass < 1e-13:
            continue
        rows = released([truth + x for truth, x in zip(truths, one, strict=True)], least)
        for at, row in enumerate(rows):
            if row.value is not None:
                printed[at] += mass
                held[at] += mass * (row.low <= truths[at] <= row.high)
    for at in range(3):
        if printed[at] > 1e-9:
            assert held[at] / printed[at] >= LEAST, at
