"""AIM: its scores move by at most their sensitivity, its rounds spend exactly what there is, and its model stays within its size."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise, product

import numpy as np
import pytest

from privrelease.dp.queries import Setting
from privrelease.dp.sensitivity import Contribution, Neighbours
from privrelease.synthesis.marginals.aim import MEASURING, aim, candidates, default_rounds
from privrelease.synthesis.marginals.asking import GRID, deviation, noise_steps
from privrelease.synthesis.marginals.domain import Domain
from privrelease.synthesis.marginals.junction_tree import junction_tree
from tests.unit.synthesis.marginals.asked import ONE, Recording, door

DOMAIN = Domain(("a", "b", "c"), (2, 3, 2))
#: a decides b, nearly; c is on its own.
JOINT = np.array([[[60, 40], [3, 2], [0, 1]], [[5, 3], [1, 2], [45, 38]]])
PAIRS = dict.fromkeys(combinations(DOMAIN.names, 2), 1)


def run(rho="1/2", *, workload=PAIRS, rounds=12, cells=1000, **more):
    at = door(DOMAIN, JOINT, rho, kind=Recording, **more)
    return at, aim(at, workload, rounds=rounds, cells=cells)


@pytest.mark.parametrize("neighbours", list(Neighbours))
@pytest.mark.parametrize("weight", [1, 5])
def test_a_score_moves_by_at_most_its_sensitivity_between_all_neighbours(neighbours, weight):
    """Every score that a run asks for, every row that a person of up to two rows may add (or replace), all at once; the bound is met."""
    setting = Setting(Contribution(2), neighbours)
    at, _ = run("2", workload={("a", "b"): weight, ("b", "c"): 1}, setting=setting)
    draws = [draw for draw in at.envelope.close() if draw.figure == "choice"]
    asked = [one for one in at.envelope.questions if one[0] == "select"]
    cells = list(product(*map(range, DOMAIN.sizes)))
    persons = [(), *((cell,) for cell in cells), *combinations(cells, 2), *((cell, cell) for cell in cells)]
    reached = 0
    for draw, (_, queries, scores, _, grid) in zip(draws, asked, strict=True):
        declared = draw.sensitivity.l1
        assert declared == max(score.weight for score in scores) * grid * (2 if neighbours is Neighbours.ADD_REMOVE else 4)
        for query, score in zip(queries, scores, strict=True):
            assert score.model.dtype.kind == "i"
            places = [DOMAIN.names.index(name) for name in query.name.split(" x ")]
            exact = DOMAIN.project(JOINT, DOMAIN.names, tuple(query.name.split(" x "))).reshape(-1)
            found = []
            for rows in persons:
                more = exact.copy()
                for row in rows:
                    more[np.ravel_multi_index([row[place] for place in places], query.shape)] += 1
                found.append(score.weight * (int(np.abs(more * grid - score.model).sum()) - score.penalty))
            moved = max(found) - min(found) if neighbours is Neighbours.REPLACE else max(abs(one - found[0]) for one in found)
            assert moved <= declared
            reached = max(reached, moved / declared)
    assert reached == 1


def test_the_whole_budget_is_spent_and_every_share_is_what_the_paper_says():
    at, fit = run()
    draws = at.envelope.close()
    spent = sum(
        (2 * Fraction(d.sensitivity.l1) / d.scale) ** 2 / 8
        if d.figure == "choice"
        else Fraction(d.sensitivity.l2_squared) / (2 * d.scale)
        for d in draws
    )
    assert (
        Fraction("0.4999") < spent <= Fraction(1, 2)
    )  # sigma squared is rounded up to a 4096th, and what is left by that is nothing
    first = at.envelope.questions[: len(DOMAIN.names)]
    assert [(kind, query.name, rho.value) for kind, query, rho in first] == [
        ("measure", name, Fraction(1, 2) * MEASURING / 12) for name in DOMAIN.names
    ]
    rounds = at.envelope.questions[len(DOMAIN.names) :]
    assert [one[0] for one in rounds] == ["select", "measure"] * (len(rounds) // 2)
    assert len(rounds) // 2 <= 12
    costs = [one[2].value for one in rounds if one[0] == "measure"]  # the last one is all that is left
    assert all(later in {before, 4 * before} for before, later in pairwise(costs[:-1]))
    assert fit.model.total == pytest.approx(200, abs=60)


def test_what_the_model_fits_worst_is_chosen_and_then_fitted():
    at, fit = run("200")
    chosen = [one[1].name for one in at.envelope.questions if one[0] == "measure"][3]
    assert chosen == "a x b"
    np.testing.assert_allclose(fit.model.marginal(("a", "b")), JOINT.sum(axis=2), atol=2)


def test_a_penalty_is_the_expected_norm_of_the_noise_in_steps():
    assert noise_steps(Fraction(1, 8), 6, ONE) == round(16 * 0.7978845608 * 2 * 6) == 153
    assert deviation(Fraction(1, 8), Setting(Contribution(3))) == pytest.approx(6)
    at, _ = run()
    _, queries, scores, rho, grid = next(one for one in at.envelope.questions if one[0] == "select")
    assert grid == GRID
    assert rho.value == Fraction(1, 2) / 10 / 12
    assert [score.penalty for score in scores] == [noise_steps(Fraction(1, 2) * MEASURING / 12, q.size, ONE) for q in queries]


def test_the_weight_of_a_candidate_is_its_overlap_with_the_workload():
    domain = Domain(("a", "b", "c", "d"), (2, 2, 2, 2))
    workload = {("a", "b", "c"): 2, ("c", "d"): 5}
    by_hand = {
        part: sum(weight * len(set(part) & set(clique)) for clique, weight in workload.items())
        for part in candidates(domain, workload)
    }
    assert candidates(domain, workload) == by_hand  # 2 and 7 have no common factor
    assert set(by_hand) == {("a",), ("b",), ("c",), ("d",), ("a", "b"), ("a", "c"), ("b", "c"), ("a", "b", "c"), ("c", "d")}
    assert candidates(domain, {("a",): 3, ("b",): 6}) == {("a",): 1, ("b",): 2}
    scaled = candidates(domain, {("a",): 10_000, ("b",): 1})
    assert scaled == {("a",): 1024, ("b",): 1}  # never 0, and within what a score may weigh


@pytest.mark.parametrize("cells", [7, 12, 20])
def test_the_model_stays_within_its_size_and_the_size_that_is_allowed_grows_with_what_is_spent(cells):
    triples = {("a", "b", "c"): 1}
    at, fit = run("3", workload=triples, cells=cells)
    measured = [tuple(one[1].name.split(" x ")) for one in at.envelope.questions if one[0] == "measure"]
    assert junction_tree(DOMAIN, measured).cells <= max(cells, sum(DOMAIN.sizes))
    if cells == 7:
        assert all(len(one) == 1 for one in measured)
    spent = Fraction(0)
    held = [(name,) for name in DOMAIN.names]
    for question in at.envelope.questions:
        if question[0] == "select":
            for query in question[1]:
                clique = tuple(query.name.split(" x "))
                there = len(clique) == 1 or any(set(clique) <= set(one) for one in held)
                assert there or junction_tree(DOMAIN, [*held, clique]).cells <= cells
        else:
            held.append(tuple(question[1].name.split(" x ")))
        spent += question[-1].value if question[0] == "measure" else 0
    assert fit.model.total > 0


def test_no_method_asks_for_anything_but_what_the_envelope_answers():
    """The counts are behind the envelope: they are asked for by the envelope alone, only for declared marginals."""
    at, _ = run()
    declared = {" x ".join(clique) for clique in candidates(DOMAIN, PAIRS)}
    assert set(at.envelope._counts.asked) <= declared
    for kind, *given in at.envelope.questions:
        assert kind in {"measure", "select"}
        names = {one.name for one in (given[0] if kind == "select" else given[:1])}
        assert names <= declared


def test_the_same_answers_lead_to_the_same_questions():
    at, first = run(seed=5)
    stored = at.envelope.answers
    again = door(DOMAIN, JOINT * 0, "1/2", seed=6)
    again.envelope._stored = stored
    second = aim(again, PAIRS, rounds=12, cells=1000)
    assert again.envelope.close() == at.envelope.close()
    np.testing.assert_array_equal(second.model.marginal(DOMAIN.names), first.model.marginal(DOMAIN.names))
    assert again.envelope._counts.asked == []


def test_rounds_are_16_a_column():
    assert default_rounds(5) == 80
