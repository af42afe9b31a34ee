"""DPCocGen: what it asks, what its grid follows from, how both measurements become rows; odd data and odd domains."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from privrelease.dp.queries import Setting
from privrelease.dp.randomness import TestRandomness
from privrelease.dp.sensitivity import Contribution
from privrelease.errors import PolicyError
from privrelease.synthesis.domain import CodedColumn, CodedDomain, StructuralZero
from privrelease.synthesis.dpcocgen import DPCOCGEN, expanded
from privrelease.synthesis.method import Held
from privrelease.synthesis.modl.frequencies import Frequencies
from privrelease.synthesis.modl.search import cocluster
from privrelease.units import Epsilon, Rho

SETTINGS = {"split": "1/2", "max_cells": 0, "refine": True}
#: Two groups of rows by two of columns, 9 x 6.
BLOCKS = np.kron(np.array([[60, 2], [1, 30]]), np.ones((3, 3), int))
BLOCKS = np.vstack([BLOCKS, BLOCKS[:3]])


def fitted(envelope, domain, **settings):
    return DPCOCGEN.fit(envelope, domain, SETTINGS | settings, lambda *_: None)


@pytest.mark.parametrize("refine", [True, False])
def test_the_two_measurements_cost_what_was_split(domain, opened, refine):
    envelope = opened(domain(9, 6), BLOCKS, epsilon="8")
    model = fitted(envelope, domain(9, 6), split="1/4", refine=refine)
    (first, second) = envelope.seen
    assert first[:4] == ("measure", "a x b", 54, "2")
    assert second[:4] == ("measure", f"a x b in {model.level.cells} groups", model.level.cells, "6")
    assert model.level.cells == 4


@pytest.mark.parametrize("delta", ["0", "1e-6"])
def test_nothing_but_noisy_answers_decides(domain, opened, delta):
    """The same answers over other data: the same questions, grid and weights."""
    envelope = opened(domain(9, 6), BLOCKS, delta=delta)
    model = fitted(envelope, domain(9, 6))
    again = opened(domain(9, 6), np.zeros((9, 6)), delta=delta, stored=envelope.answers)
    other = fitted(again, domain(9, 6))
    assert again.seen == envelope.seen
    assert model.level.grid.same(other.level.grid)
    assert (model.weights == other.weights).all()
    assert (model.total, model.facts()) == (other.total, other.facts())


def test_published_rows_are_even_inside_a_cell(domain, opened):
    model = fitted(opened(domain(9, 6), BLOCKS), domain(9, 6), refine=False)
    groups = expanded(model.level)
    for group in range(model.level.cells):
        assert np.ptp(model.weights[groups == group]) == 0
    assert model.weights.sum() == pytest.approx(model.total)


def test_refined_rows_add_up_to_the_combined_total_and_follow_the_first_measurement(domain, opened):
    envelope = opened(domain(9, 6), BLOCKS, epsilon="1/10")
    model = fitted(envelope, domain(9, 6))
    assert model.weights.min() >= 0
    assert model.weights.sum() == pytest.approx(model.total)
    first = np.array(envelope.seen[0][-1])
    groups = expanded(model.level)
    for group in range(model.level.cells):
        inside = groups == group
        kept = inside & (model.weights > 0)
        if kept.any():
            assert np.ptp(first[kept] - model.weights[kept]) < 1e-6  # a projection takes the same from each


def test_a_cell_is_the_mean_by_inverse_variance(domain, opened):
    """One cell of the grid over m = 4 cells: the first release counts 1/(4 r) as much as the second, r the ratio of variances."""
    one = domain(2, 2)
    envelope = opened(one, [[500, 480], [510, 490]], epsilon="2")
    model = fitted(envelope, one, max_cells=1, split="1/4")
    first, second = (np.array(seen[-1]) for seen in envelope.seen)

    def variance(epsilon):
        a = np.exp(-epsilon)
        return 2 * a / (1 - a) ** 2

    weights = np.array([1 / (4 * variance(0.5)), 1 / variance(1.5)])
    assert model.total == round((weights * [first.sum(), second[0]]).sum() / weights.sum())


def test_a_coarser_level_of_the_hierarchy_can_be_taken(domain, opened):
    model = fitted(opened(domain(9, 6), BLOCKS, epsilon="8"), domain(9, 6), max_cells=3)
    assert model.level.cells == 2
    assert model.found.best.cells == 4
    assert dict(model.facts().figures)["finest_grid_cells"] == 4


def test_what_is_impossible_is_never_drawn(domain, opened):
    mask = np.zeros((9, 6), bool)
    mask[:3, :2] = True
    ruled = domain(9, 6, zeros=[StructuralZero((0, 1), mask)])
    for refine in (True, False):
        model = fitted(opened(ruled, BLOCKS), ruled, refine=refine)
        assert (model.weights.reshape(9, 6)[mask] == 0).all()
        assert not ruled.impossible(model.draw(2000, TestRandomness(1))).any()


def test_values_that_no_row_can_have_take_no_part_in_the_co_clustering(domain, opened):
    """The grid, its costs and its parts are those of the domain without them, given the same noisy counts."""
    here = np.ones((9, 6), bool)
    here[[0, 4], :] = False
    here[:, 5] = False
    zeros = [StructuralZero((0,), ~here.any(1)), StructuralZero((1,), ~here.any(0))]
    ruled = domain(9, 6, ordered="b", zeros=zeros)
    joint = np.where(here, BLOCKS, 0)
    envelope = opened(ruled, joint, epsilon="8")
    model = fitted(envelope, ruled, refine=False)
    kept = np.maximum(np.array(envelope.seen[0][-1]).reshape(9, 6), 0)[np.ix_([1, 2, 3, 5, 6, 7, 8], range(5))]
    alone = cocluster(Frequencies.of(kept, (False, True)))
    assert [one.cost for one in model.found.levels] == [one.cost for one in alone.levels]
    for parts, inside, values in zip(model.level.grid.parts, alone.best.grid.parts, model.held, strict=True):
        assert (parts[values] == inside).all()
    named = {label for *_, labels in model.facts().tables[0].rows for label in labels.split(", ")}
    assert named.isdisjoint({"a0", "a4"})
    assert ("b", 2, 2, "b3, b4") in model.facts().tables[0].rows  # the missing cell is impossible
    assert not ruled.impossible(model.draw(500, TestRandomness(2))).any()


def test_each_cell_of_the_grid_gets_the_rows_that_were_counted_in_it(domain, opened):
    envelope = opened(domain(9, 6), BLOCKS, epsilon="8")
    model = fitted(envelope, domain(9, 6), refine=False)
    codes = model.draw(model.total, TestRandomness(3))
    groups = expanded(model.level)[np.ravel_multi_index(tuple(codes.T), (9, 6))]
    assert (np.abs(np.bincount(groups, minlength=model.level.cells) - np.array(envelope.seen[1][-1])) <= 1).all()


@pytest.mark.parametrize("refine", [True, False])
@pytest.mark.parametrize("sizes", [(9, 6), (2, 1, 3), (1, 1), (5,)])
def test_no_rows_and_columns_of_one_value_do(domain, opened, refine, sizes):
    small = domain(*sizes)
    for seed in range(5):
        model = fitted(opened(small, np.zeros(sizes), epsilon="1/10", seed=seed), small, refine=refine)
        codes = model.draw(100, TestRandomness(seed))
        assert codes.shape == (100, len(sizes))
        assert (codes < np.array(sizes)).all()
        assert (codes >= 0).all()
        assert model.total >= 0


@pytest.mark.parametrize("refine", [True, False])
@pytest.mark.parametrize("max_cells", [0, 1])
def test_noisy_counts_that_are_all_0_give_one_cell_and_even_rows(domain, opened, refine, max_cells, monkeypatch):
    one = domain(9, 6)
    envelope = opened(one, np.zeros((9, 6)))
    monkeypatch.setattr(envelope, "measure", lambda query, _: np.zeros(query.size, np.int64))
    model = fitted(envelope, one, refine=refine, max_cells=max_cells)
    assert (model.level.cells, model.total) == (1, 0)
    assert np.ptp(model.weights) == 0
    assert len(np.unique(model.draw(54, TestRandomness(1)), axis=0)) == 54


def test_the_facts_name_the_parts_and_the_hierarchy(domain, opened):
    facts = fitted(opened(domain(9, 6, ordered="b"), BLOCKS, epsilon="8"), domain(9, 6, ordered="b")).facts()
    parts, hierarchy = facts.tables
    assert parts.rows == (
        ("a", 1, 6, "a0, a1, a2, a6, a7, missing"),
        ("a", 2, 3, "a3, a4, a5"),
        ("b", 1, 3, "b0 … b2"),
        ("b", 2, 3, "b3 … missing"),
    )
    assert [cells for cells, _ in hierarchy.rows] == [4, 2, 1]


def test_more_records_than_are_co_clustered_are_scaled(domain, opened):
    model = fitted(opened(domain(9, 6), BLOCKS * 10_000), domain(9, 6))
    assert model.level.cells >= 4
    assert model.total == pytest.approx(int(BLOCKS.sum()) * 10_000, rel=0.001)


# ------------------------------------------------------------------------------------------------------------------- forecasts


@pytest.mark.parametrize(("loss", "share"), [(Epsilon(1), "1/4"), (Rho(1), "1/4")])
def test_the_forecast_states_both_measurements(domain, loss, share):
    found = DPCOCGEN.forecast(domain(9, 6), SETTINGS | {"split": share, "max_cells": 144}, Held(loss, Setting(Contribution(1))))
    joint, grid = found.steps
    assert (joint.loss, joint.cells) == (type(loss)(Fraction(1, 4)), 54)
    assert (grid.loss, grid.cells) == (type(loss)(Fraction(3, 4)), 144)
    assert joint.error > grid.error


def test_a_column_of_too_many_values_is_refused_by_its_name():
    domain = CodedDomain((CodedColumn("code", tuple(map(str, range(5000)))), CodedColumn("sex", ("F", "M", "missing"))))
    with pytest.raises(PolicyError, match=r"DP141.*code.*5000"):
        DPCOCGEN.forecast(domain, SETTINGS, Held(Epsilon(1), Setting(Contribution(1))))
