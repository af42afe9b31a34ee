"""Empirical privacy of whole runs of AIM: the lower bound stays below the claim, and above it for each planted fault.

Data sets differ by one person of two rows. An event is fixed beforehand for each part of a run: which pair the first round chooses, how far
the measurements lean to the person, how much noise the second round adds. Bounds are Clopper-Pearson's at alpha 1e-9; the claim is delta at an
epsilon, as zCDP converts the whole rho.

The data: two pairs of columns that agree in all rows but one, so that each pair is as far from its product as there are rows, and that distance is
known to less than a row whatever the noise on the columns. The person adds two rows that agree in one pair and not in the other: its score
rises by what the other's falls, the most that a choice can show.

A whole run at a claim of rho shows a choice at the most that its epsilon allows with a third to spare. The exact number of rows in a score makes a
choice reveal up to twice its epsilon; on the data above it does not, so it has data of its own (:class:`Even`), and a brute force of the score.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from privrelease.dp import envelope as envelopes
from privrelease.dp.conversion import delta_of_rho
from privrelease.dp.envelope import Envelope, Marginal
from privrelease.dp.envelope_records import Reserved
from privrelease.dp.mechanisms import DiscreteGaussian, ExponentialMechanism
from privrelease.dp.queries import Setting
from privrelease.dp.randomness import TestRandomness
from privrelease.dp.sensitivity import Contribution, Sensitivity
from privrelease.synthesis.marginals import aim as aims
from privrelease.synthesis.marginals import asking
from privrelease.synthesis.marginals.aim import aim
from privrelease.synthesis.marginals.asking import GRID, Door
from privrelease.synthesis.marginals.domain import Domain
from privrelease.synthesis.marginals.estimate import estimate
from privrelease.units import Delta, Rho
from tests.statistical.bounds import delta_bound

DOMAIN = Domain(("a", "b", "c", "d"), (2, 2, 2, 2))
WORKLOAD = {("a", "b"): 1, ("c", "d"): 1}
ROWS = 2
TWO = Setting(Contribution(ROWS))
HALF = 200_000


class Counts:
    """Two pairs that agree; ``person`` adds two rows that agree in the first and not in the second."""

    def __init__(self, *, person):
        more = ROWS if person else 0
        ab = np.array([[HALF - 1 + more, 1], [0, HALF]])
        cd = np.array([[HALF, more], [0, HALF]])
        self.known = {"a x b": ab, "c x d": cd, "a": ab.sum(1), "b": ab.sum(0), "c": cd.sum(1), "d": cd.sum(0)}

    def rows(self, query):
        return self.known[query.name].reshape(-1).astype(np.int64)


#: Values of a column of :class:`Even`, rows of its mean cell, and by how much a cell off the diagonal departs from it.
VALUES, MEAN, APART = 8, 3000, 100
EVEN_DOMAIN = Domain(("a", "b", "c", "d"), (VALUES,) * 4)


class Even:
    """Columns of even values in two pairs. In the first a diagonal is too full and all else too empty, in the second the reverse.

    A person's two rows lie on both diagonals: the first distance rises by the rows, the second falls by as many. A model that grows with the
    exact number of rows moves both distances further the same way, by three quarters of the rows, since 7 of 8 cells lie off the diagonal.
    The noise on columns cancels: it shifts a model along its margins, where surplus and deficit are balanced. Without the person the second
    distance is the larger, by about half of what the fault moves it.
    """

    def __init__(self, *, person):
        diagonal = np.eye(VALUES, dtype=np.int64)
        ab = MEAN + APART * (VALUES * diagonal - 1)
        cd = MEAN - APART * (VALUES * diagonal - 1)
        cd[:2, :2] -= 2 * diagonal[:2, :2] - 1
        ab[0, 0] += ROWS * person
        cd[0, 0] += ROWS * person
        self.known = {"a x b": ab, "c x d": cd, "a": ab.sum(1), "b": ab.sum(0), "c": cd.sum(1), "d": cd.sum(0)}

    rows = Counts.rows


def query(clique, domain=DOMAIN):
    return Marginal(" x ".join(clique), domain.shape(clique))


@pytest.fixture(autouse=True)
def _short_fits(monkeypatch):
    """What is fitted is public once it was measured: how well it is fitted changes no claim."""
    monkeypatch.setattr(aims, "_EVALUATIONS", 4)
    monkeypatch.setattr(aims, "estimate_that_stops", lambda domain, noisy, **_: estimate(domain, noisy, most=1))


def runs(event, rho, rounds, *, person, n, data=Counts):
    """How many of n whole runs show an event of their draws and answers."""
    counts = data(person=person)
    domain = EVEN_DOMAIN if data is Even else DOMAIN
    source = TestRandomness(17 + person)
    hits = 0
    for _ in range(n):
        envelope = Envelope(Reserved(Rho(rho), Delta(0)), TWO, counts, lambda _: None, source)
        aim(Door(envelope, domain, lambda clique: query(clique, domain)), WORKLOAD, rounds=rounds, cells=10_000)
        hits += bool(event(envelope.close(), envelope.answers))
    return hits


def excess(event, rho, rounds, epsilon, n, data=Counts):
    """The proven delta at ``epsilon`` less the claimed one: above 0 the claim is broken."""
    there, here = (runs(event, rho, rounds, person=person, n=n, data=data) for person in (True, False))
    return delta_bound(there, here, n, epsilon) - float(delta_of_rho(rho, Fraction(epsilon)))


# ------------------------------------------------------------------------------------------------------------ the choice of a round

#: Nearly all of rho goes to the first choice: an epsilon of about 2 there.
CHOOSING = Fraction("0.6")


@pytest.fixture
def mostly_choosing(monkeypatch):
    monkeypatch.setattr(aims, "MEASURING", Fraction(1, 10))


def chose_the_first_pair(draws, answers):
    place = next(number for number, draw in enumerate(draws) if draw.figure == "choice")
    return draws[place].query.split("|")[answers[place].answer] == "a x b"


def choice_excess():
    # one round: it gets what the columns left
    return excess(chose_the_first_pair, CHOOSING, 2, Fraction("0.5"), 1_600)


@pytest.mark.slow
def test_the_choice_of_a_round_stays_within_the_claim(mostly_choosing):
    assert choice_excess() < 0


@pytest.mark.slow
def test_a_choice_at_twice_its_epsilon_is_found_out(mostly_choosing, monkeypatch):
    choose = ExponentialMechanism.choose
    monkeypatch.setattr(
        ExponentialMechanism, "choose", lambda own, scores, source: choose(type(own)(own.scale / 2), scores, source)
    )
    assert choice_excess() > 0


@pytest.mark.slow
def test_a_sensitivity_of_1_for_weighted_scores_is_found_out(mostly_choosing, monkeypatch):
    of_one_number = Sensitivity.of_one_number
    assert aims.candidates(DOMAIN, WORKLOAD)["a", "b"] == 2
    monkeypatch.setattr(envelopes.Sensitivity, "of_one_number", lambda change: of_one_number(change // 2))
    assert choice_excess() > 0


def even_excess():
    return excess(chose_the_first_pair, CHOOSING, 2, Fraction("0.5"), 4_000, Even)


@pytest.mark.slow
def test_the_choice_between_even_pairs_stays_within_the_claim(mostly_choosing):
    assert even_excess() < 0


@pytest.mark.slow
def test_the_exact_number_of_rows_in_a_score_is_found_out(mostly_choosing, monkeypatch):
    choose = Door.choose

    def with_exact_rows(own, cliques, models, *others):
        rows = int(own.envelope._counts.rows(query(("a",), own.domain)).sum())
        return choose(own, cliques, [model * (rows / model.sum()) for model in models], *others)

    monkeypatch.setattr(Door, "choose", with_exact_rows)
    assert even_excess() > 0


# ---------------------------------------------------------------------------------------------------------------------- measurements

MEASURED = Fraction("0.5")


def leans_to_the_person(draws, answers):
    """The sum of log-likelihood ratios of all counts, against half of what a person is worth."""
    with_person, without = Counts(person=True), Counts(person=False)
    sum_, half = 0.0, 0.0
    for draw, one in zip(draws, answers, strict=True):
        if draw.figure == "cells":
            there, here = (counts.known[draw.query].reshape(-1) for counts in (with_person, without))
            moved = there - here
            sum_ += float(((one.answer - here) * moved).sum() / draw.scale)
            half += float((moved**2).sum() / draw.scale) / 2
    return sum_ > half


def test_measurements_of_a_whole_run_stay_within_the_claim():
    assert excess(leans_to_the_person, MEASURED, 6, Fraction("0.5"), 250) < 0


def test_a_sigma_from_the_wrong_share_of_rho_is_found_out(monkeypatch):
    """The noise of twelve times the rho that is charged."""
    sample = DiscreteGaussian.sample
    monkeypatch.setattr(DiscreteGaussian, "sample", lambda own, size, source: sample(type(own)(own.scale / 12), size, source))
    assert excess(leans_to_the_person, MEASURED, 6, Fraction("0.5"), 250) > 0


# ------------------------------------------------------------------------------------------------------------------------ annealing


def second_round_is_louder(draws, answers):
    del answers
    sigmas = [draw.scale for draw in draws if draw.figure == "cells"]
    return len(sigmas) > 5 and sigmas[5] < sigmas[4] / 3


def test_what_annealing_shows_stays_within_the_claim():
    assert excess(second_round_is_louder, Fraction("0.3"), 12, Fraction("0.1"), 100) < 0


def test_annealing_that_reads_an_exact_score_is_found_out(monkeypatch):
    """The exact distance of the first pair to its product decides whether the next round gets more."""
    seen = {}
    choose = Door.choose

    def reading(own, cliques, models, rho, penalties, weights):
        exact = own.envelope._counts.rows(query(("a", "b"))) * GRID
        pair = cliques.index(("a", "b"))
        seen["score"] = int(np.abs(exact - asking.steps_of(models[pair])).sum())
        seen["without"] = int(np.abs(Counts(person=False).rows(query(("a", "b"))) * GRID - asking.steps_of(models[pair])).sum())
        return choose(own, cliques, models, rho, penalties, weights)

    monkeypatch.setattr(Door, "choose", reading)
    monkeypatch.setattr(aims, "_settled", lambda *_: seen["score"] <= seen["without"])
    there, here = (runs(second_round_is_louder, Fraction("0.3"), 12, person=person, n=100) for person in (False, True))
    assert delta_bound(there, here, 100, 0.1) > float(delta_of_rho(Fraction("0.3"), Fraction("0.1")))


# ------------------------------------------------------------------------------------------------------- the exact number of rows


def test_the_exact_number_of_rows_in_a_score_moves_it_further_than_its_sensitivity():
    """Eight values that agree: the model's mass lies off the diagonal, where it is above the counts, and would grow with each row."""
    rows = 8  # of one person: a whole number of steps in each cell of the model
    ab = np.diag(np.full(8, 1000))
    more = ab.copy()
    more[0, 0] += rows

    def score(counts, total):
        return int(np.abs(counts * GRID - asking.steps_of(np.full((8, 8), total / 64)).reshape(8, 8)).sum())

    assert abs(score(more, 8000) - score(ab, 8000)) == rows * GRID  # a noisy total, the same for both
    assert abs(score(more, 8000 + rows) - score(ab, 8000)) > 1.4 * rows * GRID
