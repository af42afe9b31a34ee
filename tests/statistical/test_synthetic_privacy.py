"""Empirical privacy of synthetic releases: what the model and the rows drawn from it tell of one person.

A method is fitted thousands of times over two neighbouring data sets of at most 100 rows and 50 cells. The event is fixed beforehand by the claimed
laws. Clopper-Pearson bounds at alpha = 1e-9 bound epsilon from below: never above the claim as built, and above it for each planted fault. The
short lane makes fewer runs; the slow one as many as a sharper bound takes.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from privrelease.dp.budget import Budget
from privrelease.dp.envelope import Envelope
from privrelease.dp.envelope_records import Reserved
from privrelease.dp.noisy_bounds import noisy_bounds
from privrelease.dp.queries import Setting
from privrelease.dp.randomness import TestRandomness
from privrelease.dp.sensitivity import Contribution, Neighbours
from privrelease.synthesis.domain import CodedColumn, CodedDomain
from privrelease.synthesis.methods import method_named
from privrelease.units import Delta, Epsilon
from tests.statistical.bounds import delta_bound, epsilon_bound

EPSILON = Fraction(1)
SHORT, LONG = 900, 12_000
#: Cells of the persons: (age, sex); the last cell of each column is missing. The person who makes the difference is the first one.
OTHERS = [(0, 0)] * 20 + [(1, 1)] * 15 + [(0, 1)] * 8
PERSON = (1, 0)
ALONE = (2, 2)
DOMAIN = CodedDomain((CodedColumn("age", ("young", "old", "missing"), True), CodedColumn("sex", ("F", "M", "missing"))))


class Table:
    """Exact counts of rows of codes."""

    def __init__(self, rows, keys=()):
        self.codes, self.keys = np.array(rows, np.int64), keys

    def rows(self, query):
        cells = np.ravel_multi_index(tuple(self.codes.T), query.shape)
        return np.bincount(cells, minlength=query.size).astype(np.int64)

    def persons(self, query):
        del query
        found = sorted(set(self.keys))
        return tuple((key,) for key in found), np.array([self.keys.count(key) for key in found], np.int64)


class Fault:
    """How a release is made; each fault changes one thing of it."""

    scale = Fraction(1)
    measured = 1

    def domain(self, rows):
        del rows
        return DOMAIN

    def seen(self, rows):
        return rows

    def total(self, model, rows):
        del rows
        return model.total


class Halved(Fault):
    scale = Fraction(1, 2)


class ExactTotal(Fault):
    """The number of rows of the release is that of the data: whatever is drawn, its length says so."""

    def total(self, model, rows):
        del model
        return len(rows)


class MissingWhereSeen(Fault):
    def domain(self, rows):
        sizes = [3 if any(row[at] == 2 for row in rows) else 2 for at in range(2)]
        labels = ("a", "b", "missing")
        return CodedDomain(tuple(CodedColumn(name, labels[:size]) for name, size in zip(("age", "sex"), sizes, strict=True)))


class ValuesRead(Fault):
    """A cell for each value of the data and no other."""

    def domain(self, rows):
        labels = tuple(map(str, range(1 + max(max(row) for row in rows))))
        return CodedDomain((CodedColumn("age", labels), CodedColumn("sex", labels)))


class Twice(Fault):
    measured = 2


class RowOrder(Fault):
    """Every second row is held out, by its number: one row more at the front moves everybody else."""

    def seen(self, rows):
        return rows[1::2]


def fitted(rows, fault, seed_of, neighbours=Neighbours.ADD_REMOVE):
    """Return what one release says: the number of rows drawn, the noisy cells of every measurement, and the domain's size."""
    seen, domain = fault.seen(rows), fault.domain(rows)
    held = Reserved.of(Budget(Epsilon(EPSILON / fault.scale * fault.measured)))
    envelope = Envelope(held, Setting(Contribution(1), neighbours), Table(seen), lambda held: None, seed_of)
    method, whole = method_named("histogram"), domain.marginal(range(2))
    cells = [envelope.measure(whole, Epsilon(EPSILON)) for _ in range(fault.measured - 1)]
    settings = {"after": {"project": False}}
    model = method.fit(envelope, domain, settings, lambda *_: None)
    cells.append(envelope.answers[-1].answer)
    total = fault.total(model, seen)
    return total, cells, domain.cells


def hits(rows, fault, runs, event, seed, **given):
    source = TestRandomness(seed)
    return sum(event(*fitted(rows, fault, source, **given)) for _ in range(runs))


def cell_of_person(total, cells, size):
    """The noisy counts of the person's cell are at least 1 in every measurement: most likely with the person by exp(epsilon) each."""
    del total
    return size == DOMAIN.cells and all(one[np.ravel_multi_index(PERSON, (3, 3))] >= 1 for one in cells)


def with_all_rows(total, cells, size):
    del cells, size
    return total == len(OTHERS) + 1


def domain_of_all(total, cells, size):
    del total, cells
    return size == 9


def many_young(total, cells, size):
    del total, size
    return cells[-1][0] >= 15


ALTERNATING = [(i % 2, 0) for i in range(40)]
AS_BUILT = [(PERSON, OTHERS, cell_of_person), (ALONE, OTHERS, domain_of_all), (PERSON, OTHERS, with_all_rows)]
FAULTS = [
    (Halved(), PERSON, OTHERS, cell_of_person),
    (Twice(), PERSON, OTHERS, cell_of_person),
    (ExactTotal(), PERSON, OTHERS, with_all_rows),
    (MissingWhereSeen(), ALONE, OTHERS, domain_of_all),
    (ValuesRead(), ALONE, OTHERS, domain_of_all),
    (RowOrder(), (0, 1), ALTERNATING, many_young),
]


def bound(fault, person, others, event, runs):
    """A lower bound on epsilon from an event that is likelier with the person."""
    counted = [hits(rows, fault, runs, event, seed) for seed, rows in enumerate(([person, *others], others), 1)]
    return epsilon_bound(*counted, runs)


@pytest.mark.parametrize("runs", [SHORT, pytest.param(LONG, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("person", "others", "event"), AS_BUILT, ids=lambda value: getattr(value, "__name__", ""))
def test_a_synthetic_release_tells_no_more_than_it_claims(person, others, event, runs):
    assert bound(Fault(), person, others, event, runs) <= float(EPSILON)


@pytest.mark.parametrize("case", FAULTS, ids=lambda case: type(case[0]).__name__)
def test_a_planted_fault_tells_more_than_the_claim(case):
    fault, person, others, event = case
    assert bound(fault, person, others, event, SHORT) > float(EPSILON)


@pytest.mark.slow
def test_under_replace_both_cells_move_and_the_noise_is_for_both():
    """Noise for one row under replace would tell twice as much: as built it does not."""

    def other_to_own(total, cells, size):
        del total, size
        return cells[-1][np.ravel_multi_index(PERSON, (3, 3))] >= 1 and cells[-1][8] <= 0

    near, far = [PERSON, *OTHERS], [ALONE, *OTHERS]
    counted = [hits(one, Fault(), LONG, other_to_own, 3, neighbours=Neighbours.REPLACE) for one in (near, far)]
    assert epsilon_bound(*counted, LONG) <= float(EPSILON)
    counted = [hits(one, Fault(), LONG, other_to_own, 3) for one in (near, far)]
    assert epsilon_bound(*counted, LONG) > float(EPSILON)


@pytest.mark.slow
@pytest.mark.parametrize(("lowered", "holds"), [(0, True), (3, False)])
def test_a_value_of_one_person_is_bought_with_no_more_than_its_delta(monkeypatch, lowered, holds):
    from privrelease.dp import envelope as module
    from privrelease.dp.mechanisms import Thresholding

    failure = Delta("0.001")
    reserved = Reserved.of(Budget(Epsilon(1), Delta("0.005")), failure=failure)
    if lowered:
        real = Thresholding.calibrated

        def fewer(*given, **named):
            found = real(*given, **named)
            return Thresholding(found.noise, found.threshold - lowered, found.groups)

        monkeypatch.setattr(module.Thresholding, "calibrated", fewer)
        monkeypatch.setattr(Reserved, "holds", lambda *_: True)
    source, runs = TestRandomness(5), 4_000
    rho = type(reserved.rho)(Fraction(1, 2))
    monkeypatch.setattr(Reserved, "holds", lambda *_: True)

    def published(keys):
        found = 0
        for _ in range(runs):
            envelope = Envelope(reserved, Setting(Contribution(1)), Table([PERSON], keys), lambda held: None, source)
            found += ("rare",) in envelope.discover("persons by town", rho, failure)
        return found

    bounded = delta_bound(published(["big"] * 30 + ["rare"]), published(["big"] * 30), runs, 0.0)
    assert (bounded <= float(failure.value)) is holds


# --------------------------------------------------------------------------------------------------------------- bought bounds


class Steps:
    """Exact counts of one column by the edges that were asked for."""

    def __init__(self, values):
        self.values, self.edges = np.array(values, np.int64), {}

    def ask(self, query, edges):
        self.edges[query] = np.array(edges, np.int64)

    def rows(self, query):
        edges = self.edges[query.name]
        bins = np.clip(np.searchsorted(edges, self.values, side="right") - 1, 0, len(edges) - 2)
        return np.bincount(bins, minlength=len(edges) - 1).astype(np.int64)


class NearSpan(Steps):
    """The second histogram lies over the span of the data, and not over the one that was bought."""

    def ask(self, query, edges):
        if query.startswith("bounds 2"):
            low, high, bins = int(self.values.min()), int(self.values.max()), len(edges) - 1
            edges = low + np.arange(bins + 1) * -(-(high - low + 1) // bins)
        super().ask(query, edges)


#: The person who makes the difference, among others of the span, or far away from all.
NEAR, AMONG, FAR = [*range(1, 31)] * 3, 15, 900


def high_bins(envelope, column):
    """In each histogram the noisy count of the bin of the person's value is at least the exact one with the person: likelier by exp(half the price) each."""
    found = True
    for edges, one in zip(column.edges.values(), envelope.answers, strict=True):
        at, *others = np.clip(np.searchsorted(edges, [AMONG, *NEAR], side="right") - 1, 0, len(edges) - 2)
        found &= bool(one.answer[at] >= 1 + np.count_nonzero(np.array(others) == at))
    return found


def span_of_all(envelope, column):
    del envelope
    return int(column.edges["bounds 2 of x"][-1]) > FAR


def bought(rows, runs, seed, event, counts=Steps, price=EPSILON):
    source, found = TestRandomness(seed), 0
    for _ in range(runs):
        column = counts(rows)
        held = Reserved.of(Budget(Epsilon(2 * EPSILON)))
        envelope = Envelope(held, Setting(Contribution(1)), column, lambda held: None, source)
        noisy_bounds(envelope, "x", Epsilon(price), (-1024, 1024), column.ask)
        found += event(envelope, column)
    return found


def bound_of_bounds(runs, person, event, **given):
    tables = [person, *NEAR], NEAR
    return epsilon_bound(*(bought(rows, runs, 7 + at, event, **given) for at, rows in enumerate(tables)), runs)


@pytest.mark.parametrize("runs", [SHORT // 3, pytest.param(LONG, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("person", "event"), [(AMONG, high_bins), (FAR, span_of_all)], ids=["among", "far"])
def test_bounds_tell_no_more_than_their_price(runs, person, event):
    found = bound_of_bounds(runs, person, event)
    assert found <= float(EPSILON)
    if runs == LONG and event is high_bins:
        assert found > float(EPSILON) / 2, "the event shows the noise of both histograms"


def test_a_second_histogram_over_the_span_of_the_data_is_found():
    assert bound_of_bounds(SHORT // 6, FAR, span_of_all, counts=NearSpan) > float(EPSILON)


@pytest.mark.slow
def test_a_price_that_is_taken_for_each_of_two_histograms_is_found():
    assert bound_of_bounds(LONG, AMONG, high_bins, price=2 * EPSILON) > float(EPSILON)
