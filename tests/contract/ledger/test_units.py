"""One population has one unit: epsilon of rows and epsilon of persons are no sum, and old ledgers that hold both are read by unit."""

from __future__ import annotations

import pytest

from privrelease.errors import BudgetError
from privrelease.ledger.open import Anchor, open_ledger
from privrelease.ledger.protocol import Head
from privrelease.ledger.verify import verify

PERSONS, ROWS = "persons by id", "rows"


def test_a_population_that_is_charged_for_persons_is_not_charged_for_rows(durable, claim) -> None:
    durable.create("1")
    ledger = durable.open()
    ledger.reserve(claim("0.1", unit=PERSONS))
    for other in (ROWS, "persons by household"):
        with pytest.raises(BudgetError, match="L133 population patients spends its budget for persons by id"):
            ledger.reserve(claim("0.1", unit=other))
        with pytest.raises(BudgetError, match="L133"):
            durable.open().reserve(claim("0.1", unit=other))
    ledger.reserve(claim("0.1", unit=PERSONS))
    assert [unit for unit, _ in ledger.book().populations["patients"].units] == [PERSONS]
    assert str(ledger.balance("patients").spent.epsilon) == "0.2"
    assert not verify(ledger).problems


def test_a_ledger_that_holds_both_is_read_by_unit_and_takes_charges_for_the_first_alone(durable, claim) -> None:
    durable.create("1")
    old = durable.open()
    heads = [old.reserve(claim(epsilon, run=run)).head for epsilon, run in (("0.1", "r1"), ("0.2", "r2"), ("0.3", "r3"))]
    durable.tamper("UPDATE privrelease_ledger SET format = 2")
    units = {"r1": PERSONS, "r2": ROWS}  # the manifest of the third is not here
    anchors = [Anchor(head, "patients", run, unit=units.get(run)) for head, run in zip(heads, ("r1", "r2", "r3"), strict=True)]
    ledger = open_ledger(durable.url, folder=durable.folder, anchors=anchors)
    account = ledger.book().populations["patients"]
    assert [(unit, str(spent.epsilon)) for unit, spent in account.units] == [(PERSONS, "0.4"), (ROWS, "0.2")]
    assert ledger.book().concentrated("patients")[0] == sum(
        (ledger.book()._rho(sequence)[0] for sequence in (1, 3)), start=type(ledger.book()._rho(1)[0])(0)
    )
    with pytest.raises(BudgetError, match="L133"):
        ledger.reserve(claim("0.1", unit=ROWS))
    with pytest.raises(BudgetError, match="L120"):
        ledger.reserve(claim("0.5", unit=PERSONS))  # the cap counts both: too much is refused, never too little
    ledger.reserve(claim("0.4", unit=PERSONS))
    assert [str(spent.epsilon) for _, spent in ledger.book().populations["patients"].units] == ["0.8", "0.2"]
    assert not verify(ledger).problems


def test_a_manifest_of_another_run_says_nothing_of_an_entry(durable, claim) -> None:
    durable.create("1")
    head = durable.open().reserve(claim("0.1", run="r1")).head
    served = Anchor(Head(head.ledger, head.sequence, head.hash), "patients", "r2", unit=ROWS)  # its answers were stored ones
    ledger = open_ledger(durable.url, folder=durable.folder, anchors=[served])
    assert ledger.book().populations["patients"].unit is None
    ledger.reserve(claim("0.1", unit=PERSONS))
    assert ledger.book().populations["patients"].unit == PERSONS
