"""MST and AIM as methods: marginals that may be asked, forecasts without a row, and models that say what they are."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from privrelease.dp.envelope import Envelope
from privrelease.dp.envelope_records import Reserved
from privrelease.dp.queries import Setting
from privrelease.dp.randomness import SystemRandomness, TestRandomness
from privrelease.dp.sensitivity import Contribution, Neighbours
from privrelease.synthesis.domain import CodedColumn, CodedDomain, StructuralZero
from privrelease.synthesis.marginals.domain import Domain
from privrelease.synthesis.marginals.methods import AIM, MST, workload_of
from privrelease.synthesis.method import Held
from privrelease.synthesis.methods import METHODS
from privrelease.units import Delta, Rho
from tests.unit.synthesis.marginals.asked import ONE, Table

SIZES = {"a": 3, "b": 4, "c": 2}
IMPOSSIBLE = np.zeros((3, 2), bool)
IMPOSSIBLE[1, 0] = True
CODED = CodedDomain(
    tuple(CodedColumn(name, (*(f"{name}{i}" for i in range(size - 1)), "missing")) for name, size in SIZES.items()),
    (StructuralZero((0, 2), IMPOSSIBLE),),
)
SETTINGS = {"aim": {"workload": [[2, 1], [["a", "c"], 3]], "model_size": 8000, "rounds": 10}, "mst": {"model_size": 8000}}


def counts():
    joint = np.random.default_rng(1).integers(20, 400, size=tuple(SIZES.values()))
    joint[1, :, 0] = 0
    return Table(Domain(tuple(SIZES), tuple(SIZES.values())), joint)


def fitted(method, rho="1/2"):
    reports = []
    held = Reserved(Rho(Fraction(rho)), Delta(0))
    envelope = Envelope(held, ONE, counts(), lambda _: None, TestRandomness(3))
    model = method.fit(envelope, CODED, SETTINGS[method.name], lambda step, share: reports.append((step, share)))
    return model, envelope, reports


@pytest.mark.parametrize("method", [AIM, MST])
def test_a_model_is_fitted_from_what_was_declared_alone_and_says_how_far_it_is(method):
    assert method in METHODS
    model, envelope, reports = fitted(method)
    declared = {" x ".join(columns) for columns in method.asks(("c", "b", "a"), SETTINGS[method.name])}
    assert set(envelope._counts.asked) <= declared
    shares = [share for step, share in reports if step == "fit"]
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1, abs=1e-3)
    assert model.total == pytest.approx(counts().joint.sum(), rel=0.02)
    codes = model.draw(5_000, SystemRandomness())
    assert (codes.shape, codes.dtype) == ((5_000, 3), np.int32)
    assert not CODED.impossible(codes).any()


@pytest.mark.parametrize("method", [AIM, MST])
def test_a_model_says_its_size_and_its_cliques(method):
    model, _, _ = fitted(method)
    facts = model.facts()
    figures = dict(facts.figures)
    tree = model.fit.model.tree
    assert figures["potentials"] == tree.cells
    assert figures["model_bytes"] == 8 * tree.cells <= 8000
    assert figures["measured_marginals"] == len(model.measured)
    (table,) = facts.tables
    assert (table.name, table.header) == ("cliques", ("clique", "cells"))
    assert [row[1] for row in table.rows] == [tree.domain.cells(clique) for clique in tree.cliques]


def test_what_aim_may_ask_is_the_workload_and_all_its_parts():
    asked = set(AIM.asks(("c", "a", "b", "d"), {"workload": [[["a", "b", "c"], 1]]}))
    assert asked == {("a",), ("b",), ("c",), ("d",), ("a", "b"), ("a", "c"), ("b", "c"), ("a", "b", "c")}
    assert set(MST.asks(("c", "a"), {})) == {("a",), ("c",), ("a", "c")}
    assert workload_of(("a", "b", "c"), SETTINGS["aim"]) == {("a", "b"): 1, ("a", "c"): 4, ("b", "c"): 1}


def test_a_forecast_of_aim_has_candidates_rounds_and_the_noise_of_the_first_ones():
    forecast = AIM.forecast(CODED, SETTINGS["aim"], Held(Rho(Fraction(1, 2)), ONE))
    columns, choice, marginal = forecast.steps
    assert (columns.loss, columns.times, columns.cells) == (Rho(Fraction(9, 200)), 3, 4)
    assert (choice.loss, choice.times) == (Rho(Fraction(1, 200)), 10)
    assert marginal.loss == columns.loss
    assert marginal.error == pytest.approx(0.79788 * (100 / 9) ** 0.5, rel=1e-4)  # sigma squared is 1/(2 rho)
    assert forecast.marginal_errors == ((1, marginal.error), (2, marginal.error))
    assert forecast.notes[0] == "6 candidates for 3 marginals of the workload"
    small = AIM.forecast(CODED, SETTINGS["aim"] | {"model_size": 64}, Held(Rho(Fraction(1, 2)), ONE))
    assert small.notes[-1].startswith("1 of the candidates have more than 8 cells")


def test_a_forecast_of_mst_has_a_third_for_each_step():
    two = Setting(Contribution(1), Neighbours.REPLACE)
    forecast = MST.forecast(CODED, SETTINGS["mst"], Held(Rho(Fraction(1, 2)), two))
    assert [(step.loss, step.times) for step in forecast.steps] == [
        (Rho(Fraction(1, 18)), 3),
        (Rho(Fraction(1, 12)), 2),
        (Rho(Fraction(1, 12)), 2),
    ]
    assert forecast.steps[2].error == pytest.approx(0.79788 * 12**0.5, rel=1e-4)  # L2 squared is 2 under replace
    assert sum((step.loss.value * step.times for step in forecast.steps), Fraction(0)) == Fraction(1, 2)


def test_one_column_alone_is_a_forecast_too():
    one = CodedDomain(CODED.columns[:1])
    forecast = MST.forecast(one, SETTINGS["mst"], Held(Rho(Fraction(1, 2)), ONE))
    assert [(step.loss, step.times) for step in forecast.steps] == [(Rho(Fraction(1, 2)), 1)]
    assert (
        len(AIM.forecast(one, {"workload": [[1, 1]], "model_size": 8000, "rounds": 4}, Held(Rho(1), ONE)).marginal_errors) == 1
    )
