"""Whether a release was charged: the audit compares the manifest's draws with the ledger's entries."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from privrelease.audit.checks.charges import charges_of, ledger_mismatches
from privrelease.dp.budget import Budget
from privrelease.dp.composition import Apart, Part
from privrelease.dp.draws import Draw, Target
from privrelease.dp.envelope_records import EnvelopeDraw, Reserved
from privrelease.dp.sensitivity import Neighbours, Sensitivity
from privrelease.ledger.memory import MemoryLedger
from privrelease.ledger.protocol import Claim
from privrelease.ledger.state import Book
from privrelease.relational.filters import Comparison
from privrelease.release.manifest import Manifest
from privrelease.release.privacy import ApartClaim, LedgerAnchor, PrivacyClaim, QueryClaim
from privrelease.units import Delta, Epsilon


def draw(query, epsilon="0.5"):
    exact = Fraction(epsilon)
    return Draw(query, Target("rows"), "discrete_laplace", Sensitivity.of_one_number(1), 1 / exact, Epsilon(exact))


def manifest(head, *queries, again=()):
    claims = tuple(
        QueryClaim(
            id=name,
            figure="count",
            epsilon="0.5",
            delta="0",
            served_again=name in again,
            draws=tuple(one.record() for one in draws),
        )
        for name, *draws in queries
    )
    claim = PrivacyClaim(
        private=True,
        neighbours="add_remove",
        unit="id",
        max_rows=1,
        population="p",
        epsilon="0.5",
        delta="0",
        accountant="approximate",
        queries=claims,
        anchor=LedgerAnchor(ledger=head.ledger, sequence=head.sequence, hash=head.hash),
    )
    return Manifest.model_construct(run="r", release="s", privacy=claim)


@pytest.fixture
def ledger():
    return MemoryLedger()


def charge(ledger, *draws, population="p"):
    cost = Budget(Epsilon(sum(one.epsilon.value for one in draws)))
    return ledger.reserve(Claim(population, f"d-{population}", "x/s", "0" * 64, draws, cost)).head


def said(ledger, made):
    return ledger_mismatches(made, charges_of(ledger.book(), made))


def test_a_release_whose_draws_are_those_of_its_entry_was_charged(ledger):
    head = charge(ledger, draw("a"), draw("b"))
    assert said(ledger, manifest(head, ("a", draw("a")), ("b", draw("b")))) is None


@pytest.mark.parametrize(
    "drawn",
    [
        [("a", draw("a"))],
        [("a", draw("a")), ("b", draw("b")), ("c", draw("c"))],
        [("a", draw("a")), ("b", draw("b", "0.6"))],
        [("b", draw("b")), ("a", draw("a"))],
    ],
)
def test_a_draw_more_or_less_or_another_was_not_charged(ledger, drawn):
    head = charge(ledger, draw("a"), draw("b"))
    assert said(ledger, manifest(head, *drawn)) == "the ledger's entry is not of the draws that the manifest lists"


def test_an_entry_that_is_not_there_or_another_or_of_another_population_is_told(ledger):
    head = charge(ledger, draw("a"))
    for other in (replace(head, sequence=9), replace(head, hash="0" * 64), replace(head, ledger="another")):
        assert said(ledger, manifest(other, ("a", draw("a")))) == "the ledger has not the entry that the manifest names"
    elsewhere = charge(ledger, draw("a"), population="q")
    assert said(ledger, manifest(elsewhere, ("a", draw("a")))) is not None


def test_a_stored_answer_was_charged_by_any_earlier_entry_of_the_population(ledger):
    charge(ledger, draw("a"))
    head = charge(ledger, draw("b"))
    assert said(ledger, manifest(head, ("a", draw("a")), ("b", draw("b")), again=("a",))) is None
    wider = replace(draw("c"), scale=Fraction(20))
    assert said(ledger, manifest(head, ("c", wider), ("b", draw("b")), again=("c",))) == (
        "query c: its stored answer was never charged"
    )
    assert said(ledger, manifest(head, ("c", draw("c")), ("b", draw("b")), again=("c",))) is None  # under another name
    assert said(ledger, manifest(head, ("a", draw("a")), ("b", draw("b")), again=("a", "b"))) is None


WOMEN, MEN = Comparison("sex", "=", "F"), Comparison("sex", "=", "M")


def parallel(ledger, *, max_rows=1, says=(("a",), ("b",)), at_most=1):
    """An entry that counts two queries in parallel, and a manifest that says so or otherwise."""
    two = (draw("a"), draw("b"))
    apart = (Apart((Part(("a",), WOMEN), Part(("b",), MEN)), max_rows, Neighbours.ADD_REMOVE),)
    cost = Budget(Epsilon("0.5" if max_rows == 1 else "1"))
    head = ledger.reserve(Claim("p", "d-p", "x/s", "0" * 64, two, cost, apart=apart)).head
    made = manifest(head, ("a", two[0]), ("b", two[1]))
    families = (ApartClaim(parts=says, at_most=at_most),) if says else ()
    return made.model_copy(update={"privacy": made.privacy.model_copy(update={"apart": families})})


def test_queries_that_the_manifest_counts_in_parallel_may_be_charged_so(ledger):
    made = parallel(ledger)
    assert ledger_mismatches(made, charges_of(ledger.book(), made)) is None


@pytest.mark.parametrize(
    "changes",
    [{"says": ()}, {"says": (("a", "b"), ("c",))}, {"says": (("a",), ("c",))}, {"at_most": 2}, {"max_rows": 2}],
    ids=["no parts", "one part for both", "another part", "more parts a person", "more rows a person"],
)
def test_a_charge_in_parallel_that_the_manifest_does_not_know_is_short(ledger, changes):
    made = parallel(ledger, **changes)
    assert ledger_mismatches(made, charges_of(ledger.book(), made)) == "the ledger's entry charges less than its draws cost"


def test_an_entry_that_charges_less_than_its_draws_is_found(ledger, monkeypatch):
    cheap = Claim("p", "d-p", "x/s", "0" * 64, (draw("a"), draw("b")), Budget(Epsilon("0.5")), accountant="zcdp")
    with monkeypatch.context() as patched:
        patched.setattr(Book, "check_cost", staticmethod(lambda claim: None))  # a writer that does not look
        head = ledger.reserve(cheap).head
    made = manifest(head, ("a", draw("a")), ("b", draw("b")))
    assert ledger_mismatches(made, charges_of(ledger.book(), made)) == "the ledger's entry charges less than its draws cost"


@pytest.mark.parametrize("factor", [Fraction(1), Fraction("0.9")])
def test_draws_from_an_envelope_are_composed_again_and_those_that_pass_it_are_found(ledger, monkeypatch, factor):
    cost = Budget(Epsilon(1), Delta("1e-6"))
    held = Reserved.of(cost)
    made = ledger.reserve(Claim("p", "d-p", "x/s", "0" * 64, (), cost, accountant="zcdp", envelope=held))
    scale = factor / (2 * held.rho.value)
    drawn = EnvelopeDraw("a", "cells", "discrete_gaussian", Sensitivity.of_one_number(1), scale, size=1)
    with monkeypatch.context() as patched:
        patched.setattr(Book, "check_drawn", staticmethod(lambda envelope, draws: None))  # a writer that does not look
        ledger.commit(made, {}, (drawn,))
    short = "the ledger's entry charges less than its draws cost"
    assert said(ledger, manifest(made.head, ("a", drawn))) == (None if factor == 1 else short)


def test_answers_of_an_envelope_that_are_served_again_were_charged_by_whoever_drew_them(ledger):
    cost = Budget(Epsilon(1), Delta("1e-6"))
    held = Reserved.of(cost)
    made = ledger.reserve(Claim("p", "d-p", "x/s", "0" * 64, (), cost, accountant="zcdp", envelope=held))
    drawn = EnvelopeDraw("a", "cells", "discrete_gaussian", Sensitivity.of_one_number(1), 1 / (2 * held.rho.value), size=1)
    assert "never charged" in said(ledger, manifest(ledger.head(), ("a", drawn), again=("a",)))  # reserved, and not committed
    ledger.commit(made, {}, (drawn,))
    assert said(ledger, manifest(ledger.head(), ("a", drawn), again=("a",))) is None
    finer = replace(drawn, scale=drawn.scale / 2)
    assert "never charged" in said(ledger, manifest(ledger.head(), ("a", finer), again=("a",)))
