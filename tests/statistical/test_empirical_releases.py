"""Empirical privacy of whole releases: what their figures, as the command line computes and noises them, tell of one person.

A release is run over two neighbouring data sets; its draws and exact figures are caught at the door, and drawn anew n times from the very noise
that the run would use. The event is fixed beforehand by the claimed laws: the likelihood ratio of the two data sets is at its largest (Laplace),
at the budget's epsilon or above (Gaussian), or in the set of outcomes that the exact law of the choices tells apart best. Clopper-Pearson bounds at
alpha = 1e-9 then bound epsilon, or delta at the budget's epsilon, from below: never above the budget of the policy as built, and above it
for each planted fault, with power of at least 0.99 at the fault's own probabilities. Queries alone are in test_empirical_privacy.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from privrelease.dp import composition, sensitivity
from privrelease.dp.accountants import pld, zcdp
from privrelease.dp.composition import Apart
from privrelease.dp.mechanisms import PermuteAndFlip, Thresholding
from privrelease.dp.randomness import TestRandomness
from privrelease.dp.sensitivity import Neighbours
from tests.statistical.bounds import delta_bound, epsilon_bound, has_power, lower
from tests.statistical.door import caught, data_of, planted, policy_of

N = 40_000
CHOICES = 15_000
EPSILON = 1.0
DELTA = 0.01

BASE = [("p1", "a", "u", "1", "0.5"), ("p2", "b", "v", "", "1"), ("p3", "c", "v", "3", "")]
FAR = ("z", "w", "5", "1.5")


@dataclass(frozen=True)
class Case:
    """A release, and the rows of the person who makes the difference; ``other``: of who stands in their place under replace."""

    queries: dict
    person: tuple
    rows: int = 1
    groups: int | None = None
    other: tuple = ()
    budget: str = "epsilon: 1"

    def runs(self, *faults):
        relation = Neighbours.REPLACE if self.other else Neighbours.ADD_REMOVE
        text = policy_of(self.queries, self.budget, rows=self.rows, groups=self.groups, relation=relation)
        tables = [[*BASE, *(("p9", *row) for row in held)] for held in (self.person, self.other)]
        with planted(*faults):
            return [caught(text, data_of(table)) for table in tables]


MADE = {}


def as_built(case):
    """The two runs of a case without a fault, made once."""
    if repr(case) not in MADE:
        MADE[repr(case)] = case.runs()
    return MADE[repr(case)]


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch, visible_deltas):
    monkeypatch.chdir(tmp_path)


# ------------------------------------------------------------------------------------------------------------------- noisy numbers


def additive(run):
    """The draws that add noise, with their figures."""
    return [(draw, np.array(figures)) for draw, figures in run.work if draw.noise is not None]


def log_ratio(one, other, n, seed):
    """The log likelihood ratio of the two data sets, by the claimed laws, of n releases of the first; and of n of the second."""
    source = TestRandomness(seed)
    found = []
    for left in (one, other):
        ratio = np.zeros(n)
        for (draw, figures), (_, here), (_, there) in zip(additive(left), additive(one), additive(other), strict=True):
            moved = here != there
            if not moved.any():
                continue
            noise = draw.noise.sample(n * int(moved.sum()), source).reshape(n, -1)
            near, far = (np.abs(figures[moved] + noise - exact[moved]).astype(float) for exact in (here, there))
            scale = float(draw.scale)
            each = (far - near) / scale if draw.mechanism == "discrete_laplace" else (far**2 - near**2) / (2 * scale)
            ratio += each.sum(axis=1)
        found.append(ratio)
    return found


def loss(one, other):
    """The largest log likelihood ratio of Laplace noise: reached."""
    pairs = zip(additive(one), additive(other), strict=True)
    return float(sum(int(np.abs(here - there).sum()) / draw.scale for (draw, here), (_, there) in pairs))


def of_laplace(one, other, seed, n=N):
    """(lower bound on epsilon, share of the event in each)."""
    at = loss(one, other) - 1e-9
    hits, misses = (int((ratio >= at).sum()) for ratio in log_ratio(one, other, n, seed))
    return epsilon_bound(hits, misses, n), hits / n, misses / n


def of_gaussian(one, other, seed):
    """(lower bound on delta at the budget's epsilon, share of the event in each)."""
    hits, misses = (int((ratio >= EPSILON).sum()) for ratio in log_ratio(one, other, N, seed))
    return delta_bound(hits, misses, N, EPSILON), hits / N, misses / N


def beyond_epsilon(hits, misses):
    return epsilon_bound(hits, misses, N) > EPSILON


def beyond_delta(hits, misses):
    return delta_bound(hits, misses, N, EPSILON) > DELTA


PARTS = {
    name: f"count_persons: {{where: {where}}}"
    for name, where in {"low": "n < 1", "mid": "n >= 1 AND n < 3", "top": "n >= 3"}.items()
}

LAPLACE = {
    "contingency": Case(
        {"table": "count: true, by: [g], keys: {g: [a, b]}"}, (("a", "w", "5", "1"), ("b", "w", "5", "1")), rows=2
    ),
    "other keys": Case({"rest": "count: true, by: [g], keys: {g: [a]}, other: true"}, (FAR, ("q", "w", "1", "1")), rows=2),
    "persons of other keys": Case({"rest": "count_persons: true, by: [g], other: true"}, (FAR, ("b", "w", "1", "1")), rows=2),
    "bins outside": Case(
        {"bands": "histogram: n, bins: {edges: [0, 2, 4]}, other: true"}, (FAR, ("a", "u", "-2", "1")), rows=2
    ),
    "filled sum": Case({"sum": "sum: x, fill: 1.5"}, (("a", "u", "1", ""),)),
    "filled mean under replace": Case({"mean": "mean: x, fill: 0"}, (("a", "u", "1", ""),), other=(FAR,)),
    "deviation": Case({"spread": "stddev: n"}, (FAR,)),
    "parts": Case(PARTS, (("a", "u", "0", "1"),)),
    "parts of several rows": Case(PARTS, (("a", "u", "0", "1"), ("a", "u", "4", "1")), rows=2),
    "parts under replace": Case(PARTS, (("a", "u", "0", "1"),), other=(("a", "u", "4", "1"),)),
}


@pytest.mark.parametrize("name", LAPLACE)
def test_no_release_of_laplace_noise_tells_more_than_its_budget(name):
    bound, *_ = of_laplace(*as_built(LAPLACE[name]), 301)
    assert 0.25 < bound <= EPSILON  # the event happens, and the bound says something


@pytest.mark.slow
@pytest.mark.parametrize("name", LAPLACE)
def test_of_a_million_releases_the_bound_comes_near_the_largest_loss_and_not_above_the_budget(name):
    runs = as_built(LAPLACE[name])
    bound, *_ = of_laplace(*runs, 312, 1_000_000)
    assert loss(*runs) - 0.1 < bound <= EPSILON


@pytest.mark.parametrize("name", LAPLACE)
def test_a_scale_that_is_too_small_tells_more(name):
    # three draws, each with a third of the budget, happen to be at their largest together once in eight times: the bound is wider
    factor = Fraction(1, 2) if name in {"deviation", "bins outside"} else Fraction(3, 4)
    honest = as_built(LAPLACE[name])
    cheap = [replace(run, work=tuple((thinned(draw, factor), figures) for draw, figures in run.work)) for run in honest]
    bound, p, r = of_laplace(*cheap, 302)
    assert has_power(p, r, N, beyond_epsilon)
    assert bound > EPSILON


def thinned(draw, factor):
    """The draw with noise of a smaller scale."""
    return forged(draw, scale=draw.scale * factor) if draw.mechanism == "discrete_laplace" else draw


def forged(draw, **changes):
    """The draw changed past its own check, which refuses a claim that is below the cost."""
    found = object.__new__(type(draw))
    for one in fields(draw):
        object.__setattr__(found, one.name, changes.get(one.name, getattr(draw, one.name)))
    return found


def overlapping():
    return (composition, "disjoint", lambda *_: True)


def without(kind):
    """Sensitivity for one row less, or for adding and removing."""
    real = sensitivity.of_group_counts
    if kind == "a row less":
        return (sensitivity, "of_group_counts", lambda c, n: real(replace(c, max_rows=c.max_rows - 1), n))
    return (sensitivity, "of_group_counts", lambda c, _: real(c, Neighbours.ADD_REMOVE))


OVERLAPPING = {"low": "count: {where: n < 1}", "under": "count: {where: n < 3}"}
TWICE = {"table": "count: true, by: [g]"}
PLANTED = {
    "contingency for a row less": (LAPLACE["contingency"], without("a row less")),
    "other keys for a row less": (LAPLACE["other keys"], without("a row less")),
    "bins outside for a row less": (LAPLACE["bins outside"], without("a row less")),
    "contingency under replace as if added": (
        Case(TWICE, (("a", "u", "1", "1"),), other=(("b", "u", "1", "1"),)),
        without("replace"),
    ),
    "overlapping filters as parts": (Case(OVERLAPPING, (("a", "u", "0", "1"),)), overlapping()),
    "a person of two rows in one part": (LAPLACE["parts of several rows"], (Apart, "most", property(lambda _: 1))),
    "two persons in one part": (LAPLACE["parts under replace"], (Apart, "most", property(lambda self: self.max_rows))),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_tells_more_than_the_budget(name):
    case, fault = PLANTED[name]
    assert loss(*as_built(case)) <= EPSILON + 1e-9
    bound, p, r = of_laplace(*case.runs(fault), 303)
    assert has_power(p, r, N, beyond_epsilon)
    assert bound > EPSILON


# ------------------------------------------------------------------------------------------------- composed by zCDP and by PLD


MANY = {f"c{i}": f"count: {{where: n > {i - 3}}}, mechanism: gaussian" for i in range(6)}
MIXED = {f"c{i}": f"count: {{where: n > {i - 3}}}" for i in range(6)} | {"g": "count: true, mechanism: gaussian"}
COMPOSED = {
    "zcdp": Case(MANY, (FAR,), budget="epsilon: 1, delta: 0.01, accounting: zcdp"),
    "pld": Case(MIXED, (FAR,), budget="epsilon: 1, delta: 0.01, accounting: pld"),
}


def half_rho():
    real = zcdp._cost
    return (zcdp, "_cost", lambda event: (real(event)[0] / 4, real(event)[1]))


def once():
    def forgets(self, event, times, real=pld.PldAccountant._composed):
        return pld.PldAccountant(tuple((leaf, 1) for leaf, _ in real(self, event, times).counts))

    return (pld.PldAccountant, "_composed", forgets)


@pytest.mark.parametrize(("rule", "fault"), [("zcdp", half_rho()), ("pld", once())], ids=["zcdp", "pld"])
def test_a_composed_release_as_a_whole_keeps_its_delta_and_one_composed_wrongly_does_not(rule, fault):
    case = COMPOSED[rule]
    bound, hits, _ = of_gaussian(*as_built(case), 305)
    assert hits > 0.001
    assert bound <= DELTA
    bound, p, r = of_gaussian(*case.runs(fault), 306)
    assert has_power(p, r, N, beyond_delta)
    assert bound > DELTA


# ------------------------------------------------------------------------------------------------------------------ private keys


def shown(run, seed):
    """In how many of n releases a key is published that one person alone holds."""
    source = TestRandomness(seed)
    hits = np.zeros(KEYS, np.bool_)
    for draw, figures in run.work:
        if draw.threshold is not None:
            keys = run.keys[draw.query]
            own = [count for key, count in zip(keys, figures, strict=True) if key[0] in {"alone", "lonely"}]
            for count in own:
                hits |= count + draw.noise.sample(KEYS, source) >= draw.threshold
    return int(hits.sum())


ALONE = (("a", "alone", "5", "1.5"), ("a", "lonely", "5", "1.5"))
RARE = 0.012
PRIVATE = Case({"keys": "sum: n, by: [k], keys: private, fill: 0"}, ALONE, rows=2, budget=f"epsilon: 6, delta: {RARE}")
KEYS = 200_000


@pytest.mark.parametrize("fault", ["one key where two are held", "from one below the threshold on"])
def test_keys_of_one_person_are_published_as_rarely_as_delta_says_and_with_a_fault_more_often(fault):
    one, _ = as_built(PRIVATE)
    assert 0 < lower(shown(one, 307), KEYS) <= RARE
    ((draw, figures),) = [(draw, figures) for draw, figures in one.work if draw.threshold is not None]
    one_key = Thresholding.calibrated(draw.noise, delta=draw.delta.value, groups=1).threshold
    threshold = one_key if fault.startswith("one key") else draw.threshold - 1
    assert threshold < draw.threshold
    hits = shown(replace(one, work=((forged(draw, threshold=threshold), figures),)), 308)
    assert has_power(hits / KEYS, 0, KEYS, lambda h, _: lower(int(h), KEYS) > RARE)
    assert lower(hits, KEYS) > RARE


def test_figures_of_private_keys_that_others_hold_too_tell_no_more_than_the_budget():
    case = replace(PRIVATE, person=(("a", "v", "5", "1"), ("a", "v", "5", "1")), budget="epsilon: 1, delta: 0.02")
    bound, *_ = of_laplace(*case.runs(), 309)
    assert 0.25 < bound <= EPSILON


# ------------------------------------------------------------------------------------------------------------------------ choices


def joint(run, divided=1):
    """By outcome of all choices of a release its exact probability."""
    laws = [PermuteAndFlip(draw.scale / divided).probabilities(cell) for draw, cells in run.work for cell in cells]
    return {
        place: math.prod(law[i] for law, i in zip(laws, place, strict=True))
        for place in product(*(range(len(law)) for law in laws))
    }


def best_event(one, other, divided):
    """The outcomes from which the bound on epsilon is expected to be largest."""
    here, there = joint(one, divided), joint(other, divided)
    order = sorted(here, key=lambda place: there[place] / here[place])
    best, event, p, r = 0.0, 1, 0.0, 0.0
    for size, place in enumerate(order[:-1], 1):
        p, r = p + here[place], r + there[place]
        bound = epsilon_bound(round(p * CHOICES), round(r * CHOICES), CHOICES)
        if bound > best:
            best, event = bound, size
    return frozenset(order[:event])


def chosen(run, event, divided, seed):
    source = TestRandomness(seed)
    mechanisms = [(PermuteAndFlip(draw.scale / divided), cell) for draw, cells in run.work for cell in cells]
    return sum(tuple(mechanism.choose(cell, source) for mechanism, cell in mechanisms) in event for _ in range(CHOICES))


def interval_runs():
    """A median with its interval where each of the three choices is between two candidates: ranks -M, 0 and M lie between values."""
    text = policy_of({"middle": "median: x, interval: true"}, "epsilon: 1")
    reach = caught(text, data_of(BASE)).draws("middle")["lower"][0].target.offset
    side, inner = 4, reach // 2
    counts = {"0": side, "0.5": inner, "1": inner, "1.5": side}
    rows = [(f"q{x}{i}", "a", "u", "1", x) for x, n in counts.items() for i in range(n)]
    return caught(text, data_of([*rows, ("p9", "a", "u", "1", "0")])), caught(text, data_of(rows))


@pytest.mark.parametrize("divided", [1, 6], ids=["as built", "each choice for the whole, at twice its cost"])
def test_a_quantile_with_its_interval_tells_no_more_than_the_budget_of_its_query(divided):
    runs = interval_runs()
    assert [draw.target.figure for draw, _ in runs[0].work] == ["quantile", "lower", "upper"]
    one, other = runs
    event = best_event(one, other, divided)
    hits, misses = chosen(one, event, divided, 310), chosen(other, event, divided, 311)
    bound = epsilon_bound(hits, misses, CHOICES)
    if divided == 1:
        assert 0.1 < bound <= EPSILON
        assert max(math.log(p / joint(other)[place]) for place, p in joint(one).items()) <= EPSILON + 1e-9
    else:
        assert has_power(
            hits / CHOICES, misses / CHOICES, CHOICES, lambda h, m: epsilon_bound(int(h), int(m), CHOICES) > EPSILON
        )
        assert bound > EPSILON
