"""PrivBayes: largest useful sets of parents, what is asked, what it follows from, the law of the rows; odd data and odd settings."""

from __future__ import annotations

from itertools import combinations
from math import prod

import numpy as np
import pytest
from scipy import stats

from privrelease.dp.queries import Setting
from privrelease.dp.randomness import TestRandomness
from privrelease.dp.sensitivity import Contribution, Neighbours
from privrelease.errors import InputError, PolicyError
from privrelease.synthesis.domain import CodedColumn, CodedDomain, StructuralZero
from privrelease.synthesis.method import Held
from privrelease.synthesis.privbayes import PRIVBAYES, Conditional, NetworkModel, most_parents, useful_parents
from privrelease.synthesis.sampling import without_impossible
from privrelease.units import Epsilon, Rho

THETA = {"theta": "4", "degree": None}
SIZES = (4, 3, 2, 3)


def chained(many=8000, seed=1):
    """a -> b -> c, and d by itself: counts of a joint."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 4, many)
    b = np.where(rng.random(many) < 0.9, a % 3, rng.integers(0, 3, many))
    c = np.where(rng.random(many) < 0.9, b % 2, rng.integers(0, 2, many))
    joint = np.zeros(SIZES, int)
    np.add.at(joint, (a, b, c, rng.integers(0, 3, many)), 1)
    return joint


def fitted(envelope, domain, settings=THETA):
    return PRIVBAYES.fit(envelope, domain, settings, lambda *_: None)


def test_the_largest_useful_sets_are_those_of_a_plain_search():
    rng = np.random.default_rng(2)
    for _ in range(100):
        sizes = rng.integers(1, 7, 6).tolist()
        placed, most, limit = [0, 2, 3, 5], int(rng.integers(0, 4)), int(rng.integers(1, 200))
        fitting = [
            set(chosen)
            for many in range(most + 1)
            for chosen in combinations(placed, many)
            if not chosen or sizes[1] * prod(sizes[one] for one in chosen) <= limit
        ]
        largest = [one for one in fitting if not any(one < other for other in fitting)]
        found = list(useful_parents(1, placed, sizes, most, limit))
        assert sorted(map(sorted, largest)) == sorted(map(list, found))


def test_a_column_that_fits_with_none_has_no_parents():
    assert list(useful_parents(1, [0], [5, 100], 3, 10)) == [()]


def test_choices_and_measurements_share_the_budget(domain, opened):
    envelope = opened(domain(*SIZES), chained(), epsilon="4")
    fitted(envelope, domain(*SIZES))
    losses = [(kind, loss) for kind, *_, loss, _ in envelope.seen]
    assert losses == [("measure", "7/10"), *[("select", "2/5")] * 3, *[("measure", "7/10")] * 3]
    assert envelope.left.loss.value < 0.01


def test_everything_that_is_asked_was_declared(domain, opened):
    declared = {" x ".join(columns) for columns in PRIVBAYES.asks(("a", "b", "c", "d"), THETA)}
    envelope = opened(domain(*SIZES), chained(), epsilon="4")
    fitted(envelope, domain(*SIZES))
    for kind, asked, *_ in envelope.seen:
        assert set(asked if kind == "select" else [asked]) <= declared


@pytest.mark.parametrize("delta", ["0", "1e-6"])
def test_nothing_but_noisy_answers_decides(domain, opened, delta):
    """The same answers over other data (of another number of rows): the same questions and model."""
    envelope = opened(domain(*SIZES), chained(), delta=delta)
    model = fitted(envelope, domain(*SIZES))
    again = opened(domain(*SIZES), np.ones(SIZES), delta=delta, stored=envelope.answers)
    other = fitted(again, domain(*SIZES))
    assert again.seen == envelope.seen
    assert (model.total, model.limit, model.facts()) == (other.total, other.limit, other.facts())


def test_the_network_finds_what_depends_on_what(domain, opened):
    model = fitted(opened(domain(*SIZES), chained(), epsilon="20"), domain(*SIZES), {"theta": None, "degree": 1})
    edges = {frozenset(("abcd"[one.column], "abcd"[parent])) for one in model.network for parent in one.parents}
    assert {frozenset("ab"), frozenset("bc")} <= edges


def test_theta_limits_the_degree_by_the_noisy_total(domain, opened):
    """Error of a cell at epsilon 7/40: 5.69; 8,000 rows / (4 · 5.69) = 351 cells, and 80,000 / ... take all of them."""
    model = fitted(opened(domain(*SIZES), chained()), domain(*SIZES), {"theta": "4", "degree": None})
    assert 340 < model.limit < 362
    high = fitted(opened(domain(*SIZES), chained()), domain(*SIZES), {"theta": "100", "degree": None})
    assert max(len(one.parents) for one in high.network) < max(len(one.parents) for one in model.network)
    assert dict(high.facts().figures)["degree"] == max(len(one.parents) for one in high.network)


def test_where_theta_allows_no_parent_nothing_is_chosen(domain, opened):
    envelope = opened(domain(*SIZES), chained(60))
    model = fitted(envelope, domain(*SIZES), {"theta": "1000", "degree": None})
    assert all(not one.parents for one in model.network)
    assert [seen[0] for seen in envelope.seen] == ["measure"] * 4


def test_rows_follow_the_conditional_distributions(domain):
    small = domain(2, 3, 2)
    tables = (
        Conditional(1, (), np.array([[0.2, 0.5, 0.3]])),
        Conditional(0, (1,), np.array([[0.9, 0.1], [0.0, 1.0], [0.5, 0.5]])),
        Conditional(2, (0, 1), np.array([[0.3, 0.7], [1.0, 0.0], [0.6, 0.4], [0.2, 0.8], [0.5, 0.5], [0.9, 0.1]])),
    )
    many = 200_000
    codes = NetworkModel(small, tables, many, 100).draw(many, TestRandomness(4))
    found = np.zeros((2, 3, 2))
    np.add.at(found, tuple(codes.T), 1)
    expected = np.array(
        [
            [
                [tables[0].table[0, b] * tables[1].table[b, a] * tables[2].table[a * 3 + b, c] for c in range(2)]
                for b in range(3)
            ]
            for a in range(2)
        ]
    )
    assert (found[expected == 0] == 0).all()
    held = expected > 0
    assert stats.chisquare(found[held], many * expected[held] / expected.sum()).pvalue > 1e-9


def test_what_is_impossible_is_never_drawn(domain, opened):
    mask = np.zeros((4, 3), bool)
    mask[0, 1:] = True
    ruled = domain(*SIZES, zeros=[StructuralZero((0, 1), mask)])
    model = fitted(opened(ruled, chained(), epsilon="1/4"), ruled)
    assert not ruled.impossible(model.draw(3000, TestRandomness(2))).any()


@pytest.mark.parametrize("sizes", [(4, 3, 2, 3), (5,), (1, 1), (2, 1, 3)])
@pytest.mark.parametrize("settings", [THETA, {"theta": None, "degree": 2}])
def test_no_rows_one_column_and_columns_of_one_value_do(domain, opened, sizes, settings):
    small = domain(*sizes)
    for seed in range(5):
        model = fitted(opened(small, np.zeros(sizes), epsilon="1/10", seed=seed), small, settings)
        codes = model.draw(100, TestRandomness(seed))
        assert codes.shape == (100, len(sizes))
        assert (codes < np.array(sizes)).all()
        assert model.total >= 0


# ------------------------------------------------------------------------------------------------------------------- forecasts


def held(loss, neighbours=Neighbours.ADD_REMOVE):
    return Held(loss, Setting(Contribution(1), neighbours))


@pytest.mark.parametrize("loss", [Epsilon(1), Rho(1)])
def test_the_forecast_states_choices_measurements_and_rows_for_a_degree(domain, loss):
    found = PRIVBAYES.forecast(domain(*SIZES), THETA, held(loss))
    choice, marginal = found.steps
    assert (choice.times, marginal.times) == (3, 4)
    assert 3 * choice.loss.value + 4 * marginal.loss.value == 1
    needed = [int(note.split()[-3]) for note in found.notes]
    # cells of the smallest marginals of 2, 3 and 4 columns times theta and the expected error of a cell
    assert needed == [round(4 * marginal.error * cells) for cells in (6, 18, 72)]


def test_a_theta_that_no_data_reaches_is_refused(domain):
    with pytest.raises(PolicyError, match="DP143"):
        PRIVBAYES.forecast(domain(*SIZES), {"theta": "1000000", "degree": None}, held(Epsilon("1/10000")))


def test_more_marginals_than_can_be_counted_are_refused(domain):
    columns = domain(*[2] * 8)
    assert PRIVBAYES.forecast(columns, {"theta": None, "degree": 7}, held(Epsilon(1))).notes == ()
    many = type(columns)(tuple(type(columns.columns[0])(f"c{at:02}", ("x", "missing")) for at in range(30)))
    with pytest.raises(PolicyError, match=r"DP142.*degree"):
        PRIVBAYES.forecast(many, {"theta": None, "degree": 5}, held(Epsilon(1)))


def test_parents_are_limited_by_the_marginals_of_many_columns():
    assert [most_parents(columns, None) for columns in (1, 2, 5, 20, 30, 99)] == [0, 1, 4, 3, 2, 1]


def test_few_possible_rows_are_drawn_from_among_many_that_are_not():
    """One row in 500 is possible: of so few, 64 draws for each row would leave nearly all undone."""
    mask = np.ones(500, np.bool_)
    mask[7] = False
    domain = CodedDomain((CodedColumn("a", tuple(map(str, range(500)))),), (StructuralZero((0,), mask),))
    made = np.random.default_rng(1)
    rows = without_impossible(lambda many: made.integers(0, 500, (many, 1)).astype(np.int32), domain, 300)
    assert rows.tolist() == [[7]] * 300


def test_rules_that_leave_no_row_of_the_model_are_an_error_of_the_policy():
    domain = CodedDomain((CodedColumn("a", ("x", "y")),), (StructuralZero((0,), np.array([True, False])),))
    with pytest.raises(InputError, match="next to no row") as caught:
        without_impossible(lambda many: np.zeros((many, 1), np.int32), domain, 3)
    assert caught.value.code == "D272"
