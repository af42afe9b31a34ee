from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from privrelease.dp import calibration
from privrelease.dp import queries as q
from privrelease.dp.budget import Budget
from privrelease.dp.domains import CategoryDomain, NumericDomain
from privrelease.dp.draws import Draw, Target, charge_then_draw, check_joint
from privrelease.dp.randomness import SystemRandomness, TestRandomness
from privrelease.dp.sensitivity import Contribution, Neighbours, Sensitivity
from privrelease.errors import BudgetError
from privrelease.units import Delta, Epsilon

ONE = q.Setting(Contribution(1))
BUDGET = Budget(Epsilon(1), Delta("1e-6"))
X = NumericDomain(0, 100)


def a_draw(**changes):
    return replace(calibration.draws(q.Sum("s", "x", X), ONE, BUDGET)[0], **changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"scale": Fraction(99)},
        {"epsilon": Epsilon("0.999999999")},
        {"sensitivity": Sensitivity.of_one_number(101)},
        {"mechanism": "discrete_gaussian", "scale": Fraction(10**9), "delta": Delta(0)},
        {"mechanism": "permute_and_flip"},
        {"mechanism": "public"},
        {"mechanism": "none"},
    ],
)
def test_a_draw_that_understates_its_cost_cannot_be_built(changes):
    with pytest.raises(ValueError, match=r"claim less|public if and only if|known mechanism"):
        a_draw(**changes)


@pytest.mark.parametrize("setting", [ONE, q.Setting(Contribution(2)), q.Setting(Contribution(1), Neighbours.REPLACE)])
def test_a_gaussian_draw_cannot_understate_its_delta(setting):
    (draw,) = calibration.draws(
        q.Count("c", by=q.PublicKeys(("k",), (CategoryDomain(["a", "b"]),))), setting, BUDGET, "gaussian"
    )
    with pytest.raises(ValueError, match="claim less"):
        replace(draw, delta=Delta("9.9e-7"))
    with pytest.raises(ValueError, match="claim less"):
        replace(draw, scale=draw.scale * Fraction("0.99"))


def test_a_threshold_one_lower_costs_more_than_was_claimed():
    (draw,) = calibration.draws(q.Count("c", by=q.PrivateKeys(("k",))), ONE, BUDGET)
    with pytest.raises(ValueError, match="claim less"):
        replace(draw, threshold=draw.threshold - 1)


def test_a_selection_cannot_forget_the_other_keys_of_a_person():
    selection = calibration.draws(q.Count("c", by=q.PrivateKeys(("k",))), q.Setting(Contribution(4)), BUDGET)[0]
    assert selection.groups == 4
    with pytest.raises(ValueError, match="every key"):
        replace(selection, groups=1)


def test_a_sum_is_no_score_that_moves_in_one_direction():
    (draw,) = calibration.draws(q.Quantile("q", "x", X), ONE, BUDGET)
    with pytest.raises(ValueError, match="one direction"):
        replace(draw, scale=draw.scale / 2, monotone=True)


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize(
    "query",
    [
        q.Mean("m", "x", NumericDomain("0", "1", grid="0.01")),
        q.Quantile("q", "x", X, at=Fraction(1, 3)),
        q.Count("k", by=q.PrivateKeys(("k",))),
        q.Mode("mo", "d", CategoryDomain(["a", "b"])),
    ],
    ids=lambda query: query.id,
)
def test_a_record_is_plain_data_and_gives_the_draw_back(query, noise):
    for draw in calibration.draws(query, q.Setting(Contribution(2)), BUDGET, noise):
        record = json.loads(json.dumps(draw.record()))
        assert Draw.from_record(record) == draw


def test_a_record_that_was_tampered_with_is_refused():
    record = a_draw().record()
    for name, value in {
        "epsilon": "1/2",
        "scale": "1",
        "sensitivity.l1": 7,
        "mechanism": "exact",
        "target.figure": None,
        "extra": 1,
    }.items():
        changed = {**record, name: value}
        if name == "target.figure":
            del changed[name]
        with pytest.raises(ValueError, match=r"record|claim less|inconsistent|known mechanism"):
            Draw.from_record(changed)


def test_draws_that_are_charged_together_cannot_be_torn_apart_or_understate_their_cost():
    together = calibration.draws(q.Variance("v", "x", X), ONE, BUDGET, "gaussian")
    check_joint(together)
    with pytest.raises(ValueError, match="drawn together"):
        check_joint(together[:2])
    for draw in together:
        others = [other for other in together if other is not draw]
        for less in (
            replace(draw, scale=draw.scale * Fraction("0.99")),
            replace(draw, delta=Delta(draw.delta.value * Fraction("0.9"))),
            replace(draw, epsilon=Epsilon(draw.epsilon.value * Fraction("0.9"))),
        ):
            with pytest.raises(ValueError, match="together than they cost"):
                check_joint([less, *others])
    order = []
    with pytest.raises(ValueError, match="drawn together"):
        charge_then_draw([(together[0], [1])], Charges(order), Watched(order))
    assert order == []
    with pytest.raises(ValueError, match="claim less"):
        replace(together[0], joint=0)  # on its own it costs more than its part
    with pytest.raises(ValueError, match="charged together"):
        a_draw(joint=2)
    with pytest.raises(ValueError, match="charged together"):
        replace(together[0], joint=1)


class Charges:
    def __init__(self, order, refuse=False):
        self.order, self.refuse = order, refuse

    def __call__(self, draws):
        self.order.append(("charge", tuple(draw.key for draw in draws)))
        if self.refuse:
            code, message = "L401", "the budget is spent"
            raise BudgetError(code, message)


class Watched:
    private = True

    def __init__(self, order):
        self.order, self.source = order, TestRandomness(1)

    def draw(self, size):
        self.order.append(("draw", size))
        return self.source.draw(size)


def work():
    sums, rows = calibration.draws(q.Mean("m", "x", X), ONE, BUDGET)
    return [(sums, [-30]), (rows, [12])]


def test_everything_is_charged_before_the_first_byte_of_noise():
    order = []
    drawn = charge_then_draw(work(), Charges(order), Watched(order))
    assert order[0] == ("charge", (("m", "sum"), ("m", "rows")))
    assert [kind for kind, _ in order].count("charge") == 1
    assert [len(result.values) for result in drawn] == [1, 1]
    assert all(isinstance(result.values[0], int) for result in drawn)


def test_a_refused_charge_draws_nothing():
    order = []
    with pytest.raises(BudgetError):
        charge_then_draw(work(), Charges(order, refuse=True), Watched(order))
    assert [kind for kind, _ in order] == ["charge"]


def test_the_same_figure_cannot_be_drawn_twice_for_one_charge():
    order = []
    with pytest.raises(ValueError, match="twice"):
        charge_then_draw([*work(), work()[0]], Charges(order), Watched(order))
    assert order == []


@pytest.mark.parametrize("exact", [[], [1], [1, 2, 3, 4, 5]])
def test_a_cell_without_rows_cannot_be_left_out(exact):
    order = []
    (draw,) = calibration.draws(q.Count("c", by=q.PublicKeys(("k",), (CategoryDomain(["a", "b", "c", "d"]),))), ONE, BUDGET)
    with pytest.raises(ValueError, match="empty ones included"):
        charge_then_draw([(draw, exact)], Charges(order), Watched(order))
    assert order == []


def test_sums_of_keys_that_are_not_published_are_not_published():
    selection, sums = calibration.draws(q.Mean("m", "x", X, by=q.PrivateKeys(("k",))), ONE, BUDGET)
    drawn = charge_then_draw([(selection, [400, 1, 300]), (sums, [40, 50, -30])], Charges([]), TestRandomness(2))
    assert [value is None for value in drawn[0].values] == [False, True, False]
    assert [value is None for value in drawn[1].values] == [False, True, False]
    assert not drawn[0].private


def test_private_keys_without_their_selection_are_refused():
    _, sums = calibration.draws(q.Mean("m", "x", X, by=q.PrivateKeys(("k",))), ONE, BUDGET)
    with pytest.raises(ValueError, match="selection"):
        charge_then_draw([(sums, [1, 2])], Charges([]), TestRandomness(2))


def test_a_choice_gives_the_position_of_a_candidate():
    (draw,) = calibration.draws(q.Quantile("q", "x", NumericDomain(0, 3)), ONE, Budget(Epsilon(50)))
    (drawn,) = charge_then_draw([(draw, [[-30, -1, 0, -40]])], Charges([]), SystemRandomness())
    assert drawn.values[0] in (1, 2)
    assert drawn.private


def test_a_public_figure_passes_as_it_is():
    exactly = q.Setting(Contribution(1, exactly_one=True), Neighbours.REPLACE)
    (draw,) = calibration.draws(q.Count("c"), exactly, BUDGET)
    assert charge_then_draw([(draw, [17])], Charges([]), SystemRandomness())[0].values == (17,)


def test_a_target_says_what_is_computed():
    assert a_draw().target == Target("sum", "x", 0, 100)
